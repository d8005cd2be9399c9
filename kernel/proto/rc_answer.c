// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder's output: ACKs, NAKs, and the answers to READs and atomics,
 * in the order of their PSNs (9.7.5.1).
 *
 * Answers are kept in a ring of resources and made burst by burst as env asks
 * for them. They stay there so that a duplicate request can be answered again
 * (9.7.5.1; atomics: with the original value, never by executing twice).
 * Of ACKs only the newest is kept, for an ACK speaks for those before it, as does
 * any answer or NAK that comes later.
 */
#include "rc_int.h"

static struct pib_rd_res *res_at(const struct pib_resp *r, u32 i)
{
	return &r->res[i & r->res_mask];
}

/*
 * Return: true if @a was received before @b. Both are less than 2^24 PSNs back, which
 * may be more than the half of the circle that pib_psn_diff() can tell apart.
 */
static bool psn_before(const struct pib_resp *r, u32 a, u32 b)
{
	u32 newest = r->epsn - 1;

	return pib_psn_off(newest, a) > pib_psn_off(newest, b);
}

/* ---- acknowledgements ---- */

void pib_resp_ack(struct pib_resp *r, u32 psn)
{
	if (r->ack_due && psn_before(r, psn, r->ack_psn))
		return;
	r->ack_due = true;
	r->ack_psn = psn;
}

static void set_nak(struct pib_resp *r, u8 syndrome, u32 psn)
{
	r->nak_due = true;
	r->nak_sent = true;
	r->syndrome = syndrome;
	r->nak_psn = psn;
	r->ack_due = false;
}

void pib_resp_nak_seq(struct pib_resp *r)
{
	if (!r->nak_sent)
		set_nak(r, PIB_AETH(PIB_AETH_NAK, PIB_NAK_PSN), r->epsn);
}

static u8 rnr_syndrome(const struct pib_resp *r)
{
	return PIB_AETH(PIB_AETH_RNR, r->cfg.min_rnr_timer & 0x1F);
}

void pib_resp_nak_rnr(struct pib_resp *r)
{
	pib_rc_count(r, rnr_nak_sent);
	set_nak(r, rnr_syndrome(r), r->epsn);
}

void pib_resp_nak_later(struct pib_resp *r)
{
	pib_rc_count(r, deferrals);
	set_nak(r, rnr_syndrome(r), r->epsn);
}

/* 9.7.5.2 */
static u8 nak_code(enum pib_res res)
{
	switch (res) {
	case PIB_RES_ACCESS:
	case PIB_RES_INVALIDATE:
		return PIB_NAK_ACCESS;
	case PIB_RES_OP:
		return PIB_NAK_OP;
	default:
		return PIB_NAK_INV_REQ;
	}
}

void pib_resp_nak_fatal(struct pib_resp *r, u32 psn, enum pib_res res)
{
	r->dead = res;
	set_nak(r, PIB_AETH(PIB_AETH_NAK, nak_code(res)), psn);
}

/* ---- resources ---- */

bool pib_resp_res_room(const struct pib_resp *r)
{
	return r->res_fresh < r->cfg.max_rd_atomic && r->res_fresh <= r->res_mask;
}

/* Move @res_cur on to the first resource that has something to send. */
static void res_seek(struct pib_resp *r)
{
	while (r->res_cur != r->res_head && !res_at(r, r->res_cur)->pending)
		r->res_cur++;
}

struct pib_rd_res *pib_resp_res_add(struct pib_resp *r, u32 npkts)
{
	struct pib_rd_res *e = res_at(r, r->res_head);

	/* A repeated answer so old that the requester has gone on without it. */
	if (e->pending && r->res_head - r->res_cur > r->res_mask)
		r->res_cur++;
	memset(e, 0, sizeof(*e));
	e->op = r->h->op;
	e->psn = r->epsn;
	e->npkts = npkts;
	e->end = npkts;
	e->msn = r->msn;
	e->valid = true;
	e->pending = true;
	e->fresh = true;
	r->res_fresh++;
	r->res_head++;
	res_seek(r);
	return e;
}

/* Index distance back from res_head of the newest entry that holds @psn; 0: none. */
static u32 res_find(const struct pib_resp *r, u32 psn)
{
	const struct pib_rd_res *e;
	u32 back;

	for (back = 1; back <= r->res_mask + 1; back++) {
		e = res_at(r, r->res_head - back);
		if (!e->valid)
			return 0;
		if (pib_psn_off(psn, e->psn) < e->npkts)
			return back;
	}
	return 0;
}

/* ---- duplicates ---- */

/*
 * 9.7.5.1: a SEND or WRITE that comes again is acknowledged again, and so are all after
 * it up to the first request since then whose answer may have been lost with it.
 */
