// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One turn of a queue pair. core/task.c calls qp_run() when there is something to do, on one CPU at
 * a time. qp->lock is held from beginning to end.
 *
 *	 inbox (input.c)	  send ring (post.c)		     timer (error.c)
 *	    |			    |					|
 *	turn_receive()		    |				 turn_expire()
 *	    |			    |					|
 *	    +- request:  pib_responder_rx() -- memory, receive queue	|
 *	    +- response: pib_completer_rx() -- memory			|
 *	    +- datagram: pib_datagram_rx()				|
 *				    |					|
 *	turn_send()		    |					|
 *	    +- pib_output_stalled() |		what the receiver had no room for
 *	    +- pib_responder_tx()   |		ACKs, NAKs, READ responses
 *	    +- pib_requester_tx() <-+-----------+ requests: pib_sq_fetch(), pib_req_next()
 *			|
 *		   output.c -> fabric/forward.c -> input.c of the peer, or udp/tx.c
 *
 *	pib_completer_complete()	completions of what is answered
 *	turn_check()			errors of either half: the state goes to SQE or ERR
 *	pib_qp_flush()			in these states: completions in error
 *
 * Nothing here waits. A queue pair that cannot go on now leaves a reason to be run again: a timer,
 * an expected burst, or true as the result.
 */
#include <linux/ktime.h>
#include "transport/apm.h"
#include "transport/completer.h"
#include "transport/congestion.h"
#include "hca/hw_counters.h"
#include "hca/cq.h"
#include "transport/datagram.h"
#include "core/task.h"
#include "transport/inbox.h"
#include "transport/qp_trace.h"
#include "transport/requester.h"
#include "transport/responder.h"
#include "transport/recv_queue.h"
#include "transport/qp_task.h"
#include "transport/send_queue.h"
#include "transport/error.h"
#include "transport/static_rate.h"
#include "transport/stats.h"
#include "transport/output.h"
#include "udp/socket.h"

/* Most that one turn takes in, and most that it sends. */
#define TURN_BURSTS	32
#define TURN_BYTES	(4 * PIB_BURST_MAX)

/*
 * Tries in a row, and pauses, where a receiver is full and run by another CPU, or a cable is
 * without credits.
 */
#define STALL_RETRIES	2
#define STALL_NSEC	(20 * PIB_NSEC_PER_USEC)
#define STALL_MAX_NSEC	(320 * PIB_NSEC_PER_USEC)
/*
 * The longest wait where the window of a VL is closed. The QP is run when that opens, and looks by
 * itself for questions that are due (udp/credit.c), and for windows that open because time has
 * passed.
 */
#define STALL_WINDOW_MAX_NSEC	(5 * PIB_NSEC_PER_MSEC)

/* Time for which a port may refuse all MADs of a QP before they are dropped. */
#define MAD_PATIENCE_NSEC	(500 * PIB_NSEC_PER_MSEC)

/* Return: true if the QP's state takes such packets (10.3.1). */
static bool state_takes(const struct pib_qp *qp, const struct pib_burst *b)
{
	switch (qp->state) {
	case IB_QPS_RTR:
		return !pib_op_is_response(b->h.op);
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return true;
	default:
		return false;
	}
}

/*
 * Take in a burst. Return: false: it has to wait, for pages, an invalidation or a receive, and is
 * then given again.
 */
static bool receive_burst(struct pib_qp *qp, struct pib_burst *b, u64 now)
{
	if (!state_takes(qp, b)) {
		pib_qp_drop_next(qp, PIB_STAT_RX_QP_STATE, b, b->npkts - qp->rx.datagrams);
		if (qp->rx.place.wqe)
			pib_req_forget_response(&qp->req, &qp->rx.place);
		qp->rx.place.wqe = NULL;
		qp->rx.datagrams = 0;
		return true;
	}

	pib_qp_takes(qp, b);
	if (unlikely(b->h.flags & (PIB_H_FECN | PIB_H_BECN))) {
		pib_congestion_rx(qp, b, now);
		/* once, also if the burst has to wait and is given again */
		b->h.flags &= ~(PIB_H_FECN | PIB_H_BECN);
	}
	if (unlikely(b->h.tp == PIB_TP_CNP))
		return true;
	if (!qp->rx.comm_est && qp->state == IB_QPS_RTR && !pib_qp_is_datagram(qp)) {
		qp->rx.comm_est = true;
		qp->events |= BIT(IB_EVENT_COMM_EST);
	}

	if (!pib_op_is_response(b->h.op))
		pib_sqpoll_break(&qp->sqpoll);
	if (pib_qp_is_datagram(qp))
		return pib_datagram_rx(qp, b, now);
	pib_apm_rx(qp, b);
	if (pib_op_is_response(b->h.op))
		return pib_completer_rx(qp, b, now);
	return pib_responder_rx(qp, b);
}

