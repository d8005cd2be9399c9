// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Switches: their memory, their agents on QP0 and QP1. */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <rdma/ib_mad.h>
#include "packet/burst.h"
#include "proto/mad.h"
#include "proto/pma.h"
#include "proto/smi.h"
#include "proto/trap.h"
#include "tracing/mad.h"
#include "fabric/drop.h"
#include "fabric/switch.h"
#include "fabric/switch_inject.h"

/* ---- agents ---- */

static enum pib_mad_result smi_agent(struct pib_switch *sw, u8 in_port, const struct pib_burst *b,
				     const u8 *in, u8 *out, u8 *out_port, struct pib_hdrs *h)
{
	enum pib_mad_result res;
	unsigned long flags;

	spin_lock_irqsave(&sw->nd.lock, flags);
	res = pib_smi_rx(&sw->nd.node, in_port, in, out, out_port, ktime_get_ns());
	if (res == PIB_MAD_REPLY || res == PIB_MAD_FORWARD)
		pib_smi_lids(&sw->nd.node, out, res, &b->h, &h->slid, &h->dlid);
	h->pkey = IB_DEFAULT_PKEY_FULL;
	pib_node_dev_changed(&sw->nd, in);
	spin_unlock_irqrestore(&sw->nd.lock, flags);
	return res;
}

/*
 * Check whether the agent may spend time on counters. One packet may ask for the counters of all
 * ports, which are sums over all CPUs, and it is answered where it arrives, in softirqs. Nothing
 * else that a MAD can ask for takes much longer than to forward the MAD.
 *
 * Return: true if there is time left.
 */
static bool pma_may(struct pib_switch *sw, u64 now)
{
	bool may;

	spin_lock_bh(&sw->share_lock);
	may = pib_share_left(&sw->pma_share, now);
	spin_unlock_bh(&sw->share_lock);
	return may;
}

static void pma_spend(struct pib_switch *sw, u64 begun)
{
	spin_lock_bh(&sw->share_lock);
	pib_share_spend(&sw->pma_share, begun, ktime_get_ns());
	spin_unlock_bh(&sw->share_lock);
}

/* Answer a MAD that has passed pib_node_gsi_ok(). */
static enum pib_mad_result gsi_answer(struct pib_switch *sw, const u8 *in, u8 *out)
{
	bool perf = in[PIB_MAD_CLASS] == PIB_CLASS_PERF;
	u64 begun = ktime_get_ns();
	enum pib_mad_result res;

	if (perf && !pma_may(sw, begun))
		return PIB_MAD_BUSY;
	res = pib_node_dev_gsa(sw->nd.node.ports[0], in, out);
	if (perf)
		pma_spend(sw, begun);
	return res == PIB_MAD_REPLY ? res : PIB_MAD_NONE;
}

static enum pib_mad_result gsi_agent(struct pib_switch *sw, const struct pib_burst *b,
				     const u8 *in, u8 *out, u8 *out_port, struct pib_hdrs *h)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&sw->nd.lock, flags);
	ok = pib_node_gsi_ok(&sw->nd.node, &b->h, &h->pkey, ktime_get_ns());
	h->slid = pib_node_slid(&sw->nd.node, &b->h);
	spin_unlock_irqrestore(&sw->nd.lock, flags);
	if (!ok)
		return PIB_MAD_NONE;
	*out_port = PIB_PORT_BY_LID;
	h->dlid = b->h.slid;
	return gsi_answer(sw, in, out);
}

/* Derive the headers of an answer from those of the request (13.5.4), but for LIDs and P_Key. */
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

/* Return: true if the MAD may have changed something that the node's work must look at. */
static bool mad_changes(const u8 *mad)
{
	return mad[PIB_MAD_METHOD] != PIB_METHOD_GET;
}

/* Report that @b, which came by @in with @marks, is dropped, since the agent has no time for it. */
static void agent_busy(struct pib_switch *sw, struct pib_kport *in, struct pib_burst *b,
		       struct pib_mark *marks)
{
	pib_kport_count(sw->nd.ports[0], qp1_dropped, 1);
	pib_kport_dropped(in, b, marks, PIB_CAPTURE_AGENT_BUSY);
}

