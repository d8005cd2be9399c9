// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* From what the transport wants sent to bursts that leave by a port. */
#include "transport/congestion.h"
#include "hca/hw_counters.h"
#include "core/task.h"
#include "fabric/forward.h"
#include "hca/hca.h"
#include "transport/input.h"
#include "transport/output.h"

/* A QP that only answers may stay in RTR, where the requester has no path MTU yet. */
static u32 pmtu_of(const struct pib_qp *qp, const struct pib_tx *tx)
{
	if (pib_qp_is_datagram(qp))
		return PIB_MTU_MAX;
	return tx->kind == PIB_TX_REQUEST ? qp->req.cfg.pmtu : qp->resp.cfg.pmtu;
}

struct pib_burst *pib_tx_burst(struct pib_qp *qp, const struct pib_tx *tx)
{
	struct pib_burst *b = pib_burst_alloc_headless();

	if (!b) {
		pib_qp_stat(qp, PIB_STAT_TX_NOMEM);
		return NULL;
	}
	b->h = tx->h;
	b->npkts = tx->npkts;
	b->len = tx->len;
	b->pmtu = pmtu_of(qp, tx);
	return b;
}

/* The HCA's own packets, which no cable sees: to one of the port's LIDs. */
static bool is_loopback(const struct pib_port *p, u16 dlid)
{
	return pib_port_owns_lid(p, dlid);
}

/* As pib_kport_xmit(). */
/* The sender is among the members of its group, unless it does not want that. */
static const struct pib_qp *left_out(const struct pib_qp *qp)
{
	return qp->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK ? qp : NULL;
}

static int leave_port(struct pib_qp *qp, struct pib_burst *b)
{
	if (is_loopback(&qp->port->p, b->h.dlid)) {
		b->in_port = qp->port;
		return pib_input(qp->port, b);
	}
	/* Members at this port get theirs once, though a full cable may have the burst tried again. */
	if (pib_lid_is_mcast(b->h.dlid) && b != qp->stalled)
		pib_input_mcast(qp->port, b, left_out(qp));
	return pib_kport_xmit(qp->port, b);
}

/*
 * 0: the burst is consumed, -EBUSY. What goes over UDP has the QP stay on this CPU for a while:
 * core/task.c.
 */
static int deliver_burst(struct pib_qp *qp, struct pib_burst *b)
{
	bool asks = !pib_op_is_response(b->h.op);
	int err = leave_port(qp, b);

	if (err < 0)
		return err;
	qp->via_udp = err == PIB_XMIT_UDP;
	if (!qp->via_udp)
		return 0;
	qp->task.home_until = jiffies + msecs_to_jiffies(PIB_QP_HOME_MSEC);
	if (asks)
		pib_tasks_ask();
	return 0;
}

static u16 pkey_of(const struct pib_qp *qp, u16 index)
{
	return READ_ONCE(qp->port->p.pkey[index % PIB_PKEYS]);
}

/* Answers carry marks back; after a request a QP that is slowed down sends no more in this turn. */
static void heed_congestion(struct pib_qp *qp, struct pib_burst *b, struct pib_turn *turn)
{
	if (pib_op_is_response(b->h.op)) {
		if (qp->becn_due)
			b->h.flags |= PIB_H_BECN;
		qp->becn_due = false;
	} else if (qp->cc.index || READ_ONCE(qp->port->p.cc_slow) >> (b->h.sl & 0xF) & 1) {
		pib_congestion_tx(qp, b, turn->now);
		turn->bursts = 0;
	}
}

/* What the path says, and the QP's own part of the BTH. */
static void address_burst(struct pib_qp *qp, const struct pib_av_data *av, struct pib_burst *b)
{
	pib_av_fill(qp->hca, av, &b->h);
	if (qp->type == IB_QPT_SMI) {
		b->h.pkey = 0xFFFF;	/* QP0 belongs to no partition (10.9.2) */
		b->h.vl = 15;
	} else if (qp->type != IB_QPT_GSI) {
		b->h.pkey = pkey_of(qp, qp->attr.pkey_index);
	} else {
		b->h.pkey = pkey_of(qp, b->h.pkey);
	}
	if (qp->attr.path_mig_state == IB_MIG_MIGRATED)
		b->h.flags |= PIB_H_MIG;
}

bool pib_tx_send(struct pib_qp *qp, const struct pib_av_data *av, struct pib_burst *b,
		 struct pib_turn *turn)
{
	lockdep_assert_held(&qp->lock);

	address_burst(qp, av, b);
	if (unlikely(qp->becn_due | qp->cc.index | READ_ONCE(qp->port->p.cc_slow)))
		heed_congestion(qp, b, turn);
	turn->bursts--;
	turn->bytes -= b->len;
	if (!deliver_burst(qp, b))
		return true;

	pib_qp_stat(qp, PIB_STAT_TX_PUSHED_BACK);
	qp->stalled = b;
	qp->stalls = 0;
	qp->stall_ns = 0;
	return false;
}

void pib_tx_redirect(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	if (qp->stalled)
		address_burst(qp, &qp->av, qp->stalled);
}

bool pib_tx_stalled(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	if (!qp->stalled)
		return true;
	if (deliver_burst(qp, qp->stalled)) {
		qp->stalls++;
		return false;
	}
	qp->stalled = NULL;
	qp->stalls = 0;
	qp->stall_ns = 0;
	return true;
}
