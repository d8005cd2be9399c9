// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer: the effects of responses and of the clock on the requester
 * (9.7.5.1, 9.7.6).
 *
 * A response with PSN p says that all before p was received. Where something
 * before p is itself to be answered with data (READ, atomic) and was not, that
 * answer is lost: an implied NAK, and everything from there is asked for again.
 *
 * Going back is cheap to provoke and dear to do, and one loss shows in many
 * responses. So each gap and each sequence error NAK is acted upon once. If the
 * repetition is lost as well, the timer finds out, or responses that begin
 * again at a lower PSN.
 */
#include "rc_int.h"

/* ---- going back ---- */

static void fail_oldest(struct pib_req *r, u32 status)
{
	if (r->una != r->head)
		pib_req_local_error(r, pib_req_wqe(r, r->una), status);
}

static void req_retry(struct pib_req *r, bool count, bool timeout)
{
	if (count && !r->retries_left) {
		if (r->spare)
			r->leave = true;
		else
			fail_oldest(r, PIB_WC_RETRY_EXC_ERR);
		return;
	}
	if (count) {
		r->retries_left--;
		r->ack_deadline = 0;
	}
	pib_cwnd_lost(r, timeout);
	pib_req_rewind(r);
}

/* The response with PSN @psn shows that the answer due at una_psn is missing. */
static void implied_nak(struct pib_req *r, u32 psn)
{
	bool again = r->gap_seen && r->gap_psn == r->una_psn;
	u32 off = pib_psn_off(psn, r->una_psn);
	bool same_flight = again && off >= pib_psn_off(r->gap_last, r->una_psn);

	pib_rc_count(r, implied_nak);
	if (off >= pib_req_inflight(r))
		return;		/* from before the last going back */
	r->gap_seen = true;
	r->gap_psn = r->una_psn;
	r->gap_last = psn;
	if (!same_flight)
		req_retry(r, !again && !r->strays, false);
}

/*
 * All that is in flight is sent again because of a page that is missing here or there (an RNR NAK
 * may stand for the answer to a READ, too). It is answered meanwhile as well, which seems to leave
 * a gap: no retry is spent on that. Before next_psn, not snd_psn: what was sent before the last
 * going back and has yet to be sent again may be answered, too.
 */
static void expect_strays(struct pib_req *r)
{
	if (!pib_req_outstanding(r))
		return;
	r->strays = true;
	r->strays_psn = pib_psn_add(r->next_psn, -1);
}

/* ---- progress ---- */

static void req_progress(struct pib_req *r, u32 n, u32 inflight, u64 now)
{
	u64 t;

	r->retries_left = r->cfg.retry_cnt;
	r->rnr_left = r->cfg.rnr_retry;
	r->rnr_deadline = 0;
	r->gap_seen = false;
	r->nak_seen = false;
	r->leave = false;
	r->unproven = false;
	if (r->strays && pib_psn_diff(r->strays_psn, r->una_psn) < 0)
		r->strays = false;
	t = pib_req_timeout_ns(r);
	r->ack_deadline = t && pib_req_inflight(r) && pib_req_asked(r) ? now + t : 0;
	if (!pib_req_inflight(r))
		r->ask_deadline = 0;
	if (r->late_min)
		pib_rtt_progress(r, now);
	pib_cwnd_acked(r, n, inflight);
}

/* Skip acknowledged packets, which need not be sent again. */
static void catch_up(struct pib_req *r, u32 inflight, u32 n)
{
	pib_req_settle(r);
	if (n < inflight)
		return;
	r->snd_psn = r->una_psn;
	r->cur = r->una;
}

/*
 * Note that all before @psn was received.
 *
 * Return: true: una_psn has come to @psn; false: it stopped at something that needs more than an
 *	acknowledgement.
 */
