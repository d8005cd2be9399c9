/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Discovery: control datagrams that come, and the links that they are for. */
#ifndef PIB_UDP_DISCOVERY_H
#define PIB_UDP_DISCOVERY_H

#include <linux/types.h>

struct pib_addr;
struct pib_bearer;
struct pib_hello;
struct pib_udp_link;
struct pib_udp_sock_ops;

/* These functions take in the control datagrams that come by the sockets of a bearer. */
extern const struct pib_udp_sock_ops pib_bearer_sock_ops;

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
