// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UDP sockets bound to a netdev.
 *
 * Receiving: the sockets have UDP_GRO set and no encap_rcv, since a socket with
 * encap_rcv is given super-packets only after they have been cut up. Datagrams
 * are queued by the stack and taken out in sk_data_ready, in the same softirq.
 * One CPU at a time empties a queue, so that datagrams keep their order; it
 * only dispatches them to the inboxes of QPs, which then run outside the lock.
 *
 * Sending: skbs go straight to the IP layer, with the route cached per link. They
 * are charged to the socket, so that no more are on their way than a queue below (a
 * qdisc, a CPU's backlog) has room for; QPs are pushed back before that.
 *
 * skb->priority stays 0, whatever the DSCP is. In a qdisc with bands no service level,
 * which users choose, gets ahead of the control datagrams that keep links up. Classes on
 * this host are the administrator's to give, by a filter on the DSCP.
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst_cache.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include "compat/compat.h"
#include "core/net.h"
#include "core/task.h"
#include "proto/hello.h"
#include "tracing/fabric.h"
#include "udp/rx.h"
#include "udp/socket.h"

#define PIB_UDP_SOCK_RCVBUF	(8 << 20)
#define PIB_UDP_SOCK_BUDGET	64	/* super-packets before QPs get their turn */
#define PIB_UDP_SOCK_ROUNDS	4	/* of that before a softirq hands over to the work item */
#define PIB_UDP_SOCK_COPIES	32	/* copies of multicasts that count as one super-packet */

/*
 * Queues below usually hold 1000 skbs, however large: no more small ones fit into this. Data may
 * take up half of what a CPU goes round in (udp/skb_pool.c). Senders of data fill that whenever
 * there is room, so one limit lets large and small messages through by turns. Answers that many
 * wait for, and the management of a subnet, have some room of their own.
 */
static const u32 wmem_limit[] = {
	[PIB_UDP_ROOM_DATA] = 768 << 10,
	[PIB_UDP_ROOM_BARE] = 832 << 10,
	[PIB_UDP_ROOM_AHEAD] = 896 << 10,
};

u32 pib_udp_sock_overruns(const struct pib_udp_sock *sock)
{
	u32 n = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sock->end); i++)
		if (sock->end[i].socket)
			n += sk_drops_read(sock->end[i].socket->sk);
	return n;
}

void pib_udp_sock_stats(const struct pib_udp_sock *sock, struct pib_udp_stats *out)
{
	u64 *sum = (u64 *)out;
	unsigned int i;
	int cpu;

	memset(out, 0, sizeof(*out));
	for_each_possible_cpu(cpu) {
		const u64 *c = (const u64 *)per_cpu_ptr(sock->stats, cpu);

		for (i = 0; i < PIB_USTATS; i++)
			sum[i] += READ_ONCE(c[i]);
	}
	out->rx_overruns = pib_udp_sock_overruns(sock);
}

/* ---- receiving ---- */

/* GRO merges no datagrams whose hop limits differ. */
static void skb_way(const struct sk_buff *skb, int family, struct pib_hello_way *way)
{
	if (family == AF_INET) {
		way->hop_limit = ip_hdr(skb)->ttl;
		way->to_group = ipv4_is_multicast(ip_hdr(skb)->daddr);
	} else {
		way->hop_limit = ipv6_hdr(skb)->hop_limit;
		way->to_group = ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr);
	}
}

static void socket_deliver(struct pib_udp_sock_end *end, struct sk_buff *skb)
{
	struct pib_hello_way way = {};
	struct pib_addr from = {};

	pib_addr_set_sender(&from, skb, end->family);
	skb_way(skb, end->family, &way);
	pib_udp_rx(end->sock, skb, &from, &way);
}

/* Trace the datagrams that the stack has dropped. It counts them, but tells nobody. */
static void socket_tell_overruns(struct pib_udp_sock_end *end)
{
	u32 drops = sk_drops_read(end->socket->sk);

	lockdep_assert_held(&end->lock);

	if (likely(drops == end->overruns))
		return;
	trace_pib_datagram_dropped(end->sock->ifindex, PIB_UDP_STAT(rx_overruns),
				   drops - end->overruns);
	end->overruns = drops;
}

