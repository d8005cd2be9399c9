/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send work requests become bursts (transport/requester.c). */
#ifndef PIB_TRANSPORT_REQUESTER_H
#define PIB_TRANSPORT_REQUESTER_H

#include "proto/rc_ring.h"
#include "transport/output.h"

/**
 * pib_requester_tx() - send the requests of work requests
 * @qp: queue pair
 * @turn: rest of what the QP may send in this turn
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: false: the turn is over or the QP is stalled; true: nothing can be sent now.
 */
bool pib_requester_tx(struct pib_qp *qp, struct pib_turn *turn);

/**
 * pib_requester_has_work() - tell whether there is anything to do for pib_requester_tx()
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: true: there may be; false: nothing is deferred, unsent or rung for.
 */
static inline bool pib_requester_has_work(const struct pib_qp *qp)
{
	return qp->sq.deferred.set || pib_req_unsent(&qp->req) || READ_ONCE(qp->sq.busy) ||
	       test_bit(PIB_QP_DOORBELL, &qp->task.state);
}

/**
 * pib_requester_cancel() - give up the deferred step, if there is one
 * @qp: queue pair
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_requester_cancel(struct pib_qp *qp);

/**
 * pib_requester_waits() - tell whether the requester waits for pages, or for others to release
 * memory
 * @qp: queue pair
 *
 * Then nothing can be sent. If nothing is deferred, then a work request cannot be fetched
 * (pib_sq_fetch()).
 *
 * Context: qp->lock held.
 * Return: true: it waits.
 */
static inline bool pib_requester_waits(const struct pib_qp *qp)
{
	return qp->sq.deferred.set || pib_pagein_busy(qp->sq.deferred.pages) ||
	       qp->rx.place.wqe || qp->rx.hold.unplaced;
}

#endif
