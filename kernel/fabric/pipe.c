// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lanes.
 *
 * A burst that enters a lane waits in the queue of its VL until the arbiter of the sending
 * port takes it and the receiving port has given credits for it. Then it is in the cable,
 * whose rate and latency say when it is out at the other end; where single packets matter
 * it has been cut into them, and proto/fault.c says what happens to each. There it holds
 * its credits until the receiving port has passed it on: to an HCA, or into the queue of
 * the next lane. If that is full it stays, and whoever follows it on this VL with it; so a
 * loop of full buffers stands still for ever, unless the SM has limited the time that a
 * packet may wait at a switch (HOQLife, LifeTimeValue).
 *
 * A timer takes bursts out, so one lane feeds another without recursion. A full queue
 * blocks the sender: nothing is lost but by choice. Cables without a limited buffer give
 * credits without end and discard nothing.
 *
 * A packet that the cable has lost or damaged is noticed by the port that it
 * leads to, as in hardware (16.1.3.5): the damaged bits are symbol errors, the
 * packet is a receive error. One whose bits nobody can tell from a good one's
 * goes on as it is.
 */
#include <linux/ktime.h>
#include "packet/burst.h"
#include "compat/compat.h"
#include "fabric/corrupt.h"
#include "fabric/ecn.h"
#include "fabric/forward.h"
#include "fabric/pipe.h"
#include "fabric/port.h"
#include "core/task.h"
#include "fabric/switch.h"

#define PIB_LANE_MAX		4096	/* bursts of a VL */
#define PIB_LANE_QUEUE		(1 << 20)	/* bytes that wait at the sending port, per VL */
#define PIB_LANE_BUDGET		256
#define PIB_LANE_RETRY_NS	(20 * PIB_NSEC_PER_USEC)
#define PIB_LANE_RETRY_MAX_NS	(320 * PIB_NSEC_PER_USEC)
#define PIB_LANE_HELD_NS	(2 * PIB_NSEC_PER_MSEC)
#define PIB_LANE_LOOK_NS	PIB_NSEC_PER_MSEC	/* how often those that wait are looked at */

static enum pib_fault_lot burst_lot(const struct pib_burst *b)
{
	return b->h.dqpn <= 1 ? PIB_FAULT_MGMT : PIB_FAULT_DATA;
}

static struct pib_lane_vl *burst_vl(struct pib_lane *lane, const struct pib_burst *b)
{
	return &lane->vl[b->h.vl % PIB_LANE_VLS];
}

/* Has the receiving port a limited buffer for this VL? */
static bool has_credits(const struct pib_lane *lane, unsigned int vl)
{
	return lane->fault.cfg.buffer && vl != PIB_VL_MGMT;
}

/* Is @b to be cut into packets? Those in a buffer have their bytes with them. */
static bool lane_cuts(const struct pib_lane *lane, const struct pib_burst *b)
{
	if (lane->fault.cfg.buffer)
		return b->npkts > 1 || b->payload == PIB_PAYLOAD_SEGS ||
		       b->payload == PIB_PAYLOAD_CLONE;
	return b->npkts > 1 && (pib_fault_picks(&lane->fault.cfg) ||
				(lane->from && lane->from->sw && pib_cc_picks(&lane->from->p)));
}

static void integrity_trap(struct pib_kport *port)
{
	spinlock_t *lock = pib_kport_lock(port);
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	pib_trap_threshold(&port->p, 129, ktime_get_ns());
	spin_unlock_irqrestore(lock, flags);
	pib_kport_events(port);
}

/* A packet has come to the end of the cable. One whose errors are too many has the link recover, at once. */
static void note_packet(struct pib_lane *lane, bool bad)
{
	lockdep_assert_held(&lane->lock);
	if (!pib_port_integrity(&lane->port->p, bad))
		return;
	pib_kport_count(lane->port, local_integrity_err, 1);
	pib_kport_count(lane->port, link_recovery, 1);
	integrity_trap(lane->port);
}

