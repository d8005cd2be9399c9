/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Conversion of bursts to datagrams. */
#ifndef PIB_UDP_TX_H
#define PIB_UDP_TX_H

#include <linux/types.h>

struct pib_burst;
struct pib_link;
struct pib_udp_lane;
struct pib_udp_link;
struct pib_udp_path;

/*
 * Implements struct pib_link_ops.full. Context: softirqs off, RCU.
 *
 * Return: true if @b must wait, since the stack holds enough that it has not sent yet, or the
 *	window of its VL is closed.
 */
bool pib_udp_full(const struct pib_link *base, struct pib_burst *b);
/*
 * Implements struct pib_link_ops.xmit: send @b, which is consumed. Packets that cannot be sent are
 * counted as tx_errors. Context: softirqs off, RCU.
 */
void pib_udp_xmit(struct pib_link *base, struct pib_burst *b);
/*
 * Put UDP source port and IPv6's flow label of the flow @hash into @lane. If data has no ports by
 * flow it is the UDP port. Context: softirqs off, RCU.
 */
void pib_udp_lane_flow(const struct pib_udp_link *link, const struct pib_udp_path *path, u32 hash,
		       struct pib_udp_lane *lane);

#endif
