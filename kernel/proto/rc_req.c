// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester: from work requests to bursts.
 *
 * Slots run through a ring whose indices never wrap back:
 *
 *	tail <= una <= cur <= head
 *
 * @tail is the oldest not retired, @una the oldest not finished, @cur the one
 * being sent from. PSNs run beside: una_psn <= snd_psn <= next_psn. snd_psn is
 * behind next_psn only while packets are sent again. To go back is to set @cur
 * to @una and snd_psn to una_psn. Work requests finished out of order (local
 * operations) are skipped over.
 *
 * Responses are dealt with in rc_comp.c.
 */
#include "rc_int.h"

#define RC	(1 << PIB_TP_RC | 1 << PIB_TP_XRC)
#define UC	(1 << PIB_TP_UC)
#define UD	(1 << PIB_TP_UD)

const struct pib_wr_info pib_wr_table[PIB_WR_COUNT] = {
	[PIB_WR_WRITE] = { PIB_OP_WRITE, PIB_WRK_DATA, RC | UC, 0 },
	[PIB_WR_WRITE_IMM] = { PIB_OP_WRITE, PIB_WRK_DATA | PIB_WRK_CREDIT, RC | UC, PIB_H_IMM },
	[PIB_WR_SEND] = { PIB_OP_SEND, PIB_WRK_DATA | PIB_WRK_CREDIT, RC | UC | UD, 0 },
	[PIB_WR_SEND_IMM] = { PIB_OP_SEND, PIB_WRK_DATA | PIB_WRK_CREDIT, RC | UC | UD,
			      PIB_H_IMM },
	[PIB_WR_READ] = { PIB_OP_READ_REQ, PIB_WRK_READ, RC, 0 },
	[PIB_WR_CAS] = { PIB_OP_CAS, PIB_WRK_ATOMIC, RC, 0 },
	[PIB_WR_FAA] = { PIB_OP_FAA, PIB_WRK_ATOMIC, RC, 0 },
	[PIB_WR_LOCAL_INV] = { 0, PIB_WRK_LOCAL, RC | UC, 0 },
	[PIB_WR_BIND_MW] = { 0, PIB_WRK_LOCAL, RC | UC, 0 },
	[PIB_WR_SEND_INV] = { PIB_OP_SEND, PIB_WRK_DATA | PIB_WRK_CREDIT, RC, PIB_H_INV },
	[PIB_WR_LSO] = { PIB_OP_SEND, PIB_WRK_DATA | PIB_WRK_CREDIT, UD, 0 },
	[PIB_WR_FLUSH] = { PIB_OP_FLUSH, PIB_WRK_ACKED, RC, 0 },
	[PIB_WR_ATOMIC_WRITE] = { PIB_OP_ATOMIC_WRITE, PIB_WRK_ACKED | PIB_WRK_VALUE, RC, 0 },
	[PIB_WR_REG_MR] = { 0, PIB_WRK_LOCAL, RC | UC, 0 },
};

/* Packets of a large send: fewer than that. */
#define LSO_PACKETS	(1U << 16)

/* ---- configuration ---- */

void pib_req_init(struct pib_req *r, void *ring, u32 stride, u32 mask)
{
	memset(r, 0, sizeof(*r));
	r->ring = ring;
	r->stride = stride;
	r->mask = mask;
	r->burst = 1;
	r->mtu_shift = pib_mtu_shift(0);
}

static void req_set_sizes(struct pib_req *r)
{
	r->mtu_shift = pib_mtu_shift(r->cfg.pmtu);
	r->burst = pib_min(pib_max(1, r->cfg.max_burst >> r->mtu_shift), 1U << 16);
}

