// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder: takes request bursts in (9.7.4, 9.8.2). Its answers are put
 * together in rc_answer.c.
 *
 * A burst is checked as a whole. Packets that came before are skipped, the rest is
 * one act for env. It is two acts if the burst ends in immediate data for which there
 * is no receive work request, since then all but the last packet count as received.
 */
#include "rc_int.h"

enum phase {
	PHASE_IDLE,
	PHASE_ABORT,		/* UC: give up the message in progress, then go on */
	PHASE_ABORT_ONLY,	/* UC: give up the message in progress, and the burst */
	PHASE_DATA,		/* all of the burst */
	PHASE_HEAD,		/* all but the last packet, for which an RNR NAK follows */
	PHASE_READ,
	PHASE_ATOMIC,		/* or ATOMIC_WRITE or FLUSH */
};

/* ---- configuration ---- */

void pib_resp_init(struct pib_resp *r, struct pib_rd_res *res, u32 nres)
{
	memset(r, 0, sizeof(*r));
	r->res = res;
	r->res_mask = nres - 1;
	r->mtu_shift = pib_mtu_shift(0);
}

void pib_resp_start(struct pib_resp *r, const struct pib_resp_cfg *cfg, u32 psn)
{
	struct pib_resp_stats stats = r->stats;
	struct pib_rd_res *res = r->res;
	u32 nres = r->res_mask + 1, credits = r->credits;

	pib_resp_init(r, res, nres);
	memset(res, 0, nres * sizeof(*res));
	r->stats = stats;
	r->credits = credits;
	r->cfg = *cfg;
	r->mtu_shift = pib_mtu_shift(cfg->pmtu);
	r->epsn = psn & PIB_PSN_MASK;
}

void pib_resp_reconfig(struct pib_resp *r, const struct pib_resp_cfg *cfg)
{
	u32 pmtu = r->cfg.pmtu;

	r->cfg = *cfg;
	r->cfg.pmtu = pmtu;
}

/*
 * ---- checks ----
 *
 * Ranges are not among them. Env checks a range with the region that the key names, after the
 * operations that the QP allows (9.7.4.1.5), which env alone knows.
 */

static void resp_drop(struct pib_resp *r, enum pib_resp_drop why)
{
	pib_rc_count(r, drops[why]);
}

static bool is_data_op(u8 op)
{
	return op == PIB_OP_SEND || op == PIB_OP_WRITE;
}

static bool is_request(u8 op)
{
	return op < PIB_OP_CNP && !pib_op_is_response(op);
}

static bool is_atomic(u8 op)
{
	return op == PIB_OP_CAS || op == PIB_OP_FAA;
}

/* 9.7.4.1.6: all packets are full but the last, which is not empty unless it is the only one. */
static bool length_ok(const struct pib_resp *r)
{
	u32 mtu = 1U << r->mtu_shift;
	u32 before, last;

	if (!r->b_npkts || r->b_npkts - 1 > PIB_MSG_MAX >> r->mtu_shift)
		return false;
	before = (r->b_npkts - 1) << r->mtu_shift;
	if (r->b_len < before)
		return false;
	last = r->b_len - before;
	if (!(r->h->flags & PIB_H_LAST))
		return last == mtu;
	if (r->b_npkts == 1 && r->h->flags & PIB_H_FIRST)
		return last <= mtu;
	return last && last <= mtu;
}

static bool starts_message(const struct pib_resp *r)
{
	return r->h->flags & PIB_H_FIRST && !r->b_skip;
}

/* Return: true if the burst goes on where the message stands (9.7.4.1.4, 9.7.4.1.5). */
static bool sequence_ok(const struct pib_resp *r)
{
	if (starts_message(r))
		return !r->in_msg;
	return r->in_msg && r->op == r->h->op;
}

/* 9.7.4.1.6: the packets of a WRITE bring the bytes that its RETH announced. */
static bool write_fits(const struct pib_resp *r, u32 dmalen, u32 off, u32 len)
{
	if (len > dmalen || off > dmalen - len)
		return false;
	return !(r->h->flags & PIB_H_LAST) || off + len == dmalen;
}

static enum pib_res check_write(const struct pib_resp *r, u32 off, u32 len)
{
	const struct pib_hdrs *h = r->h;

	if (!starts_message(r))
		return write_fits(r, r->dmalen, off, len) ? PIB_RES_OK : PIB_RES_INV_REQ;
	if (h->dmalen > PIB_MSG_MAX || !write_fits(r, h->dmalen, 0, len))
		return PIB_RES_INV_REQ;
	return PIB_RES_OK;
}

