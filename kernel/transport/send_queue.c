// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From the send ring to the requester's slots. A work request is copied once
 * and the copy is judged (10.10.2). A work request that fails takes its place in
 * the queue, marked, and completes in error when its turn comes.
 */
#include "compat/compat.h"
#include "hca/hca.h"
#include "memory/pd.h"
#include "proto/rc_ring.h"
#include "transport/qp_trace.h"
#include "transport/requester.h"
#include "transport/send_queue.h"
#include "proto/wr.h"

#define MSG_MAX		0x80000000U	/* C9-6 */
#define SEND_FLAGS	(PIB_WR_FENCE | PIB_WR_SIGNALED | PIB_WR_SOLICITED | PIB_WR_INLINE)
#define IPOIB_FLAGS	(SEND_FLAGS | PIB_WR_IP_CSUM)
#define FETCH_MAX	64

/* Besides enum pib_wc: the work request cannot be judged before a page has come. */
#define WC_WAIT		U32_MAX

/**
 * struct wr_rule - properties of an opcode that pib_wr_info() does not tell
 * @kernel: processes may not post it
 * @wc: enum ib_wc_opcode
 */
struct wr_rule {
	bool kernel;
	u8 wc;
};

static const struct wr_rule wr_rules[PIB_WR_COUNT] = {
	[PIB_WR_WRITE] = { .wc = IB_WC_RDMA_WRITE },
	[PIB_WR_WRITE_IMM] = { .wc = IB_WC_RDMA_WRITE },
	[PIB_WR_SEND] = { .wc = IB_WC_SEND },
	[PIB_WR_SEND_IMM] = { .wc = IB_WC_SEND },
	[PIB_WR_READ] = { .wc = IB_WC_RDMA_READ },
	[PIB_WR_CAS] = { .wc = IB_WC_COMP_SWAP },
	[PIB_WR_FAA] = { .wc = IB_WC_FETCH_ADD },
	[PIB_WR_LOCAL_INV] = { .wc = IB_WC_LOCAL_INV },
	[PIB_WR_BIND_MW] = { .wc = IB_UVERBS_WC_BIND_MW },
	[PIB_WR_LSO] = { .kernel = true, .wc = IB_WC_LSO },
	[PIB_WR_SEND_INV] = { .wc = IB_WC_SEND },
	[PIB_WR_FLUSH] = { .wc = IB_UVERBS_WC_FLUSH },
	[PIB_WR_ATOMIC_WRITE] = { .wc = IB_UVERBS_WC_ATOMIC_WRITE },
	[PIB_WR_REG_MR] = { .kernel = true, .wc = IB_WC_REG_MR },
};

static u32 send_flags(const struct pib_qp *qp)
{
	return pib_qp_is_ipoib(qp) ? IPOIB_FLAGS : SEND_FLAGS;
}

/* Return: the properties of an opcode; NULL: the QP, or its process, has no such work request. */
static const struct pib_wr_info *legal_wr(const struct pib_qp *qp, u32 opcode)
{
	const struct pib_wr_info *info = pib_wr_info(opcode, qp->tp);

	return info && wr_rules[opcode].kernel && qp->is_user ? NULL : info;
}

u32 pib_sq_max_inline(const struct pib_qp *qp, u32 opcode)
{
	return opcode == PIB_WR_ATOMIC_WRITE ? 8 : qp->sq.max_inline;
}

static void take_address(const struct pib_qp *qp, struct pib_ksq_slot *s,
			 const struct pib_send_wqe *wqe)
{
	s->avn = wqe->ud.ahn;
	s->pkey_index = qp->type == IB_QPT_GSI ? wqe->ud.reserved : 0;
	s->w.dqpn = wqe->ud.remote_qpn & PIB_QPN_MASK;
	s->w.qkey = wqe->ud.remote_qkey;
}

