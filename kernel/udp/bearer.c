// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bearers: a netdev and the other hosts on its network. Users know bearers as uplinks.
 *
 * udp/hello.c calls the other hosts, and udp/discovery.c hears them.
 */
#include <linux/jiffies.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include "core/net.h"
#include "fabric/switch.h"
#include "udp/bearer.h"
#include "udp/discovery.h"
#include "udp/hello.h"
#include "udp/link.h"
#include "udp/newcomer.h"
#include "udp/session.h"

/* A link that the user did not ask for is given up when it has been down for so long. */
#define LINK_EXPIRY_NS		(60 * PIB_NSEC_PER_SEC)
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

/* ---- making links ---- */

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
	expired = link->session.state != PIB_SESSION_UP && now > link->alive_at + LINK_EXPIRY_NS;
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

static void bearer_work(struct work_struct *work)
{
	struct pib_bearer *bearer = container_of(work, struct pib_bearer, work.work);
	struct pib_net *pn = bearer->sock->pn;
	unsigned int left = PIB_NEWCOMERS;
	struct pib_newcomer n;
	LIST_HEAD(dead);

	/* The task that takes the bearer apart holds the mutex and waits for this work. */
	if (!pib_net_trylock(pn)) {
		queue_delayed_work(pib_wq, &bearer->work, 1);
		return;
	}
	/* Newcomers without end must not keep the mutex: the rest waits for the next run. */
	while (left && pib_newcomer_next(bearer, &n)) {
		pib_newcomer_admit(bearer, &n);
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

void pib_bearer_bye(struct pib_bearer *bearer)
{
	struct pib_udp_link *link;

	local_bh_disable();
	rcu_read_lock();
	list_for_each_entry_rcu(link, &bearer->udp_links, entry)
		pib_udp_link_bye(link);
	rcu_read_unlock();
	local_bh_enable();
}

void pib_bearer_carrier(struct pib_bearer *bearer)
{
	struct pib_udp_link *link;

	local_bh_disable();
	rcu_read_lock();
	list_for_each_entry_rcu(link, &bearer->udp_links, entry)
		pib_udp_link_restart(link);
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

/* ---- DSCP, ECN, source ports and windows of data ---- */

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
	return !memcmp(tos, bearer->tos, sizeof(tos)) &&
	       !(cfg->flow_ports_given && cfg->flow_ports != bearer->flow_ports) &&
	       !(cfg->windows_given && cfg->windows != bearer->windows);
}

/* Have the ports of flows open while a bearer of @sock uses them. */
static void bearers_set_flows(struct pib_udp_sock *sock)
{
	struct pib_bearer *bearer;
	bool open = false;

	lockdep_assert_held(&sock->pn->lock);
	list_for_each_entry(bearer, &sock->bearers, entry)
		open |= bearer->flow_ports;
	pib_udp_sock_set_flows(sock, open);
}

void pib_bearer_set_tos(struct pib_bearer *bearer, const struct pib_tos_cfg *cfg)
{
	lockdep_assert_held(&bearer->sock->pn->lock);
	tos_apply(bearer->tos, cfg);
	if (cfg->flow_ports_given)
		WRITE_ONCE(bearer->flow_ports, cfg->flow_ports);
	if (cfg->windows_given)
		WRITE_ONCE(bearer->windows, cfg->windows);
	bearers_set_flows(bearer->sock);
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

/* ---- creation ---- */

static int bearer_check_cfg(const struct pib_bearer *bearer, const struct pib_bearer_cfg *cfg,
			    struct netlink_ext_ack *extack)
{
	const struct pib_keyring *keys = pib_bearer_keys(bearer);

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
			       "the uplink on this netdev accepts others than asked for: 'pibctl set' changes that");
	else if (!bearer_says(bearer, &cfg->tos))
		NL_SET_ERR_MSG(extack,
			       "the uplink on this netdev sends its data otherwise (DSCP, ECN, flow ports or windows): 'pibctl set' changes that");
	else
		return 0;
	return -EINVAL;
}

static struct pib_bearer *bearer_create(struct pib_udp_sock *sock, const struct pib_bearer_cfg *cfg,
					struct netlink_ext_ack *extack)
{
	struct pib_bearer *bearer = kzalloc(sizeof(*bearer), GFP_KERNEL);
	struct pib_keyring *keys;

	if (!bearer)
		return ERR_PTR(-ENOMEM);
	if (cfg->key.len) {
		keys = pib_keyring_alloc(&cfg->key, &cfg->second, extack);
		if (IS_ERR(keys)) {
			kfree(bearer);
			return ERR_CAST(keys);
		}
		RCU_INIT_POINTER(bearer->keys, keys);
	}
	bearer->sock = sock;
	bearer->fabric = cfg->fabric;
	bearer->accept = cfg->accept_given ? cfg->accept : PIB_HELLO_ANYBODY;
	bearer->flow_ports = !cfg->tos.flow_ports_given || cfg->tos.flow_ports;
	bearer->windows = cfg->tos.windows_given && cfg->tos.windows;
	tos_apply(bearer->tos, &cfg->tos);
	bearer->users = 1;
	bearer->id = ++sock->pn->next_id;
	bearer->nonce = get_random_u64() | 1;
	bearer->next_group = jiffies;
	bearer->next_former = jiffies;
	bearer->next_former_note = jiffies;
	get_random_bytes(bearer->cookies.secret, sizeof(bearer->cookies.secret));
	bearer->next_clone = jiffies;
	INIT_LIST_HEAD(&bearer->udp_links);
	spin_lock_init(&bearer->lock);
	INIT_DELAYED_WORK(&bearer->hello, pib_bearer_hello_work);
	INIT_DELAYED_WORK(&bearer->work, bearer_work);
	list_add_tail_rcu(&bearer->entry, &sock->bearers);
	bearers_set_flows(sock);
	sock->pn->changes++;
	return bearer;
}

struct pib_bearer *pib_bearer_get(struct pib_net *pn, const struct pib_bearer_cfg *cfg,
				  bool is_link, struct netlink_ext_ack *extack)
{
	struct pib_bearer *bearer;
	struct pib_udp_sock *sock;
	int err;

	sock = pib_udp_sock_get(pn, cfg->ifindex, cfg->udp_port, &pib_bearer_sock_ops, extack);
	if (IS_ERR(sock))
		return ERR_CAST(sock);
	list_for_each_entry(bearer, &sock->bearers, entry) {
		if (bearer->fabric != cfg->fabric)
			continue;
		err = is_link && !cfg->key.len ? 0 : bearer_check_cfg(bearer, cfg, extack);
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
	pib_keyring_free(rcu_dereference_protected(bearer->keys, true));
	kfree(bearer);
	if (!list_empty(&sock->bearers))
		bearers_set_flows(sock);
	pib_udp_sock_put(sock);
	pn->changes++;
}
