// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Settling: the port of a link over UDP follows its session, and without an SM routes follow it. */
#include "core/net.h"
#include "fabric/cable.h"
#include "fabric/port.h"
#include "fabric/switch.h"
#include "tracing/fabric.h"
#include "udp/bearer.h"
#include "udp/link.h"
#include "udp/settle.h"
#include "udp/standalone_lid.h"

/**
 * struct pib_udp_link_state - the session as the port shall see it
 * @up: the link is up
 * @losses: sessions lost so far
 * @far: what the other end can do
 * @lids: LIDs behind the other end
 * @num_lids: entries in @lids
 */
struct pib_udp_link_state {
	bool up;
	u32 losses;
	struct pib_far far;
	u8 num_lids;
	u16 lids[PIB_HELLO_LIDS];
};

static void udp_link_take_state(struct pib_udp_link *link, struct pib_udp_link_state *s)
{
	spin_lock_bh(&link->lock);
	s->up = !link->dead && link->session.plugged && READ_ONCE(link->bearer->sock->running);
	s->losses = link->losses;
	s->far.mtu_cap = link->session.peer_mtu_cap;
	s->far.width_en = link->session.peer_width_en;
	s->far.speed_en = link->session.peer_speed_en;
	s->far.ext_speed_en = link->session.peer_ext_speed_en;
	s->num_lids = s->up ? link->num_lids : 0;
	memcpy(s->lids, link->lids, sizeof(s->lids));
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
	       READ_ONCE(link->session.peer_node_guid) > READ_ONCE(holder->session.peer_node_guid);
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
			queue_work(pib_link_wq, &other->work);
	rcu_read_unlock();
}

/* Without an SM: bring the host switch's routes in line with the LIDs that the peer announces. */
static void udp_link_route(struct pib_udp_link *link, const struct pib_udp_link_state *s)
{
	struct pib_switch *sw = link->port->sw;
	bool left = false;
	unsigned int i;

	lockdep_assert_held(&pib_udp_link_net(link)->link_lock);
	if (!sw || !sw->nd.standalone)
		return;
	for (i = 0; i < link->num_routed; i++)
		if (!lid_listed(s->lids, s->num_lids, link->routed[i]))
			left |= route_leave(link, link->routed[i]);
	link->num_routed = 0;
	for (i = 0; i < s->num_lids; i++)
		if (route_take(link, s->lids[i]))
			link->routed[link->num_routed++] = s->lids[i];
	if (left)
		udp_link_offer_routes(link);
}

/*
 * Give up LIDs that the peer has given itself as well, unless our node GUID is higher: the host
 * with the higher one keeps them.
 */
static void udp_link_solve_conflicts(struct pib_udp_link *link, const struct pib_udp_link_state *s)
{
	struct pib_node *n = link->port->p.node;
	unsigned int i;

	if (n->guid > READ_ONCE(link->session.peer_node_guid))
		return;
	for (i = 0; i < s->num_lids; i++)
		pib_udp_link_move_lid(link, s->lids[i]);
}

/* Note and trace that the link is up or down for its port. */
static void link_tell(struct pib_udp_link *link, bool up)
{
	const struct pib_session *session = &link->session;

	link->is_up = up;
	pib_udp_link_dbg(link, "link %s", up ? "up" : "down");
	trace_pib_link(link->port->nd->name, link->port->p.num, up,
		       READ_ONCE(session->peer_node_guid), READ_ONCE(session->peer_port_num));
}

void pib_udp_link_settle(struct pib_udp_link *link)
{
	struct pib_udp_link_state s;

	lockdep_assert_held(&pib_udp_link_net(link)->link_lock);
	udp_link_take_state(link, &s);
	if (link->is_up && (!s.up || s.losses != link->settled)) {
		pib_kport_link_down(link->port);
		link_tell(link, false);
	}
	/* Pairs with pib_udp_link_is_unsettled(). */
	smp_store_release(&link->settled, s.losses);
	udp_link_solve_conflicts(link, &s);
	udp_link_route(link, &s);
	if (s.up && !link->is_up) {
		link_tell(link, true);
		pib_kport_link_up(link->port, &s.far);
	}
}
