// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QP that receives what a switch port has marked (fabric/ecn.c) sends the mark back with its
 * next acknowledgement. A QP that gets a mark back waits after each burst, as the port's congestion
 * control table says. Datagrams and UC have no acknowledgements, and nor have the answers to READs
 * and atomics: their receiver sends a packet that says nothing else (A10.3).
 */
#include <linux/ktime.h>
#include "packet/burst.h"
#include "transport/congestion.h"
#include "hca/hca.h"
#include "fabric/forward.h"
#include "fabric/port.h"
#include "transport/qp.h"

/* Is there a packet that goes back anyway? Nothing answers an answer. */
static bool is_answered(const struct pib_qp *qp, const struct pib_hdrs *h)
{
	if (pib_op_is_response(h->op))
		return false;
	return qp->tp == PIB_TP_RC || qp->tp == PIB_TP_XRC;
}

/* Address a notification to whom @h has come from, by the way that it came. */
static void notify_headers(struct pib_qp *qp, const struct pib_hdrs *h, struct pib_hdrs *n)
{
	n->tp = PIB_TP_CNP;
	n->op = PIB_OP_CNP;
	n->flags = PIB_H_FIRST | PIB_H_LAST | PIB_H_MIG | PIB_H_BECN;
	n->slid = h->dlid;
	n->dlid = h->slid;
	n->sl = h->sl;
	n->dqpn = pib_qp_is_datagram(qp) ? h->sqpn : qp->attr.dest_qp_num;
	n->pkey = READ_ONCE(qp->port->p.pkey[qp->attr.pkey_index % PIB_PKEYS]);
	if (!(h->flags & PIB_H_GRH))
		return;
	n->flags |= PIB_H_GRH;
	n->tclass = h->tclass;
	n->flow = h->flow;
	n->hop = 0xFF;
	memcpy(n->sgid, h->dgid, sizeof(n->sgid));
	memcpy(n->dgid, h->sgid, sizeof(n->dgid));
}

/* Send a notification. If there is no memory, or no way, the next mark has another one sent. */
static void cnp_send(struct pib_qp *qp, const struct pib_burst *b)
{
	struct pib_burst *n;

	if (pib_lid_is_mcast(b->h.dlid))
		return;
	n = pib_burst_alloc();
	if (!n)
		return;
	notify_headers(qp, &b->h, &n->h);
	memset(pib_burst_own(n, PIB_CNP_PAYLOAD), 0, PIB_CNP_PAYLOAD);
	n->len = PIB_CNP_PAYLOAD;
	n->pmtu = PIB_CNP_PAYLOAD;
	/* No partition has the key 0 (10.9.1.2). */
	if (!(n->h.pkey & 0x7FFF) || pib_kport_xmit(qp->port, n) < 0)
		pib_burst_free(n);
}

static void log_trigger(struct pib_qp *qp, const struct pib_hdrs *h, u64 now)
{
	struct pib_hca *hca = qp->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->nd.lock, flags);
	pib_cc_triggered(&qp->port->p, h->sl, qp->qpn, qp->attr.dest_qp_num, h->slid, now);
	spin_unlock_irqrestore(&hca->nd.lock, flags);
}

/* The index of the QP, or that of all QPs of its service level, goes up. */
static bool becn_apply(struct pib_qp *qp, u8 sl, u64 now)
{
	struct pib_port *p = &qp->port->p;
	struct pib_cc_flow *f = pib_cc_sl_flow(p, sl);
	unsigned long flags;
	bool passed;

	if (!f)
		return pib_cc_becn(p, &qp->cc, sl, now);
	spin_lock_irqsave(&qp->hca->nd.lock, flags);
	passed = pib_cc_becn(p, f, sl, now);
	spin_unlock_irqrestore(&qp->hca->nd.lock, flags);
	return passed;
}

void pib_congestion_rx(struct pib_qp *qp, const struct pib_burst *b, u64 now)
{
	u8 sl = b->h.sl & 0xF;

	lockdep_assert_held(&qp->lock);
	if (b->h.flags & PIB_H_FECN) {
		pib_kport_count(qp->port, rcv_fecn, b->npkts);
		pib_kport_count(qp->port, sl_rcv_fecn[sl], b->npkts);
		if (is_answered(qp, &b->h))
			qp->becn_due = true;
		else if (b->h.op != PIB_OP_ACK || pib_qp_is_datagram(qp))
			cnp_send(qp, b);
	}
	if (!(b->h.flags & PIB_H_BECN))
		return;
	pib_kport_count(qp->port, rcv_becn, b->npkts);
	pib_kport_count(qp->port, sl_rcv_becn[sl], b->npkts);
	if (becn_apply(qp, sl, now))
		log_trigger(qp, &b->h, now);
}

/* Megabits per second of a port, as PortInfo has them: lanes times rate of a lane. */
static u32 port_mbps(const struct pib_port *p)
{
	static const u16 lane_gbps[] = { 14, 25, 50, 100, 200 };	/* FDR ... XDR */
	u8 width = READ_ONCE(p->width_act), ext = READ_ONCE(p->ext_speed_act);
	u32 lanes = width == 0x10 ? 2 : width & 0x8 ? 12 : width & 0x4 ? 8 : width & 0x2 ? 4 : 1;

	if (ext)
		return lanes * 1000 * lane_gbps[min_t(u32, __fls(ext), ARRAY_SIZE(lane_gbps) - 1)];
	return lanes * 2500 * max_t(u32, READ_ONCE(p->speed_act), 1);
}

void pib_congestion_tx(struct pib_qp *qp, const struct pib_burst *b, u64 now)
{
	u32 bytes = pib_burst_wire_bytes(b);
	struct pib_port *p = &qp->port->p;
	struct pib_cc_flow *f = pib_cc_sl_flow(p, b->h.sl);
	unsigned long flags;

	lockdep_assert_held(&qp->lock);
	if (!f) {
		pib_cc_sent(p, &qp->cc, b->h.sl, bytes, port_mbps(p), now);
		return;
	}
	spin_lock_irqsave(&qp->hca->nd.lock, flags);
	pib_cc_sent(p, f, b->h.sl, bytes, port_mbps(p), now);
	qp->cc.next = f->next;
	spin_unlock_irqrestore(&qp->hca->nd.lock, flags);
	qp->cc.index = 0;
}
