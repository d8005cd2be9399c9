// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Paths of links over UDP: what the data path knows of a session. But for @flows and @limit a path
 * never changes, and is replaced as a whole.
 */
#include <linux/slab.h>
#include "core/net.h"
#include "core/notify.h"
#include "udp/bearer.h"
#include "udp/credit.h"
#include "udp/keys.h"
#include "udp/link.h"
#include "udp/link_notify.h"
#include "udp/path.h"
#include "udp/seal.h"

/* Flows have source ports of their own. */
static bool udp_path_admits(const struct pib_udp_path *path, const struct pib_addr *from)
{
	return pib_addr_same_host(&path->peer[pib_addr_slot(from)], from);
}

struct pib_udp_path *pib_udp_path_find(struct pib_udp_sock *sock, u32 id, u16 tag,
				       const struct pib_addr *from, struct pib_udp_link **link)
{
	struct pib_udp_path *path;

	*link = xa_load(&sock->pn->links, id);
	path = *link && (*link)->bearer->sock == sock ? rcu_dereference((*link)->path) : NULL;
	if (!path || path->rx_tag != tag) {
		pib_udp_sock_drop(sock, rx_unknown_link);
		return NULL;
	}
	if (!udp_path_admits(path, from)) {
		pib_udp_sock_drop(sock, rx_wrong_addr);
		return NULL;
	}
	return path;
}

static void udp_path_free(struct rcu_head *rcu)
{
	struct pib_udp_path *path = container_of(rcu, struct pib_udp_path, rcu);

	dst_cache_destroy(&path->cache);
	pib_seal_put(path->seal);
	kfree(path);
}

static bool peer_wants_noicrc(const struct pib_session *s)
{
	return s->peer_caps & PIB_CAP_NOICRC;
}

static bool peer_knows_segments(const struct pib_session *s)
{
	return s->peer_caps & PIB_CAP_SEGMENTS;
}

static bool peer_tells_marks(const struct pib_session *s)
{
	return s->peer_caps & PIB_CAP_ECN;
}

/* Return: true if both ends want VLs to have windows. */
static bool link_has_windows(const struct pib_udp_link *link)
{
	return READ_ONCE(link->bearer->windows) && link->session.peer_caps & PIB_CAP_WINDOWS;
}

/* Return: true if the peer says that what this end sends from flows' ports comes in there. */
static bool peer_gets_flows(const struct pib_session *s)
{
	return s->peer_caps & PIB_CAP_FLOWS_COME;
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
	const struct pib_keyring *keys = rcu_dereference(link->bearer->keys);

	lockdep_assert_held(&link->lock);
	*e = (struct end_keys) {};
	if (!keys)
		return true;
	e->own = pib_keyring_find(keys, link->session.key);
	e->peer = pib_keyring_find(keys, link->session.peer_key);
	return e->own && e->peer;
}

static u16 data_tag(const struct pib_auth *auth, u64 to, u64 from)
{
	return auth ? pib_auth_tag(auth, to, from) : pib_session_tag(to);
}

bool pib_udp_link_has_seal(const struct pib_udp_link *link)
{
	const struct pib_session *session = &link->session;
	const struct pib_seal *seal = link->seal;

	lockdep_assert_held(&link->lock);
	return seal && seal->nonce == session->nonce && seal->peer_nonce == session->peer_nonce;
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
	if (!e->own || pib_udp_link_has_seal(link))
		return true;
	pib_seal_put(link->seal);
	link->seal = pib_seal_alloc(e->own, e->peer, link->session.nonce, link->session.peer_nonce);
	return link->seal;
}

/* Make a path for the present session. Context: RCU. Return: NULL: no memory, or a key is gone. */
static struct pib_udp_path *udp_path_make(struct pib_udp_link *link)
{
	struct pib_udp_path *path;
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
	path->remote_id = link->session.remote_id;
	path->nonce = link->session.nonce;
	path->peer_nonce = link->session.peer_nonce;
	path->tx_tag = data_tag(e.own, path->peer_nonce, path->nonce);
	path->rx_tag = data_tag(e.peer, path->nonce, path->peer_nonce);
	path->noicrc = peer_wants_noicrc(&link->session);
	path->segments = peer_knows_segments(&link->session);
	path->ecn = peer_tells_marks(&link->session);
	path->windows = link_has_windows(link);
	path->flows = peer_gets_flows(&link->session);
	path->limit = link->session.pmtu.limit;
	path->seal = pib_seal_get(link->seal);
	path->key = link->session.key;
	path->peer_key = link->session.peer_key;
	if (path->windows)
		pib_udp_credits_begin(link);
	return path;
}

static bool udp_path_current(const struct pib_udp_link *link, const struct pib_udp_path *path)
{
	return path->remote_id == link->session.remote_id && path->to == link->to &&
	       path->nonce == link->session.nonce && path->peer_nonce == link->session.peer_nonce &&
	       path->noicrc == peer_wants_noicrc(&link->session) &&
	       path->segments == peer_knows_segments(&link->session) &&
	       path->ecn == peer_tells_marks(&link->session) &&
	       path->windows == link_has_windows(link) &&
	       !memcmp(path->peer, link->peer, sizeof(path->peer));
}

/* Tell listeners that the session has @path instead of @old; NULL: none. */
static void udp_link_notify_path(const struct pib_udp_link *link, const struct pib_udp_path *old,
				 const struct pib_udp_path *path)
{
	if (!path)
		pib_udp_link_notify(link, PIB_EVENT_KIND_SESSION_DOWN);
	else if (!old)
		pib_udp_link_notify(link, PIB_EVENT_KIND_SESSION_UP);
	else if (old->nonce != path->nonce || old->peer_nonce != path->peer_nonce)
		pib_udp_link_notify(link, PIB_EVENT_KIND_SESSION_ANEW);
	else if (!pib_addr_equal(&old->peer[old->to], &path->peer[path->to]))
		pib_udp_link_notify(link, PIB_EVENT_KIND_SESSION_MOVED);
}

void pib_udp_path_update(struct pib_udp_link *link)
{
	struct pib_udp_path *old, *path = NULL;
	bool is_up = link->session.state == PIB_SESSION_UP && !link->dead;

	lockdep_assert_held(&link->lock);
	old = rcu_dereference_protected(link->path, lockdep_is_held(&link->lock));
	if (is_up && old && udp_path_current(link, old)) {
		WRITE_ONCE(old->flows, peer_gets_flows(&link->session));
		WRITE_ONCE(old->limit, link->session.pmtu.limit);
		return;
	}
	if (is_up) {
		rcu_read_lock();
		path = udp_path_make(link);
		rcu_read_unlock();
	}
	if (!old && !path)
		return;
	pib_udp_link_dbg(link, "%s with %.64s", path ? "session" : "no session any more",
			 link->session.peer_desc);
	rcu_assign_pointer(link->path, path);
	udp_link_notify_path(link, old, path);
	if (old)
		call_rcu(&old->rcu, udp_path_free);
}

bool pib_udp_link_by_flow(const struct pib_udp_link *link)
{
	const struct pib_udp_path *path;

	path = rcu_dereference_protected(link->path, lockdep_is_held(&link->lock));
	return path && READ_ONCE(path->flows) && READ_ONCE(link->bearer->flow_ports) &&
	       READ_ONCE(link->bearer->sock->end[path->to].flows.n);
}
