/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Conversion of datagrams to bursts. */
#ifndef PIB_UDP_RX_H
#define PIB_UDP_RX_H

struct pib_addr;
struct pib_hello_way;
struct pib_udp_sock;
struct sk_buff;

/**
 * pib_udp_rx() - take in a datagram or a super-packet
 * @sock: sockets by which it came
 * @skb: the UDP payload; its IP and UDP headers are in front of it; consumed
 * @from: sender
 * @way: how it came
 *
 * Each datagram is checked by itself. Those that are dropped are counted at @sock.
 *
 * Context: softirqs off, RCU; one CPU at a time for each socket.
 */
void pib_udp_rx(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *from,
		const struct pib_hello_way *way);

#endif
