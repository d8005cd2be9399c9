// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Details of objects. All but the pages a QP waits for are read without the
 * objects' locks: single words, each true at some moment.
 */
#include <linux/ktime.h>
#include <rdma/restrack.h>
#include <rdma/rdma_netlink.h>
#include "hca/cq.h"
#include "hca/hca.h"
#include "memory/mr.h"
#include "memory/page_fault.h"
#include "transport/qp.h"
#include "verbs/restrack.h"
#include "hca/srq.h"

/**
 * struct detail - a number to show
 * @name: as `rdma` shows it
 * @value: the number
 * @hex: in base 16
 */
struct detail {
	const char *name;
	u64 value;
	bool hex;
};

static int put_one(struct sk_buff *msg, const struct detail *d)
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
		if (put_one(msg, &d[i]))
			goto err_cancel;
	nla_nest_end(msg, nest);
	return 0;

err_cancel:
	nla_nest_cancel(msg, nest);
	return -EMSGSIZE;
}

/* What a QP's turn waits for pages for: a bit each. */
enum page_wait {
	PAGE_WAIT_RECEIVE = 1,	/* what has come */
	PAGE_WAIT_REQUEST = 2,	/* what is to be sent */
	PAGE_WAIT_ANSWER = 4,	/* what answers the peer */
};

/* The lock keeps the three alive, which a reset replaces. */
static u32 page_wait(struct pib_qp *qp)
{
	u32 waits;

	spin_lock_bh(&qp->lock);
	waits = (pib_pagein_busy(qp->rx.pages) ? PAGE_WAIT_RECEIVE : 0) |
		(pib_pagein_busy(qp->req_off.pages) ? PAGE_WAIT_REQUEST : 0) |
		(pib_pagein_busy(qp->resp_off.pages) ? PAGE_WAIT_ANSWER : 0);
	spin_unlock_bh(&qp->lock);
	return waits;
}

/* Microseconds until @deadline (ns, 0: none), at least 1 where there is one. */
static u64 usec_left(u64 deadline)
{
	u64 now = ktime_get_ns();

	if (!deadline)
		return 0;
	return deadline > now ? max(div_u64(deadline - now, NSEC_PER_USEC), 1ULL) : 1;
}

static u32 ring_posted(const struct pib_ring *ring)
{
	return ring->hdr ? pib_ring_pending(ring) : 0;
}

/* Before INIT a QP may have no port. */
static u8 shown_port(const struct pib_qp *qp)
{
	const struct pib_kport *port = READ_ONCE(qp->port);

	return port ? port->p.num : 0;
}

static u16 shown_pkey(const struct pib_qp *qp)
{
	const struct pib_kport *port = READ_ONCE(qp->port);

	return port ? READ_ONCE(port->p.pkey[READ_ONCE(qp->attr.pkey_index) % PIB_PKEYS]) : 0;
}

int pib_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct pib_qp *qp = to_qp(ibqp);
	const struct detail details[] = {
		{ "sq_posted", qp->req.head - qp->req.tail },
		{ "una_psn", qp->req.una_psn, true },
		{ "next_psn", qp->req.next_psn, true },
		{ "expected_psn", qp->resp.epsn, true },
		{ "msn", qp->resp.msn },
		{ "cwnd", qp->req.cwnd },
		{ "retries_left", qp->req.retries_left },
		{ "rnr_left", qp->req.rnr_left },
		{ "timeouts", qp->req.stats.timeouts },
		{ "retransmits", qp->req.stats.retransmits },
		{ "inbox", READ_ONCE(qp->inbox.len) },
		{ "sched", READ_ONCE(qp->task.state), true },
		{ "port", shown_port(qp) },
		{ "pkey", shown_pkey(qp), true },
		{ "sq_unread", ring_posted(&qp->sq.ring) },
		{ "rq_posted", ring_posted(&qp->rq.ring) },
		{ "has_rq", !!qp->rq.ring.hdr },
		{ "ack_us", usec_left(READ_ONCE(qp->req.ack_deadline)) },
		{ "rnr_us", usec_left(READ_ONCE(qp->req.rnr_deadline)) },
		{ "page_wait", page_wait(qp) },
		{ "pushed_back", !!READ_ONCE(qp->stall.burst) },
		{ "ccti", READ_ONCE(qp->cc.index) },
		{ "error", READ_ONCE(qp->req.error) },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

int pib_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct pib_cq *cq = to_cq(ibcq);
	u32 producer, consumer, entries;

	/* A resize exchanges the ring, and destruction takes it away. */
	spin_lock_irq(&cq->lock);
	producer = cq->ring.index;
	consumer = cq->ring.hdr ? READ_ONCE(cq->ring.hdr->consumer) : producer;
	entries = cq->ring.entries;
	spin_unlock_irq(&cq->lock);

	return put_details(msg, (const struct detail []) {
		{ "entries", entries },
		{ "producer", producer },
		{ "consumer", consumer },
		{ "overflow", cq->overflow },
		{ "vector_cpu", cq->cpu },
	}, 5);
}

int pib_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct pib_mr *mr = to_mr(ibmr);
	const struct detail details[] = {
		{ "kind", mr->type },
		{ "valid", mr->valid },
		{ "access", mr->access, true },
		{ "pages", mr->map.npages },
		{ "page_shift", mr->map.pages ? mr->map.shift : 0 },
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