static void take_operands(const struct pib_qp *qp, struct pib_ksq_slot *s,
			  const struct pib_send_wqe *wqe)
{
	struct pib_swqe *w = &s->w;

	switch (w->opcode) {
	case PIB_WR_CAS:
	case PIB_WR_FAA:
		w->va = wqe->atomic.remote_addr;
		w->rkey = wqe->atomic.rkey;
		w->compare_add = wqe->atomic.compare_add;
		w->swap = wqe->atomic.swap;
		break;
	case PIB_WR_BIND_MW:
		s->bind.addr = wqe->bind.addr;
		s->bind.length = wqe->bind.length;
		s->bind.mr_lkey = wqe->bind.mr_lkey;
		s->bind.mw_rkey = wqe->bind.mw_rkey;
		s->bind.new_rkey = wqe->bind.new_rkey;
		s->bind.access = wqe->bind.access;
		break;
	case PIB_WR_REG_MR:
		/* pib_post_send() writes this, for kernel users only. */
		s->reg.mr = (struct ib_mr *)(uintptr_t)wqe->raw[0];
		s->reg.key = wqe->raw[1];
		s->reg.access = wqe->raw[2];
		break;
	case PIB_WR_LSO:
		/* pib_post_send() alone writes this, too, and has checked the headers. */
		w->mss = wqe->raw[2];
		w->head_len = wqe->raw[3];
		take_address(qp, s, wqe);
		break;
	case PIB_WR_FLUSH:
		w->va = wqe->flush.remote_addr;
		w->rkey = wqe->flush.rkey;
		w->len = min_t(u64, wqe->flush.length, U32_MAX);
		w->flush = (wqe->flush.type & 0xF) | (wqe->flush.level & 3) << 4;
		break;
	default:
		if (pib_qp_is_datagram(qp)) {
			take_address(qp, s, wqe);
		} else {
			w->va = wqe->rdma.remote_addr;
			w->rkey = wqe->rdma.rkey;
		}
	}
}

/* Take over the SGEs (IBA 11.4.1.1, 10.10.2). Return: enum pib_wc. */
static u32 take_sges(struct pib_qp *qp, struct pib_ksq_slot *s, const struct pib_send_wqe *slot,
		     u32 num_sge)
{
	u64 len = 0;
	u32 i;

	if (num_sge > qp->sq.max_sge)
		return PIB_WC_LOC_QP_OP_ERR;

	memcpy(s->sge, slot->sge, num_sge * sizeof(s->sge[0]));
	barrier_data(s->sge);
	/* The L_Key of consumers in the kernel is good for all of its memory. */
	if (qp->is_user && pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_SGE_ZERO_2GIB))
		pib_behavior_stretch(s->sge, num_sge);
	for (i = 0; i < num_sge; i++)
		len += s->sge[i].length;
	s->num_sge = num_sge;
	if (len > MSG_MAX)
		return PIB_WC_LOC_LEN_ERR;
	s->w.len = len;
	return PIB_WC_SUCCESS;
}

static u32 take_inline(struct pib_qp *qp, struct pib_ksq_slot *s, const struct pib_send_wqe *wqe)
{
	if (wqe->num_sge || wqe->length > pib_sq_max_inline(qp, wqe->opcode))
		return PIB_WC_LOC_QP_OP_ERR;

	s->is_inline = true;
	s->w.len = wqe->length;
	return PIB_WC_SUCCESS;
}

/* ATOMIC_WRITE: the eight bytes go into the header (A19.4.3). Return: enum pib_wc, WC_WAIT. */
static u32 take_value(struct pib_qp *qp, struct pib_ksq_slot *s, const struct pib_send_wqe *slot)
{
	struct pib_span span;
	int err;

	if (qp->req.flushing)
		return PIB_WC_SUCCESS;
	if (s->is_inline) {
		memcpy(&s->w.swap, slot->data, 8);
		return PIB_WC_SUCCESS;
	}
	if (s->num_sge != 1)
		return PIB_WC_LOC_LEN_ERR;
	err = pib_mem_get_local(qp->pd, s->sge[0].lkey, s->sge[0].addr, 8, 0, &span);
	if (err)
		return PIB_WC_LOC_PROT_ERR;
	err = pib_span_get(&span, &s->w.swap);
	if (err == -EAGAIN)
		err = pib_hold_pagein(qp, qp->sq.deferred.pages, &span, 0, 8, false);
	pib_mem_put(&span);
	if (err == -EAGAIN)
		return WC_WAIT;
	return err ? PIB_WC_LOC_PROT_ERR : PIB_WC_SUCCESS;
}

