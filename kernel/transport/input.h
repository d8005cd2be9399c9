/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Arrival at an HCA's port (transport/input.c). */
#ifndef PIB_TRANSPORT_INPUT_H
#define PIB_TRANSPORT_INPUT_H

#include "transport/qp.h"

/**
 * pib_input() - take in a burst that has arrived at an HCA's port
 * @port: port of the HCA, which takes the burst in its state: pib_port_takes()
 * @b: the burst
 *
 * Checks DLID and DGID, finds the QP (or the QPs of the multicast group), checks P_Key and
 * transport service (9.6.1), and puts the burst into the inbox. The QP is put on this CPU's run
 * list and not run: the caller calls pib_tasks_run() when its batch is done.
 *
 * Context: softirqs off, under rcu_read_lock().
 * Return: as struct pib_node_ops.rx.
 */
int pib_input(struct pib_kport *port, struct pib_burst *b);

/**
 * pib_input_mcast() - give copies of a multicast datagram to the QPs of an HCA that are attached to
 * its group
 * @port: port of the HCA, by which the datagram has come
 * @b: the datagram; stays the caller's
 * @except: QP that gets no copy, or NULL
 *
 * Context: softirqs off, under rcu_read_lock().
 * Return: true if a QP of the port, other than @except, is attached.
 */
bool pib_input_mcast(struct pib_kport *port, struct pib_burst *b, const struct pib_qp *except);

/**
 * pib_input_by_alternate() - tell whether a packet has come by the alternate path, with that path's
 * P_Key (17.2.8)
 * @qp: queue pair
 * @port: port by which the packet has come
 * @h: its headers
 *
 * Context: softirqs off; with or without qp->lock.
 * Return: true: it has.
 */
bool pib_input_by_alternate(const struct pib_qp *qp, const struct pib_kport *port,
			    const struct pib_hdrs *h);

/**
 * pib_input_bad_qkey() - count a wrong Q_Key at the QP and its port, and tell the SM by trap 258
 * @qp: queue pair that takes the packets
 * @b: the packets, which stay the caller's
 *
 * Context: qp->lock held.
 */
void pib_input_bad_qkey(struct pib_qp *qp, struct pib_burst *b);

#endif
