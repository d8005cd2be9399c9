/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Acknowledgements, and completions of what was sent (transport/completer.c). */
#ifndef PIB_TRANSPORT_COMPLETER_H
#define PIB_TRANSPORT_COMPLETER_H

#include "hca/hca.h"
#include "proto/rc_ring.h"
#include "transport/qp.h"

/**
 * pib_completer_rx() - take in a response of a reliable service
 * @qp: queue pair
 * @b: the response
 * @now: time of the turn, ns
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: true: it was taken in, or dropped; false: it waits for pages and must be given again.
 */
bool pib_completer_rx(struct pib_qp *qp, struct pib_burst *b, u64 now);
/**
 * pib_completer_delays() - decide whether completions wait, where the HCA has late completions
 * @qp: queue pair with a finished send
 *
 * Context: qp->lock held.
 * Return: true: they wait; @qp->late_at says until when.
 */
bool pib_completer_delays(struct pib_qp *qp);
/**
 * pib_completer_deadline() - tell when the QP has to run for completions that wait
 * @qp: queue pair
 * @now: time of the turn, ns
 *
 * Context: qp->lock held.
 * Return: time, ns; 0: no completion waits.
 */
u64 pib_completer_deadline(struct pib_qp *qp, u64 now);
/**
 * pib_completer_finish() - complete a send work request, for pib_completer_complete()
 * @qp: queue pair
 * @s: the oldest slot, which is finished
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_completer_finish(struct pib_qp *qp, struct pib_ksq_slot *s);

/* Most work requests that one turn completes, which may have thousands that are finished. */
#define PIB_COMPLETIONS_MAX	128

/**
 * pib_completer_awaits() - tell whether bursts keep a work request from being completed
 * @qp: queue pair
 * @s: the oldest work request, which is finished else
 *
 * Context: qp->lock held, softirqs off.
 * Return: true: they do. The last one of them then has the QP run.
 */
static inline bool pib_completer_awaits(struct pib_qp *qp, const struct pib_ksq_slot *s)
{
	if (likely(!atomic_read(&s->refs)))
		return false;
	WRITE_ONCE(qp->awaits_bursts, true);
	/* Pairs with the last burst's release_slot(), which looks at the flag after that. */
	smp_mb();
	return atomic_read(&s->refs);
}

/**
 * pib_completer_complete() - complete the send work requests that are finished, in their order
 * @qp: queue pair
 *
 * The oldest may be the one whose data is still to be placed, or to whose memory bursts still
 * refer. Then it, and those behind it, complete later.
 *
 * Context: qp->lock held, softirqs off.
 * Return: true: there are more, for the next turn.
 */
static inline bool pib_completer_complete(struct pib_qp *qp)
{
	u32 left = PIB_COMPLETIONS_MAX;
	struct pib_swqe *w;

	if (qp->rx.place.wqe || pib_qp_awaits_answers(qp))
		return false;
	if (pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_LATE_COMPLETIONS) &&
	    pib_req_done(&qp->req) && pib_completer_delays(qp))
		return false;
	if (unlikely(qp->awaits_bursts))
		WRITE_ONCE(qp->awaits_bursts, false);
	while ((w = pib_req_done(&qp->req)) && !pib_completer_awaits(qp, pib_ksq_slot(w))) {
		if (!left--)
			return true;
		pib_completer_finish(qp, pib_ksq_slot(w));
	}
	return false;
}

#endif
