/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Acknowledgements, and completions of what was sent (transport/completer.c). */
#ifndef PIB_TRANSPORT_COMPLETER_H
#define PIB_TRANSPORT_COMPLETER_H

#include "proto/rc_ring.h"
#include "transport/qp.h"

/*
 * Take in a response of a reliable service. Under qp->lock, softirqs off, under rcu_read_lock().
 *
 * Return: false: the response waits for pages and is to be given anew.
 */
bool pib_completer_rx(struct pib_qp *qp, struct pib_burst *b, u64 now);
/* What pib_completer_complete() does when @s, the oldest slot, is finished. */
void pib_completer_finish(struct pib_qp *qp, struct pib_ksq_slot *s);

/*
 * Complete the send work requests that are finished, in their order. The oldest may be the one
 * whose data is still to be placed, or to whose memory bursts still refer. Under qp->lock, softirqs
 * off.
 */
static inline void pib_completer_complete(struct pib_qp *qp)
{
	struct pib_swqe *w;

	if (qp->rx.place.wqe)
		return;
	while ((w = pib_req_done(&qp->req)) && !atomic_read(&pib_ksq_slot(w)->refs))
		pib_completer_finish(qp, pib_ksq_slot(w));
}

#endif
