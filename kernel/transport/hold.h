/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bursts that come while a QP waits for a page (hold.c). All under qp->lock. */
#ifndef PIB_TRANSPORT_HOLD_H
#define PIB_TRANSPORT_HOLD_H

#include <linux/types.h>

struct pib_pagein;
struct pib_qp;

/**
 * struct pib_hold - a QP's way to wait for a page
 * @on: the QP waits, and has dealt with the bursts that it had
 * @refuses: the QP has waited for too long: requests are deferred by RNR NAKs, and not kept
 * @since: time, ns, since which the first burst of rx.list has waited for pages, for one after the
 *	other or for the same again; 0: it has not
 * @unplaced: a response was dropped for want of a place; the requester asks for it again when the
 *	page has come
 * @drains_since: time, ns, since which the present request has waited for others to release the
 *	memory that it invalidates; 0: it does not wait
 * @bursts: number of bursts that are kept (unreliable services)
 * @bytes: bytes of memory that they take, charged to the owner of the QP (PIB_OBJ_HELD)
 */
struct pib_hold {
	bool on;
	bool refuses;
	bool unplaced;
	u64 since;
	u32 bursts;
	u32 bytes;
	u64 drains_since;
};

/**
 * pib_hold_pagein() - start to bring in pages that the QP waits for, and trace that
 * @qp: queue pair
 * @pages: one of the QP's: @rx.pages, @sq.deferred.pages, @answers.deferred.pages
 * @span: memory of the pages
 * @off: offset in @span
 * @len: bytes
 * @write: the memory will be written
 *
 * Context: qp->lock held.
 * Return: as pib_pagein_start().
 */
int pib_hold_pagein(struct pib_qp *qp, struct pib_pagein *pages, const struct pib_span *span,
		    u32 off, u32 len, bool write);
/**
 * pib_hold_trace_ready() - trace those of a QP's waits for pages that have ended
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
void pib_hold_trace_ready(struct pib_qp *qp);
/**
 * pib_hold_ready() - decide whether the QP takes in bursts now
 * @qp: queue pair
 * @now: time of the turn, ns
 *
 * Context: qp->lock held, softirqs off.
 * Return: false: they stay for now, or the QP has kept as many as it may.
 */
bool pib_hold_ready(struct pib_qp *qp, u64 now);
/**
 * pib_hold_is_long() - tell whether a QP has waited for pages for so long that nobody else is kept
 * waiting
 * @p: the pages, which are not there yet
 * @now: time of the turn, ns
 *
 * Context: the lock of the QP held.
 * Return: true: it has.
 */
bool pib_hold_is_long(const struct pib_pagein *p, u64 now);
/**
 * pib_hold_drains_long() - note that a request waits for others to release memory
 * @qp: queue pair
 *
 * Context: qp->lock held.
 * Return: true: it has waited for so long that nobody else is kept waiting.
 */
bool pib_hold_drains_long(struct pib_qp *qp);
/**
 * pib_hold_deadline() - tell when a QP has to run because a wait will be long then
 * @qp: queue pair
 * @now: time of the turn, ns
 *
 * Context: qp->lock held.
 * Return: time, ns; 0: no wait will be long.
 */
u64 pib_hold_deadline(const struct pib_qp *qp, u64 now);
/**
 * pib_hold_end() - end the hold: the QP waits no more, or drops the bursts that it has kept
 * @qp: queue pair
 *
 * Context: qp->lock held.
 */
void pib_hold_end(struct pib_qp *qp);

#endif
