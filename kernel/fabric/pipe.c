// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pipes.
 *
 * A burst that enters a pipe waits in the queue of its VL until the arbiter of the sending
 * port takes it and the receiving port has given credits for it. Then it is in the cable,
 * whose rate and latency say when it comes out at the other end. Where single packets matter
 * the burst has been cut into them, and proto/fault.c decides what happens to each. At the
 * other end the burst holds its credits until the receiving port has passed it on: to an HCA,
 * or into the queue of the next pipe. If that is full the burst stays, and so do those that
 * follow it on this VL. So a loop of full buffers stands still for ever, unless the SM has
 * limited the time that a packet may wait at a switch (HOQLife, LifeTimeValue).
 *
 * A timer takes bursts out, so one pipe feeds another without recursion. A full queue
 * blocks the sender, so only faults lose packets. Cables without a limited buffer give
 * credits without end and discard nothing.
 *
 * A packet that the cable has lost or damaged is noticed by the port to which the
 * cable leads, as in hardware (16.1.3.5): the damaged bits are symbol errors, the
 * packet is a receive error. A damaged packet whose CRCs are right goes on as it is.
 */
#include <linux/ktime.h>
#include "packet/burst.h"
#include "compat/compat.h"
#include "proto/trap.h"
#include "fabric/drop.h"
#include "fabric/corrupt.h"
#include "fabric/ecn.h"
#include "fabric/forward.h"
#include "fabric/pipe.h"
#include "fabric/port.h"
#include "core/task.h"
#include "fabric/switch.h"
#include "tracing/fabric.h"

#define PIB_PIPE_MAX		4096	/* bursts of a VL */
#define PIB_PIPE_QUEUE		(1 << 20)	/* bytes that wait at the sending port, per VL */
#define PIB_PIPE_BUDGET		256
#define PIB_PIPE_RETRY_NS	(20 * PIB_NSEC_PER_USEC)
#define PIB_PIPE_RETRY_MAX_NS	(320 * PIB_NSEC_PER_USEC)
#define PIB_PIPE_HELD_NS	(2 * PIB_NSEC_PER_MSEC)
#define PIB_PIPE_LOOK_NS	PIB_NSEC_PER_MSEC	/* between looks at those that wait */
#define PIB_PIPE_BACK_NS	(10 * PIB_NSEC_PER_MSEC)	/* between looks for wanted ones */
#define PIB_PIPE_PATIENCE_NS	(500 * PIB_NSEC_PER_MSEC)	/* that wanted ones have */

static enum pib_fault_lot burst_lot(const struct pib_burst *b)
{
	return b->h.dqpn <= 1 ? PIB_FAULT_MGMT : PIB_FAULT_DATA;
}

static struct pib_pipe_vl *burst_vl(struct pib_pipe *pipe, const struct pib_burst *b)
{
	return &pipe->vl[b->h.vl % PIB_PIPE_VLS];
}

/* Return: true if the receiving port has a limited buffer for this VL. */
static bool has_credits(const struct pib_pipe *pipe, unsigned int vl)
{
	return pipe->fault.cfg.buffer && vl != PIB_VL_MGMT;
}

