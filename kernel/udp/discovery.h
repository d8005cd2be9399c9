/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Discovery: control datagrams that come, and the links that they are for. */
#ifndef PIB_UDP_DISCOVERY_H
#define PIB_UDP_DISCOVERY_H

#include <linux/types.h>

struct pib_addr;
struct pib_bearer;
struct pib_hello;
struct pib_hello_way;
struct pib_udp_link;
struct pib_udp_sock;

/**
 * pib_bearer_control() - take in a datagram that is neither DATA nor SEGMENT
 * @sock: sockets by which it came
 * @from: sender
 * @way: how it came
 * @buf: the datagram, or if it is longer, its first PIB_HELLO_WIRE_LEN bytes; nothing has checked
 *	them but for the version
 * @len: bytes of the datagram
 *
 * A datagram that is no control datagram, not authentic, or for nobody here is counted.
 *
 * Context: softirqs off, RCU; no link's lock held.
 */
void pib_bearer_control(struct pib_udp_sock *sock, const struct pib_addr *from,
			const struct pib_hello_way *way, const u8 *buf, u32 len);
/*
 * Take in a datagram of version PIB_DG_FORMER, as pib_bearer_control() does. A HELLO that wants a
 * link, and might have it in this version, is refused, for its user to know. Context: as there.
 */
void pib_bearer_former(struct pib_udp_sock *sock, const struct pib_addr *from,
		       const struct pib_hello_way *way, const u8 *buf, u32 len);
/*
 * Find the link whose peer has sent @h: a trunk by the node, an accepted link by the port, one of
 * the user's by the address @from.
 *
 * Context: RCU; no link's lock held.
 * Return: the link, under RCU; NULL: none.
 */
struct pib_udp_link *pib_bearer_match(struct pib_bearer *bearer, const struct pib_addr *from,
				      const struct pib_hello *h);

#endif
