// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Forwarding of bursts from port to port.
 *
 * A walk takes a burst out of a port, across its cable, through the switch at
 * the other end and so on until it lands. It is a loop, not a recursion:
 * copies for multicast and answers of switch agents wait in the walk's list
 * for their turn. The port counters along the way are written when the burst
 * has landed, so a burst that is refused (-EBUSY) leaves no trace.
 */
#include <linux/list.h>
#include "compat/compat.h"
#include "core/task.h"
#include "packet/burst.h"
#include "proto/smi.h"
#include "proto/switch.h"
#include "fabric/capture.h"
#include "fabric/drop.h"
#include "fabric/ecn.h"
#include "fabric/forward.h"
#include "fabric/link.h"
#include "fabric/pipe.h"
#include "fabric/port.h"
#include "fabric/switch.h"
#include "tracing/fabric.h"

/**
 * struct pib_walk - bursts on their way. It is large, and walk_begin() sets what is read
 * @pending: bursts that wait for their turn; each one's @in_port is the port out of which it goes
 * @copies: number of multicast copies made since the walk began
 * @bytes: bytes on the wire of the burst being walked
 * @npkts: packets of that burst
 * @sl: service level of that burst
 * @mcast: the burst is a multicast
 * @push_back: the sender takes the burst back if it is refused
 * @full: the link by which the burst was to leave this kernel had no room
 * @via_udp: the burst has left this kernel
 * @start: port out of which the burst left its first node, NULL if it comes from elsewhere
 * @nin: entries in @in and @vl
 * @in: ports by which the burst came into the nodes on its way
 * @vl: VLs on which the burst came into these nodes
 * @route: way through the switch in which the burst is
 * @marks: marks that the burst has left in captures on its way
 * @traced: @trace is valid
 * @trace: description of the burst, which is freed before its way is traced
 */
struct pib_walk {
	struct list_head pending;
	u32 copies;
	u64 bytes;
	u32 npkts;
	u8 sl;
	bool mcast;
	bool push_back;
	bool full;
	bool via_udp;
	struct pib_kport *start;
	unsigned int nin;
	struct pib_kport *in[PIB_MAX_HOPS];
	u8 vl[PIB_MAX_HOPS];
	struct pib_route route;
	struct pib_mark *marks;
	bool traced;
	struct pib_trace_burst trace;
};

static void walk_begin(struct pib_walk *w, const struct pib_burst *b)
{
	w->bytes = pib_burst_wire_bytes(b);
	w->npkts = b->npkts;
	w->sl = b->h.sl & 0xF;
	w->mcast = pib_lid_is_mcast(b->h.dlid);
	w->push_back = false;
	w->full = false;
	w->via_udp = false;
	w->start = NULL;
	w->nin = 0;
	w->marks = NULL;
	w->traced = trace_pib_port_sent_enabled() || trace_pib_port_received_enabled();
	if (w->traced)
		pib_trace_burst_set(&w->trace, &b->h, b->npkts);
}

/* The copy of the description would have every caller of count_out() check its stack. */
static noinline void trace_out(const struct pib_walk *w, const struct pib_kport *port, u8 vl)
{
	struct pib_trace_burst t = w->trace;

	t.vl = vl;
	trace_pib_port_sent(port->nd->name, port->p.num, &t, w->bytes);
}

static noinline void trace_in(const struct pib_walk *w, const struct pib_kport *port, u8 vl)
{
	struct pib_trace_burst t = w->trace;

	t.vl = vl;
	trace_pib_port_received(port->nd->name, port->p.num, &t, w->bytes);
}

static void walk_start(struct pib_walk *w, const struct pib_burst *b)
{
	INIT_LIST_HEAD(&w->pending);
	w->copies = 0;
	walk_begin(w, b);
}

static void count_out(const struct pib_walk *w, struct pib_kport *port, u8 vl)
{
	struct pib_counts *c = this_cpu_ptr(port->counts);

	c->xmit_bytes += w->bytes;
	c->xmit_pkts += w->npkts;
	c->sl_xmit_bytes[w->sl] += w->bytes;
	c->vl_xmit_pkts[vl] += w->npkts;
	c->vl_xmit_bytes[vl] += w->bytes;
	if (w->mcast)
		c->mcast_xmit += w->npkts;
	else
		c->ucast_xmit += w->npkts;
	if (trace_pib_port_sent_enabled() && w->traced)
		trace_out(w, port, vl);
}