static void count_error(struct pib_lane *lane, u32 symbols)
{
	pib_kport_count(lane->port, symbol_err, symbols);
	pib_kport_count(lane->port, rcv_err, 1);
	pib_kport_count(lane->port, rcv_physical, 1);
	note_packet(lane, true);
}

/* ---- times and numbers of the sending port ---- */

static void count_wait(struct pib_lane *lane, unsigned int vl, u32 ticks)
{
	if (ticks && lane->from)
		pib_kport_count(lane->from, vl_xmit_wait[vl], ticks);
}

static void count_discard(struct pib_kport *port, const struct pib_burst *b, bool head)
{
	pib_kport_count(port, xmit_discard, b->npkts);
	if (head)
		pib_kport_count(port, discard_hoq, b->npkts);
	else
		pib_kport_count(port, discard_life, b->npkts);
}

/* Has @b been in the switch @sw for too long (SwitchInfo.LifeTimeValue)? */
static bool burst_outlived(const struct pib_lane *lane, const struct pib_switch *sw,
			   const struct pib_burst *b, u64 now)
{
	u64 life = sw && lane->fault.cfg.buffer ? pib_vl_life(READ_ONCE(sw->nd.node.life_time)) : 0;

	return life && now >= b->due + life;
}

/* ---- the queues before the cable ---- */

static struct pib_burst *out_head(struct pib_lane_vl *v)
{
	return list_first_entry_or_null(&v->out, struct pib_burst, entry);
}

static void out_add(struct pib_lane *lane, struct pib_burst *b, u64 now)
{
	unsigned int vl = b->h.vl % PIB_LANE_VLS;
	struct pib_lane_vl *v = &lane->vl[vl];

	lockdep_assert_held(&lane->lock);
	if (!b->due)
		b->due = now;
	if (list_empty(&v->out))
		v->tx.head = now;
	list_add_tail(&b->entry, &v->out);
	v->out_bytes += pib_burst_wire_bytes(b);
	v->bursts++;
	lane->ready |= BIT(vl);
}

static struct pib_burst *out_take(struct pib_lane *lane, unsigned int vl, u64 now)
{
	struct pib_lane_vl *v = &lane->vl[vl];
	struct pib_burst *b = out_head(v);

	lockdep_assert_held(&lane->lock);
	list_del(&b->entry);
	v->out_bytes -= pib_burst_wire_bytes(b);
	v->bursts--;
	v->tx.head = now;
	if (!list_empty(&v->out))
		return b;
	v->tx.head = 0;
	lane->ready &= ~BIT(vl);
	return b;
}

static bool out_full(const struct pib_lane *lane, const struct pib_lane_vl *v)
{
	u32 most = lane->fault.cfg.buffer ?: PIB_LANE_QUEUE;

	return v->bursts >= PIB_LANE_MAX || v->out_bytes >= most;
}

/* Discard what has waited for too long at a switch. */
static void out_expire(struct pib_lane *lane, unsigned int vl, u64 now, struct list_head *gone)
{
	struct pib_lane_vl *v = &lane->vl[vl];
	struct pib_burst *b;
	bool head;

	if (!has_credits(lane, vl) || !lane->from || !lane->from->sw)
		return;
	while ((b = out_head(v))) {
		head = pib_vl_stalled(&v->tx, now) || pib_vl_expired(&v->tx, &lane->from->p, now);
		if (!head && !burst_outlived(lane, lane->from->sw, b, now))
			return;
		out_take(lane, vl, now);
		count_discard(lane->from, b, head);
		list_add_tail(&b->entry, gone);
	}
}

/* Is there something to send on @vl, and room for it? Counts the time that there was not. */
static bool out_ready(struct pib_lane *lane, unsigned int vl, u64 now)
{
	struct pib_lane_vl *v = &lane->vl[vl];
	struct pib_burst *b = out_head(v);
	bool room;

	room = !b || !has_credits(lane, vl) ||
	       v->tx.credits >= (s32)pib_vl_blocks(pib_burst_wire_bytes(b));
	count_wait(lane, vl, pib_vl_wait(&v->tx.starved, !room, now));
	return b && room;
}