void pib_req_start(struct pib_req *r, const struct pib_req_cfg *cfg, u32 psn)
{
	r->cfg = *cfg;
	req_set_sizes(r);
	r->next_psn = psn & PIB_PSN_MASK;
	r->snd_psn = r->next_psn;
	r->una_psn = r->next_psn;
	r->cur = r->head;
	r->una = r->head;
	r->ssn = 1;
	r->credit_limit = 0;
	r->no_credits = false;
	r->since_ackreq = 0;
	r->msgs_unasked = 0;
	r->asked_psn = r->next_psn;
	r->rd_atomic_out = 0;
	r->retries_left = cfg->retry_cnt;
	r->rnr_left = cfg->rnr_retry;
	r->gap_seen = false;
	r->nak_seen = false;
	r->strays = false;
	r->stopped = false;
	r->spare = false;
	r->leave = false;
	r->unproven = false;
	r->ack_deadline = 0;
	r->rnr_deadline = 0;
	r->ask_deadline = 0;
	r->late_min = 0;
	pib_cwnd_init(r);
	pib_rtt_init(r);
	pib_req_resume(r);
}

void pib_req_reconfig(struct pib_req *r, const struct pib_req_cfg *cfg)
{
	struct pib_req_cfg old = r->cfg;

	r->cfg = *cfg;
	if (pib_req_drained(r)) {
		req_set_sizes(r);
	} else {
		r->cfg.pmtu = old.pmtu;
		r->cfg.max_burst = old.max_burst;
	}
	/* Retries that are used up stay so while the count is the same. */
	if (cfg->retry_cnt != old.retry_cnt)
		r->retries_left = cfg->retry_cnt;
	if (cfg->rnr_retry != old.rnr_retry)
		r->rnr_left = cfg->rnr_retry;
	if (!cfg->timeout)
		pib_rtt_stop(r);
}

void pib_req_set_spare(struct pib_req *r, bool spare)
{
	r->spare = spare;
	r->leave = false;
}

void pib_req_new_path(struct pib_req *r, u8 timeout, bool heard)
{
	pib_req_set_spare(r, false);
	r->cfg.timeout = timeout;
	r->retries_left = r->cfg.retry_cnt;
	r->rnr_left = r->cfg.rnr_retry;
	r->gap_seen = false;
	r->nak_seen = false;
	r->unproven = !heard;
	r->late_min = 0;
	pib_rtt_init(r);
	if (r->error || r->flushing || !pib_tp_reliable(r->cfg.tp) || !pib_req_outstanding(r))
		return;
	r->ack_deadline = 0;
	pib_cwnd_init(r);
	pib_req_rewind(r);
}

void pib_req_set_lossy(struct pib_req *r, u32 late_min)
{
	if (r->late_min == late_min)
		return;
	r->late_min = late_min;
	pib_cwnd_init(r);
	pib_rtt_init(r);
}

/* Make the timer due at once: somebody waits for packets that were sent without asking. */
static void req_ask_soon(struct pib_req *r)
{
	if (r->ask_deadline)
		r->ask_deadline = 1;
}

void pib_req_stop(struct pib_req *r, bool stop)
{
	r->stopped = stop;
	if (stop)
		req_ask_soon(r);
}

void pib_req_resume(struct pib_req *r)
{
	struct pib_swqe *w;

	/* Flushed work requests that are not yet retired must not be sent now. */
	for (; r->flushing && r->una != r->head; r->una++) {
		w = pib_req_wqe(r, r->una);
		if (w->state == PIB_WQE_DONE)
			continue;
		w->state = PIB_WQE_DONE;
		w->status = PIB_WC_WR_FLUSH_ERR;
	}
	if (r->flushing)
		r->cur = r->head;
	r->error = 0;
	r->flushing = false;
}

/* From T to 4 T (9.7.6.1.3): doubled with each of the first two retries without success. */
u64 pib_req_timeout_ns(const struct pib_req *r)
{
	u32 vain = r->cfg.retry_cnt > r->retries_left ? r->cfg.retry_cnt - r->retries_left : 0;

	return r->cfg.timeout ? 4096ULL << (r->cfg.timeout & 31) << (vain < 2 ? vain : 2) : 0;
}

/* ---- the ring ---- */