static void count_in(const struct pib_walk *w, struct pib_kport *port, u8 vl)
{
	struct pib_counts *c = this_cpu_ptr(port->counts);

	c->rcv_bytes += w->bytes;
	c->rcv_pkts += w->npkts;
	c->sl_rcv_bytes[w->sl] += w->bytes;
	if (w->mcast)
		c->mcast_rcv += w->npkts;
	else
		c->ucast_rcv += w->npkts;
	if (trace_pib_port_received_enabled() && w->traced)
		trace_in(w, port, vl);
}

/* Count, trace and capture the way of the burst, which has landed. */
static void walk_commit(struct pib_walk *w)
{
	unsigned int i;

	for (i = 0; i < w->nin; i++) {
		struct pib_kport *out = i ? rcu_dereference(w->in[i]->peer) : w->start;

		if (out)
			count_out(w, out, w->vl[i]);
		count_in(w, w->in[i], w->vl[i]);
	}
	w->nin = 0;
	w->start = NULL;
	pib_marks_finish(&w->marks, true);
}

/* Drop the burst's marks: the sender has it back, and will try again. */
static void walk_undo(struct pib_walk *w)
{
	pib_marks_finish(&w->marks, false);
}

void pib_kport_sent(struct pib_kport *port, struct pib_burst *b)
{
	struct pib_walk w __uninitialized;

	walk_begin(&w, b);
	count_out(&w, port, b->h.vl & 0xF);
	if (pib_captured(port))
		pib_capture_at_once(port, b, PIB_CAPTURE_OUT, PIB_CAPTURE_PASSED);
}

static void walk_drop(struct pib_walk *w, struct pib_burst *b)
{
	walk_commit(w);
	pib_burst_free(b);
}

static bool port_fits(const struct pib_kport *out, const struct pib_burst *b)
{
	return (b->npkts == 1 ? b->len : b->pmtu) <= pib_mtu_bytes(READ_ONCE(out->p.nbr_mtu));
}

static bool port_inactive(const struct pib_kport *out, const struct pib_burst *b)
{
	return !pib_port_admits(&out->p, b->h.dqpn) || !pib_kport_has_cable(out);
}

/* Count that the output port has no VL for @b, which came by the switch port @in (16.1.3.5). */
static void count_no_vl(struct pib_kport *in, const struct pib_burst *b)
{
	pib_kport_count(in, rcv_switch_relay_err, b->npkts);
	pib_kport_count(in, relay_vl, b->npkts);
}

/* Count that @b, which came by @in (NULL: was made here), cannot leave by @out. */
static void count_discard(struct pib_kport *out, struct pib_kport *in, struct pib_burst *b)
{
	bool inactive = port_inactive(out, b);
	bool too_long = !inactive && b->h.dqpn && !port_fits(out, b);
	u8 why = PIB_CAPTURE_NO_VL;

	if (inactive)
		why = PIB_CAPTURE_INACTIVE;
	else if (too_long)
		why = PIB_CAPTURE_MTU;
	pib_kport_failed(out, b, PIB_CAPTURE_OUT, why);
	if (!inactive && !too_long && in && in->sw) {
		count_no_vl(in, b);
		return;
	}
	pib_kport_count(out, xmit_discard, b->npkts);
	if (inactive)
		pib_kport_count(out, discard_inactive, b->npkts);
	else if (too_long)
		pib_kport_count(out, discard_mtu, b->npkts);
}

/* Set the VL of @b. Return: as port_sends(). */
static bool port_picks_lane(struct pib_kport *out, const struct pib_kport *in, struct pib_burst *b)
{
	u8 in_num = in && in->sw ? in->p.num : 0;

	if (!pib_port_admits(&out->p, b->h.dqpn))
		return false;
	if (!b->h.dqpn) {
		b->h.vl = PIB_VL_MGMT;
		return pib_hdrs_from_qp0(&b->h);
	}
	if (!port_fits(out, b))
		return false;
	b->h.vl = pib_port_vl(&out->p, in_num, b->h.sl);
	return b->h.vl != PIB_VL_DISCARD;
}

static void trace_routed(const struct pib_kport *out, const struct pib_kport *in,
			 const struct pib_burst *b)
{
	struct pib_trace_burst t;

	pib_trace_burst_set(&t, &b->h, b->npkts);
	trace_pib_routed(out->nd->name, in ? in->p.num : 0, out->p.num, &t);
}

