/* SPDX-License-Identifier: GPL-2.0 */
/* Sends that were posted, until they are known to be finished. */
#ifndef PIB_PRELOAD_SENDS_H
#define PIB_PRELOAD_SENDS_H

#include <stdint.h>
#include "queues.h"

/* The sends that one call has found finished, and looks at after give_lock(). */
struct judge {
	struct send *sends;
};

/* The list is about to be posted to @qp. Return: a number of that, for posts_refused(). */
uint64_t posts(const struct qp *qp, const struct send_wr *list);
/* Of those of that number the ones from @from on were not. */
void posts_refused(uint64_t of_call, int from);
/* Something is about to be posted to @qp, and nobody knows what. */
void posts_unknown(const struct qp *qp);

/* Under the lock: forget all sends of a queue pair but @judge's; NULL: that is nobody. */
void forget(const struct cq *cq, uint32_t number, const struct judge *judge);
/* Those of all queue pairs that complete to the CQ. */
void forget_all_of(const struct cq *cq);
/* Under the lock: what @wc completes is finished, and so is what was posted before it. */
void finished(const struct cq *cq, const struct wc *wc, struct judge *judge);
/* Tell of those whose buffers have changed. Not under the lock, for memory is read. */
void pass_judgement(const struct judge *judge);

#endif
