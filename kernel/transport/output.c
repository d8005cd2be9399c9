// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addressing and sending of bursts, from the transport to a port.
 *
 *	pib_output_send()		a burst of send_request() (requester.c) or of send_answer()
 *	    |				(responder.c)
 *	    address_burst()		LRH, GRH and P_Key
 *	    slow_down()			congestion control, static rates: the turn may end
 *	    send_injected()		in place of what follows, where there are rules of injection
 *	    deliver_in_turn()		-EBUSY: the burst is kept, pib_output_retry() tries again
 *		deliver_burst()
 *		    leave_port()	members of a multicast group at this port get theirs
 *			pib_kport_xmit()	fabric/forward.c goes on from there
 */
#include "transport/congestion.h"
#include "hca/hw_counters.h"
#include "core/task.h"
#include "fabric/drop.h"
#include "fabric/forward.h"
#include "hca/hca.h"
#include "transport/inject.h"
#include "transport/input.h"
#include "transport/output.h"
#include "transport/qp_trace.h"
#include "transport/static_rate.h"
#include "transport/stats.h"

/* An answer that takes less by UDP is not late: this CPU or the peer's may have been busy. */
#define LATE_MIN_NSEC	(10 * PIB_NSEC_PER_MSEC)

/*
 * Return: the QP that does not get its own multicast; NULL: the sender is among the members of its
 * group.
 */
static const struct pib_qp *mcast_excluded(const struct pib_qp *qp)
{
	return qp->init.create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK ? qp : NULL;
}

/*
 * Keep the result of pib_burst_wire_bytes(), which each port and pipe on the way asks for. Headers
 * and payload have the length with which they leave.
 */
static void measure_burst(struct pib_burst *b)
{
	b->wire_bytes = b->npkts == 1 ? pib_opcode_wire_len(&b->h, b->len) :
					pib_burst_sum_bytes(b);
}

/*
 * Send a burst out of the port. A multicast goes to the members of its group at this port first.
 *
 * Return: as pib_kport_xmit().
 */
static int leave_port(struct pib_qp *qp, struct pib_burst *b)
{
	/* Members here get theirs once, though a full cable may have the burst tried again. */
	if (pib_lid_is_mcast(b->h.dlid) && b != qp->tx.stall.burst &&
	    pib_port_admits(&qp->path.port->p, b->h.dqpn))
		pib_input_mcast(qp->path.port, b, mcast_excluded(qp));
	/* A burst from a port to itself is on no wire. */
	if (!b->wire_bytes && !pib_port_loops_back(&qp->path.port->p, &b->h))
		measure_burst(b);
	return pib_kport_xmit(qp->path.port, b);
}

/*
 * Send a burst. A burst that goes over UDP keeps the QP on this CPU for a while (core/task.c).
 *
 * Return: 0: the burst is consumed; -EBUSY.
 */
static int deliver_burst(struct pib_qp *qp, struct pib_burst *b)
{
	bool asks = !pib_op_is_response(b->h.op);
	int err;

	b->last = qp->tx.leaves && b->h.op == PIB_OP_ACK;
	err = leave_port(qp, b);
	if (err < 0)
		return err;
	qp->tx.refused_since = 0;
	qp->tx.via_udp = err == PIB_XMIT_UDP;
	if (!qp->tx.via_udp)
		return 0;
	pib_req_set_lossy(&qp->req, LATE_MIN_NSEC);
	qp->task.home_until = jiffies + msecs_to_jiffies(PIB_QP_HOME_MSEC);
	if (asks)
		pib_tasks_note_request();
	return 0;
}

void pib_output_nomem(const struct pib_qp *qp, const struct pib_tx_req *tx)
{
	lockdep_assert_held(&qp->lock);

	pib_qp_stat(qp, PIB_STAT_TX_NOMEM);
	if (trace_pib_dropped_enabled())
		pib_kport_trace_stat(qp->path.port, PIB_STAT_TX_NOMEM, &tx->h, tx->npkts);
}

/*
 * A QP that is slowed down sends one burst in a turn, an answer and a request by turns, so that
 * neither keeps the other away. ACKs and NAKs are not slowed down: they are small, and the peer's
 * sends wait for them.
 */
static void slow_down(struct pib_qp *qp, const struct pib_av_data *av, struct pib_burst *b,
		      struct pib_turn *turn)
{
	bool slow = pib_static_rate_slows(qp, av), congested = pib_congestion_slows(qp, b->h.sl);
	u64 next = qp->tx.cc.next;

	if (b->h.op == PIB_OP_ACK || !(slow || congested))
		return;
	if (congested)
		pib_congestion_tx(qp, b, turn->now);
	if (slow)
		qp->tx.cc.next = max(qp->tx.cc.next, pib_static_rate_next(av, b, next, turn->now));
	qp->tx.asks_first = pib_op_is_response(b->h.op);
	turn->bursts = 0;
}