void pib_req_settle(struct pib_req *r)
{
	struct pib_swqe *w;

	for (; r->una != r->head; r->una++) {
		w = pib_req_wqe(r, r->una);
		if (w->state == PIB_WQE_FAILED && !r->error) {
			r->error = w->status;
			w->state = PIB_WQE_DONE;
		}
		if (w->state != PIB_WQE_DONE)
			break;
	}
	if ((s32)(r->cur - r->una) < 0)
		r->cur = r->una;
}

void pib_req_flush(struct pib_req *r)
{
	r->flushing = true;
	r->ack_deadline = 0;
	r->rnr_deadline = 0;
	r->ask_deadline = 0;
	pib_rtt_stop(r);
	r->rd_atomic_out = 0;
	r->una_psn = r->next_psn;
	r->snd_psn = r->next_psn;
}

bool pib_req_drained(const struct pib_req *r)
{
	if (r->una_psn != r->next_psn)
		return false;
	return r->una == r->head || pib_req_wqe(r, r->una)->state == PIB_WQE_POSTED;
}

/* Have nothing after @w sent any more. */
static void req_back_to(struct pib_req *r, const struct pib_swqe *w)
{
	u32 slot = (u32)((const char *)w - (const char *)r->ring) / r->stride;
	u32 i = r->una + ((slot - r->una) & r->mask);

	if ((s32)(r->cur - i) > 0)
		r->cur = i;
}

void pib_req_local_error(struct pib_req *r, struct pib_swqe *w, u32 status)
{
	w->status = status;
	if (w->state == PIB_WQE_DONE) {
		if (!r->error)
			r->error = status;
		return;
	}
	w->state = PIB_WQE_FAILED;
	req_back_to(r, w);
	pib_req_settle(r);
	/* The packet that failed may have been the one to ask for those before it. */
	if (w->npkts && r->una_psn != w->psn && pib_tp_reliable(r->cfg.tp))
		r->ask_deadline = 1;
	req_ask_soon(r);
}

void pib_req_local_done(struct pib_req *r, struct pib_swqe *w, u32 status)
{
	if (status != PIB_WC_SUCCESS) {
		pib_req_local_error(r, w, status);
		return;
	}
	w->state = PIB_WQE_DONE;
	pib_req_settle(r);
}

void pib_req_rewind(struct pib_req *r)
{
	r->cur = r->una;
	r->snd_psn = r->una_psn;
	r->rd_atomic_out = 0;
	r->since_ackreq = r->cwnd;	/* the first packet asks how far the peer has come */
	pib_rtt_stop(r);
}

/* The PSN behind the last packet that was sent; a burst that env could not make was not sent. */
static u32 req_sent_end(const struct pib_req *r)
{
	const struct pib_swqe *w;
	u32 i;

	for (i = r->una; i != r->head; i++) {
		w = pib_req_wqe(r, i);
		if (w->state == PIB_WQE_FAILED && w->npkts)
			return w->psn;
	}
	return r->next_psn;
}

/* The WQE with the packet @psn, one that is not answered by itself. */
static bool req_find_sent(const struct pib_req *r, u32 psn, u32 *index)
{
	const struct pib_swqe *w;
	u32 i;

	for (i = r->una; i != r->head; i++) {
		w = pib_req_wqe(r, i);
		if (w->state != PIB_WQE_ACTIVE || pib_psn_off(psn, w->psn) >= w->npkts)
			continue;
		*index = i;
		return pib_wr_info(w->opcode, r->cfg.tp)->kind & PIB_WRK_DATA;
	}
	return false;
}

/*
 * Send the last packet once more, now asking. To the responder it is a duplicate,
 * which it acknowledges and does not execute (9.7.5.1.4).
 */
