/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A QP's inbox, and the list to which the QP's turn moves its bursts. A burst that came over UDP is
 * charged to nobody once it has left the socket, so it is charged to the QP for as long as it
 * waits. transport/input.c fills the inbox.
 */
#ifndef PIB_TRANSPORT_INBOX_H
#define PIB_TRANSPORT_INBOX_H

#include "hca/hca.h"
#include "transport/qp.h"

/**
 * pib_inbox_take() - take the bursts of the inbox
 * @qp: queue pair
 * @to: list at whose end they are put: qp->rx.list, or a list that ends there
 *
 * Context: qp->lock held, softirqs off.
 */
static inline void pib_inbox_take(struct pib_qp *qp, struct list_head *to)
{
	lockdep_assert_held(&qp->lock);

	spin_lock(&qp->inbox.lock);
	list_splice_tail_init(&qp->inbox.list, to);
	qp->inbox.len = 0;
	WRITE_ONCE(qp->rx.bytes, qp->rx.bytes + qp->inbox.bytes);
	qp->inbox.bytes = 0;
	spin_unlock(&qp->inbox.lock);
}

/**
 * pib_inbox_free() - free a burst that was taken from the inbox
 * @qp: queue pair
 * @b: the burst
 *
 * Context: qp->lock held, softirqs off.
 */
static inline void pib_inbox_free(struct pib_qp *qp, struct pib_burst *b)
{
	if (b->charge) {
		WRITE_ONCE(qp->rx.bytes, qp->rx.bytes - b->charge);
		if (unlikely(b->shared))
			atomic_sub(b->charge, &qp->hca->inbox_bytes);
	}
	pib_burst_free(b);
}

#endif
