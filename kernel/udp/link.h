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
	PIB_UDP_LINK_EXPLICIT,	/* asked for here, to one address */
};

/**
 * struct pib_upath - what the data path must know of a session; replaced as a whole
 * @peer: addresses by which the peer may send, IPv4 and IPv6
 * @to: which of @peer is sent to
 * @remote_id: link id that the peer wants
 * @nonce: own session
 * @peer_nonce: the peer's
 * @tx_tag: in every datagram that is sent
 * @rx_tag: in every datagram that is taken
 * @noicrc: both ends do without ICRC
 * @segments: the peer knows segments
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
	struct pib_seal *seal;
	struct dst_cache cache;
	struct rcu_head rcu;
};

/**
 * struct pib_udp_link - a link over UDP
 * @base: what the port sees of it
 * @entry: in bearer->udp_links; written under pn->lock, read under RCU
 * @dead_entry: in the list of those that are being taken apart
 * @bearer: what carries the link; never changes
 * @port: port under which the cable is plugged in; never changes
 * @kind: enum pib_udp_link_kind; never changes
 * @peer_guid: found by discovery or accepted: the peer's node; never changes
 * @peer_port_num: accepted: the peer's port; never changes
 * @holds_bearer: the link was asked for by itself, not with an HCA, and is a user of @bearer
 * @id: place in dumps; never changes
 * @path: RCU; NULL while there is no session
 * @frames: being put together
 * @frame_no: number of the last frame sent; goes on from path to path
 * @lock: softirqs off; guards the next fields. Taken before node locks
 * @fsm: session
 * @seal: keyed fabrics: of the present session or the last one, NULL: there was none, or its key
 *	is to be forgotten
 * @peer: known addresses of the peer, IPv4 and IPv6
 * @to: which of @peer is sent to
 * @lids: LIDs that the peer says are behind it (standalone)
 * @num_lids: entries in @lids
 * @born: when the peer was last heard or the link was made, ns
 * @overruns: what the sockets had dropped when @timer last looked
 * @bounce: a session was lost since @work looked
 * @refused: enum pib_hello_refusal, as the peer has told since the link was last up
 * @refused_at: when the peer last told so, ns
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
	u64 born;
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

/* The link plugged into @port; NULL: none, or a cable inside this kernel. view_lock held. */
static inline struct pib_udp_link *pib_kport_udp_link(const struct pib_kport *port)
{
	struct pib_link *base = rcu_dereference_protected(port->link, true);

	return base ? to_udp_link(base) : NULL;
}

/**
 * pib_udp_link_create() - plug a cable that leads to another host into a port
 * @bearer: bearer over which the link goes
 * @port: port into which nothing is plugged
 * @kind: enum pib_udp_link_kind
 * @peer: the peer's address
 * @h: what the peer has said, or NULL
 *
 * Context: process; pn->lock held.
 * Return: the link; ERR_PTR(): no memory.
 */
struct pib_udp_link *pib_udp_link_create(struct pib_bearer *bearer, struct pib_kport *port, u8 kind,
					 const struct pib_addr *peer, const struct pib_hello *h);
/*
 * Say goodbye, take the port down, and put the link on @dead, for pib_udp_link_free(). pn->lock
 * held.
 */
void pib_udp_link_unplug(struct pib_udp_link *link, struct list_head *dead);
/*
 * Free links that were unplugged, before their ports are. pn->lock held since
 * pib_udp_link_unplug(); sleeps for a grace period.
 */
void pib_udp_link_free(struct list_head *dead);

/* A control datagram came in that is for this link. Softirqs off, RCU. */
void pib_udp_link_control(struct pib_udp_link *link, const struct pib_addr *from,
			  const struct pib_hello *h, u8 type);
/*
 * The same for a control datagram that is not authentic. If it answers this link's hello, the user
 * is to know that the keys differ. Nothing else follows from it. Softirqs off, RCU.
 */
void pib_udp_link_other_key(struct pib_udp_link *link, const struct pib_addr *from,
			    const struct pib_hello *h);
/*
 * Is @h from the port that was discovered or accepted? True if the user named an address. Any
 * context.
 */
bool pib_udp_link_is_peer(const struct pib_udp_link *link, const struct pib_hello *h);
/* Why the peer has no port for this link; NULL: it does not say so (any more). link->lock held. */
const char *pib_udp_link_refusal(const struct pib_udp_link *link);
/**
 * pib_upath_find() - the session that a datagram with data claims to belong to
 * @sock: sockets by which it came
 * @id: link id in its link header
 * @tag: tag in its link header
 * @from: sender
 * @link: the link is left there; NULL if there is none
 *
 * Context: softirqs off, RCU.
 * Return: NULL: the datagram is counted, and to be forgotten.
 */
struct pib_upath *pib_upath_find(struct pib_udp_sock *sock, u32 id, u16 tag,
				 const struct pib_addr *from, struct pib_udp_link **link);
/* Start a new session: the peer sees a cable pulled and, unless @down, put back. Softirqs off. */
void pib_udp_link_restart(struct pib_udp_link *link, bool down);
/*
 * The fabric has other keys. A session whose key is not the first one any more, or whose peer's is
 * none of them, gives way to a new one. RCU, softirqs off; pn->lock held.
 */
void pib_udp_link_rekey(struct pib_udp_link *link, const struct pib_keys *keys);
/* Is there a session whose peer speaks by the second key? link->lock held. */
bool pib_udp_link_by_second_key(const struct pib_udp_link *link);
/* A discovery hello of the peer came from @from. Softirqs off. */
void pib_udp_link_heard(struct pib_udp_link *link, const struct pib_addr *from);
/* Has the link been idle for so long that it is to be given up at @now (ns)? Process or softirq. */
bool pib_udp_link_expired(struct pib_udp_link *link, u64 now);
/* Bring the port in line with the session. pn->link_lock held. */
void pib_udp_link_settle(struct pib_udp_link *link);

#endif