static enum pib_res check_data(const struct pib_resp *r)
{
	u32 len = r->b_len - (r->b_skip << r->mtu_shift);
	u32 off = starts_message(r) ? 0 : r->off;

	if (!sequence_ok(r))
		return PIB_RES_INV_REQ;
	if ((u64)off + len > PIB_MSG_MAX)
		return PIB_RES_INV_REQ;
	return r->h->op == PIB_OP_WRITE ? check_write(r, off, len) : PIB_RES_OK;
}

static enum pib_res check_read_req(const struct pib_resp *r)
{
	if (r->in_msg || r->b_len || !pib_resp_res_room(r) || r->h->dmalen > PIB_MSG_MAX)
		return PIB_RES_INV_REQ;
	return PIB_RES_OK;
}

/* Atomics are aligned; FLUSH names one or both types, and a range or a region (A19). */
static enum pib_res check_atomic(const struct pib_resp *r)
{
	const struct pib_hdrs *h = r->h;

	if (r->in_msg || r->b_len || !pib_resp_res_room(r))
		return PIB_RES_INV_REQ;
	if (h->op == PIB_OP_FLUSH) {
		if (!(h->flush & 3) || h->flush & 0xC || h->flush >> 4 > 1)
			return PIB_RES_INV_REQ;
		return h->flush >> 4 || h->dmalen <= PIB_MSG_MAX ? PIB_RES_OK : PIB_RES_INV_REQ;
	}
	if (h->va & 7 || (h->op == PIB_OP_ATOMIC_WRITE && h->dmalen != 8))
		return PIB_RES_INV_REQ;
	return PIB_RES_OK;
}

/* ---- reliable services ---- */

/* 9.7.4.1.5, 9.7.4.1.6 */
static void rc_accept(struct pib_resp *r)
{
	enum pib_res res;

	if (r->h->op == PIB_OP_RESERVED) {
		resp_drop(r, PIB_RESP_DROP_BAD_OPCODE);
		pib_resp_nak_fatal(r, r->epsn, PIB_RES_INV_REQ);
		return;
	}
	if (is_data_op(r->h->op)) {
		res = check_data(r);
		r->phase = PHASE_DATA;
	} else if (r->h->op == PIB_OP_READ_REQ) {
		res = check_read_req(r);
		r->phase = PHASE_READ;
	} else {
		res = check_atomic(r);
		r->phase = PHASE_ATOMIC;
	}
	if (res == PIB_RES_OK)
		return;
	r->phase = PHASE_IDLE;
	resp_drop(r, PIB_RESP_DROP_BAD_LENGTH);
	pib_resp_nak_fatal(r, r->epsn, res);
}

/* Drop the burst, answer it again or take it in, by its PSN (9.7.4.1.2). */
static void rc_begin(struct pib_resp *r)
{
	s32 ahead = pib_psn_diff(r->h->psn, r->epsn);

	if (r->repeat && ahead + (s32)r->b_npkts > 0) {
		pib_rc_count(r, out_of_sequence);
		resp_drop(r, PIB_RESP_DROP_OUT_OF_SEQUENCE);
		return;
	}
	if (ahead > 0) {
		pib_rc_count(r, out_of_sequence);
		resp_drop(r, PIB_RESP_DROP_OUT_OF_SEQUENCE);
		pib_resp_nak_seq(r);
		return;
	}
	if (is_data_op(r->h->op) && !length_ok(r)) {
		resp_drop(r, PIB_RESP_DROP_BAD_LENGTH);
		if (!ahead)
			pib_resp_nak_fatal(r, r->epsn, PIB_RES_INV_REQ);
		return;
	}
	if (ahead < 0 && (!is_data_op(r->h->op) || (u32)-ahead >= r->b_npkts)) {
		pib_rc_count(r, duplicates);
		resp_drop(r, PIB_RESP_DROP_DUPLICATE);
		pib_resp_duplicate(r);
		return;
	}
	r->b_skip = -ahead;
	pib_resp_nak_clear(r);
	rc_accept(r);
}

/* ---- unreliable connected (9.8.2.2) ---- */

static void uc_lose(struct pib_resp *r)
{
	r->phase = r->in_msg ? PHASE_ABORT_ONLY : PHASE_IDLE;
	r->epsn = pib_psn_add(r->h->psn, r->b_npkts);
}

static void uc_accept(struct pib_resp *r)
{
	if (length_ok(r) && check_data(r) == PIB_RES_OK) {
		r->phase = PHASE_DATA;
		return;
	}
	resp_drop(r, PIB_RESP_DROP_BAD_LENGTH);
	uc_lose(r);
}

