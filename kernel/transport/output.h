/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* From what the transport wants sent to bursts that leave by a port (transport/output.c). */
#ifndef PIB_TRANSPORT_OUTPUT_H
#define PIB_TRANSPORT_OUTPUT_H

#include "packet/burst.h"
#include "transport/qp.h"

/**
 * struct pib_turn - what a QP may still send in this turn
 * @bursts: bursts
 * @bytes: payload
 * @now: the time, ns
 */
struct pib_turn {
	s32 bursts;
	s32 bytes;
	u64 now;
};

static inline bool pib_turn_over(const struct pib_turn *t)
{
	return t->bursts <= 0 || t->bytes <= 0;
}

/* All under qp->lock, softirqs off, under rcu_read_lock(). */

/* A burst with the headers and sizes of @tx, without payload; NULL if out of memory (counted). */
struct pib_burst *pib_tx_burst(struct pib_qp *qp, const struct pib_tx *tx);
/* Send by the QP's path, or by @av. False: the receiver is full, the QP is stalled. */
bool pib_tx_send(struct pib_qp *qp, const struct pib_av_data *av, struct pib_burst *b,
		 struct pib_turn *turn);
/* The QP's path has changed: the stalled burst, too, goes by the new one. */
void pib_tx_redirect(struct pib_qp *qp);
/* Try the stalled burst again. False: still stalled. */
bool pib_tx_stalled(struct pib_qp *qp);

#endif
