/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Addresses of UDP: of peers, of this host, and of the groups of discovery. */
#ifndef PIB_UDP_ADDRESS_H
#define PIB_UDP_ADDRESS_H

#include <linux/in6.h>
#include <linux/socket.h>
#include <linux/types.h>

struct sk_buff;

/**
 * struct pib_addr - a UDP endpoint, and how this host speaks to it
 * @family: AF_INET, AF_INET6, or 0: none
 * @port: UDP port
 * @v4: address
 * @v6: address
 * @own_v4: address of this host from which datagrams go there; all of @own_v6 zero: the stack
 *	chooses one
 * @own_v6: as @own_v4
 */
struct pib_addr {
	u16 family;
	__be16 port;
	union {
		__be32 v4;
		struct in6_addr v6;
	};
	union {
		__be32 own_v4;
		struct in6_addr own_v6;
	};
};

/* Return: true if @a says from where datagrams go there. Context: any. */
bool pib_addr_has_own(const struct pib_addr *a);

/*
 * Return: true if both are the same address and port, from wherever this host speaks to them; not
 * if both are none. Context: any.
 */
bool pib_addr_equal(const struct pib_addr *a, const struct pib_addr *b);
/*
 * Return: true if both are of one host, whatever their ports; not if both are none. Context: any.
 */
static inline bool pib_addr_same_host(const struct pib_addr *a, const struct pib_addr *b)
{
	const struct pib_addr there = { .family = b->family, .port = a->port, .v6 = b->v6 };

	return pib_addr_equal(a, &there);
}

/* Return: the place of @a in arrays that have IPv4 and IPv6. Context: any. */
static inline unsigned int pib_addr_slot(const struct pib_addr *a)
{
	return a->family == AF_INET6;
}

/* Return: true if @a is that of a multicast group. Context: any. */
bool pib_addr_is_group(const struct pib_addr *a);
/* Set @group to the discovery group of @family, with @port. Context: any. */
void pib_addr_set_group(struct pib_addr *group, int family, __be16 port);
/*
 * Set @from, which is zero, to the sender of @skb, a datagram of @family. An answer is to leave
 * from the address that was asked, unless that is a group's. Context: any.
 */
void pib_addr_set_sender(struct pib_addr *from, const struct sk_buff *skb, int family);

#endif