bool pib_req_ask(struct pib_req *r)
{
	u32 end = req_sent_end(r);
	u32 i;

	r->ask_deadline = 0;
	if (pib_psn_diff(r->snd_psn, end) < 0 || pib_psn_diff(end, r->una_psn) <= 0 ||
	    !req_find_sent(r, pib_psn_add(end, PIB_PSN_MASK), &i))
		return false;
	r->cur = i;
	r->snd_psn = pib_psn_add(end, PIB_PSN_MASK);
	r->since_ackreq = r->cwnd;
	return true;
}

/* ---- packets of a work request ---- */

static u32 req_packets(const struct pib_req *r, const struct pib_swqe *w, u32 bytes)
{
	if (w->mss)
		return (bytes + w->mss - 1) / w->mss;
	return (bytes + (1U << r->mtu_shift) - 1) >> r->mtu_shift;
}

/* Bytes of the message before packet @pos. */
static u32 req_offset(const struct pib_req *r, const struct pib_swqe *w, u32 pos)
{
	return w->mss ? pos * w->mss : pos << r->mtu_shift;
}

/* Most packets in a burst. */
static u32 req_burst(const struct pib_req *r, const struct pib_swqe *w)
{
	u32 fits = w->mss ? r->cfg.max_burst / (w->mss + w->head_len) : r->burst;

	return w->mss ? pib_min(pib_max(1, fits), PIB_DATAGRAMS_MAX) : fits;
}

/* ---- starting a work request ---- */

/* The number of messages that @w is for the peer, which counts them in the MSN. */
static u32 req_messages(const struct pib_req *r, const struct pib_swqe *w,
			const struct pib_wr_info *wi)
{
	return wi->kind & PIB_WRK_READ ? (w->npkts + r->burst - 1) / r->burst : 1;
}

static bool req_may_start(struct pib_req *r, const struct pib_swqe *w)
{
	if (r->stopped)
		return false;
	if (w->flags & PIB_WR_FENCE && r->rd_atomic_out)
		return false;
	/* A key may be in use by all that was posted before, and be needed to send it again. */
	if (w->opcode != PIB_WR_LOCAL_INV || r->una == r->cur)
		return true;
	if (r->cfg.early_inv && !(w->flags & PIB_WR_FENCE))
		return true;
	req_ask_soon(r);
	return false;
}

/* A FLUSH of a region names no range (A19): its length says nothing. */
static bool is_too_long(const struct pib_req *r, const struct pib_swqe *w)
{
	if (w->mss)
		return w->len / w->mss >= LSO_PACKETS;
	if (r->cfg.tp == PIB_TP_UD)
		return w->len > 1U << r->mtu_shift;
	return w->len > PIB_MSG_MAX && !(w->opcode == PIB_WR_FLUSH && w->flush >> 4 == 1);
}

static u32 req_check(const struct pib_req *r, const struct pib_swqe *w,
		     const struct pib_wr_info *wi)
{
	if (!wi || (w->opcode == PIB_WR_LSO && !w->mss))
		return PIB_WC_LOC_QP_OP_ERR;
	if (wi->kind & PIB_WRK_LOCAL)
		return PIB_WC_SUCCESS;
	if (is_too_long(r, w))
		return PIB_WC_LOC_LEN_ERR;
	if (wi->kind & PIB_WRK_RESP && !r->cfg.max_rd_atomic)
		return PIB_WC_LOC_QP_OP_ERR;
	return PIB_WC_SUCCESS;
}

static void req_start_wqe(struct pib_req *r, struct pib_swqe *w)
{
	const struct pib_wr_info *wi = pib_wr_info(w->opcode, r->cfg.tp);
	u32 status = req_check(r, w, wi);
	u32 bytes;

	w->psn = r->next_psn;	/* of those that take none, too: find_wqe() goes by the order */
	if (status != PIB_WC_SUCCESS) {
		pib_req_local_error(r, w, status);
		return;
	}
	if (wi->kind & PIB_WRK_LOCAL) {
		w->state = PIB_WQE_LOCAL;
		return;
	}
	bytes = wi->kind & (PIB_WRK_DATA | PIB_WRK_READ) ? w->len : 0;
	w->npkts = pib_max(1, req_packets(r, w, bytes));
	w->ssn = r->ssn;
	r->ssn = (r->ssn + req_messages(r, w, wi)) & PIB_PSN_MASK;
	w->state = PIB_WQE_ACTIVE;
}

