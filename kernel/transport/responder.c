// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder executes requests on memory once the transport (proto/rc_resp.c) has found them to
 * be in order, and tells the transport the result.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include "compat/compat.h"
#include "core/task.h"
#include "hca/hw_counters.h"
#include "hca/hca.h"
#include "memory/pd.h"
#include "transport/congestion.h"
#include "transport/inject.h"
#include "transport/qp_trace.h"
#include "transport/responder.h"
#include "transport/recv_queue.h"
#include "transport/static_rate.h"
#include "transport/stats.h"

#define LEAVE_MSEC	20	/* for so long the end of a QP waits for its last ACK to leave */

/*
 * Return: true if the QP allows such access. If not, a request for it is invalid, whatever the key
 * says (9.7.4.1.5).
 */
static bool request_allowed(const struct pib_qp *qp, int access)
{
	return qp->attr.qp_access_flags & access;
}

/*
 * Invalidate the key of a SEND. The receive is completed also if the peer may not invalidate the
 * key (9.4.1.1.3), and reports that in the place of the event of an access error.
 */
static enum pib_res invalidate_key(struct pib_qp *qp, u32 rkey)
{
	int err = pib_mem_invalidate(pib_qp_mem_ctx(qp), rkey, true);

	if (!err)
		return PIB_RES_OK;
	if (err != -EAGAIN) {
		qp->rx.hold.drains_since = 0;
		pib_rq_complete(qp, PIB_WC_REM_INV_REQ_ERR, 0, NULL);
		return PIB_RES_INVALIDATE;
	}
	if (pib_hold_drains_long(qp)) {
		pib_mem_ask_back();
		return PIB_RES_LATER;
	}
	qp->timer.draining = true;
	return PIB_RES_WAIT;
}

/* Get the range that a request names, as pib_mem_get_remote(). */
static int get_range(struct pib_qp *qp, u32 rkey, u64 va, u32 len, int access,
		     struct pib_span *span)
{
	return pib_mem_get_remote(pib_qp_mem_ctx(qp), rkey, va, len, access, span);
}

/*
 * Return: the result of a copy that has ended by @err, for the transport. Brings missing pages in.
 */
static enum pib_res copy_outcome(struct pib_qp *qp, const struct pib_span *span, u32 off, u32 len,
				 int err)
{
	if (err == -EAGAIN)
		err = pib_hold_pagein(qp, qp->rx.pages, span, off, len, true);
	if (err == -EAGAIN)
		return PIB_RES_WAIT;
	return err ? PIB_RES_OP : PIB_RES_OK;
}

/*
 * Return: the result of an atomic, likewise. Memory may be unaligned where its address is not (a
 * window, say).
 */
static enum pib_res atomic_outcome(struct pib_qp *qp, const struct pib_span *span, int err)
{
	return err == -EINVAL ? PIB_RES_INV_REQ : copy_outcome(qp, span, 0, 8, err);
}

static enum pib_res do_send(struct pib_qp *qp, struct pib_burst *b, const struct pib_act *act)
{
	enum pib_res res;

	if (act->first) {
		res = pib_rq_take(qp, act->h->srqn);
		if (!res && pib_injects_requests(qp))
			res = pib_inject_recv(qp);
		if (res)
			return res;
	}
	res = pib_rq_scatter(qp, b, act->src_off, act->len, act->off);
	if (res || !act->last)
		return res;

	if (act->h->flags & PIB_H_INV) {
		res = invalidate_key(qp, act->h->ex);
		if (res)
			return res;
	}
	qp->rx.hold.drains_since = 0;
	pib_rq_complete(qp, PIB_WC_SUCCESS, act->total, act->h);
	return PIB_RES_OK;
}

/*
 * Get the whole range with the first packet, with others their part, nothing for no bytes (C9-88).
 */
