// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer. The payload of responses goes to the memory of the work request. Work requests
 * that are finished, acknowledged or not, complete in the order in which they were posted.
 */
#include <linux/ktime.h>
#include "transport/completer.h"
#include "hca/cq.h"
#include "hca/hw_counters.h"
#include "memory/pd.h"
#include "transport/qp_trace.h"
#include "transport/recv_queue.h"
#include "transport/send_queue.h"
#include "transport/stats.h"

/* Delay of the completions of finished sends where an HCA has late completions. */
#define LATE_NSEC	(10 * PIB_NSEC_PER_MSEC)

/* Most work requests that one turn completes, which may have thousands that are finished. */
#define COMPLETIONS_MAX	128

static int place_response(struct pib_qp *qp, struct pib_burst *b, const struct pib_place *pl)
{
	const struct pib_ksq_slot *s = pib_ksq_slot(pl->wqe);

	if (pl->is_atomic)
		return pib_sges_put(qp, qp->pd, s->sge, s->num_sge, 0, &pl->orig, sizeof(pl->orig));
	if (!pl->len)
		return 0;
	return pib_sges_write(qp, qp->pd, s->sge, s->num_sge, pl->wqe_off, b, pl->src_off, pl->len);
}

/* Drop a response, so that the responder's memory is not kept for a page that does not come. */
static void drop_response(struct pib_qp *qp, struct pib_burst *b)
{
	pib_req_forget_response(&qp->req, &qp->rx.place);
	qp->rx.place.wqe = NULL;
	qp->rx.hold.unplaced = true;
	pib_qp_drop(qp, PIB_STAT_RX_NO_PAGE, b, 1);
}

/* Give a response to the transport, and report a drop. */
static void hand_response(struct pib_qp *qp, struct pib_burst *b, u64 now, struct pib_place *pl)
{
	u64 bad = qp->req.stats.bad_responses, old = qp->req.stats.dup_acks;

	memset(pl, 0, sizeof(*pl));
	pib_req_response(&qp->req, &b->h, b->npkts, b->len, now, pl);
	if (!pib_qp_reports_drops())
		return;
	if (qp->req.stats.bad_responses != bad)
		pib_qp_report_drop(qp, PIB_STAT_RX_BAD_RESPONSE, b, 0, b->npkts);
	else if (qp->req.stats.dup_acks != old)
		pib_qp_report_drop(qp, PIB_STAT_DUPLICATE_RESPONSE, b, 0, b->npkts);
}

bool pib_completer_rx(struct pib_qp *qp, struct pib_burst *b, u64 now)
{
	struct pib_place *pl = &qp->rx.place;
	int err;

	lockdep_assert_held(&qp->lock);

	/* Responses behind one that was dropped will come again, too. */
	if (unlikely(qp->rx.hold.unplaced))
		return true;
	/* If @pl->wqe is set, this is the burst that could not be placed before. */
	if (!pl->wqe)
		hand_response(qp, b, now, pl);
	if (!pl->wqe)
		return true;

	err = place_response(qp, b, pl);
	if (err == -EAGAIN && !qp->rx.hold.refuses)
		return false;
	if (err == -EAGAIN) {
		drop_response(qp, b);
		return true;
	}
	if (err)
		pib_req_local_error(&qp->req, pl->wqe, PIB_WC_LOC_PROT_ERR);
	pl->wqe = NULL;
	return true;
}

/* Return: true if completions may be late. Those in error, and those of management, may not. */
static bool may_delay(const struct pib_qp *qp)
{
	return qp->type > IB_QPT_GSI && (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD);
}

/* Return: true if completions have to wait; @qp->sq.late_at then says until when. */
static bool delays_completions(struct pib_qp *qp)
{
	u64 now;

	if (!may_delay(qp))
		return false;
	now = ktime_get_ns();
	if (!qp->sq.late_at)
		qp->sq.late_at = now + LATE_NSEC;
	if (qp->sq.late_at > now)
		return true;
	qp->sq.late_at = 0;
	return false;
}