/*
 * Take in super-packets from the queue until the budget is spent.
 *
 * Return: the budget spent, copies included; less than PIB_UDP_SOCK_BUDGET: the queue was empty.
 */
static u32 socket_drain(struct pib_udp_sock_end *end)
{
	struct sock *sk = end->socket->sk;
	struct sk_buff *skb;
	u32 n, copies;
	int err;

	for (n = 0; n < PIB_UDP_SOCK_BUDGET; n++) {
		skb = skb_recv_udp(sk, MSG_DONTWAIT, &err);
		if (!skb)
			break;
		copies = pib_tasks_copies();
		socket_deliver(end, skb);
		n += (pib_tasks_copies() - copies) / PIB_UDP_SOCK_COPIES;
	}
	socket_tell_overruns(end);
	return n;
}

static bool socket_has_more(const struct pib_udp_sock_end *end)
{
	return !skb_queue_empty_lockless(&end->socket->sk->sk_receive_queue);
}

/*
 * Empty the queue, unless another CPU does so: that CPU looks again after it has
 * released the lock. Datagrams left to the work item stay in the queue, in their order.
 */
static void socket_receive(struct pib_udp_sock_end *end)
{
	u32 n, spent;

	for (spent = 0; spent < PIB_UDP_SOCK_ROUNDS * PIB_UDP_SOCK_BUDGET;
	     spent += max_t(u32, n, PIB_UDP_SOCK_BUDGET)) {
		/*
		 * Pairs with the barrier below: if the trylock fails, the owner of the lock sees
		 * what was queued before, when it looks again after the unlock.
		 */
		smp_mb();
		if (!spin_trylock(&end->lock))
			return;
		n = socket_drain(end);
		spin_unlock(&end->lock);
		pib_tasks_run();
		/* Pairs with the barrier above. */
		smp_mb();
		if (n < PIB_UDP_SOCK_BUDGET && !socket_has_more(end))
			return;
	}
	queue_work(pib_task_wq, &end->work);
}

static void socket_work(struct work_struct *work)
{
	struct pib_udp_sock_end *end = container_of(work, struct pib_udp_sock_end, work);

	local_bh_disable();
	rcu_read_lock();
	socket_receive(end);
	rcu_read_unlock();
	local_bh_enable();
}

static void socket_data_ready(struct sock *sk)
{
	struct pib_udp_sock_end *end;

	rcu_read_lock();
	end = rcu_dereference_sk_user_data(sk);
	if (end)
		socket_receive(end);
	rcu_read_unlock();
}

/* ---- sending ---- */

/* Context: under RCU. */
static bool has_own_v6(const struct pib_udp_sock *sock, const struct in6_addr *own)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct net_device *dev = dev_get_by_index_rcu(sock->pn->net, sock->ifindex);

	return dev && ipv6_chk_addr(sock->pn->net, own, dev, 0);
#else
	return false;
#endif
}

bool pib_udp_sock_has_own(const struct pib_udp_sock *sock, const struct pib_addr *to)
{
	bool here;

	if (!pib_addr_has_own(to))
		return false;
	rcu_read_lock();
	if (to->family == AF_INET)
		here = __ip_dev_find(sock->pn->net, to->own_v4, false);
	else
		here = has_own_v6(sock, &to->own_v6);
	rcu_read_unlock();
	return here;
}

/*
 * By the address that the first lookup has chosen, policy may have another route, and it is that
 * one which learns an MTU. If the caller has chosen the address the first lookup knows it already.
 */
static struct rtable *lookup_v4(const struct pib_udp_sock *sock, struct flowi4 *fl,
				const struct sock *sk)
{
	__be32 daddr = fl->daddr;
	bool chosen = fl->saddr;
	struct rtable *rt = ip_route_output_flow(sock_net(sk), fl, sk);

	if (IS_ERR(rt) || chosen || !fl->saddr)
		return rt;
	ip_rt_put(rt);
	fl->flowi4_oif = sock->ifindex;
	fl->daddr = daddr;
	return ip_route_output_flow(sock_net(sk), fl, sk);
}

static int route_v4(struct pib_udp_sock *sock, const struct pib_addr *to, struct dst_cache *cache,
		    struct pib_udp_route *route)
{
	struct socket *socket = sock->end[0].socket;
	struct flowi4 fl = {
		.flowi4_oif = sock->ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.daddr = to->v4,
		.fl4_dport = to->port,
		.fl4_sport = htons(sock->port),
	};
	struct rtable *rt = NULL;

