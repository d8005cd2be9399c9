// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Switches: their memory, their agents on QP0 and QP1, and the work that any
 * node, switch or HCA, does without being asked (traps, leases).
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <rdma/ib_mad.h>
#include "packet/burst.h"
#include "control/registry.h"
#include "hca/hca.h"
#include "proto/mad.h"
#include "core/task.h"
#include "fabric/switch.h"

/* ---- packets that agents make ---- */

/*
 * A datagram from a management QP. Takes @mad (kmalloc'ed, 256 bytes) over,
 * also on failure.
 */
static struct pib_burst *mad_burst(u8 *mad, u32 qpn)
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

/* ---- traps, leases, events ---- */

static struct pib_agent __rcu **agent_slot(struct pib_node *n)
{
	if (n->type == PIB_NODE_CA)
		return &container_of(n, struct pib_hca, node)->agent;
	return &container_of(n, struct pib_switch, node)->live_agent;
}

void pib_node_kick(struct pib_node *n)
{
	struct pib_agent *a;

	rcu_read_lock();
	a = rcu_dereference(*agent_slot(n));
	if (a)
		mod_delayed_work(pib_fabric_wq, &a->work, 0);
	rcu_read_unlock();
}

static void agent_send_trap(struct pib_agent *a, u8 *mad, struct pib_port *from)
{
	struct pib_kport *port = to_kport(from);
	struct pib_burst *b = mad_burst(mad, 0);

	if (!b)
		return;
	b->h.slid = READ_ONCE(from->lid);
	b->h.dlid = READ_ONCE(from->sm_lid);
	b->h.sl = READ_ONCE(from->sm_sl);

	local_bh_disable();
	rcu_read_lock();
	if (port->sw)
		pib_switch_send(port->sw, PIB_PORT_BY_LID, b);
	else if (pib_port_xmit(port, b) < 0)
		pib_burst_free(b);
	rcu_read_unlock();
	pib_tasks_run();
	local_bh_enable();
}

static void agent_traps(struct pib_agent *a)
{
	struct pib_port *from;
	bool more = true;
	u8 *mad;

	while (more) {
		mad = kzalloc(PIB_MAD_SIZE, GFP_KERNEL);
		if (!mad)
			return;
		spin_lock_irq(a->lock);
		more = pib_trap_next(a->node, ktime_get_ns(), mad, &from);
		spin_unlock_irq(a->lock);
		if (more)
			agent_send_trap(a, mad, from);
		else
			kfree(mad);
	}
}

/* Switches: the SM has set a port's physical state. An HCA's event_work does this itself. */
static void agent_phys_changes(struct pib_agent *a)
{
	struct pib_node *n = a->node;
	unsigned int i;

	for (i = 1; i <= n->num_ports; i++) {
		struct pib_port *p = n->ports[i];
		u32 events;

		spin_lock_irq(a->lock);
		events = p->events;
		p->events = 0;
		spin_unlock_irq(a->lock);
		if (events & PIB_EV_PHYS_CHANGE)
			pib_kport_phys_changed(to_kport(p));
	}
}

static void agent_work(struct work_struct *work)
{
	struct pib_agent *a = container_of(work, struct pib_agent, work.work);
	struct pib_node *n = a->node;
	u64 now, deadline;

	spin_lock_irq(a->lock);
	pib_node_timer(n, ktime_get_ns());
	if (n->type == PIB_NODE_SWITCH)
		n->events = 0;
	spin_unlock_irq(a->lock);

	if (n->type == PIB_NODE_SWITCH)
		agent_phys_changes(a);
	agent_traps(a);

	spin_lock_irq(a->lock);
	deadline = pib_node_deadline(n);
	spin_unlock_irq(a->lock);
	if (!deadline)
		return;
	now = ktime_get_ns();
	queue_delayed_work(pib_fabric_wq, &a->work,
			   deadline > now ? nsecs_to_jiffies(deadline - now) + 1 : 1);
}

void pib_agent_start(struct pib_agent *a, struct pib_node *n, spinlock_t *lock)
{
	INIT_DELAYED_WORK(&a->work, agent_work);
	a->node = n;
	a->lock = lock;
	rcu_assign_pointer(*agent_slot(n), a);
	pib_node_kick(n);
}

void pib_agent_stop(struct pib_agent *a)
{
	RCU_INIT_POINTER(*agent_slot(a->node), NULL);
	synchronize_rcu();
	cancel_delayed_work_sync(&a->work);
}

/* ---- agents ---- */

enum pib_mad_result pib_gsa(struct pib_port *p, spinlock_t *node_lock, spinlock_t *pma_lock,
			    const u8 *in, u8 *out)
{
	enum pib_mad_result res;
	unsigned long flags;

	if (in[PIB_MAD_CLASS] == PIB_CLASS_PERF) {
		spin_lock_bh(pma_lock);
		res = pib_gsa_process(p, in, out, ktime_get_ns());
		spin_unlock_bh(pma_lock);
		return res;
	}
	spin_lock_irqsave(node_lock, flags);
	res = pib_gsa_process(p, in, out, ktime_get_ns());
	spin_unlock_irqrestore(node_lock, flags);
	return res;
}

