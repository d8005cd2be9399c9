// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Nobody waits for another's page. The owner of a page decides how long the page takes: it may be
 * of a file whose server does not answer. Bursts refer to memory of their senders, who want it
 * back: deregistration, destruction, the RESET state, and the completions and the flush of
 * consumers in the kernel wait for bursts, and no signal ends that wait. So no burst stays in a QP
 * for longer than the kernel itself decides.
 *
 * Reliable services: the QP keeps its bursts for a moment, in which most pages come. After that it
 * answers each request by an RNR NAK, and frees it. The requester still has the request, and sends
 * it again. A response that has no place counts as lost, and the requester asks for it again.
 * Answers, too, are deferred by an RNR NAK if their page takes long (responder.c).
 *
 * Unreliable services: nobody sends again. The QP keeps copies of bursts, up to a limit, and loses
 * the rest.
 *
 * So each wait for bursts ends. A burst may stand in a QP's inbox or list: pages can keep that from
 * being emptied for HOLD_BURST_NSEC a burst, and IPoIB without a receive for 10 ms (recv_queue.c).
 * A full inbox may have refused the burst: that inbox is emptied. Or the burst is in a pipe, which
 * takes the time that it was configured to take, or gives the burst up (pib_mem_ask_back()).
 */
#include <linux/ktime.h>
#include "compat/compat.h"
#include "core/elapsed.h"
#include "packet/burst.h"
#include "hca/hw_counters.h"
#include "hca/hca.h"
#include "memory/mr.h"
#include "transport/hold.h"
#include "transport/inbox.h"
#include "transport/qp_trace.h"

/* Time for which nobody is told that a page is missing. */
#define HOLD_NSEC	(2 * PIB_NSEC_PER_MSEC)
/*
 * Longest time that a burst waits for pages, however many they are, and even if they come: its
 * receiver can have them go again before they are used.
 */
#define HOLD_BURST_NSEC	(5 * HOLD_NSEC)

/* Most that a QP keeps. A user has a share of what all QPs of an HCA keep (PIB_OBJ_HELD). */
#define HOLD_BURSTS	PIB_QP_INBOX_MAX
#define HOLD_BYTES	(1 << 20)

/* Trace a wait that has ended since the last look. */
static void trace_ready(struct pib_qp *qp, struct pib_pagein *p)
{
	struct pib_trace_qp who;

	if (pib_pagein_busy(p) || !p->took)
		return;
	who = pib_qp_traced(qp);
	trace_pib_page_ready(&who, p->key, p->va, p->len, p->took, -p->err);
	p->took = 0;
}

void pib_hold_trace_ready(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	trace_ready(qp, qp->rx.pages);
	trace_ready(qp, qp->sq.deferred.pages);
	trace_ready(qp, qp->answers.deferred.pages);
}

int pib_hold_pagein(struct pib_qp *qp, struct pib_pagein *pages, const struct pib_span *span,
		    u32 off, u32 len, bool write)
{
	bool waits = pib_pagein_busy(pages);
	struct pib_trace_qp who;
	int err;

	lockdep_assert_held(&qp->lock);
	if (trace_pib_page_ready_enabled())
		trace_ready(qp, pages);
	err = pib_pagein_start(pages, span, off, len, write);
	if (err == -EAGAIN && pages == qp->rx.pages && !qp->rx.hold.since)
		qp->rx.hold.since = pages->since;
	if (err == -EAGAIN && !waits && trace_pib_page_wait_enabled()) {
		who = pib_qp_traced(qp);
		trace_pib_page_wait(&who, span->mr->k.key, pib_mr_va(span->mr, span->addr + off),
				    len, write);
	}
	return err;
}

bool pib_hold_is_long(const struct pib_pagein *p, u64 now)
{
	return pib_elapsed(now, p->since, HOLD_NSEC);
}

static bool hold_keep(struct pib_qp *qp, struct pib_burst *b)
{
	struct pib_hold *h = &qp->rx.hold;
	u32 bytes = b->len + sizeof(*b);

	if (h->bursts >= HOLD_BURSTS || h->bytes + bytes > HOLD_BYTES)
		return false;
	if (pib_quota_charge(&qp->hca->quota, qp->init.owner, PIB_OBJ_HELD, bytes))
		return false;
	if (!pib_burst_detach(b)) {
		pib_quota_uncharge(&qp->hca->quota, qp->init.owner, PIB_OBJ_HELD, bytes);
		return false;
	}
	h->bursts++;
	h->bytes += bytes;
	return true;
}