static void uc_begin(struct pib_resp *r)
{
	bool first = r->h->flags & PIB_H_FIRST;
	bool gap = r->h->psn != r->epsn;

	if (!is_data_op(r->h->op)) {
		resp_drop(r, PIB_RESP_DROP_BAD_OPCODE);
		return;
	}
	if (gap)
		pib_rc_count(r, out_of_sequence);
	if (!first && (gap || !r->in_msg)) {
		resp_drop(r, PIB_RESP_DROP_OUT_OF_SEQUENCE);
		uc_lose(r);
		return;
	}
	r->epsn = r->h->psn;
	if (first && r->in_msg)
		r->phase = PHASE_ABORT;
	else
		uc_accept(r);
}

/* ---- a burst ---- */

void pib_resp_begin(struct pib_resp *r, const struct pib_hdrs *h, u32 npkts, u32 len)
{
	r->h = h;
	r->b_npkts = npkts;
	r->b_len = len;
	r->b_skip = 0;
	r->phase = PHASE_IDLE;
	if (r->dead)
		resp_drop(r, PIB_RESP_DROP_ERROR_STATE);
	else if (h->tp != r->cfg.tp || !is_request(h->op))
		resp_drop(r, PIB_RESP_DROP_BAD_OPCODE);
	else if (!npkts || (!is_data_op(h->op) && npkts != 1))
		resp_drop(r, PIB_RESP_DROP_BAD_LENGTH);
	else if (pib_tp_reliable(r->cfg.tp))
		rc_begin(r);
	else
		uc_begin(r);
}

static void act_data(struct pib_resp *r, struct pib_act *act)
{
	const struct pib_hdrs *h = r->h;
	bool first = starts_message(r), last = h->flags & PIB_H_LAST;

	r->b_do = r->b_npkts - r->b_skip;
	act->src_off = r->b_skip << r->mtu_shift;
	act->len = r->b_len - act->src_off;
	if (r->phase == PHASE_HEAD) {
		r->b_do--;
		act->len = r->b_do << r->mtu_shift;
		last = false;
	}
	act->kind = h->op == PIB_OP_SEND ? PIB_ACT_SEND : PIB_ACT_WRITE;
	act->first = first;
	act->last = last;
	act->off = first ? 0 : r->off;
	act->total = act->off + act->len;
	if (act->kind == PIB_ACT_SEND)
		return;
	act->take_recv = last && h->flags & PIB_H_IMM;
	act->va0 = first ? h->va : r->va;
	act->rkey = first ? h->rkey : r->rkey;
	act->dmalen = first ? h->dmalen : r->dmalen;
	act->va = act->va0 + act->off;
}

static void act_read(const struct pib_resp *r, struct pib_act *act)
{
	act->kind = PIB_ACT_READ;
	act->va0 = r->h->va;
	act->va = r->h->va;
	act->rkey = r->h->rkey;
	act->dmalen = r->h->dmalen;
}

static const u8 atomic_kind[PIB_OP_COUNT] = {
	[PIB_OP_CAS] = PIB_ACT_CAS,
	[PIB_OP_FAA] = PIB_ACT_FAA,
	[PIB_OP_ATOMIC_WRITE] = PIB_ACT_ATOMIC_WRITE,
	[PIB_OP_FLUSH] = PIB_ACT_FLUSH,
};

static void act_atomic(const struct pib_resp *r, struct pib_act *act)
{
	const struct pib_hdrs *h = r->h;

	act_read(r, act);
	act->kind = atomic_kind[h->op];
	act->flush = h->flush;
	if (is_atomic(h->op))
		act->dmalen = 8;
	act->compare_add = h->op == PIB_OP_CAS ? h->compare : h->swap_add;
	act->swap = h->swap_add;
}

bool pib_resp_step(struct pib_resp *r, struct pib_act *act)
{
	memset(act, 0, sizeof(*act));
	act->h = r->h;
	switch (r->phase) {
	case PHASE_ABORT:
	case PHASE_ABORT_ONLY:
		act->kind = PIB_ACT_ABORT_RECV;
		return true;
	case PHASE_DATA:
	case PHASE_HEAD:
		act_data(r, act);
		return true;
	case PHASE_READ:
		act_read(r, act);
		return true;
	case PHASE_ATOMIC:
		act_atomic(r, act);
		return true;
	default:
		return false;
	}
}

/* ---- results ---- */