	if (!socket)
		return -EAFNOSUPPORT;
	if (cache)
		rt = dst_cache_get_ip4(cache, &route->v4);
	if (!rt) {
		if (pib_udp_sock_has_own(sock, to))
			fl.saddr = to->own_v4;
		rt = cache ? lookup_v4(sock, &fl, socket->sk) :
			     ip_route_output_flow(sock_net(socket->sk), &fl, socket->sk);
		if (IS_ERR(rt))
			return PTR_ERR(rt);
		route->v4 = fl.saddr;
		if (cache)
			dst_cache_set_ip4(cache, &rt->dst, fl.saddr);
	}
	route->dst = &rt->dst;
	if (route->v4)
		return 0;
	ip_rt_put(rt);
	return -EADDRNOTAVAIL;
}

static bool datagrams_fit(const struct sk_buff *skb, u32 headers, u32 mtu)
{
	return (skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : skb->len) + headers <= mtu;
}

/*
 * Return: the DF bit, if it applies. IP fragments a datagram here if it is too large for the route.
 * Others no router may fragment: it reports its MTU instead, and the route learns that. Control
 * datagrams never have DF, so that they get through in any case.
 */
static __be16 header_df(const struct sock *sk, const struct sk_buff *skb,
			const struct pib_udp_route *route, u8 hop_limit)
{
	u32 headers = sizeof(struct iphdr) + sizeof(struct udphdr);

	if (hop_limit || !datagrams_fit(skb, headers, route->mtu) ||
	    !ip_dont_fragment(sk, route->dst))
		return 0;
	return htons(IP_DF);
}

/*
 * Put a UDP header in front of @skb.
 *
 * Headers are written here and not by udp_tunnel_xmit_skb(), which keeps to itself whether the skb
 * was dropped. It also scrubs skbs, but ours are new, and it stops a netdev whose xmit comes back
 * to itself, but none comes here: IPoIB's only kicks a QP.
 */
static void push_udp_header(struct sk_buff *skb, __be16 from, __be16 to)
{
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = from;
	uh->dest = to;
	uh->len = htons(skb->len);
}

/* Return: 0, or what ip_local_out() says of a drop: more than 0 is a qdisc's or a netdev's word. */
static int send_v4(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *to,
		   const struct pib_udp_route *route, u8 tos, u8 hop_limit)
{
	struct sock *sk = sock->end[0].socket->sk;
	__be16 df = header_df(sk, skb, route, hop_limit);
	struct iphdr *iph;

	skb_dst_set(skb, route->dst);
	push_udp_header(skb, route->port, to->port);
	udp_set_csum(false, skb, route->v4, to->v4, skb->len);
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	*iph = (struct iphdr) {
		.version = IPVERSION,
		.ihl = sizeof(*iph) / 4,
		.tos = tos,
		.frag_off = df,
		.ttl = hop_limit ?: ip4_dst_hoplimit(route->dst),
		.protocol = IPPROTO_UDP,
		.saddr = route->v4,
		.daddr = to->v4,
	};
	__ip_select_ident(sock_net(sk), iph, skb_shinfo(skb)->gso_segs ?: 1);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	return ip_local_out(sock_net(sk), sk, skb);
}

#if IS_ENABLED(CONFIG_IPV6)
/* As lookup_v4(). */
static struct dst_entry *lookup_v6(const struct pib_udp_sock *sock, struct flowi6 *fl,
				   const struct sock *sk)
{
	bool chosen = !ipv6_addr_any(&fl->saddr);
	struct dst_entry *dst = ip6_dst_lookup_flow(sock_net(sk), sk, fl, NULL);

	if (IS_ERR(dst) || chosen)
		return dst;
	dst_release(dst);
	fl->flowi6_oif = sock->ifindex;
	return ip6_dst_lookup_flow(sock_net(sk), sk, fl, NULL);
}

static int route_v6(struct pib_udp_sock *sock, const struct pib_addr *to, struct dst_cache *cache,
		    struct pib_udp_route *route)
{
	struct socket *socket = sock->end[1].socket;
	struct flowi6 fl = {
		.flowi6_oif = sock->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.daddr = to->v6,
		.fl6_dport = to->port,
		.fl6_sport = htons(sock->port),
	};
	struct dst_entry *dst = NULL;