/* ---- the cable ---- */

static void wire_add(struct pib_lane *lane, struct pib_burst *b, u64 due)
{
	struct pib_lane_vl *v = burst_vl(lane, b);

	b->due = due;
	list_add_tail(&b->entry, &lane->wire);
	v->bursts++;
	v->tx.credits -= pib_vl_blocks(pib_burst_wire_bytes(b));
}

static void release_held(struct pib_lane *lane, u64 due)
{
	if (lane->held)
		wire_add(lane, lane->held, due);
	lane->held = NULL;
}

/* @b has survived; it leaves in its turn, behind those that it lets pass. */
static void wire_put(struct pib_lane *lane, struct pib_burst *b, u8 behind, u64 due)
{
	if (behind) {
		release_held(lane, due);
		lane->held = b;
		lane->overtakers = behind;
		lane->held_until = due + PIB_LANE_HELD_NS;
		return;
	}
	wire_add(lane, b, due);
	if (lane->held && !--lane->overtakers)
		release_held(lane, due);
}

/* One packet goes into a cable that does not leave packets alone. */
static void wire_packet(struct pib_lane *lane, struct pib_burst *b, u32 bytes, u64 due,
			struct list_head *gone)
{
	struct pib_burst *more;
	struct pib_fate fate;

	pib_fault_packet(&lane->fault, burst_lot(b), bytes, &fate);
	if (fate.lost || fate.bits) {
		count_error(lane, fate.lost ? 1 : fate.bits);
		more = fate.lost ? NULL : pib_damage(&lane->fault, burst_lot(b), b, fate.bits);
		if (more)
			wire_put(lane, more, 0, due);
		list_add_tail(&b->entry, gone);
		return;
	}
	note_packet(lane, false);
	more = fate.twice ? pib_burst_clone(b) : NULL;
	wire_put(lane, b, fate.behind, due);
	if (more)
		wire_put(lane, more, 0, due);
}

/* The port sends the head of a VL's queue; the cable takes it in from @begin on. */
static void send_one(struct pib_lane *lane, unsigned int vl, u64 now, u64 begin,
		     struct list_head *gone)
{
	struct pib_burst *b = out_take(lane, vl, now);
	u64 bytes = pib_burst_wire_bytes(b), due;

	lane->vl[vl].tx.dropped = 0;
	if (vl != PIB_VL_MGMT)
		pib_vl_arb_sent(&lane->arb, bytes);
	if (lane->from)
		pib_kport_count_xmit(lane->from, b);
	due = pib_fault_arrival(&lane->fault, bytes, begin);
	if (pib_fault_picks(&lane->fault.cfg)) {
		wire_packet(lane, b, bytes, due, gone);
	} else {
		lane->fault.counts.packets += b->npkts;
		wire_put(lane, b, 0, due);
	}
}

/* The VL that sends next; -1: none. */
static int send_next(struct pib_lane *lane, u64 now, struct list_head *gone)
{
	const struct pib_kport *from = lane->from ?: lane->port;
	u32 vls = lane->ready, ready = 0;
	unsigned int vl;

	if (vls & BIT(PIB_VL_MGMT))
		return PIB_VL_MGMT;
	for (; vls; vls &= vls - 1) {
		vl = __ffs(vls);
		out_expire(lane, vl, now, gone);
		if (out_ready(lane, vl, now))
			ready |= BIT(vl);
	}
	return ready ? pib_vl_arb_next(&lane->arb, &from->p, ready) : -1;
}

/*
 * Send what can be sent. Bursts that are done with are put on @gone. What has waited for
 * the cable follows without a gap, so that a timer that fires late does not slow it down.
 */
static void lane_send(struct pib_lane *lane, u64 now, struct list_head *gone)
{
	bool wire_busy = false;
	u32 ticks;
	int vl;

	lockdep_assert_held(&lane->lock);
	while (lane->ready) {
		wire_busy = lane->fault.free_at > now;
		vl = wire_busy ? -1 : send_next(lane, now, gone);
		if (vl < 0) {
			lane->backlog = wire_busy;
			break;
		}
		send_one(lane, vl, now, lane->backlog ? lane->fault.free_at : now, gone);
		lane->backlog = lane->ready && lane->fault.cfg.rate;
	}
	ticks = pib_vl_wait(&lane->starved, lane->ready && !wire_busy, now);
	if (ticks && lane->from)
		pib_kport_count(lane->from, xmit_wait, ticks);
}

