// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bearers: a netdev and the other hosts on its network. Users know bearers as uplinks.
 *
 * Every bearer with a host switch (control/host_switch.c) says hello to a multicast
 * group, over IPv4 and IPv6. A bearer that hears of a new host switch makes a link to
 * that, a trunk from host switch to host switch, which then has a session of its own
 * (udp/link.c). One trunk serves a peer however many addresses the peer has.
 */
#include <linux/jiffies.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include "core/net.h"
#include "fabric/switch.h"
#include "udp/answer.h"
#include "udp/link.h"
#include "udp/bearer.h"

/* The first hellos come fast; a host that comes later is answered by links, not by hellos. */
#define HELLOS_FAST		20
#define HELLO_SLOW_MS		3000
/* A link that the user did not ask for is given up when it has been down for so long. */
#define LINK_EXPIRY_NS		(60 * PIB_NSEC_PER_SEC)
/* Least time between two lines in the log about a host that has our node GUID. */
#define CLONE_QUIET_MS		60000
/* Shift of DSCP in the byte; ECN is below it. */
#define PIB_DSCP_SHIFT		2

/* ---- LIDs without an SM ---- */

bool pib_bearer_has_lid(struct pib_bearer *bearer, u16 lid)
{
	bool found = false;
	unsigned int i;

	spin_lock_bh(&bearer->lock);
	for (i = 0; i < bearer->num_lids && !found; i++)
		found = bearer->lids[i] == lid;
	spin_unlock_bh(&bearer->lock);
	return found;
}

int pib_bearer_set_lid(struct pib_bearer *bearer, u16 old, u16 lid)
{
	unsigned int i;
	int err = 0;

	spin_lock_bh(&bearer->lock);
	for (i = 0; i < bearer->num_lids; i++)
		if (old && bearer->lids[i] == old)
			break;
	if (i < bearer->num_lids && lid)
		bearer->lids[i] = lid;
	else if (i < bearer->num_lids)
		bearer->lids[i] = bearer->lids[--bearer->num_lids];
	else if (lid && i < PIB_HELLO_LIDS)
		bearer->lids[bearer->num_lids++] = lid;
	else if (lid)
		err = -ENOSPC;
	spin_unlock_bh(&bearer->lock);
	return err;
}

/* ---- saying hello ---- */

static void fill_node(struct pib_kport *port, struct pib_hello *h)
{
	spinlock_t *lock = pib_kport_lock(port);
	struct pib_node *n = port->p.node;
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	h->node_guid = n->guid;
	h->port_guid = port->p.guid;
	h->mtu_cap = port->p.mtu_cap;
	h->width_en = port->p.width_en;
	h->speed_en = port->p.speed_en;
	h->ext_speed_en = port->p.ext_speed_en;
	memcpy(h->desc, n->desc, sizeof(h->desc));
	spin_unlock_irqrestore(lock, flags);
}

static void fill_lids(struct pib_bearer *bearer, struct pib_kport *port, struct pib_hello *h)
{
	if (!port->sw) {
		h->lids[0] = READ_ONCE(port->alone_lid);
		h->num_lids = h->lids[0] ? 1 : 0;
		if (port->nd->standalone)
			h->caps |= PIB_CAP_STANDALONE;
		return;
	}
	if (!port->sw->nd.standalone)
		return;
	h->caps |= PIB_CAP_STANDALONE;
	spin_lock_bh(&bearer->lock);
	h->num_lids = bearer->num_lids;
	memcpy(h->lids, bearer->lids, bearer->num_lids * sizeof(bearer->lids[0]));
	spin_unlock_bh(&bearer->lock);
}

void pib_bearer_fill_hello(struct pib_bearer *bearer, struct pib_kport *port, struct pib_hello *h)
{
	h->fabric = bearer->fabric;
	h->port_num = port->p.num;
	h->role = port->sw ? PIB_ROLE_SWITCH : PIB_ROLE_HCA;
	h->caps |= PIB_CAP_NOICRC | PIB_CAP_SEGMENTS | PIB_CAP_ECN;
	if (rcu_access_pointer(bearer->keys))
		h->caps |= PIB_CAP_KEYED;
	h->keepalive_ms = PIB_KEEPALIVE_MS;
	fill_node(port, h);
	fill_lids(bearer, port, h);
}

/* Return: true if the bearer sends discovery hellos: it calls no peers that it would refuse. */
static bool bearer_calls(const struct pib_bearer *bearer)
{
	return READ_ONCE(bearer->accept) >= PIB_HELLO_LINK;
}