	if (!socket)
		return -EAFNOSUPPORT;
	if (cache)
		dst = dst_cache_get_ip6(cache, &route->v6);
	if (!dst) {
		if (pib_udp_sock_has_own(sock, to))
			fl.saddr = to->own_v6;
		dst = cache ? lookup_v6(sock, &fl, socket->sk) :
			      ip6_dst_lookup_flow(sock_net(socket->sk), socket->sk, &fl, NULL);
		if (IS_ERR(dst))
			return PTR_ERR(dst);
		route->v6 = fl.saddr;
		if (cache)
			dst_cache_set_ip6(cache, dst, &fl.saddr);
	}
	route->dst = dst;
	return 0;
}

/* As send_v4(). */
static int send_v6(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *to,
		   const struct pib_udp_route *route, u8 tos, u8 hop_limit)
{
	struct sock *sk = sock->end[1].socket->sk;
	struct ipv6hdr *iph;

	skb->ignore_df = 1;
	skb_dst_set(skb, route->dst);
	push_udp_header(skb, route->port, to->port);
	udp6_set_csum(false, skb, &route->v6, &to->v6, skb->len);
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	ip6_flow_hdr(iph, tos, route->label);
	iph->nexthdr = IPPROTO_UDP;
	iph->hop_limit = hop_limit ?: ip6_dst_hoplimit(route->dst);
	iph->saddr = route->v6;
	iph->daddr = to->v6;
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	return ip6_local_out(sock_net(sk), sk, skb);
}
#else
static int route_v6(struct pib_udp_sock *sock, const struct pib_addr *to, struct dst_cache *cache,
		    struct pib_udp_route *route)
{
	return -EAFNOSUPPORT;
}

static int send_v6(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *to,
		   const struct pib_udp_route *route, u8 tos, u8 hop_limit)
{
	dst_release(route->dst);
	kfree_skb(skb);
	return -EAFNOSUPPORT;
}
#endif

int pib_udp_sock_route(struct pib_udp_sock *sock, const struct pib_addr *to,
		       struct dst_cache *cache, struct pib_udp_route *route)
{
	int err;

	if (!READ_ONCE(sock->running) || READ_ONCE(sock->gone))
		return -ENETDOWN;
	if (to->family == AF_INET)
		err = route_v4(sock, to, cache, route);
	else
		err = route_v6(sock, to, cache, route);
	if (err)
		return err;
	route->mtu = min(READ_ONCE(sock->mtu), dst_mtu(route->dst));
	route->port = htons(sock->port);
	route->label = 0;
	return 0;
}

bool pib_udp_sock_full(const struct pib_udp_sock *sock, const struct pib_addr *to,
		       enum pib_udp_room room)
{
	const struct socket *socket = sock->end[to->family == AF_INET6].socket;

	return socket && refcount_read(&socket->sk->sk_wmem_alloc) > wmem_limit[room];
}

/*
 * Return: true if the stack holds any datagram that @sock has sent. A socket with nothing in flight
 * counts one byte. Context: RCU.
 */
static bool socket_in_flight(const struct pib_udp_sock *sock)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sock->end); i++) {
		const struct socket *socket = READ_ONCE(sock->end[i].socket);

		if (socket && refcount_read(&socket->sk->sk_wmem_alloc) > 1)
			return true;
	}
	return false;
}

bool pib_udp_socks_in_flight(struct net *net)
{
	const struct pib_net *pn = pib_net(net);
	const struct pib_udp_sock *sock;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(sock, &pn->udp_socks, entry)
		any |= socket_in_flight(sock);
	rcu_read_unlock();
	return any;
}

/*
 * Send @skb. @hop_limit: 0: the route's.
 *
 * IP returns other than 0 if something was dropped: @skb, or after NET_XMIT_CN maybe another skb of
 * the queue in its place (fq_codel, sfq). The latter counts as if it had been as large.
 */
