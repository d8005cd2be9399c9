// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Links over UDP: the session with the other end (proto/link.c) and what it
 * means for the port.
 *
 * The session is kept under the link's own lock, in softirqs: a busy system
 * does not make its links look dead. What the session means is carried to the
 * port by a work item (pib_udp_link_settle()), under the namespace's link_lock.
 * The data path sees neither: it reads one immutable struct pib_upath.
 */
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "udp/keys.h"
#include "fabric/cable.h"
#include "core/net.h"
#include "core/notify.h"
#include "fabric/impair.h"
#include "udp/standalone_lid.h"
#include "fabric/port.h"
#include "fabric/switch.h"
#include "udp/link.h"
#include "udp/seal.h"
#include "udp/answer.h"
#include "udp/bearer.h"
#include "udp/hello.h"
#include "udp/wire.h"
#include "tracing/fabric.h"

/* Each hello is refused by itself, so a refusal that is older than this does not count any more. */
#define PIB_UDP_LINK_REFUSED_NS	(10 * PIB_NSEC_PER_SEC)

#define link_dbg(link, fmt, ...)								\
	pr_debug("pib: %.64s, port %u: " fmt "\n", (link)->port->p.node->desc,			\
		 (link)->port->p.num, ##__VA_ARGS__)

static struct pib_net *udp_link_net(const struct pib_udp_link *link)
{
	return link->bearer->sock->pn;
}

static unsigned int addr_slot(const struct pib_addr *a)
{
	return a->family == AF_INET6;
}

static u64 new_nonce(void)
{
	u64 nonce;

	do
		nonce = get_random_u64();
	while (!nonce);
	return nonce;
}

/* ---- the data path's view ---- */

static bool upath_admits(const struct pib_upath *path, const struct pib_addr *from)
{
	return pib_addr_equal(&path->peer[addr_slot(from)], from);
}

struct pib_upath *pib_upath_find(struct pib_udp_sock *sock, u32 id, u16 tag,
				 const struct pib_addr *from, struct pib_udp_link **link)
{
	struct pib_upath *path;

	*link = xa_load(&sock->pn->links, id);
	path = *link && (*link)->bearer->sock == sock ? rcu_dereference((*link)->path) : NULL;
	if (!path || path->rx_tag != tag) {
		pib_udp_sock_drop(sock, rx_unknown_link);
		return NULL;
	}
	if (!upath_admits(path, from)) {
		pib_udp_sock_drop(sock, rx_wrong_addr);
		return NULL;
	}
	return path;
}

static void upath_free(struct rcu_head *rcu)
{
	struct pib_upath *path = container_of(rcu, struct pib_upath, rcu);

	dst_cache_destroy(&path->cache);
	pib_seal_put(path->seal);
	kfree(path);
}

static bool peer_wants_noicrc(const struct pib_link_fsm *f)
{
	return f->peer_caps & PIB_CAP_NOICRC;
}

static bool peer_knows_segments(const struct pib_link_fsm *f)
{
	return f->peer_caps & PIB_CAP_SEGMENTS;
}

static bool peer_tells_marks(const struct pib_link_fsm *f)
{
	return f->peer_caps & PIB_CAP_ECN;
}

/**
 * struct end_keys - the fabric's keys that the two ends of a session use
 * @own: this end's; NULL: the fabric has none
 * @peer: the peer's; NULL: the fabric has none
 */
struct end_keys {
	const struct pib_auth *own;
	const struct pib_auth *peer;
};

/*
 * Find the keys of the session. Context: RCU.
 *
 * Return: false: a key was dropped, and the session is about to go.
 */
static bool end_keys_get(const struct pib_udp_link *link, struct end_keys *e)
{
	const struct pib_keys *keys = rcu_dereference(link->bearer->keys);

	lockdep_assert_held(&link->lock);
	*e = (struct end_keys) {};
	if (!keys)
		return true;
	e->own = pib_keys_find(keys, link->fsm.key);
	e->peer = pib_keys_find(keys, link->fsm.peer_key);
	return e->own && e->peer;
}

static u16 data_tag(const struct pib_auth *auth, u64 to, u64 from)
{
	return auth ? pib_auth_tag(auth, to, from) : pib_link_tag(to);
}

/* Return: true if the link's seal is that of the present session with the peer's. */
static bool seal_is_present(const struct pib_udp_link *link)
{
	const struct pib_seal *seal = link->seal;

	lockdep_assert_held(&link->lock);
	return seal && seal->nonce == link->fsm.nonce && seal->peer_nonce == link->fsm.peer_nonce;
}

/*
 * Make the seal of the session, if it has none yet. The seal outlives the session's paths: if each
 * path began with new counters, these would be used twice with one key.
 *
 * Return: false: no memory; then there must be no path.
 */
static bool udp_link_seal(struct pib_udp_link *link, const struct end_keys *e)
{
	lockdep_assert_held(&link->lock);
	if (!e->own || seal_is_present(link))
		return true;
	pib_seal_put(link->seal);
	link->seal = pib_seal_alloc(e->own, e->peer, link->fsm.nonce, link->fsm.peer_nonce);
	return link->seal;
}

/* Make a path for the present session. Context: RCU. Return: NULL: no memory, or a key is gone. */
static struct pib_upath *upath_make(struct pib_udp_link *link)
{
	struct pib_upath *path;
	struct end_keys e;

	if (!end_keys_get(link, &e) || !udp_link_seal(link, &e))
		return NULL;
	path = kzalloc(sizeof(*path), GFP_ATOMIC);
	if (!path)
		return NULL;
	if (dst_cache_init(&path->cache, GFP_ATOMIC)) {
		kfree(path);
		return NULL;
	}
	memcpy(path->peer, link->peer, sizeof(path->peer));
	path->to = link->to;
	path->remote_id = link->fsm.remote_id;
	path->nonce = link->fsm.nonce;
	path->peer_nonce = link->fsm.peer_nonce;
	path->tx_tag = data_tag(e.own, path->peer_nonce, path->nonce);
	path->rx_tag = data_tag(e.peer, path->nonce, path->peer_nonce);
	path->noicrc = peer_wants_noicrc(&link->fsm);
	path->segments = peer_knows_segments(&link->fsm);
	path->ecn = peer_tells_marks(&link->fsm);
	path->seal = pib_seal_get(link->seal);
	return path;
}

static bool upath_current(const struct pib_udp_link *link, const struct pib_upath *path)
{
	return path->remote_id == link->fsm.remote_id && path->to == link->to &&
	       path->nonce == link->fsm.nonce && path->peer_nonce == link->fsm.peer_nonce &&
	       path->noicrc == peer_wants_noicrc(&link->fsm) &&
	       path->segments == peer_knows_segments(&link->fsm) &&
	       path->ecn == peer_tells_marks(&link->fsm) &&
	       !memcmp(path->peer, link->peer, sizeof(path->peer));
}

static void udp_link_notify(const struct pib_udp_link *link, u8 kind)
{
	const struct pib_note_udp udp = {
		.ifindex = link->bearer->sock->ifindex,
		.peer = &link->peer[link->to],
		.up = rcu_access_pointer(link->path),
		.second_key = pib_udp_link_by_second_key(link),
		.restarts = link->fsm.restarts,
		.guid = link->fsm.peer_node_guid,
		.port_num = link->fsm.peer_port_num,
		.desc = link->fsm.peer_desc,
	};
	const struct pib_note note = {
		.pn = udp_link_net(link),
		.kind = kind,
		.a = pib_kport_note_end(link->port),
		.udp = &udp,
		.is_auto = link->port->is_auto,
	};

	lockdep_assert_held(&link->lock);
	pib_notify(&note);
}

/* Tell listeners that the session has @path instead of @old; NULL: none. */
static void udp_link_notify_path(const struct pib_udp_link *link, const struct pib_upath *old,
				 const struct pib_upath *path)
{
	if (!path)
		udp_link_notify(link, PIB_EVENT_KIND_SESSION_DOWN);
	else if (!old)
		udp_link_notify(link, PIB_EVENT_KIND_SESSION_UP);
	else if (old->nonce != path->nonce || old->peer_nonce != path->peer_nonce)
		udp_link_notify(link, PIB_EVENT_KIND_SESSION_ANEW);
	else if (!pib_addr_equal(&old->peer[old->to], &path->peer[path->to]))
		udp_link_notify(link, PIB_EVENT_KIND_SESSION_MOVED);
}

/* Bring the path in line with the session. */
static void udp_link_update_path(struct pib_udp_link *link)
{
	struct pib_upath *old, *path = NULL;
	bool is_up = link->fsm.state == PIB_LINK_UP && !link->dead;

	lockdep_assert_held(&link->lock);
	old = rcu_dereference_protected(link->path, lockdep_is_held(&link->lock));
	if (is_up && old && upath_current(link, old))
		return;
	if (is_up) {
		rcu_read_lock();
		path = upath_make(link);
		rcu_read_unlock();
	}
	if (!old && !path)
		return;
	link_dbg(link, "%s with %.64s", path ? "session" : "no session any more",
		 link->fsm.peer_desc);
	rcu_assign_pointer(link->path, path);
	udp_link_notify_path(link, old, path);
	if (old)
		call_rcu(&old->rcu, upath_free);
}

/* ---- hello ---- */

/**
 * struct outgoing - a control datagram built under the lock, to be sent outside of it
 * @len: bytes; 0: there is none
 * @to: where to
 * @bytes: the datagram
 */
struct outgoing {
	size_t len;
	struct pib_addr to;
	u8 bytes[PIB_HELLO_WIRE_LEN];
};

/* Write the authentication bytes, if the fabric has keys. Return: -errno: do not send @bytes. */
static int udp_link_authenticate(const struct pib_udp_link *link, u8 *bytes)
{
	const struct pib_auth *own;
	struct pib_keys *keys;
	int err = 0;

	lockdep_assert_held(&link->lock);
	rcu_read_lock();
	keys = rcu_dereference(link->bearer->keys);
	if (keys) {
		own = pib_keys_find(keys, link->fsm.key);
		err = own ? pib_auth_seal(own, bytes) : -ENOKEY;
	}
	rcu_read_unlock();
	return err;
}

static void udp_link_build(struct pib_udp_link *link, struct outgoing *o)
{
	struct pib_hello h = {};

	lockdep_assert_held(&link->lock);
	pib_bearer_fill_hello(link->bearer, link->port, &h);
	if (link->kind == PIB_UDP_LINK_TRUNK)
		h.caps |= PIB_CAP_AUTO;
	o->to = link->peer[link->to];
	o->len = pib_link_build(&link->fsm, &h, ktime_get_ns(), o->bytes);
	if (udp_link_authenticate(link, o->bytes))
		o->len = 0;
}

static void udp_link_send(struct pib_udp_link *link, const struct outgoing *o)
{
	if (o->len && o->to.family && READ_ONCE(link->bearer->sock->running))
		pib_udp_sock_send_control(link->bearer->sock, o->bytes, o->len, &o->to);
}

static void udp_link_rearm(struct pib_udp_link *link)
{
	u64 now = ktime_get_ns(), deadline = pib_link_deadline(&link->fsm);

	lockdep_assert_held(&link->lock);
	if (link->dead || deadline == PIB_LINK_NEVER)
		return;
	mod_timer(&link->timer,
		  jiffies + (deadline > now ? nsecs_to_jiffies(deadline - now) : 0) + 1);
}

/* Carry out @todo, which the state machine has returned. */
static void udp_link_act(struct pib_udp_link *link, u32 todo, struct outgoing *o)
{
	lockdep_assert_held(&link->lock);
	if (todo & PIB_LINK_DO_REJECT)
		pib_udp_sock_drop(link->bearer->sock, rx_bad_hello);
	if (todo & PIB_LINK_DO_DOWN)
		link->bounce = true;
	if (todo & PIB_LINK_DO_SEND)
		udp_link_build(link, o);
	udp_link_update_path(link);
	udp_link_rearm(link);
	queue_work(pib_wq, &link->work);
}

/*
 * Tell the state machine if our sockets have dropped datagrams since the last look: those of the
 * peer may be among them.
 */
static void udp_link_own_losses(struct pib_udp_link *link)
{
	u32 overruns = pib_udp_sock_overruns(link->bearer->sock);

	if (overruns != link->overruns)
		pib_link_deaf(&link->fsm, ktime_get_ns());
	link->overruns = overruns;
}

static void udp_link_tick(struct pib_udp_link *link, struct outgoing *o)
{
	u32 todo;

	lockdep_assert_held(&link->lock);
	udp_link_own_losses(link);
	todo = pib_link_timer(&link->fsm, ktime_get_ns());
	if (todo & PIB_LINK_DO_DOWN) {
		link_dbg(link, "%.64s is silent", link->fsm.peer_desc);
		/* The peer is lost: it may be reachable by its other address. */
		if (link->peer[!link->to].family)
			link->to = !link->to;
		udp_link_act(link, todo, o);
		return;
	}
	/* A peer with two addresses is called by each in turn. */
	if (todo & PIB_LINK_DO_SEND && link->fsm.state == PIB_LINK_IDLE &&
	    link->peer[!link->to].family)
		link->to = !link->to;
	if (todo & PIB_LINK_DO_SEND)
		udp_link_build(link, o);
	udp_link_rearm(link);
}

static void udp_link_timer(struct timer_list *t)
{
	struct pib_udp_link *link = container_of(t, struct pib_udp_link, timer);
	struct outgoing o = {};

	spin_lock(&link->lock);
	if (!link->dead)
		udp_link_tick(link, &o);
	spin_unlock(&link->lock);
	rcu_read_lock();
	udp_link_send(link, &o);
	rcu_read_unlock();
}

void pib_udp_link_restart(struct pib_udp_link *link, bool down)
{
	struct outgoing o = {};
	u32 todo;

	spin_lock_bh(&link->lock);
	if (!link->dead) {
		todo = pib_link_reset(&link->fsm, new_nonce(), down, ktime_get_ns());
		udp_link_act(link, todo, &o);
	}
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
}

void pib_udp_link_rekey(struct pib_udp_link *link, const struct pib_keys *keys)
{
	struct outgoing o = {};
	u32 todo;

	spin_lock_bh(&link->lock);
	if (!link->dead) {
		todo = pib_link_rekey(&link->fsm, pib_auth_id(keys->key), pib_keys_second_id(keys),
				      new_nonce(), ktime_get_ns());
		/* A pair of sessions never comes back, so its counters are not needed any more. */
		if (!seal_is_present(link)) {
			pib_seal_put(link->seal);
			link->seal = NULL;
		}
		udp_link_act(link, todo, &o);
	}
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
}

bool pib_udp_link_by_second_key(const struct pib_udp_link *link)
{
	lockdep_assert_held(&link->lock);
	return link->fsm.state == PIB_LINK_UP && link->fsm.peer_key != link->fsm.key;
}

/* ---- what is heard ---- */

bool pib_udp_link_is_peer(const struct pib_udp_link *link, const struct pib_hello *h)
{
	switch (link->kind) {
	case PIB_UDP_LINK_TRUNK:
		return link->peer_guid == h->node_guid;
	case PIB_UDP_LINK_ACCEPTED:
		return link->peer_guid == h->node_guid && link->peer_port_num == h->port_num;
	}
	return true;
}

/*
 * Check the sender of a hello, and learn the addresses of peers that were discovered.
 *
 * Return: true if the hello is the peer's.
 */
static bool udp_link_knows(struct pib_udp_link *link, const struct pib_addr *from, bool may_move,
			   const struct pib_hello *h)
{
	unsigned int slot = addr_slot(from);

	lockdep_assert_held(&link->lock);
	if (!pib_udp_link_is_peer(link, h))
		return false;
	if (pib_addr_equal(&link->peer[slot], from))
		return true;
	if (link->kind == PIB_UDP_LINK_EXPLICIT)
		return false;
	/* Whoever records the peer's datagrams must not move the link by sending them again. */
	if (link->fsm.state == PIB_LINK_UP ? !pib_link_is_next(&link->fsm, h) : !may_move)
		return false;
	link->peer[slot] = *from;
	return true;
}

static void udp_link_take_lids(struct pib_udp_link *link, const struct pib_hello *h)
{
	lockdep_assert_held(&link->lock);
	link->num_lids = h->caps & PIB_CAP_STANDALONE ? min_t(u8, h->num_lids, PIB_HELLO_LIDS) : 0;
	memcpy(link->lids, h->lids, link->num_lids * sizeof(link->lids[0]));
}

/*
 * Note why the peer refuses the link, for the user. The peer is asked again and again, so the log
 * has only changes of the reason.
 */
static void udp_link_note_refusal(struct pib_udp_link *link, u8 refusal)
{
	if (link->refused != refusal)
		net_warn_ratelimited("pib: %.64s, port %u: the peer refuses the link: %s\n",
				     link->port->p.node->desc, link->port->p.num,
				     pib_hello_refusal_text(refusal));
	link->refused = refusal;
	link->refused_at = ktime_get_ns();
}

static bool udp_link_is_refused(struct pib_udp_link *link, const struct pib_hello *h, u8 type)
{
	lockdep_assert_held(&link->lock);
	if (link->fsm.state == PIB_LINK_UP)
		link->refused = PIB_REFUSED_NOT;
	if (type != PIB_DG_BYE || !h->refusal || link->fsm.state == PIB_LINK_UP ||
	    h->peer_nonce != link->fsm.nonce)
		return false;
	udp_link_note_refusal(link, h->refusal);
	return true;
}

const char *pib_udp_link_refusal(const struct pib_udp_link *link)
{
	lockdep_assert_held(&link->lock);
	if (pib_link_key_unknown(&link->fsm))
		return "the peer does not know this host's key, but the second one";
	if (!link->refused || link->fsm.state == PIB_LINK_UP ||
	    ktime_get_ns() > link->refused_at + PIB_UDP_LINK_REFUSED_NS)
		return NULL;
	return pib_hello_refusal_text(link->refused);
}

void pib_udp_link_other_key(struct pib_udp_link *link, const struct pib_addr *from,
			    const struct pib_hello *h)
{
	spin_lock_bh(&link->lock);
	if (!link->dead && link->fsm.state != PIB_LINK_UP && h->peer_nonce == link->fsm.nonce &&
	    pib_addr_equal(&link->peer[addr_slot(from)], from))
		udp_link_note_refusal(link, PIB_REFUSED_KEY);
	spin_unlock_bh(&link->lock);
}

void pib_udp_link_control(struct pib_udp_link *link, const struct pib_addr *from, bool may_move,
			  const struct pib_hello *h, u8 type)
{
	struct outgoing o = {};
	u64 now = ktime_get_ns();
	u32 todo;

	spin_lock_bh(&link->lock);
	if (link->dead) {
		spin_unlock_bh(&link->lock);
		return;
	}
	if (!udp_link_knows(link, from, may_move, h)) {
		spin_unlock_bh(&link->lock);
		pib_udp_sock_drop(link->bearer->sock, rx_wrong_addr);
		return;
	}
	if (link->fsm.state != PIB_LINK_UP)
		link->to = addr_slot(from);
	if (!udp_link_is_refused(link, h, type)) {
		todo = pib_link_rx(&link->fsm, h, type, now);
		if (link->fsm.state == PIB_LINK_UP)
			link->alive_at = now;
		if (todo & PIB_LINK_DO_LEARN)
			udp_link_take_lids(link, h);
		udp_link_act(link, todo, &o);
	}
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
}

void pib_udp_link_heard(struct pib_udp_link *link, const struct pib_addr *from)
{
	unsigned int slot = addr_slot(from);
	struct outgoing o = {};

	spin_lock_bh(&link->lock);
	if (!link->dead && link->kind == PIB_UDP_LINK_TRUNK && link->fsm.state != PIB_LINK_UP) {
		link->peer[slot] = *from;
		link->to = slot;
		if (pib_link_may_reply(&link->fsm, 0, ktime_get_ns()))
			udp_link_build(link, &o);
	} else if (!link->dead && link->kind == PIB_UDP_LINK_TRUNK && !link->peer[slot].family) {
		link->peer[slot] = *from;
		udp_link_update_path(link);
	}
	spin_unlock_bh(&link->lock);
	udp_link_send(link, &o);
}

/* ---- what it means for the port ---- */

/**
 * struct verdict - the session as the port shall see it
 * @up: the link is up
 * @bounce: the link was down in between
 * @far: what the other end can do
 * @lids: LIDs behind the other end
 * @num_lids: entries in @lids
 */
struct verdict {
	bool up;
	bool bounce;
	struct pib_far far;
	u8 num_lids;
	u16 lids[PIB_HELLO_LIDS];
};

static void udp_link_judge(struct pib_udp_link *link, struct verdict *v)
{
	spin_lock_bh(&link->lock);
	v->up = !link->dead && link->fsm.plugged && READ_ONCE(link->bearer->sock->running);
	v->bounce = link->bounce;
	link->bounce = false;
	v->far.mtu_cap = link->fsm.peer_mtu_cap;
	v->far.width_en = link->fsm.peer_width_en;
	v->far.speed_en = link->fsm.peer_speed_en;
	v->far.ext_speed_en = link->fsm.peer_ext_speed_en;
	v->num_lids = v->up ? link->num_lids : 0;
	memcpy(v->lids, link->lids, sizeof(v->lids));
	spin_unlock_bh(&link->lock);
}

static bool lid_listed(const u16 *lids, unsigned int n, u16 lid)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (lids[i] == lid)
			return true;
	return false;
}

