/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Segments: the form of packets that are larger than the netdev's MTU
 * (docs/wire-format.md). Packets are put end to end into a frame. The frame is
 * cut into segments of equal size, each a datagram with a header of its own.
 */
#ifndef PIB_PROTO_SEGMENT_H
#define PIB_PROTO_SEGMENT_H

#include "dg.h"

#define PIB_SEG_HDR_LEN		16	/* link header and 8 bytes of its own */
#define PIB_SEG_MAX		64	/* segments to a frame */
#define PIB_SEG_MIN		256	/* least bytes of a frame in each segment but the last */
#define PIB_SEG_NO_FIRST	0xFFFF

/**
 * struct pib_segment - header of a segment
 * @flags: enum pib_dg_flags
 * @tag: as in the link header
 * @link_id: as in the link header
 * @frame: number of the frame
 * @index: number of the segment in the frame
 * @total: number of segments of the frame
 * @size: bytes of the frame in each segment but the last
 * @first: offset in this segment's data at which a packet starts, PIB_SEG_NO_FIRST if none does
 */
struct pib_segment {
	u8 flags;
	u16 tag;
	u32 link_id;
	u16 frame;
	u8 index;
	u8 total;
	u16 size;
	u16 first;
};

/* Where the fields behind the link header are. */
enum pib_segment_off {
	PIB_SEG_FRAME = PIB_DG_HDR_LEN,
	PIB_SEG_INDEX = 10,
	PIB_SEG_TOTAL = 11,
	PIB_SEG_SIZE = 12,
	PIB_SEG_FIRST = 14,
};

/* Write the header of a segment, whose link header is that of a SEGMENT. Context: any. */
void pib_segment_build(const struct pib_segment *s, u8 out[PIB_SEG_HDR_LEN]);
/*
 * Read the header of the SEGMENT @buf, of @len bytes in all; version and type are not looked at.
 * Context: any.
 *
 * Return: false: no segment has this length with these fields.
 */
bool pib_segment_parse(struct pib_segment *s, const u8 *buf, u32 len);
/*
 * Return: true if @head is that of segment @index of the frame of which @first is a segment's: only
 * where a packet starts differs. Context: any.
 */
static inline bool pib_segment_follows(const u8 first[PIB_SEG_HDR_LEN],
				       const u8 head[PIB_SEG_HDR_LEN], u32 index)
{
	return !memcmp(head, first, PIB_SEG_INDEX) && head[PIB_SEG_INDEX] == index &&
	       !memcmp(head + PIB_SEG_TOTAL, first + PIB_SEG_TOTAL, PIB_SEG_FIRST - PIB_SEG_TOTAL);
}

#endif
