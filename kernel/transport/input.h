/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Arrival at an HCA's port (transport/input.c). */
#ifndef PIB_TRANSPORT_INPUT_H
#define PIB_TRANSPORT_INPUT_H

#include "transport/qp.h"

/**
 * pib_input() - a burst has arrived at an HCA's port, from a cable or a link over UDP
 * @port: port of the HCA
 * @b: the burst
 *
 * Checks DLID and port state, finds the QP (or the QPs of the multicast group), checks P_Key and
 * transport service (9.6.1), and puts the burst into the inbox. The QP is put on this CPU's run
 * list and not run: the caller calls pib_tasks_run() when its batch is done.
 *
 * Context: softirqs off, under rcu_read_lock().
 * Return: as struct pib_node_ops.rx.
 */
int pib_input(struct pib_kport *port, struct pib_burst *b);

/*
 * Give copies of a multicast datagram to the QPs of @port's HCA that are
 * attached to its group, @except left out. The burst stays the caller's.
 * Softirqs off, under rcu_read_lock().
 */
void pib_input_mcast(struct pib_kport *port, struct pib_burst *b, const struct pib_qp *except);

/* Has @h come to @port by the QP's alternate path, with that path's P_Key (17.2.8)? */
bool pib_input_by_alternate(const struct pib_qp *qp, const struct pib_kport *port,
			    const struct pib_hdrs *h);

/* A P_Key was wrong: the port counts that and tells the SM by trap 257. Any context. */
void pib_input_bad_pkey(struct pib_kport *port, const struct pib_burst *b);
/* The same for a Q_Key and trap 258. */
void pib_input_bad_qkey(struct pib_kport *port, const struct pib_burst *b);

#endif