static void bearer_send_hello(struct pib_bearer *bearer, struct pib_switch *sw)
{
	struct pib_hello h = { .nonce = bearer->nonce };
	u8 bytes[PIB_HELLO_WIRE_LEN];
	struct pib_addr group;
	size_t len;

	pib_bearer_fill_hello(bearer, sw->nd.ports[0], &h);
	h.caps |= PIB_CAP_AUTO;
	len = pib_answer_build(bearer, &h, PIB_DG_HELLO, 0, 0, bytes);
	if (!len)
		return;
	pib_udp_sock_group(bearer->sock, AF_INET, &group);
	pib_udp_sock_send_control(bearer->sock, bytes, len, &group);
	pib_udp_sock_group(bearer->sock, AF_INET6, &group);
	pib_udp_sock_send_control(bearer->sock, bytes, len, &group);
}

bool pib_bearer_is_due(struct pib_bearer *bearer, unsigned long *next, unsigned int ms)
{
	bool due;

	spin_lock_bh(&bearer->lock);
	due = time_after_eq(jiffies, *next);
	if (due)
		*next = jiffies + msecs_to_jiffies(ms);
	spin_unlock_bh(&bearer->lock);
	return due;
}

static void bearer_hello_work(struct work_struct *work)
{
	struct pib_bearer *bearer = container_of(work, struct pib_bearer, hello.work);
	struct pib_switch *sw;
	unsigned int ms;

	if (xchg(&bearer->sock->rejoin, false))
		pib_udp_sock_rejoin(bearer->sock);
	local_bh_disable();
	rcu_read_lock();
	sw = rcu_dereference(bearer->sw);
	if (sw && READ_ONCE(bearer->sock->running) && bearer_calls(bearer))
		bearer_send_hello(bearer, sw);
	rcu_read_unlock();
	local_bh_enable();
	if (!sw)
		return;

	ms = bearer->hellos++ < HELLOS_FAST ? PIB_HELLO_INTERVAL_MS : HELLO_SLOW_MS;
	ms += get_random_u32() % (ms / 8);
	queue_delayed_work(pib_wq, &bearer->hello, msecs_to_jiffies(ms));
	mod_delayed_work(pib_wq, &bearer->work, 0);
}

void pib_bearer_announce(struct pib_bearer *bearer)
{
	WRITE_ONCE(bearer->hellos, 0);
	mod_delayed_work(pib_wq, &bearer->hello, 0);
}

/* ---- hearing others ---- */

/* Return: true if the hello comes from the peer of @link. */
static bool udp_link_matches(struct pib_udp_link *link, const struct pib_addr *from,
			     const struct pib_hello *h)
{
	bool trunk_hello = pib_hello_is_trunk(h);
	bool same, bound;

	spin_lock_bh(&link->lock);
	switch (link->kind) {
	case PIB_UDP_LINK_TRUNK:
		same = trunk_hello && pib_udp_link_is_peer(link, h);
		break;
	case PIB_UDP_LINK_ACCEPTED:
		same = !trunk_hello && pib_udp_link_is_peer(link, h);
		break;
	default:
		/* Several links may lead to one address. The peer of a session tells them apart. */
		bound = link->fsm.state == PIB_LINK_UP &&
			(link->fsm.peer_node_guid != h->node_guid ||
			 link->fsm.peer_port_num != h->port_num);
		same = !trunk_hello && !bound && pib_addr_equal(&link->peer[link->to], from);
	}
	spin_unlock_bh(&link->lock);
	return same;
}

static struct pib_udp_link *bearer_match(struct pib_bearer *bearer, const struct pib_addr *from,
					 const struct pib_hello *h)
{
	struct pib_udp_link *link;

	list_for_each_entry_rcu(link, &bearer->udp_links, entry)
		if (udp_link_matches(link, from, h))
			return link;
	return NULL;
}

static struct pib_udp_link *bearer_trunk(struct pib_bearer *bearer, u64 node_guid)
{
	struct pib_udp_link *link;

	list_for_each_entry_rcu(link, &bearer->udp_links, entry)
		if (link->kind == PIB_UDP_LINK_TRUNK && link->peer_guid == node_guid)
			return link;
	return NULL;
}

/* Return: true if both are the same peer: the same port, or for a trunk the same node. */
static bool newcomer_is_same(const struct pib_newcomer *a, const struct pib_newcomer *b)
{
	bool trunk = pib_hello_is_trunk(&a->h);

	return a->h.node_guid == b->h.node_guid && pib_hello_is_trunk(&b->h) == trunk &&
	       (trunk || a->h.port_num == b->h.port_num) && pib_addr_equal(&a->from, &b->from);
}

