// SPDX-License-Identifier: GPL-2.0
/*
 * The surroundings of the receive path: sockets, links with sessions, the clock, and functions
 * that record what is handed up to them. Bursts are kept until the end, and read again then.
 */
#include "core/net.h"
#include "fabric/forward.h"
#include "fabric/port.h"
#include "packet/burst.h"
#include "udp/auth.h"
#include "udp/bearer.h"
#include "udp/credit.h"
#include "udp/link.h"
#include "udp/link_notify.h"
#include "udp/path.h"
#include "udp/rx.h"
#include "udp/seal.h"
#include "world.h"

#define PORT 18514
#define BURSTS 256

unsigned long jiffies;

/**
 * struct kept - a burst that came up
 * @b: the burst
 * @bytes: payload, as it was read then
 */
struct kept {
	struct pib_burst *b;
	u8 *bytes;
};

static struct pib_net net;
static struct pib_udp_stats stats, traced;
static struct pib_udp_sock sock;
static struct pib_bearer bearer;
static struct pib_udp_link links[RX_NUM_LINKS];
static struct pib_kport ports[RX_NUM_LINKS];
static struct kept kept[BURSTS];
static u32 num_kept;

/* ---- what the receive path finds ---- */

void *xa_load(struct xarray *xa, u32 id)
{
	int i;

	for (i = 0; i < RX_LINKS; i++)
		if (xa->id[i] == id)
			return xa->entry[i];
	return NULL;
}

bool pib_addr_equal(const struct pib_addr *a, const struct pib_addr *b)
{
	return a->family == b->family && a->port == b->port && !memcmp(&a->v6, &b->v6, 16);
}

const struct pib_auth *pib_keyring_find(const struct pib_keyring *keys, u32 id)
{
	return (const struct pib_auth *)keys;
}

u16 pib_auth_tag(const struct pib_auth *a, u64 to, u64 from)
{
	return to * 3 + from;
}

int pib_auth_seal_key(const struct pib_auth *a, u64 to, u64 from, u8 *key)
{
	rx_session_key(to, from, key);
	return 0;
}

void rx_session_key(u64 to, u64 from, u8 key[PIB_SEAL_KEY_LEN])
{
	pib_seal_label(to, from, key);
}

void pib_udp_link_notify(const struct pib_udp_link *link, u8 kind)
{
}

/* ---- what registered memory would do: no burst that comes has any ---- */

void pib_mem_put(struct pib_span *span)
{
	abort();
}

bool pib_span_is_wanted(const struct pib_span *span)
{
	abort();
}

void *pib_span_map(const struct pib_span *span, u32 off, u32 *len)
{
	abort();
}

void *pib_span_enter(const struct pib_span *span, u32 off, u32 *len, bool write,
		     struct pib_odp_chunk **held)
{
	abort();
}

void pib_odp_leave(struct pib_odp_chunk *held)
{
	abort();
}

/* ---- what is handed up ---- */

void trace_pib_datagram_dropped(int ifindex, u32 counter, u32 n)
{
	((u64 *)&traced)[counter - PIB_US_TX_DATAGRAMS] += n;
}

static void burst_check(const struct pib_burst *b)
{
	WARN_ON(!b->via_udp || !b->npkts || b->len > PIB_BURST_MAX);
	WARN_ON(b->npkts > 1 && b->len <= (b->npkts - 1) * b->pmtu);
	WARN_ON(b->len > b->npkts * b->pmtu);
	WARN_ON(b->h.tp == PIB_TP_UD && b->npkts > PIB_DATAGRAMS_MAX);
}

static u8 *burst_bytes(struct pib_burst *b)
{
	u8 *bytes = malloc(b->len);
	u32 len = 1;

	WARN_ON(pib_burst_read(b, 0, bytes, b->len));
	WARN_ON(pib_burst_chunk(b, b->len, &len));
	return bytes;
}

static void kept_put(struct kept *k)
{
	pib_burst_free(k->b);
	free(k->bytes);
}

void pib_kport_recv(struct pib_kport *port, struct pib_burst *b)
{
	u8 *bytes = burst_bytes(b);
	u32 i, at, n;

	burst_check(b);
	for (i = 0, at = 0; i < b->npkts; i++, at += n) {
		struct pib_hdrs h;

		n = i + 1 < b->npkts ? b->pmtu : b->len - at;
		pib_hdrs_packet(&b->h, b->npkts, i, &h);
		rx_packet(port - ports, &h, bytes + at, n);
	}
	if (num_kept == BURSTS)
		kept_put(&kept[--num_kept]);
	kept[num_kept++] = (struct kept) { .b = b, .bytes = bytes };
}

static void take_control(struct pib_udp_sock *from_sock, const struct pib_addr *from,
			 const struct pib_hello_way *way, const u8 *buf, u32 len)
{
	u32 head = len < PIB_HELLO_WIRE_LEN ? len : PIB_HELLO_WIRE_LEN;
	u8 *copy = malloc(head);

	WARN_ON(from_sock != &sock);
	memcpy(copy, buf, head);
	rx_control(copy, head, len, from->v6.s6_addr[3], way->hop_limit);
	free(copy);
}

static void take_former(struct pib_udp_sock *from_sock, const struct pib_addr *from,
			const struct pib_hello_way *way, const u8 *buf, u32 len)
{
	WARN_ON(from_sock != &sock);
	WARN_ON(buf[0] >> 4 != PIB_DG_FORMER || len < PIB_DG_HDR_LEN);
}

static const struct pib_udp_sock_ops sock_ops = {
	.control = take_control,
	.former = take_former,
};

