/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Datagrams that have arrived at a UD, SMI or GSI QP (datagram.c). */
#ifndef PIB_TRANSPORT_DATAGRAM_H
#define PIB_TRANSPORT_DATAGRAM_H

#include "transport/qp.h"

/**
 * pib_datagram_rx() - take in a burst of datagrams, each with a receive work request of its own
 * @qp: UD, SMI or GSI queue pair
 * @b: the burst
 * @now: time of the turn, ns
 *
 * Context: qp->lock held, softirqs off, under rcu_read_lock().
 * Return: true: all were taken in, or dropped; false: one of them waits for pages or for a receive,
 *	and the burst must be given again.
 */
bool pib_datagram_rx(struct pib_qp *qp, struct pib_burst *b, u64 now);

#endif
