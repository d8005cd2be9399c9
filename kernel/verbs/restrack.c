// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Details of objects. Members that do not go with the object that ib_core knows, and those that
 * belong together, are read under a lock; the rest are single words, each true at some moment.
 */
#include <linux/ktime.h>
#include <rdma/restrack.h>
#include <rdma/rdma_netlink.h>
#include "hca/cq.h"
#include "hca/hca.h"
#include "memory/mr.h"
#include "memory/page_fault.h"
#include "transport/qp.h"
#include "transport/recv_queue.h"
#include "verbs/restrack.h"
#include "hca/srq.h"

/**
 * struct detail - a number to show
 * @name: name as `rdma` shows it
 * @value: the number
 * @hex: in base 16
 */
struct detail {
	const char *name;
	u64 value;
	bool hex;
};

static int put_detail(struct sk_buff *msg, const struct detail *d)
{
	if (d->value > U32_MAX)
		return d->hex ? rdma_nl_put_driver_u64_hex(msg, d->name, d->value) :
				rdma_nl_put_driver_u64(msg, d->name, d->value);
	return d->hex ? rdma_nl_put_driver_u32_hex(msg, d->name, d->value) :
			rdma_nl_put_driver_u32(msg, d->name, d->value);
}

static int put_details(struct sk_buff *msg, const struct detail *d, int n)
{
	struct nlattr *nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < n; i++)
		if (put_detail(msg, &d[i]))
			goto err_cancel;
	nla_nest_end(msg, nest);
	return 0;

err_cancel:
	nla_nest_cancel(msg, nest);
	return -EMSGSIZE;
}

u64 pib_usec_left(u64 deadline)
{
	u64 now = ktime_get_ns();

	if (!deadline)
		return 0;
	return deadline > now ? max(div_u64(deadline - now, NSEC_PER_USEC), 1ULL) : 1;
}

/**
 * struct shown_queues - values of a QP that are of one moment, or go before its &struct ib_qp does
 * @sq_posted: send work requests that are read and not completed yet
 * @una_psn: requester's oldest PSN without an acknowledgement
 * @next_psn: requester's next PSN
 * @expected_psn: responder's
 * @msn: responder's
 * @cwnd: packets that may be on their way
 * @retries_left: of the requester
 * @rnr_left: of the requester
 * @timeouts: of the requester
 * @retransmits: of the requester
 * @page_wait: bits of enum pib_page_wait
 * @sq_unread: send work requests that are posted and not read yet
 * @rq_posted: receives in its own queue
 * @srq_posted: receives in @srqn
 * @srqn: SRQ that it takes receives from, of XRC the one that was named last; 0: none
 * @has_rq: the QP has a receive queue of its own
 */
struct shown_queues {
	u32 sq_posted;
	u32 una_psn;
	u32 next_psn;
	u32 expected_psn;
	u32 msn;
	u32 cwnd;
	u32 retries_left;
	u32 rnr_left;
	u64 timeouts;
	u64 retransmits;
	u32 page_wait;
	u32 sq_unread;
	u32 rq_posted;
	u32 srq_posted;
	u32 srqn;
	bool has_rq;
};

u32 pib_qp_page_wait(const struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	return (pib_pagein_busy(qp->rx.pages) ? PIB_PAGE_WAIT_RECEIVE : 0) |
	       (pib_pagein_busy(qp->sq.deferred.pages) ? PIB_PAGE_WAIT_REQUEST : 0) |
	       (pib_pagein_busy(qp->answers.deferred.pages) ? PIB_PAGE_WAIT_ANSWER : 0);
}

static void show_shared(struct pib_qp *qp, struct shown_queues *q)
{
	struct pib_srq *srq;
	unsigned long flags;

	rcu_read_lock();
	srq = qp->type == IB_QPT_XRC_TGT ? pib_rq_named_srq(qp) : qp->rq.srq;
	if (srq) {
		q->srqn = srq->srqn;
		spin_lock_irqsave(&srq->lock, flags);
		q->srq_posted = pib_ring_pending(&srq->ring);
		spin_unlock_irqrestore(&srq->lock, flags);
	}
	rcu_read_unlock();
}

static void show_protocol(const struct pib_qp *qp, struct shown_queues *q)
{
	const struct pib_req *req = &qp->req;

	lockdep_assert_held(&qp->lock);
	q->sq_posted = req->head - req->tail;
	q->una_psn = req->una_psn;
	q->next_psn = req->next_psn;
	q->expected_psn = qp->resp.epsn;
	q->msn = qp->resp.msn;
	q->cwnd = req->cwnd;
	q->retries_left = req->retries_left;
	q->rnr_left = req->rnr_left;
	q->timeouts = req->stats.timeouts;
	q->retransmits = req->stats.retransmits;
}

/*
 * Read the values. A QP that is being destroyed shows nothing: its inbox is closed under the lock
 * before anything of it is freed. Not all versions of ib_core have forgotten it by then.
 */
static struct shown_queues show_queues(struct pib_qp *qp)
{
	struct shown_queues q = {};