struct pib_burst *pib_switch_agent(struct pib_switch *sw, struct pib_kport *in_port,
				   struct pib_burst *b, struct pib_mark *marks, u8 *out_port)
{
	enum pib_mad_result res = PIB_MAD_NONE;
	struct pib_hdrs h = { };
	u8 in[PIB_MAD_SIZE];
	struct pib_burst *r;
	u8 *out;

	if (b->h.tp != PIB_TP_UD || b->npkts != 1 || b->len != PIB_MAD_SIZE || b->h.dqpn > 1 ||
	    (!b->h.dqpn && !pib_hdrs_from_qp0(&b->h)) || pib_burst_read(b, 0, in, PIB_MAD_SIZE))
		return NULL;
	trace_pib_mad_received(sw->name, in_port->p.num, b->h.dqpn, b->h.slid, b->h.dlid, in);
	out = kzalloc(PIB_MAD_SIZE, GFP_ATOMIC);
	if (!out)
		return NULL;

	if (b->h.dqpn)
		res = gsi_agent(sw, b, in, out, out_port, &h);
	else
		res = smi_agent(sw, in_port->p.num, b, in, out, out_port, &h);
	/* A MAD on QP1 may raise a trap about a key, but most raise none. */
	if (b->h.dqpn ? READ_ONCE(sw->nd.node.events) : res == PIB_MAD_NONE || mad_changes(in))
		pib_node_dev_kick(&sw->nd);
	if (res == PIB_MAD_BUSY)
		agent_busy(sw, in_port, b, marks);
	if (res != PIB_MAD_REPLY && res != PIB_MAD_FORWARD) {
		kfree(out);
		return NULL;
	}
	r = pib_mad_burst(out, b->h.dqpn);
	if (!r)
		return NULL;
	if (res == PIB_MAD_REPLY)
		answer_headers(r, b);
	r->h.slid = h.slid;
	r->h.dlid = h.dlid;
	r->h.pkey = h.pkey;
	r->hops = res == PIB_MAD_FORWARD ? b->hops : 0;
	if (res == PIB_MAD_REPLY && pib_injects_any(&sw->injects)) {
		r = pib_switch_inject_answer(sw, *out_port, r);
		if (!r)
			return NULL;
	}
	trace_pib_mad_sent(sw->name, *out_port == PIB_PORT_BY_LID ? 0 : *out_port, r->h.dqpn,
			   h.slid, h.dlid, r->linear);
	return r;
}

void pib_switch_pkey_trap(struct pib_switch *sw, struct pib_kport *port, const struct pib_burst *b)
{
	unsigned long flags;

	spin_lock_irqsave(&sw->nd.lock, flags);
	pib_trap_switch_pkey(&port->p, b->npkts, &b->h, ktime_get_ns());
	spin_unlock_irqrestore(&sw->nd.lock, flags);
	if (READ_ONCE(sw->nd.node.events))
		pib_node_dev_kick(&sw->nd);
}

struct pib_kport *pib_switch_free_port(struct pib_switch *sw)
{
	unsigned int i;

	for (i = 1; i <= sw->nd.node.num_ports; i++)
		if (!pib_kport_has_cable(sw->nd.ports[i]))
			return sw->nd.ports[i];
	return NULL;
}

void pib_switch_set_route(struct pib_switch *sw, u16 lid, u8 port)
{
	unsigned long flags;

	spin_lock_irqsave(&sw->nd.lock, flags);
	WRITE_ONCE(sw->nd.node.lft[lid], port);
	if (sw->nd.node.lft_top < lid)
		WRITE_ONCE(sw->nd.node.lft_top, lid);
	spin_unlock_irqrestore(&sw->nd.lock, flags);
}

/* ---- creation ---- */

