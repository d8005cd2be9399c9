// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A QP that receives a packet that a switch port has marked (fabric/ecn.c) sends the mark back with
 * its next acknowledgement. A QP that gets a mark back waits after each burst, as the port's
 * congestion control table says. Datagrams and UC have no acknowledgements, and nor have the
 * answers to READs and atomics: their receiver sends a packet that carries the mark alone (A10.3).
 */
#include <linux/ktime.h>
#include "packet/burst.h"
#include "transport/congestion.h"
#include "hca/hca.h"
#include "fabric/forward.h"
#include "fabric/port.h"
#include "transport/qp.h"

/* Return: true if a packet goes back anyway. Nothing answers an answer. */
static bool is_answered(const struct pib_qp *qp, const struct pib_hdrs *h)
{
	return pib_qp_is_reliable(qp) && !pib_op_is_response(h->op);
}

/* Address a notification to the sender of @h, by the way that @h came. */
static void notify_headers(struct pib_qp *qp, const struct pib_hdrs *h, struct pib_hdrs *n)
{
	n->tp = PIB_TP_CNP;
	n->op = PIB_OP_CNP;
	n->flags = PIB_H_FIRST | PIB_H_LAST | PIB_H_MIG | PIB_H_BECN;
	n->slid = h->dlid;
	n->dlid = h->slid;
	n->sl = h->sl;
	n->dqpn = pib_qp_is_datagram(qp) ? h->sqpn : qp->attr.dest_qp_num;
	n->pkey = pib_port_pkey(&qp->path.port->p, qp->attr.pkey_index);
	if (!(h->flags & PIB_H_GRH))
		return;
	n->flags |= PIB_H_GRH;
	n->tclass = h->tclass;
	n->flow = h->flow;
	n->hop = 0xFF;
	memcpy(n->sgid, h->dgid, sizeof(n->sgid));
	memcpy(n->dgid, h->sgid, sizeof(n->dgid));
}

/* Send a notification. If there is no memory, or no way, the next mark causes another one. */
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
	if (!pib_pkey_valid(n->h.pkey) || pib_kport_xmit(qp->path.port, n) < 0)
		pib_burst_free(n);
}

static void log_trigger(struct pib_qp *qp, const struct pib_hdrs *h, u64 now)
{
	struct pib_hca *hca = qp->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->nd.lock, flags);
	pib_cc_triggered(&qp->path.port->p, h->sl, qp->qpn, qp->attr.dest_qp_num, h->slid, now);
	spin_unlock_irqrestore(&hca->nd.lock, flags);
}

/* Raise the index of the QP, or that of all QPs of its service level. Return: as pib_cc_becn(). */
static bool becn_apply(struct pib_qp *qp, u8 sl, u64 now)
{
	struct pib_port *p = &qp->path.port->p;
	struct pib_cc_flow *f = pib_cc_sl_flow(p, sl);
	unsigned long flags;
	bool passed;

	if (!f)
		return pib_cc_becn(p, &qp->tx.cc, sl, now);
	spin_lock_irqsave(&qp->hca->nd.lock, flags);
	passed = pib_cc_becn(p, f, sl, now);
	spin_unlock_irqrestore(&qp->hca->nd.lock, flags);
	return passed;
}

void pib_congestion_rx(struct pib_qp *qp, const struct pib_burst *b, u64 now)
{
	u8 sl = b->h.sl & 0xF;

	lockdep_assert_held(&qp->lock);
	/* A notification that is answered by one would go on without end. */
	if (b->h.flags & PIB_H_FECN && b->h.tp != PIB_TP_CNP) {
		pib_kport_count(qp->path.port, rcv_fecn, b->npkts);
		pib_kport_count(qp->path.port, sl_rcv_fecn[sl], b->npkts);
		if (is_answered(qp, &b->h))
			qp->tx.becn_due = true;
		else if (b->h.op != PIB_OP_ACK || pib_qp_is_datagram(qp))
			cnp_send(qp, b);
	}
	if (!(b->h.flags & PIB_H_BECN))
		return;
	pib_kport_count(qp->path.port, rcv_becn, b->npkts);
	pib_kport_count(qp->path.port, sl_rcv_becn[sl], b->npkts);
	if (becn_apply(qp, sl, now))
		log_trigger(qp, &b->h, now);
}

void pib_congestion_tx(struct pib_qp *qp, const struct pib_burst *b, u64 now)
{
	u32 bytes = pib_burst_wire_bytes(b);
	struct pib_port *p = &qp->path.port->p;
	struct pib_cc_flow *f = pib_cc_sl_flow(p, b->h.sl);
	unsigned long flags;

	lockdep_assert_held(&qp->lock);
	if (!f) {
		pib_cc_sent(p, &qp->tx.cc, b->h.sl, bytes, pib_port_mbps(p), now);
		return;
	}
	spin_lock_irqsave(&qp->hca->nd.lock, flags);
	pib_cc_sent(p, f, b->h.sl, bytes, pib_port_mbps(p), now);
	qp->tx.cc.next = f->next;
	spin_unlock_irqrestore(&qp->hca->nd.lock, flags);
	qp->tx.cc.index = 0;
}
