/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Links over UDP: one end of a cable whose other end is elsewhere. */
#ifndef PIB_UDP_LINK_H
#define PIB_UDP_LINK_H

#include <linux/timer.h>
#include <linux/workqueue.h>
#include "core/parked.h"
#include "fabric/link.h"
#include "fabric/port.h"
#include "proto/credit.h"
#include "proto/session.h"
#include "udp/bearer.h"
#include "udp/reassembly.h"
#include "udp/socket.h"

struct pib_seal;
struct pib_udp_session;
struct pib_udp_path;

enum pib_udp_link_kind {
	PIB_UDP_LINK_TRUNK,	/* found by discovery */
	PIB_UDP_LINK_ACCEPTED,	/* a peer asked for a port of the host switch */
	PIB_UDP_LINK_EXPLICIT,	/* made by the user, who has named the peer's address */
};

/**
 * struct pib_udp_link - a link over UDP
 * @base: what the port sees of it
 * @entry: in bearer->udp_links; written under pn->lock, read under RCU
 * @dead_entry: in the list of links that are being taken apart
 * @bearer: what carries the link; never changes
 * @port: port under which the cable is plugged in; never changes
 * @kind: enum pib_udp_link_kind; never changes
 * @peer_guid: found by discovery or accepted: the peer's node; never changes
 * @peer_port_num: accepted: the peer's port; never changes
 * @holds_bearer: the user made the link by itself, not with an HCA: it is a user of @bearer
 * @id: place in dumps; never changes
 * @path: RCU; NULL while there is no session
 * @frames: frames that are being put together
 * @frame_no: number of the last frame sent; goes on from path to path
 * @credit_lock: softirqs off; guards @credits and @lane_tos. Nothing is taken under it
 * @credits: windows of the VLs
 * @lane_tos: by VL: DSCP of the data that was sent last
 * @parking: by VL: tasks that wait for its window
 * @lock: softirqs off; guards the next fields. Taken before node locks
 * @session: session
 * @seal: keyed fabrics: seal of the present session or the last one. NULL: there was none, or its
 *	keys were dropped
 * @named: explicit: the address that the user has named; never changes
 * @peer: known addresses of the peer, IPv4 and IPv6, and this end's own ones, at which the peer
 *	reaches it
 * @to: index in @peer of the address to send to
 * @lids: LIDs that the peer says are behind it (standalone)
 * @num_lids: entries in @lids
 * @made_at: when the link was made, ns; never changes
 * @alive_at: when the link was made, or its peer was last heard while it was up, ns
 * @overruns: number of datagrams that the sockets had dropped when @timer last looked
 * @moves: times that an address of either end has changed within a session
 * @losses: sessions lost so far; written under @lock
 * @settled: of @losses, those for which the port went down; written under pn->link_lock
 * @refused: the peer's reason for refusing since the link was last up, enum pib_hello_refusal
 * @refused_at: when the peer last refused, ns
 * @dead: the link is being taken apart
 * @timer: the state machine's
 * @work: takes the session's state to the port
 * @is_up: the port was told that the link is up; under pn->link_lock
 * @routed: of @lids, those that the host switch forwards by this link; under pn->link_lock
 * @num_routed: entries in @routed
 */
struct pib_udp_link {
	struct pib_link base;
	struct list_head entry;
	struct list_head dead_entry;
	struct pib_bearer *bearer;
	struct pib_kport *port;
	u8 kind;
	u8 peer_port_num;
	bool holds_bearer;
	u64 peer_guid;
	u32 id;
	struct pib_udp_path __rcu *path;
	struct pib_frames frames;
	atomic_t frame_no;
	spinlock_t credit_lock;
	struct pib_credits credits;
	u8 lane_tos[PIB_CREDIT_VLS];
	struct pib_parking parking[PIB_CREDIT_VLS];

	spinlock_t lock;
	struct pib_session session;
	struct pib_seal *seal;
	struct pib_addr named;
	struct pib_addr peer[2];
	u8 to;
	u16 lids[PIB_HELLO_LIDS];
	u8 num_lids;
	u64 made_at;
	u64 alive_at;
	u64 refused_at;
	u32 overruns;
	u32 moves;
	u32 losses;
	u32 settled;
	u8 refused;
	bool dead;
	struct timer_list timer;
	struct work_struct work;

	bool is_up;
	u16 routed[PIB_HELLO_LIDS];
	u8 num_routed;
};

/* Return: the link over UDP that @base is a part of. Context: any. */
static inline struct pib_udp_link *to_udp_link(const struct pib_link *base)
{
	return container_of(base, struct pib_udp_link, base);
}

/*
 * Return: the link in @port; NULL: none, or a cable inside this kernel. Context: pn->lock or
 * view_lock held.
 */
static inline struct pib_udp_link *pib_kport_udp_link(const struct pib_kport *port)
{
	struct pib_link *base = rcu_dereference_protected(port->link, true);

	return base ? to_udp_link(base) : NULL;
}

#define pib_udp_link_dbg(link, fmt, ...)					\
	pr_debug("pib: %.64s, port %u: " fmt "\n",				\
		 (link)->port->p.node->desc, (link)->port->p.num, ##__VA_ARGS__)

/* Return: the namespace of @link. Context: any. */
static inline struct pib_net *pib_udp_link_net(const struct pib_udp_link *link)
{
	return link->bearer->sock->pn;
}

/**
 * pib_udp_link_create() - plug a cable that leads to another host into a port
 * @bearer: bearer over which the link goes
 * @port: port into which nothing is plugged
 * @kind: enum pib_udp_link_kind
 * @peer: the peer's address; its family is AF_INET or AF_INET6
 * @h: hello of the peer, or NULL
 * @said: session to continue, in which the peer was answered; NULL: a new one begins
 *
 * Context: process; pn->lock held.
 * Return: the link, which is in the port and in @bearer's list; ERR_PTR(-ENOMEM): no memory, or the
 *	link id of @said is taken.
 */
struct pib_udp_link *pib_udp_link_create(struct pib_bearer *bearer, struct pib_kport *port, u8 kind,
					 const struct pib_addr *peer, const struct pib_hello *h,
					 const struct pib_udp_session *said);
/*
 * Say goodbye, take the port down, and put the link on @dead, for pib_udp_link_free(). Context:
 * process; pn->lock held, link_lock not; sleeps.
 */
void pib_udp_link_unplug(struct pib_udp_link *link, struct list_head *dead);
/*
 * Free links that were unplugged, before their ports are freed, and drop the bearers that they
 * hold. @dead is empty then. Context: process; pn->lock held since pib_udp_link_unplug(); sleeps
 * for a grace period.
 */
void pib_udp_link_free(struct list_head *dead);

/*
 * Return: true if the port is yet to go down for a session that was lost. Context: any; after the
 * link's path was found.
 */
static inline bool pib_udp_link_is_unsettled(const struct pib_udp_link *link)
{
	/*
	 * A loss is counted before the next session has a path: pairs with
	 * pib_udp_path_update().
	 */
	smp_rmb();
	/* Pairs with pib_udp_link_settle(): then the state of the port is seen, too. */
	return READ_ONCE(link->losses) != smp_load_acquire(&link->settled);
}

/*
 * Return: true if there is a session and its ends use different keys, the peer the second one.
 * Context: link->lock held.
 */
static inline bool pib_udp_link_by_second_key(const struct pib_udp_link *link)
{
	lockdep_assert_held(&link->lock);
	return link->session.state == PIB_SESSION_UP && link->session.peer_key != link->session.key;
}

#endif
