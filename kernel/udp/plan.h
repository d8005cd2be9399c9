/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Planning of super-packets. */
#ifndef PIB_UDP_PLAN_H
#define PIB_UDP_PLAN_H

#include "packet/burst.h"
#include "proto/dg.h"
#include "proto/segment.h"

struct pib_udp_path;

#define PIB_PLAN_MAX_BYTES	65000	/* of a super-packet */

/**
 * struct pib_plan - contents of the next super-packet
 * @n: number of packets
 * @bytes: bytes of the super-packet, link headers included
 * @size: bytes of each datagram but the last
 * @datagrams: number of datagrams
 * @seg: bytes of the frame in each segment, 0 if each packet is a datagram
 * @seal: bytes that sealing adds to each datagram
 */
struct pib_plan {
	u32 n;
	u32 bytes;
	u32 size;
	u32 datagrams;
	u32 seg;
	u32 seal;
};

/**
 * pib_plan_make() - plan a super-packet
 * @path: path by which it goes
 * @mtu: most bytes of an IP packet
 * @b: burst of the first packet
 * @i: its place in @b
 * @n: packets that wait: of @b from @i on, and of the bursts behind it if that is more
 * @pl: the plan
 *
 * Context: any, under rcu_read_lock().
 */
void pib_plan_make(const struct pib_udp_path *path, u32 mtu, const struct pib_burst *b, u32 i,
		   u32 n, struct pib_plan *pl);

/* Return: the bytes of the packets, LRH to ICRC. Context: any. */
static inline u32 pib_plan_packet_bytes(const struct pib_plan *pl)
{
	u32 head = pl->seg ? PIB_SEG_HDR_LEN : PIB_DG_HDR_LEN;

	return pl->bytes - pl->datagrams * (head + pl->seal);
}

/* Return: true if @b is one packet, whose payload is copied already. Context: any. */
static inline bool pib_burst_is_small(const struct pib_burst *b)
{
	return b->npkts == 1 &&
	       (b->payload == PIB_PAYLOAD_SMALL || b->payload == PIB_PAYLOAD_NONE);
}

/*
 * Return: true if @b may share a frame of several segments with others of its flow. If one of these
 * is lost what is behind it has to be sent once more in any case, and what is before it waits.
 * Context: any.
 */
static inline bool pib_burst_joins(const struct pib_burst *b)
{
	return pib_tp_reliable(b->h.tp) && !b->alone;
}

#endif
