// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Effects of errors on a QP: states, flushing, events (IBA 10.3.1, 11.6.3). */
#include "compat/compat.h"
#include "hca/cq.h"
#include "hca/hw_counters.h"
#include "core/task.h"
#include "hca/hca.h"
#include "tracing/verbs.h"
#include "transport/inbox.h"
#include "transport/qp_trace.h"
#include "transport/completer.h"
#include "transport/output.h"
#include "transport/requester.h"
#include "transport/recv_queue.h"
#include "transport/send_queue.h"
#include "transport/error.h"
#include "transport/qp_debug.h"
#include "transport/stats.h"

static void trace_state(const struct pib_qp *qp, enum ib_qp_state to, enum pib_cause cause)
{
	struct pib_trace_qp who = pib_qp_traced(qp);

	trace_pib_qp_state(&who, qp->state, to, cause,
			   cause == PIB_CAUSE_SEND ? qp->req.error : IB_WC_SUCCESS);
}

void pib_qp_set_state(struct pib_qp *qp, enum ib_qp_state state, enum pib_cause cause)
{
	lockdep_assert_held(&qp->lock);
	if (trace_pib_qp_state_enabled() && state != qp->state)
		trace_state(qp, state, cause);
	qp->state = state;
	WRITE_ONCE(qp->cause, cause);
	qp->attr.qp_state = state;
	qp->attr.cur_qp_state = state;
}

void pib_qp_to_err(struct pib_qp *qp, enum pib_cause cause)
{
	lockdep_assert_held(&qp->lock);

	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET)
		return;

	pib_qp_dbg(qp, "ERR, was %s", pib_qp_state_name(qp->state));
	pib_qp_set_state(qp, IB_QPS_ERR, cause);
	WRITE_ONCE(qp->lent.owner.flushes, true);
	pib_req_flush(&qp->req);
	/*
	 * The QP takes nothing from its SRQ any more (11.6.3.2), or from those of its domain (A14).
	 */
	if (qp->rq.srq || qp->type == IB_QPT_XRC_TGT)
		qp->events |= BIT(IB_EVENT_QP_LAST_WQE_REACHED);
}

void pib_qp_error(struct pib_qp *qp, enum pib_cause cause, int event)
{
	lockdep_assert_held(&qp->lock);

	pib_qp_to_err(qp, cause);
	if (event >= 0)
		qp->events |= BIT(event);
	pib_task_kick(&qp->task);
}

static void qp_fatal(struct pib_qp *qp)
{
	pib_qp_dbg(qp, "a CQ of it is full");
	spin_lock_bh(&qp->lock);
	if (qp->state != IB_QPS_RESET)
		pib_qp_error(qp, PIB_CAUSE_CQ_FULL, IB_EVENT_QP_FATAL);
	spin_unlock_bh(&qp->lock);
}

/*
 * Move the next QP of the CQ to those that were notified.
 *
 * Return: the QP, with a reference; NULL: all have been notified.
 */
static struct pib_qp *next_to_notify(struct pib_cq *cq)
{
	struct pib_cq_link *link;
	struct pib_qp *qp = NULL;

	spin_lock(&cq->links_lock);
	while (!qp) {
		link = list_first_entry_or_null(&cq->links, struct pib_cq_link, entry);
		if (!link)
			break;
		list_move(&link->entry, &cq->notified);
		qp = pib_qp_stub_get(((struct pib_qp *)link->who)->entries.stub);
	}
	spin_unlock(&cq->links_lock);
	return qp;
}

/*
 * Only the QPs of this CQ are visited, however many others there are: a user can have many CQs
 * overflow.
 */
void pib_cq_overflow(struct pib_cq *cq)
{
	struct pib_qp *qp;

	while ((qp = next_to_notify(cq))) {
		qp_fatal(qp);
		pib_qp_put(qp);
		cond_resched();
	}
}

void pib_qp_sq_error(struct pib_qp *qp)
{
	bool sends = qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;

	lockdep_assert_held(&qp->lock);
	pib_qp_dbg(qp, "a send work request has failed: %s", ib_wc_status_msg(qp->req.error));
	if (pib_qp_is_reliable(qp) || !sends) {
		pib_qp_to_err(qp, PIB_CAUSE_SEND);
		return;
	}
	qp->attr.sq_draining = 0;
	pib_qp_dbg(qp, "SQE, was %s", pib_qp_state_name(qp->state));
	pib_qp_set_state(qp, IB_QPS_SQE, PIB_CAUSE_SEND);
	pib_req_flush(&qp->req);
}

void pib_qp_resp_error(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	pib_qp_dbg(qp, "a request of the peer was refused: %s", pib_res_name(qp->resp.error));
	/*
	 * A receive work request that has failed reports that by its completion, without an event
	 * (9.9.3, classes C and J). An invalid request fails the one in hand.
	 */
	switch (qp->resp.error) {
	case PIB_RES_ACCESS:
		pib_qp_stat(qp, PIB_STAT_RESP_REMOTE_ACCESS);
		qp->events |= BIT(IB_EVENT_QP_ACCESS_ERR);
		break;
	case PIB_RES_INVALIDATE:
		pib_qp_stat(qp, PIB_STAT_RESP_REMOTE_ACCESS);
		break;
	case PIB_RES_INV_REQ:
		if (qp->rq.cur.valid)
			pib_rq_complete(qp, PIB_WC_REM_INV_REQ_ERR, 0, NULL);
		else
			qp->events |= BIT(IB_EVENT_QP_REQ_ERR);
		break;
	}
	pib_qp_to_err(qp, PIB_CAUSE_REFUSED);
}