static void duplicate_data(struct pib_resp *r)
{
	u32 last = pib_psn_add(r->h->psn, r->b_npkts - 1);
	u32 psn = pib_psn_add(r->epsn, -1);
	const struct pib_rd_res *e;
	u32 back;

	for (back = 1; back <= r->res_mask + 1; back++) {
		e = res_at(r, r->res_head - back);
		if (!e->valid || !psn_before(r, last, e->psn))
			break;
		psn = pib_psn_add(e->psn, -1);
	}
	pib_resp_ack(r, psn);
}

/*
 * Find the part of @e for which the READ request asks again. Return: false: it is another READ.
 */
static bool read_part(const struct pib_resp *r, const struct pib_rd_res *e, u32 *start, u32 *end)
{
	const struct pib_hdrs *h = r->h;
	u32 mtu = 1U << r->mtu_shift;
	u32 off;

	*start = pib_psn_off(h->psn, e->psn);
	off = *start << r->mtu_shift;
	if (h->rkey != e->rkey || h->va != e->va + off || h->dmalen > e->len - off ||
	    (!h->dmalen && e->len))
		return false;
	*end = *start + pib_max(1, (h->dmalen + mtu - 1) >> r->mtu_shift);
	return h->dmalen == e->len - off || !(h->dmalen & (mtu - 1));
}

/* Answer again. An answer that is under way and has not come to @start yet just goes on. */
static void duplicate_resp(struct pib_resp *r)
{
	u32 back = res_find(r, r->h->psn);
	u32 start = 0, end = 1;
	struct pib_rd_res *e;

	if (!back)
		return;
	e = res_at(r, r->res_head - back);
	if (e->op != r->h->op)
		return;
	if (e->op == PIB_OP_READ_REQ && !read_part(r, e, &start, &end))
		return;
	if (e == r->repeat)
		r->repeat = NULL;
	if (e->pending && start >= e->off && end <= e->end)
		return;
	if (!e->pending || start < e->off) {
		e->off = start;
		e->start = start;
	}
	e->end = e->pending ? pib_max(end, e->end) : end;
	e->pending = true;
	if ((s32)(r->res_head - back - r->res_cur) < 0)
		r->res_cur = r->res_head - back;
}

void pib_resp_duplicate(struct pib_resp *r)
{
	if (r->h->op == PIB_OP_SEND || r->h->op == PIB_OP_WRITE)
		duplicate_data(r);
	else
		duplicate_resp(r);
}

/* ---- sending ---- */

static struct pib_hdrs *start_answer(const struct pib_resp *r, struct pib_tx_req *tx, u8 op,
				     u32 psn)
{
	memset(tx, 0, sizeof(*tx));
	tx->kind = PIB_TX_ACK;
	tx->npkts = 1;
	tx->h.tp = r->cfg.tp;
	tx->h.op = op;
	tx->h.dqpn = r->cfg.dqpn;
	tx->h.psn = psn;
	tx->h.flags = PIB_H_FIRST | PIB_H_LAST;
	tx->h.msn = r->msn;
	return &tx->h;
}

static u8 ack_syndrome(const struct pib_resp *r)
{
	u8 code = r->cfg.credits ? pib_aeth_encode_credits(r->credits) : PIB_AETH_NO_CREDITS;

	return PIB_AETH(PIB_AETH_ACK, code);
}

static void send_ack(struct pib_resp *r, struct pib_tx_req *tx)
{
	start_answer(r, tx, PIB_OP_ACK, r->ack_psn)->syndrome = ack_syndrome(r);
	r->ack_due = false;
	r->stats.acks_sent++;
}

static void send_nak(struct pib_resp *r, struct pib_tx_req *tx)
{
	start_answer(r, tx, PIB_OP_ACK, r->nak_psn)->syndrome = r->syndrome;
	r->nak_due = false;
	r->error = r->dead;
	if (PIB_AETH_KIND(r->syndrome) == PIB_AETH_NAK)
		pib_rc_count(r, naks_sent);
}

static void res_sent(struct pib_resp *r, struct pib_rd_res *e)
{
	e->pending = false;
	if (e->fresh && e->end == e->npkts) {
		e->fresh = false;
		r->res_fresh--;
	}
	res_seek(r);
}

static void send_read(struct pib_resp *r, struct pib_rd_res *e, struct pib_tx_req *tx)
{
	u32 burst = pib_max(1, r->cfg.max_burst >> r->mtu_shift);
	u32 n = pib_min(burst, e->end - e->off);
	struct pib_hdrs *h = start_answer(r, tx, PIB_OP_READ_RESP, pib_psn_add(e->psn, e->off));

	h->syndrome = ack_syndrome(r);
	h->msn = e->msn;
	h->srqn = e->srqn;
	h->flags = (e->off == e->start ? PIB_H_FIRST : 0) |
		   (e->off + n == e->end ? PIB_H_LAST : 0);
	tx->npkts = n;
	tx->off = e->off << r->mtu_shift;
	tx->len = pib_min(e->len - tx->off, n << r->mtu_shift);
	tx->va = e->va + tx->off;
	tx->rkey = e->rkey;
	if (tx->len)
		tx->kind = PIB_TX_READ_RESP;
	h->pad = pib_hdrs_pad(tx->len);
	r->res_last = r->res_cur;
	r->res_last_psn = h->psn;
	r->res_last_again = !e->fresh;
	e->off += n;
	if (e->off == e->end)
		res_sent(r, e);
}

