// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/sched.h>
#include "hca/cq.h"
#include "hca/hca.h"
#include "hca/srq.h"
#include "memory/pd.h"
#include "transport/qp.h"
#include "verbs/outstanding.h"

/* Work requests that are read under a lock at once, since posters wait for the lock. */
#define SCAN_AT_ONCE	64

u32 pib_outstanding_cqes(struct pib_cq *cq)
{
	u32 n;

	spin_lock_irq(&cq->lock);
	n = cq->ring.index - READ_ONCE(cq->ring.hdr->consumer);
	n = n <= cq->ring.entries ? n : 0;
	spin_unlock_irq(&cq->lock);
	return n;
}

/*
 * Return: the number of sends that are not finished. Those in the ring and those that were fetched
 * keep their slots until then.
 */
static u32 sends_of_qp(const struct pib_qp *qp)
{
	u32 n;

	lockdep_assert_held(&qp->lock);

	if (!qp->sq.ring.hdr)
		return 0;
	n = qp->sq.ring.index - qp->sq.done + pib_ring_pending(&qp->sq.ring);
	return min(n, qp->sq.ring.entries);
}

static u32 recvs_of_qp(const struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	return qp->rq.ring.hdr ? pib_ring_pending(&qp->rq.ring) : 0;
}

void pib_outstanding_of_qp(struct pib_qp *qp, struct pib_outstanding *out)
{
	spin_lock_bh(&qp->lock);
	out->sends = sends_of_qp(qp);
	out->recvs = recvs_of_qp(qp);
	spin_unlock_bh(&qp->lock);
	out->send_cqes = qp->sq.cq ? pib_outstanding_cqes(qp->sq.cq) : 0;
	out->recv_cqes = qp->rq.cq ? pib_outstanding_cqes(qp->rq.cq) : 0;
}

static bool sges_have_key(const struct pib_sge *sge, u32 num, u32 key)
{
	u32 i;

	for (i = 0; i < num; i++) {
		if (READ_ONCE(sge[i].lkey) == key)
			return true;
	}
	return false;
}

/*
 * Return: how many receives in a ring name the key. They are read from number @from on; at most
 * SCAN_AT_ONCE.
 */
static u32 recvs_with_key(const struct pib_ring *ring, u32 max_sge, u32 key, u32 from)
{
	u32 pending = ring->hdr ? pib_ring_pending(ring) : 0, found = 0, i;

	for (i = from; i < pending && i - from < SCAN_AT_ONCE; i++) {
		const struct pib_recv_wqe *wqe = pib_ring_slot(ring, ring->index + i);

		found += sges_have_key(wqe->sge, min(READ_ONCE(wqe->num_sge), max_sge), key);
	}
	return found;
}

/* Return: how many sends name the key, likewise. Inline data was copied when it was posted. */
static u32 sends_with_key(const struct pib_qp *qp, u32 key, u32 from)
{
	u32 n = sends_of_qp(qp), found = 0, i;

	for (i = from; i < n && i - from < SCAN_AT_ONCE; i++) {
		const struct pib_send_wqe *wqe = pib_ring_slot(&qp->sq.ring, qp->sq.done + i);

		if (READ_ONCE(wqe->send_flags) & IB_SEND_INLINE)
			continue;
		found += sges_have_key(wqe->sge, min(READ_ONCE(wqe->num_sge), qp->sq.max_sge),
				       key);
	}
	return found;
}

static u32 requests_of_qp(struct pib_qp *qp, u32 key)
{
	u32 most = max(qp->sq.ring.entries, qp->rq.ring.entries), found = 0, from;

	for (from = 0; from < most; from += SCAN_AT_ONCE) {
		spin_lock_bh(&qp->lock);
		found += sends_with_key(qp, key, from) +
			 recvs_with_key(&qp->rq.ring, qp->rq.max_sge, key, from);
		spin_unlock_bh(&qp->lock);
		cond_resched();
	}
	return found;
}

/* The ring may be exchanged for one of another size between two parts. */
static u32 requests_of_srq(struct pib_srq *srq, u32 key)
{
	u32 most = 1, found = 0, from;

	for (from = 0; from < most; from += SCAN_AT_ONCE) {
		spin_lock_irq(&srq->lock);
		most = srq->ring.entries;
		found += recvs_with_key(&srq->ring, srq->max_sge, key, from);
		spin_unlock_irq(&srq->lock);
		cond_resched();
	}
	return found;
}

/*
 * Only queues that may name the key at all are read: others have their own keys, maybe of the same
 * number.
 */
u32 pib_outstanding_of_key(struct pib_hca *hca, const struct pib_pd *pd, u32 key)
{
	const struct pib_srq *last = NULL;
	struct pib_srq *srq;
	unsigned long index;
	struct pib_qp *qp;
	u32 found = 0;

	pib_for_each_qp(hca, qp, index, 0, PIB_QPN_MASK) {
		if (qp->is_user && qp->pd == pd)
			found += requests_of_qp(qp, key);
		srq = qp->rq.srq;
		if (qp->is_user && srq && srq != last && to_pd(srq->ib.pd) == pd) {
			found += requests_of_srq(srq, key);
			last = srq;
		}
	}
	return found;
}