bool pib_qp_flush(struct pib_qp *qp)
{
	bool more;

	lockdep_assert_held(&qp->lock);
	pib_requester_cancel(qp);
	if (qp->state == IB_QPS_ERR && pib_qp_lends_pages(qp))
		pib_output_drop_unstable(qp);
	more = pib_sq_fetch(qp);
	more |= pib_completer_complete(qp);
	if (qp->state != IB_QPS_ERR)
		return more;
	pib_rq_flush_current(qp);
	if (!pib_qp_awaits_answers(qp))
		more |= pib_rq_flush(qp);
	return more;
}

void pib_qp_reset(struct pib_qp *qp)
{
	u8 port = qp->path.port ? qp->path.port->p.num : 0;
	struct pib_qp_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->lock);
	/*
	 * The state goes before the P_Key: a packet is judged by the key, and by the state if the
	 * key does not fit.
	 */
	pib_qp_set_state(qp, IB_QPS_RESET, PIB_CAUSE_ASKED);
	WRITE_ONCE(qp->lent.owner.flushes, false);
	/* Pairs with smp_rmb() in refuse_key(). */
	smp_wmb();
	pib_qp_paths_begin(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	WRITE_ONCE(qp->attr.path_mig_state, IB_MIG_MIGRATED);
	qp->attr.port_num = port;
	memset(&qp->path.av, 0, sizeof(qp->path.av));
	memset(&qp->path.alt_av, 0, sizeof(qp->path.alt_av));
	WRITE_ONCE(qp->path.alt_open, false);
	pib_qp_paths_end(qp);
	qp->path.alt_spent = false;
	qp->rx.comm_est = false;
	qp->tx.becn_due = false;
	qp->sq.late_at = 0;
	memset(&qp->tx.cc, 0, sizeof(qp->tx.cc));
	qp->tx.asks_first = false;
	atomic_set(&qp->refused.pkeys, 0);
	atomic_set(&qp->refused.qkeys, 0);
	WRITE_ONCE(qp->refused.pkey, 0);

	if (sq->slots)
		memset(sq->slots, 0, (size_t)sq->num_slots * sq->slot_size);
	pib_req_init(&qp->req, sq->slots, sq->slot_size, sq->num_slots ? sq->num_slots - 1 : 0);
	pib_resp_init(&qp->resp, qp->answers.res, qp->answers.num_res);
	memset(&qp->counters.req_seen, 0, sizeof(qp->counters.req_seen));
	memset(&qp->counters.resp_seen, 0, sizeof(qp->counters.resp_seen));
	pib_sq_reset(qp);
	pib_rq_reset(qp);
}

/*
 * The QP stays until this has returned, since qp_stop() cancels the timer. The turn may come later,
 * from the work item: a QP on a run list has a reference for that, and a QP that is being destroyed
 * is put on no list any more.
 */
static enum hrtimer_restart fire_event(struct hrtimer *timer)
{
	struct pib_qp *qp = container_of(timer, struct pib_qp, timer.hrtimer);
	/* A QP that runs elsewhere may set the timer again; pib_tasks_run_due() tolerates that. */
	u64 due = data_race(hrtimer_get_expires(timer));

	set_bit(PIB_QP_TIMER, &qp->task.state);
	pib_task_activate(&qp->task);
	pib_tasks_run_due(due);
	return HRTIMER_NORESTART;
}

void pib_qp_timer_init(struct pib_qp *qp)
{
	hrtimer_setup(&qp->timer.hrtimer, fire_event, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

static void free_list(struct pib_qp *qp, struct list_head *list)
{
	struct pib_burst *b, *next;

	list_for_each_entry_safe(b, next, list, entry)
		pib_inbox_free(qp, b);
}

void pib_qp_drop_bursts(struct pib_qp *qp)
{
	LIST_HEAD(bursts);

	lockdep_assert_held(&qp->lock);

	list_splice_init(&qp->rx.list, &bursts);
	pib_inbox_take(qp, &bursts);

	pib_output_drop(qp);
	pib_requester_cancel(qp);
	qp->answers.deferred.set = false;
	qp->rx.place.wqe = NULL;
	qp->rx.rules_asked = false;
	qp->rx.datagrams = 0;
	pib_pagein_abandon(qp->rx.pages);
	pib_pagein_abandon(qp->sq.deferred.pages);
	pib_pagein_abandon(qp->answers.deferred.pages);
	pib_hold_end(qp);
	free_list(qp, &bursts);
}

static void trace_async_event(const struct pib_qp *qp, u32 event)
{
	struct pib_trace_qp who = pib_qp_traced(qp);

	trace_pib_async_event(who.device, who.port, PIB_ASYNC_QP, who.qpn, event);
}

void pib_qp_dispatch(struct pib_qp *qp, u32 events)
{
	struct ib_event event = {
		.device = qp->ib.device,
		.element.qp = &qp->ib,
	};

	while (events) {
		event.event = __ffs(events);
		events &= events - 1;
		if (trace_pib_async_event_enabled())
			trace_async_event(qp, event.event);
		if (qp->ib.event_handler)
			qp->ib.event_handler(&event, qp->ib.qp_context);
	}
}
