/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Conversion of bursts to datagrams and of datagrams to bursts. */
#ifndef PIB_UDP_WIRE_H
#define PIB_UDP_WIRE_H

#include <linux/types.h>

struct pib_addr;
struct pib_burst;
struct pib_hello_way;
struct pib_link;
struct pib_udp_sock;
struct sk_buff;

/*
 * Implements struct pib_link_ops.full. Return: true if @b must wait, since the stack holds enough
 * that it has not sent yet.
 */
bool pib_wire_full(const struct pib_link *base, const struct pib_burst *b);
/* Implements struct pib_link_ops.xmit. */
void pib_wire_xmit(struct pib_link *base, struct pib_burst *b);
/*
 * Allocate an skb with room for @head bytes and pages for @data, like alloc_skb_with_frags().
 *
 * Context: softirqs off.
 * Return: the skb; NULL: no memory.
 */
struct sk_buff *pib_wire_alloc(u32 head, u32 data);
/* Free the CPUs' pages, when nothing is sent any more. Context: process. */
void pib_wire_mem_exit(void);
/* Consume a datagram or a super-packet that came by @way. Context: softirqs off, RCU. */
void pib_wire_rx(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *from,
		 const struct pib_hello_way *way);

#endif