/* Answers carry marks of congestion back. */
static void return_mark(struct pib_qp *qp, struct pib_burst *b)
{
	if (!qp->tx.becn_due || !pib_op_is_response(b->h.op))
		return;
	b->h.flags |= PIB_H_BECN;
	qp->tx.becn_due = false;
}

static void fill_grh(const struct pib_port *p, const struct pib_av_data *av, struct pib_hdrs *h)
{
	__be64 prefix = cpu_to_be64(READ_ONCE(p->gid_prefix));
	__be64 guid = cpu_to_be64(READ_ONCE(p->guids[av->sgid_index]));

	h->flags |= PIB_H_GRH;
	h->tclass = av->tclass;
	h->flow = av->flow;
	h->hop = av->hop;
	memcpy(h->sgid, &prefix, sizeof(prefix));
	memcpy(h->sgid + sizeof(prefix), &guid, sizeof(guid));
	memcpy(h->dgid, av->dgid, sizeof(h->dgid));
}

/* Fill LRH and GRH fields of @h from the vector: dlid, slid (port LID + path bits), sl, GRH. */
static void fill_path(struct pib_hca *hca, const struct pib_av_data *av, struct pib_hdrs *h)
{
	const struct pib_port *p = &hca->nd.ports[av->port]->p;
	u8 mask = (1 << READ_ONCE(p->lmc)) - 1;
	u16 lid = READ_ONCE(p->lid);

	h->dlid = av->dlid;
	/*
	 * A port without LID sends with the permissive one, as does a directed-route SMP (14.2.2).
	 */
	h->slid = PIB_LID_PERMISSIVE;
	if (lid && av->dlid != PIB_LID_PERMISSIVE)
		h->slid = lid | (av->path_bits & mask);
	h->sl = av->sl;
	h->flags &= ~PIB_H_GRH;
	if (av->grh)
		fill_grh(p, av, h);
}

/* Fill in the fields of the path, and the QP's own part of the BTH. */
static void address_burst(struct pib_qp *qp, const struct pib_av_data *av, struct pib_burst *b)
{
	fill_path(qp->hca, av, &b->h);
	if (qp->type == IB_QPT_SMI) {
		b->h.pkey = 0xFFFF;	/* QP0 belongs to no partition (10.9.2) */
		b->h.vl = 15;
	} else if (qp->type != IB_QPT_GSI) {
		b->h.pkey = pib_port_pkey(&qp->path.port->p, qp->attr.pkey_index);
	} else {
		b->h.pkey = pib_port_pkey(&qp->path.port->p, b->h.pkey);
	}
	if (qp->attr.path_mig_state == IB_MIG_MIGRATED)
		b->h.flags |= PIB_H_MIG;
	b->wire_bytes = 0;	/* another path may need another GRH */
}

/*
 * Call deliver_burst(). Each copy of a multicast counts as a burst of @turn, too, if there is one.
 */
static int deliver_in_turn(struct pib_qp *qp, struct pib_burst *b, struct pib_turn *turn)
{
	u32 copies;
	int err;

	if (likely(!pib_lid_is_mcast(b->h.dlid)) || !turn)
		return deliver_burst(qp, b);
	copies = pib_tasks_copies();
	err = deliver_burst(qp, b);
	turn->bursts -= pib_tasks_copies() - copies;
	return err;
}

/*
 * Drop @b if the QP is in no partition, as if it was lost on the way. Return: true: it was dropped.
 */
static bool drop_keyless(struct pib_qp *qp, struct pib_burst *b)
{
	if (likely(pib_pkey_valid(b->h.pkey)))
		return false;
	pib_qp_drop(qp, PIB_STAT_TX_NO_PKEY, b, 1);
	pib_burst_free(b);
	return true;
}

/* Keep @b, to be sent before all others. */
static bool stall_at(struct pib_qp *qp, struct pib_burst *b, u64 until)
{
	qp->tx.stall = (struct pib_stall) { .burst = b, .until = until };
	return false;
}

/* Send the bursts of @tx.behind, in a turn. Return: false: the QP is stalled. */
static bool send_behind(struct pib_qp *qp, struct pib_turn *turn)
{
	struct pib_burst *b;
	u64 until;

	while ((b = list_first_entry_or_null(&qp->tx.behind, struct pib_burst, entry))) {
		list_del(&b->entry);
		until = b->due;
		b->due = 0;
		if (until)
			return stall_at(qp, b, until);
		/* pib_output_redirect() may have given it another key. */
		if (drop_keyless(qp, b))
			continue;
		if (deliver_in_turn(qp, b, turn)) {
			pib_qp_stat(qp, PIB_STAT_TX_PUSHED_BACK);
			return stall_at(qp, b, 0);
		}
	}
	return true;
}

