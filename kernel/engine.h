/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which QP runs when, and where (engine.c). */
#ifndef PIB_ENGINE_H
#define PIB_ENGINE_H

#include <linux/types.h>

struct pib_qp;

/**
 * struct pib_budget - what one call of the engine may still do
 * @runs: QPs to run
 * @bytes: payload to copy or send
 */
struct pib_budget {
	s32 runs;
	s32 bytes;
};

/* Put on this CPU's run list, or its own's; the caller will call pib_engine_run() itself. Softirqs off. */
void pib_qp_activate(struct pib_qp *qp);

#endif
