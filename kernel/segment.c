// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Segments and the frames they make up. A frame whose segments come in one
 * super-packet is read where it lies (wire_rx.c) and is not seen here; only what
 * a wire has taken apart is copied together.
 */
#include <linux/jiffies.h>
#include <linux/skbuff.h>
#include "segment.h"

/* What began so long ago is not waited for, and not delivered late either. */
#define FRAME_STALE	msecs_to_jiffies(100)

void pib_frames_init(struct pib_frames *fs)
{
	spin_lock_init(&fs->lock);
}

void pib_frames_free(struct pib_frames *fs)
{
	unsigned int i;

	for (i = 0; i < PIB_FRAMES; i++)
		kfree_skb(fs->frame[i].skb);
}

/* Neither stale nor from before a restart of the session, which numbers its frames anew. */
static bool frame_counts(const struct pib_frame *f, const struct pib_segment *s)
{
	return f->tag == s->tag && time_before(jiffies, f->since + FRAME_STALE);
}

static bool frame_is(const struct pib_frame *f, const struct pib_segment *s)
{
	return f->skb && f->number == s->frame && f->total == s->total && f->size == s->size &&
	       f->flags == s->flags && frame_counts(f, s);
}

/* The frame's place, or one for it: free, stale, or the oldest, which is then given out as it is. */
static struct pib_frame *frame_find(struct pib_frames *fs, const struct pib_segment *s,
				    struct pib_frame *evicted)
{
	struct pib_frame *f, *empty = NULL;
	unsigned int i;

	lockdep_assert_held(&fs->lock);
	for (i = 0; i < PIB_FRAMES; i++) {
		f = &fs->frame[i];
		if (frame_is(f, s))
			return f;
		if (!f->skb)
			empty = f;
	}
	if (empty)
		return empty;

	f = &fs->frame[fs->next++ % PIB_FRAMES];
	if (frame_counts(f, s))
		*evicted = *f;
	else
		kfree_skb(f->skb);
	f->skb = NULL;
	return f;
}

static bool frame_start(struct pib_frame *f, const struct pib_segment *s)
{
	u32 bytes = s->size * s->total;
	int err;

	f->skb = alloc_skb_with_frags(0, bytes, PAGE_ALLOC_COSTLY_ORDER, &err,
				      GFP_ATOMIC | __GFP_NOWARN);
	if (!f->skb)
		return false;
	f->skb->data_len = bytes;
	f->skb->len = bytes;
	f->since = jiffies;
	f->have = 0;
	f->number = s->frame;
	f->tag = s->tag;
	f->total = s->total;
	f->size = s->size;
	f->flags = s->flags;
	f->len = bytes;
	f->checked = true;
	return true;
}

static void frame_fill(struct pib_frame *f, const struct pib_segment *s, struct sk_buff *skb,
		       u32 off, u32 len, bool checked)
{
	u32 to = s->index * s->size;
	u8 piece[256];

	f->have |= BIT_ULL(s->index);
	f->first[s->index] = s->first;
	f->checked &= checked;
	if (s->index + 1 == s->total)
		f->len = to + len;
	while (len) {
		u32 n = min_t(u32, len, sizeof(piece));

		if (skb_copy_bits(skb, off, piece, n) || skb_store_bits(f->skb, to, piece, n)) {
			f->have &= ~BIT_ULL(s->index);
			return;
		}
		off += n;
		to += n;
		len -= n;
	}
}

static bool frame_whole(const struct pib_frame *f)
{
	return f->have == GENMASK_ULL(f->total - 1, 0);
}

bool pib_frames_add(struct pib_frames *fs, const struct pib_segment *s, struct sk_buff *skb,
		    u32 off, u32 len, bool checked, struct pib_frame *done)
{
	struct pib_frame *f;

	done->skb = NULL;
	spin_lock(&fs->lock);
	f = frame_find(fs, s, done);
	if (!f->skb && !frame_start(f, s))
		goto out_unlock;
	if (f->have & BIT_ULL(s->index))
		goto out_unlock;
	frame_fill(f, s, skb, off, len, checked);
	/* A frame that was pushed out goes first; this one's turn comes with its next segment. */
	if (!done->skb && frame_whole(f)) {
		*done = *f;
		f->skb = NULL;
	}
out_unlock:
	spin_unlock(&fs->lock);
	return done->skb;
}
