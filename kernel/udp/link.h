/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Links over UDP: one end of a cable whose other end is elsewhere. */
#ifndef PIB_UDP_LINK_H
#define PIB_UDP_LINK_H

#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/dst_cache.h>
#include "fabric/link.h"
#include "fabric/port.h"
#include "proto/link.h"
#include "udp/reassembly.h"
#include "udp/socket.h"

struct pib_bearer;
struct pib_keys;
struct pib_seal;

enum pib_udp_link_kind {
	PIB_UDP_LINK_TRUNK,	/* found by discovery */
	PIB_UDP_LINK_ACCEPTED,	/* a peer asked for a port of the host switch */
	PIB_UDP_LINK_EXPLICIT,	/* made by the user, to one address */
};

/**
 * struct pib_upath - a session as the data path sees it; replaced as a whole
 * @peer: addresses from which the peer may send, IPv4 and IPv6
 * @to: index in @peer of the address to send to
 * @remote_id: link id that the peer wants
 * @nonce: own session
 * @peer_nonce: the peer's session
 * @tx_tag: tag of every datagram that is sent
 * @rx_tag: tag of every datagram that is taken
 * @noicrc: both ends do without ICRC
 * @segments: the peer knows segments
 * @ecn: the peer reports the network's marks
 * @seal: keyed fabrics: how data is sealed; else NULL
 * @cache: route
 * @rcu: freed after a grace period
 */
struct pib_upath {
	struct pib_addr peer[2];
	u8 to;
	u32 remote_id;
	u64 nonce;
	u64 peer_nonce;
	u16 tx_tag;
	u16 rx_tag;
	bool noicrc;
	bool segments;
	bool ecn;
	struct pib_seal *seal;
	struct dst_cache cache;
	struct rcu_head rcu;
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
 * @lock: softirqs off; guards the next fields. Taken before node locks
 * @fsm: session
 * @seal: keyed fabrics: seal of the present session or the last one. NULL: there was none, or its
 *	keys were dropped
 * @peer: known addresses of the peer, IPv4 and IPv6
 * @to: index in @peer of the address to send to
 * @lids: LIDs that the peer says are behind it (standalone)
 * @num_lids: entries in @lids
 * @made_at: when the link was made, ns; never changes
 * @alive_at: when the link was made, or its peer was last heard while it was up, ns
 * @overruns: number of datagrams that the sockets had dropped when @timer last looked
 * @bounce: a session was lost since @work looked
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
	struct pib_upath __rcu *path;
	struct pib_frames frames;
	atomic_t frame_no;

	spinlock_t lock;
	struct pib_link_fsm fsm;
	struct pib_seal *seal;
	struct pib_addr peer[2];
	u8 to;
	u16 lids[PIB_HELLO_LIDS];
	u8 num_lids;
	u64 made_at;
	u64 alive_at;
	u64 refused_at;
	u32 overruns;
	bool bounce;
	u8 refused;
	bool dead;
	struct timer_list timer;
	struct work_struct work;

	bool is_up;
	u16 routed[PIB_HELLO_LIDS];
	u8 num_routed;
};

static inline struct pib_udp_link *to_udp_link(const struct pib_link *base)
{
	return container_of(base, struct pib_udp_link, base);
}

/* Return: the link in @port; NULL: none, or a cable inside this kernel. Context: view_lock held. */
static inline struct pib_udp_link *pib_kport_udp_link(const struct pib_kport *port)
{
	struct pib_link *base = rcu_dereference_protected(port->link, true);

	return base ? to_udp_link(base) : NULL;
}

/**
 * struct pib_udp_session - the session in which a peer was answered before it had a link
 * @id: link id in the answer
 * @nonce: session
 */
struct pib_udp_session {
	u32 id;
	u64 nonce;
};

/**
 * pib_udp_link_create() - plug a cable that leads to another host into a port
 * @bearer: bearer over which the link goes
 * @port: port into which nothing is plugged
 * @kind: enum pib_udp_link_kind
 * @peer: the peer's address
 * @h: hello of the peer, or NULL
 * @said: session to continue, in which the peer was answered; NULL: a new one begins
 *
 * Context: process; pn->lock held.
 * Return: the link; ERR_PTR(): no memory, or the link id of @said is taken.
 */
struct pib_udp_link *pib_udp_link_create(struct pib_bearer *bearer, struct pib_kport *port, u8 kind,
					 const struct pib_addr *peer, const struct pib_hello *h,
					 const struct pib_udp_session *said);
/*
 * Say goodbye, take the port down, and put the link on @dead, for pib_udp_link_free(). Context:
 * process; pn->lock held.
 */
void pib_udp_link_unplug(struct pib_udp_link *link, struct list_head *dead);
/*
 * Free links that were unplugged, before their ports are freed. Context: pn->lock held since
 * pib_udp_link_unplug(); sleeps for a grace period.
 */
void pib_udp_link_free(struct list_head *dead);

/*
 * Take in a control datagram for this link. @may_move: see pib_hello_follows(). Context: softirqs
 * off, RCU.
 */
void pib_udp_link_control(struct pib_udp_link *link, const struct pib_addr *from, bool may_move,
			  const struct pib_hello *h, u8 type);
/*
 * Take in a control datagram for this link that is not authentic. If it answers this link's hello,
 * note for the user that the keys differ. Nothing else follows from it. Context: softirqs off, RCU.
 */
void pib_udp_link_other_key(struct pib_udp_link *link, const struct pib_addr *from,
			    const struct pib_hello *h);
/*
 * Return: true if @h comes from the port that was discovered or accepted, or if the user named an
 * address. Context: any.
 */
bool pib_udp_link_is_peer(const struct pib_udp_link *link, const struct pib_hello *h);
/*
 * Return: the reason for which the peer refuses the link; NULL: it does not refuse it, or not any
 * more. Context: link->lock held.
 */
const char *pib_udp_link_refusal(const struct pib_udp_link *link);
/**
 * pib_upath_find() - find the session that a datagram with data claims to belong to
 * @sock: sockets by which the datagram came
 * @id: link id in its link header
 * @tag: tag in its link header
 * @from: sender
 * @link: result: the link; NULL if there is none
 *
 * Context: softirqs off, RCU.
 * Return: the session; NULL: the datagram is counted, and must be dropped.
 */
struct pib_upath *pib_upath_find(struct pib_udp_sock *sock, u32 id, u16 tag,
				 const struct pib_addr *from, struct pib_udp_link **link);
/*
 * Start a new session: the peer sees a cable pulled and, unless @down, put back. Context: softirqs
 * off.
 */
void pib_udp_link_restart(struct pib_udp_link *link, bool down);
/*
 * Take the fabric's new keys into use. A session whose own key is not the first one any more, or
 * whose peer's key is none of them, is replaced by a new session. Context: RCU, softirqs off;
 * pn->lock held.
 */
void pib_udp_link_rekey(struct pib_udp_link *link, const struct pib_keys *keys);
/*
 * Return: true if there is a session and its ends use different keys, the peer the second one.
 * Context: link->lock held.
 */
bool pib_udp_link_by_second_key(const struct pib_udp_link *link);
/* Note that a discovery hello of the peer came from @from. Context: softirqs off. */
void pib_udp_link_heard(struct pib_udp_link *link, const struct pib_addr *from);
/* Bring the port in line with the session. Context: process; pn->link_lock held. */
void pib_udp_link_settle(struct pib_udp_link *link);

#endif