static int write_range(struct pib_qp *qp, const struct pib_act *act, struct pib_span *span)
{
	u32 len = act->first ? act->dmalen : act->len;

	*span = (struct pib_span) {};
	return len ? get_range(qp, act->rkey, act->va, len, IB_ACCESS_REMOTE_WRITE, span) : 0;
}

/* Place the packets of a WRITE, the last one first. */
static int place_backwards(struct pib_burst *b, const struct pib_act *act,
			   const struct pib_span *span)
{
	u32 at = (act->len - 1) / b->pmtu * b->pmtu;
	struct pib_span part = *span;
	int err;

	do {
		part.addr = span->addr + at;
		part.len = min(b->pmtu, act->len - at);
		err = pib_burst_place(b, act->src_off + at, &part, part.len);
		at -= b->pmtu;
	} while (!err && at < act->len);
	return err;
}

static int place_write(struct pib_qp *qp, struct pib_burst *b, const struct pib_act *act,
		       const struct pib_span *span)
{
	if (pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_DATA_OUT_OF_ORDER))
		return place_backwards(b, act, span);
	return pib_burst_place(b, act->src_off, span, act->len);
}

/*
 * Place the payload of a WRITE. With immediate data a receive work request is taken and completed.
 */
static enum pib_res write_payload(struct pib_qp *qp, struct pib_burst *b,
				  const struct pib_act *act, struct pib_span *span)
{
	enum pib_res res;

	if (act->take_recv) {
		res = pib_rq_take(qp, act->h->srqn);
		if (res)
			return res;
	}
	res = PIB_RES_OK;
	if (act->len)
		res = copy_outcome(qp, span, 0, act->len, place_write(qp, b, act, span));
	if (!act->take_recv || res == PIB_RES_WAIT)
		return res;
	if (res)
		pib_rq_complete(qp, PIB_WC_LOC_ACCESS_ERR, 0, NULL);
	else
		pib_rq_complete(qp, PIB_WC_SUCCESS, act->total, act->h);
	return res;
}

/*
 * Refuse the R_Key of a WRITE. Nothing was written, no receive work request is used up, and the
 * event reports that (9.9.3). HCAs that take the receive first complete it in error in place of the
 * event.
 */
static enum pib_res refuse_write(struct pib_qp *qp, const struct pib_act *act)
{
	if (!act->take_recv || !pib_qp_is_reliable(qp) ||
	    !pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_WRITE_IMM_RECEIVE) ||
	    pib_rq_take(qp, act->h->srqn))
		return PIB_RES_ACCESS;
	pib_rq_complete(qp, PIB_WC_LOC_ACCESS_ERR, 0, NULL);
	return PIB_RES_INVALIDATE;	/* the same NAK, and no event */
}

static enum pib_res do_write(struct pib_qp *qp, struct pib_burst *b, const struct pib_act *act)
{
	struct pib_span span;
	enum pib_res res;

	if (!request_allowed(qp, IB_ACCESS_REMOTE_WRITE))
		return PIB_RES_INV_REQ;
	if (write_range(qp, act, &span))
		return refuse_write(qp, act);
	res = write_payload(qp, b, act, &span);
	pib_mem_put(&span);
	if (act->first && res != PIB_RES_RNR && res != PIB_RES_WAIT)
		pib_qp_stat(qp, PIB_STAT_RX_WRITE_REQUESTS);
	return res;
}

static enum pib_res check_read_memory(struct pib_qp *qp, const struct pib_act *act)
{
	struct pib_span span;

	if (!request_allowed(qp, IB_ACCESS_REMOTE_READ))
		return PIB_RES_INV_REQ;
	pib_qp_stat(qp, PIB_STAT_RX_READ_REQUESTS);
	if (!act->dmalen)
		return PIB_RES_OK;
	if (get_range(qp, act->rkey, act->va, act->dmalen, IB_ACCESS_REMOTE_READ, &span))
		return PIB_RES_ACCESS;
	pib_mem_put(&span);
	return PIB_RES_OK;
}