static void send_atomic(struct pib_resp *r, struct pib_rd_res *e, struct pib_tx_req *tx)
{
	bool atomic = e->op == PIB_OP_CAS || e->op == PIB_OP_FAA;
	u8 op = atomic ? PIB_OP_ATOMIC_ACK : PIB_OP_READ_RESP;
	struct pib_hdrs *h = start_answer(r, tx, op, e->psn);

	h->syndrome = ack_syndrome(r);
	h->msn = e->msn;
	h->compare = e->orig;
	res_sent(r, e);
}

/* The next resource to answer. Return: NULL: there is none, or an ACK goes before. */
static struct pib_rd_res *next_res(const struct pib_resp *r)
{
	struct pib_rd_res *e = r->res_cur != r->res_head ? res_at(r, r->res_cur) : NULL;

	return e && r->ack_due && psn_before(r, r->ack_psn, e->psn) ? NULL : e;
}

bool pib_resp_next_is_answer(const struct pib_resp *r)
{
	return next_res(r);
}

bool pib_resp_next(struct pib_resp *r, struct pib_tx_req *tx)
{
	struct pib_rd_res *e = next_res(r);

	if (e && e->op == PIB_OP_READ_REQ)
		send_read(r, e, tx);
	else if (e)
		send_atomic(r, e, tx);
	else if (r->ack_due)
		send_ack(r, tx);
	else if (r->nak_due)
		send_nak(r, tx);
	else
		return false;
	return true;
}

/*
 * Drop the last answer, which had been given before: the requester may have it, and wait for the
 * answers behind it.
 */
static void drop_repeated(struct pib_resp *r)
{
	struct pib_rd_res *e = res_at(r, r->res_last);

	if (pib_psn_off(r->res_last_psn, e->psn) < e->npkts)
		e->pending = false;
	res_seek(r);
}

/*
 * The READ's memory was there when the request came, and is gone: nothing more is answered. That is
 * not so with a request that was answered before. A requester that has its answer may let the
 * region be invalidated while a repetition is still under way. Then the NAK means nothing to the
 * requester, and its later work requests go on.
 */
bool pib_resp_read_failed(struct pib_resp *r, struct pib_tx_req *tx)
{
	if (r->res_last_again) {
		drop_repeated(r);
		start_answer(r, tx, PIB_OP_ACK, r->res_last_psn)->syndrome =
			PIB_AETH(PIB_AETH_NAK, PIB_NAK_ACCESS);
		pib_rc_count(r, naks_sent);
		return true;
	}
	r->res_cur = r->res_head;
	r->res_fresh = 0;
	pib_resp_nak_fatal(r, r->res_last_psn, PIB_RES_ACCESS);
	return false;
}

static void defer_all(struct pib_resp *r)
{
	struct pib_rd_res *e = res_at(r, r->res_last);

	for (; r->res_cur != r->res_head; r->res_cur++)
		res_at(r, r->res_cur)->pending = false;
	if (!e->fresh) {	/* it was handed out, and is not sent */
		e->fresh = true;
		r->res_fresh++;
	}
	r->ack_due = false;
	r->repeat = e;
}

/*
 * The NAK of a refused request waits behind the READ. The requester is told to repeat the READ
 * first, and sends the refused request again after that.
 *
 * Return: false: a receive was used up, which does not come back.
 */
static bool take_back_refusal(struct pib_resp *r)
{
	if (r->final)
		return false;
	r->dead = PIB_RES_OK;
	pib_resp_nak_clear(r);
	return true;
}

/*
 * The requester goes back to that PSN and sends all from there on again (9.7.5.2.8). Requests that
 * were executed are duplicates then: their answers are still in the ring. Until the READ comes
 * again nothing new is taken in: a request that is refused would end the QP before the READ has its
 * answer.
 */
bool pib_resp_answer_later(struct pib_resp *r, struct pib_tx_req *tx)
{
	if (r->dead && (r->res_last_again || !take_back_refusal(r)))
		return false;
	if (r->res_last_again)
		drop_repeated(r);
	else
		defer_all(r);
	start_answer(r, tx, PIB_OP_ACK, r->res_last_psn)->syndrome = rnr_syndrome(r);
	pib_rc_count(r, deferrals);
	return true;
}