/* Return: true if a datagram, or a packet of a large send, is too long. */
static bool datagram_too_big(const struct pib_qp *qp, const struct pib_swqe *w)
{
	u32 data = w->mss ? min_t(u32, w->len, w->mss) : w->len;

	return data > pib_sq_datagram_max(qp) - w->head_len;
}

/*
 * Return: true if the QP may send there. QP0 is reached from QP0 only: data QPs have no VL15
 * (3.5.7, 13.5.1).
 */
static bool dest_ok(const struct pib_qp *qp, const struct pib_ksq_slot *s)
{
	return !pib_qp_is_datagram(qp) || s->w.dqpn || qp->type == IB_QPT_SMI;
}

/*
 * Take over a work request. @wqe: private copy of the fixed part; @slot: the ring's. Return: enum
 * pib_wc, WC_WAIT.
 */
static u32 take_wqe(struct pib_qp *qp, struct pib_ksq_slot *s, const struct pib_send_wqe *wqe,
		    const struct pib_send_wqe *slot)
{
	const struct pib_wr_info *info = legal_wr(qp, wqe->opcode);
	u32 status = PIB_WC_SUCCESS;

	if (!info || wqe->send_flags & ~send_flags(qp))
		return PIB_WC_LOC_QP_OP_ERR;

	s->w.opcode = wqe->opcode;
	s->wc_opcode = wr_rules[wqe->opcode].wc;
	s->w.ex = wqe->ex;
	s->w.srqn = wqe->srqn;
	s->w.len = 0;
	s->w.mss = 0;
	s->w.head_len = 0;
	take_operands(qp, s, wqe);
	if (!dest_ok(qp, s))
		return PIB_WC_LOC_QP_OP_ERR;

	if (wqe->send_flags & PIB_WR_INLINE && info->kind & PIB_WRK_SENDS)
		status = take_inline(qp, s, wqe);
	else if (info->kind & PIB_WRK_MEMORY)
		status = take_sges(qp, s, slot, wqe->num_sge);
	if (status)
		return status;
	if (info->kind & PIB_WRK_EIGHT && s->w.len != 8)
		return PIB_WC_LOC_LEN_ERR;
	if (pib_qp_is_datagram(qp) && datagram_too_big(qp, &s->w))
		return PIB_WC_LOC_LEN_ERR;
	return info->kind & PIB_WRK_VALUE ? take_value(qp, s, slot) : PIB_WC_SUCCESS;
}

/*
 * Have a work request that failed go through the requester as an empty message that is never sent.
 */
static void mark_bad(struct pib_qp *qp, struct pib_ksq_slot *s, u32 status)
{
	s->bad = status;
	s->w.opcode = pib_qp_is_datagram(qp) ? PIB_WR_SEND : PIB_WR_WRITE;
	s->w.len = 0;
	s->w.mss = 0;
	s->num_sge = 0;
	s->is_inline = false;
}

/*
 * Fill a slot of the requester from the ring. Return: false: it must be tried again when the QP
 * runs next.
 */
static bool fill_swqe(struct pib_qp *qp, struct pib_ksq_slot *s)
{
	const struct pib_send_wqe *slot = pib_ring_slot(&qp->sq.ring, qp->sq.ring.index);
	struct pib_send_wqe wqe;
	u32 status;

	memcpy(&wqe, slot, sizeof(wqe));
	barrier_data(&wqe);

	s->w.wr_id = wqe.wr_id;
	s->w.flags = wqe.send_flags & send_flags(qp);
	if (qp->sq.sig_all)
		s->w.flags |= PIB_WR_SIGNALED;
	s->ring_index = qp->sq.ring.index;
	s->num_sge = 0;
	s->is_inline = false;
	s->bad = 0;
	s->wc_opcode = IB_WC_SEND;

	status = take_wqe(qp, s, &wqe, slot);
	if (status == WC_WAIT)
		return false;
	if (status)
		mark_bad(qp, s, status);
	return true;
}

