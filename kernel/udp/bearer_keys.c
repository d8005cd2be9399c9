// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The keys of a bearer's fabric, and their exchange while links are up. */
#include <linux/ktime.h>
#include <linux/netlink.h>
#include "core/net.h"
#include "udp/bearer.h"
#include "udp/bearer_keys.h"
#include "udp/hello.h"
#include "udp/link.h"
#include "udp/session.h"

/*
 * Return: true if a link would be lost because its peer uses a key which is none of @keys. A link
 * that has just begun a new session counts as well.
 */
static bool keys_are_missed(struct pib_bearer *bearer, const struct pib_keyring *keys)
{
	struct pib_udp_link *link;
	u64 now = ktime_get_ns();
	bool missed = false;
	u32 key;

	list_for_each_entry(link, &bearer->udp_links, entry) {
		spin_lock_bh(&link->lock);
		key = pib_session_used_key(&link->session, now);
		missed |= key && !pib_keyring_find(keys, key);
		spin_unlock_bh(&link->lock);
	}
	return missed;
}

/*
 * Replace @old by @keys. The new keys are accepted before any link uses them, and no link uses the
 * old ones any more when they are freed.
 */
static void bearer_replace_keys(struct pib_bearer *bearer, struct pib_keyring *old,
				struct pib_keyring *keys)
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
	pib_keyring_free(old);
}

int pib_bearer_set_keys(struct pib_bearer *bearer, const struct pib_keyring_req *req,
			struct netlink_ext_ack *extack)
{
	struct pib_net *pn = bearer->sock->pn;
	struct pib_keyring *old = rcu_dereference_protected(bearer->keys,
							    lockdep_is_held(&pn->lock));
	struct pib_keyring *keys;

	if (!old) {
		NL_SET_ERR_MSG(extack, "the fabric has no key: make its HCAs again, with one");
		return -EINVAL;
	}
	keys = pib_keyring_exchange(old, req, extack);
	if (IS_ERR(keys))
		return PTR_ERR(keys);
	if (!req->force && keys_are_missed(bearer, keys)) {
		NL_SET_ERR_MSG(extack,
			       "a peer uses the key that would go, see 'pibctl show peers': change that host's key first, or drop it by force");
		pib_keyring_free(keys);
		return -EBUSY;
	}
	bearer_replace_keys(bearer, old, keys);
	pn->changes++;
	return 0;
}
