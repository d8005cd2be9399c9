// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Segments and the frames they make up. A frame whose segments come in one
 * super-packet is read where it lies (udp/rx.c) and does not come here. Only frames
 * that a wire has taken apart are copied together.
 *
 * A frame has memory for those of its pages of which something has come. So a segment
 * does not cost more than a page or two, whatever the segment says of its frame. The
 * memory of incomplete frames is limited for each link, and for all links of a bearer.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include "compat/compat.h"
#include "udp/reassembly.h"
#include "udp/bearer.h"

/* A frame of which nothing has come for so long is stale: it is not delivered. */
#define FRAME_STALE	msecs_to_jiffies(100)
/* Most pages that the incomplete frames of a link may hold. */
#define FRAMES_OF_LINK	(PIB_FRAMES * PIB_FRAME_PAGES)
/* Most pages that those of a bearer may hold, not counting one frame of each link. */
#define FRAMES_OF_ALL	((4 << 20) / PAGE_SIZE)

/* ---- memory ---- */

/* Give up the charge for the frame's pages, which are freed or in an skb, and free its place. */
static void frame_uncharge(struct pib_frames *fs, struct pib_frame *f)
{
	lockdep_assert_held(&fs->lock);
	fs->pages -= f->pages;
	atomic_sub(f->pages, &fs->bearer->frame_pages);
	f->pages = 0;
	f->used = false;
}

static void frame_drop(struct pib_frames *fs, struct pib_frame *f)
{
	unsigned int i;

	for (i = 0; i < PIB_FRAME_PAGES; i++)
		if (f->page[i])
			__free_page(f->page[i]);
	frame_uncharge(fs, f);
}

static void frame_lose(struct pib_frames *fs, struct pib_frame *f)
{
	pib_udp_sock_drop(fs->bearer->sock, rx_reasm);
	frame_drop(fs, f);
}

/* Charge @n more pages. A link may always have one frame. Return: false: too many are held. */
static bool frames_charge(struct pib_frames *fs, struct pib_frame *f, unsigned int n)
{
	lockdep_assert_held(&fs->lock);
	if (fs->pages + n > FRAMES_OF_LINK)
		return false;
	if (atomic_add_return(n, &fs->bearer->frame_pages) > FRAMES_OF_ALL &&
	    fs->pages + n > PIB_FRAME_PAGES) {
		atomic_sub(n, &fs->bearer->frame_pages);
		return false;
	}
	fs->pages += n;
	f->pages += n;
	return true;
}

/*
 * Get pages for @len bytes of the frame at @to. The frame keeps those it got, even on failure.
 *
 * Return: true if there are pages for all of it.
 */
static bool frame_room(struct pib_frames *fs, struct pib_frame *f, u32 to, u32 len)
{
	unsigned int i, end = DIV_ROUND_UP(to + len, PAGE_SIZE);

	for (i = to / PAGE_SIZE; i < end; i++) {
		if (f->page[i])
			continue;
		if (!frames_charge(fs, f, 1))
			return false;
		f->page[i] = alloc_page(GFP_ATOMIC | __GFP_NOWARN);
		if (!f->page[i])
			return false;	/* the page stays charged until the frame goes */
	}
	return true;
}

/* ---- frames ---- */

/* Return: true if @f is not stale, and of the same session: each numbers its frames itself. */
static bool frame_counts(const struct pib_frame *f, const struct pib_segment *s)
{
	return f->tag == s->tag && time_before(jiffies, f->heard + FRAME_STALE);
}

static bool frame_is(const struct pib_frame *f, const struct pib_segment *s)
{
	return f->used && f->number == s->frame && f->total == s->total && f->size == s->size &&
	       f->flags == s->flags && frame_counts(f, s);
}

/* Return: a page to stand in where nothing has come. Nobody reads it. */
static struct page *frame_gap(void)
{
	struct page *page = ZERO_PAGE(0);

	get_page(page);
	return page;
}

/* Turn @f, as it is, into the skb of @done. Without memory for that the frame is lost. */
static void frame_finish(struct pib_frames *fs, struct pib_frame *f, struct pib_frame *done)
{
	struct sk_buff *skb = alloc_skb(0, GFP_ATOMIC | __GFP_NOWARN);
	u32 i, n, at;

	if (!skb) {
		frame_lose(fs, f);
		return;
	}
	for (i = 0, at = 0; at < f->len; i++, at += n) {
		n = min_t(u32, f->len - at, PAGE_SIZE);
		skb_add_rx_frag(skb, i, f->page[i] ?: frame_gap(), 0, n, PAGE_SIZE);
		f->page[i] = NULL;
	}
	*done = *f;
	done->skb = skb;
	frame_drop(fs, f);
}

static struct pib_frame *frame_oldest(struct pib_frames *fs, const struct pib_frame *but)
{
	struct pib_frame *f, *oldest = NULL;

	for (f = fs->frame; f < fs->frame + PIB_FRAMES; f++)
		if (f->used && f != but && (!oldest || (s32)(f->nr - oldest->nr) < 0))
			oldest = f;
	return oldest;
}