static void switch_free(struct pib_switch *sw)
{
	unsigned int i;

	for (i = 0; sw->nd.ports && sw->nd.node.ports && i <= sw->nd.node.num_ports; i++) {
		if (!sw->nd.ports[i])
			continue;
		kvfree(sw->nd.ports[i]->p.sl2vl);
		pib_kport_free(sw->nd.ports[i]);
	}
	kvfree(sw->nd.node.lft);
	kvfree(sw->nd.node.mft);
	kfree(sw->nd.node.ports);
	kfree(sw->nd.ports);
	kfree(sw);
}

static int switch_alloc_ports(struct pib_switch *sw)
{
	unsigned int n = sw->nd.node.num_ports + 1, i;

	sw->nd.ports = kcalloc(n, sizeof(*sw->nd.ports), GFP_KERNEL);
	sw->nd.node.ports = kcalloc(n, sizeof(*sw->nd.node.ports), GFP_KERNEL);
	if (!sw->nd.ports || !sw->nd.node.ports)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct pib_kport *port = pib_kport_alloc(&sw->nd, GFP_KERNEL);

		if (!port)
			return -ENOMEM;
		port->sw = sw;
		sw->nd.ports[i] = port;
		sw->nd.node.ports[i] = &port->p;
		port->p.sl2vl = kvcalloc(n, sizeof(*port->p.sl2vl), GFP_KERNEL);
		if (!port->p.sl2vl)
			return -ENOMEM;
	}
	return 0;
}

static int switch_alloc_tables(struct pib_switch *sw)
{
	sw->nd.node.lft = kvzalloc(PIB_LFT_SIZE, GFP_KERNEL);
	sw->nd.node.mft = kvcalloc(PIB_MFT_SIZE, sizeof(*sw->nd.node.mft), GFP_KERNEL);
	return sw->nd.node.lft && sw->nd.node.mft ? 0 : -ENOMEM;
}

static void switch_init_node(struct pib_switch *sw, const struct pib_switch_ident *id)
{
	unsigned int i;

	sw->nd.node.guid = id->guid;
	sw->nd.node.enhanced_sp0 = id->enhanced;
	pib_node_set_product(&sw->nd.node, &id->product);
	if (id->desc)
		strscpy_pad(sw->nd.node.desc, id->desc, sizeof(sw->nd.node.desc));
	else
		snprintf(sw->nd.node.desc, sizeof(sw->nd.node.desc), "%.31s %.31s", sw->name,
			 init_utsname()->nodename);
	pib_node_init(&sw->nd.node);
	for (i = 0; i <= sw->nd.node.num_ports; i++)
		pib_port_init(&sw->nd.ports[i]->p, &sw->nd.node, i, id->guid);
}

static struct pib_burst *switch_trap(struct pib_kport *port, struct pib_burst *b)
{
	if (!pib_injects_any(&port->sw->injects))
		return b;
	return pib_switch_inject_answer(port->sw, PIB_PORT_BY_LID, b);
}

static const struct pib_node_ops switch_ops = {
	.trap = switch_trap,
	.events = pib_node_dev_kick,
};

struct pib_switch *pib_switch_create(struct pib_net *pn, const char *name, u8 num_ports,
				     const struct pib_switch_ident *id, bool standalone,
				     struct netlink_ext_ack *extack)
{
	struct pib_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);

	if (!sw)
		return ERR_PTR(-ENOMEM);
	pib_node_dev_init(&sw->nd, pn, sw->name, &switch_ops, standalone);
	spin_lock_init(&sw->share_lock);
	pib_switch_injects_init(sw);
	INIT_LIST_HEAD(&sw->entry);
	sw->nd.node.type = PIB_NODE_SWITCH;
	sw->nd.node.num_ports = num_ports;
	strscpy(sw->name, name, sizeof(sw->name));

	if (switch_alloc_ports(sw) || switch_alloc_tables(sw)) {
		NL_SET_ERR_MSG(extack, "out of memory for the switch");
		switch_free(sw);
		return ERR_PTR(-ENOMEM);
	}
	switch_init_node(sw, id);
	pib_node_dev_start(&sw->nd);
	return sw;
}

void pib_switch_destroy(struct pib_switch *sw)
{
	pib_node_dev_stop(&sw->nd);
	pib_switch_injects_exit(sw);
	switch_free(sw);
}
