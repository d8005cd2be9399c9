/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* UDP ports from which data leaves, flow by flow (proto/flow.h). */
#ifndef PIB_UDP_FLOW_PORTS_H
#define PIB_UDP_FLOW_PORTS_H

#include <linux/types.h>
#include "proto/flow.h"

struct pib_udp_sock_end;
struct socket;

/**
 * struct pib_flow_ports - ports of one address family, each with a socket
 * @n: number of them that data may leave from; 0: the ports are not open. Written under pn->lock,
 *	read anywhere
 * @port: UDP ports; those below @n stay as they are until a grace period after @n is 0
 * @socket: sockets that have them. Nothing is sent by these, nor taken in: while they are there no
 *	process has the port on the netdev, reads routers' errors about our data that come in by the
 *	netdev, or keeps them from the route
 */
struct pib_flow_ports {
	unsigned int n;
	__be16 port[PIB_FLOW_PORTS];
	struct socket *socket[PIB_FLOW_PORTS];
};

/*
 * Open the ports of @end, unless it has no socket or they are open. Where ports are taken others
 * serve; if there are fewer in the end, flows share them. Context: process; pn->lock held; sleeps.
 */
void pib_flow_ports_open(struct pib_udp_sock_end *end);
/*
 * Have no more data leave from the ports, and let no CPU that takes something in begin to use @end.
 * Context: process; pn->lock held.
 */
void pib_flow_ports_mute(struct pib_udp_sock_end *end);
/* Close the ports, a grace period after pib_flow_ports_mute(). Context: as there; sleeps. */
void pib_flow_ports_close(struct pib_udp_sock_end *end);

/* Return: the port of a flow that pib_flow_hash() tells; 0: there is none. Context: any. */
__be16 pib_flow_port(const struct pib_flow_ports *fp, u32 hash);

#endif