/* Return: the link that @lid, not our own, is forwarded to; NULL: none. Context: link_lock, RCU. */
static struct pib_udp_link *route_holder(const struct pib_switch *sw, u16 lid)
{
	u8 port = READ_ONCE(sw->nd.node.lft[lid]);
	const struct pib_link *base;

	if (!port || port > sw->nd.node.num_ports)
		return NULL;
	base = rcu_dereference(sw->nd.ports[port]->link);
	return base ? to_udp_link(base) : NULL;
}

/*
 * Forward @lid to the peer, which announces it. If another peer announces it, too, both have given
 * the LID to themselves, and the one whose node GUID is higher will keep it.
 *
 * Return: true if @lid is forwarded to this peer.
 */
static bool route_take(struct pib_udp_link *link, u16 lid)
{
	const struct pib_udp_link *holder;
	bool mine;

	if (!lid || lid >= PIB_LID_MCAST_FIRST || pib_bearer_has_lid(link->bearer, lid))
		return false;
	rcu_read_lock();
	holder = route_holder(link->port->sw, lid);
	mine = !holder || holder == link ||
	       READ_ONCE(link->fsm.peer_node_guid) > READ_ONCE(holder->fsm.peer_node_guid);
	rcu_read_unlock();
	if (mine && holder != link)
		pib_switch_set_route(link->port->sw, lid, link->port->p.num);
	return mine;
}