/*
 * Evict the oldest frame but @but. It is given out as it is, or lost if it is stale or @done is
 * NULL or taken.
 *
 * Return: true if there was such a frame.
 */
static bool frames_evict(struct pib_frames *fs, const struct pib_segment *s,
			 const struct pib_frame *but, struct pib_frame *done)
{
	struct pib_frame *f = frame_oldest(fs, but);

	lockdep_assert_held(&fs->lock);
	if (!f)
		return false;
	if (done && !done->skb && frame_counts(f, s))
		frame_finish(fs, f, done);
	else
		frame_lose(fs, f);
	return true;
}

/* Return: the place of the frame of @s, or a free place; NULL: there is none. */
static struct pib_frame *frame_place(struct pib_frames *fs, const struct pib_segment *s)
{
	struct pib_frame *f, *empty = NULL;

	lockdep_assert_held(&fs->lock);
	for (f = fs->frame; f < fs->frame + PIB_FRAMES; f++) {
		if (frame_is(f, s))
			return f;
		if (!f->used)
			empty = f;
	}
	return empty;
}

static void frame_start(struct pib_frames *fs, struct pib_frame *f, const struct pib_segment *s)
{
	memset(f, 0, sizeof(*f));
	f->used = true;
	f->heard = jiffies;
	f->nr = fs->begun++;
	f->number = s->frame;
	f->tag = s->tag;
	f->total = s->total;
	f->size = s->size;
	f->flags = s->flags;
	f->len = s->size * s->total;
	f->checked = true;
	if (!timer_pending(&fs->timer))
		mod_timer(&fs->timer, f->heard + FRAME_STALE);
}

static void frame_fill(struct pib_frame *f, const struct pib_segment *s, struct sk_buff *skb,
		       u32 off, u32 len, bool checked, bool ce)
{
	u32 to = s->index * s->size;

	f->heard = jiffies;
	if (s->index + 1 == s->total)
		f->len = to + len;
	while (len) {
		u32 in_page = to % PAGE_SIZE;
		u32 n = min_t(u32, len, PAGE_SIZE - in_page);

		if (skb_copy_bits(skb, off, page_address(f->page[to / PAGE_SIZE]) + in_page, n))
			return;
		off += n;
		to += n;
		len -= n;
	}
	f->have |= BIT_ULL(s->index);
	f->first[s->index] = s->first;
	f->checked &= checked;
	f->ce |= ce;
}

static u64 frame_all(const struct pib_frame *f)
{
	return GENMASK_ULL(f->total - 1, 0);
}

/* ---- links ---- */

bool pib_frames_add(struct pib_frames *fs, const struct pib_segment *s, struct sk_buff *skb,
		    u32 off, u32 len, bool checked, bool ce, struct pib_frame *done)
{
	struct pib_frame *f;

	done->skb = NULL;
	spin_lock(&fs->lock);
	f = frame_place(fs, s);
	if (!f && frames_evict(fs, s, NULL, done))
		f = frame_place(fs, s);
	if (!f)
		goto out_unlock;
	if (!f->used)
		frame_start(fs, f, s);
	if (f->have & BIT_ULL(s->index))
		goto out_unlock;
	while (!frame_room(fs, f, s->index * s->size, len))
		if (!frames_evict(fs, s, f,
				  (f->have | BIT_ULL(s->index)) == frame_all(f) ? NULL : done))
			goto out_lost;
	frame_fill(f, s, skb, off, len, checked, ce);
	if (f->have == frame_all(f))
		frame_finish(fs, f, done);
	goto out_unlock;

out_lost:
	pib_udp_sock_drop(fs->bearer->sock, rx_reasm);
	if (!f->have)
		frame_drop(fs, f);
out_unlock:
	spin_unlock(&fs->lock);
	return done->skb;
}

/* Drop stale frames, also if no segment comes any more. */
static void frames_timer(struct timer_list *t)
{
	struct pib_frames *fs = timer_container_of(fs, t, timer);
	unsigned long next = jiffies + FRAME_STALE;
	struct pib_frame *f;
	bool any = false;

	spin_lock(&fs->lock);
	for (f = fs->frame; f < fs->frame + PIB_FRAMES; f++) {
		if (!f->used)
			continue;
		if (!time_before(jiffies, f->heard + FRAME_STALE)) {
			frame_lose(fs, f);
			continue;
		}
		any = true;
		if (time_before(f->heard + FRAME_STALE, next))
			next = f->heard + FRAME_STALE;
	}
	if (any)
		mod_timer(&fs->timer, next);
	spin_unlock(&fs->lock);
}

void pib_frames_init(struct pib_frames *fs, struct pib_bearer *bearer)
{
	spin_lock_init(&fs->lock);
	fs->bearer = bearer;
	timer_setup(&fs->timer, frames_timer, 0);
}

void pib_frames_free(struct pib_frames *fs)
{
	struct pib_frame *f;

	timer_delete_sync(&fs->timer);
	spin_lock_bh(&fs->lock);
	for (f = fs->frame; f < fs->frame + PIB_FRAMES; f++)
		if (f->used)
			frame_drop(fs, f);
	spin_unlock_bh(&fs->lock);
}
