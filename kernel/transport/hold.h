/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a QP that waits for a page does with what comes meanwhile (hold.c). All under qp->lock. */
#ifndef PIB_TRANSPORT_HOLD_H
#define PIB_TRANSPORT_HOLD_H

#include <linux/types.h>

struct pib_pagein;
struct pib_qp;

/**
 * struct pib_hold - a QP's way to wait for a page
 * @on: the QP waits, and has looked at what it had
 * @refuses: the QP has waited for too long: requests are put off by RNR NAKs, and not kept
 * @unplaced: a response was let go of for want of a place, and is asked for again when the page has
 *	come
 * @drains_since: ns: since when the present request has waited for others to let go of the memory
 *	that it invalidates; 0: it does not wait
 * @bursts: how many bursts are kept (unreliable services)
 * @bytes: of memory that they take, charged to the owner of the QP (PIB_OBJ_HELD)
 */
struct pib_hold {
	bool on;
	bool refuses;
	bool unplaced;
	u32 bursts;
	u32 bytes;
	u64 drains_since;
};

/* As pib_pagein_start(), for each page that the QP waits for. */
int pib_hold_pagein(struct pib_qp *qp, struct pib_pagein *pages, const struct pib_span *span,
		    u32 off, u32 len, bool write);
/* Tell a trace which of the QP's waits for pages have ended. */
void pib_hold_trace_ready(struct pib_qp *qp);
/*
 * Is what has come to be looked at? Return: false: it stays for now, or the QP has kept what it
 * may.
 */
bool pib_hold_ready(struct pib_qp *qp, u64 now);
/*
 * Has the QP waited for these pages, which are not there yet, for so long that nobody else is to
 * wait?
 */
bool pib_hold_is_long(const struct pib_pagein *p, u64 now);
/* A request waits for memory to be let go of: has it for so long that nobody else is to wait? */
bool pib_hold_drains_long(struct pib_qp *qp);
/* When the QP is to be run since something will have waited for long then, ns; 0: nothing will. */
u64 pib_hold_deadline(const struct pib_qp *qp, u64 now);
/* The QP waits no more, or what it has kept is being dropped. */
void pib_hold_end(struct pib_qp *qp);

#endif