static void rxq_refill(struct pib_qp *qp)
{
	if (READ_ONCE(qp->inbox.len))
		pib_inbox_take(qp, &qp->rx.list);
}

/* Take in the bursts that have come. Return: true: there are more. */
static bool turn_receive(struct pib_qp *qp, struct pib_budget *budget, u64 now)
{
	struct pib_burst *b;
	u32 bursts = 0, bytes = 0;
	bool held = false;

	if (unlikely(pib_pagein_busy(qp->rx.pages) || qp->rx.hold.on) && !pib_hold_ready(qp, now))
		return false;
	if (list_empty(&qp->rx.list))
		rxq_refill(qp);

	while (bursts < TURN_BURSTS && bytes < TURN_BYTES) {
		b = list_first_entry_or_null(&qp->rx.list, struct pib_burst, entry);
		if (!b)
			break;
		bursts += b->h.tp == PIB_TP_UD ? b->npkts : 1;
		bytes += b->len;
		if (!receive_burst(qp, b, now)) {
			held = true;
			break;
		}
		qp->rx.hold.since = 0;
		list_del(&b->entry);
		pib_inbox_free(qp, b);
		/* Bursts that are taken in later would be acknowledged along with this one. */
		if (unlikely(qp->resp.cfg.ack_each) && pib_responder_owes(qp))
			break;
	}
	budget->bytes -= bytes;
	/* The burst waits for a page, for a receive, or for its turn. */
	if (held) {
		pib_hold_ready(qp, now);
		return qp->rx.hold.refuses;
	}

	if (!list_empty(&qp->rx.list) || READ_ONCE(qp->inbox.len))
		return true;
	if (unlikely(qp->rq.empty_since))
		pib_rq_caught_up(qp);
	return false;
}

/*
 * Return: true if an answer waits for a page of its place, or will come again. Then requests that
 * are fenced behind it (10.8.3.3) are not sent, though the transport has its answer.
 */
static bool is_placing(const struct pib_qp *qp)
{
	return unlikely(qp->rx.place.wqe || qp->rx.hold.unplaced);
}

bool pib_qp_is_drained(const struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	return !is_placing(qp) && pib_req_drained(&qp->req) && qp->req.tail == qp->req.una;
}

/*
 * Act on a failed work request, on a refused request (10.3.1, 9.9.3) and on a drained send queue.
 */
static void turn_check(struct pib_qp *qp)
{
	/* Answers from before the failure may not have been placed yet. */
	if (qp->req.error && !qp->req.flushing && !qp->rx.place.wqe) {
		pib_apm_report(qp);
		pib_qp_sq_error(qp);
	}
	if (qp->resp.error && !qp->resp.nak_due && !qp->tx.stall.burst && qp->state != IB_QPS_ERR)
		pib_qp_resp_error(qp);
	if (qp->state == IB_QPS_SQD && qp->attr.sq_draining && pib_qp_is_drained(qp)) {
		qp->attr.sq_draining = 0;
		if (qp->attr.en_sqd_async_notify)
			qp->events |= BIT(IB_EVENT_SQ_DRAINED);
	}
}

