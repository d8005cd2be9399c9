// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Padded probes of links over UDP. A probe leaves as data does: by the route that data has, with DF
 * where data has it, and with the same hop limit. But it leaves from the UDP port alone, and in the
 * default class: ways that the network has for flows' ports or for classes are not probed.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "proto/hello.h"
#include "proto/pmtu.h"
#include "udp/bearer.h"
#include "udp/link.h"
#include "udp/path.h"
#include "udp/pmtu.h"
#include "udp/socket.h"

void pib_udp_link_bounds(struct pib_udp_link *link, struct pib_pmtu_bounds *bounds)
{
	struct pib_udp_path *path = rcu_dereference(link->path);
	struct pib_udp_route route;

	bounds->mtu = 0;
	if (!path || pib_udp_sock_route(link->bearer->sock, &path->peer[path->to], &path->cache,
					&route))
		return;
	dst_release(route.dst);
	bounds->mtu = route.mtu;
	bounds->least = path->peer[path->to].family == AF_INET ? PIB_PMTU_LEAST :
								 PIB_PMTU_LEAST_IPV6;
}

u32 pib_udp_padded_len(const struct pib_addr *to, u32 size)
{
	return size - sizeof(struct udphdr) - (to->family == AF_INET ? 20 : 40);
}

static struct sk_buff *padded_skb(const u8 *head, u32 len)
{
	struct sk_buff *skb = alloc_skb(PIB_UDP_SOCK_HEADROOM + len, GFP_ATOMIC);

	if (!skb)
		return NULL;
	skb_reserve(skb, PIB_UDP_SOCK_HEADROOM);
	skb_put_data(skb, head, PIB_HELLO_WIRE_LEN);
	skb_put_zero(skb, len - PIB_HELLO_WIRE_LEN);
	return skb;
}

/* Return: false: it was not sent. */
static bool padded_send(struct pib_udp_link *link, const u8 *head, u32 size,
			const struct pib_addr *to)
{
	struct pib_udp_path *path = rcu_dereference(link->path);
	struct pib_udp_sock *sock = link->bearer->sock;
	struct pib_udp_route route;
	struct sk_buff *skb = NULL;

	if (!path || !pib_addr_equal(&path->peer[path->to], to) ||
	    pib_udp_sock_route(sock, to, &path->cache, &route))
		return false;
	if (route.mtu >= size)
		skb = padded_skb(head, pib_udp_padded_len(to, size));
	if (skb)
		pib_udp_sock_send(sock, skb, to, &route, 0);
	else
		dst_release(route.dst);
	return skb;
}

bool pib_udp_link_send_padded(struct pib_udp_link *link, const u8 *head, u32 size,
			      const struct pib_addr *to)
{
	bool sent = padded_send(link, head, size, to);

	if (!sent)
		pib_udp_sock_drop(link->bearer->sock, tx_errors);
	return sent;
}
