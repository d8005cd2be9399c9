// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Events of links over UDP and of their sessions, for listeners. */
#include "core/notify.h"
#include "fabric/port.h"
#include "udp/link.h"
#include "udp/link_notify.h"

void pib_udp_link_notify(const struct pib_udp_link *link, u8 kind)
{
	const struct pib_note_udp udp = {
		.ifindex = link->bearer->sock->ifindex,
		.peer = &link->peer[link->to],
		.up = rcu_access_pointer(link->path),
		.second_key = pib_udp_link_by_second_key(link),
		.restarts = link->session.restarts,
		.guid = link->session.peer_node_guid,
		.port_num = link->session.peer_port_num,
		.desc = link->session.peer_desc,
	};
	const struct pib_note note = {
		.pn = pib_udp_link_net(link),
		.kind = kind,
		.a = pib_kport_note_end(link->port),
		.udp = &udp,
		.is_auto = link->port->is_auto,
	};

	lockdep_assert_held(&link->lock);
	pib_notify(&note);
}