	spin_lock_bh(&qp->lock);
	show_protocol(qp, &q);
	if (!qp->inbox.closed) {
		q.page_wait = pib_qp_page_wait(qp);
		q.sq_unread = qp->sq.ring.hdr ? pib_ring_pending(&qp->sq.ring) : 0;
		q.has_rq = qp->rq.ring.hdr;
		q.rq_posted = q.has_rq ? pib_ring_pending(&qp->rq.ring) : 0;
		show_shared(qp, &q);
	}
	spin_unlock_bh(&qp->lock);
	return q;
}

/* Before INIT a QP may have no port. */
static u8 shown_port(const struct pib_qp *qp)
{
	const struct pib_kport *port = READ_ONCE(qp->path.port);

	return port ? port->p.num : 0;
}

static u16 shown_pkey(const struct pib_qp *qp)
{
	const struct pib_kport *port = READ_ONCE(qp->path.port);

	return port ? pib_port_pkey(&port->p, READ_ONCE(qp->attr.pkey_index)) : 0;
}

int pib_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct pib_qp *qp = to_qp(ibqp);
	const struct shown_queues queues = show_queues(qp);
	const struct detail details[] = {
		{ "sq_posted", queues.sq_posted },
		{ "una_psn", queues.una_psn, true },
		{ "next_psn", queues.next_psn, true },
		{ "expected_psn", queues.expected_psn, true },
		{ "msn", queues.msn },
		{ "cwnd", queues.cwnd },
		{ "retries_left", queues.retries_left },
		{ "rnr_left", queues.rnr_left },
		{ "timeouts", queues.timeouts },
		{ "retransmits", queues.retransmits },
		{ "inbox", READ_ONCE(qp->inbox.len) },
		{ "sched", READ_ONCE(qp->task.state), true },
		{ "port", shown_port(qp) },
		{ "pkey", shown_pkey(qp), true },
		{ "sq_unread", queues.sq_unread },
		{ "rq_posted", queues.rq_posted },
		{ "has_rq", queues.has_rq },
		{ "srq_posted", queues.srq_posted },
		{ "has_srq", !!queues.srqn },
		{ "srqn", queues.srqn },
		{ "ack_us", pib_usec_left(READ_ONCE(qp->req.ack_deadline)) },
		{ "rnr_us", pib_usec_left(READ_ONCE(qp->req.rnr_deadline)) },
		{ "page_wait", queues.page_wait },
		{ "pushed_back", !!READ_ONCE(qp->tx.stall.burst) },
		{ "ccti", READ_ONCE(qp->tx.cc.index) },
		{ "remote_qpn", READ_ONCE(qp->attr.dest_qp_num) },
		{ "error", READ_ONCE(qp->req.error) },
		{ "cause", READ_ONCE(qp->cause) },
		{ "bad_pkeys", (u32)atomic_read(&qp->refused.pkeys) },
		{ "bad_pkey", READ_ONCE(qp->refused.pkey), true },
		{ "bad_qkeys", (u32)atomic_read(&qp->refused.qkeys) },
		{ "injections", pib_injects_of_qp(&qp->hca->injects, qp->qpn) },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

int pib_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct pib_cq *cq = to_cq(ibcq);
	u32 producer, consumer, entries;
	bool overflow;

	/* A resize exchanges the ring, and destruction takes it away. */
	spin_lock_irq(&cq->lock);
	producer = cq->ring.index;
	consumer = cq->ring.hdr ? READ_ONCE(cq->ring.hdr->consumer) : producer;
	entries = cq->ring.entries;
	overflow = cq->overflow;
	spin_unlock_irq(&cq->lock);

	return put_details(msg, (const struct detail []) {
		{ "entries", entries },
		{ "producer", producer },
		{ "consumer", consumer },
		{ "overflow", overflow },
		{ "vector_cpu", cq->cpu },
	}, 5);
}

int pib_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct pib_mr *mr = to_mr(ibmr);
	/* The region may be registered again meanwhile: then this may be of both registrations. */
	const struct pib_mr_map map = data_race(mr->map);
	/* Of either registration, as the map. */
	const int access = data_race(mr->access);
	const struct detail details[] = {
		{ "kind", mr->type },
		{ "valid", READ_ONCE(mr->valid) },
		{ "access", access, true },
		{ "pages", map.npages },
		{ "page_shift", map.pages ? map.shift : 0 },
		{ "references", refcount_read(&mr->ref) },
		{ "windows", atomic_read(&mr->windows) },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

int pib_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct pib_srq *srq = to_srq(ibsrq);
	u32 entries, pending, limit;

	spin_lock_irq(&srq->lock);
	entries = srq->ring.entries;
	pending = srq->ring.hdr ? pib_ring_pending(&srq->ring) : 0;
	limit = srq->limit;
	spin_unlock_irq(&srq->lock);

	return put_details(msg, (const struct detail []) {
		{ "entries", entries },
		{ "posted", pending },
		{ "limit", limit },
		{ "max_sge", srq->max_sge },
	}, 4);
}
