// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The work that any node, switch or HCA, does unasked: traps, leases, and events. */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include "core/net.h"
#include "core/notify.h"
#include "core/task.h"
#include "packet/burst.h"
#include "proto/mad.h"
#include "proto/pma.h"
#include "proto/smi.h"
#include "proto/trap.h"
#include "fabric/cable.h"
#include "fabric/capture.h"
#include "fabric/forward.h"
#include "fabric/node.h"
#include "fabric/port.h"
#include "fabric/switch.h"
#include "tracing/mad.h"

struct pib_burst *pib_mad_burst(u8 *mad, u32 qpn)
{
	struct pib_burst *b = pib_burst_alloc();

	if (!b) {
		kfree(mad);
		return NULL;
	}
	b->payload = PIB_PAYLOAD_LINEAR;
	b->linear = mad;
	b->len = PIB_MAD_SIZE;
	b->pmtu = PIB_MAD_SIZE;
	b->npkts = 1;
	b->icrc_ok = true;
	b->h.tp = PIB_TP_UD;
	b->h.op = PIB_OP_SEND;
	b->h.flags = PIB_H_FIRST | PIB_H_LAST | PIB_H_MIG;
	b->h.pkey = IB_DEFAULT_PKEY_FULL;
	b->h.sqpn = qpn;
	b->h.dqpn = qpn;
	b->h.qkey = qpn ? IB_QP1_QKEY : 0;
	return b;
}

enum pib_mad_result pib_node_dev_gsa(struct pib_port *p, const u8 *in, u8 *out)
{
	struct pib_node_dev *nd = to_node_dev(p->node);
	enum pib_mad_result res;
	unsigned long flags;

	if (in[PIB_MAD_CLASS] == PIB_CLASS_PERF) {
		spin_lock_bh(&nd->pma_lock);
		res = pib_gsa_process(p, in, out, ktime_get_ns());
		spin_unlock_bh(&nd->pma_lock);
		return res;
	}
	spin_lock_irqsave(&nd->lock, flags);
	res = pib_gsa_process(p, in, out, ktime_get_ns());
	spin_unlock_irqrestore(&nd->lock, flags);
	return res;
}

void pib_node_dev_kick(struct pib_node_dev *nd)
{
	rcu_read_lock();
	if (READ_ONCE(nd->live))
		mod_delayed_work(pib_wq, &nd->work, 0);
	rcu_read_unlock();
}

static void node_xmit_trap(struct pib_burst *b, struct pib_kport *port)
{
	trace_pib_mad_sent(port->nd->name, port->p.num, 0, b->h.slid, b->h.dlid, b->linear);
	if (port->sw)
		pib_switch_send(port->sw, PIB_PORT_BY_LID, b);
	else if (pib_kport_xmit(port, b) < 0)
		pib_burst_free(b);
}

static void node_send_trap(u8 *mad, struct pib_port *from)
{
	struct pib_burst *b = pib_mad_burst(mad, 0);
	struct pib_kport *port = to_kport(from);

	if (!b)
		return;
	b->h.slid = READ_ONCE(from->lid);
	b->h.dlid = READ_ONCE(from->sm_lid);
	b->h.sl = READ_ONCE(from->sm_sl);

	local_bh_disable();
	rcu_read_lock();
	b = port->nd->ops->trap(port, b);
	if (b)
		node_xmit_trap(b, port);
	rcu_read_unlock();
	pib_tasks_run();
	local_bh_enable();
}

/*
 * Tell listeners of @mad, a trap of @from. They are not told who has caused it, and by which key:
 * that is for the SM.
 */
static void node_tell_trap(const u8 *mad, const struct pib_port *from)
{
	const u8 *notice = mad + PIB_MAD_DATA;
	struct pib_kport *port = to_kport(from);
	const struct pib_note note = {
		.pn = port->nd->pn,
		.kind = PIB_EVENT_KIND_TRAP,
		.a = pib_kport_note_end(port),
		.trap = pib_get16(notice + 4),
		.lid = pib_get16(notice + 6),
	};

	pib_notify(&note);
}

static void node_send_traps(struct pib_node_dev *nd)
{
	struct pib_port *from;
	bool more = true;
	u8 *mad;

	while (more) {
		mad = kzalloc(PIB_MAD_SIZE, GFP_KERNEL);
		if (!mad)
			return;
		spin_lock_irq(&nd->lock);
		more = pib_trap_next(&nd->node, ktime_get_ns(), mad, &from);
		spin_unlock_irq(&nd->lock);
		if (!more) {
			kfree(mad);
			return;
		}
		node_tell_trap(mad, from);
		node_send_trap(mad, from);
	}
}

/* Switches: retrain ports whose physical state the SM has set. HCAs: see hca/port_event.c. */
static void node_phys_changes(struct pib_node_dev *nd)
{
	unsigned int i;

	for (i = 1; i <= nd->node.num_ports; i++) {
		struct pib_kport *port = nd->ports[i];
		u32 events;

		spin_lock_irq(&nd->lock);
		events = port->p.events;
		WRITE_ONCE(port->p.events, 0);
		spin_unlock_irq(&nd->lock);
		if (events & PIB_EV_PHYS_CHANGE)
			pib_kport_phys_changed(port);
	}
}

static void node_work(struct work_struct *work)
{
	struct pib_node_dev *nd = container_of(work, struct pib_node_dev, work.work);
	bool is_switch = nd->node.type == PIB_NODE_SWITCH;
	u64 now, deadline;

	spin_lock_irq(&nd->lock);
	pib_node_timer(&nd->node, ktime_get_ns());
	if (is_switch)
		WRITE_ONCE(nd->node.events, 0);
	spin_unlock_irq(&nd->lock);

	if (is_switch)
		node_phys_changes(nd);
	node_send_traps(nd);

	spin_lock_irq(&nd->lock);
	deadline = pib_node_deadline(&nd->node);
	spin_unlock_irq(&nd->lock);
	if (!deadline)
		return;
	now = ktime_get_ns();
	queue_delayed_work(pib_wq, &nd->work,
			   deadline > now ? nsecs_to_jiffies(deadline - now) + 1 : 1);
}

void pib_node_dev_init(struct pib_node_dev *nd, struct pib_net *pn, const char *name,
		       const struct pib_node_ops *ops, bool standalone)
{
	nd->ops = ops;
	nd->pn = pn;
	nd->standalone = standalone;
	nd->name = name;
	nd->node.count = pib_kport_read_count;
	spin_lock_init(&nd->lock);
	spin_lock_init(&nd->pma_lock);
	INIT_DELAYED_WORK(&nd->work, node_work);
}

void pib_node_dev_start(struct pib_node_dev *nd)
{
	WRITE_ONCE(nd->live, true);
	pib_node_dev_kick(nd);
}

void pib_node_dev_stop(struct pib_node_dev *nd)
{
	WRITE_ONCE(nd->live, false);
	pib_captures_leave(nd);
	/* Pairs with the RCU section in pib_node_dev_kick(): a CPU that saw @live has queued. */
	synchronize_rcu();
	cancel_delayed_work_sync(&nd->work);
}