static enum pib_res do_atomic(struct pib_qp *qp, const struct pib_act *act, u64 *orig)
{
	struct pib_span span;
	enum pib_res res;
	int err;

	if (act->va & 7)	/* C9-114 */
		return PIB_RES_INV_REQ;
	if (!request_allowed(qp, IB_ACCESS_REMOTE_ATOMIC))
		return PIB_RES_INV_REQ;
	if (get_range(qp, act->rkey, act->va, 8, IB_ACCESS_REMOTE_ATOMIC, &span))
		return PIB_RES_ACCESS;

	if (act->kind == PIB_ACT_CAS)
		err = pib_span_cas(&span, act->compare_add, act->swap, orig);
	else
		err = pib_span_faa(&span, act->compare_add, orig);
	res = atomic_outcome(qp, &span, err);
	pib_mem_put(&span);
	if (res != PIB_RES_WAIT)
		pib_qp_stat(qp, PIB_STAT_RX_ATOMIC_REQUESTS);
	return res;
}

static enum pib_res do_atomic_write(struct pib_qp *qp, const struct pib_act *act)
{
	struct pib_span span;
	enum pib_res res;
	int err;

	if (act->va & 7)
		return PIB_RES_INV_REQ;
	if (!request_allowed(qp, IB_ACCESS_REMOTE_WRITE))
		return PIB_RES_INV_REQ;
	if (get_range(qp, act->rkey, act->va, 8, IB_ACCESS_REMOTE_WRITE, &span))
		return PIB_RES_ACCESS;

	err = pib_span_atomic_write(&span, act->swap);
	res = atomic_outcome(qp, &span, err);
	pib_mem_put(&span);
	return res;
}

/* FETH (A19.4.2): placement type in bits 0-3, selectivity level in bits 4-5. */
#define FLUSH_GLOBAL		BIT(0)
#define FLUSH_PERSISTENT	BIT(1)
#define FLUSH_LEVEL(f)		((f) >> 4 & 3)
#define FLUSH_LEVEL_RANGE	0

static int flush_access(u8 flush)
{
	int access = 0;

	if (flush & FLUSH_GLOBAL)
		access |= IB_ACCESS_FLUSH_GLOBAL;
	if (flush & FLUSH_PERSISTENT)
		access |= IB_ACCESS_FLUSH_PERSISTENT;
	return access;
}

/*
 * Check the memory of a FLUSH. A range must lie in the region. For a whole region, or an empty
 * range, the key alone decides.
 */
static int flush_check(struct pib_qp *qp, const struct pib_act *act, int access)
{
	struct pib_span span;
	int err;

	if (FLUSH_LEVEL(act->flush) != FLUSH_LEVEL_RANGE || !act->dmalen)
		return pib_mem_check_remote(pib_qp_mem_ctx(qp), act->rkey, access);
	err = get_range(qp, act->rkey, act->va, act->dmalen, access, &span);
	if (!err)
		pib_mem_put(&span);
	return err;
}

/* Execute a FLUSH, which is only checked: written data stands in memory already. */
static enum pib_res do_flush(struct pib_qp *qp, const struct pib_act *act)
{
	int access = flush_access(act->flush);

	/* A QP may allow persistence; no region does, and its key is then refused. */
	if (!access || (qp->attr.qp_access_flags & access) != access)
		return PIB_RES_INV_REQ;
	if (flush_check(qp, act, access))
		return PIB_RES_ACCESS;
	/*
	 * Pairs with the barrier of the reader of that memory, whichever it has: the reader sees
	 * what was written before it sees the answer.
	 */
	smp_mb();
	return PIB_RES_OK;
}

