/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Padded probes of links over UDP: whether large datagrams reach the peer (proto/pmtu.h). */
#ifndef PIB_UDP_PMTU_H
#define PIB_UDP_PMTU_H

#include <linux/types.h>

struct pib_addr;
struct pib_pmtu_bounds;
struct pib_udp_link;

/*
 * Find what the route by which data goes to the peer says of sizes; @bounds->mtu is 0 if there is
 * no session, or no route. @bounds->most is left to who holds the link's lock. Context: softirqs
 * off, RCU.
 */
void pib_udp_link_bounds(struct pib_udp_link *link, struct pib_pmtu_bounds *bounds);

/* Return: bytes of a datagram to @to in an IP packet of @size bytes. Context: any. */
u32 pib_udp_padded_len(const struct pib_addr *to, u32 size);

/**
 * pib_udp_link_send_padded() - send a padded probe as data is sent
 * @link: link
 * @head: what the probe begins with, PIB_HELLO_WIRE_LEN bytes; zeros follow
 * @size: bytes of the IP packet
 * @to: where to
 *
 * Nothing is sent if the route's MTU is below @size by now: the probe would go in fragments, and
 * show nothing.
 *
 * Context: softirqs off, RCU; no link's lock held.
 * Return: false: it was not sent; it is counted, as tx_errors.
 */
bool pib_udp_link_send_padded(struct pib_udp_link *link, const u8 *head, u32 size,
			      const struct pib_addr *to);

#endif
