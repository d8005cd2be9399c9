// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Forwarding (IBA 18.2.4). It runs without the node's lock and reads single words that
 * the agent writes one by one, as hardware does while an SM programs the tables.
 */
#include "node.h"
#include "switch.h"

static u8 route_drop(struct pib_route *rt, u8 reason)
{
	rt->reason = reason;
	return PIB_ROUTE_DROP;
}

/*
 * Partition enforcement compares the low 15 bits only: the table holds what the
 * node behind the port is a member of, and a limited member sends its limited key.
 */
static bool pkey_passes(const struct pib_port *p, u16 pkey, u8 direction)
{
	int i;

	if (!(READ_ONCE(p->part_enforce) & direction))
		return true;
	for (i = 0; i < PIB_SWITCH_PKEYS; i++) {
		u16 e = READ_ONCE(p->pkey[i]) & 0x7FFF;

		if (e && e == (pkey & 0x7FFF))
			return true;
	}
	return false;
}

#define INBOUND 0x8
#define OUTBOUND 0x4

/* QP0 is free of partitions (10.9.2). */
static bool pkey_in(const struct pib_port *p, const struct pib_hdrs *h)
{
	return p->num == 0 || h->dqpn == 0 || pkey_passes(p, h->pkey, INBOUND);
}

static bool pkey_out(const struct pib_port *p, const struct pib_hdrs *h)
{
	return p->num == 0 || h->dqpn == 0 || pkey_passes(p, h->pkey, OUTBOUND);
}

static u8 route_unicast(const struct pib_node *sw, u8 in_port, const struct pib_hdrs *h,
			struct pib_route *rt)
{
	u8 out;

	if (h->dlid == 0 || h->dlid > READ_ONCE(sw->lft_top))
		return route_drop(rt, PIB_ROUTE_DROP_RELAY);
	out = READ_ONCE(sw->lft[h->dlid]);
	rt->port = out;
	/*
	 * Port 0 takes packets for its own LID, which needs no table. For others it is no way out
	 * (9.6.1.1).
	 */
	if (out == 0 || out > sw->num_ports)	/* PIB_LFT_DROP among them */
		return route_drop(rt, PIB_ROUTE_DROP_RELAY);
	if (out == in_port)
		return route_drop(rt, PIB_ROUTE_DROP_LOOP);
	if (!pib_port_admits(sw->ports[out], h->dqpn))
		return route_drop(rt, PIB_ROUTE_DROP_OUT_STATE);
	if (!pkey_out(sw->ports[out], h))
		return route_drop(rt, PIB_ROUTE_DROP_PKEY_OUT);
	return PIB_ROUTE_PORT;
}

/* Get the ports of @dlid's entry into @rt->mask. Return: false: there is no entry. */
static bool mft_lookup(const struct pib_node *sw, u16 dlid, struct pib_route *rt)
{
	u32 i, index = dlid - PIB_LID_MCAST_FIRST, any = 0;
	u16 top = READ_ONCE(sw->mft_top);

	if (index >= PIB_MFT_SIZE || (top && dlid > top))
		return false;
	for (i = 0; i < PIB_PORTMASK_WORDS * 2; i++) {
		rt->mask[i] = READ_ONCE(sw->mft[index][i]);
		any |= rt->mask[i];
	}
	return any != 0;
}

/* 18.2.4.3.3: packets without an entry go to a port that the SM has named. */
static bool mcast_default(const struct pib_node *sw, u8 in_port, struct pib_route *rt)
{
	u8 port = READ_ONCE(sw->default_mcast_primary);

	if (port == in_port)
		port = READ_ONCE(sw->default_mcast_secondary);
	if (port > sw->num_ports)
		return false;
	memset(rt->mask, 0, sizeof(rt->mask));
	rt->mask[port / 32] = 1u << (port % 32);
	return true;
}

/* Return: true if @port would send a copy, partitions aside. */
static bool mcast_admits(const struct pib_node *sw, u32 port, u8 in_port, const struct pib_hdrs *h)
{
	if (port == in_port || port > sw->num_ports)
		return false;
	return port == 0 || pib_port_admits(sw->ports[port], h->dqpn);
}

/*
 * Take the ports that do not get the packet out of a word of the mask. Return: true if there is a
 * copy to send, or one that is stopped to count.
 */
static bool mcast_filter(const struct pib_node *sw, u32 word, u8 in_port, const struct pib_hdrs *h,
			 struct pib_route *rt)
{
	u32 port = word * 32, bit = 1, rest = rt->mask[word];

	for (; rest; port++, bit <<= 1, rest >>= 1) {
		if (!(rest & 1))
			continue;
		if (!mcast_admits(sw, port, in_port, h)) {
			rt->mask[word] &= ~bit;
		} else if (!pkey_out(sw->ports[port], h)) {
			rt->mask[word] &= ~bit;
			rt->stopped[word] |= bit;
		}
	}
	return rt->mask[word] | rt->stopped[word];
}

static u8 route_mcast(const struct pib_node *sw, u8 in_port, const struct pib_hdrs *h,
		      struct pib_route *rt)
{
	bool any = false;
	u32 i;

	memset(rt->stopped, 0, sizeof(rt->stopped));
	if (!mft_lookup(sw, h->dlid, rt) && !mcast_default(sw, in_port, rt))
		return route_drop(rt, PIB_ROUTE_DROP_RELAY);
	for (i = 0; i < PIB_PORTMASK_WORDS * 2; i++)
		any |= mcast_filter(sw, i, in_port, h, rt);
	return any ? PIB_ROUTE_MCAST : route_drop(rt, PIB_ROUTE_DROP_SILENT);
}

static u8 route_lid(const struct pib_node *sw, u8 in_port, const struct pib_hdrs *h,
		    struct pib_route *rt)
{
	const struct pib_port *in = sw->ports[in_port];

	if (in_port && !pib_port_takes(in, h->dqpn))
		return route_drop(rt, PIB_ROUTE_DROP_IN_STATE);
	if (h->dlid == PIB_LID_PERMISSIVE)
		return h->dqpn ? route_drop(rt, PIB_ROUTE_DROP_RELAY) : PIB_ROUTE_SELF;
	if (!pkey_in(in, h))
		return route_drop(rt, PIB_ROUTE_DROP_PKEY_IN);
	if (pib_port_owns_lid(sw->ports[0], h->dlid))
		return PIB_ROUTE_SELF;
	if (pib_lid_is_mcast(h->dlid))
		return route_mcast(sw, in_port, h, rt);
	return route_unicast(sw, in_port, h, rt);
}

void pib_node_route(const struct pib_node *sw, u8 in_port, const struct pib_hdrs *h,
		    struct pib_route *rt)
{
	rt->port = 0;
	rt->reason = PIB_ROUTE_DROP_SILENT;
	rt->kind = route_lid(sw, in_port, h, rt);
}