static void socket_send(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *to,
			const struct pib_udp_route *route, u8 tos, u8 hop_limit)
{
	u32 n = skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
	int err;

	if (to->family == AF_INET)
		err = send_v4(sock, skb, to, route, tos, hop_limit);
	else
		err = send_v6(sock, skb, to, route, tos, hop_limit);
	if (likely(!err))
		pib_udp_sock_count(sock, tx_datagrams, n);
	else
		pib_udp_sock_lose(sock, tx_dropped, n);
}

/*
 * Only data is charged to the socket, for it is data that waits for room there: answers to
 * strangers may stand for seconds in the stack, before neighbours that are not there.
 */
void pib_udp_sock_send(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *to,
		       const struct pib_udp_route *route, u8 tos)
{
	skb_set_owner_w(skb, sock->end[pib_addr_slot(to)].socket->sk);
	socket_send(sock, skb, to, route, tos, 0);
}

/* @hop_limit: 0: the route's. */
static void send_bytes(struct pib_udp_sock *sock, const void *data, u32 len,
		       const struct pib_addr *to, const struct pib_udp_lane *lane, u8 hop_limit)
{
	struct pib_udp_route route;
	struct sk_buff *skb;

	if (pib_udp_sock_route(sock, to, NULL, &route)) {
		/* Discovery tries both protocols, so it is no error if one has no address. */
		if (!pib_addr_is_group(to))
			pib_udp_sock_drop(sock, tx_errors);
		return;
	}
	skb = alloc_skb(PIB_UDP_SOCK_HEADROOM + len, GFP_ATOMIC);
	if (!skb) {
		dst_release(route.dst);
		pib_udp_sock_drop(sock, tx_errors);
		return;
	}
	skb_reserve(skb, PIB_UDP_SOCK_HEADROOM);
	skb_put_data(skb, data, len);
	route.port = lane->port;
	route.label = lane->label;
	socket_send(sock, skb, to, &route, lane->tos, hop_limit);
}

static void send_control(struct pib_udp_sock *sock, const void *data, u32 len,
			 const struct pib_addr *to, __be16 port)
{
	const struct pib_udp_lane lane = { .port = port };

	send_bytes(sock, data, len, to, &lane, PIB_HOP_LIMIT);
}

void pib_udp_sock_send_beside(struct pib_udp_sock *sock, const void *data, u32 len,
			      const struct pib_addr *to, const struct pib_udp_lane *lane)
{
	send_bytes(sock, data, len, to, lane, 0);
}

void pib_udp_sock_send_control(struct pib_udp_sock *sock, const void *data, u32 len,
			       const struct pib_addr *to)
{
	send_control(sock, data, len, to, htons(sock->port));
}

void pib_udp_sock_send_probe(struct pib_udp_sock *sock, const void *data, u32 len,
			     const struct pib_addr *to)
{
	__be16 port = pib_flow_port(&sock->end[pib_addr_slot(to)].flows, 0);

	if (port)
		send_control(sock, data, len, to, port);
}

void pib_udp_sock_set_flows(struct pib_udp_sock *sock, bool open)
{
	struct pib_udp_sock_end *v4 = &sock->end[0], *v6 = &sock->end[1];

	lockdep_assert_held(&sock->pn->lock);
	if (open) {
		pib_flow_ports_open(v4);
		pib_flow_ports_open(v6);
	} else if (v4->flows.n || v6->flows.n) {
		pib_flow_ports_mute(v4);
		pib_flow_ports_mute(v6);
		synchronize_rcu();
		pib_flow_ports_close(v4);
		pib_flow_ports_close(v6);
	}
}

/* ---- sockets ---- */

static int socket_setsockopt(struct socket *socket, int level, int name, void *val, int len)
{
	return socket->ops->setsockopt(socket, level, name, KERNEL_SOCKPTR(val), len);
}

static int socket_set_int(struct socket *socket, int level, int name, int val)
{
	return socket_setsockopt(socket, level, name, &val, sizeof(val));
}

static int socket_membership(struct pib_udp_sock_end *end, bool join)
{
	struct ip_mreqn mreq4 = { .imr_ifindex = end->sock->ifindex };
	struct ipv6_mreq mreq6 = { .ipv6mr_ifindex = end->sock->ifindex };
	struct pib_addr group;

	pib_addr_set_group(&group, end->family, 0);
	if (end->family == AF_INET) {
		mreq4.imr_multiaddr.s_addr = group.v4;
		return socket_setsockopt(end->socket, IPPROTO_IP,
					 join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
					 &mreq4, sizeof(mreq4));
	}
	mreq6.ipv6mr_multiaddr = group.v6;
	return socket_setsockopt(end->socket, IPPROTO_IPV6,
				 join ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP,
				 &mreq6, sizeof(mreq6));
}