/* Return: the place in which @n waits; it may be there already. NULL: all places are taken. */
static struct pib_newcomer *bearer_place(struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	unsigned int i;

	lockdep_assert_held(&bearer->lock);
	for (i = 0; i < bearer->num_newcomers; i++)
		if (newcomer_is_same(&bearer->newcomers[i], n))
			return &bearer->newcomers[i];
	if (i == PIB_NEWCOMERS)
		return NULL;
	bearer->num_newcomers++;
	return &bearer->newcomers[i];
}

/* Let @n wait for a link, which the work makes. Context: RCU, softirqs off. */
static void bearer_newcomer(struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	struct pib_newcomer *room;

	spin_lock_bh(&bearer->lock);
	room = bearer_place(bearer, n);
	if (room)
		*room = *n;
	spin_unlock_bh(&bearer->lock);
	if (!room)
		pib_udp_sock_drop(bearer->sock, rx_stranger);
	mod_delayed_work(pib_wq, &bearer->work, 0);
}

/*
 * Warn of a hello that says it comes from @node, which is here. Unless it is our own hello that the
 * network has sent back, another host has the same GUID. A fabric cannot have both.
 */
static void bearer_meet_clone(struct pib_bearer *bearer, const struct pib_node *node,
			      const struct pib_addr *from, const struct pib_hello *h)
{
	if (h->nonce == bearer->nonce ||
	    !pib_bearer_is_due(bearer, &bearer->next_clone, CLONE_QUIET_MS))
		return;
	if (from->family == AF_INET)
		pr_warn("pib: %.64s: %pI4 has the same node GUID, %016llx\n", node->desc,
			&from->v4, h->node_guid);
	else
		pr_warn("pib: %.64s: %pI6c has the same node GUID, %016llx\n", node->desc,
			&from->v6, h->node_guid);
}

static bool same_host(const struct pib_addr *a, const struct pib_addr *b)
{
	const struct pib_addr there = { .family = b->family, .port = a->port, .v6 = b->v6 };

	return pib_addr_equal(a, &there);
}

/* Return: true if the user has named the host at @from as a peer. */
static bool bearer_names(struct pib_bearer *bearer, const struct pib_addr *from)
{
	struct pib_udp_link *link;
	bool named = false;

	list_for_each_entry_rcu(link, &bearer->udp_links, entry) {
		if (link->kind != PIB_UDP_LINK_EXPLICIT)
			continue;
		spin_lock_bh(&link->lock);
		named = same_host(&link->peer[link->to], from);
		spin_unlock_bh(&link->lock);
		if (named)
			break;
	}
	return named;
}

/* Return: @way, with @named filled in if it matters for @accept. Context: RCU. */
static struct pib_hello_way bearer_way(struct pib_bearer *bearer, u8 accept,
				       const struct pib_addr *from, const struct pib_hello_way *way)
{
	struct pib_hello_way full = *way;

	full.named = (accept == PIB_HELLO_PEERS || accept == PIB_HELLO_LINK) &&
		     bearer_names(bearer, from);
	return full;
}

/* Return: true if @link may lead to @from on the strength of @h alone. Context: RCU. */
static bool bearer_leads(struct pib_bearer *bearer, const struct pib_udp_link *link,
			 const struct pib_addr *from, const struct pib_hello *h,
			 const struct pib_hello_way *way)
{
	u8 accept = READ_ONCE(bearer->accept);
	struct pib_hello_way full = bearer_way(bearer, accept, from, way);

	return pib_hello_follows(accept, link->kind == PIB_UDP_LINK_TRUNK, h, &full);
}

/* Return: true if @link is not up and may follow its peer to @from. Context: RCU. */
static bool bearer_follows(struct pib_bearer *bearer, const struct pib_udp_link *link,
			   const struct pib_addr *from, const struct pib_hello *h,
			   const struct pib_hello_way *way)
{
	/* If the link goes down meanwhile, the peer has to say it again. */
	return link->kind != PIB_UDP_LINK_EXPLICIT &&
	       READ_ONCE(link->fsm.state) != PIB_LINK_UP &&
	       bearer_leads(bearer, link, from, h, way);
}

/*
 * Take in the echo of an answer from the peer of @link. The echo shows that the peer receives what
 * is sent to @n->from, which for a trunk may be the other address of its node. Context: RCU,
 * softirqs off.
 */
static void bearer_shown(struct pib_bearer *bearer, struct pib_udp_link *link,
			 const struct pib_newcomer *n)
{
	struct pib_addr *known = &link->peer[n->from.family == AF_INET6];

	if (link->kind == PIB_UDP_LINK_TRUNK &&
	    bearer_leads(bearer, link, &n->from, &n->h, &n->way)) {
		spin_lock_bh(&link->lock);
		if (!known->family)
			*known = n->from;
		spin_unlock_bh(&link->lock);
	}
	pib_udp_link_control(link, &n->from,
			     bearer_follows(bearer, link, &n->from, &n->h, &n->way), &n->h,
			     n->type);
}

