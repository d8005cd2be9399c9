// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive work requests. A QP has at most one in hand, qp->rq.cur: a private copy of a slot of its
 * own ring or of the shared receive queue. The work request stays in hand when a message of an
 * unreliable service is lost in its middle, and serves the next one.
 */
#include "core/elapsed.h"
#include "hca/hw_counters.h"
#include "hca/cq.h"
#include "hca/hca.h"
#include "memory/pd.h"
#include "memory/sge.h"
#include "transport/error.h"
#include "transport/hold.h"
#include "transport/qp_trace.h"
#include "transport/recv_queue.h"
#include "hca/srq.h"
#include "transport/stats.h"

/* Most receive work requests that a turn flushes. */
#define FLUSH_MAX	64

/*
 * Longest time that datagrams wait for receives to be posted, all of them together: from the first
 * that found none until nothing waits any more. Datagrams that come later, and find none, are lost
 * at once.
 */
#define EMPTY_NSEC	(10 * PIB_NSEC_PER_MSEC)

static enum pib_res malformed_wqe(struct pib_qp *qp)
{
	pib_rq_complete(qp, PIB_WC_LOC_QP_OP_ERR, 0, NULL);
	return PIB_RES_OP;
}

static void post_rings(struct pib_qp *qp, bool on)
{
	WRITE_ONCE(qp->rq.ring.hdr->arm, on);
}

/* Trace qp->rq.cur, which was taken from a ring. @srqn: number of the SRQ; 0: the QP's own ring. */
static void trace_taken(const struct pib_qp *qp, u32 srqn)
{
	struct pib_trace_qp who = pib_qp_traced(qp);

	trace_pib_recv_posted(&who, srqn, pib_qp_traced_id(qp, qp->rq.cur.wr_id),
			      qp->rq.cur.len);
}

/* Add up the room in all elements again. Return: 0 or -EINVAL. */
static int add_up_room(struct pib_rq_cur *cur)
{
	u32 i;

	cur->len = 0;
	for (i = 0; i < cur->num_sge; i++)
		if (check_add_overflow(cur->len, cur->sge[i].length, &cur->len))
			return -EINVAL;
	return 0;
}

/*
 * Give the elements of qp->rq.cur the meaning that they have to this HCA. It was taken, with @err,
 * from a queue of a process or of the kernel. The L_Key of consumers in the kernel is good for all
 * of its memory, so their elements mean what they say. Return: as @err.
 */
static int interpret_taken(struct pib_qp *qp, int err, bool is_user)
{
	struct pib_rq_cur *cur = &qp->rq.cur;

	if (!is_user || !pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_SGE_ZERO_2GIB) || err)
		return err;
	pib_behavior_stretch(cur->sge, cur->num_sge);
	return add_up_room(cur);
}

/*
 * Take the oldest receive of the QP's own. Return: 0, -EINVAL: as pib_recv_wqe_copy(); -EAGAIN:
 * there is none.
 */
static int copy_own(struct pib_qp *qp)
{
	struct pib_ring *ring = &qp->rq.ring;
	int err;

	if (!ring->hdr || !pib_ring_pending(ring))
		return -EAGAIN;
	err = pib_recv_wqe_copy(pib_ring_slot(ring, ring->index), qp->rq.max_sge, &qp->rq.cur);
	pib_ring_consume(ring, 1);
	return err;
}

static enum pib_res take_own(struct pib_qp *qp)
{
	int err = copy_own(qp);

	if (err == -EAGAIN)
		return PIB_RES_RNR;
	if (unlikely(qp->rq.empty_since))
		post_rings(qp, false);

	err = interpret_taken(qp, err, qp->rq.ring.user);
	if (trace_pib_recv_posted_enabled())
		trace_taken(qp, 0);
	return err ? malformed_wqe(qp) : PIB_RES_OK;
}

static enum pib_res take_shared(struct pib_qp *qp, struct pib_srq *srq)
{
	int err = pib_srq_take(srq, &qp->rq.cur);

	if (err == -EAGAIN)
		return PIB_RES_RNR;

	qp->rq.srqn = srq->srqn;
	err = interpret_taken(qp, err, srq->is_user);
	if (trace_pib_recv_posted_enabled())
		trace_taken(qp, srq->srqn);
	return err ? malformed_wqe(qp) : PIB_RES_OK;
}

