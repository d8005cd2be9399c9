/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Forwarding of bursts from port to port. */
#ifndef PIB_FABRIC_FORWARD_H
#define PIB_FABRIC_FORWARD_H

#include <linux/types.h>

struct pib_burst;
struct pib_kport;
struct pib_switch;

#define PIB_XMIT_UDP	1

/**
 * pib_kport_xmit() - send a burst out of a port
 * @port: of an HCA or of a switch
 * @b: burst; h.vl is set from h.sl
 *
 * Looks at the port's state, partition (part_enforce) and SL2VL, counts, crosses the cable and goes
 * on hop by hop until the burst is handed to an HCA (struct pib_node_ops.rx) or to a link that
 * leads elsewhere, or is dropped. A burst for the sending HCA port's own LID turns round in the
 * HCA.
 *
 * Context: softirqs disabled, under rcu_read_lock(); no node lock held. The caller may hold the
 *	sending QP's lock.
 * Return: 0: the burst is consumed; PIB_XMIT_UDP: the burst is consumed and has left this kernel;
 *	-EBUSY: the receiving QP of the same kernel, or the link, has too much waiting. The burst is
 *	then still the caller's, which tries again later.
 */
int pib_kport_xmit(struct pib_kport *port, struct pib_burst *b);

/**
 * pib_kport_recv() - a burst came in at a port from elsewhere
 * @port: port at which the burst came in
 * @b: burst; consumed
 *
 * Context: as for pib_kport_xmit().
 */
void pib_kport_recv(struct pib_kport *port, struct pib_burst *b);

/**
 * pib_kport_arrive() - a burst comes out of a pipe
 * @port: port into which the pipe leads
 * @b: burst
 *
 * Context: as for pib_kport_xmit().
 * Return: 0: the burst is consumed; -EBUSY: it is still the caller's, which tries again later.
 */
int pib_kport_arrive(struct pib_kport *port, struct pib_burst *b);

/**
 * pib_switch_send() - send a burst that a switch's own agents have made
 * @sw: switch
 * @out_port: port by which the burst leaves, or PIB_PORT_BY_LID
 * @b: burst; consumed
 *
 * Context: as for pib_kport_xmit().
 */
void pib_switch_send(struct pib_switch *sw, u8 out_port, struct pib_burst *b);

/* Count and capture that @port sends @b on h.vl. Context: softirqs off, under RCU. */
void pib_kport_sent(struct pib_kport *port, struct pib_burst *b);

#endif
