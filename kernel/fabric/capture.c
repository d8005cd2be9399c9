// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Captures: bursts become records of packets, as they would be on a wire.
 *
 * A record has the bytes of a packet from the LRH on, without its ICRC. Where nothing travels over
 * UDP nobody computes the ICRC, and a reader can. Payload is copied as it is at this moment: it is
 * registered memory, which its owner may be writing.
 */
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include "fabric/capture.h"
#include "fabric/node.h"
#include "packet/burst.h"
#include "proto/opcode.h"

DEFINE_STATIC_KEY_FALSE(pib_capture_key);

/* Guards the lists of taps of all ports. Taken within the configuration mutex of a namespace. */
static DEFINE_MUTEX(taps_mutex);

/**
 * struct capture_run - packets of a burst that come to a port, and what becomes of them
 * @b: the burst
 * @first: index of the first of them
 * @end: index behind the last
 * @flags: PIB_CAPTURE_*
 * @reason: enum pib_capture_reason
 */
struct capture_run {
	struct pib_burst *b;
	u32 first;
	u32 end;
	u8 flags;
	u8 reason;
};

/* ---- which packets ---- */

static bool number_matches(const struct pib_capture_match *m, u32 value)
{
	return (value & m->mask) == m->value;
}

/* The management class stands in the second byte of a MAD. */
static bool class_matches(const struct pib_capture_match *m, struct pib_burst *b,
			  const struct pib_packet *p)
{
	u8 class;

	return p->h.tp == PIB_TP_UD && p->h.dqpn <= 1 && p->len > 1 &&
	       !pib_burst_read(b, p->off + 1, &class, 1) && number_matches(m, class);
}

static bool field_matches(const struct pib_capture_match *m, struct pib_burst *b,
			  const struct pib_packet *p)
{
	switch (m->field) {
	case PIB_CAPTURE_QP:
		return number_matches(m, p->h.dqpn) ||
		       (p->h.tp == PIB_TP_UD && number_matches(m, p->h.sqpn));
	case PIB_CAPTURE_LID:
		return number_matches(m, p->h.dlid) || number_matches(m, p->h.slid);
	case PIB_CAPTURE_OPCODE:
		return number_matches(m, pib_opcode_of(&p->h));
	case PIB_CAPTURE_CLASS:
		return class_matches(m, b, p);
	case PIB_CAPTURE_PKEY:
		return number_matches(m, p->h.pkey);
	case PIB_CAPTURE_VL:
		return number_matches(m, p->h.vl);
	default:
		return false;
	}
}

static bool packet_wanted(const struct pib_capture_cfg *cfg, struct pib_burst *b,
			  const struct pib_packet *p)
{
	u32 i;

	if (!p->size)
		return false;
	for (i = 0; i < cfg->num_matches; i++)
		if (!field_matches(&cfg->match[i], b, p))
			return false;
	return true;
}

/* ---- records ---- */

static u32 record_size(const struct pib_capture_cfg *cfg, const struct pib_packet *p)
{
	u32 captured = min(cfg->snap_len, p->size - PIB_ICRC_LEN);

	return ALIGN(sizeof(struct pib_capture_packet) + captured, 8);
}

/* Return: the bytes of the records of those packets of @run that match; @npkts is their number. */
static u32 records_size(const struct pib_capture_cfg *cfg, const struct capture_run *run,
			u32 *npkts)
{
	struct pib_packet p;
	u32 i, sum = 0;

	*npkts = 0;
	for (i = run->first; i < run->end; i++) {
		pib_burst_packet(run->b, i, &p);
		if (!packet_wanted(cfg, run->b, &p))
			continue;
		sum += record_size(cfg, &p);
		++*npkts;
	}
	return sum;
}

/*
 * Write the packet's bytes, @room at most. Payload that cannot be read is left out.
 *
 * Return: number of bytes written.
 */
static u32 record_bytes(u8 *to, u32 room, struct pib_burst *b, const struct pib_packet *p)
{
	u8 head[PIB_HDRS_MAX];
	u32 n = min_t(u32, pib_hdrs_build(&p->h, p->len, head), room), len, pad;

	memcpy(to, head, n);
	len = min(p->len, room - n);
	pad = min(pib_hdrs_pad(p->len), room - n - len);
	if (len && pib_burst_read(b, p->off, to + n, len))
		return n;
	memset(to + n + len, 0, pad);
	return n + len + pad;
}

static void record_write(struct pib_capture_packet *r, const struct pib_tap *tap,
			 struct pib_burst *b, const struct pib_packet *p)
{
	u8 *to = (u8 *)(r + 1);
	u32 room;

