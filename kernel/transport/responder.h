/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests of the connected services (responder.c). Under qp->lock, softirqs off, under
 * rcu_read_lock().
 */
#ifndef PIB_TRANSPORT_RESPONDER_H
#define PIB_TRANSPORT_RESPONDER_H

#include "transport/output.h"

/**
 * pib_responder_rx() - execute the requests of a burst
 * @qp: queue pair
 * @b: the burst
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: true: they were executed, or dropped; false: the burst waits, for pages or for an
 *	invalidation, and must be given again.
 */
bool pib_responder_rx(struct pib_qp *qp, struct pib_burst *b);
/**
 * pib_responder_tx() - send acknowledgements and responses
 * @qp: queue pair
 * @turn: rest of what the QP may send in this turn
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: false: the turn is over or the QP is stalled; true: nothing can be sent now.
 */
bool pib_responder_tx(struct pib_qp *qp, struct pib_turn *turn);
/**
 * pib_responder_leave() - acknowledge what was received, before the QP ends
 * @qp: queue pair
 *
 * A consumer that has the completion of a receive may end the QP at once. The peer waits for the
 * ACK, and nobody would answer to a repetition (9.7.5.1). An ACK or a NAK that is next leaves
 * within 20 ms, or not at all.
 *
 * Context: process; sleeps.
 */
void pib_responder_leave(struct pib_qp *qp);

/**
 * pib_responder_owes() - tell whether there is anything to send for pib_responder_tx()
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: true: there is.
 */
static inline bool pib_responder_owes(const struct pib_qp *qp)
{
	return pib_resp_owes(&qp->resp) || qp->answers.deferred.set;
}

#endif
