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
#include "udp/auth.h"
#include "fabric/cable.h"
#include "core/net.h"
#include "fabric/impair.h"
#include "udp/standalone_lid.h"
#include "fabric/port.h"
#include "fabric/switch.h"
#include "udp/link.h"
#include "udp/bearer.h"
#include "udp/wire.h"

/* A discovered link whose peer is silent is given up after this. */
#define PIB_UDP_LINK_EXPIRY_NS	(60 * PIB_NSEC_PER_SEC)
/* Hellos are refused one by one: a refusal that is older than this is no longer the peer's word. */
#define PIB_UDP_LINK_REFUSED_NS	(10 * PIB_NSEC_PER_SEC)

static struct pib_net *udp_link_net(const struct pib_udp_link *ul)
{
	return ul->bearer->sock->pn;
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

bool pib_upath_admits(const struct pib_upath *path, const struct pib_addr *from)
{
	return pib_addr_equal(&path->peer[addr_slot(from)], from);
}

static void upath_free(struct rcu_head *rcu)
{
	struct pib_upath *path = container_of(rcu, struct pib_upath, rcu);

	dst_cache_destroy(&path->cache);
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

static u16 data_tag(const struct pib_udp_link *ul, u64 to, u64 from)
{
	const struct pib_auth *auth = ul->bearer->auth;

	return auth ? pib_auth_tag(auth, to, from) : pib_link_tag(to);
}

static struct pib_upath *upath_make(const struct pib_udp_link *ul)
{
	struct pib_upath *path = kzalloc(sizeof(*path), GFP_ATOMIC);

	if (!path)
		return NULL;
	if (dst_cache_init(&path->cache, GFP_ATOMIC)) {
		kfree(path);
		return NULL;
	}
	memcpy(path->peer, ul->peer, sizeof(path->peer));
	path->to = ul->to;
	path->remote_id = ul->fsm.remote_id;
	path->nonce = ul->fsm.nonce;
	path->peer_nonce = ul->fsm.peer_nonce;
	path->tx_tag = data_tag(ul, path->peer_nonce, path->nonce);
	path->rx_tag = data_tag(ul, path->nonce, path->peer_nonce);
	path->noicrc = peer_wants_noicrc(&ul->fsm);
	path->segments = peer_knows_segments(&ul->fsm);
	return path;
}

static bool upath_current(const struct pib_udp_link *ul, const struct pib_upath *path)
{
	return path->remote_id == ul->fsm.remote_id && path->to == ul->to &&
	       path->nonce == ul->fsm.nonce && path->peer_nonce == ul->fsm.peer_nonce &&
	       path->noicrc == peer_wants_noicrc(&ul->fsm) &&
	       path->segments == peer_knows_segments(&ul->fsm) &&
	       !memcmp(path->peer, ul->peer, sizeof(path->peer));
}

/* Bring the path in line with the session. */
static void udp_link_update_path(struct pib_udp_link *ul)
{
	struct pib_upath *old, *path = NULL;
	bool is_up = ul->fsm.state == PIB_LINK_UP && !ul->dead;

	lockdep_assert_held(&ul->lock);
	old = rcu_dereference_protected(ul->path, lockdep_is_held(&ul->lock));
	if (is_up && old && upath_current(ul, old))
		return;
	if (!is_up && !old)
		return;
	if (is_up)
		path = upath_make(ul);
	rcu_assign_pointer(ul->path, path);
	if (old)
		call_rcu(&old->rcu, upath_free);
}

/* ---- hello ---- */

/**
 * struct outgoing - a control datagram built under the lock, to be sent outside of it
 * @len: 0: there is none
 * @to: where to
 * @bytes: it
 */
struct outgoing {
	size_t len;
	struct pib_addr to;
	u8 bytes[PIB_HELLO_WIRE_LEN];
};

static void udp_link_build(struct pib_udp_link *ul, struct outgoing *o)
{
	struct pib_hello h = {};

	lockdep_assert_held(&ul->lock);
	pib_bearer_fill_hello(ul->bearer, ul->port, &h);
	if (ul->kind == PIB_UDP_LINK_TRUNK)
		h.caps |= PIB_CAP_AUTO;
	o->to = ul->peer[ul->to];
	o->len = pib_link_build(&ul->fsm, &h, ktime_get_ns(), o->bytes);
	if (ul->bearer->auth && pib_auth_seal(ul->bearer->auth, o->bytes))
		o->len = 0;
}

static void udp_link_send(struct pib_udp_link *ul, const struct outgoing *o)
{
	if (o->len && o->to.family && READ_ONCE(ul->bearer->sock->running))
		pib_udp_sock_send_bytes(ul->bearer->sock, o->bytes, o->len, &o->to);
}

static void udp_link_rearm(struct pib_udp_link *ul)
{
	u64 now = ktime_get_ns(), deadline = pib_link_deadline(&ul->fsm);

	lockdep_assert_held(&ul->lock);
	if (ul->dead || deadline == PIB_LINK_NEVER)
		return;
	mod_timer(&ul->timer, jiffies + (deadline > now ? nsecs_to_jiffies(deadline - now) : 0) + 1);
}

/* Do what the state machine wants done. */
static void udp_link_act(struct pib_udp_link *ul, u32 todo, struct outgoing *o)
{
	lockdep_assert_held(&ul->lock);
	if (todo & PIB_LINK_DO_REJECT)
		pib_udp_sock_count(ul->bearer->sock, rx_bad_hello, 1);
	if (todo & PIB_LINK_DO_DOWN)
		ul->bounce = true;
	if (todo & PIB_LINK_DO_SEND)
		udp_link_build(ul, o);
	udp_link_update_path(ul);
	udp_link_rearm(ul);
	queue_work(pib_wq, &ul->work);
}

/* Were datagrams dropped at our sockets since the last look? The peer's may be among them. */
static void udp_link_own_losses(struct pib_udp_link *ul)
{
	u32 overruns = pib_udp_sock_overruns(ul->bearer->sock);

	if (overruns != ul->overruns)
		pib_link_deaf(&ul->fsm, ktime_get_ns());
	ul->overruns = overruns;
}

static void udp_link_tick(struct pib_udp_link *ul, struct outgoing *o)
{
	u32 todo;

	lockdep_assert_held(&ul->lock);
	udp_link_own_losses(ul);
	todo = pib_link_timer(&ul->fsm, ktime_get_ns());
	if (todo & PIB_LINK_DO_DOWN) {
		/* The peer is lost: it may be reachable by its other address. */
		if (ul->peer[!ul->to].family)
			ul->to = !ul->to;
		udp_link_act(ul, todo, o);
		return;
	}
	if (todo & PIB_LINK_DO_SEND)
		udp_link_build(ul, o);
	udp_link_rearm(ul);
}

static void udp_link_timer(struct timer_list *t)
{
	struct pib_udp_link *ul = container_of(t, struct pib_udp_link, timer);
	struct outgoing o = {};

	spin_lock(&ul->lock);
	if (!ul->dead)
		udp_link_tick(ul, &o);
	spin_unlock(&ul->lock);
	rcu_read_lock();
	udp_link_send(ul, &o);
	rcu_read_unlock();
}

void pib_udp_link_restart(struct pib_udp_link *ul, bool down)
{
	struct outgoing o = {};
	u32 todo;

	spin_lock_bh(&ul->lock);
	if (!ul->dead) {
		todo = pib_link_reset(&ul->fsm, new_nonce(), down, ktime_get_ns());
		udp_link_act(ul, todo, &o);
	}
	spin_unlock_bh(&ul->lock);
	udp_link_send(ul, &o);
}

/* ---- what is heard ---- */

bool pib_udp_link_is_peer(const struct pib_udp_link *ul, const struct pib_hello *h)
{
	switch (ul->kind) {
	case PIB_UDP_LINK_TRUNK:
		return ul->peer_guid == h->node_guid;
	case PIB_UDP_LINK_ACCEPTED:
		return ul->peer_guid == h->node_guid && ul->peer_port_num == h->port_num;
	}
	return true;
}

/* Is a hello from @from the peer's? Learns the addresses of peers that were discovered. */
static bool udp_link_knows(struct pib_udp_link *ul, const struct pib_addr *from,
			   const struct pib_hello *h)
{
	unsigned int slot = addr_slot(from);

	lockdep_assert_held(&ul->lock);
	if (!pib_udp_link_is_peer(ul, h))
		return false;
	if (pib_addr_equal(&ul->peer[slot], from))
		return true;
	if (ul->kind == PIB_UDP_LINK_EXPLICIT)
		return false;
	/* Who records the peer's datagrams must not move the link by sending them again. */
	if (ul->fsm.state == PIB_LINK_UP && !pib_link_is_next(&ul->fsm, h))
		return false;
	ul->peer[slot] = *from;
	return true;
}

static void udp_link_take_lids(struct pib_udp_link *ul, const struct pib_hello *h)
{
	lockdep_assert_held(&ul->lock);
	ul->num_lids = h->caps & PIB_CAP_STANDALONE ? min_t(u8, h->num_lids, PIB_HELLO_LIDS) : 0;
	memcpy(ul->lids, h->lids, ul->num_lids * sizeof(ul->lids[0]));
}

/* The peer has no port for this link: its user must know why. It is asked again and again. */
static bool udp_link_is_refused(struct pib_udp_link *ul, const struct pib_hello *h, u8 type)
{
	lockdep_assert_held(&ul->lock);
	if (ul->fsm.state == PIB_LINK_UP)
		ul->refused = PIB_REFUSED_NOT;
	if (type != PIB_DG_BYE || !h->refusal || ul->fsm.state == PIB_LINK_UP ||
	    h->peer_nonce != ul->fsm.nonce)
		return false;
	if (ul->refused != h->refusal)
		net_warn_ratelimited("pib: %.64s, port %u: the peer refuses the link: %s\n",
				     ul->port->p.node->desc, ul->port->p.num,
				     pib_hello_refusal_text(h->refusal));
	ul->refused = h->refusal;
	ul->refused_at = ktime_get_ns();
	return true;
}

const char *pib_udp_link_refusal(const struct pib_udp_link *ul)
{
	lockdep_assert_held(&ul->lock);
	if (!ul->refused || ul->fsm.state == PIB_LINK_UP ||
	    ktime_get_ns() > ul->refused_at + PIB_UDP_LINK_REFUSED_NS)
		return NULL;
	return pib_hello_refusal_text(ul->refused);
}

void pib_udp_link_other_key(struct pib_udp_link *ul, const struct pib_addr *from,
			    const struct pib_hello *h, u8 type)
{
	spin_lock_bh(&ul->lock);
	if (!ul->dead && h->refusal == PIB_REFUSED_KEY &&
	    pib_addr_equal(&ul->peer[addr_slot(from)], from))
		udp_link_is_refused(ul, h, type);
	spin_unlock_bh(&ul->lock);
}

void pib_udp_link_control(struct pib_udp_link *ul, const struct pib_addr *from,
			  const struct pib_hello *h, u8 type)
{
	struct outgoing o = {};

	spin_lock_bh(&ul->lock);
	if (ul->dead) {
		spin_unlock_bh(&ul->lock);
		return;
	}
	if (!udp_link_knows(ul, from, h)) {
		spin_unlock_bh(&ul->lock);
		pib_udp_sock_count(ul->bearer->sock, rx_wrong_addr, 1);
		return;
	}
	if (ul->fsm.state != PIB_LINK_UP)
		ul->to = addr_slot(from);
	if (!udp_link_is_refused(ul, h, type)) {
		udp_link_take_lids(ul, h);
		udp_link_act(ul, pib_link_rx(&ul->fsm, h, type, ktime_get_ns()), &o);
	}
	spin_unlock_bh(&ul->lock);
	udp_link_send(ul, &o);
}

void pib_udp_link_heard(struct pib_udp_link *ul, const struct pib_addr *from)
{
	unsigned int slot = addr_slot(from);
	struct outgoing o = {};

	spin_lock_bh(&ul->lock);
	ul->born = ktime_get_ns();
	if (!ul->dead && ul->kind == PIB_UDP_LINK_TRUNK && ul->fsm.state != PIB_LINK_UP) {
		ul->peer[slot] = *from;
		ul->to = slot;
		udp_link_build(ul, &o);
	} else if (!ul->dead && ul->kind == PIB_UDP_LINK_TRUNK && !ul->peer[slot].family) {
		ul->peer[slot] = *from;
		udp_link_update_path(ul);
	}
	spin_unlock_bh(&ul->lock);
	udp_link_send(ul, &o);
}

bool pib_udp_link_expired(struct pib_udp_link *ul, u64 now)
{
	bool expired;
	u64 heard;

	if (ul->kind == PIB_UDP_LINK_EXPLICIT)
		return false;
	spin_lock_bh(&ul->lock);
	heard = max(ul->born, ul->fsm.last_heard);
	expired = ul->fsm.state != PIB_LINK_UP && now > heard + PIB_UDP_LINK_EXPIRY_NS;
	spin_unlock_bh(&ul->lock);
	return expired;
}

/* ---- what it means for the port ---- */

/**
 * struct verdict - the session as the port is to see it
 * @up: the link is up
 * @bounce: it was not in between
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

static void udp_link_judge(struct pib_udp_link *ul, struct verdict *v)
{
	spin_lock_bh(&ul->lock);
	v->up = !ul->dead && ul->fsm.plugged && READ_ONCE(ul->bearer->sock->running);
	v->bounce = ul->bounce;
	ul->bounce = false;
	v->far.mtu_cap = ul->fsm.peer_mtu_cap;
	v->far.width_en = ul->fsm.peer_width_en;
	v->far.speed_en = ul->fsm.peer_speed_en;
	v->far.ext_speed_en = ul->fsm.peer_ext_speed_en;
	v->num_lids = v->up ? ul->num_lids : 0;
	memcpy(v->lids, ul->lids, sizeof(v->lids));
	spin_unlock_bh(&ul->lock);
}

static bool lid_listed(const u16 *lids, unsigned int n, u16 lid)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (lids[i] == lid)
			return true;
	return false;
}

/* The link by which @lid is forwarded, NULL: none. @lid is not our own. link_lock held. */
static struct pib_udp_link *route_holder(const struct pib_switch *sw, u16 lid)
{
	u8 port = READ_ONCE(sw->nd.node.lft[lid]);
	const struct pib_link *link;

	if (!port || port > sw->nd.node.num_ports)
		return NULL;
	link = rcu_dereference(sw->nd.ports[port]->link);
	return link ? to_udp_link(link) : NULL;
}

/*
 * Forward @lid to the peer, who says that it is there. If another peer says so, too, both
 * have given it to themselves, and the one whose node GUID is higher will keep it.
 */
static bool route_take(struct pib_udp_link *ul, u16 lid)
{
	const struct pib_udp_link *holder;
	bool mine;

	if (!lid || lid >= PIB_LID_MCAST_FIRST || pib_bearer_has_lid(ul->bearer, lid))
		return false;
	rcu_read_lock();
	holder = route_holder(ul->port->sw, lid);
	mine = !holder || holder == ul ||
	       READ_ONCE(ul->fsm.peer_node_guid) > READ_ONCE(holder->fsm.peer_node_guid);
	rcu_read_unlock();
	if (mine && holder != ul)
		pib_switch_set_route(ul->port->sw, lid, ul->port->p.num);
	return mine;
}

/* The peer does not say any more that it has @lid. Whom it is forwarded to meanwhile keeps it. */
static bool route_leave(struct pib_udp_link *ul, u16 lid)
{
	struct pib_switch *sw = ul->port->sw;

	if (READ_ONCE(sw->nd.node.lft[lid]) != ul->port->p.num)
		return false;
	pib_switch_set_route(sw, lid, PIB_LFT_DROP);
	return true;
}

/* LIDs have become free, which other peers may have. */
static void udp_link_offer_routes(const struct pib_udp_link *ul)
{
	struct pib_udp_link *other;

	rcu_read_lock();
	list_for_each_entry_rcu(other, &ul->bearer->udp_links, entry)
		if (other != ul)
			queue_work(pib_wq, &other->work);
	rcu_read_unlock();
}

/* Without an SM the two ends tell each other what to forward. */
static void udp_link_route(struct pib_udp_link *ul, const struct verdict *v)
{
	struct pib_switch *sw = ul->port->sw;
	bool left = false;
	unsigned int i;

	lockdep_assert_held(&udp_link_net(ul)->link_lock);
	if (!sw || !sw->nd.standalone)
		return;
	for (i = 0; i < ul->num_routed; i++)
		if (!lid_listed(v->lids, v->num_lids, ul->routed[i]))
			left |= route_leave(ul, ul->routed[i]);
	ul->num_routed = 0;
	for (i = 0; i < v->num_lids; i++)
		if (route_take(ul, v->lids[i]))
			ul->routed[ul->num_routed++] = v->lids[i];
	if (left)
		udp_link_offer_routes(ul);
}

/* Two hosts have given themselves the same LID: the one whose node GUID is higher keeps it. */
static void udp_link_solve_conflicts(struct pib_udp_link *ul, const struct verdict *v)
{
	struct pib_node *n = ul->port->p.node;
	unsigned int i;

	if (n->guid > READ_ONCE(ul->fsm.peer_node_guid))
		return;
	for (i = 0; i < v->num_lids; i++)
		pib_lid_move(ul, v->lids[i]);
}

void pib_udp_link_settle(struct pib_udp_link *ul)
{
	struct verdict v;

	lockdep_assert_held(&udp_link_net(ul)->link_lock);
	udp_link_judge(ul, &v);
	if (ul->is_up && (!v.up || v.bounce)) {
		pib_kport_link_down(ul->port);
		ul->is_up = false;
	}
	udp_link_solve_conflicts(ul, &v);
	udp_link_route(ul, &v);
	if (v.up && !ul->is_up) {
		ul->is_up = true;
		pib_kport_link_up(ul->port, &v.far);
	}
}

static void udp_link_work(struct work_struct *work)
{
	struct pib_udp_link *ul = container_of(work, struct pib_udp_link, work);
	struct pib_net *pn = udp_link_net(ul);

	mutex_lock(&pn->link_lock);
	pib_udp_link_settle(ul);
	mutex_unlock(&pn->link_lock);
}

static void udp_link_bounce(struct pib_link *link)
{
	struct pib_udp_link *ul = to_udp_link(link);

	lockdep_assert_held(&udp_link_net(ul)->link_lock);
	local_bh_disable();
	rcu_read_lock();
	pib_udp_link_restart(ul, link->cable_out || !pib_port_wants_link(&ul->port->p));
	rcu_read_unlock();
	local_bh_enable();
	pib_udp_link_settle(ul);
}

/* ---- what the port sees ---- */

static void udp_link_unplug(struct pib_link *link, struct list_head *dead)
{
	pib_udp_link_unplug(to_udp_link(link), dead);
}

static const struct pib_link_ops udp_link_ops = {
	.full = pib_wire_full,
	.xmit = pib_wire_xmit,
	.bounce = udp_link_bounce,
	.unplug = udp_link_unplug,
};

/* ---- creation ---- */

/* Link ids are random: who does not see the traffic cannot name a link. */
static int udp_link_register(struct pib_udp_link *ul, u32 *id)
{
	int tries, err = -EBUSY;

	for (tries = 0; tries < 16 && err == -EBUSY; tries++) {
		*id = get_random_u32();
		if (*id)
			err = xa_insert_bh(&udp_link_net(ul)->links, *id, ul, GFP_KERNEL);
	}
	return err;
}

struct pib_udp_link *pib_udp_link_create(struct pib_bearer *bearer, struct pib_kport *port, u8 kind,
					 const struct pib_addr *peer, const struct pib_hello *h)
{
	struct pib_net *pn = bearer->sock->pn;
	struct pib_udp_link *ul;
	u32 id;

	lockdep_assert_held(&pn->lock);
	ul = kzalloc(sizeof(*ul), GFP_KERNEL);
	if (!ul)
		return ERR_PTR(-ENOMEM);
	ul->link.ops = &udp_link_ops;
	ul->bearer = bearer;
	ul->port = port;
	ul->kind = kind;
	ul->id = ++pn->next_id;
	ul->to = addr_slot(peer);
	ul->peer[ul->to] = *peer;
	ul->born = ktime_get_ns();
	if (h) {
		ul->peer_guid = h->node_guid;
		ul->peer_port_num = h->port_num;
	}
	spin_lock_init(&ul->lock);
	pib_frames_init(&ul->frames, bearer);
	timer_setup(&ul->timer, udp_link_timer, 0);
	INIT_WORK(&ul->work, udp_link_work);
	/* The id is known to nobody yet, so the link may be found before it is complete. */
	spin_lock_bh(&ul->lock);
	ul->dead = true;
	spin_unlock_bh(&ul->lock);
	if (udp_link_register(ul, &id)) {
		kfree(ul);
		return ERR_PTR(-ENOMEM);
	}
	spin_lock_bh(&ul->lock);
	pib_link_init(&ul->fsm, id, new_nonce());
	ul->fsm.passive = kind == PIB_UDP_LINK_ACCEPTED;
	ul->dead = false;
	mod_timer(&ul->timer, jiffies + 1);
	spin_unlock_bh(&ul->lock);

	list_add_tail_rcu(&ul->entry, &bearer->udp_links);
	rcu_assign_pointer(port->link, &ul->link);
	pn->changes++;
	return ul;
}

void pib_udp_link_unplug(struct pib_udp_link *ul, struct list_head *dead)
{
	struct pib_net *pn = udp_link_net(ul);
	struct outgoing o = {};

	lockdep_assert_held(&pn->lock);
	pib_faults_drop(ul->port);
	spin_lock_bh(&ul->lock);
	if (ul->fsm.state == PIB_LINK_UP) {
		pib_link_bye(&ul->fsm);
		udp_link_build(ul, &o);
	}
	ul->dead = true;
	udp_link_update_path(ul);
	spin_unlock_bh(&ul->lock);
	local_bh_disable();
	rcu_read_lock();
	udp_link_send(ul, &o);
	rcu_read_unlock();
	local_bh_enable();

	xa_erase_bh(&pn->links, ul->fsm.local_id);
	list_del_rcu(&ul->entry);
	RCU_INIT_POINTER(ul->port->link, NULL);
	mutex_lock(&pn->link_lock);
	pib_udp_link_settle(ul);
	mutex_unlock(&pn->link_lock);
	list_add_tail(&ul->dead_entry, dead);
	pn->changes++;
}

void pib_udp_link_free(struct list_head *dead)
{
	struct pib_udp_link *ul, *tmp;
	struct pib_bearer *bearer;

	if (list_empty(dead))
		return;
	synchronize_rcu();
	list_for_each_entry_safe(ul, tmp, dead, dead_entry) {
		timer_delete_sync(&ul->timer);
		cancel_work_sync(&ul->work);
		bearer = ul->holds_bearer ? ul->bearer : NULL;
		pib_frames_free(&ul->frames);
		kfree(ul);
		if (bearer)
			pib_bearer_put(bearer);
	}
	INIT_LIST_HEAD(dead);
}