	r->size = record_size(&tap->cap->cfg, p);
	r->port = tap->num;
	r->len = p->size;
	r->reserved = 0;
	room = min(tap->cap->cfg.snap_len, p->size - PIB_ICRC_LEN);
	r->captured = record_bytes(to, room, b, p);
	memset(to + r->captured, 0, r->size - sizeof(*r) - r->captured);
}

/*
 * The packets are matched once more: a management class is payload, which its owner may have
 * changed since records_size() looked. Fewer packets may match now than there is room for, or more.
 * This second match counts: what there is no room for is lost.
 */
static void records_write(struct pib_mark *mark, const struct capture_run *run)
{
	const struct pib_capture_cfg *cfg = &mark->tap->cap->cfg;
	struct pib_capture_chunk *chunk = mark->chunk;
	struct pib_burst *b = run->b;
	u32 i, room = chunk->used;
	u64 now = ktime_get_real_ns();
	struct pib_capture_packet *r;
	struct pib_packet p;

	chunk->used = 0;
	mark->npkts = 0;
	mark->lost = 0;
	for (i = run->first; i < run->end; i++) {
		pib_burst_packet(b, i, &p);
		if (!packet_wanted(cfg, b, &p))
			continue;
		if (record_size(cfg, &p) > room - chunk->used) {
			mark->lost++;
			continue;
		}
		r = (void *)chunk->data + chunk->used;
		r->time = now;
		r->flags = run->flags | (b->copy ? PIB_CAPTURE_COPY : 0);
		r->reason = run->reason;
		record_write(r, mark->tap, b, &p);
		chunk->used += r->size;
		mark->npkts++;
	}
}

/* ---- bursts ---- */

/* Return: PIB_CAPTURE_DIR_* of packets with these PIB_CAPTURE_* flags. */
static u8 direction_of(u8 flags)
{
	if (flags & PIB_CAPTURE_JUDGED)
		return PIB_CAPTURE_DIR_JUDGED;
	return flags & PIB_CAPTURE_OUT ? PIB_CAPTURE_DIR_OUT : PIB_CAPTURE_DIR_IN;
}

static void tap_run(struct pib_tap *tap, const struct capture_run *run, struct pib_mark **marks)
{
	struct pib_capture *cap = tap->cap;
	struct pib_mark *mark;
	u32 bytes, npkts;

	if (!(cap->cfg.directions & direction_of(run->flags)))
		return;
	bytes = records_size(&cap->cfg, run, &npkts);
	if (!npkts)
		return;
	mark = kmalloc(sizeof(*mark), GFP_ATOMIC | __GFP_NOWARN);
	if (!mark) {
		atomic64_add(npkts, &tap->lost);
		return;
	}
	mark->tap = tap;
	mark->npkts = 0;
	mark->lost = npkts;
	mark->chunk = pib_capture_ring_take(&cap->ring, bytes);
	if (mark->chunk)
		records_write(mark, run);
	if (mark->chunk && !mark->npkts) {
		pib_capture_ring_give(&cap->ring, mark->chunk, false);
		mark->chunk = NULL;
	}
	if (!mark->npkts && !mark->lost) {
		kfree(mark);
		return;
	}
	mark->next = *marks;
	*marks = mark;
}

static void capture_run(struct pib_kport *port, const struct capture_run *run,
			struct pib_mark **marks)
{
	struct pib_tap *tap;

	hlist_for_each_entry_rcu(tap, &port->taps, entry)
		tap_run(tap, run, marks);
}

void pib_capture_burst(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason,
		       struct pib_mark **marks)
{
	const struct capture_run run = { b, 0, b->npkts, flags, reason };

	capture_run(port, &run, marks);
}

void pib_capture_at_once(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason)
{
	struct pib_mark *marks = NULL;

	pib_capture_burst(port, b, flags, reason, &marks);
	pib_marks_finish(&marks, true);
}

void pib_capture_judged(struct pib_kport *port, struct pib_burst *b, u32 first, u32 packets,
			u8 reason)
{
	const struct capture_run run = { b, first, first + packets, PIB_CAPTURE_JUDGED, reason };
	struct pib_mark *marks = NULL;

	capture_run(port, &run, &marks);
	pib_marks_finish(&marks, true);
}

