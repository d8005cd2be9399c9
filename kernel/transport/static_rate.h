/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Static rates: a QP whose path is slower than its port waits after each burst, as long as the path
 * takes for it (9.11.1). One wait is for all that the QP sends: a datagram QP waits for the
 * destination before also where the next one is another, and QPs that send to the same one do not
 * wait for each other. ACKs are not waited for.
 */
#ifndef PIB_TRANSPORT_STATIC_RATE_H
#define PIB_TRANSPORT_STATIC_RATE_H

#include "fabric/port.h"
#include "hca/ah.h"
#include "packet/burst.h"
#include "transport/qp.h"

/* A timer may be so late without that the QP becomes slower than its path, ns. */
#define PIB_STATIC_RATE_SLACK	(100 * NSEC_PER_USEC)
/* An answer to a READ is sent in bursts that the path takes no longer for, us. */
#define PIB_STATIC_RATE_USEC	50

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
	return unlikely(av->mbps) && av->mbps < pib_port_mbps(&qp->path.port->p);
}

/**
 * pib_static_rate_next() - get the time from which a QP may send its next burst
 * @av: path of the burst before, for which pib_static_rate_slows() is true
 * @b: that burst
 * @next: time from which it might be sent
 * @now: time at which it is sent
 *
 * Context: any.
 * Return: ns, as the other times.
 */
static inline u64 pib_static_rate_next(const struct pib_av_data *av, const struct pib_burst *b,
				       u64 next, u64 now)
{
	u64 from = next + PIB_STATIC_RATE_SLACK < now ? now : next;

	return from + div_u64(pib_burst_wire_bytes(b) * 8000ULL, av->mbps);
}

/**
 * pib_static_rate_burst() - get the most bytes of an answer to a READ that are sent at a time
 * @av: the path, for which pib_static_rate_slows() is true
 * @pmtu: path MTU
 *
 * Context: any.
 * Return: bytes, a multiple of @pmtu.
 */
static inline u32 pib_static_rate_burst(const struct pib_av_data *av, u32 pmtu)
{
	u32 bytes = min(av->mbps, 1000000U) / 8 * PIB_STATIC_RATE_USEC;

	return clamp(bytes / pmtu * pmtu, pmtu, (u32)PIB_BURST_MAX);
}

#endif
