// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Planning of super-packets. One has packets of a burst, a datagram for each; or a frame of many
 * segments, of packets of one or more bursts; or a frame of one segment, of small bursts.
 */
#include <linux/udp.h>
#include "packet/burst.h"
#include "proto/dg.h"
#include "proto/seal.h"
#include "proto/segment.h"
#include "udp/path.h"
#include "udp/plan.h"

#define WIRE_MAX_SEGS	64
/* An MTU that leaves less than this for a segment is left to IP. */
#define PIB_SEG_ROOM_MIN	(PIB_SEG_HDR_LEN + PIB_SEG_MIN)

/**
 * struct place - a packet among bursts that wait
 * @b: its burst
 * @i: its place in @b
 * @size: its bytes on the wire
 */
struct place {
	const struct pib_burst *b;
	u32 i;
	u32 size;
};

/* Find the size of the packet @p, before which stands one of @before bytes, 0: of another burst. */
static void place_measure(struct place *p, u32 before)
{
	struct pib_packet packet;

	if (p->b->npkts == 1) {
		p->size = pib_burst_wire_bytes(p->b);
	} else if (before && p->i > 1 && p->i + 1 < p->b->npkts) {
		p->size = before;	/* both are in the middle of a burst */
	} else {
		pib_burst_packet(p->b, p->i, &packet);
		p->size = packet.size;
	}
}

/* Go on to the next packet, of which there is one. */
static void place_next(struct place *p)
{
	u32 before = p->size;

	if (++p->i == p->b->npkts) {
		p->b = list_next_entry(p->b, entry);
		p->i = 0;
		before = 0;
	}
	place_measure(p, before);
}

/*
 * Plan a datagram for each packet of a burst from @p on: packets of one size, of which the last may
 * be smaller. @oversize: IP has to fragment it.
 */
static void plan_packets(struct place p, bool oversize, struct pib_plan *pl)
{
	u32 size, n = oversize ? 1 : min_t(u32, p.b->npkts - p.i, WIRE_MAX_SEGS);

	pl->size = PIB_DG_HDR_LEN + pl->seal + p.size;
	pl->bytes = pl->size;
	pl->seg = 0;
	for (pl->n = 1; pl->n < n; pl->n++) {
		place_next(&p);
		size = PIB_DG_HDR_LEN + pl->seal + p.size;
		if (size > pl->size || pl->bytes + size > PIB_PLAN_MAX_BYTES)
			break;
		pl->bytes += size;
		if (size < pl->size) {
			pl->n++;
			break;
		}
	}
	pl->datagrams = pl->n;
}

/* Return: true if a datagram of @room bytes has room for two packets like @p. */
static bool two_fit(const struct place *p, u32 room)
{
	return PIB_SEG_HDR_LEN + 2 * p->size <= room;
}

/*
 * Plan a frame of datagrams of at most @room bytes: as many of the @n packets from @p on as it
 * holds. If two like @p fit a datagram the frame ends before a packet of which no two do.
 *
 * Return: false: that is @p alone, which needs no frame.
 */
static bool plan_frame(struct place p, u32 n, u32 room, struct pib_plan *pl)
{
	bool pairs = two_fit(&p, room);
	u32 head = PIB_SEG_HDR_LEN + pl->seal;
	u32 seg = ALIGN_DOWN(min_t(u32, room - PIB_SEG_HDR_LEN, PIB_PLAN_MAX_BYTES - head), 8);
	u32 most = min_t(u32, PIB_SEG_MAX, PIB_PLAN_MAX_BYTES / (seg + head)) * seg;
	u32 bytes = p.size;

	for (pl->n = 1; pl->n < n; pl->n++) {
		place_next(&p);
		if (bytes + p.size > most || (pairs && !two_fit(&p, room)))
			break;
		bytes += p.size;
	}
	if (pairs && pl->n == 1)
		return false;
	pl->seg = seg;
	pl->size = seg + head;
	pl->datagrams = DIV_ROUND_UP(bytes, seg);
	pl->bytes = bytes + pl->datagrams * head;
	return true;
}

/* Set @pl->seal. Return: bytes of a datagram that fits @mtu, without its seal. */
static u32 path_room(const struct pib_udp_path *path, u32 mtu, struct pib_plan *pl)
{
	u32 overhead = sizeof(struct udphdr) + (path->peer[path->to].family == AF_INET ? 20 : 40);

	pl->seal = path->seal ? PIB_SEAL_LEN : 0;
	overhead += pl->seal;
	return mtu > overhead ? mtu - overhead : 0;
}

/* Return: true if @p does not fit a datagram of @room bytes, or two of the @n packets may. */
static bool frame_saves(const struct place *p, u32 n, u32 room)
{
	if (room < PIB_SEG_ROOM_MIN)
		return false;
	return p->size + PIB_DG_HDR_LEN > room || (n > 1 && two_fit(p, room));
}

/*
 * Plan a frame of one segment for small bursts, @b and those of the @n - 1 behind it: for the first
 * ones that a datagram has room for. If it gets lost the receiver sees that by the next one.
 */
static void plan_small(const struct pib_burst *b, u32 n, u32 room, struct pib_plan *pl)
{
	u32 bytes = 0, size;

	for (pl->n = 0; pl->n < n && pib_burst_is_small(b); pl->n++) {
		size = pib_burst_wire_bytes(b);
		if (pl->n && PIB_SEG_HDR_LEN + bytes + size > room)
			break;
		bytes += size;
		b = list_next_entry(b, entry);
	}
	pl->seg = bytes;
	pl->bytes = PIB_SEG_HDR_LEN + pl->seal + bytes;
	pl->size = pl->bytes;
	pl->datagrams = 1;
}

void pib_plan_make(const struct pib_udp_path *path, u32 mtu, const struct pib_burst *b, u32 i,
		   u32 n, struct pib_plan *pl)
{
	u32 room = path_room(path, mtu, pl), own = b->npkts - i;
	struct place p = { .b = b, .i = i };

	if (n > own && pib_burst_is_small(b)) {
		plan_small(b, n, room, pl);
		if (pl->n > 1)
			return;
	}
	place_measure(&p, 0);
	n = pib_burst_joins(b) ? n : own;
	if (!path->segments || !frame_saves(&p, n, room) || !plan_frame(p, n, room, pl))
		plan_packets(p, p.size + PIB_DG_HDR_LEN > room, pl);
}