static enum pib_res execute_act(struct pib_qp *qp, struct pib_burst *b, const struct pib_act *act,
				u64 *orig)
{
	switch (act->kind) {
	case PIB_ACT_SEND:
		return do_send(qp, b, act);
	case PIB_ACT_WRITE:
		return do_write(qp, b, act);
	case PIB_ACT_READ:
		return check_read_memory(qp, act);
	case PIB_ACT_CAS:
	case PIB_ACT_FAA:
		return do_atomic(qp, act, orig);
	case PIB_ACT_ATOMIC_WRITE:
		return do_atomic_write(qp, act);
	case PIB_ACT_FLUSH:
		return do_flush(qp, act);
	default:
		/* ABORT_RECV: the work request stays in hand for the next message. */
		return PIB_RES_OK;
	}
}

/*
 * Set the protection domain of an XRC request: that of the SRQ which the request names. Return:
 * false: there is none.
 */
static bool enter_domain(struct pib_qp *qp, u32 srqn)
{
	if (qp->type != IB_QPT_XRC_TGT)
		return true;
	qp->rx.pd = pib_rq_xrc_pd(qp, srqn);
	return qp->rx.pd;
}

/*
 * Perform a step of a request. No request begins while a page takes long: nobody knows what the
 * request lacks.
 */
static enum pib_res perform_act(struct pib_qp *qp, struct pib_burst *b, struct pib_act *act,
				bool known, u64 *orig)
{
	enum pib_res res;

	if (!known)
		return PIB_RES_INV_REQ;
	if (unlikely(qp->rx.hold.refuses))
		return PIB_RES_LATER;
	if (pib_injects_requests(qp)) {
		res = pib_inject_request(qp, act);
		if (res)
			return res;
	}
	res = execute_act(qp, b, act, orig);
	/*
	 * Without a receive work request nothing else would report that this side has failed
	 * (11.6.3.2).
	 */
	if (res == PIB_RES_OP && act->kind != PIB_ACT_SEND && !act->take_recv)
		qp->events |= BIT(IB_EVENT_QP_FATAL);
	return res;
}

static bool responder_takes(struct pib_qp *qp, struct pib_burst *b)
{
	enum pib_res res = PIB_RES_OK;
	struct pib_act act;
	bool known;
	u64 orig;

	lockdep_assert_held(&qp->lock);

	known = enter_domain(qp, b->h.srqn);
	pib_resp_begin(&qp->resp, &b->h, b->npkts, b->len);
	while (pib_resp_step(&qp->resp, &act)) {
		orig = 0;
		res = perform_act(qp, b, &act, known, &orig);
		/* The head of a request that finds no receive is a step of its own. */
		qp->rx.rules_asked = res == PIB_RES_WAIT || (res == PIB_RES_RNR && act.take_recv);
		if (res == PIB_RES_WAIT)
			break;
		pib_resp_result(&qp->resp, &act, res, orig);
	}
	qp->rx.rules_asked &= res == PIB_RES_WAIT;
	qp->rx.pd = NULL;
	return res != PIB_RES_WAIT;
}

bool pib_responder_rx(struct pib_qp *qp, struct pib_burst *b)
{
	u64 drops[PIB_RESP_DROP_REASONS];
	bool taken;

	lockdep_assert_held(&qp->lock);
	if (!pib_qp_reports_drops())
		return responder_takes(qp, b);
	memcpy(drops, qp->resp.stats.drops, sizeof(drops));
	taken = responder_takes(qp, b);
	pib_qp_report_resp_drops(qp, b, drops);
	return taken;
}

/* Copy the payload into @b, since the pages of @span may go before the burst does. */
static int copy_payload(struct pib_qp *qp, struct pib_span *span, struct pib_burst *b)
{
	void *dst = pib_burst_own(b, b->len);
	int err;

	if (!dst)
		return -ENOMEM;
	err = pib_span_get(span, dst);
	if (err == -EAGAIN)
		err = pib_hold_pagein(qp, qp->answers.deferred.pages, span, 0, b->len, false);
	return err;
}

/*
 * Give @b its payload. Return: 0; -ENOMEM; -EAGAIN: a page is missing; others: the memory cannot be
 * read.
 */
