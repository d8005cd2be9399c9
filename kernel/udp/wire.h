/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bursts become datagrams and datagrams become bursts. */
#ifndef PIB_UDP_WIRE_H
#define PIB_UDP_WIRE_H

#include <linux/types.h>

struct pib_addr;
struct pib_burst;
struct pib_link;
struct pib_udp_sock;
struct sk_buff;

/*
 * struct pib_link_ops.full: is @b to wait, since the stack holds enough that it has not sent yet?
 */
bool pib_wire_full(const struct pib_link *base, const struct pib_burst *b);
/* struct pib_link_ops.xmit. */
void pib_wire_xmit(struct pib_link *base, struct pib_burst *b);
/*
 * An skb with room for @head bytes and pages for @data, as from alloc_skb_with_frags(). Softirqs
 * off. Return: NULL: no memory.
 */
struct sk_buff *pib_wire_alloc(u32 head, u32 data);
/* Free the pages, when nothing is sent any more. Process context. */
void pib_wire_mem_exit(void);
/* Take in a datagram or a super-packet, which is consumed. Softirqs off, RCU. */
void pib_wire_rx(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *from);

#endif
