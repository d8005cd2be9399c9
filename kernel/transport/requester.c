// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester: requests of the transport become bursts that refer to the memory of the work
 * request. Little is copied: inline data, messages so short that a reference costs more, and memory
 * whose pages may go.
 *
 *	pib_requester_tx()		until nothing can be sent, or the turn is over
 *	    pib_sq_fetch()		what was posted is copied and checked (send_queue.c)
 *	    pib_req_next()		the next step of the protocol (proto/rc_req.c)
 *	    perform_step()		a local operation is executed here
 *		send_request()
 *		    fill_burst()	payload
 *		    pib_output_send()	output.c goes on from there, for answers, too
 */
#include "compat/compat.h"
#include "hca/hw_counters.h"
#include "hca/hca.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "memory/pd.h"
#include "memory/sge.h"
#include "packet/offload.h"
#include "proto/rc_ring.h"
#include "transport/inject.h"
#include "transport/qp_trace.h"
#include "transport/requester.h"
#include "transport/send_queue.h"

/* Times that one turn reads the ring: what is posted may wait, and need not be sent. */
#define TURN_FETCHES	2

static int copy_inline(struct pib_qp *qp, struct pib_ksq_slot *s, struct pib_burst *b, u32 off)
{
	const struct pib_send_wqe *wqe = pib_ring_slot(&qp->sq.ring, s->ring_index);
	void *dst = pib_burst_own(b, b->len);

	if (!dst)
		return -ENOMEM;
	memcpy(dst, wqe->data + off, b->len);
	return 0;
}

static int copy_sges(struct pib_qp *qp, struct pib_ksq_slot *s, struct pib_burst *b, u32 off)
{
	void *dst = pib_burst_own(b, b->len);
	struct pib_sge_iter it;
	struct pib_span span;
	int err;

	if (!dst)
		return -ENOMEM;

	pib_sge_start(&it, s->sge, s->num_sge, off, b->len);
	while (it.left) {
		err = pib_sge_next(&it, qp->pd, 0, &span);
		if (err)
			return err;
		err = pib_span_get(&span, dst);
		if (err == -EAGAIN)
			err = pib_hold_pagein(qp, qp->sq.deferred.pages, &span, 0, span.len,
					      false);
		pib_mem_put(&span);
		if (err)
			return err;
		dst += span.len;
	}
	return 0;
}

/*
 * Have @b refer to the memory of the SGEs.
 *
 * Return: 0; -E2BIG: there is no memory for so many references, or pages may go before the burst
 * does; others.
 */
static int refer_sges(struct pib_qp *qp, struct pib_ksq_slot *s, struct pib_burst *b, u32 off)
{
	struct pib_sge_iter it;
	int err;

	static_assert(PIB_QP_MAX_SGE <= U8_MAX);	/* pib_burst.nspans */
	pib_sge_start(&it, s->sge, s->num_sge, off, b->len);
	if (!pib_burst_refer(b, pib_sge_pieces(&it)))
		return -E2BIG;
	while (it.left) {
		err = pib_sge_next(&it, qp->pd, 0, &b->spans[b->nspans]);
		if (err)
			return err;
		if (pib_span_pageable(&b->spans[b->nspans++]))
			return -E2BIG;
	}
	return 0;
}

/* Return: true if the payload is one packet, in which checksums have to be filled in. */
static bool wants_checksum(const struct pib_ksq_slot *s)
{
	return s->w.flags & PIB_WR_IP_CSUM && !s->w.mss;
}

/* Copy the payload, and fill the checksums in. */
static int copy_checksummed(struct pib_qp *qp, struct pib_ksq_slot *s, struct pib_burst *b,
			    u32 off)
{
	int err = s->is_inline ? copy_inline(qp, s, b, off) : copy_sges(qp, s, b, off);

	if (!err)
		pib_offload_checksum(b);
	return err;
}

static int attach_payload(struct pib_qp *qp, struct pib_ksq_slot *s, struct pib_burst *b, u32 off)
{
	int err;

	if (unlikely(wants_checksum(s)))
		return copy_checksummed(qp, s, b, off);
	if (s->is_inline)
		return copy_inline(qp, s, b, off);
	/* No MAD waits for its end: its poster waits for all of them, unkillably (ib_mad). */
	if (b->len <= PIB_BURST_SMALL || qp->type <= IB_QPT_GSI)
		return copy_sges(qp, s, b, off);

	err = refer_sges(qp, s, b, off);
	if (err == -E2BIG) {
		if (b->payload == PIB_PAYLOAD_SPANS)
			pib_burst_unrefer(b);
		err = copy_sges(qp, s, b, off);
	}
	if (err || b->payload != PIB_PAYLOAD_SPANS || !pib_qp_counts_bursts(qp))
		return err;

	pib_qp_get(qp);
	b->owner = &qp->lent.owner;
	b->owner_slot = ((void *)s - qp->sq.slots) / qp->sq.slot_size;
	atomic_inc(&s->refs);
	return 0;
}