/* ---- the receiving port ---- */

/* What has come out of the cable by @now takes its place in the buffer. */
static void wire_out(struct pib_lane *lane, u64 now)
{
	struct pib_burst *b;

	if (lane->held && lane->held_until <= now)
		release_held(lane, now);
	while ((b = list_first_entry_or_null(&lane->wire, struct pib_burst, entry))) {
		if (b->due > now)
			return;
		list_move_tail(&b->entry, &burst_vl(lane, b)->in);
		lane->arrived |= BIT(b->h.vl % PIB_LANE_VLS);
	}
}

static struct pib_burst *in_take(struct pib_lane *lane, unsigned int vl)
{
	struct pib_lane_vl *v = &lane->vl[vl];
	struct pib_burst *b = list_first_entry(&v->in, struct pib_burst, entry);

	list_del(&b->entry);
	if (list_empty(&v->in))
		lane->arrived &= ~BIT(vl);
	return b;
}

/*
 * The port of the receiving switch by which a burst that was refused could not leave. The burst tells the last port
 * that it came to, which may be gone when it is looked at again: a port of the own switch stays as long as the lane.
 */
static struct pib_kport *refused_by(const struct pib_lane *lane, const struct pib_burst *b)
{
	struct pib_kport *out = NULL;

	if (b->in_port && b->in_port != lane->port)
		out = rcu_dereference(b->in_port->peer);
	return out && out->sw == lane->port->sw ? out : NULL;
}

/* The receiving port could not pass @b on: it is the next one still, but not at once. */
static void in_refused(struct pib_lane *lane, unsigned int vl, struct pib_burst *b, u64 now)
{
	struct pib_lane_vl *v = &lane->vl[vl];

	v->waits_for = refused_by(lane, b);
	b->in_port = lane->port;
	list_add(&b->entry, &v->in);
	lane->arrived |= BIT(vl);
	v->retry_ns = v->retry_ns ? min_t(u32, 2 * v->retry_ns, PIB_LANE_RETRY_MAX_NS) :
				    PIB_LANE_RETRY_NS;
	v->retry_at = now + v->retry_ns;
	if (lane->from && !has_credits(lane, vl)) {
		pib_kport_count(lane->from, xmit_wait, v->retry_ns / PIB_NSEC_PER_USEC);
		count_wait(lane, vl, v->retry_ns / PIB_NSEC_PER_USEC);
	}
}

/* A burst has left the buffer: the room that it took is told to the sending port. */
static void in_passed(struct pib_lane *lane, unsigned int vl, u32 blocks)
{
	struct pib_lane_vl *v = &lane->vl[vl];

	v->bursts--;
	v->retry_ns = 0;
	v->retry_at = 0;
	v->tx.credits += blocks;
	if (!lane->from || !has_credits(lane, vl))
		return;
	pib_kport_count(lane->port, xmit_flow_pkts, 1);
	pib_kport_count(lane->from, rcv_flow_pkts, 1);
}

/* A burst that was refused before and has been in its switch for too long; the port that it waits for discards it. */
static bool in_expire(struct pib_lane *lane, struct pib_kport *out, struct pib_burst *b, u64 now)
{
	if (!burst_outlived(lane, lane->port->sw, b, now))
		return false;
	count_discard(out ?: lane->port, b, false);
	pib_burst_free(b);
	return true;
}