/*
 * Check whether @b, which came by @in (NULL: was made here), may leave by @out, and set h.vl.
 *
 * Return: true if it may.
 */
static bool port_sends(struct pib_kport *out, const struct pib_kport *in, struct pib_burst *b)
{
	if (!port_picks_lane(out, in, b))
		return false;
	if (trace_pib_routed_enabled() && out->sw)
		trace_routed(out, in, b);
	return true;
}

static void port_armed_data(struct pib_kport *in)
{
	spinlock_t *lock = pib_kport_lock(in);
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	pib_port_armed_data(&in->p);
	pib_kport_changed(in);
	spin_unlock_irqrestore(lock, flags);
	pib_kport_events(in);
}

static bool port_takes(struct pib_kport *in, const struct pib_burst *b)
{
	u8 state = READ_ONCE(in->p.state);

	if (likely(state == PIB_PORT_ACTIVE))
		return true;
	if (state == PIB_PORT_ARMED && b->h.dqpn)
		port_armed_data(in);
	return pib_port_takes(&in->p, b->h.dqpn);
}

/*
 * Send @b out of @out.
 *
 * Return: the port at the far end of a local cable; NULL: the burst is consumed, or @w->full is
 * set.
 */
static struct pib_kport *walk_leave(struct pib_walk *w, struct pib_kport *out,
				    struct pib_burst *b)
{
	struct pib_kport *in;
	struct pib_link *link;

	in = rcu_dereference(out->peer);
	if (in) {
		if (!w->nin)
			w->start = out;
		return in;
	}
	link = rcu_dereference(out->link);
	if (link && w->push_back && link->ops->full(link, b)) {
		w->full = true;
		return NULL;
	}
	walk_commit(w);
	if (!link) {
		count_discard(out, NULL, b);
		pib_burst_free(b);
		return NULL;
	}
	count_out(w, out, b->h.vl & 0xF);
	if (pib_captured(out))
		pib_capture_at_once(out, b, PIB_CAPTURE_OUT, PIB_CAPTURE_PASSED);
	w->via_udp = true;
	link->ops->xmit(link, b);
	return NULL;
}

/* As walk_leave(), but drop @b, which came by @from, if @out may not send it. */
static struct pib_kport *walk_cross(struct pib_walk *w, struct pib_kport *out,
				    struct pib_kport *from, struct pib_burst *b)
{
	if (port_sends(out, from, b))
		return walk_leave(w, out, b);
	count_discard(out, from, b);
	walk_drop(w, b);
	return NULL;
}

/* Queue @b, which came by @in, so that it leaves by @out when its turn comes. */
static void walk_queue(struct pib_walk *w, struct pib_burst *b, struct pib_kport *in,
		       struct pib_kport *out)
{
	if (!port_sends(out, in, b)) {
		count_discard(out, in, b);
		pib_burst_free(b);
		return;
	}
	b->in_port = out;
	list_add_tail(&b->entry, &w->pending);
}

static void walk_queue_clone(struct pib_walk *w, struct pib_burst *b,
			     struct pib_kport *in, struct pib_kport *out)
{
	struct pib_burst *c = w->copies++ < PIB_MAX_COPIES ? pib_burst_clone(b) : NULL;

	if (!c) {
		pib_kport_count(out, xmit_discard, b->npkts);
		pib_kport_failed(out, b, PIB_CAPTURE_OUT, PIB_CAPTURE_NO_COPY);
		return;
	}
	c->hops = b->hops;
	pib_tasks_copied(1);
	walk_queue(w, c, in, out);
}

/**
 * struct route_error - what is done where a switch has no way for a packet
 * @why: enum pib_capture_reason; 0: nothing is done
 * @at_out: at the port by which the packet would leave, not at the one by which it came
 * @trap: trap 259 is raised
 * @counts: counters, by their place in struct pib_counts; 0: none
 */
struct route_error {
	u8 why;
	bool at_out;
	bool trap;
	u16 counts[2];
};

#define COUNTER(field) (offsetof(struct pib_counts, field) / sizeof(u64))

