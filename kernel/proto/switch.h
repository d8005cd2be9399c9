/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The way of packets through a switch (IBA 18.2.4). */
#ifndef PIB_PROTO_SWITCH_H
#define PIB_PROTO_SWITCH_H

#include "node.h"

enum pib_route_kind {
	PIB_ROUTE_DROP,		/* counted by env according to @reason */
	PIB_ROUTE_PORT,		/* out of @port */
	PIB_ROUTE_SELF,		/* for port 0 */
	PIB_ROUTE_MCAST,	/* out of the ports in @mask, bit 0: port 0 */
};

enum pib_route_reason {
	PIB_ROUTE_DROP_SILENT,	/* not dropped, or nobody is left to send it to: no error */
	/* no route: rcv_switch_relay_err, relay_dlid of the in port */
	PIB_ROUTE_DROP_RELAY,
	/* would go back: rcv_switch_relay_err, relay_loop of the in port */
	PIB_ROUTE_DROP_LOOP,
	PIB_ROUTE_DROP_IN_STATE,	/* in port not yet ARMED: no counter of its own */
	PIB_ROUTE_DROP_OUT_STATE,	/* @port not ACTIVE: xmit_discard of @port */
	PIB_ROUTE_DROP_PKEY_IN,	/* rcv_constraint_err of the in port, trap 259 */
	PIB_ROUTE_DROP_PKEY_OUT,	/* xmit_constraint_err of @port, trap 259 */
};

/**
 * struct pib_route - the way of a packet
 * @kind: enum pib_route_kind
 * @port: out port, also if it is the reason to drop
 * @reason: enum pib_route_reason
 * @mask: PIB_ROUTE_MCAST: out ports
 * @stopped: PIB_ROUTE_MCAST: ports at which the P_Key stops a copy: xmit_constraint_err, trap 259
 */
struct pib_route {
	u8 kind;
	u8 port;
	u8 reason;
	u32 mask[PIB_PORTMASK_WORDS * 2];
	u32 stopped[PIB_PORTMASK_WORDS * 2];
};

/**
 * pib_node_route() - find the way of a packet (18.2.4)
 * @sw: switch
 * @in_port: port by which the packet came in; 0: the switch itself has made it
 * @h: headers of the packet
 * @rt: result; @rt->mask and @rt->stopped are written for PIB_ROUTE_MCAST only
 *
 * Looks at DLID, LFT, MFT, port states and partition enforcement of both ports. For QP0 packets
 * with permissive DLID the result is SELF. Counts nothing, and never routes a packet back out of
 * @in_port.
 *
 * Context: any; without the node's lock.
 */
void pib_node_route(const struct pib_node *sw, u8 in_port,
		    const struct pib_hdrs *h, struct pib_route *rt);

/* Return: true if a multicast leaves by @port. Context: any. */
static inline bool pib_route_has(const struct pib_route *rt, u8 port)
{
	return rt->mask[port / 32] >> (port % 32) & 1;
}

/* Return: true if the P_Key stops a copy of a multicast at @port. Context: any. */
static inline bool pib_route_stops(const struct pib_route *rt, u8 port)
{
	return rt->stopped[port / 32] >> (port % 32) & 1;
}

#endif