/* The head of @vl goes on, without the lock. False: it could not. */
static bool pass_one(struct pib_lane *lane, unsigned int vl, u64 now)
	__must_hold(&lane->lock)
{
	bool refused = lane->vl[vl].retry_ns;
	struct pib_kport *out = lane->vl[vl].waits_for;
	struct pib_burst *b = in_take(lane, vl);
	u32 blocks = pib_vl_blocks(pib_burst_wire_bytes(b));
	int err = 0;

	spin_unlock(&lane->lock);
	if (!refused || !in_expire(lane, out, b, now))
		err = pib_port_arrive(lane->port, b);
	spin_lock(&lane->lock);
	if (err)
		in_refused(lane, vl, b, now);
	else
		in_passed(lane, vl, blocks);
	return !err;
}

/* Pass on what has arrived, VL by VL. Returns true if something went and there may be more. */
static bool lane_pass(struct pib_lane *lane, u64 now, unsigned int *budget)
{
	bool any = false;
	unsigned int vl;

	for (vl = 0; vl < PIB_LANE_VLS; vl++) {
		while (*budget && (lane->arrived & BIT(vl)) && lane->vl[vl].retry_at <= now) {
			--*budget;
			if (pass_one(lane, vl, now))
				any = true;
		}
	}
	return any && *budget;
}

/* ---- the lane ---- */

static void free_all(struct list_head *gone)
{
	struct pib_burst *b, *tmp;

	list_for_each_entry_safe(b, tmp, gone, entry)
		pib_burst_free(b);
}

/* When there is something to be done next, ns; U64_MAX: nothing. */
static u64 next_time(struct pib_lane *lane, u64 now)
{
	struct pib_burst *b = list_first_entry_or_null(&lane->wire, struct pib_burst, entry);
	u64 at = b ? b->due : U64_MAX;
	u32 vls;

	if (lane->held)
		at = min(at, lane->held_until);
	for (vls = lane->arrived; vls; vls &= vls - 1)
		at = min(at, lane->vl[__ffs(vls)].retry_at);
	if (lane->ready)
		at = min(at, lane->fault.free_at > now ? lane->fault.free_at : now + PIB_LANE_LOOK_NS);
	return at;
}

