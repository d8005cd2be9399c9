// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Admission: which peers a bearer gives a port, and which links may follow their peers. */
#include <linux/net.h>
#include "fabric/switch.h"
#include "udp/admission.h"
#include "udp/answer.h"
#include "udp/bearer.h"
#include "udp/link.h"

/* Return: true if the user has named the host at @from as a peer. */
static bool bearer_names(struct pib_bearer *bearer, const struct pib_addr *from)
{
	struct pib_udp_link *link;

	list_for_each_entry_rcu(link, &bearer->udp_links, entry)
		if (link->kind == PIB_UDP_LINK_EXPLICIT &&
		    pib_addr_same_host(&link->named, from))
			return true;
	return false;
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

bool pib_bearer_may_lead(struct pib_bearer *bearer, const struct pib_udp_link *link,
			 const struct pib_addr *from, const struct pib_hello *h,
			 const struct pib_hello_way *way)
{
	u8 accept = READ_ONCE(bearer->accept);
	struct pib_hello_way full = bearer_way(bearer, accept, from, way);

	return pib_hello_follows(accept, link->kind == PIB_UDP_LINK_TRUNK, h, &full);
}

bool pib_bearer_may_move(struct pib_bearer *bearer, const struct pib_udp_link *link,
			 const struct pib_addr *from, const struct pib_hello *h,
			 const struct pib_hello_way *way)
{
	/* If the link goes down meanwhile, the peer has to say it again. */
	return link->kind != PIB_UDP_LINK_EXPLICIT &&
	       READ_ONCE(link->session.state) != PIB_SESSION_UP &&
	       pib_bearer_may_lead(bearer, link, from, h, way);
}

/* Refuse a peer that the bearer does not accept. Context: RCU, softirqs off. */
static void bearer_turn_away(struct pib_bearer *bearer, const struct pib_addr *from,
			     const struct pib_hello *h)
{
	pib_udp_sock_drop(bearer->sock, rx_stranger);
	if (h->link_id || h->caps & PIB_CAP_PROBE)
		pib_answer_send(bearer, from, h, PIB_DG_BYE, PIB_REFUSED_CLOSED);
}

/* Refuse a peer for want of a port in the host switch. Context: RCU, softirqs off. */
static void bearer_is_full(struct pib_bearer *bearer, const struct pib_switch *sw,
			   const struct pib_addr *from, const struct pib_hello *h)
{
	net_warn_ratelimited("pib: %.64s: no free port for %.64s\n", sw->nd.node.desc, h->desc);
	pib_udp_sock_drop(bearer->sock, rx_no_port);
	if (h->link_id)
		pib_answer_send(bearer, from, h, PIB_DG_BYE, PIB_REFUSED_FULL);
}

bool pib_bearer_admits(struct pib_bearer *bearer, const struct pib_addr *from,
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
		bearer_is_full(bearer, sw, from, h);
	else
		return true;
	return false;
}

bool pib_bearer_tells_former(struct pib_bearer *bearer, const struct pib_addr *from,
			     const struct pib_hello *h, const struct pib_hello_way *way)
{
	u8 accept = READ_ONCE(bearer->accept);
	struct pib_hello_way full = bearer_way(bearer, accept, from, way);

	/* A hello to a group, or a broadcast, would draw an answer from each host that hears it. */
	if (way->to_group || !pib_addr_has_own(from))
		return false;
	/* Without a host switch there is no port for who was not named. */
	if (!rcu_access_pointer(bearer->sw) && !bearer_names(bearer, from))
		return false;
	return pib_hello_admits(accept, h, &full);
}

bool pib_bearer_may_ask(struct pib_bearer *bearer, const struct pib_addr *from,
			const struct pib_hello *h, const struct pib_hello_way *way)
{
	u8 accept = READ_ONCE(bearer->accept);
	struct pib_hello_way full = bearer_way(bearer, accept, from, way);
	struct pib_hello asking = *h;

	if (!pib_hello_may_probe(way)) {
		pib_udp_sock_drop(bearer->sock, rx_stranger);
		return false;
	}
	/* As if it named a link: without one a hello is discovery, and of trunks. */
	asking.link_id = 1;
	if (pib_hello_admits(accept, &asking, &full))
		return true;
	bearer_turn_away(bearer, from, h);
	return false;
}
