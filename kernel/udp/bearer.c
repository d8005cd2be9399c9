// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bearers, to users uplinks: a netdev and the other hosts on its segment.
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
#include "core/net.h"
#include "fabric/switch.h"
#include "udp/link.h"
#include "udp/bearer.h"

/* The first hellos come fast; a host that comes later is answered by links, not by hellos. */
#define HELLOS_FAST		20
#define HELLO_SLOW_MS		3000
/* This time passes between two answers to those with whom there is no link. */
#define PIB_ANSWER_MS		10
/* This time passes between two words in the log on a host that has our node GUID. */
#define CLONE_QUIET_MS		60000

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
	h->caps |= PIB_CAP_NOICRC | PIB_CAP_SEGMENTS;
	if (rcu_access_pointer(bearer->keys))
		h->caps |= PIB_CAP_KEYED;
	h->keepalive_ms = PIB_KEEPALIVE_MS;
	fill_node(port, h);
	fill_lids(bearer, port, h);
}

/*
 * Turn a hello into bytes, authentic by the fabric's key. RCU. Return: how many; 0: that cannot be.
 */
static size_t bearer_build(const struct pib_bearer *bearer, const struct pib_hello *h, u8 type,
			   u32 link_id, u8 *bytes)
{
	const struct pib_keys *keys = rcu_dereference(bearer->keys);
	size_t len = pib_hello_build(h, type, link_id, bytes);

	return keys && pib_auth_seal(keys->key, bytes) ? 0 : len;
}

static void bearer_send_hello(struct pib_bearer *bearer, struct pib_switch *sw)
{
	struct pib_hello h = { .nonce = bearer->nonce };
	u8 bytes[PIB_HELLO_WIRE_LEN];
	struct pib_addr group;
	size_t len;

	pib_bearer_fill_hello(bearer, sw->nd.ports[0], &h);
	h.caps |= PIB_CAP_AUTO;
	len = bearer_build(bearer, &h, PIB_DG_HELLO, 0, bytes);
	if (!len)
		return;
	pib_udp_sock_group(bearer->sock, AF_INET, &group);
	pib_udp_sock_send_bytes(bearer->sock, bytes, len, &group);
	pib_udp_sock_group(bearer->sock, AF_INET6, &group);
	pib_udp_sock_send_bytes(bearer->sock, bytes, len, &group);
}

/* The port whose node speaks for the bearer: of the host switch, or of a link. */
static struct pib_kport *bearer_speaker(struct pib_bearer *bearer)
{
	struct pib_switch *sw = rcu_dereference(bearer->sw);
	struct pib_udp_link *link;

	if (sw)
		return sw->nd.ports[0];
	link = list_first_or_null_rcu(&bearer->udp_links, struct pib_udp_link, entry);
	return link ? link->port : NULL;
}

/* Is what may be done every @ms due? @next, which bearer->lock guards, says when. */
static bool bearer_is_due(struct pib_bearer *bearer, unsigned long *next, unsigned int ms)
{
	bool due;

	spin_lock_bh(&bearer->lock);
	due = time_after_eq(jiffies, *next);
	if (due)
		*next = jiffies + msecs_to_jiffies(ms);
	spin_unlock_bh(&bearer->lock);
	return due;
}

/* Answer the hello @to of somebody who has no link and gets none. RCU, softirqs off. */
static void bearer_answer(struct pib_bearer *bearer, const struct pib_addr *from,
			  const struct pib_hello *to, u8 type, u8 refusal)
{
	struct pib_hello h = {
		.nonce = bearer->nonce,
		.peer_nonce = to->nonce,
		.seq = 1,
		.ack = to->seq,
		.refusal = refusal,
		.caps = type == PIB_DG_BYE ? 0 : PIB_CAP_PROBE,
	};
	struct pib_kport *port = bearer_speaker(bearer);
	u8 bytes[PIB_HELLO_WIRE_LEN];
	size_t len;

	if (!port || !bearer_is_due(bearer, &bearer->next_answer, PIB_ANSWER_MS))
		return;
	pib_bearer_fill_hello(bearer, port, &h);
	if (refusal)
		strscpy_pad(h.desc, pib_hello_refusal_text(refusal), sizeof(h.desc));
	len = bearer_build(bearer, &h, type, to->link_id, bytes);
	if (len)
		pib_udp_sock_send_bytes(bearer->sock, bytes, len, from);
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
	if (sw && READ_ONCE(bearer->sock->running))
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

/* Is the hello that of the peer of an existing link? */
static bool udp_link_matches(struct pib_udp_link *link, const struct pib_addr *from,
			     const struct pib_hello *h)
{
	bool trunk_hello = h->caps & PIB_CAP_AUTO;
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
		/* Several links may lead to one address: a session tells them apart. */
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

static void bearer_newcomer(struct pib_bearer *bearer, const struct pib_addr *from,
			    const struct pib_hello *h, u8 type)
{
	spin_lock_bh(&bearer->lock);
	if (bearer->num_newcomers < PIB_NEWCOMERS) {
		struct pib_newcomer *n = &bearer->newcomers[bearer->num_newcomers++];

		n->from = *from;
		n->h = *h;
		n->type = type;
	}
	spin_unlock_bh(&bearer->lock);
	mod_delayed_work(pib_wq, &bearer->work, 0);
}

/*
 * A hello says that it is of @node, which is here. If it is not our own hello that the network has
 * sent back, another host has the same GUID. A fabric cannot have both.
 */
static void bearer_meet_clone(struct pib_bearer *bearer, const struct pib_node *node,
			      const struct pib_addr *from, const struct pib_hello *h)
{
	if (h->nonce == bearer->nonce ||
	    !bearer_is_due(bearer, &bearer->next_clone, CLONE_QUIET_MS))
		return;
	if (from->family == AF_INET)
		pr_warn("pib: %.64s: %pI4 has the same node GUID, %016llx\n", node->desc,
			&from->v4, h->node_guid);
	else
		pr_warn("pib: %.64s: %pI6c has the same node GUID, %016llx\n", node->desc,
			&from->v6, h->node_guid);
}

/* A hello to nobody in particular. */
static void bearer_discover(struct pib_bearer *bearer, const struct pib_addr *from,
			    const struct pib_hello *h, u8 type)
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
		bearer_answer(bearer, from, h, PIB_DG_HELLO_ACK, PIB_REFUSED_NOT);
		return;
	}
	if (!h->link_id) {
		link = bearer_trunk(bearer, h->node_guid);
		if (link)
			pib_udp_link_heard(link, from);
		else if (sw && h->role == PIB_ROLE_SWITCH)
			bearer_newcomer(bearer, from, h, type);
		return;
	}
	link = bearer_match(bearer, from, h);
	if (link)
		pib_udp_link_control(link, from, h, type);
	else if (sw)
		bearer_newcomer(bearer, from, h, type);
	else
		pib_udp_sock_drop(bearer->sock, rx_unknown_link);
}

