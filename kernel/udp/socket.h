/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The UDP sockets of a netdev: datagrams in and out. */
#ifndef PIB_UDP_SOCKET_H
#define PIB_UDP_SOCKET_H

#include <linux/if.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <net/dst_cache.h>
#include "tracing/fabric.h"
#include "udp/address.h"
#include "udp/flow_ports.h"

struct sock;
struct netlink_ext_ack;
struct pib_hello_way;
struct pib_net;
struct pib_udp_sock;
struct sk_buff;
struct socket;

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
	u64 rx_stranger;
	u64 rx_ce;
	u64 rx_no_port;
	u64 tx_shrunk;
	u64 tx_dropped;
	u64 tx_waits;
	u64 tx_overdrawn;
	u64 rx_bad_credits;
};

/* A control datagram, which is authenticated, counts as so many copies of a multicast. */
#define PIB_UDP_CONTROL_COPIES	16

#define PIB_USTATS (sizeof(struct pib_udp_stats) / sizeof(u64))
/* enum pib_us_attr */
#define PIB_UDP_STAT(field) \
	(PIB_US_TX_DATAGRAMS + offsetof(struct pib_udp_stats, field) / sizeof(u64))

static_assert(PIB_UDP_STAT(rx_bad_credits) == PIB_US_MAX);

/* Count @n more in @field of struct pib_udp_stats. Context: any. */
#define pib_udp_sock_count(sock, field, n) this_cpu_add((sock)->stats->field, (n))

/*
 * Count in @field, and trace, that @n datagrams, or packets of one, were dropped or not sent.
 * Context: softirqs off.
 */
#define pib_udp_sock_lose(sock, field, n)					\
do {										\
	u32 __n = (n);								\
	pib_udp_sock_count(sock, field, __n);					\
	trace_pib_datagram_dropped((sock)->ifindex, PIB_UDP_STAT(field), __n);	\
} while (0)

/* As pib_udp_sock_lose(), for one. Context: as there. */
#define pib_udp_sock_drop(sock, field) pib_udp_sock_lose(sock, field, 1)

/**
 * struct pib_udp_sock_end - the socket of one address family
 * @socket: the socket; NULL: there is none (no IPv6)
 * @sock: owner
 * @family: AF_INET or AF_INET6
 * @lock: held by the CPU that empties the receive queue; softirqs off
 * @overruns: datagrams dropped by the stack that have been traced; under @lock
 * @work: continues when a softirq has used up its budget
 * @flows: source ports of data
 */
struct pib_udp_sock_end {
	struct socket *socket;
	struct pib_udp_sock *sock;
	int family;
	spinlock_t lock;
	u32 overruns;
	struct work_struct work;
	struct pib_flow_ports flows;
};

/**
 * struct pib_udp_sock_ops - who takes in what is no data
 * @control: takes in a datagram that is neither DATA nor SEGMENT nor CREDIT: its first
 *	PIB_HELLO_WIRE_LEN bytes, or all of it if it is shorter, and its length
 * @former: takes in a datagram of version PIB_DG_FORMER, of which it is given the same
 *
 * Both are called with softirqs off, under RCU.
 */
struct pib_udp_sock_ops {
	void (*control)(struct pib_udp_sock *sock, const struct pib_addr *from,
			const struct pib_hello_way *way, const u8 *buf, u32 len);
	void (*former)(struct pib_udp_sock *sock, const struct pib_addr *from,
		       const struct pib_hello_way *way, const u8 *buf, u32 len);
};

/**
 * struct pib_udp_sock - the place of a netdev and UDP port in a namespace
 * @entry: in pn->udp_socks; written under pn->lock, read under RCU
 * @users: bearers that use it; under pn->lock
 * @pn: namespace; never changes
 * @ifindex: the netdev; never changes. No reference is held on it
 * @port: UDP port, host order; never changes
 * @ops: who takes in what is no data; never changes
 * @mac: the netdev's MAC address, or a random substitute, in 48 bits; never changes
 * @mtu: the netdev's, followed by its notifier
 * @running: the netdev is up and has a carrier, and is no port of a bridge or a bond
 * @gone: the netdev has been unregistered
 * @rejoin: the netdev has come up, or has another MTU: pib_udp_sock_rejoin() is due
 * @label_secret: of the flow labels of what is sent; never changes
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
	const struct pib_udp_sock_ops *ops;
	u64 mac;
	u32 mtu;
	bool running;
	bool gone;
	bool rejoin;
	u64 label_secret[2];
	struct pib_udp_sock_end end[2];
	struct list_head bearers;
	struct pib_udp_stats __percpu *stats;
};

/**
 * pib_udp_sock_get() - find or make the sockets of a netdev, and become a user of them
 * @pn: namespace
 * @ifindex: netdev
 * @port: UDP port, host order
 * @ops: who takes in what is no data; the same for all sockets
 * @extack: set to the reason of an error but -ENOMEM
 *
 * Context: process; pn->lock held, RTNL not; sleeps.
 * Return: the sockets; ERR_PTR(): -ENODEV: there is no such netdev; -EADDRINUSE: the port is taken;
 *	-ENOMEM; else the stack's error.
 */
struct pib_udp_sock *pib_udp_sock_get(struct pib_net *pn, int ifindex, u16 port,
				      const struct pib_udp_sock_ops *ops,
				      struct netlink_ext_ack *extack);
/*
 * Drop a user; the last one closes the sockets, after which no CPU takes anything in by them.
 * Context: process; pn->lock held; sleeps.
 */
void pib_udp_sock_put(struct pib_udp_sock *sock);

/*
 * Have @sk, which is read in softirqs, poll no netdev's queue when it is empty: that queue may be
 * the one whose poll has called. Context: process; @sk locked.
 */