/* Errors by enum pib_route_reason. count_discard() counts PIB_ROUTE_DROP_OUT_STATE. */
static const struct route_error route_errors[] = {
	[PIB_ROUTE_DROP_RELAY] = {
		.why = PIB_CAPTURE_NO_ROUTE,
		.counts = { COUNTER(rcv_switch_relay_err), COUNTER(relay_dlid) },
	},
	[PIB_ROUTE_DROP_LOOP] = {
		.why = PIB_CAPTURE_LOOP,
		.counts = { COUNTER(rcv_switch_relay_err), COUNTER(relay_loop) },
	},
	[PIB_ROUTE_DROP_PKEY_IN] = {
		.why = PIB_CAPTURE_PKEY_IN,
		.trap = true,
		.counts = { COUNTER(rcv_constraint_err) },
	},
	[PIB_ROUTE_DROP_PKEY_OUT] = {
		.why = PIB_CAPTURE_PKEY_OUT,
		.at_out = true,
		.trap = true,
		.counts = { COUNTER(xmit_constraint_err) },
	},
};

/*
 * Count that @b, which came by @in with @marks (NULL: the switch has made it), finds no way through
 * @sw. @out: number of the port by which it would leave, if @reason is about that.
 */
static void count_unrouted(struct pib_switch *sw, struct pib_kport *in, struct pib_mark *marks,
			   u8 reason, u8 out, struct pib_burst *b)
{
	const struct route_error *d = &route_errors[reason];
	struct pib_kport *port = d->at_out ? sw->nd.ports[out] : in ?: sw->nd.ports[0];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(d->counts) && d->counts[i]; i++)
		this_cpu_add(((u64 __percpu *)port->counts)[d->counts[i]], b->npkts);
	if (d->at_out || !in)
		pib_kport_failed(port, b, PIB_CAPTURE_OUT, d->why);
	else
		pib_kport_dropped(port, b, marks, d->why);
	/* A trap about a packet of the switch's own would name the switch as the offender. */
	if (d->trap && in)
		pib_switch_pkey_trap(sw, port, b);
}

static void walk_mcast(struct pib_walk *w, struct pib_switch *sw, struct pib_kport *in,
		       const struct pib_route *rt, struct pib_burst *b)
{
	unsigned int i;

	for (i = 1; i <= sw->nd.node.num_ports; i++) {
		if (pib_route_has(rt, i))
			walk_queue_clone(w, b, in, sw->nd.ports[i]);
		else if (unlikely(pib_route_stops(rt, i)))
			count_unrouted(sw, in, w->marks, PIB_ROUTE_DROP_PKEY_OUT, i, b);
	}
	walk_drop(w, b);
}

/*
 * Without an SM a multicast goes everywhere: from an HCA to all other ports, from
 * a trunk to HCAs only. Trunks are a full mesh.
 */
static void walk_flood(struct pib_walk *w, struct pib_switch *sw, struct pib_kport *in,
		       struct pib_burst *b)
{
	bool from_trunk = !!rcu_access_pointer(in->link);
	unsigned int i;

	for (i = 1; i <= sw->nd.node.num_ports; i++) {
		struct pib_kport *out = sw->nd.ports[i];

		if (out == in || READ_ONCE(out->p.state) != PIB_PORT_ACTIVE)
			continue;
		if (from_trunk && rcu_access_pointer(out->link))
			continue;
		walk_queue_clone(w, b, in, out);
	}
	walk_drop(w, b);
}

/* Count that @b, which came by @in with @marks or is the switch's own (NULL), is dropped by @sw. */
static void count_route_drop(struct pib_switch *sw, struct pib_kport *in, struct pib_mark *marks,
			     const struct pib_route *rt, struct pib_burst *b)
{
	if (rt->reason == PIB_ROUTE_DROP_OUT_STATE)
		count_discard(sw->nd.ports[rt->port], in, b);
	else if (route_errors[rt->reason].why)
		count_unrouted(sw, in, marks, rt->reason, rt->port, b);
}

/*
 * Return: the port by which @b, which the switch itself has made, leaves; NULL: none, which is
 * counted.
 */
static struct pib_kport *agent_out(struct pib_switch *sw, u8 out_port, struct pib_burst *b)
{
	struct pib_route rt;

	if (out_port != PIB_PORT_BY_LID)
		return sw->nd.ports[out_port];
	pib_node_route(&sw->nd.node, 0, &b->h, &rt);
	if (rt.kind == PIB_ROUTE_PORT)
		return sw->nd.ports[rt.port];
	/* A packet for the switch itself, or for a group, has no way out either. */
	if (rt.reason == PIB_ROUTE_DROP_SILENT)
		rt.reason = PIB_ROUTE_DROP_RELAY;
	count_route_drop(sw, NULL, NULL, &rt, b);
	return NULL;
}