/* Refuse a peer that the bearer does not accept. Context: RCU, softirqs off. */
static void bearer_turn_away(struct pib_bearer *bearer, const struct pib_addr *from,
			     const struct pib_hello *h)
{
	pib_udp_sock_drop(bearer->sock, rx_stranger);
	if (h->link_id)
		pib_answer_send(bearer, from, h, PIB_DG_BYE, PIB_REFUSED_CLOSED);
}

/* Refuse a peer for want of a port in the host switch. Context: RCU, softirqs off. */
static void bearer_is_full(struct pib_bearer *bearer, const struct pib_addr *from,
			   const struct pib_hello *h)
{
	net_warn_ratelimited("pib: no free port for %.64s\n", h->desc);
	pib_udp_sock_drop(bearer->sock, rx_no_port);
	if (h->link_id)
		pib_answer_send(bearer, from, h, PIB_DG_BYE, PIB_REFUSED_FULL);
}

/*
 * Check whether the sender of @h may have a port, and refuse it if not.
 *
 * Context: RCU, softirqs off.
 * Return: true if it may.
 */
static bool bearer_welcomes(struct pib_bearer *bearer, const struct pib_addr *from,
			    const struct pib_hello *h, const struct pib_hello_way *way)
{
	struct pib_switch *sw = rcu_dereference(bearer->sw);
	u8 accept = READ_ONCE(bearer->accept);
	struct pib_hello_way full = bearer_way(bearer, accept, from, way);

	if (!sw)
		pib_udp_sock_drop(bearer->sock, rx_no_port);
	else if (!pib_hello_admits(accept, h, &full))
		bearer_turn_away(bearer, from, h);
	else if (!pib_switch_free_port(sw))
		bearer_is_full(bearer, from, h);
	else
		return true;
	return false;
}

/* Take in a hello to no link in particular from an unknown peer. Context: RCU, softirqs off. */
static void bearer_stranger(struct pib_bearer *bearer, const struct pib_addr *from,
			    const struct pib_hello *h, const struct pib_hello_way *way)
{
	if (bearer_welcomes(bearer, from, h, way))
		pib_answer_stranger(bearer, from, h);
}

/* Take in a hello to no link in particular. Context: RCU, softirqs off. */
static void bearer_discover(struct pib_bearer *bearer, const struct pib_addr *from,
			    const struct pib_hello *h, u8 type, const struct pib_hello_way *way)
{
	struct pib_switch *sw = rcu_dereference(bearer->sw);
	struct pib_udp_link *link;

	if (sw && h->node_guid == sw->nd.node.guid) {
		bearer_meet_clone(bearer, &sw->nd.node, from, h);
		return;
	}
	if (type != PIB_DG_HELLO) {
		pib_udp_sock_drop(bearer->sock, rx_bad_hello);
		return;
	}
	if (h->caps & PIB_CAP_PROBE) {
		if (!pib_hello_may_probe(way) ||
		    !pib_answer_send(bearer, from, h, PIB_DG_HELLO_ACK, PIB_REFUSED_NOT))
			pib_udp_sock_drop(bearer->sock, rx_stranger);
		return;
	}
	if (!h->link_id) {
		if (!pib_hello_is_trunk(h)) {
			pib_udp_sock_drop(bearer->sock, rx_bad_hello);
			return;
		}
		link = bearer_trunk(bearer, h->node_guid);
		if (link && pib_hello_admits(PIB_HELLO_ANYBODY, h, way))
			pib_udp_link_heard(link, from);
		else if (link)
			pib_udp_sock_drop(bearer->sock, rx_stranger);
		else
			bearer_stranger(bearer, from, h, way);
		return;
	}
	link = bearer_match(bearer, from, h);
	if (link)
		pib_udp_link_control(link, from, bearer_follows(bearer, link, from, h, way), h,
				     type);
	else if (sw)
		bearer_stranger(bearer, from, h, way);
	else
		pib_udp_sock_drop(bearer->sock, rx_unknown_link);
}

/*
 * Take in a datagram to a link id without a link. If it echoes an answer, its sender receives what
 * is sent to it. Another answer may have led to a link with that peer by now.
 */