void pib_udp_sock_no_busy_poll(struct sock *sk);

/**
 * struct pib_udp_route - the way to an address
 * @dst: the stack's route
 * @mtu: bytes of the largest IP packet that is known to go there in one piece
 * @port: UDP source port: that of the sockets, or for data another one
 * @label: IPv6: flow label, 0: none
 * @v4: own address
 * @v6: own address
 */
struct pib_udp_route {
	struct dst_entry *dst;
	u32 mtu;
	__be16 port;
	__be32 label;
	union {
		__be32 v4;
		struct in6_addr v6;
	};
};

/**
 * pib_udp_sock_route() - find the way to an address
 * @sock: sockets
 * @to: address. The own one that it names is taken, if this host has that still
 * @cache: keeps the route, and the own address; or NULL
 * @route: result, with a reference on @dst for pib_udp_sock_send() or dst_release()
 *
 * Context: softirqs off.
 * Return: 0; -ENETDOWN: the netdev does not run; -EAFNOSUPPORT: there is no socket of that family;
 *	-EADDRNOTAVAIL: the netdev has no IPv4 address; else the stack's error.
 */
int pib_udp_sock_route(struct pib_udp_sock *sock, const struct pib_addr *to,
		       struct dst_cache *cache, struct pib_udp_route *route);
/*
 * Return: true if @to names an own address and this host has that, on whatever netdev. Context:
 * any.
 */
bool pib_udp_sock_has_own(const struct pib_udp_sock *sock, const struct pib_addr *to);
/**
 * pib_udp_sock_send() - send a datagram, or a super-packet of them
 * @sock: sockets
 * @skb: UDP payload, with PIB_UDP_SOCK_HEADROOM in front; consumed
 * @to: receiver
 * @route: the way there; its reference is consumed
 * @tos: DSCP and ECN, as IPv4 and IPv6 carry them; skb->priority does not follow it
 *
 * Routers must not fragment datagrams no larger than the route's MTU: they report a smaller MTU.
 * Datagrams of which the stack says that it has dropped them at once are counted as tx_dropped, and
 * traced. It does not tell of all drops (docs/architecture/underlay.md).
 *
 * Context: softirqs off.
 */
void pib_udp_sock_send(struct pib_udp_sock *sock, struct sk_buff *skb, const struct pib_addr *to,
		       const struct pib_udp_route *route, u8 tos);
/* Bytes before the UDP payload: headers of the netdev, of IPv6 (40) and UDP (8). */
#define PIB_UDP_SOCK_HEADROOM (MAX_HEADER + 48)

/**
 * struct pib_udp_lane - the way that data takes through the network
 * @port: UDP source port
 * @label: IPv6: flow label
 * @tos: DSCP and ECN
 */
struct pib_udp_lane {
	__be16 port;
	__be32 label;
	u8 tos;
};

/* How much of the stack a burst may find in use, and leave */
enum pib_udp_room {
	PIB_UDP_ROOM_DATA,
	PIB_UDP_ROOM_BARE,	/* ACKs, NAKs, and requests without data that draw an answer */
	PIB_UDP_ROOM_AHEAD,	/* management, a VL that has little on its way, a QP's last ACK */
};

/*
 * Return: true if the stack already holds its fill of data sent by the protocol of @to, as far as
 * bursts may have it that use @room. The stack holds a datagram until the netdev has sent it, or a
 * receiver in this kernel (veth, loopback) has taken it. Context: any.
 */
bool pib_udp_sock_full(const struct pib_udp_sock *sock, const struct pib_addr *to,
		       enum pib_udp_room room);
/* Return: true if the stack holds any data that pib has sent from @net. Context: any. */
bool pib_udp_socks_in_flight(struct net *net);

/*
 * Send a control datagram of @len bytes, with DSCP 0 and the hop limit that shows a receiver on the
 * link that the sender is on it, too (RFC 5082). An error is counted as tx_errors, but for a group
 * to which there is no route. Context: softirqs off.
 */
void pib_udp_sock_send_control(struct pib_udp_sock *sock, const void *data, u32 len,
			       const struct pib_addr *to);
/*
 * As pib_udp_sock_send_control(), but by the way of data, which is not overtaken then. Context: as
 * there.
 */
void pib_udp_sock_send_beside(struct pib_udp_sock *sock, const void *data, u32 len,
			      const struct pib_addr *to, const struct pib_udp_lane *lane);
/*
 * As pib_udp_sock_send_control(), from a flow's port; if there is none, nothing is sent. Context:
 * as there.
 */
void pib_udp_sock_send_probe(struct pib_udp_sock *sock, const void *data, u32 len,
			     const struct pib_addr *to);

/* Have the ports of flows open, or not. Context: process; sock->pn->lock held; sleeps. */
void pib_udp_sock_set_flows(struct pib_udp_sock *sock, bool open);

/*
 * IP does not see packets at a port of a bridge or a bond: they are for that.
 *
 * Context: RTNL held.
 * Return: the bridge, bond or team of which @dev is a port; NULL: there is none.
 */
const struct net_device *pib_udp_sock_master(struct net_device *dev);

/* Join the discovery groups again, when the netdev has come up. Context: process; sleeps. */
void pib_udp_sock_rejoin(struct pib_udp_sock *sock);

/*
 * Return: number of datagrams that the stack has dropped before we saw them, modulo 2^32. Context:
 * any; the sockets stay.
 */
u32 pib_udp_sock_overruns(const struct pib_udp_sock *sock);
/* Sum up the counters of all CPUs in @out. Context: any. */
void pib_udp_sock_stats(const struct pib_udp_sock *sock, struct pib_udp_stats *out);

#endif