/*
 * Stop forwarding @lid to the peer, which does not announce it any more. If @lid is forwarded to
 * another peer by now, it stays so. Return: true if the route was removed.
 */
static bool route_leave(struct pib_udp_link *link, u16 lid)
{
	struct pib_switch *sw = link->port->sw;

	if (READ_ONCE(sw->nd.node.lft[lid]) != link->port->p.num)
		return false;
	pib_switch_set_route(sw, lid, PIB_LFT_DROP);
	return true;
}

/* Let other links look again, since their peers may have LIDs that have become free. */
static void udp_link_offer_routes(const struct pib_udp_link *link)
{
	struct pib_udp_link *other;

	rcu_read_lock();
	list_for_each_entry_rcu(other, &link->bearer->udp_links, entry)
		if (other != link)
			queue_work(pib_wq, &other->work);
	rcu_read_unlock();
}

/* Without an SM: bring the host switch's routes in line with the LIDs that the peer announces. */
static void udp_link_route(struct pib_udp_link *link, const struct verdict *v)
{
	struct pib_switch *sw = link->port->sw;
	bool left = false;
	unsigned int i;

	lockdep_assert_held(&udp_link_net(link)->link_lock);
	if (!sw || !sw->nd.standalone)
		return;
	for (i = 0; i < link->num_routed; i++)
		if (!lid_listed(v->lids, v->num_lids, link->routed[i]))
			left |= route_leave(link, link->routed[i]);
	link->num_routed = 0;
	for (i = 0; i < v->num_lids; i++)
		if (route_take(link, v->lids[i]))
			link->routed[link->num_routed++] = v->lids[i];
	if (left)
		udp_link_offer_routes(link);
}