/* ---- how much may be sent ---- */

/*
 * End-to-end credits (9.7.7.2): a message that uses up a receive work request
 * goes if its SSN is within the limit. If it is not, its first packet goes
 * alone, once nothing else is in flight; with that accepted, so is the rest.
 */
static u32 req_credit(struct pib_req *r, const struct pib_swqe *w,
		      const struct pib_wr_info *wi, u32 pos, u32 n)
{
	if (r->no_credits || !(wi->kind & PIB_WRK_CREDIT) || !pib_tp_reliable(r->cfg.tp))
		return n;
	if (pib_psn_diff(r->credit_limit, w->ssn) >= 0 || pib_req_inflight(r) < pos)
		return n;
	if (!pib_req_inflight(r))
		return 1;
	req_ask_soon(r);
	return 0;
}

/* All or nothing, unless nothing is in flight: else the window would cut bursts to crumbs. */
static u32 req_window(const struct pib_req *r, u32 n)
{
	u32 inflight = pib_req_inflight(r);

	if (!pib_tp_reliable(r->cfg.tp))
		return n;
	n = pib_min(n, pib_req_burst_now(r));
	if (inflight + n <= r->cwnd)
		return n;
	/* The last packet once more takes no room: else a window that is full could not ask. */
	if (pib_psn_add(r->snd_psn, 1) == r->next_psn)
		return 1;
	return inflight ? 0 : pib_min(n, r->cwnd);
}

/* Return: true if the answer's @n packets fit the window, or nothing is in flight. */
static bool req_window_answer(const struct pib_req *r, u32 n)
{
	u32 inflight = pib_req_inflight(r);

	return !inflight || inflight + n <= r->cwnd;
}

/* Packets to send now of @w, from its packet @pos on. */
static u32 req_quota(struct pib_req *r, const struct pib_swqe *w,
		     const struct pib_wr_info *wi, u32 pos)
{
	u32 n;

	if (wi->kind & PIB_WRK_RESP) {
		n = pib_req_chunk_end(r, w, pos) - pos;
		if (r->rd_atomic_out >= r->cfg.max_rd_atomic)
			return 0;
		return req_window_answer(r, n) ? n : 0;
	}
	n = req_credit(r, w, wi, pos, pib_min(req_burst(r, w), w->npkts - pos));
	return n ? req_window(r, n) : 0;
}

/* ---- the burst ---- */

static void req_fill_data(const struct pib_req *r, const struct pib_swqe *w,
			  const struct pib_wr_info *wi, u32 pos, u32 n, struct pib_tx_req *tx)
{
	struct pib_hdrs *h = &tx->h;

	tx->npkts = n;
	tx->off = req_offset(r, w, pos);
	tx->len = pib_min(w->len - tx->off, req_offset(r, w, n));
	h->pad = pib_hdrs_pad(tx->len);
	if (!pos || w->mss) {
		h->flags |= PIB_H_FIRST;
		h->va = w->va;
		h->rkey = w->rkey;
		h->dmalen = w->len;
	}
	if (pos + n < w->npkts && !w->mss)
		return;
	h->flags |= PIB_H_LAST | wi->flags;
	h->ex = w->ex;
	if (w->flags & PIB_WR_SOLICITED && wi->kind & PIB_WRK_CREDIT)
		h->flags |= PIB_H_SE;
}

