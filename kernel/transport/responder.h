/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests of the connected services (responder.c). Under qp->lock, softirqs off, under
 * rcu_read_lock().
 */
#ifndef PIB_TRANSPORT_RESPONDER_H
#define PIB_TRANSPORT_RESPONDER_H

#include "transport/output.h"

/*
 * Execute the requests of a burst.
 *
 * Return: false: the burst waits, for pages or for an invalidation, and is to be given anew.
 */
bool pib_responder_rx(struct pib_qp *qp, struct pib_burst *b);
/* Send acknowledgements and responses. Return: false: the turn is over or the QP is stalled. */
bool pib_responder_tx(struct pib_qp *qp, struct pib_turn *turn);

/* Is there anything for pib_responder_tx()? */
static inline bool pib_responder_owes(const struct pib_qp *qp)
{
	return pib_resp_owes(&qp->resp) || qp->resp_off.set;
}

#endif