static void bearer_echo(struct pib_bearer *bearer, const struct pib_addr *from,
			const struct pib_hello *h, u32 to_id, u8 type,
			const struct pib_hello_way *way)
{
	const struct pib_newcomer n = {
		.from = *from, .way = *way, .h = *h, .type = type, .to_id = to_id,
	};
	struct pib_udp_link *link;

	if (type == PIB_DG_BYE || !h->link_id ||
	    pib_answer_is_back(bearer, from, h, to_id) == PIB_ANSWER_NONE) {
		pib_udp_sock_drop(bearer->sock, rx_unknown_link);
		return;
	}
	link = bearer_match(bearer, from, h);
	if (!link) {
		bearer_newcomer(bearer, &n);
		return;
	}
	bearer_shown(bearer, link, &n);
}

/*
 * Return: true if the sender has one of our keys, whose number is noted in @h, or neither side has
 * a key. Context: RCU.
 */
static bool hello_is_authentic(const struct pib_bearer *bearer, struct pib_hello *h, const u8 *buf)
{
	const struct pib_keys *keys = rcu_dereference(bearer->keys);

	if (!keys)
		return !(h->caps & PIB_CAP_KEYED);
	if (h->caps & PIB_CAP_KEYED)
		h->key = pib_keys_check(keys, buf);
	return h->key;
}

static struct pib_bearer *bearer_of_fabric(struct pib_udp_sock *sock, u32 fabric)
{
	struct pib_bearer *bearer;

	list_for_each_entry_rcu(bearer, &sock->bearers, entry)
		if (bearer->fabric == fabric)
			return bearer;
	return NULL;
}

void pib_bearer_control(struct pib_udp_sock *sock, const struct pib_addr *from,
			const struct pib_hello_way *way, const u8 *buf, u32 len)
{
	struct pib_bearer *bearer;
	struct pib_udp_link *link;
	struct pib_hello h;
	u32 to_id;
	u8 type;

	if (pib_hello_parse(&h, &type, &to_id, buf, len)) {
		pib_udp_sock_drop(sock, rx_bad_hello);
		return;
	}
	bearer = bearer_of_fabric(sock, h.fabric);
	if (!bearer) {
		pib_udp_sock_drop(sock, rx_fabric);
		return;
	}
	link = to_id ? xa_load(&sock->pn->links, to_id) : NULL;
	if (!hello_is_authentic(bearer, &h, buf)) {
		pib_udp_sock_drop(sock, rx_bad_auth);
		if (link && link->bearer == bearer)
			pib_udp_link_other_key(link, from, &h);
		return;
	}
	if (!to_id) {
		bearer_discover(bearer, from, &h, type, way);
		return;
	}
	if (!link) {
		bearer_echo(bearer, from, &h, to_id, type, way);
		return;
	}
	if (link->bearer != bearer) {
		pib_udp_sock_drop(sock, rx_unknown_link);
		return;
	}
	/* A cable may lead from one port of an HCA to another, but not to where it comes from. */
	if (h.node_guid == link->port->p.node->guid && h.port_num == link->port->p.num)
		bearer_meet_clone(bearer, link->port->p.node, from, &h);
	pib_udp_link_control(link, from, bearer_follows(bearer, link, from, &h, way), &h, type);
}

/* ---- making links ---- */

/* Return: true if the newcomer's key is still one of ours: it may have been dropped meanwhile. */
static bool newcomer_is_authentic(const struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	const struct pib_keys *keys = pib_bearer_keys(bearer);

	lockdep_assert_held(&bearer->sock->pn->lock);
	return !keys || pib_keys_find(keys, n->h.key);
}

/*
 * Check a newcomer once more: the keys, the accepted peers and the answers may have changed since
 * it was heard. @link: its link, if it has one; @back: set to what it has echoed.
 *
 * Context: RCU, softirqs off.
 * Return: true if it has @link, or may still have a port.
 */
static bool newcomer_is_welcome(struct pib_bearer *bearer, const struct pib_udp_link *link,
				const struct pib_newcomer *n, enum pib_answer_back *back)
{
	if (!newcomer_is_authentic(bearer, n)) {
		pib_udp_sock_drop(bearer->sock, rx_bad_auth);
		return false;
	}
	*back = pib_answer_is_back(bearer, &n->from, &n->h, n->to_id);
	if (*back == PIB_ANSWER_NONE) {
		pib_udp_sock_drop(bearer->sock, rx_unknown_link);
		return false;
	}
	return link || bearer_welcomes(bearer, &n->from, &n->h, &n->way);
}

