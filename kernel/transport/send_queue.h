/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* From the send ring to the requester's slots (transport/send_queue.c). All under qp->lock. */
#ifndef PIB_TRANSPORT_SEND_QUEUE_H
#define PIB_TRANSPORT_SEND_QUEUE_H

#include "fabric/port.h"
#include "transport/qp.h"
#include "uapi/rdma/pib-abi.h"

/**
 * pib_sq_ring() - note that a process has posted and rings, before the QP is activated
 * @qp: queue pair
 *
 * Context: any.
 */
static inline void pib_sq_ring(struct pib_qp *qp)
{
	set_bit(PIB_QP_DOORBELL, &qp->task.state);
}

/**
 * pib_sq_fetch() - take over work requests that were posted and rung for, as far as there is room
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: true: more are posted, for which there is room.
 */
bool pib_sq_fetch(struct pib_qp *qp);
/**
 * pib_sq_busy() - tell posters that they need not ring: the ring will be read without doorbells
 * @qp: queue pair
 *
 * Context: the caller runs the QP, or has claimed it to hand it on; then qp->lock is not held.
 */
void pib_sq_busy(struct pib_qp *qp);
/**
 * pib_sq_idle() - tell posters that they must ring again
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: true: something was posted meanwhile that can be taken.
 */
bool pib_sq_idle(struct pib_qp *qp);
/**
 * pib_sq_retire() - retire the oldest work request
 * @qp: queue pair
 *
 * Its slot in the ring may be filled again.
 *
 * Context: qp->lock held.
 */
static inline void pib_sq_retire(struct pib_qp *qp)
{
	qp->sq.done++;
	/* Pairs with the acquire in the provider and in post_sends(). */
	smp_store_release(&qp->sq.ring.hdr->consumer, qp->sq.done);
}

/**
 * pib_sq_reset() - drop all work requests, for RESET
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
void pib_sq_reset(struct pib_qp *qp);

/**
 * pib_sq_head_off() - find the headers of a PIB_WR_LSO in the data of a ring slot, behind the SGEs
 * @qp: queue pair
 *
 * Context: any.
 * Return: their offset.
 */
static inline u32 pib_sq_head_off(const struct pib_qp *qp)
{
	return qp->sq.max_sge * sizeof(struct pib_sge);
}

/**
 * pib_sq_head() - find these headers, which pib_post_send() writes, for pib_qp_is_ipoib() only
 * @qp: queue pair
 * @wqe: the ring slot
 *
 * Context: any.
 * Return: their address.
 */
static inline u8 *pib_sq_head(const struct pib_qp *qp, struct pib_send_wqe *wqe)
{
	return wqe->data + pib_sq_head_off(qp);
}

/**
 * pib_sq_datagram_max() - get the most bytes of a datagram (11.2.4.1, C10-95)
 * @qp: queue pair with a port
 *
 * Context: any.
 * Return: bytes.
 */
static inline u32 pib_sq_datagram_max(const struct pib_qp *qp)
{
	return pib_mtu_bytes(READ_ONCE(qp->path.port->p.nbr_mtu));
}

/**
 * pib_sq_max_inline() - get the most bytes of inline data that a slot of the ring may hold
 * @qp: queue pair
 * @opcode: enum pib_wr
 *
 * Context: any.
 * Return: bytes.
 */
u32 pib_sq_max_inline(const struct pib_qp *qp, u32 opcode);

#endif