/* Return: true if @b must be cut into packets. Packets in a limited buffer own their bytes. */
static bool pipe_cuts(const struct pib_pipe *pipe, const struct pib_burst *b)
{
	if (pipe->fault.cfg.buffer)
		return b->npkts > 1 || b->payload == PIB_PAYLOAD_SPANS ||
		       b->payload == PIB_PAYLOAD_CLONE;
	return b->npkts > 1 && (pib_fault_picks(&pipe->fault.cfg) ||
				(pipe->from && pipe->from->sw && pib_cc_picks(&pipe->from->p)));
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

/*
 * Note that a packet has come to the end of the cable. If too many had errors, count that the link
 * recovers, which takes no time.
 */
static void note_packet(struct pib_pipe *pipe, bool bad)
{
	lockdep_assert_held(&pipe->lock);
	if (!pib_port_integrity(&pipe->port->p, bad))
		return;
	pib_kport_count(pipe->port, local_integrity_err, 1);
	pib_kport_count(pipe->port, link_recovery, 1);
	integrity_trap(pipe->port);
}

static void count_error(struct pib_pipe *pipe, u32 symbols)
{
	pib_kport_count(pipe->port, symbol_err, symbols);
	pib_kport_count(pipe->port, rcv_err, 1);
	pib_kport_count(pipe->port, rcv_physical, 1);
	note_packet(pipe, true);
}

/* ---- times and numbers of the sending port ---- */

static void pipe_count_wait(struct pib_pipe *pipe, unsigned int vl, u32 ticks)
{
	if (ticks && pipe->from)
		pib_kport_count(pipe->from, vl_xmit_wait[vl], ticks);
}

static void pipe_count_discard(struct pib_kport *port, struct pib_burst *b, bool head)
{
	pib_kport_failed(port, b, PIB_CAPTURE_OUT, head ? PIB_CAPTURE_HOQ : PIB_CAPTURE_LIFE);
	pib_kport_count(port, xmit_discard, b->npkts);
	if (head)
		pib_kport_count(port, discard_hoq, b->npkts);
	else
		pib_kport_count(port, discard_life, b->npkts);
}

/* Return: true if @b has been in the switch @sw for too long (SwitchInfo.LifeTimeValue). */
static bool burst_expired(const struct pib_pipe *pipe, const struct pib_switch *sw,
			  const struct pib_burst *b, u64 now)
{
	u64 life = sw && pipe->fault.cfg.buffer ? pib_vl_life(READ_ONCE(sw->nd.node.life_time)) : 0;

	return life && now >= b->due + life;
}

/* ---- the queues before the cable ---- */

/* Return: the port that traces name for the queues: the sending one, if it is in this kernel. */
static const struct pib_kport *queue_port(const struct pib_pipe *pipe)
{
	return pipe->from ?: pipe->port;
}

/* Trace @b, which is about to be queued, and what it waits for, if it cannot leave at once. */
static void trace_queued(const struct pib_pipe *pipe, struct pib_burst *b, u64 now)
{
	unsigned int vl = b->h.vl % PIB_PIPE_VLS;
	const struct pib_pipe_vl *v = &pipe->vl[vl];
	const struct pib_kport *port = queue_port(pipe);
	struct pib_trace_burst t;
	u8 behind;

	if (!list_empty(&v->out))
		behind = PIB_QUEUED_LANE;
	else if (has_credits(pipe, vl) &&
		 v->tx.credits < (s32)pib_vl_blocks(pib_burst_wire_bytes(b)))
		behind = PIB_QUEUED_CREDITS;
	else if (pipe->ready || pipe->fault.free_at > now)
		behind = PIB_QUEUED_LINE;
	else
		return;
	b->queued = true;
	b->queued_at = now;
	pib_trace_burst_set(&t, &b->h, b->npkts);
	trace_pib_queued(port->nd->name, port->p.num, &t, behind, v->out_bytes);
}

/* Trace that @b, which trace_queued() has traced, leaves the queue. */
static void trace_dequeued(const struct pib_pipe *pipe, struct pib_burst *b, u64 now)
{
	const struct pib_kport *port = queue_port(pipe);
	struct pib_trace_burst t;

	b->queued = false;
	pib_trace_burst_set(&t, &b->h, b->npkts);
	trace_pib_dequeued(port->nd->name, port->p.num, &t, now - b->queued_at);
}

static struct pib_burst *out_head(struct pib_pipe_vl *v)
{
	return list_first_entry_or_null(&v->out, struct pib_burst, entry);
}

static void out_enqueue(struct pib_pipe *pipe, struct pib_burst *b, u64 now)
{
	unsigned int vl = b->h.vl % PIB_PIPE_VLS;
	struct pib_pipe_vl *v = &pipe->vl[vl];

	lockdep_assert_held(&pipe->lock);
	if (trace_pib_queued_enabled())
		trace_queued(pipe, b, now);
	if (!b->due)
		b->due = now;
	if (list_empty(&v->out))
		v->tx.head = now;
	list_add_tail(&b->entry, &v->out);
	v->out_bytes += pib_burst_wire_bytes(b);
	v->bursts++;
	pipe->ready |= BIT(vl);
}

/* Take @b out of the queue of @vl. */
static void out_remove(struct pib_pipe *pipe, unsigned int vl, struct pib_burst *b, u64 now)
{
	struct pib_pipe_vl *v = &pipe->vl[vl];

	lockdep_assert_held(&pipe->lock);
	if (unlikely(b->queued))
		trace_dequeued(pipe, b, now);
	if (b == out_head(v))
		v->tx.head = now;
	list_del(&b->entry);
	v->out_bytes -= pib_burst_wire_bytes(b);
	v->bursts--;
	if (!list_empty(&v->out))
		return;
	v->tx.head = 0;
	pipe->ready &= ~BIT(vl);
}

static struct pib_burst *out_dequeue(struct pib_pipe *pipe, unsigned int vl, u64 now)
{
	struct pib_burst *b = out_head(&pipe->vl[vl]);

	out_remove(pipe, vl, b, now);
	return b;
}

static bool out_full(const struct pib_pipe *pipe, const struct pib_pipe_vl *v)
{
	u32 most = pipe->fault.cfg.buffer ?: PIB_PIPE_QUEUE;

	return v->bursts >= PIB_PIPE_MAX || v->out_bytes >= most;
}

/* Discard bursts that have waited for too long at a switch. */
static void out_expire(struct pib_pipe *pipe, unsigned int vl, u64 now, struct list_head *gone)
{
	struct pib_pipe_vl *v = &pipe->vl[vl];
	struct pib_burst *b;
	bool head;

	if (!has_credits(pipe, vl) || !pipe->from || !pipe->from->sw)
		return;
	while ((b = out_head(v))) {
		head = pib_vl_stalled(&v->tx, now) || pib_vl_expired(&v->tx, &pipe->from->p, now);
		if (!head && !burst_expired(pipe, pipe->from->sw, b, now))
			return;
		out_dequeue(pipe, vl, now);
		pipe_count_discard(pipe->from, b, head);
		list_add_tail(&b->entry, gone);
	}
}

/*
 * Check whether @vl has a burst to send, and count the time for which it had no credits.
 *
 * Return: true if there is a burst and credits for it.
 */
static bool out_ready(struct pib_pipe *pipe, unsigned int vl, u64 now)
{
	struct pib_pipe_vl *v = &pipe->vl[vl];
	struct pib_burst *b = out_head(v);
	bool room;

	room = !b || !has_credits(pipe, vl) ||
	       v->tx.credits >= (s32)pib_vl_blocks(pib_burst_wire_bytes(b));
	pipe_count_wait(pipe, vl, pib_vl_wait(&v->tx.starved, !room, now));
	return b && room;
}

/* ---- the cable ---- */

static void wire_add(struct pib_pipe *pipe, struct pib_burst *b, u64 due)
{
	struct pib_pipe_vl *v = burst_vl(pipe, b);

	b->due = due;
	list_add_tail(&b->entry, &pipe->wire);
	v->bursts++;
	v->tx.credits -= pib_vl_blocks(pib_burst_wire_bytes(b));
}

static void release_held(struct pib_pipe *pipe, u64 due)
{
	if (pipe->held)
		wire_add(pipe, pipe->held, due);
	pipe->held = NULL;
}

/* Put @b, which is not lost, into the cable, behind the @behind next ones that it lets pass. */
static void wire_put(struct pib_pipe *pipe, struct pib_burst *b, u8 behind, u64 due)
{
	if (behind) {
		release_held(pipe, due);
		pipe->held = b;
		pipe->overtakers = behind;
		pipe->held_until = due + PIB_PIPE_HELD_NS;
		return;
	}
	wire_add(pipe, b, due);
	if (pipe->held && !--pipe->overtakers)
		release_held(pipe, due);
}

/* Put one packet into a cable that may lose, damage, duplicate or reorder it. */
static void wire_packet(struct pib_pipe *pipe, struct pib_burst *b, u32 bytes, u64 due,
			struct list_head *gone)
{
	struct pib_burst *more;
	struct pib_fate fate;

	pib_fault_packet(&pipe->fault, burst_lot(b), bytes, &fate);
	if (fate.lost || fate.bits) {
		count_error(pipe, fate.lost ? 1 : fate.bits);
		more = fate.lost ? NULL :
		       pib_corrupt_burst(&pipe->fault, burst_lot(b), b, fate.bits);
		if (more) {
			more->cable = PIB_CAPTURE_DAMAGED;
			wire_put(pipe, more, 0, due);
		} else {
			pib_kport_failed(pipe->port, b, 0,
					 fate.lost ? PIB_CAPTURE_LOST : PIB_CAPTURE_DAMAGED);
		}
		list_add_tail(&b->entry, gone);
		return;
	}
	note_packet(pipe, false);
	more = fate.twice ? pib_burst_clone(b) : NULL;
	b->cable = fate.behind ? PIB_CAPTURE_REORDERED : PIB_CAPTURE_PASSED;
	wire_put(pipe, b, fate.behind, due);
	if (!more)
		return;
	more->cable = PIB_CAPTURE_DUPLICATED;
	more->copy = true;
	wire_put(pipe, more, 0, due);
}

/* Send the head of a VL's queue. The cable takes it in from @begin on. */
static void send_one(struct pib_pipe *pipe, unsigned int vl, u64 now, u64 begin,
		     struct list_head *gone)
{
	struct pib_burst *b = out_dequeue(pipe, vl, now);
	u64 bytes = pib_burst_wire_bytes(b), due;

	pipe->vl[vl].tx.dropped = 0;
	if (vl != PIB_VL_MGMT)
		pib_vl_arb_sent(&pipe->arb, bytes);
	if (pipe->from)
		pib_kport_sent(pipe->from, b);
	due = pib_fault_arrival(&pipe->fault, bytes, begin);
	if (pib_fault_picks(&pipe->fault.cfg)) {
		wire_packet(pipe, b, bytes, due, gone);
	} else {
		pipe->fault.counts.packets += b->npkts;
		b->cable = PIB_CAPTURE_PASSED;
		wire_put(pipe, b, 0, due);
	}
}

/* Return: the VL that sends next; -1: none. */
static int send_next(struct pib_pipe *pipe, u64 now, struct list_head *gone)
{
	const struct pib_kport *from = pipe->from ?: pipe->port;
	u32 vls = pipe->ready, ready = 0;
	unsigned int vl;

	if (vls & BIT(PIB_VL_MGMT))
		return PIB_VL_MGMT;
	for (; vls; vls &= vls - 1) {
		vl = __ffs(vls);
		out_expire(pipe, vl, now, gone);
		if (out_ready(pipe, vl, now))
			ready |= BIT(vl);
	}
	return ready ? pib_vl_arb_next(&pipe->arb, &from->p, ready) : -1;
}

/*
 * Send all that can be sent. Bursts that end here are put on @gone, to be freed. A burst that has
 * waited for the cable follows without a gap, so that a late timer does not slow the cable down.
 */
static void pipe_send(struct pib_pipe *pipe, u64 now, struct list_head *gone)
{
	bool wire_busy = false;
	u32 ticks;
	int vl;

	lockdep_assert_held(&pipe->lock);
	while (pipe->ready) {
		wire_busy = pipe->fault.free_at > now;
		vl = wire_busy ? -1 : send_next(pipe, now, gone);
		if (vl < 0) {
			pipe->backlog = wire_busy;
			break;
		}
		send_one(pipe, vl, now, pipe->backlog ? pipe->fault.free_at : now, gone);
		pipe->backlog = pipe->ready && pipe->fault.cfg.rate;
	}
	ticks = pib_vl_wait(&pipe->starved, pipe->ready && !wire_busy, now);
	if (ticks && pipe->from)
		pib_kport_count(pipe->from, xmit_wait, ticks);
}

/* ---- the receiving port ---- */

/* Move the bursts that have come out of the cable by @now into the buffer. */
static void wire_deliver(struct pib_pipe *pipe, u64 now)
{
	struct pib_burst *b;

	if (pipe->held && pipe->held_until <= now)
		release_held(pipe, now);
	while ((b = list_first_entry_or_null(&pipe->wire, struct pib_burst, entry))) {
		if (b->due > now)
			return;
		list_move_tail(&b->entry, &burst_vl(pipe, b)->in);
		pipe->arrived |= BIT(b->h.vl % PIB_PIPE_VLS);
	}
}

static struct pib_burst *in_dequeue(struct pib_pipe *pipe, unsigned int vl)
{
	struct pib_pipe_vl *v = &pipe->vl[vl];
	struct pib_burst *b = list_first_entry(&v->in, struct pib_burst, entry);

	list_del(&b->entry);
	if (list_empty(&v->in))
		pipe->arrived &= ~BIT(vl);
	return b;
}

/*
 * Return: the port of the receiving switch by which @b, which was refused, could not leave; NULL:
 * not known. @b->in_port is the last port that the burst came to. That port may be gone later, but
 * a port of the receiving switch stays as long as the pipe.
 */
static struct pib_kport *refused_by(const struct pib_pipe *pipe, const struct pib_burst *b)
{
	struct pib_kport *out = NULL;

	if (b->in_port && b->in_port != pipe->port)
		out = rcu_dereference(b->in_port->peer);
	return out && out->sw == pipe->port->sw ? out : NULL;
}

/* Put @b, which the receiving port could not pass on, back to the head, and try again later. */
static void in_requeue(struct pib_pipe *pipe, unsigned int vl, struct pib_burst *b, u64 now)
{
	struct pib_pipe_vl *v = &pipe->vl[vl];

	v->waits_for = refused_by(pipe, b);
	b->in_port = pipe->port;
	list_add(&b->entry, &v->in);
	pipe->arrived |= BIT(vl);
	v->retry_ns = v->retry_ns ? min_t(u32, 2 * v->retry_ns, PIB_PIPE_RETRY_MAX_NS) :
				    PIB_PIPE_RETRY_NS;
	v->retry_at = now + v->retry_ns;
	if (pipe->from && !has_credits(pipe, vl)) {
		pib_kport_count(pipe->from, xmit_wait, v->retry_ns / PIB_NSEC_PER_USEC);
		pipe_count_wait(pipe, vl, v->retry_ns / PIB_NSEC_PER_USEC);
	}
}

/* Give credits for the room of a burst that has left the buffer back to the sending port. */
static void in_return_credits(struct pib_pipe *pipe, unsigned int vl, u32 blocks)
{
	struct pib_pipe_vl *v = &pipe->vl[vl];

	v->bursts--;
	v->retry_ns = 0;
	v->retry_at = 0;
	v->tx.credits += blocks;
	if (!pipe->from || !has_credits(pipe, vl))
		return;
	pib_kport_count(pipe->port, xmit_flow_pkts, 1);
	pib_kport_count(pipe->from, rcv_flow_pkts, 1);
}

/*
 * Discard @b, which was refused before, if it has been in its switch for too long. The port @out
 * that it waits for counts it.
 *
 * Return: true if @b is gone.
 */
static bool in_expire(struct pib_pipe *pipe, struct pib_kport *out, struct pib_burst *b, u64 now)
{
	if (!burst_expired(pipe, pipe->port->sw, b, now))
		return false;
	pipe_count_discard(out ?: pipe->port, b, false);
	pib_burst_free(b);
	return true;
}

/* Pass on the head of @vl; drops the lock meanwhile. Return: false if it was refused. */
static bool pass_one(struct pib_pipe *pipe, unsigned int vl, u64 now)
	__must_hold(&pipe->lock)
{
	bool refused = pipe->vl[vl].retry_ns;
	struct pib_kport *out = pipe->vl[vl].waits_for;
	struct pib_burst *b = in_dequeue(pipe, vl);
	u32 blocks = pib_vl_blocks(pib_burst_wire_bytes(b));
	int err = 0;

	spin_unlock(&pipe->lock);
	if (!refused || !in_expire(pipe, out, b, now))
		err = pib_kport_arrive(pipe->port, b);
	spin_lock(&pipe->lock);
	if (err)
		in_requeue(pipe, vl, b, now);
	else
		in_return_credits(pipe, vl, blocks);
	return !err;
}

/* As pass_one(). Each copy of a multicast counts against @budget, too. */
static bool pass_counted(struct pib_pipe *pipe, unsigned int vl, u64 now, unsigned int *budget)
{
	u32 copies = pib_tasks_copies();
	bool passed = pass_one(pipe, vl, now);

	*budget -= min(*budget, 1 + pib_tasks_copies() - copies);
	return passed;
}

/* Pass on what has arrived, VL by VL. Return: true if some burst went and the budget is left. */
static bool pipe_pass(struct pib_pipe *pipe, u64 now, unsigned int *budget)
{
	bool any = false;
	unsigned int vl;

	for (vl = 0; vl < PIB_PIPE_VLS; vl++) {
		while (*budget && (pipe->arrived & BIT(vl)) && pipe->vl[vl].retry_at <= now) {
			if (pass_counted(pipe, vl, now, budget))
				any = true;
		}
	}
	return any && *budget;
}

/* ---- memory that is wanted back ---- */

/* Report that @b, for which there was no room, is given up for those who want its memory back. */
static void count_given_up(struct pib_pipe *pipe, struct pib_burst *b)
{
	struct pib_kport *port = pipe->from ?: pipe->port;

	pib_kport_failed(port, b, PIB_CAPTURE_OUT, PIB_CAPTURE_FULL);
	pib_kport_count(port, xmit_discard, b->npkts);
}

/* Take the wanted ones out of @vl's queue before the cable. */
static void out_give_up(struct pib_pipe *pipe, unsigned int vl, u64 now, struct list_head *gone)
{
	struct pib_pipe_vl *v = &pipe->vl[vl];
	struct pib_burst *b, *next;

	list_for_each_entry_safe(b, next, &v->out, entry) {
		if (now < b->due + PIB_PIPE_PATIENCE_NS || !pib_burst_is_wanted(b))
			continue;
		count_given_up(pipe, b);
		out_remove(pipe, vl, b, now);
		list_add_tail(&b->entry, gone);
	}
}

/* Take the wanted ones out of @vl's buffer behind the cable, and give their credits back. */
static void in_give_up(struct pib_pipe *pipe, unsigned int vl, u64 now, struct list_head *gone)
{
	struct pib_pipe_vl *v = &pipe->vl[vl];
	struct pib_burst *b, *next;

	/* Bursts have come one after the other: those behind one that is too young are younger. */
	list_for_each_entry_safe(b, next, &v->in, entry) {
		if (now < b->due + PIB_PIPE_PATIENCE_NS)
			break;
		if (!pib_burst_is_wanted(b))
			continue;
		count_given_up(pipe, b);
		list_move_tail(&b->entry, gone);
		in_return_credits(pipe, vl, pib_vl_blocks(pib_burst_wire_bytes(b)));
	}
	if (list_empty(&v->in))
		pipe->arrived &= ~BIT(vl);
}

/*
 * Give up what waits for room, perhaps for ever, and refers to memory that somebody wants back. The
 * bursts in the cable itself come out in time.
 */
static void pipe_give_back(struct pib_pipe *pipe, u64 now, struct list_head *gone)
{
	u32 vls;

	lockdep_assert_held(&pipe->lock);
	if (now < pipe->look_at || !pib_mem_is_asked(&pipe->asked))
		return;
	pipe->look_at = now + PIB_PIPE_BACK_NS;
	for (vls = pipe->ready; vls; vls &= vls - 1)
		out_give_up(pipe, __ffs(vls), now, gone);
	for (vls = pipe->arrived; vls; vls &= vls - 1)
		in_give_up(pipe, __ffs(vls), now, gone);
}

/* ---- the pipe ---- */

static void free_bursts(struct list_head *gone)
{
	struct pib_burst *b, *tmp;

	list_for_each_entry_safe(b, tmp, gone, entry)
		pib_burst_free(b);
}

/* Return: the time of the next thing to do, ns; U64_MAX: nothing. */
static u64 next_time(struct pib_pipe *pipe, u64 now)
{
	struct pib_burst *b = list_first_entry_or_null(&pipe->wire, struct pib_burst, entry);
	u64 at = b ? b->due : U64_MAX;
	u32 vls;

	if (pipe->held)
		at = min(at, pipe->held_until);
	for (vls = pipe->arrived; vls; vls &= vls - 1)
		at = min(at, pipe->vl[__ffs(vls)].retry_at);
	if (pipe->ready)
		at = min(at, pipe->fault.free_at <= now ? now + PIB_PIPE_LOOK_NS :
			     min(pipe->fault.free_at, now + PIB_PIPE_BACK_NS));
	return at;
}

static void pipe_arm(struct pib_pipe *pipe, u64 now)
{
	u64 at;

	lockdep_assert_held(&pipe->lock);
	if (pipe->busy)
		return;
	at = next_time(pipe, now);
	if (at == U64_MAX)
		return;
	/*
	 * Bursts that were left because the budget was spent could go at once. But a timer that is
	 * set to a time before the softirq began is called again by the same softirq.
	 */
	hrtimer_start(&pipe->timer, ns_to_ktime(max(at, now)), HRTIMER_MODE_ABS_SOFT);
}

/*
 * Make a burst of packet @i of @b. A packet may stay in a limited buffer for long, so it gets its
 * bytes there in memory of its own, if there is any, instead of holding on to its sender's.
 *
 * Return: the burst; NULL: no memory.
 */
static struct pib_burst *packet_of(struct pib_pipe *pipe, struct pib_burst *b, u32 i)
{
	struct pib_burst *p = pib_burst_slice(b, i, 1);

	if (p && pipe->fault.cfg.buffer)
		pib_burst_detach(p);
	return p;
}

/* Return: how full the queue of a VL before the cable is, in 1/256. */
static u32 out_fill(const struct pib_pipe *pipe, const struct pib_pipe_vl *v)
{
	u32 most = pipe->fault.cfg.buffer ?: PIB_PIPE_QUEUE;

	return min_t(u64, v->out_bytes * 256ULL / most, 256);
}

/* Queue @b. If the sending port is a switch's, it may mark @b first. */
static void out_mark(struct pib_pipe *pipe, struct pib_burst *b, u64 now)
{
	if (pipe->from && pipe->from->sw)
		pib_ecn_mark(pipe->from, b, out_fill(pipe, burst_vl(pipe, b)));
	out_enqueue(pipe, b, now);
}

/* Count that packet @i of @b is lost for want of memory. */
static void enter_failed(struct pib_pipe *pipe, const struct pib_burst *b, u32 i)
{
	struct pib_hdrs h;

	pib_hdrs_packet(&b->h, b->npkts, i, &h);
	pib_kport_trace_drop(pipe->port, PIB_DROP_OVERRUN, &h, 1);
	pib_kport_overrun(pipe->port, 1);
}

/* Queue the packets of @b one by one. */
static void enter_cut(struct pib_pipe *pipe, struct pib_burst *b, u64 now, struct list_head *gone)
{
	struct pib_burst *p;
	u32 i;

	for (i = 0; i < b->npkts; i++) {
		p = packet_of(pipe, b, i);
		if (p)
			out_mark(pipe, p, now);
		else
			enter_failed(pipe, b, i);
	}
	list_add_tail(&b->entry, gone);
}

/* Management is refused only at the limit of bursts: its senders do not try again. */
static bool pipe_refuses(const struct pib_pipe *pipe, const struct pib_pipe_vl *v,
			 const struct pib_burst *b)
{
	return burst_lot(b) == PIB_FAULT_DATA ? out_full(pipe, v) : v->bursts >= PIB_PIPE_MAX;
}

int pib_pipe_enter(struct pib_pipe *pipe, struct pib_burst *b)
{
	u64 now = ktime_get_ns();
	LIST_HEAD(gone);
	int err = 0;

	spin_lock(&pipe->lock);
	if (pipe_refuses(pipe, burst_vl(pipe, b), b)) {
		err = -EBUSY;
	} else {
		if (pipe_cuts(pipe, b))
			enter_cut(pipe, b, now, &gone);
		else
			out_mark(pipe, b, now);
		pipe_send(pipe, now, &gone);
		pipe_arm(pipe, now);
	}
	spin_unlock(&pipe->lock);
	free_bursts(&gone);
	return err;
}

/* Do all that is due by @now. Context: softirqs off. */
static void pipe_run(struct pib_pipe *pipe, u64 now)
{
	unsigned int budget = PIB_PIPE_BUDGET;
	LIST_HEAD(gone);

	rcu_read_lock();
	spin_lock(&pipe->lock);
	if (!pipe->busy) {
		pipe->busy = true;
		pipe_give_back(pipe, now, &gone);
		do {
			pipe_send(pipe, now, &gone);
			wire_deliver(pipe, now);
		} while (pipe_pass(pipe, now, &budget));
		pipe_send(pipe, now, &gone);
		pipe->busy = false;
		pipe_arm(pipe, now);
	}
	spin_unlock(&pipe->lock);
	free_bursts(&gone);
	rcu_read_unlock();
}

static enum hrtimer_restart pipe_timer(struct hrtimer *t)
{
	/* A burst that enters may restart the timer; pib_tasks_run_due() copes with that. */
	u64 due = data_race(hrtimer_get_expires(t));

	pipe_run(container_of(t, struct pib_pipe, timer), ktime_get_ns());
	pib_tasks_run_due(due);
	return HRTIMER_NORESTART;
}

void pib_pipe_init(struct pib_pipe *pipe, struct pib_kport *from, struct pib_kport *port,
		   const struct pib_fault_cfg *cfg, unsigned int direction)
{
	unsigned int vl;

	pipe->from = from;
	pipe->port = port;
	spin_lock_init(&pipe->lock);
	INIT_LIST_HEAD(&pipe->wire);
	for (vl = 0; vl < PIB_PIPE_VLS; vl++) {
		INIT_LIST_HEAD(&pipe->vl[vl].out);
		INIT_LIST_HEAD(&pipe->vl[vl].in);
		pipe->vl[vl].tx.credits = cfg->buffer / PIB_VL_BLOCK;
	}
	pib_fault_init(&pipe->fault, cfg, direction);
	hrtimer_setup(&pipe->timer, pipe_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

/* Let everything in the pipe arrive at once. */
static void pipe_flush(struct pib_pipe *pipe)
{
	u64 now = ktime_get_ns();
	struct pib_burst *b;

	release_held(pipe, 0);
	while (pipe->ready) {
		b = out_dequeue(pipe, __ffs(pipe->ready), now);
		if (pipe->from)
			pib_kport_sent(pipe->from, b);
		b->cable = PIB_CAPTURE_PASSED;
		wire_add(pipe, b, 0);
	}
	wire_deliver(pipe, U64_MAX);
}

void pib_pipe_stop(struct pib_pipe *pipe)
{
	struct pib_burst *b;

	hrtimer_cancel(&pipe->timer);
	local_bh_disable();
	rcu_read_lock();
	spin_lock(&pipe->lock);
	pipe_flush(pipe);
	while (pipe->arrived) {
		b = in_dequeue(pipe, __ffs(pipe->arrived));
		spin_unlock(&pipe->lock);
		if (pib_kport_arrive(pipe->port, b)) {
			pib_kport_count(pipe->port, buffer_overrun, b->npkts);
			pib_kport_trace_drop(pipe->port, PIB_DROP_OVERRUN, &b->h, b->npkts);
			pib_burst_free(b);
		}
		spin_lock(&pipe->lock);
	}
	spin_unlock(&pipe->lock);
	rcu_read_unlock();
	pib_tasks_run();
	local_bh_enable();
}

void pib_pipe_counts(struct pib_pipe *pipe, struct pib_fault_counts *counts)
{
	spin_lock_bh(&pipe->lock);
	*counts = pipe->fault.counts;
	spin_unlock_bh(&pipe->lock);
}