static bool acked_before(struct pib_req *r, u32 psn, u64 now)
{
	u32 inflight = pib_req_inflight(r);
	const struct pib_wr_info *wi;
	struct pib_swqe *w;
	u32 left, n = 0;

	while (r->una_psn != psn && !r->error && r->una != r->head) {
		w = pib_req_wqe(r, r->una);
		wi = pib_wr_info(w->opcode, r->cfg.tp);
		if (w->state != PIB_WQE_ACTIVE || !wi || wi->kind & PIB_WRK_RESP)
			break;
		left = w->npkts - pib_psn_off(r->una_psn, w->psn);
		left = pib_min(left, pib_psn_off(psn, r->una_psn));
		r->una_psn = pib_psn_add(r->una_psn, left);
		n += left;
		if (r->una_psn == pib_psn_add(w->psn, w->npkts))
			w->state = PIB_WQE_DONE;
		pib_req_settle(r);
	}
	if (n) {
		catch_up(r, inflight, n);
		req_progress(r, n, inflight, now);
	}
	return r->una_psn == psn;
}

/* 9.7.7.2; a late ACK cannot take back what a later one has granted. */
static void take_credits(struct pib_req *r, const struct pib_hdrs *h)
{
	u8 code = PIB_AETH_VALUE(h->syndrome);
	u32 limit;

	if (code == PIB_AETH_NO_CREDITS) {
		r->no_credits = true;
		return;
	}
	limit = (h->msn + pib_aeth_decode_credits(code)) & PIB_PSN_MASK;
	if (pib_psn_diff(limit, r->credit_limit) > 0)
		r->credit_limit = limit;
}

/* Return: true if @w was started with a PSN that is no later than @psn. Both count from @base. */
static bool starts_before(const struct pib_swqe *w, u32 psn, u32 base)
{
	return w->state != PIB_WQE_POSTED && pib_psn_off(w->psn, base) <= pib_psn_off(psn, base);
}

/*
 * The work request that @psn belongs to; it is outstanding. The peer chooses @psn and how often it
 * answers, so this does not walk along the ring. From @una on, work requests are started in their
 * order and so are their PSNs. A work request that takes no PSN has that of its successor, and is
 * not the last one that starts before @psn.
 */
static struct pib_swqe *find_wqe(const struct pib_req *r, u32 psn)
{
	u32 base = pib_req_wqe(r, r->una)->psn;
	u32 from = 0, to = r->head - r->una, mid;
	struct pib_swqe *w;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (starts_before(pib_req_wqe(r, r->una + mid), psn, base))
			from = mid + 1;
		else
			to = mid;
	}
	if (!from)
		return NULL;
	w = pib_req_wqe(r, r->una + from - 1);
	return pib_psn_off(psn, w->psn) < w->npkts ? w : NULL;
}

static bool oldest_is(const struct pib_req *r, const struct pib_swqe *w)
{
	return r->una != r->head && pib_req_wqe(r, r->una) == w;
}

/* ---- acknowledgements ---- */

static void comp_positive(struct pib_req *r, const struct pib_hdrs *h, struct pib_swqe *w,
			  u64 now)
{
	const struct pib_wr_info *wi = pib_wr_info(w->opcode, r->cfg.tp);

	take_credits(r, h);
	if (!wi || wi->kind & PIB_WRK_RESP) {
		pib_rc_count(r, bad_responses);	/* no answer to this */
		return;
	}
	if (!acked_before(r, pib_psn_add(h->psn, 1), now) && !r->error)
		implied_nak(r, h->psn);
}

