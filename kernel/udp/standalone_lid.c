// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * LIDs without an SM: a standalone port derives one from its GUID, and takes another
 * if it turns out that another port has it.
 */
#include "udp/standalone_lid.h"
#include "core/net.h"
#include "fabric/port.h"
#include "fabric/switch.h"
#include "udp/link.h"
#include "udp/bearer.h"
#include "udp/hello.h"

u16 pib_lid_choice(u64 port_guid, unsigned int n)
{
	u64 h = (port_guid + n) * 0x9E3779B97F4A7C15ULL;

	return 1 + (u32)(h >> 32) % (PIB_LID_MCAST_FIRST - 1);
}

static bool lid_is_known(struct pib_bearer *bearer, u16 lid)
{
	struct pib_udp_link *link;
	bool known = false;
	unsigned int i;

	if (pib_bearer_has_lid(bearer, lid))
		return true;
	rcu_read_lock();
	list_for_each_entry_rcu(link, &bearer->udp_links, entry) {
		spin_lock_bh(&link->lock);
		for (i = 0; i < link->num_lids; i++)
			known |= link->lids[i] == lid;
		spin_unlock_bh(&link->lock);
	}
	rcu_read_unlock();
	return known;
}

int pib_bearer_choose_lid(struct pib_bearer *bearer, struct pib_kport *port)
{
	u16 lid, old = port->standalone_lid;
	unsigned int n = 0;
	int err = 0;

	lockdep_assert_held(&port->nd->pn->link_lock);
	do
		lid = pib_lid_choice(port->p.guid, n++);
	while (lid_is_known(bearer, lid));

	if (rcu_access_pointer(port->peer) || !rcu_access_pointer(port->link))
		err = pib_bearer_set_lid(bearer, old, lid);
	if (!err)
		WRITE_ONCE(port->standalone_lid, lid);
	return err;
}

/* Tell the host switch and the port's own state machine of the new LID. */
static void kport_use_lid(struct pib_kport *port, u16 old)
{
	spinlock_t *lock = pib_kport_lock(port);
	struct pib_kport *peer;

	peer = rcu_dereference_protected(port->peer, lockdep_is_held(&port->nd->pn->link_lock));
	if (peer && peer->sw && peer->sw->nd.standalone) {
		if (old)
			pib_switch_set_route(peer->sw, old, PIB_LFT_DROP);
		pib_switch_set_route(peer->sw, port->standalone_lid, peer->p.num);
	}
	spin_lock_irq(lock);
	pib_port_set_standalone(&port->p, port->standalone_lid);
	pib_kport_changed(port);
	spin_unlock_irq(lock);
	pib_kport_events(port);
}

static struct pib_kport *find_alone(struct pib_udp_link *link, u16 lid)
{
	const struct pib_net *pn = pib_udp_link_net(link);
	struct pib_switch *sw = link->port->sw;
	struct pib_kport *peer;
	unsigned int i;

	if (!sw)
		return link->port->standalone_lid == lid ? link->port : NULL;
	for (i = 1; i <= sw->nd.node.num_ports; i++) {
		peer = rcu_dereference_protected(sw->nd.ports[i]->peer,
						 lockdep_is_held(&pn->link_lock));
		if (peer && !peer->sw && peer->standalone_lid == lid)
			return peer;
	}
	return NULL;
}

void pib_udp_link_move_lid(struct pib_udp_link *link, u16 lid)
{
	struct pib_kport *port;

	lockdep_assert_held(&pib_udp_link_net(link)->link_lock);
	port = lid ? find_alone(link, lid) : NULL;
	if (!port || pib_bearer_choose_lid(link->bearer, port))
		return;
	kport_use_lid(port, lid);
	pib_bearer_announce(link->bearer);
}
