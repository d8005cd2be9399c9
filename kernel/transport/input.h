/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Arrival at an HCA's port (transport/input.c); pib_input() itself is in qp.h. */
#ifndef PIB_TRANSPORT_INPUT_H
#define PIB_TRANSPORT_INPUT_H

#include "transport/qp.h"

/*
 * Give copies of a multicast datagram to the QPs of @port's HCA that are
 * attached to its group, @except left out. The burst stays the caller's.
 * Softirqs off, under rcu_read_lock().
 */
void pib_input_mcast(struct pib_kport *port, struct pib_burst *b, const struct pib_qp *except);

/* Has @h come to @port by the QP's alternate path, with that path's P_Key (17.2.8)? */
bool pib_input_by_alternate(const struct pib_qp *qp, const struct pib_kport *port,
			    const struct pib_hdrs *h);

/* A P_Key or Q_Key was wrong: counted by the port, told to the SM by traps 257, 258. */
void pib_input_bad_pkey(struct pib_kport *port, const struct pib_hdrs *h);
void pib_input_bad_qkey(struct pib_kport *port, const struct pib_hdrs *h);

#endif