static void comp_rnr(struct pib_req *r, const struct pib_hdrs *h, u64 now)
{
	pib_rc_count(r, rnr_nak_rcvd);
	if (r->rnr_deadline)
		return;			/* said twice */
	if (r->cfg.rnr_retry != 7) {
		if (!r->rnr_left) {
			fail_oldest(r, PIB_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		r->rnr_left--;
	}
	expect_strays(r);
	pib_req_rewind(r);
	r->ack_deadline = 0;
	r->rnr_deadline = now + pib_aeth_rnr_ns(PIB_AETH_VALUE(h->syndrome)) *
				pib_max(1, r->cfg.rnr_times);
}

static void comp_nak_psn(struct pib_req *r, const struct pib_hdrs *h)
{
	pib_rc_count(r, packet_seq_err);
	if (r->nak_seen && r->nak_psn == h->psn)
		return;
	r->nak_seen = true;
	r->nak_psn = h->psn;
	req_retry(r, true, false);
}

/* 9.7.5.2, 11.6.2 */
static const u8 nak_status[32] = {
	[PIB_NAK_INV_REQ] = PIB_WC_REM_INV_REQ_ERR,
	[PIB_NAK_ACCESS] = PIB_WC_REM_ACCESS_ERR,
	[PIB_NAK_OP] = PIB_WC_REM_OP_ERR,
};

static void comp_fatal(struct pib_req *r, const struct pib_hdrs *h, struct pib_swqe *w)
{
	u8 status = nak_status[PIB_AETH_VALUE(h->syndrome)];

	if (!status)
		pib_rc_count(r, bad_responses);
	else if (oldest_is(r, w))
		fail_oldest(r, status);
	else if (!r->cfg.timeout)
		fail_oldest(r, PIB_WC_RETRY_EXC_ERR);	/* nobody will answer any more */
	else
		implied_nak(r, h->psn);
}

static void comp_negative(struct pib_req *r, const struct pib_hdrs *h, struct pib_swqe *w,
			  u64 now)
{
	bool reached = acked_before(r, h->psn, now);
	u8 kind = PIB_AETH_KIND(h->syndrome);

	if (r->error)
		return;
	if (kind == PIB_AETH_NAK && PIB_AETH_VALUE(h->syndrome) != PIB_NAK_PSN)
		comp_fatal(r, h, w);
	else if (!reached)
		implied_nak(r, h->psn);
	else if (kind == PIB_AETH_NAK)
		comp_nak_psn(r, h);
	else
		comp_rnr(r, h, now);
}

/*
 * Return: true if @psn is of the answered part of the present READ. If the responder was repeating
 * the answer and put it off there, the rest of the READ will not come unless it is asked for. If
 * the NAK is a ghost (9.7.5.1), asking costs a pause.
 */
static bool was_answered(const struct pib_req *r, u32 psn)
{
	const struct pib_swqe *w = r->una != r->head ? pib_req_wqe(r, r->una) : NULL;
	const struct pib_wr_info *wi;

	if (!w || w->state != PIB_WQE_ACTIVE)
		return false;
	wi = pib_wr_info(w->opcode, r->cfg.tp);
	return wi && wi->kind & PIB_WRK_READ &&
	       pib_psn_off(psn, w->psn) < pib_psn_off(r->una_psn, w->psn);
}

/*
 * Drop a response to a request that was answered before, or that was not made (9.7.5.1), but for
 * two things that it may bring.
 */
static void comp_ghost(struct pib_req *r, const struct pib_hdrs *h, u64 now)
{
	u8 kind = PIB_AETH_KIND(h->syndrome);

	if (kind == PIB_AETH_RNR && was_answered(r, h->psn)) {
		comp_rnr(r, h, now);
		return;
	}
	pib_rc_count(r, dup_acks);
	/* 9.7.7.2: the last ACK again may bring new credits */
	if (kind == PIB_AETH_ACK && pib_psn_add(h->psn, 1) == r->una_psn)
		take_credits(r, h);
}

static void comp_ack(struct pib_req *r, const struct pib_hdrs *h, u64 now)
{
	u8 kind = PIB_AETH_KIND(h->syndrome);
	struct pib_swqe *w;

	if (kind != PIB_AETH_ACK && kind != PIB_AETH_RNR && kind != PIB_AETH_NAK) {
		pib_rc_count(r, bad_responses);
		return;
	}
	if (pib_psn_off(h->psn, r->una_psn) >= pib_req_outstanding(r)) {
		comp_ghost(r, h, now);
		return;
	}
	w = find_wqe(r, h->psn);
	if (!w)
		pib_rc_count(r, bad_responses);
	else if (kind == PIB_AETH_ACK)
		comp_positive(r, h, w, now);
	else
		comp_negative(r, h, w, now);
}

/* ---- responses with data ---- */

/* @n PSNs of the oldest, @w, are answered; with the last of a request, the request is. */
static void psns_answered(struct pib_req *r, struct pib_swqe *w, u32 n, bool last, u64 now)
{
	u32 inflight = pib_req_inflight(r);

	r->una_psn = pib_psn_add(r->una_psn, n);
	if (last && r->rd_atomic_out)	/* 0: not asked for since the last going back */
		r->rd_atomic_out--;
	if (r->una_psn == pib_psn_add(w->psn, w->npkts))
		w->state = PIB_WQE_DONE;
	catch_up(r, inflight, n);
	req_progress(r, n, inflight, now);
}

/**
 * struct resp - a READ response burst, less the part that was received before
 * @psn: first packet
 * @n: packets
 * @src_off: payload taken off
 * @len: payload left
 * @last: ends with the last packet of the response
 */
struct resp {
	u32 psn;
	u32 n;
	u32 src_off;
	u32 len;
	bool last;
};

/*
 * Take off the part that was received before. Return: false: nothing is new, or there is no such
 * response.
 */
static bool resp_trim(struct pib_req *r, const struct pib_hdrs *h, u32 npkts, u32 len,
		      struct resp *p)
{
	u32 skip = pib_psn_off(r->una_psn, h->psn);

	if (!npkts || npkts > r->burst) {
		pib_rc_count(r, bad_responses);
		return false;
	}
	if (skip >= npkts)
		skip = 0;
	p->psn = pib_psn_add(h->psn, skip);
	p->n = npkts - skip;
	p->src_off = skip << r->mtu_shift;
	p->len = len - p->src_off;
	p->last = h->flags & PIB_H_LAST;
	if (pib_psn_off(p->psn, r->una_psn) + p->n > pib_req_outstanding(r)) {
		pib_rc_count(r, dup_acks);
		return false;
	}
	if (len < p->src_off) {
		pib_rc_count(r, bad_responses);
		return false;
	}
	return true;
}

/* Set @want to the bytes that @p must bring. Return: true if @p is the response @w waits for. */
static bool resp_fits(const struct pib_req *r, const struct pib_swqe *w,
		      const struct pib_wr_info *wi, const struct resp *p, u32 *want)
{
	u32 pos = pib_psn_off(r->una_psn, w->psn);
	u32 end = pib_req_chunk_end(r, w, pos);
	u32 total = pib_wqe_resp_len(w, wi);

	*want = pib_min(total, (pos + p->n) << r->mtu_shift) - (pos << r->mtu_shift);
	return pos + p->n <= end && p->last == (pos + p->n == end);
}

static void comp_place(struct pib_req *r, struct pib_swqe *w, const struct resp *p,
		       struct pib_place *pl)
{
	if (!p->len)
		return;
	pl->wqe = w;
	pl->wqe_off = pib_psn_off(r->una_psn, w->psn) << r->mtu_shift;
	pl->src_off = p->src_off;
	pl->len = p->len;
	w->off = pl->wqe_off + pl->len;
}

static void comp_data(struct pib_req *r, const struct pib_hdrs *h, u32 npkts, u32 len, u64 now,
		      struct pib_place *pl)
{
	bool aeth = h->flags & (PIB_H_FIRST | PIB_H_LAST);
	const struct pib_wr_info *wi;
	struct pib_swqe *w;
	struct resp p;
	u32 want;

	if (!resp_trim(r, h, npkts, len, &p))
		return;
	w = find_wqe(r, p.psn);
	wi = w ? pib_wr_info(w->opcode, r->cfg.tp) : NULL;
	if (!wi || !(wi->kind & (PIB_WRK_READ | PIB_WRK_ACKED)) ||
	    (aeth && PIB_AETH_KIND(h->syndrome) != PIB_AETH_ACK)) {
		pib_rc_count(r, bad_responses);
		return;
	}
	if (!acked_before(r, p.psn, now)) {
		if (!r->error)
			implied_nak(r, p.psn);
		return;
	}
	if (w->state != PIB_WQE_ACTIVE || !resp_fits(r, w, wi, &p, &want)) {
		pib_rc_count(r, bad_responses);
		return;
	}
	if (p.len != want) {			/* neither a ghost nor a loss */
		pib_req_local_error(r, w, PIB_WC_BAD_RESP_ERR);
		return;
	}
	if (aeth)
		take_credits(r, h);
	comp_place(r, w, &p, pl);
	psns_answered(r, w, p.n, p.last, now);
}

static void comp_atomic(struct pib_req *r, const struct pib_hdrs *h, u64 now,
			struct pib_place *pl)
{
	const struct pib_wr_info *wi;
	struct pib_swqe *w;

	if (pib_psn_off(h->psn, r->una_psn) >= pib_req_outstanding(r)) {
		pib_rc_count(r, dup_acks);
		return;
	}
	w = find_wqe(r, h->psn);
	wi = w ? pib_wr_info(w->opcode, r->cfg.tp) : NULL;
	if (!wi || !(wi->kind & PIB_WRK_ATOMIC) || PIB_AETH_KIND(h->syndrome) != PIB_AETH_ACK) {
		pib_rc_count(r, bad_responses);
		return;
	}
	if (!acked_before(r, h->psn, now)) {
		if (!r->error)
			implied_nak(r, h->psn);
		return;
	}
	if (w->state != PIB_WQE_ACTIVE) {
		pib_rc_count(r, bad_responses);
		return;
	}
	take_credits(r, h);
	pl->wqe = w;
	pl->len = 8;
	pl->orig = h->compare;
	pl->is_atomic = true;
	psns_answered(r, w, 1, true, now);
}

void pib_req_response(struct pib_req *r, const struct pib_hdrs *h, u32 npkts, u32 len, u64 now,
		      struct pib_place *pl)
{
	memset(pl, 0, sizeof(*pl));
	if (r->error || r->flushing)
		return;
	if (h->tp != r->cfg.tp || !pib_tp_reliable(h->tp)) {
		pib_rc_count(r, bad_responses);
		return;
	}
	switch (h->op) {
	case PIB_OP_ACK:
		comp_ack(r, h, now);
		break;
	case PIB_OP_READ_RESP:
		comp_data(r, h, npkts, len, now, pl);
		break;
	case PIB_OP_ATOMIC_ACK:
		comp_atomic(r, h, now, pl);
		break;
	default:
		pib_rc_count(r, bad_responses);
	}
}

/* The response was the last that was taken in: nothing behind it has been acknowledged. */
void pib_req_forget_response(struct pib_req *r, const struct pib_place *pl)
{
	struct pib_swqe *w = pl->wqe;
	u32 slot = (u32)((const char *)w - (const char *)r->ring) / r->stride;
	u32 back = (r->una - slot) & r->mask;

	if (r->error || r->flushing) {
		if (w->state == PIB_WQE_DONE)
			w->status = PIB_WC_WR_FLUSH_ERR;
		return;
	}
	if (!back && w->state == PIB_WQE_DONE)
		back = r->mask + 1;
	r->una -= back;
	r->una_psn = pib_psn_add(w->psn, pl->wqe_off >> r->mtu_shift);
	w->state = PIB_WQE_ACTIVE;
	r->gap_seen = false;
	r->ack_deadline = 0;
	expect_strays(r);
	pib_req_rewind(r);
}

/* ---- the clock ---- */

/* 9.7.6.1.3 */
static void ack_timeout(struct pib_req *r)
{
	r->ack_deadline = 0;
	if (!pib_req_inflight(r))
		return;
	pib_rc_count(r, timeouts);
	r->gap_seen = false;
	r->nak_seen = false;
	req_retry(r, true, true);
}

/*
 * An answer is late by the round trip: ask with the last packet, then go back (rc_rtt.c). That a
 * READ takes long says nothing of losses at first: its window stays.
 */
static void answer_late(struct pib_req *r)
{
	bool back = pib_rtt_late(r);

	if (!pib_req_inflight(r))
		return;
	pib_rc_count(r, late);
	if (!back && pib_req_ask(r))
		return;
	r->gap_seen = false;
	r->nak_seen = false;
	expect_strays(r);
	if (back)
		pib_cwnd_lost(r, true);
	pib_req_rewind(r);
}

void pib_req_timer(struct pib_req *r, u64 now)
{
	if (r->error || r->flushing)
		return;
	if (r->rnr_deadline && now >= r->rnr_deadline)
		r->rnr_deadline = 0;
	if (r->ack_deadline && now >= r->ack_deadline)
		ack_timeout(r);
	if (r->probe_deadline && !r->error && now >= r->probe_deadline)
		answer_late(r);
	if (r->ask_deadline && now >= r->ask_deadline)
		pib_req_ask(r);
}