/* Make IP packets of the data of a large send (@tx), with the headers in the ring slot. */
static int attach_heads(struct pib_qp *qp, struct pib_ksq_slot *s, struct pib_burst *b,
			const struct pib_tx_req *tx)
{
	struct pib_segment_head seg = {
		.head = pib_sq_head(qp, pib_ring_slot(&qp->sq.ring, s->ring_index)),
		.mss = s->w.mss,
	};

	if (!pib_ipoib_parse(&seg.ip, seg.head, s->w.head_len))
		return -EINVAL;
	return pib_offload_segment(b, &seg, tx->off / seg.mss, tx->off + tx->len == s->w.len);
}

/* Give @b the payload of @tx. Return: 0; -EAGAIN: pages are missing; -ENOMEM; others. */
static int fill_burst(struct pib_qp *qp, struct pib_ksq_slot *s, struct pib_burst *b,
		      const struct pib_tx_req *tx)
{
	int err = b->len ? attach_payload(qp, s, b, tx->off) : 0;

	if (err || likely(!s->w.mss))
		return err;
	return attach_heads(qp, s, b, tx);
}

/* Q_Keys with the high bit set stand for the QP's own (10.2.5). */
static u32 effective_qkey(const struct pib_qp *qp, u32 qkey)
{
	return qkey & 0x80000000 ? qp->attr.qkey : qkey;
}

/*
 * Return: the address vector of a datagram; NULL: there is no such AH, or not of this PD and port.
 */
static const struct pib_av_data *datagram_av(struct pib_qp *qp, struct pib_ksq_slot *s)
{
	struct pib_av *av = pib_av_find(qp->hca, s->avn);

	if (!av || av->pd != qp->ib.pd || av->d.port != qp->path.port->p.num)
		return NULL;
	return &av->d;
}

static const struct pib_av_data *address_request(struct pib_qp *qp, struct pib_ksq_slot *s,
						 struct pib_burst *b)
{
	if (!pib_qp_is_datagram(qp))
		return &qp->path.av;

	b->h.sqpn = qp->qpn;
	b->h.pkey = s->pkey_index;
	b->h.qkey = qp->type == IB_QPT_SMI ? 0 : effective_qkey(qp, s->w.qkey);
	return datagram_av(qp, s);
}

/* Defer @tx. The slot is kept: the request may be finished otherwise before it is sent. */
static bool defer_request(struct pib_qp *qp, const struct pib_tx_req *tx)
{
	qp->sq.deferred.tx = *tx;
	qp->sq.deferred.set = true;
	atomic_inc(&pib_ksq_slot(tx->wqe)->refs);
	return false;
}

/*
 * Return: the status by which the request ends unsent; 0: it is in order. Rules
 * were asked about a deferred request before.
 */
static u32 request_fault(struct pib_qp *qp, const struct pib_ksq_slot *s,
			 const struct pib_tx_req *tx, bool resumed)
{
	if (s->bad || !pib_injects_any(&qp->hca->injects) || tx->off || resumed)
		return s->bad;
	return pib_inject_send(qp);
}

static bool send_request(struct pib_qp *qp, const struct pib_tx_req *tx, struct pib_turn *turn,
			 bool resumed)
{
	struct pib_ksq_slot *s = pib_ksq_slot(tx->wqe);
	const struct pib_av_data *av;
	struct pib_burst *b;
	u32 bad = request_fault(qp, s, tx, resumed);
	int err;

	if (bad) {
		pib_req_local_error(&qp->req, &s->w, bad);
		return true;
	}
	b = pib_burst_make(&tx->h, tx->npkts, tx->len, pib_output_pmtu(qp, tx));
	if (!b) {
		pib_output_nomem(qp, tx);
		return true;	/* as if lost on the way */
	}
	b->alone = pib_req_is_narrow(&qp->req);
	av = address_request(qp, s, b);
	if (!av) {
		pib_req_local_error(&qp->req, &s->w, PIB_WC_LOC_QP_OP_ERR);
		goto free;
	}
	err = fill_burst(qp, s, b, tx);
	if (err == -EAGAIN) {
		pib_burst_free(b);
		return defer_request(qp, tx);
	}
	if (err == -ENOMEM) {
		pib_qp_drop(qp, PIB_STAT_TX_NOMEM, b, 1);
		goto free;
	}
	if (err) {
		pib_req_local_error(&qp->req, &s->w, PIB_WC_LOC_PROT_ERR);
		goto free;
	}
	return pib_output_send(qp, s->ring_index, av, b, turn);

free:
	pib_burst_free(b);
	return true;
}