/* Make a link for a newcomer. Return: the link; NULL: there is no port or no memory left. */
static struct pib_udp_link *newcomer_plug(struct pib_bearer *bearer, struct pib_switch *sw,
					  const struct pib_newcomer *n, enum pib_answer_back back)
{
	const struct pib_udp_session said = { .id = n->to_id, .nonce = n->h.peer_nonce };
	bool trunk = pib_hello_is_trunk(&n->h);
	struct pib_kport *port = pib_switch_free_port(sw);
	struct pib_udp_link *link;

	lockdep_assert_held(&bearer->sock->pn->lock);
	if (!port)
		return NULL;
	port->is_auto = true;
	link = pib_udp_link_create(bearer, port, trunk ? PIB_UDP_LINK_TRUNK : PIB_UDP_LINK_ACCEPTED,
				   &n->from, &n->h, back == PIB_ANSWER_GOES_ON ? &said : NULL);
	return IS_ERR(link) ? NULL : link;
}

static void bearer_admit(struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	struct pib_switch *sw = rcu_dereference_protected(bearer->sw, true);
	enum pib_answer_back back = PIB_ANSWER_NONE;
	struct pib_udp_link *link;
	bool welcome;

	lockdep_assert_held(&bearer->sock->pn->lock);
	local_bh_disable();
	rcu_read_lock();
	link = bearer_match(bearer, &n->from, &n->h);
	welcome = newcomer_is_welcome(bearer, link, n, &back);
	rcu_read_unlock();
	local_bh_enable();
	if (!welcome)
		return;
	if (!link)
		link = newcomer_plug(bearer, sw, n, back);
	local_bh_disable();
	rcu_read_lock();
	if (!link)
		pib_udp_sock_drop(bearer->sock, rx_no_port);
	else
		bearer_shown(bearer, link, n);
	rcu_read_unlock();
	local_bh_enable();
}

/*
 * Return: true if the link has been down for too long. Datagrams heard meanwhile prove nothing: an
 * old one may be replayed again and again.
 */
static bool udp_link_expired(struct pib_udp_link *link, u64 now)
{
	bool expired;

	if (link->kind == PIB_UDP_LINK_EXPLICIT)
		return false;
	spin_lock_bh(&link->lock);
	expired = link->fsm.state != PIB_LINK_UP && now > link->alive_at + LINK_EXPIRY_NS;
	spin_unlock_bh(&link->lock);
	return expired;
}

static void bearer_expire(struct pib_bearer *bearer, struct list_head *dead)
{
	struct pib_udp_link *link, *tmp;
	u64 now = ktime_get_ns();

	list_for_each_entry_safe(link, tmp, &bearer->udp_links, entry)
		if (udp_link_expired(link, now))
			pib_udp_link_unplug(link, dead);
}

static bool bearer_next_newcomer(struct pib_bearer *bearer, struct pib_newcomer *n)
{
	bool any;

	spin_lock_bh(&bearer->lock);
	any = bearer->num_newcomers;
	if (any) {
		*n = bearer->newcomers[0];
		bearer->num_newcomers--;
		memmove(bearer->newcomers, bearer->newcomers + 1,
			bearer->num_newcomers * sizeof(*n));
	}
	spin_unlock_bh(&bearer->lock);
	return any;
}

static void bearer_work(struct work_struct *work)
{
	struct pib_bearer *bearer = container_of(work, struct pib_bearer, work.work);
	struct pib_net *pn = bearer->sock->pn;
	unsigned int left = PIB_NEWCOMERS;
	struct pib_newcomer n;
	LIST_HEAD(dead);

	/* Whoever takes the bearer apart holds the mutex and waits for this work. */
	if (!pib_net_trylock(pn)) {
		queue_delayed_work(pib_wq, &bearer->work, 1);
		return;
	}
	/* Newcomers without end must not keep the mutex: the rest waits for the next run. */
	while (left && bearer_next_newcomer(bearer, &n)) {
		bearer_admit(bearer, &n);
		left--;
	}
	if (!left)
		queue_delayed_work(pib_wq, &bearer->work, 1);
	bearer_expire(bearer, &dead);
	/*
	 * Free the links under the mutex: their work may still use their ports, and nothing but the
	 * mutex keeps the host switch from being destroyed.
	 */
	pib_udp_link_free(&dead);
	pib_net_unlock(pn);
}

void pib_bearer_carrier(struct pib_bearer *bearer)
{
	struct pib_udp_link *link;

	local_bh_disable();
	rcu_read_lock();
	list_for_each_entry_rcu(link, &bearer->udp_links, entry)
		pib_udp_link_restart(link, link->fsm.local_down);
	rcu_read_unlock();
	local_bh_enable();
	if (rcu_access_pointer(bearer->sw) && READ_ONCE(bearer->sock->running))
		pib_bearer_announce(bearer);
}

/* ---- the host switch ---- */

void pib_bearer_set_switch(struct pib_bearer *bearer, struct pib_switch *sw)
{
	lockdep_assert_held(&bearer->sock->pn->lock);
	rcu_assign_pointer(bearer->sw, sw);
	if (!sw)
		cancel_delayed_work_sync(&bearer->hello);
}

