/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which QP runs when, and where (transport/task.c). */
#ifndef PIB_ENGINE_H
#define PIB_ENGINE_H

#include <linux/types.h>

struct pib_qp;

/**
 * struct pib_budget - what one call of the engine may still do
 * @runs: QPs to run
 * @bytes: payload to copy or send
 * @now: ns; the clock is read once for all of them
 * @lingers: rings may be looked at again and again for more
 */
struct pib_budget {
	s32 runs;
	s32 bytes;
	u64 now;
	bool lingers;
};

/* Put on this CPU's run list, or its own's; the caller will call pib_engine_run() itself. Softirqs off. */
void pib_qp_activate(struct pib_qp *qp);
/* The same for who has much to copy before it has done. */
void pib_qp_activate_bulk(struct pib_qp *qp);
/* A request has left this CPU over UDP: others will follow. Softirqs off. */
void pib_engine_asks(void);
/*
 * The same for who has something for it to send: if another CPU runs it at this moment, wait until it has
 * done with it, but for a few microseconds at most. Softirqs off.
 */
void pib_qp_activate_here(struct pib_qp *qp);
/*
 * Have it run by a CPU that has the time to look for what is posted next; one that has a home stays
 * there. The caller will call pib_engine_run(). Softirqs off.
 */
void pib_qp_hand_off(struct pib_qp *qp);

#endif