/* SRQs of XRC come and go under the QP, so they are looked up each time. */
static struct pib_srq *xrc_srq(const struct pib_qp *qp, u32 srqn)
{
	struct pib_srq *srq = pib_srq_find(qp->hca, srqn);

	if (!srq || srq->ib.ext.xrc.xrcd != qp->ib.xrcd)
		return NULL;
	return srq;
}

struct pib_srq *pib_rq_named_srq(const struct pib_qp *qp)
{
	return xrc_srq(qp, READ_ONCE(qp->rq.named));
}

enum pib_res pib_rq_take(struct pib_qp *qp, u32 srqn)
{
	struct pib_srq *srq = qp->rq.srq;

	lockdep_assert_held(&qp->lock);

	if (qp->rq.cur.valid)
		return PIB_RES_OK;
	if (qp->type == IB_QPT_XRC_TGT) {
		WRITE_ONCE(qp->rq.named, srqn);
		srq = xrc_srq(qp, srqn);
		if (!srq)
			return PIB_RES_INV_REQ;
	}
	return srq ? take_shared(qp, srq) : take_own(qp);
}

bool pib_rq_awaits(struct pib_qp *qp, u64 now)
{
	lockdep_assert_held(&qp->lock);

	if (!pib_qp_is_ipoib(qp) || !qp->rq.ring.hdr)
		return false;
	if (!qp->rq.empty_since)
		WRITE_ONCE(qp->rq.empty_since, now);
	if (pib_elapsed(now, qp->rq.empty_since, EMPTY_NSEC))
		return false;
	post_rings(qp, true);
	/* Pairs with smp_mb() in pib_post_recv(), which then looks at @arm. */
	smp_mb();
	if (pib_ring_pending(&qp->rq.ring))
		pib_task_activate(&qp->task);
	return true;
}

void pib_rq_caught_up(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	WRITE_ONCE(qp->rq.empty_since, 0);
	if (qp->state != IB_QPS_ERR)
		post_rings(qp, false);
}

u64 pib_rq_deadline(const struct pib_qp *qp, u64 now)
{
	u64 at = qp->rq.empty_since + EMPTY_NSEC;

	lockdep_assert_held(&qp->lock);
	return qp->rq.empty_since && (s64)(at - now) > 0 ? at : 0;
}

struct pib_pd *pib_rq_xrc_pd(const struct pib_qp *qp, u32 srqn)
{
	struct pib_srq *srq = xrc_srq(qp, srqn);

	lockdep_assert_held(&qp->lock);
	return srq ? to_pd(srq->ib.pd) : NULL;
}

/*
 * Copy what is left of the walk @it: payload of @b, or if that is NULL bytes of the kernel's own at
 * @src, from @off on. Inline: each caller has one of the two.
 */
static __always_inline int fill_sges(struct pib_qp *qp, struct pib_pd *pd, struct pib_sge_iter *it,
				     struct pib_burst *b, const void *src, u32 off)
{
	struct pib_span span;
	int err;

	while (it->left) {
		err = pib_sge_next(it, pd, IB_ACCESS_LOCAL_WRITE, &span);
		if (err)
			return err;
		err = b ? pib_burst_place(b, off, &span, span.len) : pib_span_put(&span, src + off);
		if (err == -EAGAIN)
			err = pib_hold_pagein(qp, qp->rx.pages, &span, 0, span.len, true);
		pib_mem_put(&span);
		if (err)
			return err;
		off += span.len;
	}
	return 0;
}

static int write_sges(struct pib_qp *qp, struct pib_pd *pd, const struct pib_sge *sge,
		      u32 num_sge, u32 off, struct pib_burst *b, u32 src_off, u32 len)
{
	struct pib_sge_iter it;

	pib_sge_start(&it, sge, num_sge, off, len);
	return fill_sges(qp, pd, &it, b, NULL, src_off);
}

/* Call write_sges() packet by packet, the last one first. */
static int write_backwards(struct pib_qp *qp, struct pib_pd *pd, const struct pib_sge *sge,
			   u32 num_sge, u32 off, struct pib_burst *b, u32 src_off, u32 len)
{
	u32 at = (len - 1) / b->pmtu * b->pmtu;
	int err;

	do {
		err = write_sges(qp, pd, sge, num_sge, off + at, b, src_off + at,
				 min(b->pmtu, len - at));
		at -= b->pmtu;
	} while (!err && at < len);
	return err;
}