static enum pib_mad_result smi_agent(struct pib_switch *sw, u8 in_port, const struct pib_burst *b,
				     const u8 *in, u8 *out, u8 *out_port, struct pib_hdrs *h)
{
	enum pib_mad_result res;
	unsigned long flags;

	spin_lock_irqsave(&sw->node_lock, flags);
	res = pib_smi_rx(&sw->node, in_port, in, out, out_port, ktime_get_ns());
	if (res == PIB_MAD_REPLY || res == PIB_MAD_FORWARD)
		pib_smi_lids(&sw->node, out, res, &b->h, &h->slid, &h->dlid);
	h->pkey = IB_DEFAULT_PKEY_FULL;
	spin_unlock_irqrestore(&sw->node_lock, flags);
	return res;
}

/*
 * One packet may ask for the counters of all ports, which are sums over all CPUs, and is answered where it
 * arrives, in softirqs. Nothing else that a MAD can ask for takes much longer than to forward it.
 */
static bool pma_may(struct pib_switch *sw, u64 now)
{
	bool may;

	spin_lock_bh(&sw->share_lock);
	may = pib_share_left(&sw->pma_share, now);
	spin_unlock_bh(&sw->share_lock);
	if (!may)
		pib_kport_count(sw->ports[0], qp1_dropped, 1);
	return may;
}

static void pma_spend(struct pib_switch *sw, u64 begun)
{
	spin_lock_bh(&sw->share_lock);
	pib_share_spend(&sw->pma_share, begun, ktime_get_ns());
	spin_unlock_bh(&sw->share_lock);
}

/* What passed pib_switch_gsi_ok(). */
static enum pib_mad_result gsi_answer(struct pib_switch *sw, const u8 *in, u8 *out)
{
	bool perf = in[PIB_MAD_CLASS] == PIB_CLASS_PERF;
	u64 begun = ktime_get_ns();
	enum pib_mad_result res;

	if (perf && !pma_may(sw, begun))
		return PIB_MAD_NONE;
	res = pib_gsa(sw->node.ports[0], &sw->node_lock, &sw->pma_lock, in, out);
	if (perf)
		pma_spend(sw, begun);
	return res == PIB_MAD_REPLY ? res : PIB_MAD_NONE;
}

static enum pib_mad_result gsi_agent(struct pib_switch *sw, const struct pib_burst *b,
				     const u8 *in, u8 *out, u8 *out_port, struct pib_hdrs *h)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&sw->node_lock, flags);
	ok = pib_switch_gsi_ok(&sw->node, &b->h, &h->pkey, ktime_get_ns());
	h->slid = pib_switch_slid(&sw->node, &b->h);
	spin_unlock_irqrestore(&sw->node_lock, flags);
	if (!ok)
		return PIB_MAD_NONE;
	*out_port = PIB_PORT_BY_LID;
	h->dlid = b->h.slid;
	return gsi_answer(sw, in, out);
}

/* The headers of an answer follow those of the question (13.5.4), but for the P_Key. */
static void answer_headers(struct pib_burst *r, const struct pib_burst *b)
{
	r->h.sl = b->h.sl;
	r->h.dqpn = b->h.sqpn;
	if (!(b->h.flags & PIB_H_GRH))
		return;
	r->h.flags |= PIB_H_GRH;
	r->h.tclass = b->h.tclass;
	r->h.flow = b->h.flow;
	r->h.hop = 0xFF;
	memcpy(r->h.sgid, b->h.dgid, sizeof(r->h.sgid));
	memcpy(r->h.dgid, b->h.sgid, sizeof(r->h.dgid));
}

/* May the MAD have changed something that the agent's work must look at? */
static bool mad_changes(const u8 *mad)
{
	return mad[PIB_MAD_METHOD] != PIB_METHOD_GET;
}

struct pib_burst *pib_switch_agent(struct pib_switch *sw, u8 in_port, struct pib_burst *b,
				   u8 *out_port)
{
	enum pib_mad_result res = PIB_MAD_NONE;
	struct pib_hdrs h = { };
	u8 in[PIB_MAD_SIZE];
	struct pib_burst *r;
	u8 *out;

	if (b->h.tp != PIB_TP_UD || b->len != PIB_MAD_SIZE || b->h.dqpn > 1 ||
	    (!b->h.dqpn && !pib_hdrs_from_qp0(&b->h)) || pib_burst_read(b, 0, in, PIB_MAD_SIZE))
		return NULL;
	out = kzalloc(PIB_MAD_SIZE, GFP_ATOMIC);
	if (!out)
		return NULL;

	if (b->h.dqpn)
		res = gsi_agent(sw, b, in, out, out_port, &h);
	else
		res = smi_agent(sw, in_port, b, in, out, out_port, &h);
	/* on QP1 there may be a trap about a key, and most often is none */
	if (b->h.dqpn ? READ_ONCE(sw->node.events) : res == PIB_MAD_NONE || mad_changes(in))
		pib_node_kick(&sw->node);
	if (res != PIB_MAD_REPLY && res != PIB_MAD_FORWARD) {
		kfree(out);
		return NULL;
	}
	r = mad_burst(out, b->h.dqpn);
	if (!r)
		return NULL;
	if (res == PIB_MAD_REPLY)
		answer_headers(r, b);
	r->h.slid = h.slid;
	r->h.dlid = h.dlid;
	r->h.pkey = h.pkey;
	r->hops = res == PIB_MAD_FORWARD ? b->hops : 0;
	return r;
}

