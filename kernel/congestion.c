// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A queue that may be long stands before a slow cable (fault.c) and before an HCA that
 * does not keep up. The switch port there marks; a QP that receives a mark sends it back
 * with its next acknowledgement; one that gets it back waits after each burst, as the
 * port's congestion control table says. Datagrams and UC have nothing to send it back
 * with.
 */
#include <linux/ktime.h>
#include "burst.h"
#include "congestion.h"
#include "hca.h"
#include "port.h"
#include "qp.h"
#include "switch.h"

void pib_cc_mark(struct pib_kport *out, struct pib_burst *b, u32 fill)
{
	struct pib_switch *sw = out->sw;
	unsigned long flags;

	if (b->h.dqpn <= 1 || b->h.flags & PIB_H_FECN ||
	    !pib_cc_marks(&out->p, fill, min(b->len, b->pmtu)))
		return;
	b->h.flags |= PIB_H_FECN;
	spin_lock_irqsave(&sw->node_lock, flags);
	pib_cc_marked(&out->p, &b->h, ktime_get_ns());
	spin_unlock_irqrestore(&sw->node_lock, flags);
}

static void log_trigger(struct pib_qp *qp, u64 now)
{
	struct pib_hca *hca = qp->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->node_lock, flags);
	pib_cc_triggered(&qp->port->p, qp->av.sl, qp->qpn, qp->attr.dest_qp_num, qp->av.dlid, now);
	spin_unlock_irqrestore(&hca->node_lock, flags);
}

void pib_cc_rx(struct pib_qp *qp, const struct pib_burst *b, u64 now)
{
	u8 sl = b->h.sl & 0xF;

	lockdep_assert_held(&qp->lock);
	if (b->h.flags & PIB_H_FECN) {
		pib_kport_count(qp->port, rcv_fecn, b->npkts);
		pib_kport_count(qp->port, sl_rcv_fecn[sl], b->npkts);
		qp->becn_due = !pib_qp_is_datagram(qp);
	}
	if (!(b->h.flags & PIB_H_BECN))
		return;
	pib_kport_count(qp->port, rcv_becn, b->npkts);
	pib_kport_count(qp->port, sl_rcv_becn[sl], b->npkts);
	if (!pib_qp_is_datagram(qp) && pib_cc_becn(&qp->port->p, &qp->cc, qp->av.sl, now))
		log_trigger(qp, now);
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

void pib_cc_tx(struct pib_qp *qp, const struct pib_burst *b, u64 now)
{
	lockdep_assert_held(&qp->lock);
	pib_cc_sent(&qp->port->p, &qp->cc, qp->av.sl, b->len, port_mbps(&qp->port->p), now);
}
