// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include "udp/address.h"

/* 239.192.73.66, in the organization-local scope (RFC 2365), and ff12::7069:62, link-local. */
#define PIB_GROUP4 0xEFC04942
static const struct in6_addr pib_group6 = { .s6_addr = {
	0xff, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x70, 0x69, 0x00, 0x62 } };

bool pib_addr_equal(const struct pib_addr *a, const struct pib_addr *b)
{
	if (a->family != b->family || a->port != b->port)
		return false;
	if (a->family == AF_INET)
		return a->v4 == b->v4;
	return a->family == AF_INET6 && ipv6_addr_equal(&a->v6, &b->v6);
}

bool pib_addr_has_own(const struct pib_addr *a)
{
	return !ipv6_addr_any(&a->own_v6);
}

bool pib_addr_is_group(const struct pib_addr *a)
{
	return a->family == AF_INET ? ipv4_is_multicast(a->v4) : ipv6_addr_is_multicast(&a->v6);
}

void pib_addr_set_group(struct pib_addr *group, int family, __be16 port)
{
	memset(group, 0, sizeof(*group));
	group->family = family;
	group->port = port;
	if (family == AF_INET)
		group->v4 = htonl(PIB_GROUP4);
	else
		group->v6 = pib_group6;
}

void pib_addr_set_sender(struct pib_addr *from, const struct sk_buff *skb, int family)
{
	from->family = family;
	from->port = udp_hdr(skb)->source;
	if (family == AF_INET) {
		from->v4 = ip_hdr(skb)->saddr;
		if (skb->pkt_type == PACKET_HOST && !ipv4_is_multicast(ip_hdr(skb)->daddr))
			from->own_v4 = ip_hdr(skb)->daddr;
	} else {
		from->v6 = ipv6_hdr(skb)->saddr;
		if (!ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr))
			from->own_v6 = ipv6_hdr(skb)->daddr;
	}
}
