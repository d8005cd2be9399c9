/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send work requests become bursts (transport/requester.c). */
#ifndef PIB_TRANSPORT_REQUESTER_H
#define PIB_TRANSPORT_REQUESTER_H

#include "transport/output.h"

/*
 * Send what work requests want sent. Under qp->lock, softirqs off, under rcu_read_lock().
 *
 * Return: false: the turn is over or the QP is stalled; true: nothing can be sent now.
 */
bool pib_requester_tx(struct pib_qp *qp, struct pib_turn *turn);

/* Give up what was put off. Under qp->lock. */
void pib_requester_forget(struct pib_qp *qp);
/*
 * A burst that referred to the memory of send queue slot @slot was freed: drop its references on
 * the slot and on the QP. Any context, softirqs off.
 */
void pib_requester_burst_done(struct pib_burst_owner *owner, u32 slot);

/*
 * Does the requester wait for pages, or for others to let go of memory, so that nothing can be
 * sent? If nothing is put off, then a work request cannot be fetched (pib_sq_fetch()).
 */
static inline bool pib_requester_waits(const struct pib_qp *qp)
{
	return qp->req_off.set || pib_pagein_busy(qp->req_off.pages) || qp->rx.place.wqe ||
	       qp->rx.hold.unplaced;
}

#endif