static void arm_timer(struct pib_qp *qp, u64 at)
{
	if (!at || (qp->timer.at && qp->timer.at <= at))
		return;

	/*
	 * A timer that is armed is left alone when its deadline moves on: it
	 * fires early, finds nothing to do and is armed for what is due then.
	 */
	qp->timer.at = at;
	hrtimer_start(&qp->timer.hrtimer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/*
 * Drop the stalled burst, as a port does that is congested, if it is a MAD and the port has refused
 * all for long, maybe for ever. Those who post MADs wait for their end, unkillably (ib_mad).
 * Return: true: it is gone.
 */
static bool give_mad_up(struct pib_qp *qp, u64 now)
{
	if (likely(qp->type > IB_QPT_GSI))
		return false;
	if (!qp->tx.refused_since)
		qp->tx.refused_since = now;
	if (now < qp->tx.refused_since + MAD_PATIENCE_NSEC)
		return false;
	pib_output_discard(qp);
	return true;
}

static bool waits_for_window(const struct pib_qp *qp)
{
	return qp->tx.stall.burst && qp->tx.stall.burst->window;
}

/* Plan the next try of the stalled burst. Return: true: the QP must run again at once. */
static bool schedule_retry(struct pib_qp *qp, u64 now)
{
	u32 most = waits_for_window(qp) ? STALL_WINDOW_MAX_NSEC : STALL_MAX_NSEC;
	struct pib_stall *s = &qp->tx.stall;

	if (unlikely(s->until > now)) {
		arm_timer(qp, s->until);
		return false;
	}
	/* If it opens before the QP waits for that, the next try, at once, finds it open. */
	if (waits_for_window(qp) && pib_parked_wait(&qp->tx.parked, s->burst->window, s->nsec))
		return true;
	if (s->tries < STALL_RETRIES)
		return true;

	if (unlikely(pib_output_give_back(qp) || give_mad_up(qp, now)))
		return true;
	s->nsec = s->nsec ? min(2 * s->nsec, most) : STALL_NSEC;
	arm_timer(qp, now + s->nsec);
	return false;
}

static void turn_expire(struct pib_qp *qp, u64 now)
{
	if (!test_and_clear_bit(PIB_QP_TIMER, &qp->task.state))
		return;

	qp->timer.at = 0;
	qp->tx.stall.tries = 0;
	if (qp->timer.suspended)
		return;
	pib_req_timer(&qp->req, now);
}

/*
 * Arm the timer if congestion control, or a static rate, has the QP wait before its next burst.
 * Return: true: it waits.
 */
static bool congestion_waits(struct pib_qp *qp, u64 now)
{
	if (!pib_congestion_holds(qp, now))
		return false;
	arm_timer(qp, qp->tx.cc.next);
	return true;
}

/* Return: false: the turn is over. */
static bool send_answers(struct pib_qp *qp, struct pib_turn *turn)
{
	return !pib_responder_owes(qp) || pib_responder_tx(qp, turn);
}

static bool send_requests(struct pib_qp *qp, struct pib_turn *turn, bool held)
{
	return is_placing(qp) || held || !pib_requester_has_work(qp) || pib_requester_tx(qp, turn);
}

/* Return: true if a request goes before the answers that are due, since an answer was last. */
static bool asks_first(const struct pib_qp *qp)
{
	if (likely(!qp->tx.asks_first))
		return false;
	return pib_congestion_slows(qp, qp->path.av.sl) || pib_static_rate_slows(qp, &qp->path.av);
}

/*
 * Send until nothing is left, the turn is over or the receiver is full. Return: true: there is
 * more.
 */
static bool turn_send(struct pib_qp *qp, struct pib_budget *budget, u64 now)
{
	struct pib_turn turn = { .bursts = TURN_BURSTS, .bytes = TURN_BYTES, .now = now };
	bool held = congestion_waits(qp, now), done = pib_output_stalled(qp, &turn);

	if (asks_first(qp))
		done = done && send_requests(qp, &turn, held) && send_answers(qp, &turn);
	else
		done = done && send_answers(qp, &turn) && send_requests(qp, &turn, held);
	budget->bytes -= TURN_BYTES - turn.bytes;

	return !done && !qp->tx.stall.burst;
}

/*
 * Suspend the requester's deadlines while something waits for pages here, or for the window of a
 * VL. It is not the peer's fault then if an answer is missing: the answer may stand in the inbox,
 * or the request was never sent.
 */
static void turn_suspend(struct pib_qp *qp, u64 now)
{
	bool waits = (qp->rx.hold.on && (!qp->rx.hold.refuses || qp->rx.hold.unplaced)) ||
		     pib_pagein_busy(qp->sq.deferred.pages) || waits_for_window(qp);

	if (qp->timer.suspended && !waits)
		pib_req_excuse(&qp->req, now);
	qp->timer.suspended = waits;
}

/*
 * Return: the time of the turn. The clock of the run may have been read before the deadline for
 * which the QP runs, or before a wait that is over by now.
 */
static u64 turn_time(const struct pib_qp *qp, struct pib_budget *budget)
{
	if (unlikely(test_bit(PIB_QP_TIMER, &qp->task.state) ||
		     pib_congestion_holds(qp, budget->now)))
		budget->now = ktime_get_ns();
	return budget->now;
}

/* Return: true if the flush waits for the end of bursts that refer to the QP's memory. */
static bool flush_waits(const struct pib_qp *qp)
{
	if (likely(qp->state != IB_QPS_ERR && qp->state != IB_QPS_SQE))
		return false;
	return qp->lent.awaited || pib_qp_awaits_answers(qp);
}

/*
 * Ask for memory that bursts keep, if the QP has waited for it for long: full cables know nothing
 * of the wait, unless asked. The bursts are others' where a key is invalidated, and the QP's own
 * where it flushes. In SQE those that were sent before the error have until then to leave the QP.
 */
static void turn_ask(struct pib_qp *qp, u64 now)
{
	const u64 wait = PIB_MEM_ASK_MSEC * PIB_NSEC_PER_MSEC;

	if (likely(!qp->timer.draining && !flush_waits(qp))) {
		/* behind a stalled burst, or a step that is deferred, the wait is not over */
		if (!qp->tx.stall.burst && !qp->sq.deferred.set)
			qp->timer.ask_at = 0;
		return;
	}
	if (!qp->timer.ask_at)
		qp->timer.ask_at = now + wait;
	if (now >= qp->timer.ask_at) {
		if (qp->state == IB_QPS_SQE)
			WRITE_ONCE(qp->lent.owner.flushes, true);
		pib_mem_ask_back();
		qp->timer.ask_at = now + wait;
	}
	arm_timer(qp, qp->timer.ask_at);
}

static bool qp_turn(struct pib_qp *qp, struct pib_budget *budget)
{
	u64 now = turn_time(qp, budget);
	bool more;

	if (trace_pib_page_ready_enabled())
		pib_hold_trace_ready(qp);
	/* A burst that has arrived may be the one that the timer was for. */
	qp->timer.draining = false;
	more = turn_receive(qp, budget, now);
	turn_suspend(qp, now);
	turn_expire(qp, now);
	if (unlikely(test_bit(PIB_QP_ASTRAY, &qp->task.state)))
		pib_apm_astray(qp);
	if (unlikely(qp->req.leave))
		pib_apm_rescue(qp);
	/* Causes of retries are traced before the retries. */
	if (trace_pib_retry_enabled())
		pib_qp_stats_fold(qp);
	if (qp->state >= IB_QPS_RTR && qp->state != IB_QPS_ERR)
		more |= turn_send(qp, budget, now);
	else if (qp->tx.stall.burst)
		pib_output_stalled(qp, NULL);
	more |= pib_completer_complete(qp);
	turn_check(qp);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE)
		more |= pib_qp_flush(qp);
	turn_suspend(qp, now);
	if (!qp->timer.suspended)
		arm_timer(qp, pib_req_deadline(&qp->req));
	if (unlikely(qp->rx.hold.on || qp->answers.deferred.set))
		arm_timer(qp, pib_hold_deadline(qp, now));
	if (unlikely(qp->rq.empty_since))
		arm_timer(qp, pib_rq_deadline(qp, now));
	if (unlikely(qp->sq.late_at))
		arm_timer(qp, pib_completer_deadline(qp, now));
	if (qp->timer.draining)
		arm_timer(qp, now + STALL_NSEC);
	turn_ask(qp, now);
	if (unlikely(pib_parked_is_waiting(&qp->tx.parked)) && !waits_for_window(qp))
		pib_parked_leave(&qp->tx.parked);
	if (qp->tx.stall.burst)
		more |= schedule_retry(qp, now);
	pib_qp_stats_fold(qp);

	return more;
}

/*
 * Packets that one CPU gives to the stack keep their order. Packets from two CPUs do not where each
 * has a queue of its own below (veth, loopback, many NICs). So a QP that has sent over UDP stays
 * where it is, until all was acknowledged or nothing can be on its way any more (core/task.c).
 */
static int home_cpu(const struct pib_qp *qp)
{
	if (!qp->tx.via_udp)
		return PIB_ANY_CPU;
	if (pib_qp_is_reliable(qp) && !qp->task.is_away && pib_req_drained(&qp->req))
		return PIB_ANY_CPU;
	return smp_processor_id();
}

static bool qp_run(struct pib_task *task, struct pib_budget *budget)
{
	struct pib_qp *qp = container_of(task, struct pib_qp, task);
	bool more = false;
	u32 events;

	spin_lock(&qp->lock);
	if (qp->state == IB_QPS_RESET) {
		pib_qp_drop_bursts(qp);
	} else {
		/*
		 * In one kernel the wait is short: a process may as well ring, on a CPU of its own.
		 */
		if (budget->polls || !qp->is_user || qp->tx.via_udp)
			pib_sq_busy(qp);
		more = qp_turn(qp, budget);
		if (!more && READ_ONCE(qp->sq.busy))
			more = pib_sqpoll_again(qp, budget) || pib_sq_idle(qp);
	}
	WRITE_ONCE(task->home, home_cpu(qp));
	events = qp->events;
	qp->events = 0;
	spin_unlock(&qp->lock);

	if (unlikely(events))
		pib_qp_dispatch(qp, events);
	return more;
}

static bool qp_may_move(const struct pib_task *task)
{
	return !pib_udp_socks_in_flight(container_of(task, struct pib_qp, task)->hca->net);
}

static void qp_handed_off(struct pib_task *task)
{
	pib_sq_busy(container_of(task, struct pib_qp, task));
}

static void qp_gone(struct pib_task *task)
{
	complete(&container_of(task, struct pib_qp, task)->entries.gone);
}

const struct pib_task_ops pib_qp_task_ops = {
	.run = qp_run,
	.may_move = qp_may_move,
	.handed_off = qp_handed_off,
	.gone = qp_gone,
};
