// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "transport/inbox.h"

/* So many bursts wait only where something is slow: from there on each is to keep no more than it needs. */
#define LONG_INBOX	64

static bool is_full(struct pib_qp *qp, struct pib_burst *b)
{
	u32 bytes = qp->inbox_bytes + READ_ONCE(qp->rxq_bytes) + b->charge;

	lockdep_assert_held(&qp->inbox_lock);

	if (qp->inbox_len >= (b->via_udp ? PIB_QP_INBOX_UDP : PIB_QP_INBOX_MAX))
		return true;
	if (likely(!b->charge || bytes <= PIB_QP_INBOX_FREE))
		return false;
	if (bytes > PIB_QP_INBOX_BYTES)
		return true;
	b->shared = atomic_add_return(b->charge, &qp->hca->inbox_bytes) <= PIB_HCA_INBOX_BYTES;
	if (!b->shared)
		atomic_sub(b->charge, &qp->hca->inbox_bytes);
	return !b->shared;
}

/* The payload is charged: once LONG_INBOX bursts wait, an skb is at most twice as large as what is used of it. */
static void inbox_charge(struct pib_qp *qp, struct pib_burst *b)
{
	if (READ_ONCE(qp->inbox_len) >= LONG_INBOX)
		pib_burst_shrink(b);
	b->shared = false;
	b->charge = b->len + sizeof(*b);
}

int pib_inbox_add(struct pib_qp *qp, struct pib_burst *b)
{
	int err = 0;

	if (b->via_udp)
		inbox_charge(qp, b);
	spin_lock(&qp->inbox_lock);
	if (qp->closed) {
		err = -ESHUTDOWN;
	} else if (is_full(qp, b)) {
		err = -EBUSY;
	} else {
		list_add_tail(&b->entry, &qp->inbox);
		qp->inbox_bytes += b->charge;
		WRITE_ONCE(qp->inbox_len, qp->inbox_len + 1);
	}
	spin_unlock(&qp->inbox_lock);
	return err;
}

void pib_inbox_take(struct pib_qp *qp, struct list_head *to)
{
	lockdep_assert_held(&qp->lock);

	spin_lock(&qp->inbox_lock);
	list_splice_tail_init(&qp->inbox, to);
	qp->inbox_len = 0;
	WRITE_ONCE(qp->rxq_bytes, qp->rxq_bytes + qp->inbox_bytes);
	qp->inbox_bytes = 0;
	spin_unlock(&qp->inbox_lock);
}
