// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Discovery: control datagrams that come, and the links that they are for.
 *
 * A bearer that hears of a new host switch makes a link to that, a trunk from host
 * switch to host switch, which then has a session of its own (udp/session.c). One trunk
 * serves a peer however many addresses the peer has.
 */
#include <linux/net.h>
#include "core/net.h"
#include "core/task.h"
#include "fabric/switch.h"
#include "udp/admission.h"
#include "udp/answer.h"
#include "udp/bearer.h"
#include "udp/discovery.h"
#include "udp/link.h"
#include "udp/newcomer.h"
#include "udp/session.h"

/*
 * Least time between two lines in the log about a host that has our node GUID, and about one of the
 * version before.
 */
#define LOG_QUIET_MS		60000

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
		bound = link->session.state == PIB_SESSION_UP &&
			(link->session.peer_node_guid != h->node_guid ||
			 link->session.peer_port_num != h->port_num);
		same = !trunk_hello && !bound &&
		       (pib_addr_equal(&link->peer[link->to], from) ||
			pib_addr_equal(&link->named, from));
	}
	spin_unlock_bh(&link->lock);
	return same;
}

struct pib_udp_link *pib_bearer_match(struct pib_bearer *bearer, const struct pib_addr *from,
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

/*
 * Warn of a hello that says it comes from @node, which is here. Unless it is our own hello that the
 * network has sent back, another host has the same GUID. A fabric cannot have both.
 */
static void bearer_meet_clone(struct pib_bearer *bearer, const struct pib_node *node,
			      const struct pib_addr *from, const struct pib_hello *h)
{
	if (h->nonce == bearer->nonce ||
	    !pib_bearer_is_due(bearer, &bearer->next_clone, LOG_QUIET_MS))
		return;
	if (from->family == AF_INET)
		pr_warn("pib: %.64s: %pI4 has the same node GUID, %016llx\n", node->desc,
			&from->v4, h->node_guid);
	else
		pr_warn("pib: %.64s: %pI6c has the same node GUID, %016llx\n", node->desc,
			&from->v6, h->node_guid);
}

/* Take in a hello to no link in particular from an unknown peer. Context: RCU, softirqs off. */
static void bearer_stranger(struct pib_bearer *bearer, const struct pib_addr *from,
			    const struct pib_hello *h, const struct pib_hello_way *way)
{
	if (pib_bearer_admits(bearer, from, h, way))
		pib_answer_stranger(bearer, from, h);
}

/* Take in a discovery hello of a trunk's peer. Context: RCU, softirqs off. */
static void bearer_heard(struct pib_bearer *bearer, struct pib_udp_link *link,
			 const struct pib_addr *from, const struct pib_hello *h,
			 const struct pib_hello_way *way)
{
	if (!pib_hello_admits(PIB_HELLO_ANYBODY, h, way))
		pib_udp_sock_drop(bearer->sock, rx_stranger);
	else if (!pib_udp_link_heard(link, from))
		pib_answer_stranger(bearer, from, h);
}

/*
 * Take in a hello to no link in particular that comes from the peer of @link. If the link is down,
 * and does not know the address, the sender is to echo an answer to there first: who had a session
 * may foresee the next one, and would have the link come up at the address of somebody else.
 * Context: RCU, softirqs off.
 */
static void bearer_greeted(struct pib_bearer *bearer, struct pib_udp_link *link,
			   const struct pib_addr *from, const struct pib_hello *h, u8 type,
			   const struct pib_hello_way *way)
{
	if (pib_udp_link_is_away(link, from) && pib_bearer_may_move(bearer, link, from, h, way))
		pib_answer_stranger(bearer, from, h);
	else
		pib_udp_link_control(link, from, false, h, type);
}

/* Take in a hello to no link in particular. Context: RCU, softirqs off. */
static void bearer_discover(struct pib_bearer *bearer, const struct pib_addr *from,
			    const struct pib_hello *h, u8 type, const struct pib_hello_way *way)
{
	struct pib_switch *sw = rcu_dereference(bearer->sw);
	struct pib_udp_link *link;

	if (sw && h->node_guid == sw->nd.node.guid) {
		bearer_meet_clone(bearer, &sw->nd.node, from, h);
		pib_udp_sock_drop(bearer->sock, rx_bad_hello);
		return;
	}
	if (type != PIB_DG_HELLO) {
		pib_udp_sock_drop(bearer->sock, rx_bad_hello);
		return;
	}
	if (h->caps & PIB_CAP_PROBE) {
		if (pib_bearer_may_ask(bearer, from, h, way) &&
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
		if (link)
			bearer_heard(bearer, link, from, h, way);
		else
			bearer_stranger(bearer, from, h, way);
		return;
	}
	link = pib_bearer_match(bearer, from, h);
	if (link)
		bearer_greeted(bearer, link, from, h, type, way);
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

	if (type == PIB_DG_BYE || !h->link_id || h->padded ||
	    pib_answer_is_back(bearer, from, h, to_id) == PIB_ANSWER_NONE) {
		pib_udp_sock_drop(bearer->sock, rx_unknown_link);
		return;
	}
	link = pib_bearer_match(bearer, from, h);
	if (!link) {
		/* Links are made under the lock of the namespace: that is not for who gets none. */
		if (pib_bearer_admits(bearer, from, h, way))
			pib_newcomer_add(bearer, &n);
		return;
	}
	pib_newcomer_echoed(bearer, link, &n);
}

/*
 * Return: true if the sender has one of our keys, whose number is noted in @h, or neither side has
 * a key. Context: RCU.
 */
static bool hello_is_authentic(const struct pib_bearer *bearer, struct pib_hello *h, const u8 *buf)
{
	const struct pib_keyring *keys = rcu_dereference(bearer->keys);

	if (!keys)
		return !(h->caps & PIB_CAP_KEYED);
	if (h->caps & PIB_CAP_KEYED)
		h->key = pib_keyring_check(keys, buf);
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

/*
 * Take in a datagram that is neither DATA nor SEGMENT nor CREDIT; nothing has checked its bytes but
 * for the version. One that is no control datagram, not authentic, or for nobody here is counted.
 */
static void bearer_control(struct pib_udp_sock *sock, const struct pib_addr *from,
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
	pib_tasks_copied(PIB_UDP_CONTROL_COPIES);
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
	pib_udp_link_control(link, from, false, &h, type);
}

/*
 * Take in a datagram of version PIB_DG_FORMER. A HELLO that wants a link, and might have it in this
 * version, is refused, for its user to know.
 */
static void bearer_former(struct pib_udp_sock *sock, const struct pib_addr *from,
			  const struct pib_hello_way *way, const u8 *buf, u32 len)
{
	struct pib_bearer *bearer;
	struct pib_kport *port;
	struct pib_hello h;

	if (!pib_hello_parse_former(&h, buf, len))
		return;
	bearer = bearer_of_fabric(sock, h.fabric);
	if (!bearer || !pib_bearer_tells_former(bearer, from, &h, way) ||
	    !pib_answer_send(bearer, from, &h, PIB_DG_BYE, PIB_REFUSED_VERSION))
		return;
	port = pib_bearer_speaker(bearer);
	if (port && pib_bearer_is_due(bearer, &bearer->next_former_note, LOG_QUIET_MS))
		pr_warn("pib: %.64s: %.64s speaks version %u of pib's wire format, and gets no link\n",
			port->p.node->desc, h.desc, PIB_DG_FORMER);
}

const struct pib_udp_sock_ops pib_bearer_sock_ops = {
	.control = bearer_control,
	.former = bearer_former,
};