static void walk_queue_agent(struct pib_walk *w, struct pib_switch *sw, u8 out_port,
			     struct pib_burst *b)
{
	struct pib_kport *out = agent_out(sw, out_port, b);

	if (out)
		walk_queue(w, b, NULL, out);
	else
		pib_burst_free(b);
}

/* Give a packet for the switch itself to its agent. The answer is sent in its turn. */
static void walk_agent(struct pib_walk *w, struct pib_switch *sw, struct pib_kport *in,
		       struct pib_burst *b)
{
	struct pib_burst *reply;
	u8 out_port;

	reply = pib_switch_agent(sw, in, b, w->marks, &out_port);
	walk_drop(w, b);
	if (reply)
		walk_queue_agent(w, sw, out_port, reply);
}

/*
 * Find the way of @b through @sw, into which it came by @in (port 0: made there).
 *
 * Return: the port by which it leaves; NULL: it has been dealt with.
 */
static struct pib_kport *walk_switch(struct pib_walk *w, struct pib_switch *sw,
				     struct pib_kport *in, struct pib_burst *b)
{
	struct pib_route *rt = &w->route;

	if (++b->hops >= PIB_MAX_HOPS) {
		pib_kport_count(in, rcv_switch_relay_err, b->npkts);
		pib_kport_dropped(in, b, w->marks, PIB_CAPTURE_HOPS);
		walk_drop(w, b);
		return NULL;
	}
	if (sw->nd.standalone && pib_lid_is_mcast(b->h.dlid)) {
		walk_flood(w, sw, in, b);
		return NULL;
	}
	pib_node_route(&sw->nd.node, in->p.num, &b->h, rt);
	switch (rt->kind) {
	case PIB_ROUTE_PORT:
		return sw->nd.ports[rt->port];
	case PIB_ROUTE_SELF:
		walk_agent(w, sw, in, b);
		return NULL;
	case PIB_ROUTE_MCAST:
		walk_mcast(w, sw, in, rt, b);
		return NULL;
	default:
		count_route_drop(sw, in, w->marks, rt, b);
		walk_drop(w, b);
		return NULL;
	}
}

/*
 * Put @b into the pipe of the cable to @in. The pipe owns @b from then on, and counts it when the
 * sending port sends it.
 *
 * Return: 0: the burst is consumed; -EBUSY: the pipe is full, and the sender takes the burst back.
 */
static int walk_pipe(struct pib_walk *w, struct pib_kport *in, struct pib_pipe *pipe,
		     struct pib_burst *b)
{
	struct pib_kport *out = pipe->from;
	int err;

	b->in_port = in;
	err = pib_pipe_enter(pipe, b);
	if (err && w->push_back)
		return err;
	if (err) {
		pib_kport_failed(out ?: in, b, out ? PIB_CAPTURE_OUT : 0, PIB_CAPTURE_FULL);
		if (out)
			pib_kport_count(out, xmit_discard, w->npkts);
		else
			pib_kport_overrun(in, w->npkts);
		walk_drop(w, b);
		return 0;
	}
	walk_commit(w);
	return 0;
}

/* The HCA at @in is full: mark @b at the switch port before it, if there is one. */
static void walk_mark_full(struct pib_kport *in, struct pib_burst *b)
{
	struct pib_kport *out = rcu_dereference(in->peer);

	if (out && out->sw)
		pib_ecn_mark(out, b, PIB_ECN_FULL);
}

/* Capture @b at the ports at both ends of a cable, as walk_commit() will count it. */
static void walk_capture(struct pib_walk *w, struct pib_kport *in, struct pib_burst *b)
{
	struct pib_kport *out = w->nin ? rcu_dereference(in->peer) : w->start;

	if (out && pib_captured(out))
		pib_capture_burst(out, b, PIB_CAPTURE_OUT, PIB_CAPTURE_PASSED, &w->marks);
	if (pib_captured(in))
		pib_capture_burst(in, b, 0, w->nin ? PIB_CAPTURE_PASSED : b->cable, &w->marks);
}

/*
 * Take @b in at @in: hand it to the HCA there, or find its way through the switch.
 *
 * Return: 0: @next is the port at which it comes in next, or NULL if it is consumed;
 *	-EBUSY: an HCA or a link is full.
 */
static int walk_node(struct pib_walk *w, struct pib_kport *in, struct pib_burst *b,
		     struct pib_kport **next)
{
	struct pib_kport *out;
	int err;