/*
 * Give up LIDs that the peer has given itself as well, unless our node GUID is higher: the host
 * with the higher one keeps them.
 */
static void udp_link_solve_conflicts(struct pib_udp_link *link, const struct verdict *v)
{
	struct pib_node *n = link->port->p.node;
	unsigned int i;

	if (n->guid > READ_ONCE(link->fsm.peer_node_guid))
		return;
	for (i = 0; i < v->num_lids; i++)
		pib_lid_move(link, v->lids[i]);
}

/* Note and trace that the link is up or down for its port. */
static void link_tell(struct pib_udp_link *link, bool up)
{
	link->is_up = up;
	link_dbg(link, "link %s", up ? "up" : "down");
	trace_pib_link(link->port->nd->name, link->port->p.num, up,
		       READ_ONCE(link->fsm.peer_node_guid), READ_ONCE(link->fsm.peer_port_num));
}

void pib_udp_link_settle(struct pib_udp_link *link)
{
	struct verdict v;

	lockdep_assert_held(&udp_link_net(link)->link_lock);
	udp_link_judge(link, &v);
	if (link->is_up && (!v.up || v.bounce)) {
		pib_kport_link_down(link->port);
		link_tell(link, false);
	}
	udp_link_solve_conflicts(link, &v);
	udp_link_route(link, &v);
	if (v.up && !link->is_up) {
		link_tell(link, true);
		pib_kport_link_up(link->port, &v.far);
	}
}