/* Return: the R_Key that a work request names, to use it or to end it; 0: none. */
static u32 traced_rkey(const struct pib_qp *qp, const struct pib_swqe *w)
{
	switch (w->opcode) {
	case PIB_WR_SEND:
	case PIB_WR_SEND_IMM:
	case PIB_WR_LSO:
	case PIB_WR_BIND_MW:
	case PIB_WR_REG_MR:
		return 0;
	case PIB_WR_SEND_INV:
	case PIB_WR_LOCAL_INV:
		return w->ex;
	default:
		return w->rkey;
	}
}

static void trace_posted(const struct pib_qp *qp, struct pib_swqe *w)
{
	struct pib_trace_qp who = pib_qp_traced(qp);
	/* these were not set for a bad work request */
	bool keys = !pib_ksq_slot(w)->bad;

	trace_pib_wr_posted(&who, qp->sq.ring.index, pib_qp_traced_id(qp, w->wr_id), w->opcode,
			    w->flags, w->len, keys ? traced_rkey(qp, w) : 0,
			    keys && pib_qp_is_datagram(qp) ? w->qkey : 0);
}

/* Fetch a work request. Return: false: not now, for want of a slot or of pages. */
static bool fetch_wqe(struct pib_qp *qp)
{
	struct pib_swqe *w = pib_req_slot(&qp->req);

	if (!w || !fill_swqe(qp, pib_ksq_slot(w)))
		return false;
	if (trace_pib_wr_posted_enabled())
		trace_posted(qp, w);
	qp->sq.ring.index++;
	pib_req_post(&qp->req);
	return true;
}

/*
 * Return: true if the ring must be read. A process that answers an arrived message is about to
 * ring. The work requests that it has posted are left for that process to send: it has a CPU for
 * that, and this CPU is needed where the answer goes.
 */
static bool must_fetch(struct pib_qp *qp)
{
	return test_and_clear_bit(PIB_QP_DOORBELL, &qp->task.state) ||
	       READ_ONCE(qp->sq.busy);
}

bool pib_sq_fetch(struct pib_qp *qp)
{
	u32 n = 0, pending;

	lockdep_assert_held(&qp->lock);

	if (!qp->sq.ring.hdr || !must_fetch(qp))
		return false;
	pending = pib_ring_pending(&qp->sq.ring);
	while (n < pending && n < FETCH_MAX && fetch_wqe(qp))
		n++;
	if (n == pending)
		return false;
	pib_sq_ring(qp);
	return n == FETCH_MAX;
}

void pib_sq_busy(struct pib_qp *qp)
{
	if (!qp->sq.ring.hdr)
		return;
	WRITE_ONCE(qp->sq.busy, true);
	WRITE_ONCE(qp->sq.ring.hdr->busy, 1);
}

bool pib_sq_idle(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	if (!qp->sq.ring.hdr)
		return false;

	WRITE_ONCE(qp->sq.busy, false);
	WRITE_ONCE(qp->sq.ring.hdr->busy, 0);
	/*
	 * Pairs with the full barriers of posters (the provider, pib_post_send()), which then look
	 * at @busy.
	 */
	smp_mb();
	if (!pib_ring_pending(&qp->sq.ring))
		return false;

	/* A work request was posted without a doorbell: the next CPU that runs the QP takes it. */
	pib_sq_ring(qp);
	/* A QP that waits is kicked; a QP that was pushed back, or slowed down, has a timer. */
	if (pib_requester_waits(qp) || qp->tx.stall.burst)
		return false;
	if (unlikely(qp->tx.cc.next) && qp->tx.cc.next > ktime_get_ns())
		return false;
	return qp->state >= IB_QPS_RTS && pib_req_slot(&qp->req);
}

void pib_sq_reset(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	if (!qp->sq.ring.hdr)
		return;

	pib_ring_consume(&qp->sq.ring, pib_ring_pending(&qp->sq.ring));
	qp->sq.done = qp->sq.ring.index;
}
