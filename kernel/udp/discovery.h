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

/* Take in a control datagram. Context: softirqs off, RCU. */
void pib_bearer_control(struct pib_udp_sock *sock, const struct pib_addr *from,
			const struct pib_hello_way *way, const u8 *buf, u32 len);
/* Return: the link whose peer has sent @h; NULL: none. Context: RCU, softirqs off. */
struct pib_udp_link *pib_bearer_match(struct pib_bearer *bearer, const struct pib_addr *from,
				      const struct pib_hello *h);

#endif