/* Send @b by the rules of injection, if any is for this QP. Return: false: the QP is stalled. */
static bool send_injected(struct pib_qp *qp, struct pib_burst *b, struct pib_turn *turn)
{
	pib_inject_tx(qp, b, &qp->tx.behind);
	return send_behind(qp, turn);
}

bool pib_output_send(struct pib_qp *qp, u32 index, const struct pib_av_data *av,
		     struct pib_burst *b, struct pib_turn *turn)
{
	lockdep_assert_held(&qp->lock);

	address_burst(qp, av, b);
	if (drop_keyless(qp, b))
		return true;
	if (unlikely(qp->tx.becn_due | qp->tx.cc.index | av->mbps |
		     READ_ONCE(qp->path.port->p.cc_slow))) {
		return_mark(qp, b);
		slow_down(qp, av, b, turn);
	}
	pib_qp_sends(qp, index, b);
	if (pib_injects_any(&qp->hca->injects))
		return send_injected(qp, b, turn);
	if (!deliver_in_turn(qp, b, turn))
		return true;

	pib_qp_stat(qp, PIB_STAT_TX_PUSHED_BACK);
	return stall_at(qp, b, 0);
}

void pib_output_redirect(struct pib_qp *qp)
{
	struct pib_burst *b;

	lockdep_assert_held(&qp->lock);

	if (!qp->tx.stall.burst)
		return;
	address_burst(qp, &qp->path.av, qp->tx.stall.burst);
	list_for_each_entry(b, &qp->tx.behind, entry)
		address_burst(qp, &qp->path.av, b);
}

/* Send the burst that was kept, for the first time. Return: false: the QP is stalled. */
static bool send_kept(struct pib_qp *qp, struct pib_turn *turn)
{
	struct pib_burst *b = qp->tx.stall.burst;

	qp->tx.stall = (struct pib_stall) {};
	list_add(&b->entry, &qp->tx.behind);
	return send_behind(qp, turn);
}

bool pib_output_retry(struct pib_qp *qp, struct pib_turn *turn)
{
	lockdep_assert_held(&qp->lock);

	if (unlikely(qp->tx.stall.until))
		return qp->tx.stall.until <= ktime_get_ns() && send_kept(qp, turn);
	qp->tx.stall.burst->window = NULL;
	/* pib_output_redirect() may have given it another key. */
	if (!drop_keyless(qp, qp->tx.stall.burst) && deliver_burst(qp, qp->tx.stall.burst)) {
		qp->tx.stall.tries++;
		return false;
	}
	qp->tx.stall = (struct pib_stall) {};
	return send_behind(qp, turn);
}

void pib_output_drop(struct pib_qp *qp)
{
	struct pib_burst *b, *next;

	lockdep_assert_held(&qp->lock);

	if (qp->tx.stall.burst)
		pib_burst_free(qp->tx.stall.burst);
	qp->tx.stall = (struct pib_stall) {};
	qp->tx.refused_since = 0;
	pib_parked_leave(&qp->tx.parked);
	list_for_each_entry_safe(b, next, &qp->tx.behind, entry)
		pib_burst_free(b);
	INIT_LIST_HEAD(&qp->tx.behind);
}

void pib_output_discard(struct pib_qp *qp)
{
	struct pib_burst *b = qp->tx.stall.burst;

	lockdep_assert_held(&qp->lock);

	pib_kport_failed(qp->path.port, b, PIB_CAPTURE_OUT, PIB_CAPTURE_FULL);
	pib_kport_count(qp->path.port, xmit_discard, b->npkts);
	pib_burst_free(b);
	qp->tx.stall = (struct pib_stall) {};
	send_behind(qp, NULL);
}

/* Drop the first of the stalled burst and those behind it that @goes, and all behind that one. */
static bool drop_kept_from(struct pib_qp *qp, bool (*goes)(const struct pib_burst *b))
{
	struct pib_burst *b, *next;
	bool drops = goes(qp->tx.stall.burst);

	if (drops) {
		pib_burst_free(qp->tx.stall.burst);
		qp->tx.stall = (struct pib_stall) {};
	}
	list_for_each_entry_safe(b, next, &qp->tx.behind, entry) {
		drops = drops || goes(b);
		if (!drops)
			continue;
		list_del(&b->entry);
		pib_burst_free(b);
	}
	return drops;
}

static bool is_unstable(const struct pib_burst *b)
{
	return !pib_burst_is_stable(b);
}

void pib_output_drop_unstable(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	if (qp->tx.stall.burst)
		drop_kept_from(qp, is_unstable);
}

bool pib_output_give_back(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	return drop_kept_from(qp, pib_burst_is_wanted);
}