void pib_bearer_set_accept(struct pib_bearer *bearer, u8 accept)
{
	lockdep_assert_held(&bearer->sock->pn->lock);
	WRITE_ONCE(bearer->accept, accept);
	if (rcu_access_pointer(bearer->sw))
		pib_bearer_announce(bearer);
	bearer->sock->pn->changes++;
}

/* ---- DSCP and ECN of data ---- */

static void tos_apply(u8 *tos, const struct pib_tos_cfg *cfg)
{
	unsigned int sl;
	u8 field;

	for (sl = 0; sl < PIB_SLS; sl++) {
		field = tos[sl];
		if (cfg->dscp_given)
			field = cfg->dscp[sl] << PIB_DSCP_SHIFT | (field & INET_ECN_MASK);
		if (cfg->ecn_given)
			field = (field & ~INET_ECN_MASK) |
				(cfg->ecn ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT);
		WRITE_ONCE(tos[sl], field);
	}
}

static bool bearer_says(const struct pib_bearer *bearer, const struct pib_tos_cfg *cfg)
{
	u8 tos[PIB_SLS];

	memcpy(tos, bearer->tos, sizeof(tos));
	tos_apply(tos, cfg);
	return !memcmp(tos, bearer->tos, sizeof(tos));
}

void pib_bearer_set_tos(struct pib_bearer *bearer, const struct pib_tos_cfg *cfg)
{
	lockdep_assert_held(&bearer->sock->pn->lock);
	tos_apply(bearer->tos, cfg);
	bearer->sock->pn->changes++;
}

void pib_bearer_get_dscp(const struct pib_bearer *bearer, u8 *dscp)
{
	unsigned int sl;

	for (sl = 0; sl < PIB_SLS; sl++)
		dscp[sl] = READ_ONCE(bearer->tos[sl]) >> PIB_DSCP_SHIFT;
}

bool pib_bearer_has_ecn(const struct pib_bearer *bearer)
{
	return INET_ECN_is_capable(READ_ONCE(bearer->tos[0]));
}

/* ---- keys ---- */

/*
 * Return: true if a link would be lost because its peer uses a key which is none of @keys. A link
 * that has just begun a new session counts as well.
 */
static bool keys_are_missed(struct pib_bearer *bearer, const struct pib_keys *keys)
{
	struct pib_udp_link *link;
	u64 now = ktime_get_ns();
	bool missed = false;
	u32 key;

	list_for_each_entry(link, &bearer->udp_links, entry) {
		spin_lock_bh(&link->lock);
		key = pib_link_used_key(&link->fsm, now);
		missed |= key && !pib_keys_find(keys, key);
		spin_unlock_bh(&link->lock);
	}
	return missed;
}

/*
 * Replace @old by @keys. The new keys are accepted before any link uses them, and no link uses the
 * old ones any more when they are freed.
 */
static void bearer_replace_keys(struct pib_bearer *bearer, struct pib_keys *old,
				struct pib_keys *keys)
{
	struct pib_udp_link *link;

	rcu_assign_pointer(bearer->keys, keys);
	local_bh_disable();
	rcu_read_lock();
	list_for_each_entry_rcu(link, &bearer->udp_links, entry)
		pib_udp_link_rekey(link, keys);
	rcu_read_unlock();
	local_bh_enable();
	if (rcu_access_pointer(bearer->sw))
		pib_bearer_announce(bearer);
	synchronize_rcu();
	pib_keys_free(old);
}

int pib_bearer_set_keys(struct pib_bearer *bearer, const struct pib_keys_req *req,
			struct netlink_ext_ack *extack)
{
	struct pib_net *pn = bearer->sock->pn;
	struct pib_keys *old = rcu_dereference_protected(bearer->keys, lockdep_is_held(&pn->lock));
	struct pib_keys *keys;

	if (!old) {
		NL_SET_ERR_MSG(extack, "the fabric has no key: make its HCAs anew with one");
		return -EINVAL;
	}
	keys = pib_keys_exchange(old, req, extack);
	if (IS_ERR(keys))
		return PTR_ERR(keys);
	if (!req->force && keys_are_missed(bearer, keys)) {
		NL_SET_ERR_MSG(extack,
			       "a peer uses the key that would go, see 'pibctl show peers': change that host's key first, or drop it by force");
		pib_keys_free(keys);
		return -EBUSY;
	}
	bearer_replace_keys(bearer, old, keys);
	pn->changes++;
	return 0;
}

/* ---- creation ---- */

