/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* From the send ring to the requester's slots (transport/send_queue.c). All under qp->lock. */
#ifndef PIB_TRANSPORT_SEND_QUEUE_H
#define PIB_TRANSPORT_SEND_QUEUE_H

#include "fabric/port.h"
#include "transport/qp.h"
#include "uapi/rdma/pib-abi.h"

/* A process has posted, and rings. To be called before the QP is activated. Any context. */
static inline void pib_sq_ring(struct pib_qp *qp)
{
	set_bit(PIB_QP_RUNG, &qp->task.state);
}

/*
 * Take over what has been posted and rung for, as far as there is room.
 *
 * Return: true: more is posted, for which there is room.
 */
bool pib_sq_fetch(struct pib_qp *qp);
/* The ring will be looked at without doorbells. For who runs the QP, or is about to have it run. */
void pib_sq_busy(struct pib_qp *qp);
/* Doorbells are needed again. Return: true: something was posted meanwhile that can be taken. */
bool pib_sq_idle(struct pib_qp *qp);
/* The oldest work request is done with: its slot in the ring may be filled again. */
static inline void pib_sq_retire(struct pib_qp *qp)
{
	qp->sq.done++;
	/* Pairs with the acquire in the provider and in post_sends(). */
	smp_store_release(&qp->sq.ring.hdr->consumer, qp->sq.done);
}

/* RESET: forget everything. */
void pib_sq_reset(struct pib_qp *qp);

/* Where in the data of a ring slot the headers of a PIB_WR_LSO stand: behind the SGEs. */
static inline u32 pib_sq_head_off(const struct pib_qp *qp)
{
	return qp->max_send_sge * sizeof(struct pib_sge);
}

/* These headers: written by pib_post_send(), for pib_qp_is_ipoib() only. */
static inline u8 *pib_sq_head(const struct pib_qp *qp, struct pib_send_wqe *wqe)
{
	return wqe->data + pib_sq_head_off(qp);
}

/* Most bytes of a datagram (11.2.4.1, C10-95). */
static inline u32 pib_sq_datagram_max(const struct pib_qp *qp)
{
	return pib_mtu_bytes(READ_ONCE(qp->port->p.nbr_mtu));
}

/* Bytes of inline data that a slot of the ring may hold with this opcode. */
u32 pib_sq_max_inline(const struct pib_qp *qp, u32 opcode);

#endif
