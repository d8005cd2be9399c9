/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Static rates: a QP whose path is slower than its port waits after each burst, as long as the path
 * takes for it (9.11.1). One wait is for all that the QP sends: a datagram QP waits for the
 * destination before also where the next one is another.
 */
#ifndef PIB_TRANSPORT_STATIC_RATE_H
#define PIB_TRANSPORT_STATIC_RATE_H

#include "fabric/port.h"
#include "hca/ah.h"
#include "packet/burst.h"
#include "transport/qp.h"

/**
 * pib_static_rate_slows() - tell whether a path is slower than the port
 * @qp: queue pair
 * @av: the path
 *
 * Context: qp->lock held.
 * Return: true: it is.
 */
static inline bool pib_static_rate_slows(const struct pib_qp *qp, const struct pib_av_data *av)
{
	return unlikely(av->mbps) && av->mbps < pib_port_mbps(&qp->port->p);
}

/**
 * pib_static_rate_next() - get the time from which a QP may send its next burst
 * @av: path of the burst before, for which pib_static_rate_slows() is true
 * @b: that burst
 * @from: time, ns, at which it is sent
 *
 * Context: any.
 * Return: ns.
 */
static inline u64 pib_static_rate_next(const struct pib_av_data *av, const struct pib_burst *b,
				       u64 from)
{
	return from + div_u64(pib_burst_wire_bytes(b) * 8000, av->mbps);
}

#endif