static void udp_link_work(struct work_struct *work)
{
	struct pib_udp_link *link = container_of(work, struct pib_udp_link, work);
	struct pib_net *pn = udp_link_net(link);

	mutex_lock(&pn->link_lock);
	pib_udp_link_settle(link);
	mutex_unlock(&pn->link_lock);
}

static void udp_link_bounce(struct pib_link *base)
{
	struct pib_udp_link *link = to_udp_link(base);

	lockdep_assert_held(&udp_link_net(link)->link_lock);
	local_bh_disable();
	rcu_read_lock();
	pib_udp_link_restart(link, base->cable_out || !pib_port_wants_link(&link->port->p));
	rcu_read_unlock();
	local_bh_enable();
	pib_udp_link_settle(link);
}

/* ---- what the port sees ---- */

static void udp_link_unplug(struct pib_link *base, struct list_head *dead)
{
	pib_udp_link_unplug(to_udp_link(base), dead);
}

static const struct pib_link_ops udp_link_ops = {
	.full = pib_wire_full,
	.xmit = pib_wire_xmit,
	.bounce = udp_link_bounce,
	.unplug = udp_link_unplug,
};

/* ---- creation ---- */

static const char *const kind_names[] = {
	[PIB_UDP_LINK_TRUNK] = "found by discovery",
	[PIB_UDP_LINK_ACCEPTED] = "asked for by the peer",
	[PIB_UDP_LINK_EXPLICIT] = "asked for here",
};

