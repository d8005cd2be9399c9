// SPDX-License-Identifier: GPL-2.0
#include "proto/hello.h"
#include "udp/bearer.h"
#include "udp/link.h"
#include "udp/path.h"
#include "udp/pmtu.h"
#include "world.h"

static struct padded_world *world;
static u8 *skb_memory;

bool pib_addr_equal(const struct pib_addr *a, const struct pib_addr *b)
{
	return a->family == b->family && a->port == b->port && !memcmp(&a->v6, &b->v6, 16);
}

void trace_pib_datagram_dropped(int ifindex, u32 counter, u32 n)
{
	WARN_ON(counter != PIB_US_TX_ERRORS);
	world->traced += n;
}

int pib_udp_sock_route(struct pib_udp_sock *sock, const struct pib_addr *to,
		       struct dst_cache *cache, struct pib_udp_route *route)
{
	if (world->no_route)
		return -EPERM;
	world->refs++;
	*route = (struct pib_udp_route) { .mtu = world->mtu };
	return 0;
}

void dst_release(struct dst_entry *dst)
{
	world->refs--;
}

struct sk_buff *alloc_skb(u32 size, gfp_t gfp)
{
	struct sk_buff *skb = world->no_memory ? NULL : calloc(1, sizeof(*skb));

	if (!skb)
		return NULL;
	skb_memory = malloc(size);
	skb->data = skb_memory;
	return skb;
}

void skb_reserve(struct sk_buff *skb, u32 len)
{
	skb->data += len;
}

void skb_put_data(struct sk_buff *skb, const void *data, u32 len)
{
	memcpy(skb->data + skb->len, data, len);
	skb->len += len;
}

void skb_put_zero(struct sk_buff *skb, u32 len)
{
	memset(skb->data + skb->len, 0, len);
	skb->len += len;
}

void pib_udp_sock_send(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *to,
		       const struct pib_udp_route *route, u8 tos)
{
	world->sent = skb->len;
	world->refs--;
	free(skb_memory);
	free(skb);
}

bool padded_send_probe(struct padded_world *w, u32 size)
{
	const u8 head[PIB_HELLO_WIRE_LEN] = {};
	struct pib_udp_stats stats = {};
	struct pib_udp_sock sock = { .stats = &stats };
	struct pib_bearer bearer = { .sock = &sock };
	struct pib_udp_path path = { .to = w->v6 };
	struct pib_udp_link link = { .bearer = &bearer, .path = w->no_path ? NULL : &path };
	struct pib_addr to = { .family = w->v6 ? AF_INET6 : AF_INET, .port = 1 };
	bool sent;

	path.peer[w->v6] = to;
	path.peer[w->v6].port += w->moved;
	world = w;
	sent = pib_udp_link_send_padded(&link, head, size, &to);
	w->errors = stats.tx_errors;
	return sent;
}