void pib_udp_credits_begin(struct pib_udp_link *link)
{
}

void pib_udp_credits_take(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			  u32 bytes, u32 packets)
{
	rx_taken(link - links, vl, bytes, packets);
}

void pib_udp_credits_rx(struct pib_udp_sock *from_sock, const struct pib_addr *from, const u8 *buf,
			u32 len)
{
	u32 head = len < PIB_CREDIT_WIRE_LEN ? len : PIB_CREDIT_WIRE_LEN;
	u8 *copy = malloc(head);

	WARN_ON(from_sock != &sock);
	memcpy(copy, buf, head);
	rx_credit(copy, head, len, from->v6.s6_addr[3]);
	free(copy);
}

/* Read a burst again, and the part of it behind its first packet. */
static void kept_check(struct kept *k)
{
	struct pib_burst *part;
	u8 *bytes = burst_bytes(k->b);

	WARN_ON(memcmp(bytes, k->bytes, k->b->len));
	free(bytes);
	if (k->b->npkts == 1)
		return;
	part = pib_burst_slice(k->b, 1, k->b->npkts - 1);
	bytes = burst_bytes(part);
	WARN_ON(memcmp(bytes, k->bytes + k->b->pmtu, part->len));
	free(bytes);
	pib_burst_free(part);
}

/* ---- the links ---- */

static struct pib_addr peer_addr(bool v6, u8 host)
{
	struct pib_addr a = { .family = v6 ? AF_INET6 : AF_INET, .port = PORT };

	a.v6.s6_addr[3] = host;
	return a;
}

static void link_update(struct pib_udp_link *link)
{
	spin_lock_bh(&link->lock);
	pib_udp_path_update(link);
	spin_unlock_bh(&link->lock);
}

static void link_begin(u32 i, const struct rx_link *l)
{
	struct pib_udp_link *link = &links[i];

	*link = (struct pib_udp_link) { .bearer = &bearer, .port = &ports[i], .to = l->v6 };
	link->peer[l->v6] = peer_addr(l->v6, i);
	link->session.state = PIB_SESSION_UP;
	link->session.nonce = l->nonce;
	link->session.peer_nonce = l->peer_nonce;
	link->session.peer_caps = (l->noicrc ? PIB_CAP_NOICRC : 0) | PIB_CAP_SEGMENTS |
			      (RX_HAS_WINDOWS(i) ? PIB_CAP_WINDOWS : 0);
	spin_lock_init(&link->lock);
	pib_frames_init(&link->frames, &bearer);
	net.links.id[i] = l->id;
	net.links.entry[i] = link;
	/* The fabric of a link has a key or has none; here each link has its own. */
	bearer.keys = l->keyed ? (struct pib_keyring *)&bearer : NULL;
	link_update(link);
}

void rx_begin(const struct rx_link l[RX_NUM_LINKS], u32 pages)
{
	u32 i;

	memset(&stats, 0, sizeof(stats));
	memset(&traced, 0, sizeof(traced));
	jiffies = -150;
	num_kept = 0;
	sock = (struct pib_udp_sock) { .pn = &net, .ops = &sock_ops, .stats = &stats };
	bearer = (struct pib_bearer) { .sock = &sock, .windows = true, .frame_pages.v = pages };
	WARN_ON(pib_burst_cache_init());
	for (i = 0; i < RX_NUM_LINKS; i++)
		link_begin(i, &l[i]);
}

void rx_session(u32 i, u64 nonce)
{
	bearer.keys = links[i].seal ? (struct pib_keyring *)&bearer : NULL;
	links[i].session.nonce = nonce;
	link_update(&links[i]);
}

void rx_settled(u32 i, bool settled)
{
	links[i].settled = links[i].losses + !settled;
}

void rx_time(u32 ms, bool timers)
{
	struct timer_list *t;
	u32 i;

	jiffies += ms;
	for (i = 0; i < RX_NUM_LINKS && timers; i++) {
		t = &links[i].frames.timer;
		if (!t->pending || time_before(jiffies, t->expires))
			continue;
		t->pending = false;
		t->function(t);
	}
}

static u32 copies;

void pib_tasks_copied(u32 n)
{
	copies += n;
}

u32 rx_copies(void)
{
	return copies;
}

void rx_come(struct sk_buff *skb, bool v6, u8 host, u8 hop_limit)
{
	struct pib_addr from = peer_addr(v6, host);
	struct pib_hello_way way = { .hop_limit = hop_limit };

	pib_udp_rx(&sock, skb, &from, &way);
}

u64 rx_count(u32 counter)
{
	return ((u64 *)&stats)[counter - PIB_US_TX_DATAGRAMS];
}

u16 rx_tag(u32 i)
{
	return links[i].path->rx_tag;
}

static void link_end(struct pib_udp_link *link)
{
	link->dead = true;
	link_update(link);
	pib_seal_put(link->seal);
	pib_frames_free(&link->frames);
}

/* Each datagram that was dropped has been traced. */
static void check_traces(void)
{
	traced.rx_datagrams = stats.rx_datagrams;
	traced.rx_ce = stats.rx_ce;
	WARN_ON(memcmp(&traced, &stats, sizeof(stats)));
}

void rx_end(void)
{
	u32 i;

	rx_fail(0);
	for (i = 0; i < num_kept; i++) {
		kept_check(&kept[i]);
		kept_put(&kept[i]);
	}
	for (i = 0; i < RX_NUM_LINKS; i++)
		link_end(&links[i]);
	pib_burst_cache_exit();
	check_traces();
	WARN_ON(rx_live());
}
