/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Conversion of datagrams to bursts. */
#ifndef PIB_UDP_RX_H
#define PIB_UDP_RX_H

struct pib_addr;
struct pib_hello_way;
struct pib_udp_sock;
struct sk_buff;

/* Consume a datagram or a super-packet that came by @way. Context: softirqs off, RCU. */
void pib_wire_rx(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *from,
		 const struct pib_hello_way *way);

#endif