static void data_done(struct pib_resp *r, const struct pib_act *act)
{
	bool rnr = r->phase == PHASE_HEAD;

	if (act->first) {
		r->op = r->h->op;
		r->va = act->va0;
		r->rkey = act->rkey;
		r->dmalen = act->dmalen;
	}
	r->in_msg = !act->last;
	r->off = act->total;
	r->epsn = pib_psn_add(r->epsn, r->b_do);
	if (act->last)
		r->msn = (r->msn + 1) & PIB_PSN_MASK;
	r->phase = PHASE_IDLE;
	if (rnr)
		pib_resp_nak_rnr(r);
	else if (pib_tp_reliable(r->cfg.tp) &&
		 (r->h->flags & PIB_H_ACKREQ || (r->cfg.ack_each && act->last)))
		pib_resp_ack(r, pib_psn_add(r->epsn, -1));
}

static void read_done(struct pib_resp *r)
{
	u32 mtu = 1U << r->mtu_shift;
	u32 npkts = (r->h->dmalen + mtu - 1) >> r->mtu_shift;
	struct pib_rd_res *e;

	r->phase = PHASE_IDLE;
	r->msn = (r->msn + 1) & PIB_PSN_MASK;
	e = pib_resp_res_add(r, npkts ? npkts : 1);
	e->va = r->h->va;
	e->rkey = r->h->rkey;
	e->len = r->h->dmalen;
	e->srqn = r->h->srqn;
	r->epsn = pib_psn_add(r->epsn, e->npkts);
}

static void atomic_done(struct pib_resp *r, u64 orig)
{
	struct pib_rd_res *e;

	r->phase = PHASE_IDLE;
	r->msn = (r->msn + 1) & PIB_PSN_MASK;
	e = pib_resp_res_add(r, 1);
	e->orig = orig;
	r->epsn = pib_psn_add(r->epsn, 1);
}

/* 9.7.5.2.8 (RNR NAK): all before the packet that needs a receive work request is received. */
static void result_rnr(struct pib_resp *r, const struct pib_act *act)
{
	if (act->take_recv && r->b_do > 1) {
		r->phase = PHASE_HEAD;
		return;
	}
	r->phase = PHASE_IDLE;
	pib_resp_nak_rnr(r);
}

static void result_rc(struct pib_resp *r, const struct pib_act *act, enum pib_res res)
{
	if (res == PIB_RES_RNR) {
		result_rnr(r, act);
		return;
	}
	r->phase = PHASE_IDLE;
	if (res == PIB_RES_LATER) {
		pib_resp_nak_later(r);
		return;
	}
	r->final = act->kind == PIB_ACT_SEND || (res != PIB_RES_INV_REQ && res != PIB_RES_ACCESS);
	pib_resp_nak_fatal(r, r->epsn, res);
}

/* 9.9.3: an unreliable responder says nothing. A receive buffer too small is its own fault. */
static void result_uc(struct pib_resp *r, enum pib_res res)
{
	bool ours = res == PIB_RES_LEN || res == PIB_RES_OP;

	if (res == PIB_RES_RNR)
		resp_drop(r, PIB_RESP_DROP_RESOURCES);
	r->in_msg = false;
	uc_lose(r);
	if (ours) {
		r->dead = res;
		r->error = res;
	}
}

void pib_resp_result(struct pib_resp *r, const struct pib_act *act, enum pib_res res, u64 orig)
{
	u8 phase = r->phase;

	if (phase == PHASE_ABORT || phase == PHASE_ABORT_ONLY) {
		r->in_msg = false;
		r->phase = PHASE_IDLE;
		if (phase == PHASE_ABORT)
			uc_accept(r);
	} else if (res != PIB_RES_OK) {
		if (pib_tp_reliable(r->cfg.tp))
			result_rc(r, act, res);
		else
			result_uc(r, res);
	} else if (phase == PHASE_READ) {
		read_done(r);
	} else if (phase == PHASE_ATOMIC) {
		atomic_done(r, orig);
	} else if (phase != PHASE_IDLE) {
		data_done(r, act);
	}
}

/* ---- datagrams ---- */

enum pib_resp_drop pib_ud_check(const struct pib_hdrs *h, u32 len, u32 qkey, u32 mtu)
{
	if (h->tp != PIB_TP_UD || h->op != PIB_OP_SEND)
		return PIB_RESP_DROP_BAD_OPCODE;
	if (len > mtu)
		return PIB_RESP_DROP_BAD_LENGTH;
	return h->qkey == qkey ? PIB_RESP_DROP_NONE : PIB_RESP_DROP_QKEY;
}