int pib_sges_write(struct pib_qp *qp, struct pib_pd *pd, const struct pib_sge *sge,
		   u32 num_sge, u32 off, struct pib_burst *b, u32 src_off, u32 len)
{
	lockdep_assert_held(&qp->lock);
	if (pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_DATA_OUT_OF_ORDER) && len)
		return write_backwards(qp, pd, sge, num_sge, off, b, src_off, len);
	return write_sges(qp, pd, sge, num_sge, off, b, src_off, len);
}

int pib_sges_put(struct pib_qp *qp, struct pib_pd *pd, const struct pib_sge *sge, u32 num_sge,
		 u32 off, const void *src, u32 len)
{
	struct pib_sge_iter it;

	lockdep_assert_held(&qp->lock);
	pib_sge_start(&it, sge, num_sge, off, len);
	return fill_sges(qp, pd, &it, NULL, src, 0);
}

struct pib_pd *pib_rq_pd(const struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	/* The L_Keys of an SRQ's work requests are of the SRQ's PD (10.2.9.1). */
	if (qp->type == IB_QPT_XRC_TGT)
		return pib_rq_xrc_pd(qp, qp->rq.srqn);
	return qp->rq.srq ? to_pd(qp->rq.srq->ib.pd) : qp->pd;
}

static int scatter_bytes(struct pib_qp *qp, struct pib_burst *b, u32 src_off, u32 len, u32 off)
{
	struct pib_pd *pd = pib_rq_pd(qp);

	if (!pd)
		return -EINVAL;
	return pib_sges_write(qp, pd, qp->rq.cur.sge, qp->rq.cur.num_sge, off, b, src_off, len);
}

/*
 * Refuse a message that does not fit. UC drops the message, and the work request waits for the next
 * one (9.9.3, class D), unless the HCA completes it in error, as many do. A work request from an
 * SRQ would wait for this QP alone (class E). RC tells the requester.
 */
static enum pib_res recv_too_long(struct pib_qp *qp, struct pib_burst *b)
{
	if (qp->tp == PIB_TP_UC && !qp->rq.srq &&
	    !pib_behaves(&qp->hca->behaviors, PIB_BEHAVIOR_LONG_MESSAGE_ERROR)) {
		pib_qp_drop(qp, PIB_STAT_RX_BAD_LENGTH, b, 1);
		return PIB_RES_DROP;
	}
	pib_rq_complete(qp, PIB_WC_LOC_LEN_ERR, 0, NULL);
	return PIB_RES_LEN;
}

enum pib_res pib_rq_scatter(struct pib_qp *qp, struct pib_burst *b, u32 src_off, u32 len, u32 off)
{
	struct pib_rq_cur *cur = &qp->rq.cur;
	int err;

	lockdep_assert_held(&qp->lock);

	if (len > cur->len || off > cur->len - len)
		return recv_too_long(qp, b);
	err = len ? scatter_bytes(qp, b, src_off, len, off) : 0;
	if (err == -EAGAIN)
		return PIB_RES_WAIT;
	if (err) {
		pib_rq_complete(qp, PIB_WC_LOC_PROT_ERR, 0, NULL);
		return PIB_RES_OP;
	}
	return PIB_RES_OK;
}

static void describe_recv(const struct pib_qp *qp, struct pib_cqe *cqe, const struct pib_hdrs *h)
{
	cqe->opcode = h->op == PIB_OP_WRITE ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV;
	if (h->flags & PIB_H_IMM)
		cqe->flags |= PIB_CQE_WITH_IMM;
	if (h->flags & PIB_H_INV)
		cqe->flags |= PIB_CQE_WITH_INV;
	if (h->flags & PIB_H_SE)
		cqe->flags |= PIB_CQE_SOLICITED;
	if (h->flags & PIB_H_GRH)
		cqe->flags |= PIB_CQE_GRH;
	cqe->ex = h->ex;
	cqe->src_qp = pib_qp_is_datagram(qp) ? h->sqpn : qp->attr.dest_qp_num;
	cqe->slid = h->slid;
	cqe->sl = h->sl;
	cqe->port_num = qp->path.port->p.num;
	cqe->dlid_path_bits = h->dlid & (BIT(READ_ONCE(qp->path.port->p.lmc)) - 1);
	if (qp->type == IB_QPT_GSI)
		cqe->pkey_index = max(pib_port_pkey_match(&qp->path.port->p, h->pkey), 0);
}

