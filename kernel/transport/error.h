/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What errors do to a QP: states, flushing, events (transport/error.c). */
#ifndef PIB_TRANSPORT_ERROR_H
#define PIB_TRANSPORT_ERROR_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "tracing/values.h"

struct pib_cq;
struct pib_qp;

/* All of these: under qp->lock, except where noted. */

/* The QP is in @state from now on. Nothing else is done. At creation without the lock. */
void pib_state_set(struct pib_qp *qp, enum ib_qp_state state, enum pib_cause cause);
/* Move the QP to ERR: everything posted and to be posted is flushed. */
void pib_state_to_err(struct pib_qp *qp, enum pib_cause cause);
/* A send work request has failed: reliable services go to ERR, the others to SQE. */
void pib_state_sq_error(struct pib_qp *qp);
/* A request was refused with a fatal NAK. */
void pib_state_resp_error(struct pib_qp *qp);
/* ERR and SQE: complete what is posted with WR_FLUSH_ERR. Return: true: there is more. */
bool pib_state_flush(struct pib_qp *qp);
/* Free the bursts that wait to be taken in. */
void pib_state_drop_bursts(struct pib_qp *qp);
/*
 * Make the QP as it is after creation. No bursts refer to its memory. At creation without the lock.
 */
void pib_state_reset(struct pib_qp *qp);
/* Set the timer up, at creation. Without the lock. */
void pib_state_timer_init(struct pib_qp *qp);
/* A CQ is full: its QPs can complete nowhere any more and go to ERR. Process context, no locks. */
void pib_state_cq_overflow(struct pib_cq *cq);
/* Report bits of enum ib_event_type. No locks. */
void pib_state_dispatch(struct pib_qp *qp, u32 events);

#endif