static void lane_arm(struct pib_lane *lane, u64 now)
{
	u64 at;

	lockdep_assert_held(&lane->lock);
	if (lane->busy)
		return;
	at = next_time(lane, now);
	if (at != U64_MAX)
		hrtimer_start(&lane->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/*
 * Packet @i of @b. What stands in a buffer may stand there for long: nobody's memory is to
 * be held for that.
 */
static struct pib_burst *packet_of(struct pib_lane *lane, struct pib_burst *b, u32 i)
{
	struct pib_burst *p = pib_burst_slice(b, i, 1), *c;
	void *own;

	if (!p || !lane->fault.cfg.buffer)
		return p;
	c = pib_burst_alloc_headless();
	own = c ? pib_burst_own(c, p->len) : NULL;
	if (own && !pib_burst_read(p, 0, own, p->len)) {
		c->h = p->h;
		c->len = p->len;
		c->pmtu = p->pmtu;
		c->icrc_ok = p->icrc_ok;
		c->hops = p->hops;
		c->due = p->due;
		swap(c, p);
	}
	if (c)
		pib_burst_free(c);
	return p;
}

/* How full the queue of a VL before the cable is, in 1/256. */
static u32 out_fill(const struct pib_lane *lane, const struct pib_lane_vl *v)
{
	u32 most = lane->fault.cfg.buffer ?: PIB_LANE_QUEUE;

	return min_t(u64, v->out_bytes * 256ULL / most, 256);
}

/* @b is queued at a switch port, which may tell of the jam that it sees. */
static void out_mark(struct pib_lane *lane, struct pib_burst *b, u64 now)
{
	if (lane->from && lane->from->sw)
		pib_ecn_mark(lane->from, b, out_fill(lane, burst_vl(lane, b)));
	out_add(lane, b, now);
}

/* Queue the packets of @b one by one. */
static void enter_cut(struct pib_lane *lane, struct pib_burst *b, u64 now, struct list_head *gone)
{
	struct pib_burst *p;
	u32 i;

	for (i = 0; i < b->npkts; i++) {
		p = packet_of(lane, b, i);
		if (p)
			out_mark(lane, p, now);
		else
			pib_kport_overrun(lane->port, 1);
	}
	list_add_tail(&b->entry, gone);
}

/* Management is never refused: its senders do not try again. */
static bool lane_refuses(const struct pib_lane *lane, const struct pib_lane_vl *v,
			 const struct pib_burst *b)
{
	return burst_lot(b) == PIB_FAULT_DATA ? out_full(lane, v) : v->bursts >= PIB_LANE_MAX;
}

int pib_lane_enter(struct pib_lane *lane, struct pib_burst *b)
{
	u64 now = ktime_get_ns();
	LIST_HEAD(gone);
	int err = 0;

	spin_lock(&lane->lock);
	if (lane_refuses(lane, burst_vl(lane, b), b)) {
		err = -EBUSY;
	} else {
		if (lane_cuts(lane, b))
			enter_cut(lane, b, now, &gone);
		else
			out_mark(lane, b, now);
		lane_send(lane, now, &gone);
		lane_arm(lane, now);
	}
	spin_unlock(&lane->lock);
	free_all(&gone);
	return err;
}

/* Softirqs off. */
static void lane_run(struct pib_lane *lane, u64 now)
{
	unsigned int budget = PIB_LANE_BUDGET;
	LIST_HEAD(gone);

	rcu_read_lock();
	spin_lock(&lane->lock);
	if (!lane->busy) {
		lane->busy = true;
		do {
			lane_send(lane, now, &gone);
			wire_out(lane, now);
		} while (lane_pass(lane, now, &budget));
		lane_send(lane, now, &gone);
		lane->busy = false;
		lane_arm(lane, now);
	}
	spin_unlock(&lane->lock);
	free_all(&gone);
	rcu_read_unlock();
	pib_tasks_run();
}

static enum hrtimer_restart lane_timer(struct hrtimer *t)
{
	lane_run(container_of(t, struct pib_lane, timer), ktime_get_ns());
	return HRTIMER_NORESTART;
}

void pib_lane_init(struct pib_lane *lane, struct pib_kport *from, struct pib_kport *port,
		   const struct pib_fault_cfg *cfg, unsigned int direction)
{
	unsigned int vl;

	lane->from = from;
	lane->port = port;
	spin_lock_init(&lane->lock);
	INIT_LIST_HEAD(&lane->wire);
	for (vl = 0; vl < PIB_LANE_VLS; vl++) {
		INIT_LIST_HEAD(&lane->vl[vl].out);
		INIT_LIST_HEAD(&lane->vl[vl].in);
		lane->vl[vl].tx.credits = cfg->buffer / PIB_VL_BLOCK;
	}
	pib_fault_init(&lane->fault, cfg, direction);
	hrtimer_setup(&lane->timer, lane_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

/* All that is in the lane has arrived. */
static void lane_hurry(struct pib_lane *lane)
{
	struct pib_burst *b;

	release_held(lane, 0);
	while (lane->ready) {
		b = out_take(lane, __ffs(lane->ready), 0);
		if (lane->from)
			pib_kport_count_xmit(lane->from, b);
		wire_add(lane, b, 0);
	}
	wire_out(lane, U64_MAX);
}

void pib_lane_stop(struct pib_lane *lane)
{
	struct pib_burst *b;

	hrtimer_cancel(&lane->timer);
	local_bh_disable();
	rcu_read_lock();
	spin_lock(&lane->lock);
	lane_hurry(lane);
	while (lane->arrived) {
		b = in_take(lane, __ffs(lane->arrived));
		spin_unlock(&lane->lock);
		if (pib_port_arrive(lane->port, b)) {
			pib_kport_count(lane->port, buffer_overrun, b->npkts);
			pib_burst_free(b);
		}
		spin_lock(&lane->lock);
	}
	spin_unlock(&lane->lock);
	rcu_read_unlock();
	pib_tasks_run();
	local_bh_enable();
}

void pib_lane_counts(struct pib_lane *lane, struct pib_fault_counts *counts)
{
	spin_lock_bh(&lane->lock);
	*counts = lane->fault.counts;
	spin_unlock_bh(&lane->lock);
}