static int attach_answer(struct pib_qp *qp, const struct pib_tx_req *tx, struct pib_burst *b)
{
	struct pib_span span;
	int err;

	if (!b->len)
		return 0;
	if (!enter_domain(qp, tx->h.srqn))
		return -EINVAL;
	err = get_range(qp, tx->rkey, tx->va, tx->len, IB_ACCESS_REMOTE_READ, &span);
	qp->rx.pd = NULL;
	if (err)
		return err;

	if (pib_span_pageable(&span)) {
		err = copy_payload(qp, &span, b);
		pib_mem_put(&span);
		return err;
	}
	if (WARN_ON_ONCE(!pib_burst_refer(b, 1))) {	/* a burst has room for a piece */
		pib_mem_put(&span);
		return -ENOMEM;
	}
	b->spans[b->nspans++] = span;
	/* The flush is when a consumer in the kernel takes its pages back. */
	if (pib_qp_lends_pages(qp)) {
		pib_qp_get(qp);
		b->owner = &qp->lent.owner;
		b->owner_slot = PIB_SLOT_ANSWERS;
		atomic_inc(&qp->lent.answers);
	}
	return 0;
}

static bool send_answer(struct pib_qp *qp, const struct pib_tx_req *tx, struct pib_turn *turn);

/*
 * Tell the requester to ask again if the page of an answer takes long. The requester would take the
 * silence for a loss. Return: false: not yet.
 */
static bool nak_deferred(struct pib_qp *qp, struct pib_turn *turn)
{
	struct pib_tx_req nak __uninitialized;

	if (!pib_hold_is_long(qp->answers.deferred.pages, turn->now) ||
	    !pib_resp_answer_later(&qp->resp, &nak))
		return false;
	qp->answers.deferred.set = false;
	return send_answer(qp, &nak, turn);
}

static bool defer_answer(struct pib_qp *qp, const struct pib_tx_req *tx, struct pib_turn *turn)
{
	qp->answers.deferred.tx = *tx;
	qp->answers.deferred.set = true;
	return nak_deferred(qp, turn);
}

/* Send an answer. Return: false: the receiver is full, or the answer is deferred. */
static bool send_answer(struct pib_qp *qp, const struct pib_tx_req *tx, struct pib_turn *turn)
{
	u32 pmtu = pib_output_pmtu(qp, tx);
	struct pib_burst *b = pib_burst_make(&tx->h, tx->npkts, tx->len, pmtu);
	struct pib_tx_req nak __uninitialized;
	int err;

	pib_turn_spend(turn, tx);
	if (!b) {
		pib_output_nomem(qp, tx);
		return true;	/* as if lost on the way */
	}
	err = tx->kind == PIB_TX_READ_RESP ? attach_answer(qp, tx, b) : 0;
	if (!err)
		return pib_output_send(qp, 0, &qp->path.av, b, turn);

	pib_burst_free(b);
	if (err == -EAGAIN)
		return defer_answer(qp, tx, turn);
	if (err == -ENOMEM)
		pib_output_nomem(qp, tx);
	else if (pib_resp_read_failed(&qp->resp, &nak))
		return send_answer(qp, &nak, turn);
	return true;
}

/* Send the deferred answer, which goes first. Return: false: it cannot go yet. */
static bool send_deferred(struct pib_qp *qp, struct pib_turn *turn)
{
	struct pib_tx_req tx __uninitialized;

	if (!qp->answers.deferred.set)
		return true;
	if (pib_pagein_busy(qp->answers.deferred.pages))
		return nak_deferred(qp, turn);
	if (pib_congestion_holds(qp, turn->now))
		return false;
	tx = qp->answers.deferred.tx;
	qp->answers.deferred.set = false;
	return send_answer(qp, &tx, turn);
}

/*
 * Return: true if congestion control or a static rate has the next answer wait. Answers to READs
 * and atomics wait as requests do (A10.2), and so do all answers behind them. ACKs and NAKs that
 * are next go at once.
 */
