/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Frames whose segments (proto/segment.h) have come one by one. */
#ifndef PIB_UDP_REASSEMBLY_H
#define PIB_UDP_REASSEMBLY_H

#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>
#include "proto/flow.h"
#include "proto/segment.h"

struct pib_bearer;
struct sk_buff;

/* Frames of a link being put together at a time: each flow's, and some that stay incomplete. */
#define PIB_FRAMES		(PIB_FLOW_PORTS + 4)
#define PIB_FRAME_PAGES		DIV_ROUND_UP(1 << 16, PAGE_SIZE)	/* most pages of a frame */

/**
 * struct pib_frame - a frame being put together
 * @used: the place holds a frame
 * @skb: once given out: bytes of the frame
 * @page: while being put together: bytes of the frame, NULL where nothing has come
 * @pages: number of pages charged
 * @heard: jiffies of its last segment so far
 * @nr: number of frames that began before it: several begin in a jiffy
 * @have: bit per segment that has come, by index
 * @number: number of the frame
 * @tag: tag of the session that the frame belongs to
 * @total: number of segments
 * @size: bytes of each segment but the last
 * @len: bytes of the frame as far as they are known
 * @flags: enum pib_dg_flags
 * @checked: every segment carried a UDP checksum, which was right
 * @ce: the network has marked one of the segments
 * @first: for each segment: where its first packet starts
 */
struct pib_frame {
	bool used;
	struct sk_buff *skb;
	struct page *page[PIB_FRAME_PAGES];
	unsigned int pages;
	unsigned long heard;
	u32 nr;
	u64 have;
	u16 number;
	u16 tag;
	u8 total;
	u8 flags;
	u16 size;
	bool checked;
	bool ce;
	u32 len;
	u16 first[PIB_SEG_MAX];
};

/**
 * struct pib_frames - frames of a link being put together
 * @lock: guards @pages, @begun and @frame; softirqs off
 * @bearer: counts the pages of all its links' frames; never changes
 * @timer: pending while there is a frame: drops stale ones
 * @pages: number of pages charged to @frame
 * @begun: number of frames that have begun
 * @frame: the frames
 */
struct pib_frames {
	spinlock_t lock;
	struct pib_bearer *bearer;
	struct timer_list timer;
	unsigned int pages;
	u32 begun;
	struct pib_frame frame[PIB_FRAMES];
};

/* Set up the frames of a link of @bearer. @fs is filled with zeroes. Context: any. */
void pib_frames_init(struct pib_frames *fs, struct pib_bearer *bearer);
/* Free the frames that are left, when nobody adds any more. Context: process; sleeps. */
void pib_frames_free(struct pib_frames *fs);

/**
 * pib_frames_add() - add a segment to its frame
 * @fs: frames of the link
 * @s: header of the segment
 * @skb: datagram or super-packet; stays the caller's
 * @off: offset of the segment's data in @skb
 * @len: bytes of data
 * @checked: the datagram carried a UDP checksum, which was right
 * @ce: the network has marked the datagram
 * @done: result: a frame that is complete, or will never be; @done->skb is then the caller's
 *
 * A segment that came before is left out. A frame that is lost, and a segment without room, are
 * counted as rx_reasm. A frame without all of its segments is the caller's to count.
 *
 * Context: softirqs off.
 * Return: true: @done is set.
 */
bool pib_frames_add(struct pib_frames *fs, const struct pib_segment *s, struct sk_buff *skb,
		    u32 off, u32 len, bool checked, bool ce, struct pib_frame *done);

#endif