/*
 * The stack drops a membership when the protocol is taken off the netdev (an
 * MTU too small for IPv6), while the socket believes that it still has it.
 */
void pib_udp_sock_rejoin(struct pib_udp_sock *sock)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sock->end); i++) {
		if (!sock->end[i].socket)
			continue;
		socket_membership(&sock->end[i], false);
		socket_membership(&sock->end[i], true);
	}
}

void pib_udp_sock_no_busy_poll(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, 0);
#endif
}

static void socket_tune(struct pib_udp_sock_end *end)
{
	struct socket *socket = end->socket;
	struct sock *sk = socket->sk;

	socket_set_int(socket, SOL_UDP, UDP_GRO, 1);
	if (end->family == AF_INET) {
		socket_set_int(socket, IPPROTO_IP, IP_MULTICAST_LOOP, 0);
	} else {
		socket_set_int(socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0);
		/* A link outlives temporary addresses (RFC 8981), and hellos tell GUIDs anyway. */
		socket_set_int(socket, IPPROTO_IPV6, IPV6_ADDR_PREFERENCES,
			       IPV6_PREFER_SRC_PUBLIC);
	}

	lock_sock(sk);
	sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	WRITE_ONCE(sk->sk_rcvbuf, PIB_UDP_SOCK_RCVBUF);
	sk->sk_allocation = GFP_ATOMIC;
	pib_udp_sock_no_busy_poll(sk);
	rcu_assign_sk_user_data(sk, end);
	sk->sk_data_ready = socket_data_ready;
	release_sock(sk);
}

static int socket_open(struct pib_udp_sock *sock, unsigned int i, int family)
{
	struct pib_udp_sock_end *end = &sock->end[i];
	struct socket *socket;
	struct udp_port_cfg cfg = {
		.family = family,
		.local_udp_port = htons(sock->port),
		.bind_ifindex = sock->ifindex,
		.ipv6_v6only = family == AF_INET6,
		.use_udp_checksums = 1,
		.use_udp6_tx_checksums = 1,
		.use_udp6_rx_checksums = 1,
	};
	int err;

	end->sock = sock;
	end->family = family;
	spin_lock_init(&end->lock);
	INIT_WORK(&end->work, socket_work);
	err = udp_sock_create(sock->pn->net, &cfg, &socket);
	if (err)
		return err;
	/* Pairs with the address dependency in socket_in_flight(): the list has @sock already. */
	smp_store_release(&end->socket, socket);
	socket_tune(end);
	socket_membership(end, true);
	return 0;
}

/* Close the socket. On return no CPU uses it any more. */
static void socket_close(struct pib_udp_sock_end *end)
{
	struct socket *socket = end->socket;

	if (!socket)
		return;
	rcu_assign_sk_user_data(socket->sk, NULL);
	pib_flow_ports_mute(end);
	synchronize_rcu();
	cancel_work_sync(&end->work);
	end->socket = NULL;
	pib_flow_ports_close(end);
	kernel_sock_shutdown(socket, SHUT_RDWR);
	sock_release(socket);
}

/*
 * Return: the MAC address, from which GUIDs are made. A netdev without one (a WireGuard tunnel)
 * gets a random number, marked as locally administered, for as long as the sockets live. A number
 * derived from the machine's name, say, would be the same on its clones.
 */
static u64 netdev_mac(const struct net_device *dev)
{
	if (dev->type == ARPHRD_ETHER && dev->addr_len == ETH_ALEN &&
	    is_valid_ether_addr(dev->dev_addr))
		return ether_addr_to_u64(dev->dev_addr) ^ (0x02ULL << 40);

	return get_random_u64() & 0xFFFFFFFFFFFFULL & ~(0x03ULL << 40);
}

const struct net_device *pib_udp_sock_master(struct net_device *dev)
{
	const struct net_device *master = netdev_master_upper_dev_get(dev);

	return master && (netif_is_bridge_master(master) || netif_is_lag_master(master)) ? master :
											    NULL;
}