static struct pib_cq *recv_cq(const struct pib_qp *qp)
{
	struct pib_srq *srq;

	if (qp->type != IB_QPT_XRC_TGT)
		return qp->rq.cq;
	srq = xrc_srq(qp, qp->rq.srqn);
	return srq ? to_cq(srq->ib.ext.cq) : NULL;
}

/*
 * Have an XRC target QP fail when a completion of its own is lost. A CQ that has overflowed stops
 * its QPs (error.c), but a target QP is not among them, for the CQ is its SRQ's.
 */
static void check_xrc_cq(struct pib_qp *qp, const struct pib_cq *cq)
{
	if (likely(qp->type != IB_QPT_XRC_TGT) || !READ_ONCE(cq->overflow) ||
	    qp->state == IB_QPS_ERR)
		return;
	pib_qp_to_err(qp, PIB_CAUSE_CQ_FULL);
	qp->events |= BIT(IB_EVENT_QP_FATAL);
}

/* Complete qp->rq.cur. @flags: of enum pib_cqe_flags, besides those that @h says. */
static void complete_recv(struct pib_qp *qp, u32 status, u32 byte_len, const struct pib_hdrs *h,
			  u32 flags)
{
	struct pib_cq *cq = recv_cq(qp);
	struct pib_cqe cqe = {
		.wr_id = qp->rq.cur.wr_id,
		.status = status,
		.opcode = IB_WC_RECV,
		.byte_len = byte_len,
		.flags = flags,
		.qp_num = qp->qpn,
		.user_qp = (unsigned long)&qp->ib,
	};

	lockdep_assert_held(&qp->lock);

	if (h) {
		describe_recv(qp, &cqe, h);
	} else {
		pib_qp_stats_recv_error(qp, status);
		if (qp->type > IB_QPT_GSI)
			pib_behavior_scramble(&qp->hca->behaviors, &cqe);
	}
	qp->rq.cur.valid = false;
	if (!cq)
		return;
	pib_qp_complete(qp, 0, cq, &cqe, status || cqe.flags & PIB_CQE_SOLICITED);
	check_xrc_cq(qp, cq);
}

void pib_rq_complete(struct pib_qp *qp, u32 status, u32 byte_len, const struct pib_hdrs *h)
{
	complete_recv(qp, status, byte_len, h, 0);
}

void pib_rq_complete_ip(struct pib_qp *qp, u32 byte_len, const struct pib_hdrs *h)
{
	complete_recv(qp, PIB_WC_SUCCESS, byte_len, h, PIB_CQE_IP_CSUM_OK);
}

void pib_rq_flush_current(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	if (qp->rq.cur.valid)
		pib_rq_complete(qp, PIB_WC_WR_FLUSH_ERR, 0, NULL);
}

/* At most FLUSH_MAX are flushed at a time: a process may post as fast as that. */
bool pib_rq_flush(struct pib_qp *qp)
{
	u32 n;

	lockdep_assert_held(&qp->lock);

	if (!qp->rq.ring.hdr)
		return false;

	/* Posters have to ring from now on: no message comes that would have the ring looked at. */
	WRITE_ONCE(qp->rq.empty_since, 0);
	post_rings(qp, true);
	/*
	 * Pairs with the full barriers of posters (the provider, pib_post_recv()), which then look
	 * at @arm.
	 */
	smp_mb();
	for (n = 0; n < FLUSH_MAX; n++) {
		/* Nothing is placed any more, so a malformed one does not matter. */
		if (copy_own(qp) == -EAGAIN)
			return false;
		if (trace_pib_recv_posted_enabled())
			trace_taken(qp, 0);
		pib_rq_complete(qp, PIB_WC_WR_FLUSH_ERR, 0, NULL);
	}
	return true;
}

void pib_rq_reset(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	qp->rq.cur.valid = false;
	WRITE_ONCE(qp->rq.named, 0);
	if (!qp->rq.ring.hdr)
		return;

	WRITE_ONCE(qp->rq.empty_since, 0);
	post_rings(qp, false);
	pib_ring_consume(&qp->rq.ring, pib_ring_pending(&qp->rq.ring));
}