static bool answer_held(const struct pib_qp *qp, const struct pib_turn *turn)
{
	return pib_congestion_holds(qp, turn->now) && pib_resp_next_is_answer(&qp->resp);
}

/*
 * Return: most bytes of an answer to a READ in a burst. The peer times its READ: each packet of the
 * answer tells it to go on waiting.
 */
static u32 most_at_once(const struct pib_qp *qp)
{
	if (pib_congestion_slows(qp, qp->path.av.sl))
		return qp->resp.cfg.pmtu;
	if (pib_static_rate_slows(qp, &qp->path.av))
		return pib_static_rate_burst(&qp->path.av, qp->resp.cfg.pmtu);
	return PIB_BURST_MAX;
}

bool pib_responder_tx(struct pib_qp *qp, struct pib_turn *turn)
{
	struct pib_tx_req tx __uninitialized;

	lockdep_assert_held(&qp->lock);

	if (qp->resp.cfg.credits && qp->rq.ring.hdr)
		pib_resp_set_credits(&qp->resp, pib_ring_pending(&qp->rq.ring));
	if (!send_deferred(qp, turn))
		return qp->answers.deferred.set;

	qp->resp.cfg.max_burst = most_at_once(qp);
	while (pib_resp_owes(&qp->resp) && !pib_turn_over(turn) && !answer_held(qp, turn) &&
	       pib_resp_next(&qp->resp, &tx)) {
		/* deferred: the requester goes on meanwhile */
		if (!send_answer(qp, &tx, turn))
			return qp->answers.deferred.set;
	}
	return !pib_turn_over(turn);
}

/*
 * Return: true if an ACK or a NAK waits for room, or is due with no answer before it. In ERR none
 * is made any more.
 */
static bool owes_ack(const struct pib_qp *qp)
{
	const struct pib_burst *stalled = qp->tx.stall.burst;

	if (stalled && pib_op_is_response(stalled->h.op))
		return stalled->h.op == PIB_OP_ACK;
	return qp->state >= IB_QPS_RTR && qp->state != IB_QPS_ERR && pib_resp_owes(&qp->resp) &&
	       !pib_resp_next_is_answer(&qp->resp) && !qp->answers.deferred.set;
}

/*
 * Have ACKs and NAKs leave at once, if there is any. A request that waits for room is lost: the QP
 * ends before it has an answer.
 *
 * Return: true: there is one.
 */
static bool hasten_ack(struct pib_qp *qp)
{
	bool owes;

	spin_lock_bh(&qp->lock);
	owes = pib_qp_is_reliable(qp) && owes_ack(qp);
	qp->tx.leaves = owes;
	if (owes && qp->tx.stall.burst && !pib_op_is_response(qp->tx.stall.burst->h.op))
		pib_output_drop(qp);
	spin_unlock_bh(&qp->lock);
	return owes;
}

/* There is no room. The next ones of the HCA try once, so that many do not wait one by one. */
static void leave_in_vain(struct pib_qp *qp)
{
	spin_lock_bh(&qp->lock);
	qp->tx.leaves = false;
	spin_unlock_bh(&qp->lock);
	WRITE_ONCE(qp->hca->no_room_until, jiffies + HZ);
}

static void run_turn(struct pib_qp *qp)
{
	local_bh_disable();
	pib_task_activate_here(&qp->task);
	pib_tasks_run();
	local_bh_enable();
}

/* A turn sends: what has been sent before it, and was put off, goes first. */
void pib_responder_leave(struct pib_qp *qp)
{
	unsigned long until = jiffies;
	int tries;

	if (!time_before(jiffies, READ_ONCE(qp->hca->no_room_until)))
		until += msecs_to_jiffies(LEAVE_MSEC);
	for (tries = 0; hasten_ack(qp); tries++) {
		if (tries && time_after_eq(jiffies, until)) {
			leave_in_vain(qp);
			return;
		}
		if (tries)
			usleep_range(50, 200);
		run_turn(qp);
	}
}