static int bearer_check_cfg(const struct pib_bearer *bearer, const struct pib_bearer_cfg *cfg,
			    struct netlink_ext_ack *extack)
{
	const struct pib_keys *keys = pib_bearer_keys(bearer);

	if (!keys && cfg->key.len)
		NL_SET_ERR_MSG(extack, "the fabric on this netdev has no key");
	else if (keys && !cfg->key.len)
		NL_SET_ERR_MSG(extack, "the fabric on this netdev has a key: give the same one");
	else if (keys && !pib_auth_same(keys->key, &cfg->key))
		NL_SET_ERR_MSG(extack, "the fabric on this netdev has another key");
	else if (cfg->second.len &&
		 !(keys && keys->second && pib_auth_same(keys->second, &cfg->second)))
		NL_SET_ERR_MSG(extack, "the fabric on this netdev has another second key");
	else if (cfg->accept_given && cfg->accept != bearer->accept)
		NL_SET_ERR_MSG(extack,
			       "the uplink on this netdev accepts others: 'pibctl set' changes that");
	else if (!bearer_says(bearer, &cfg->tos))
		NL_SET_ERR_MSG(extack,
			       "the uplink on this netdev marks its data otherwise: 'pibctl set' changes that");
	else
		return 0;
	return -EINVAL;
}

static struct pib_bearer *bearer_create(struct pib_udp_sock *sock, const struct pib_bearer_cfg *cfg,
					struct netlink_ext_ack *extack)
{
	struct pib_bearer *bearer = kzalloc(sizeof(*bearer), GFP_KERNEL);
	struct pib_keys *keys;

	if (!bearer)
		return ERR_PTR(-ENOMEM);
	if (cfg->key.len) {
		keys = pib_keys_alloc(&cfg->key, &cfg->second, extack);
		if (IS_ERR(keys)) {
			kfree(bearer);
			return ERR_CAST(keys);
		}
		RCU_INIT_POINTER(bearer->keys, keys);
	}
	bearer->sock = sock;
	bearer->fabric = cfg->fabric;
	bearer->accept = cfg->accept_given ? cfg->accept : PIB_HELLO_ANYBODY;
	tos_apply(bearer->tos, &cfg->tos);
	bearer->users = 1;
	bearer->id = ++sock->pn->next_id;
	bearer->nonce = get_random_u64() | 1;
	bearer->next_answer = jiffies;
	get_random_bytes(bearer->cookies.secret, sizeof(bearer->cookies.secret));
	bearer->next_clone = jiffies;
	INIT_LIST_HEAD(&bearer->udp_links);
	spin_lock_init(&bearer->lock);
	INIT_DELAYED_WORK(&bearer->hello, bearer_hello_work);
	INIT_DELAYED_WORK(&bearer->work, bearer_work);
	list_add_tail_rcu(&bearer->entry, &sock->bearers);
	sock->pn->changes++;
	return bearer;
}

struct pib_bearer *pib_bearer_get(struct pib_net *pn, const struct pib_bearer_cfg *cfg,
				  bool is_link, struct netlink_ext_ack *extack)
{
	struct pib_udp_sock *sock = pib_udp_sock_get(pn, cfg->ifindex, cfg->udp_port, extack);
	struct pib_bearer *bearer;
	int err;

	if (IS_ERR(sock))
		return ERR_CAST(sock);
	list_for_each_entry(bearer, &sock->bearers, entry) {
		if (bearer->fabric != cfg->fabric)
			continue;
		err = is_link ? 0 : bearer_check_cfg(bearer, cfg, extack);
		if (!err)
			bearer->users++;
		pib_udp_sock_put(sock);
		return err ? ERR_PTR(err) : bearer;
	}
	bearer = bearer_create(sock, cfg, extack);
	if (IS_ERR(bearer))
		pib_udp_sock_put(sock);
	return bearer;
}

void pib_bearer_put(struct pib_bearer *bearer)
{
	struct pib_udp_sock *sock = bearer->sock;
	struct pib_net *pn = sock->pn;
	struct pib_udp_link *link, *tmp;
	LIST_HEAD(dead);

	lockdep_assert_held(&pn->lock);
	if (--bearer->users)
		return;
	list_for_each_entry_safe(link, tmp, &bearer->udp_links, entry)
		pib_udp_link_unplug(link, &dead);
	list_del_rcu(&bearer->entry);
	synchronize_rcu();
	pib_udp_link_free(&dead);
	cancel_delayed_work_sync(&bearer->hello);
	cancel_delayed_work_sync(&bearer->work);
	pib_keys_free(rcu_dereference_protected(bearer->keys, true));
	kfree(bearer);
	pib_udp_sock_put(sock);
	pn->changes++;
}