static int check_is_not_port(struct net_device *dev, struct netlink_ext_ack *extack)
{
	const struct net_device *master = pib_udp_sock_master(dev);

	if (!master)
		return 0;
	if (netif_is_bridge_master(master))
		NL_SET_ERR_MSG(extack, "the netdev is a port of a bridge: name the bridge");
	else
		NL_SET_ERR_MSG(extack, "the netdev is a port of a bond or a team: name that");
	return -EINVAL;
}

/*
 * Read the state of the netdev, which its notifier follows from now on. The notifier runs under
 * RTNL, too, and finds the sockets since they are listed already. Reading the state before they are
 * listed would miss changes in between.
 */
static int socket_look(struct pib_udp_sock *sock, struct netlink_ext_ack *extack)
{
	struct net_device *dev;
	int err = 0;

	rtnl_lock();
	dev = __dev_get_by_index(sock->pn->net, sock->ifindex);
	if (dev) {
		sock->mac = netdev_mac(dev);
		WRITE_ONCE(sock->mtu, dev->mtu);
		WRITE_ONCE(sock->running, netif_running(dev) && netif_carrier_ok(dev));
		err = check_is_not_port(dev, extack);
	} else {
		NL_SET_ERR_MSG(extack, "no netdev of that number in this network namespace");
		err = -ENODEV;
	}
	rtnl_unlock();
	return err;
}

static int socket_open_all(struct pib_udp_sock *sock, struct netlink_ext_ack *extack)
{
	int err4, err6;

	err4 = socket_open(sock, 0, AF_INET);
	err6 = socket_open(sock, 1, AF_INET6);
	if (!err4 || !err6) {
		if (err4 != -EADDRINUSE && err6 != -EADDRINUSE)
			return 0;
		err4 = -EADDRINUSE;
	}
	if (err4 == -EADDRINUSE)
		NL_SET_ERR_MSG(extack, "the UDP port is in use on this netdev");
	else
		NL_SET_ERR_MSG(extack, "the netdev takes no UDP socket");
	return err4;
}

static void socket_destroy(struct pib_udp_sock *sock)
{
	list_del_rcu(&sock->entry);
	socket_close(&sock->end[0]);
	socket_close(&sock->end[1]);
	synchronize_rcu();
	free_percpu(sock->stats);
	kfree(sock);
}

static struct pib_udp_sock *socket_create(struct pib_net *pn, int ifindex, u16 port,
					  const struct pib_udp_sock_ops *ops,
					  struct netlink_ext_ack *extack)
{
	struct pib_udp_sock *sock = kzalloc(sizeof(*sock), GFP_KERNEL);
	int err;

	if (!sock)
		return ERR_PTR(-ENOMEM);
	sock->pn = pn;
	sock->ifindex = ifindex;
	sock->port = port;
	sock->ops = ops;
	sock->users = 1;
	get_random_bytes(sock->label_secret, sizeof(sock->label_secret));
	INIT_LIST_HEAD(&sock->bearers);
	sock->stats = alloc_percpu(struct pib_udp_stats);
	if (!sock->stats) {
		kfree(sock);
		return ERR_PTR(-ENOMEM);
	}
	list_add_tail_rcu(&sock->entry, &pn->udp_socks);
	err = socket_look(sock, extack) ?: socket_open_all(sock, extack);
	if (err) {
		socket_destroy(sock);
		return ERR_PTR(err);
	}
	return sock;
}

struct pib_udp_sock *pib_udp_sock_get(struct pib_net *pn, int ifindex, u16 port,
				      const struct pib_udp_sock_ops *ops,
				      struct netlink_ext_ack *extack)
{
	struct pib_udp_sock *sock;

	lockdep_assert_held(&pn->lock);
	list_for_each_entry(sock, &pn->udp_socks, entry) {
		if (sock->ifindex != ifindex || sock->port != port ||
		    READ_ONCE(sock->gone))
			continue;
		sock->users++;
		return sock;
	}
	return socket_create(pn, ifindex, port, ops, extack);
}

void pib_udp_sock_put(struct pib_udp_sock *sock)
{
	lockdep_assert_held(&sock->pn->lock);
	if (!--sock->users)
		socket_destroy(sock);
}