static void fill_resp(const struct pib_req *r, const struct pib_swqe *w,
		      const struct pib_wr_info *wi, u32 pos, u32 n, struct pib_tx_req *tx)
{
	u32 off = pos << r->mtu_shift;
	struct pib_hdrs *h = &tx->h;

	tx->npkts = 1;
	h->flags |= PIB_H_FIRST | PIB_H_LAST;
	h->va = w->va + off;
	h->rkey = w->rkey;
	h->flush = w->flush;
	h->dmalen = w->len;
	h->swap_add = w->opcode == PIB_WR_FAA ? w->compare_add : w->swap;
	if (w->opcode == PIB_WR_CAS)
		h->compare = w->compare_add;
	if (w->opcode == PIB_WR_ATOMIC_WRITE)
		h->dmalen = 8;
	if (wi->kind & PIB_WRK_READ)
		h->dmalen = pib_min(w->len - off, n << r->mtu_shift);
}

static void req_fill(const struct pib_req *r, struct pib_swqe *w, const struct pib_wr_info *wi,
		     u32 pos, u32 n, struct pib_tx_req *tx)
{
	struct pib_hdrs *h = &tx->h;

	memset(tx, 0, sizeof(*tx));
	tx->kind = PIB_TX_REQUEST;
	tx->wqe = w;
	h->tp = r->cfg.tp;
	h->op = wi->op;
	h->dqpn = r->cfg.tp == PIB_TP_UD ? w->dqpn : r->cfg.dqpn;
	h->qkey = w->qkey;
	h->srqn = w->srqn;
	h->psn = r->snd_psn;
	if (wi->kind & PIB_WRK_DATA)
		req_fill_data(r, w, wi, pos, n, tx);
	else
		fill_resp(r, w, wi, pos, n, tx);
}

/*
 * Time after which packets that were sent without asking for an acknowledgement are
 * asked about. Losses do not wait for that: NAKs come without being asked for.
 */
#define ASK_NSEC	1000000

/*
 * Nobody waits for the acknowledgement of a message without a completion of its
 * own, as long as there is room in ring and window to go on.
 */
static bool req_may_pass(const struct pib_req *r, const struct pib_swqe *w)
{
	return !(w->flags & PIB_WR_SIGNALED) && r->msgs_unasked < (r->mask + 1) / 4;
}

/*
 * Ask for an acknowledgement at the end of a message that somebody waits for, four
 * times per window, and where nothing more can be sent without one.
 */
static bool req_asks(const struct pib_req *r, const struct pib_swqe *w,
		     const struct pib_wr_info *wi, u32 n, const struct pib_tx_req *tx)
{
	/* The next one might have to wait for new credits. */
	if (wi->kind & PIB_WRK_CREDIT && !r->no_credits &&
	    pib_psn_diff(r->credit_limit, w->ssn) <= 0)
		return true;
	/* A READ asks for a whole burst, also where a window is small. */
	if (r->since_ackreq >= r->cwnd / 4 || pib_req_inflight(r) + n + r->burst > r->cwnd)
		return true;
	return tx->h.flags & PIB_H_LAST && !req_may_pass(r, w);
}

static void req_ackreq(struct pib_req *r, const struct pib_swqe *w,
		       const struct pib_wr_info *wi, u32 n, u64 now, struct pib_tx_req *tx)
{
	r->since_ackreq += n;
	if (wi->kind & PIB_WRK_DATA && !req_asks(r, w, wi, n, tx)) {
		r->msgs_unasked += !!(tx->h.flags & PIB_H_LAST);
		if (!r->ask_deadline)
			r->ask_deadline = now + ASK_NSEC;
		return;
	}
	tx->h.flags |= PIB_H_ACKREQ;
	r->asked_psn = pib_psn_add(r->snd_psn, n);
	r->since_ackreq = 0;
	r->msgs_unasked = 0;
	r->ask_deadline = 0;
}

/* Move on by the @n PSNs of @w that are being sent. */
static void req_advance_sent(struct pib_req *r, struct pib_swqe *w, const struct pib_wr_info *wi,
			     u32 pos, u32 n)
{
	u32 again = pib_psn_off(r->next_psn, r->snd_psn);

	if (again) {
		r->stats.retransmits += wi->kind & PIB_WRK_DATA ? pib_min(n, again) : 1;
		r->news = true;
	}
	r->snd_psn = pib_psn_add(r->snd_psn, n);
	if (n > again)
		r->next_psn = r->snd_psn;
	if (wi->kind & PIB_WRK_DATA)
		w->off = pib_min(w->len, req_offset(r, w, pos + n));
	if (pos + n == w->npkts)
		r->cur++;
}