/*
 * Give the link an id, that of @said if there is one. Ids are random, so that whoever does not see
 * the traffic cannot name a link. Return: 0 or -errno.
 */
static int udp_link_register(struct pib_udp_link *link, const struct pib_udp_session *said, u32 *id)
{
	int tries, err = -EBUSY;

	if (said) {
		*id = said->id;
		return xa_insert_bh(&udp_link_net(link)->links, *id, link, GFP_KERNEL);
	}
	for (tries = 0; tries < 16 && err == -EBUSY; tries++) {
		*id = get_random_u32();
		if (*id)
			err = xa_insert_bh(&udp_link_net(link)->links, *id, link, GFP_KERNEL);
	}
	return err;
}

struct pib_udp_link *pib_udp_link_create(struct pib_bearer *bearer, struct pib_kport *port, u8 kind,
					 const struct pib_addr *peer, const struct pib_hello *h,
					 const struct pib_udp_session *said)
{
	const struct pib_keys *keys = pib_bearer_keys(bearer);
	struct pib_net *pn = bearer->sock->pn;
	struct pib_udp_link *link;
	u32 id;

	lockdep_assert_held(&pn->lock);
	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return ERR_PTR(-ENOMEM);
	link->base.ops = &udp_link_ops;
	link->bearer = bearer;
	link->port = port;
	link->kind = kind;
	link->id = ++pn->next_id;
	link->to = addr_slot(peer);
	link->peer[link->to] = *peer;
	link->made_at = ktime_get_ns();
	link->alive_at = link->made_at;
	if (h) {
		link->peer_guid = h->node_guid;
		link->peer_port_num = h->port_num;
	}
	spin_lock_init(&link->lock);
	pib_frames_init(&link->frames, bearer);
	timer_setup(&link->timer, udp_link_timer, 0);
	INIT_WORK(&link->work, udp_link_work);
	/* Once it has an id the link can be found, so it counts as dead until it is complete. */
	spin_lock_bh(&link->lock);
	link->dead = true;
	spin_unlock_bh(&link->lock);
	if (udp_link_register(link, said, &id)) {
		kfree(link);
		return ERR_PTR(-ENOMEM);
	}
	spin_lock_bh(&link->lock);
	if (said)
		pib_link_init_answered(&link->fsm, id, said->nonce);
	else
		pib_link_init(&link->fsm, id, new_nonce());
	if (keys) {
		link->fsm.key = pib_auth_id(keys->key);
		link->fsm.second_key = pib_keys_second_id(keys);
	}
	/* Do not call a peer that the user has not named: its hello may be a forgery. */
	link->fsm.passive = kind != PIB_UDP_LINK_EXPLICIT;
	/* Both ends of a trunk are passive, and discovery may be over when the session is lost. */
	link->fsm.recalls = kind == PIB_UDP_LINK_TRUNK;
	link->dead = false;
	udp_link_notify(link, PIB_EVENT_KIND_LINK_NEW);
	mod_timer(&link->timer, jiffies + 1);
	spin_unlock_bh(&link->lock);

	link_dbg(link, "link made, %s", kind_names[kind]);
	list_add_tail_rcu(&link->entry, &bearer->udp_links);
	rcu_assign_pointer(port->link, &link->base);
	pn->changes++;
	return link;
}

