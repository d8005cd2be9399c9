/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Congestion control of queue pairs: marks returned and heeded (IBA Annex A10). */
#ifndef PIB_TRANSPORT_CONGESTION_H
#define PIB_TRANSPORT_CONGESTION_H

#include "fabric/port.h"
#include "transport/qp.h"

struct pib_burst;

/* A burst that is marked, or that tells of marks, has come to @qp. Under qp->lock. */
void pib_congestion_rx(struct pib_qp *qp, const struct pib_burst *b, u64 now);
/*
 * @qp, whose flow or service level is slowed down, has sent a request, or the answer to a READ or
 * an atomic. Under qp->lock.
 */
void pib_congestion_tx(struct pib_qp *qp, const struct pib_burst *b, u64 now);
/* Is what @qp sends at service level @sl slowed down? Under qp->lock. */
static inline bool pib_congestion_slows(const struct pib_qp *qp, u8 sl)
{
	return unlikely(qp->cc.index || READ_ONCE(qp->port->p.cc_slow) >> (sl & 0xF) & 1);
}

/* Does @qp have to wait before it sends another such burst? Under qp->lock. */
static inline bool pib_congestion_holds(const struct pib_qp *qp, u64 now)
{
	return unlikely(qp->cc.next > now);
}

#endif