void pib_switch_pkey_trap(struct pib_switch *sw, struct pib_kport *port, const struct pib_hdrs *h)
{
	unsigned long flags;

	spin_lock_irqsave(&sw->node_lock, flags);
	pib_trap_switch_pkey(&port->p, h, ktime_get_ns());
	spin_unlock_irqrestore(&sw->node_lock, flags);
	if (READ_ONCE(sw->node.events))
		pib_node_kick(&sw->node);
}

void pib_switch_set_route(struct pib_switch *sw, u16 lid, u8 port)
{
	unsigned long flags;

	spin_lock_irqsave(&sw->node_lock, flags);
	WRITE_ONCE(sw->node.lft[lid], port);
	if (sw->node.lft_top < lid)
		WRITE_ONCE(sw->node.lft_top, lid);
	spin_unlock_irqrestore(&sw->node_lock, flags);
}

/* ---- creation ---- */

static void switch_free(struct pib_switch *sw)
{
	unsigned int i;

	for (i = 0; sw->ports && sw->node.ports && i <= sw->node.num_ports; i++) {
		if (!sw->ports[i])
			continue;
		kvfree(sw->ports[i]->p.sl2vl);
		pib_kport_free(sw->ports[i]);
	}
	kvfree(sw->node.lft);
	kvfree(sw->node.mft);
	kfree(sw->node.ports);
	kfree(sw->ports);
	kfree(sw);
}

static int switch_alloc_ports(struct pib_switch *sw)
{
	unsigned int n = sw->node.num_ports + 1, i;

	sw->ports = kcalloc(n, sizeof(*sw->ports), GFP_KERNEL);
	sw->node.ports = kcalloc(n, sizeof(*sw->node.ports), GFP_KERNEL);
	if (!sw->ports || !sw->node.ports)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct pib_kport *port = pib_kport_alloc(GFP_KERNEL);

		if (!port)
			return -ENOMEM;
		port->sw = sw;
		sw->ports[i] = port;
		sw->node.ports[i] = &port->p;
		port->p.sl2vl = kvcalloc(n, sizeof(*port->p.sl2vl), GFP_KERNEL);
		if (!port->p.sl2vl)
			return -ENOMEM;
	}
	return 0;
}

static int switch_alloc_tables(struct pib_switch *sw)
{
	sw->node.lft = kvzalloc(PIB_LFT_SIZE, GFP_KERNEL);
	sw->node.mft = kvcalloc(PIB_MFT_SIZE, sizeof(*sw->node.mft), GFP_KERNEL);
	return sw->node.lft && sw->node.mft ? 0 : -ENOMEM;
}

static void switch_init_node(struct pib_switch *sw, const struct pib_switch_ident *id)
{
	unsigned int i;

	sw->node.guid = id->guid;
	sw->node.enhanced_sp0 = id->enhanced;
	pib_node_set_product(&sw->node, &id->product);
	if (id->desc)
		strscpy_pad(sw->node.desc, id->desc, sizeof(sw->node.desc));
	else
		snprintf(sw->node.desc, sizeof(sw->node.desc), "%.31s %.31s", sw->name,
			 init_utsname()->nodename);
	pib_node_init(&sw->node);
	for (i = 0; i <= sw->node.num_ports; i++)
		pib_port_init(&sw->ports[i]->p, &sw->node, i, id->guid);
}

struct pib_switch *pib_switch_create(struct pib_net *pn, const char *name, u8 num_ports,
				     const struct pib_switch_ident *id, bool standalone,
				     struct netlink_ext_ack *extack)
{
	struct pib_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);

	if (!sw)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&sw->node_lock);
	spin_lock_init(&sw->pma_lock);
	spin_lock_init(&sw->share_lock);
	INIT_LIST_HEAD(&sw->entry);
	sw->pn = pn;
	sw->standalone = standalone;
	sw->node.type = PIB_NODE_SWITCH;
	sw->node.num_ports = num_ports;
	strscpy(sw->name, name, sizeof(sw->name));

	if (switch_alloc_ports(sw) || switch_alloc_tables(sw)) {
		NL_SET_ERR_MSG(extack, "out of memory for the switch");
		switch_free(sw);
		return ERR_PTR(-ENOMEM);
	}
	switch_init_node(sw, id);
	pib_agent_start(&sw->agent, &sw->node, &sw->node_lock);
	return sw;
}

void pib_switch_destroy(struct pib_switch *sw)
{
	pib_agent_stop(&sw->agent);
	switch_free(sw);
}
