/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The way of a burst from port to port. */
#ifndef PIB_FABRIC_FORWARD_H
#define PIB_FABRIC_FORWARD_H

#include <linux/types.h>

struct pib_burst;
struct pib_kport;
struct pib_switch;

/**
 * pib_kport_xmit() - send a burst out of a port
 *
 * Looks at the port's state, partition (part_enforce) and SL2VL (h.vl is set from h.sl), counts,
 * crosses the cable and goes on hop by hop until the burst is handed to an HCA
 * (struct pib_node_ops.rx), to a link that leads elsewhere or dropped. A burst for the sending
 * HCA port's own LID turns round in the HCA. Softirqs disabled, under rcu_read_lock(); no node
 * lock held. The caller may hold the sending QP's lock.
 *
 * Returns 0: the burst is consumed. PIB_XMIT_UDP: so it is, and has left this kernel. -EBUSY:
 * the receiving QP of the same kernel has too much waiting, or the link has; the burst is still the
 * caller's, who tries again later.
 */
#define PIB_XMIT_UDP	1
int pib_kport_xmit(struct pib_kport *port, struct pib_burst *b);

/**
 * pib_kport_recv() - a burst came in at a port from elsewhere
 *
 * Context as pib_kport_xmit(). The burst is consumed.
 */
void pib_kport_recv(struct pib_kport *port, struct pib_burst *b);

/**
 * pib_kport_arrive() - a burst comes out of a pipe at @port
 *
 * Context as pib_kport_xmit(). 0: consumed. -EBUSY: still the caller's, who tries
 * again later.
 */
int pib_kport_arrive(struct pib_kport *port, struct pib_burst *b);

/**
 * pib_switch_send() - a burst made by a switch's own agents leaves it
 * @out_port: port, or PIB_PORT_BY_LID
 *
 * Context as pib_kport_xmit(). The burst is consumed.
 */
void pib_switch_send(struct pib_switch *sw, u8 out_port, struct pib_burst *b);

/* @b is sent by @port on h.vl. */
void pib_kport_count_xmit(struct pib_kport *port, const struct pib_burst *b);

#endif