u64 pib_completer_deadline(struct pib_qp *qp, u64 now)
{
	bool done = pib_req_done(&qp->req);

	lockdep_assert_held(&qp->lock);

	/* A response that waits for a page is placed when the page has come, not at a deadline. */
	if (done && qp->rx.place.wqe)
		return 0;
	if (done && may_delay(qp) &&
	    pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_LATE_COMPLETIONS))
		return qp->sq.late_at;
	qp->sq.late_at = 0;
	/*
	 * The behavior was turned off since the turn looked: maybe nothing else runs the QP again.
	 */
	return done ? now : 0;
}

/* Complete the oldest work request, which is finished. */
static void finish_oldest(struct pib_qp *qp, struct pib_ksq_slot *s)
{
	struct pib_cqe cqe = {
		.wr_id = s->w.wr_id,
		.status = s->w.status,
		.opcode = s->wc_opcode,
		.qp_num = qp->qpn,
		.user_qp = (unsigned long)&qp->ib,
	};
	bool report = s->w.status || s->w.flags & PIB_WR_SIGNALED;

	if (s->wc_opcode == IB_WC_RDMA_READ)
		cqe.byte_len = s->w.len;
	else if (s->w.opcode == PIB_WR_CAS || s->w.opcode == PIB_WR_FAA)
		cqe.byte_len = 8;

	if (unlikely(s->w.status)) {
		pib_qp_stats_send_error(qp, cqe.status);
		if (qp->type > IB_QPT_GSI)
			pib_behavior_scramble(&qp->hca->behaviors, &cqe);
	}

	/* The slot goes first: a consumer that has seen the completion may post again. */
	pib_req_retire(&qp->req);
	pib_sq_retire(qp);
	if (report)
		pib_qp_complete(qp, s->ring_index, qp->sq.cq, &cqe, cqe.status);
}

/*
 * Return: true if bursts keep the oldest work request, which is finished else, from being
 * completed. The last one of them then has the QP run.
 */
static bool awaits_bursts(struct pib_qp *qp, const struct pib_ksq_slot *s)
{
	if (likely(!atomic_read(&s->refs)))
		return false;
	WRITE_ONCE(qp->lent.awaited, true);
	/* Pairs with the last burst's release_slot(), which looks at the flag after that. */
	smp_mb();
	return atomic_read(&s->refs);
}

bool pib_completer_retire(struct pib_qp *qp)
{
	u32 left = COMPLETIONS_MAX;
	struct pib_swqe *w;

	lockdep_assert_held(&qp->lock);

	if (qp->rx.place.wqe || pib_qp_awaits_answers(qp))
		return false;
	if (pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_LATE_COMPLETIONS) &&
	    pib_req_done(&qp->req) && delays_completions(qp))
		return false;
	if (unlikely(qp->lent.awaited))
		WRITE_ONCE(qp->lent.awaited, false);
	while ((w = pib_req_done(&qp->req)) && !awaits_bursts(qp, pib_ksq_slot(w))) {
		if (!left--)
			return true;
		finish_oldest(qp, pib_ksq_slot(w));
	}
	return false;
}

/* Return: true if the QP must run: it waits for that to finish a work request. */
static bool release_slot(struct pib_qp *qp, u32 slot)
{
	struct pib_ksq_slot *s = qp->sq.slots + (size_t)slot * qp->sq.slot_size;

	/* Fully ordered before the flag is read: pairs with smp_mb() in awaits_bursts(). */
	return atomic_dec_and_test(&s->refs) && READ_ONCE(qp->lent.awaited);
}

/* Return: true if the QP must run: only the flush waits for answers. */
static bool release_answer(struct pib_qp *qp)
{
	/*
	 * Fully ordered before the state is read: pairs with smp_mb() in pib_qp_awaits_answers().
	 */
	return atomic_dec_and_test(&qp->lent.answers) && READ_ONCE(qp->state) == IB_QPS_ERR;
}

void pib_completer_burst_done(struct pib_burst_owner *owner, u32 slot)
{
	struct pib_qp *qp = container_of(owner, struct pib_qp, lent.owner);

	if (slot == PIB_SLOT_ANSWERS ? release_answer(qp) : release_slot(qp, slot))
		pib_task_kick(&qp->task);
	pib_qp_put(qp);
}