	*next = NULL;
	if (!port_takes(in, b)) {
		pib_kport_failed(in, b, 0, PIB_CAPTURE_INACTIVE);
		walk_drop(w, b);
		return 0;
	}
	if (static_branch_unlikely(&pib_capture_key))
		walk_capture(w, in, b);
	w->vl[w->nin] = b->h.vl & 0xF;
	w->in[w->nin++] = in;
	b->in_port = in;
	if (!in->sw) {
		err = in->nd->ops->rx(in, b);
		if (err < 0) {
			walk_mark_full(in, b);
			return err;
		}
		pib_marks_explain(w->marks, in, err);
		walk_commit(w);
		return 0;
	}
	out = walk_switch(w, in->sw, in, b);
	if (out)
		*next = walk_cross(w, out, in, b);
	return w->full ? -EBUSY : 0;
}

/*
 * Walk @b, which came through a cable to @in, until it is consumed.
 *
 * Return: 0; -EBUSY: an HCA, a link or a pipe on its way is full.
 */
static int walk_in(struct pib_walk *w, struct pib_kport *in, struct pib_burst *b)
{
	int err = 0;

	while (in && !err) {
		struct pib_pipe *pipe = rcu_dereference(in->pipe);

		if (unlikely(pipe))
			return walk_pipe(w, in, pipe, b);
		err = walk_node(w, in, b, &in);
	}
	return err;
}

/* As walk_in(), but drop a burst that is refused: nobody takes it back. */
static void walk_in_or_drop(struct pib_walk *w, struct pib_kport *in, struct pib_burst *b)
{
	if (!walk_in(w, in, b))
		return;
	pib_kport_dropped(b->in_port, b, w->marks, PIB_CAPTURE_FULL);
	walk_commit(w);
	pib_kport_overrun(b->in_port, b->npkts);
	pib_burst_free(b);
}

/* Walk the copies and answers that the first burst left behind. */
static void walk_pending(struct pib_walk *w)
{
	while (!list_empty(&w->pending)) {
		struct pib_burst *b = list_first_entry(&w->pending, struct pib_burst, entry);
		struct pib_kport *in;

		list_del(&b->entry);
		walk_begin(w, b);
		in = walk_leave(w, b->in_port, b);
		if (in)
			walk_in_or_drop(w, in, b);
	}
}

/* Count that @b has to wait at @port. A tick of PortXmitWait is the time until the next try. */
static void count_wait(struct pib_kport *port, const struct pib_burst *b)
{
	pib_kport_count(port, xmit_wait, 1);
	pib_kport_count(port, vl_xmit_wait[b->h.vl & 0xF], 1);
}

int pib_kport_xmit(struct pib_kport *port, struct pib_burst *b)
{
	u8 hops = b->hops;
	struct pib_walk w __uninitialized;
	struct pib_kport *in;
	int err = 0;

	if (!port->sw && pib_port_loops_back(&port->p, &b->h)) {
		b->in_port = port;
		return min(port->nd->ops->rx(port, b), 0);
	}

	walk_start(&w, b);
	w.push_back = true;
	in = walk_cross(&w, port, NULL, b);
	if (in)
		err = walk_in(&w, in, b);
	else if (w.full)
		err = -EBUSY;
	if (err) {
		b->hops = hops;
		walk_undo(&w);
		count_wait(port, b);
	} else if (w.via_udp) {
		err = PIB_XMIT_UDP;
	}
	walk_pending(&w);
	return err;
}

void pib_kport_recv(struct pib_kport *port, struct pib_burst *b)
{
	struct pib_walk w __uninitialized;

	walk_start(&w, b);
	walk_in_or_drop(&w, port, b);
	walk_pending(&w);
}

int pib_kport_arrive(struct pib_kport *port, struct pib_burst *b)
{
	struct pib_kport *in;
	u8 hops = b->hops;
	struct pib_walk w __uninitialized;
	int err;

	walk_start(&w, b);
	w.push_back = true;
	err = walk_node(&w, port, b, &in);
	if (!err && in)
		err = walk_in(&w, in, b);
	if (err) {
		b->hops = hops;
		walk_undo(&w);
	}
	walk_pending(&w);
	return err;
}

void pib_switch_send(struct pib_switch *sw, u8 out_port, struct pib_burst *b)
{
	struct pib_walk w __uninitialized;

	INIT_LIST_HEAD(&w.pending);
	w.copies = 0;
	walk_queue_agent(&w, sw, out_port, b);
	walk_pending(&w);
}
