/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Effects of errors on a QP: states, flushing, events (transport/error.c). */
#ifndef PIB_TRANSPORT_ERROR_H
#define PIB_TRANSPORT_ERROR_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "tracing/values.h"

struct pib_cq;
struct pib_qp;

/* All of these: under qp->lock, except where noted. */

/* Set the state, and do nothing else. At creation without the lock. */
void pib_state_set(struct pib_qp *qp, enum ib_qp_state state, enum pib_cause cause);
/* Move the QP to ERR: all work requests, posted now or later, are flushed. */
void pib_state_to_err(struct pib_qp *qp, enum pib_cause cause);
/* Move the QP to ERR after misuse or a failure, with an async event if @event >= 0. */
void pib_qp_error(struct pib_qp *qp, enum pib_cause cause, int event);
/* Act on a failed send work request: reliable services go to ERR, the others to SQE. */
void pib_state_sq_error(struct pib_qp *qp);
/* Act on a request that was refused with a fatal NAK: report it, and move the QP to ERR. */
void pib_state_resp_error(struct pib_qp *qp);
/* Complete posted work requests with WR_FLUSH_ERR, in ERR and SQE. Return: true: there are more. */
bool pib_state_flush(struct pib_qp *qp);
/* Free the bursts that wait to be taken in. */
void pib_state_drop_bursts(struct pib_qp *qp);
/*
 * Make the QP as it is after creation. No bursts refer to its memory. At creation without the lock.
 */
void pib_state_reset(struct pib_qp *qp);
/* Set the timer up, at creation. Without the lock. */
void pib_state_timer_init(struct pib_qp *qp);
/*
 * Move the QPs of a CQ that is full to ERR, since their completions have no place. Process context,
 * no locks.
 */
void pib_state_cq_overflow(struct pib_cq *cq);
/* Report bits of enum ib_event_type. No locks. */
void pib_state_dispatch(struct pib_qp *qp, u32 events);

#endif