static void keep_all(struct pib_qp *qp, struct list_head *list)
{
	struct pib_burst *b, *next;
	u32 first;

	list_for_each_entry_safe(b, next, list, entry) {
		if (hold_keep(qp, b))
			continue;
		/* of the one in hand, what was not delivered */
		first = 0;
		if (b == list_first_entry_or_null(&qp->rx.list, struct pib_burst, entry))
			swap(first, qp->rx.datagrams);
		list_del(&b->entry);
		pib_qp_drop_part(qp, PIB_STAT_RX_NO_PAGE, b, 1, first, b->npkts - first);
		pib_inbox_free(qp, b);
	}
}

/*
 * Copy the bursts that the QP had when the wait began and, at each call, those that have come
 * since.
 */
static void keep_copies(struct pib_qp *qp)
{
	LIST_HEAD(news);

	if (!qp->rx.hold.on)
		keep_all(qp, &qp->rx.list);
	pib_inbox_take(qp, &news);
	keep_all(qp, &news);
	list_splice_tail(&news, &qp->rx.list);
}

/*
 * The burst that holds the memory may stand behind such a request in another QP's inbox: both would
 * wait without end.
 */
bool pib_hold_drains_long(struct pib_qp *qp)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->lock);

	if (!qp->rx.hold.drains_since)
		qp->rx.hold.drains_since = now;
	return pib_elapsed(now, qp->rx.hold.drains_since, HOLD_NSEC);
}

void pib_hold_end(struct pib_qp *qp)
{
	lockdep_assert_held(&qp->lock);

	if (qp->rx.hold.bytes)
		pib_quota_uncharge(&qp->hca->quota, qp->init.owner, PIB_OBJ_HELD,
				   qp->rx.hold.bytes);
	qp->rx.hold = (struct pib_hold) {};
}

/*
 * Return: true if the first burst of a reliable service has waited for too long. The burst of
 * another service is a copy, if it can wait.
 */
static bool burst_is_long(const struct pib_qp *qp, u64 now)
{
	u64 since = qp->rx.hold.since;

	return since && pib_qp_is_reliable(qp) && pib_elapsed(now, since, HOLD_BURST_NSEC);
}

/* End the wait for a page. The first burst keeps the time that it has waited so far. */
static void end_wait(struct pib_qp *qp)
{
	u64 since = qp->rx.hold.since;

	if (!qp->rx.hold.on)
		return;
	pib_hold_end(qp);
	qp->rx.hold.since = since;
}

bool pib_hold_ready(struct pib_qp *qp, u64 now)
{
	struct pib_hold *h = &qp->rx.hold;
	bool busy = pib_pagein_busy(qp->rx.pages), is_long = burst_is_long(qp, now);

	lockdep_assert_held(&qp->lock);

	/* a page that has come is tried before its burst is refused */
	if (likely(!busy && !(is_long && h->refuses))) {
		end_wait(qp);
		return true;
	}
	if (!pib_qp_is_reliable(qp))
		keep_copies(qp);
	else
		h->refuses = is_long || pib_hold_is_long(qp->rx.pages, now);
	h->on = true;
	return h->refuses;
}

u64 pib_hold_deadline(const struct pib_qp *qp, u64 now)
{
	const struct pib_pagein *p = qp->rx.pages;
	u64 since = qp->rx.hold.since, at;

	lockdep_assert_held(&qp->lock);
	if (!pib_qp_is_reliable(qp))
		return 0;
	if (!qp->rx.hold.on || qp->rx.hold.refuses)
		p = qp->answers.deferred.set ? qp->answers.deferred.pages : NULL;
	if (!p || !pib_pagein_busy(p) || pib_hold_is_long(p, now))
		return 0;
	at = p->since + HOLD_NSEC;
	if (p == qp->rx.pages && since)
		at = min(at, since + HOLD_BURST_NSEC);
	return at;
}
