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
 * pib_completer_deadline() - tell when the QP has to run for completions that wait
 * @qp: queue pair
 * @now: time of the turn, ns
 *
 * Context: qp->lock held.
 * Return: time, ns; 0: no completion waits.
 */
u64 pib_completer_deadline(struct pib_qp *qp, u64 now);
/**
 * pib_completer_burst_done() - drop the references of a freed burst
 * @owner: pib_qp.lent.owner of the queue pair
 * @slot: send queue slot to whose memory the burst referred, or PIB_SLOT_ANSWERS
 *
 * Context: any, softirqs off.
 */
void pib_completer_burst_done(struct pib_burst_owner *owner, u32 slot);
/**
 * pib_completer_retire() - complete send work requests, for pib_completer_complete()
 * @qp: queue pair
 *
 * Context: qp->lock held, softirqs off.
 * Return: true: there are more, for the next turn.
 */
bool pib_completer_retire(struct pib_qp *qp);

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
	if (!pib_req_done(&qp->req) && likely(!qp->lent.awaited))
		return false;
	return pib_completer_retire(qp);
}

#endif