static void mark_finish(struct pib_mark *mark, bool passed)
{
	struct pib_tap *tap = mark->tap;

	if (mark->chunk)
		pib_capture_ring_give(&tap->cap->ring, mark->chunk, passed);
	if (passed) {
		atomic64_add(mark->npkts, &tap->captured);
		atomic64_add(mark->lost, &tap->lost);
	}
	/*
	 * Wake readers even if nothing was added: chunks that are complete may have waited for this
	 * one. Pairs with wait_event_interruptible() in capture_read() and smp_mb() in
	 * capture_poll(): a reader queues itself before it looks for records.
	 */
	if (wq_has_sleeper(&tap->cap->wait))
		wake_up_interruptible_poll(&tap->cap->wait, EPOLLIN | EPOLLRDNORM);
}

void pib_capture_finish(struct pib_mark **marks, bool passed)
{
	struct pib_mark *mark;

	while ((mark = *marks)) {
		*marks = mark->next;
		mark_finish(mark, passed);
		kfree(mark);
	}
}

static void mark_explain(struct pib_mark *mark, u8 reason)
{
	struct pib_capture_packet *r = (void *)mark->chunk->data;
	u32 i;

	for (i = 0; i < mark->npkts; i++) {
		if (!(r->flags & PIB_CAPTURE_OUT))
			r->reason = reason;
		r = (void *)r + r->size;
	}
}

void pib_capture_explain(struct pib_mark *marks, const struct pib_kport *port, u8 reason)
{
	for (; marks; marks = marks->next)
		if (marks->chunk && READ_ONCE(marks->tap->port) == port)
			mark_explain(marks, reason);
}

/* ---- captures ---- */

struct pib_capture *pib_capture_create(const struct pib_capture_cfg *cfg, u32 num)
{
	struct pib_capture *cap = kzalloc(struct_size(cap, tap, num), GFP_KERNEL_ACCOUNT);

	if (!cap)
		return ERR_PTR(-ENOMEM);
	cap->cfg = *cfg;
	cap->num_taps = num;
	init_waitqueue_head(&cap->wait);
	mutex_init(&cap->read_lock);
	if (pib_capture_ring_init(&cap->ring, cfg->buffer)) {
		kfree(cap);
		return ERR_PTR(-ENOMEM);
	}
	static_branch_inc(&pib_capture_key);
	return cap;
}

void pib_capture_start(struct pib_capture *cap, struct pib_node_dev *nd, u32 num)
{
	struct pib_tap *tap;
	u32 i;

	mutex_lock(&taps_mutex);
	for (i = 0; i < cap->num_taps; i++) {
		tap = &cap->tap[i];
		tap->cap = cap;
		tap->num = num ?: i + 1;
		tap->port = nd->ports[tap->num];
		hlist_add_head_rcu(&tap->entry, &tap->port->taps);
	}
	cap->live = cap->num_taps;
	mutex_unlock(&taps_mutex);
}

static void tap_leave(struct pib_tap *tap)
{
	lockdep_assert_held(&taps_mutex);
	if (!tap->port)
		return;
	hlist_del_rcu(&tap->entry);
	WRITE_ONCE(tap->port, NULL);
	tap->cap->live--;
}

/* Tell readers that the capture has ended: no tap is left, and no CPU uses one. */
static void capture_end(struct pib_capture *cap)
{
	/* Pairs with the acquire in control/capture.c: a reader sees all that came before. */
	smp_store_release(&cap->ended, true);
	wake_up_interruptible_poll(&cap->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
}

void pib_capture_stop(struct pib_capture *cap)
{
	u32 i;

	mutex_lock(&taps_mutex);
	for (i = 0; i < cap->num_taps; i++)
		tap_leave(&cap->tap[i]);
	mutex_unlock(&taps_mutex);
	synchronize_rcu();
	capture_end(cap);
}

void pib_capture_destroy(struct pib_capture *cap)
{
	pib_capture_stop(cap);
	static_branch_dec(&pib_capture_key);
	pib_capture_ring_destroy(&cap->ring);
	kfree(cap);
}

/*
 * Take the first tap of @port out of the list.
 *
 * Return: the tap's capture if it has no other tap left, else NULL.
 */
static struct pib_capture *port_leave(struct pib_kport *port)
{
	struct pib_tap *tap = hlist_entry(port->taps.first, struct pib_tap, entry);

	tap_leave(tap);
	return tap->cap->live ? NULL : tap->cap;
}

void pib_captures_leave(struct pib_node_dev *nd)
{
	struct pib_capture *over;
	unsigned int i;

	mutex_lock(&taps_mutex);
	for (i = 1; i <= nd->node.num_ports; i++) {
		while (!hlist_empty(&nd->ports[i]->taps)) {
			over = port_leave(nd->ports[i]);
			if (!over)
				continue;
			/* pib_capture_destroy() takes the mutex first, so @over stays. */
			synchronize_rcu();
			capture_end(over);
		}
	}
	mutex_unlock(&taps_mutex);
}