/* Finish @w if all of it is sent: unreliable services wait for no answer (9.8.2, 9.8.3). */
static void req_sent_unreliable(struct pib_req *r, struct pib_swqe *w)
{
	r->una_psn = r->snd_psn;
	if (w->npkts != pib_psn_off(r->snd_psn, w->psn))
		return;
	w->state = PIB_WQE_DONE;
	pib_req_settle(r);
}

static void req_sent_reliable(struct pib_req *r, const struct pib_wr_info *wi, bool again, u64 now)
{
	u64 t = pib_req_timeout_ns(r);

	if (wi->kind & PIB_WRK_RESP)
		r->rd_atomic_out++;
	if (!pib_req_asked(r))
		return;
	if (t && !r->ack_deadline)
		r->ack_deadline = now + t;
	if (r->late_min && r->asked_psn == r->snd_psn)
		pib_rtt_asked(r, again, now);
}

static bool req_send(struct pib_req *r, struct pib_swqe *w, u64 now, struct pib_tx_req *tx)
{
	const struct pib_wr_info *wi = pib_wr_info(w->opcode, r->cfg.tp);
	u32 pos = pib_psn_off(r->snd_psn, w->psn);
	bool again = r->snd_psn != r->next_psn;
	u32 n;

	if (!wi)
		return false;
	n = req_quota(r, w, wi, pos);
	if (!n)
		return false;
	req_fill(r, w, wi, pos, n, tx);
	if (pib_tp_reliable(r->cfg.tp))
		req_ackreq(r, w, wi, n, now, tx);
	req_advance_sent(r, w, wi, pos, n);
	if (pib_tp_reliable(r->cfg.tp))
		req_sent_reliable(r, wi, again, now);
	else
		req_sent_unreliable(r, w);
	return true;
}

static bool req_local(struct pib_swqe *w, struct pib_tx_req *tx)
{
	memset(tx, 0, sizeof(*tx));
	tx->kind = PIB_TX_LOCAL;
	tx->wqe = w;
	return true;
}

static bool req_rnr_wait(struct pib_req *r, u64 now)
{
	if (r->rnr_deadline && now < r->rnr_deadline)
		return true;
	r->rnr_deadline = 0;
	return false;
}

bool pib_req_wanted(const struct pib_req *r, const struct pib_tx_req *tx)
{
	if (r->error || r->flushing)
		return false;
	if (tx->kind == PIB_TX_LOCAL || !pib_tp_reliable(r->cfg.tp))
		return true;
	return pib_psn_diff(tx->h.psn, r->una_psn) >= 0 && pib_psn_diff(tx->h.psn, r->snd_psn) < 0;
}

void pib_req_excuse(struct pib_req *r, u64 now)
{
	if (r->ack_deadline)
		r->ack_deadline = now + pib_req_timeout_ns(r);
	pib_rtt_excuse(r, now);
}

bool pib_req_next(struct pib_req *r, u64 now, struct pib_tx_req *tx)
{
	struct pib_swqe *w;

	if (req_rnr_wait(r, now))
		return false;
	while (!r->error && !r->flushing && r->cur != r->head) {
		w = pib_req_wqe(r, r->cur);
		switch (w->state) {
		case PIB_WQE_DONE:
			r->cur++;
			break;
		case PIB_WQE_POSTED:
			if (!req_may_start(r, w))
				return false;
			req_start_wqe(r, w);
			if (w->state == PIB_WQE_LOCAL)
				return req_local(w, tx);
			break;
		case PIB_WQE_ACTIVE:
			return req_send(r, w, now, tx);
		default:
			return false;
		}
	}
	return false;
}
