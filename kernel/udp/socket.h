/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The UDP sockets of a netdev: datagrams in and out. */
#ifndef PIB_UDP_SOCKET_H
#define PIB_UDP_SOCKET_H

#include <linux/if.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <net/dst_cache.h>
#include "tracing/events.h"

struct netlink_ext_ack;
struct pib_net;
struct pib_udp_sock;
struct sk_buff;
struct socket;

/**
 * struct pib_addr - an endpoint of UDP
 * @family: AF_INET, AF_INET6, or 0: none
 * @port: UDP port
 * @v4: address
 * @v6: address
 */
struct pib_addr {
	u16 family;
	__be16 port;
	union {
		__be32 v4;
		struct in6_addr v6;
	};
};

bool pib_addr_equal(const struct pib_addr *a, const struct pib_addr *b);

/*
 * struct pib_udp_stats - counters of a netdev's sockets, as enum pib_us_attr names and orders them
 *
 * docs/debugging.md says what they mean.
 */
struct pib_udp_stats {
	u64 tx_datagrams;
	u64 rx_datagrams;
	u64 tx_errors;
	u64 rx_short;
	u64 rx_version;
	u64 rx_unknown_link;
	u64 rx_wrong_addr;
	u64 rx_bad_hello;
	u64 rx_bad_auth;
	u64 rx_malformed;
	u64 rx_bad_icrc;
	u64 rx_fabric;
	u64 rx_reasm;
	u64 rx_overruns;
	u64 rx_unsealed;
	u64 rx_bad_seal;
	u64 rx_replayed;
};

#define PIB_USTATS (sizeof(struct pib_udp_stats) / sizeof(u64))
/* enum pib_us_attr */
#define PIB_UDP_STAT(field) \
	(PIB_US_TX_DATAGRAMS + offsetof(struct pib_udp_stats, field) / sizeof(u64))

static_assert(PIB_UDP_STAT(rx_replayed) == PIB_US_MAX);

#define pib_udp_sock_count(sock, field, n) this_cpu_add((sock)->stats->field, (n))

/* A datagram, or a packet of one, is dropped: @field counts that. Softirqs off. */
#define pib_udp_sock_drop(sock, field)						\
do {										\
	pib_udp_sock_count(sock, field, 1);					\
	trace_pib_datagram_dropped((sock)->ifindex, PIB_UDP_STAT(field));	\
} while (0)

/**
 * struct pib_udp_sock_end - the socket of one address family
 * @socket: the socket; NULL: there is none (no IPv6)
 * @sock: owner
 * @family: AF_INET or AF_INET6
 * @lock: held by the CPU that empties the receive queue; softirqs off
 * @work: goes on where a softirq has used up its budget
 */
struct pib_udp_sock_end {
	struct socket *socket;
	struct pib_udp_sock *sock;
	int family;
	spinlock_t lock;
	struct work_struct work;
};

/**
 * struct pib_udp_sock - the place of a netdev and UDP port in a namespace
 * @entry: in pn->udp_socks; written under pn->lock, read under RCU
 * @users: bearers that use it; under pn->lock
 * @pn: namespace; never changes
 * @ifindex: the netdev; never changes. No reference is held on it
 * @port: UDP port, host order; never changes
 * @mac: the netdev's MAC address, or what stands in for it, in 48 bits; never changes
 * @mtu: the netdev's, followed by its notifier
 * @running: the netdev is up and has a carrier
 * @gone: the netdev has been unregistered
 * @rejoin: the netdev has come up: pib_udp_sock_rejoin() is due
 * @end: IPv4, IPv6
 * @bearers: struct pib_bearer, one for each fabric id; written under pn->lock, read under RCU
 * @stats: per CPU
 */
struct pib_udp_sock {
	struct list_head entry;
	unsigned int users;
	struct pib_net *pn;
	int ifindex;
	u16 port;
	u64 mac;
	u32 mtu;
	bool running;
	bool gone;
	bool rejoin;
	struct pib_udp_sock_end end[2];
	struct list_head bearers;
	struct pib_udp_stats __percpu *stats;
};

/*
 * Find or make the sockets of a netdev. pn->lock held.
 *
 * Return: with a user; ERR_PTR() with the reason in @extack.
 */
struct pib_udp_sock *pib_udp_sock_get(struct pib_net *pn, int ifindex, u16 port,
				      struct netlink_ext_ack *extack);
/* A user goes; the last one closes the sockets and waits for a grace period. pn->lock held. */
void pib_udp_sock_put(struct pib_udp_sock *sock);

/**
 * pib_udp_sock_send() - send a datagram, or a super-packet of them
 * @sock: sockets
 * @skb: UDP payload, with PIB_UDP_SOCK_HEADROOM in front; consumed
 * @to: where to; a multicast address is sent to with a hop limit of 1
 * @cache: route, or NULL
 *
 * Context: softirqs disabled.
 */
void pib_udp_sock_send(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *to,
		       struct dst_cache *cache);
#define PIB_UDP_SOCK_HEADROOM (MAX_HEADER + 48)

/*
 * Does the stack hold as much as it should of what was sent by the protocol of @to? The limit
 * depends on @bytes, which the caller wants to send: small datagrams may take up less. The stack
 * holds a datagram until the netdev has sent it, or a receiver in this kernel (veth, loopback) has
 * taken it. Any context.
 */
bool pib_udp_sock_full(const struct pib_udp_sock *sock, const struct pib_addr *to, u32 bytes);
/* Does the stack hold anything at all of what was sent from this namespace? Any context. */
bool pib_udp_socks_in_flight(struct net *net);

/* Send a small datagram. Softirqs disabled. */
void pib_udp_sock_send_bytes(struct pib_udp_sock *sock, const void *data, u32 len,
			     const struct pib_addr *to);

/* The discovery group of @family. */
void pib_udp_sock_group(const struct pib_udp_sock *sock, int family, struct pib_addr *group);
/* The netdev has come up: join the discovery groups again. Process context. */
void pib_udp_sock_rejoin(struct pib_udp_sock *sock);

/* How many datagrams the sockets have dropped unseen, so far. Any context. */
u32 pib_udp_sock_overruns(const struct pib_udp_sock *sock);
/* Sum up the counters of all CPUs. Any context. */
void pib_udp_sock_stats(const struct pib_udp_sock *sock, struct pib_udp_stats *out);

#endif
