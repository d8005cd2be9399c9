/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Congestion control of queue pairs: marks returned and heeded (IBA Annex A10). */
#ifndef PIB_TRANSPORT_CONGESTION_H
#define PIB_TRANSPORT_CONGESTION_H

#include "fabric/port.h"
#include "transport/qp.h"

struct pib_burst;

/**
 * pib_congestion_rx() - heed a burst that is marked, or carries a mark back
 * @qp: queue pair that the burst has come to
 * @b: the burst
 * @now: time of the turn, ns
 *
 * Context: qp->lock held.
 */
void pib_congestion_rx(struct pib_qp *qp, const struct pib_burst *b, u64 now);
/**
 * pib_congestion_tx() - account for a burst of a QP that is slowed down
 * @qp: queue pair whose flow or service level is slowed down
 * @b: request, or answer to a READ or an atomic, that the QP sends
 * @now: time of the turn, ns
 *
 * Context: qp->lock held.
 */
void pib_congestion_tx(struct pib_qp *qp, const struct pib_burst *b, u64 now);
/**
 * pib_congestion_slows() - tell whether packets of a QP are slowed down
 * @qp: queue pair
 * @sl: their service level
 *
 * Context: qp->lock held.
 * Return: true: they are.
 */
static inline bool pib_congestion_slows(const struct pib_qp *qp, u8 sl)
{
	return unlikely(qp->tx.cc.index || READ_ONCE(qp->path.port->p.cc_slow) >> (sl & 0xF) & 1);
}

/**
 * pib_congestion_holds() - tell whether a QP has to wait before it sends another burst
 * @qp: queue pair
 * @now: time of the turn, ns
 *
 * Context: qp->lock held.
 * Return: true: it has to.
 */
static inline bool pib_congestion_holds(const struct pib_qp *qp, u64 now)
{
	return unlikely(qp->tx.cc.next > now);
}

#endif
