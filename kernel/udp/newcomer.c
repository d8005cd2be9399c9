// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Newcomers: peers that have echoed an answer wait here until the bearer's work makes their
 * links.
 */
#include "core/net.h"
#include "fabric/switch.h"
#include "udp/admission.h"
#include "udp/answer.h"
#include "udp/bearer.h"
#include "udp/discovery.h"
#include "udp/link.h"
#include "udp/newcomer.h"
#include "udp/session.h"

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

void pib_newcomer_add(struct pib_bearer *bearer, const struct pib_newcomer *n)
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

bool pib_newcomer_next(struct pib_bearer *bearer, struct pib_newcomer *n)
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

void pib_newcomer_echoed(struct pib_bearer *bearer, struct pib_udp_link *link,
			 const struct pib_newcomer *n)
{
	struct pib_addr *known = &link->peer[n->from.family == AF_INET6];

	if (link->kind == PIB_UDP_LINK_TRUNK &&
	    pib_bearer_may_lead(bearer, link, &n->from, &n->h, &n->way)) {
		spin_lock_bh(&link->lock);
		if (!known->family)
			*known = n->from;
		spin_unlock_bh(&link->lock);
	}
	pib_udp_link_control(link, &n->from,
			     pib_bearer_may_move(bearer, link, &n->from, &n->h, &n->way), &n->h,
			     n->type);
}

/* Return: true if the newcomer's key is still one of ours: it may have been dropped meanwhile. */
static bool newcomer_is_authentic(const struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	const struct pib_keyring *keys = pib_bearer_keys(bearer);

	lockdep_assert_held(&bearer->sock->pn->lock);
	return !keys || pib_keyring_find(keys, n->h.key);
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
	return link || pib_bearer_admits(bearer, &n->from, &n->h, &n->way);
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

void pib_newcomer_admit(struct pib_bearer *bearer, const struct pib_newcomer *n)
{
	struct pib_switch *sw = rcu_dereference_protected(bearer->sw, true);
	enum pib_answer_back back = PIB_ANSWER_NONE;
	struct pib_udp_link *link;
	bool welcome;

	lockdep_assert_held(&bearer->sock->pn->lock);
	local_bh_disable();
	rcu_read_lock();
	link = pib_bearer_match(bearer, &n->from, &n->h);
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
		pib_newcomer_echoed(bearer, link, n);
	rcu_read_unlock();
	local_bh_enable();
}