void pib_udp_link_unplug(struct pib_udp_link *link, struct list_head *dead)
{
	struct pib_net *pn = udp_link_net(link);
	struct outgoing o = {};

	lockdep_assert_held(&pn->lock);
	link_dbg(link, "link given up");
	pib_impair_drop(link->port);
	spin_lock_bh(&link->lock);
	if (link->fsm.state == PIB_LINK_UP) {
		pib_link_bye(&link->fsm);
		udp_link_build(link, &o);
	}
	link->dead = true;
	udp_link_update_path(link);
	udp_link_notify(link, PIB_EVENT_KIND_LINK_DEL);
	spin_unlock_bh(&link->lock);
	local_bh_disable();
	rcu_read_lock();
	udp_link_send(link, &o);
	rcu_read_unlock();
	local_bh_enable();

	if (link->kind != PIB_UDP_LINK_EXPLICIT &&
	    !pib_cookie_is_over(link->made_at, ktime_get_ns()))
		pib_answer_forget(link->bearer);
	xa_erase_bh(&pn->links, link->fsm.local_id);
	list_del_rcu(&link->entry);
	RCU_INIT_POINTER(link->port->link, NULL);
	mutex_lock(&pn->link_lock);
	pib_udp_link_settle(link);
	mutex_unlock(&pn->link_lock);
	list_add_tail(&link->dead_entry, dead);
	pn->changes++;
}

void pib_udp_link_free(struct list_head *dead)
{
	struct pib_udp_link *link, *tmp;
	struct pib_bearer *bearer;

	if (list_empty(dead))
		return;
	link = list_first_entry(dead, struct pib_udp_link, dead_entry);
	lockdep_assert_held(&udp_link_net(link)->lock);
	synchronize_rcu();
	list_for_each_entry_safe(link, tmp, dead, dead_entry) {
		timer_delete_sync(&link->timer);
		cancel_work_sync(&link->work);
		bearer = link->holds_bearer ? link->bearer : NULL;
		pib_frames_free(&link->frames);
		pib_seal_put(link->seal);
		kfree(link);
		if (bearer)
			pib_bearer_put(bearer);
	}
	INIT_LIST_HEAD(dead);
}
