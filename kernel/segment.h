/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Segments: how packets that are larger than the netdev's MTU travel
 * (docs/wire-format.md). Packets are put end to end into a frame; the frame is
 * cut into segments of equal size, each a datagram with a header of its own.
 */
#ifndef PIB_SEGMENT_H
#define PIB_SEGMENT_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include "proto/link.h"

struct sk_buff;

#define PIB_SEG_HDR_LEN		16	/* link header and 8 bytes of its own */
#define PIB_SEG_MAX		64	/* segments to a frame */
#define PIB_SEG_NO_FIRST	0xFFFF
#define PIB_FRAMES		8	/* frames of a link being put together at a time */

/**
 * struct pib_segment - header of a segment
 * @flags: enum pib_dg_flags
 * @tag: as in the link header
 * @link_id: as in the link header
 * @frame: number of the frame
 * @index: which segment of it
 * @total: how many there are
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

void pib_segment_build(const struct pib_segment *s, u8 out[PIB_SEG_HDR_LEN]);
/* @len: bytes of the datagram. False: it cannot be. */
bool pib_segment_parse(struct pib_segment *s, const u8 *buf, u32 len);

/**
 * struct pib_frame - a frame being put together
 * @skb: its bytes; NULL: free
 * @since: jiffies of its first segment
 * @have: segments that have come, by index
 * @number: of the frame
 * @total: segments
 * @size: of each but the last
 * @len: bytes of the frame as far as they are known
 * @flags: enum pib_dg_flags
 * @checked: every segment carried a UDP checksum, which was right
 * @first: of each segment
 */
struct pib_frame {
	struct sk_buff *skb;
	unsigned long since;
	u64 have;
	u16 number;
	u8 total;
	u8 flags;
	u16 size;
	bool checked;
	u32 len;
	u16 first[PIB_SEG_MAX];
};

/**
 * struct pib_frames - frames of a link being put together
 * @lock: guards the rest; softirqs off
 * @next: the one that must go when all are taken
 * @frame: they
 */
struct pib_frames {
	spinlock_t lock;
	u32 next;
	struct pib_frame frame[PIB_FRAMES];
};

void pib_frames_init(struct pib_frames *fs);
/* Nobody adds any more. */
void pib_frames_free(struct pib_frames *fs);

/**
 * pib_frames_add() - put a segment where it belongs
 * @skb: datagram or super-packet; stays the caller's
 * @off: of the segment's data in it
 * @len: bytes of data
 * @done: result: a frame that has all it will ever have, whole or in part; @done->skb is then the caller's
 *
 * Returns true if @done is set.
 */
bool pib_frames_add(struct pib_frames *fs, const struct pib_segment *s, struct sk_buff *skb,
		    u32 off, u32 len, bool checked, struct pib_frame *done);

#endif