/* Has the sender one of our keys, or have both none? By which one is noted in @h. RCU. */
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

void pib_bearer_control(struct pib_udp_sock *sock, const struct pib_addr *from, const u8 *buf,
			u32 len)
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
		bearer_discover(bearer, from, &h, type);
		return;
	}
	if (!link || link->bearer != bearer) {
		pib_udp_sock_drop(sock, rx_unknown_link);
		return;
	}
	/* A cable may lead from one port of an HCA to another, but not to where it comes from. */
	if (h.node_guid == link->port->p.node->guid && h.port_num == link->port->p.num)
		bearer_meet_clone(bearer, link->port->p.node, from, &h);
	pib_udp_link_control(link, from, &h, type);
}

/* ---- making links ---- */

static void bearer_refuse(struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	local_bh_disable();
	rcu_read_lock();
	bearer_answer(bearer, &n->from, &n->h, PIB_DG_BYE, PIB_REFUSED_FULL);
	rcu_read_unlock();
	local_bh_enable();
}

/* A key may have been dropped since it was said. */
static bool newcomer_is_authentic(const struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	const struct pib_keys *keys = pib_bearer_keys(bearer);

	lockdep_assert_held(&bearer->sock->pn->lock);
	return !keys || pib_keys_find(keys, n->h.key);
}

static void bearer_admit(struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	struct pib_switch *sw = rcu_dereference_protected(bearer->sw, true);
	bool trunk = n->h.caps & PIB_CAP_AUTO && n->h.role == PIB_ROLE_SWITCH;
	struct pib_kport *port;
	struct pib_udp_link *link;

	lockdep_assert_held(&bearer->sock->pn->lock);
	if (!newcomer_is_authentic(bearer, n)) {
		local_bh_disable();
		pib_udp_sock_drop(bearer->sock, rx_bad_auth);
		local_bh_enable();
		return;
	}
	rcu_read_lock();
	if (!sw)
		link = NULL;
	else if (n->h.link_id)
		link = bearer_match(bearer, &n->from, &n->h);
	else
		link = bearer_trunk(bearer, n->h.node_guid);
	rcu_read_unlock();
	if (!sw)
		return;
	if (!link) {
		port = pib_switch_free_port(sw);
		if (!port) {
			net_warn_ratelimited("pib: %s has no free port for %.64s\n", sw->name,
					     n->h.desc);
			if (n->h.link_id)
				bearer_refuse(bearer, n);
			return;
		}
		port->is_auto = true;
		link = pib_udp_link_create(bearer, port,
					   trunk ? PIB_UDP_LINK_TRUNK : PIB_UDP_LINK_ACCEPTED,
					   &n->from, &n->h);
		if (IS_ERR(link))
			return;
	}
	if (!n->h.link_id)
		return;
	local_bh_disable();
	rcu_read_lock();
	pib_udp_link_control(link, &n->from, &n->h, n->type);
	rcu_read_unlock();
	local_bh_enable();
}

static void bearer_expire(struct pib_bearer *bearer, struct list_head *dead)
{
	struct pib_udp_link *link, *tmp;
	u64 now = ktime_get_ns();

	list_for_each_entry_safe(link, tmp, &bearer->udp_links, entry)
		if (pib_udp_link_expired(link, now))
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
	/* Strangers that greet without end do not keep the mutex: the rest has its turn later. */
	while (left && bearer_next_newcomer(bearer, &n)) {
		bearer_admit(bearer, &n);
		left--;
	}
	if (!left)
		queue_delayed_work(pib_wq, &bearer->work, 1);
	bearer_expire(bearer, &dead);
	/*
	 * Under the mutex, as the links' work may still want their ports, and nothing but the mutex
	 * keeps the host switch from being destroyed.
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

/* ---- keys ---- */

/*
 * Would the link of a peer be lost that speaks by a key which is none of @keys? A link that has
 * just begun a new session counts as well.
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
 * New keys are accepted before anybody speaks by them, and nobody speaks by old ones any more when
 * these are forgotten.
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

static int bearer_check_key(const struct pib_bearer *bearer, const struct pib_bearer_cfg *cfg,
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
	bearer->users = 1;
	bearer->id = ++sock->pn->next_id;
	bearer->nonce = get_random_u64() | 1;
	bearer->next_answer = jiffies;
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
		err = is_link ? 0 : bearer_check_key(bearer, cfg, extack);
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
