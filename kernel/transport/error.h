/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Effects of errors on a QP: states, flushing, events (transport/error.c). */
#ifndef PIB_TRANSPORT_ERROR_H
#define PIB_TRANSPORT_ERROR_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "tracing/values.h"

struct pib_cq;
struct pib_qp;

/**
 * pib_qp_set_state() - set the state, and do nothing else
 * @qp: queue pair
 * @state: new state
 * @cause: reason, for traces
 *
 * Context: qp->lock held.
 */
void pib_qp_set_state(struct pib_qp *qp, enum ib_qp_state state, enum pib_cause cause);
/**
 * pib_qp_to_err() - move a QP to ERR
 * @qp: queue pair
 * @cause: reason, for traces
 *
 * All its work requests, posted now or later, are flushed by its turns.
 *
 * Context: qp->lock held.
 */
void pib_qp_to_err(struct pib_qp *qp, enum pib_cause cause);
/**
 * pib_qp_error() - move a QP to ERR after misuse or a failure, and have it run
 * @qp: queue pair
 * @cause: reason, for traces
 * @event: enum ib_event_type to report; below 0: none
 *
 * Context: qp->lock held.
 */
void pib_qp_error(struct pib_qp *qp, enum pib_cause cause, int event);
/**
 * pib_qp_sq_error() - act on a failed send work request
 * @qp: queue pair
 *
 * Reliable services go to ERR, the others to SQE.
 *
 * Context: qp->lock held.
 */
void pib_qp_sq_error(struct pib_qp *qp);
/**
 * pib_qp_resp_error() - act on a request that was refused with a fatal NAK
 * @qp: queue pair
 *
 * This is reported, and the QP moves to ERR.
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_qp_resp_error(struct pib_qp *qp);
/**
 * pib_qp_flush() - complete posted work requests with WR_FLUSH_ERR
 * @qp: queue pair in ERR or SQE
 *
 * Context: qp->lock held, softirqs off.
 * Return: true: there are more.
 */
bool pib_qp_flush(struct pib_qp *qp);
/**
 * pib_qp_drop_bursts() - free the bursts that wait to be taken in or to be sent
 * @qp: queue pair
 *
 * Context: qp->lock held, softirqs off.
 */
void pib_qp_drop_bursts(struct pib_qp *qp);
/**
 * pib_qp_reset() - make a QP as it is after creation
 * @qp: queue pair to whose memory no burst refers
 *
 * Context: qp->lock held.
 */
void pib_qp_reset(struct pib_qp *qp);
/**
 * pib_qp_timer_init() - set the timer up
 * @qp: queue pair that is being created
 *
 * Context: process.
 */
void pib_qp_timer_init(struct pib_qp *qp);
/**
 * pib_cq_overflow() - move the QPs of a CQ that is full to ERR, since their completions have no
 * place
 * @cq: completion queue
 *
 * Context: process, no locks; may sleep.
 */
void pib_cq_overflow(struct pib_cq *cq);
/**
 * pib_qp_dispatch() - report events to the consumer
 * @qp: queue pair
 * @events: bits of enum ib_event_type
 *
 * Context: any, no locks.
 */
void pib_qp_dispatch(struct pib_qp *qp, u32 events);

#endif