static struct pib_mw_bind_args bind_args(const struct pib_ksq_slot *s)
{
	return (struct pib_mw_bind_args) {
		.mw_rkey = s->bind.mw_rkey,
		.new_rkey = s->bind.new_rkey,
		.mr_lkey = s->bind.mr_lkey,
		.access = s->bind.access,
		.addr = s->bind.addr,
		.length = s->bind.length,
	};
}

/* Execute a local operation. Return: 0; -errno; -EAGAIN: not yet. */
static int local_result(struct pib_qp *qp, struct pib_ksq_slot *s)
{
	struct pib_mw_bind_args args;

	switch (s->w.opcode) {
	case PIB_WR_LOCAL_INV:
		return pib_mem_invalidate(pib_qp_mem_ctx(qp), s->w.ex, false);
	case PIB_WR_REG_MR:
		return pib_mr_reg(qp->pd, s->reg.mr, s->reg.key, s->reg.access);
	default:
		args = bind_args(s);
		return pib_mw_bind(pib_qp_mem_ctx(qp), &args);
	}
}

static bool execute_local(struct pib_qp *qp, const struct pib_tx_req *tx)
{
	struct pib_ksq_slot *s = pib_ksq_slot(tx->wqe);
	int err;

	err = local_result(qp, s);
	if (err == -EAGAIN) {
		/* Bursts that this turn has put off may be what refers to the memory. */
		pib_put_off_do();
		err = local_result(qp, s);
	}
	if (err == -EAGAIN) {
		qp->timer.draining = true;
		return defer_request(qp, tx);
	}
	/* Memory Management Operation Error (11.6.2), which ib_core calls by its older name. */
	pib_req_local_done(&qp->req, &s->w, err ? PIB_WC_MW_BIND_ERR : PIB_WC_SUCCESS);
	return true;
}

/*
 * Send or execute @tx, which was deferred before if @resumed. Return: false: it is deferred, or the
 * receiver is full.
 */
static bool perform_step(struct pib_qp *qp, const struct pib_tx_req *tx, struct pib_turn *turn,
			 bool resumed)
{
	if (tx->kind != PIB_TX_LOCAL) {
		pib_turn_spend(turn, tx);
		return send_request(qp, tx, turn, resumed);
	}
	turn->bursts--;
	return execute_local(qp, tx);
}

static void resume_deferred(struct pib_qp *qp)
{
	qp->sq.deferred.set = false;
	atomic_dec(&pib_ksq_slot(qp->sq.deferred.tx.wqe)->refs);
}

void pib_requester_cancel(struct pib_qp *qp)
{
	struct pib_mw_bind_args args;
	struct pib_ksq_slot *s;

	lockdep_assert_held(&qp->lock);

	if (!qp->sq.deferred.set)
		return;
	s = pib_ksq_slot(qp->sq.deferred.tx.wqe);
	if (s->w.opcode == PIB_WR_BIND_MW) {
		args = bind_args(s);
		pib_mw_bind_cancel(pib_qp_mem_ctx(qp), &args);
	}
	resume_deferred(qp);
}

/* Perform the deferred step, which goes first. Return: false: it cannot go yet. */
static bool perform_deferred(struct pib_qp *qp, struct pib_turn *turn)
{
	struct pib_tx_req tx __uninitialized;

	if (!qp->sq.deferred.set)
		return true;
	if (!pib_req_wanted(&qp->req, &qp->sq.deferred.tx)) {
		pib_requester_cancel(qp);
		return true;
	}
	if (pib_pagein_busy(qp->sq.deferred.pages))
		return false;
	tx = qp->sq.deferred.tx;
	resume_deferred(qp);
	return perform_step(qp, &tx, turn, true);
}

bool pib_requester_tx(struct pib_qp *qp, struct pib_turn *turn)
{
	u32 fetches = TURN_FETCHES;
	struct pib_tx_req tx __uninitialized;
	bool more;

	lockdep_assert_held(&qp->lock);

	if (qp->state < IB_QPS_RTS)
		return true;
	if (!perform_deferred(qp, turn))
		return pib_requester_waits(qp);

	do {
		more = pib_sq_fetch(qp);
		while (!pib_turn_over(turn) && pib_req_unsent(&qp->req) &&
		       pib_req_next(&qp->req, turn->now, &tx)) {
			if (!perform_step(qp, &tx, turn, false))
				return pib_requester_waits(qp);
		}
		if (pib_turn_over(turn))
			return false;
	} while (more && --fetches);

	return !more;
}
