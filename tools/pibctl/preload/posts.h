/* SPDX-License-Identifier: GPL-2.0 */
/* Where a program posts work requests to send queues. Any thread, without the lock. */
#ifndef PIB_PRELOAD_POSTS_H
#define PIB_PRELOAD_POSTS_H

#include <stdint.h>
#include "manners.h"

/* Something is about to be posted to @qp, and so many work requests of it were. */
void posts_begin(const struct qp *qp);
void posts_end(const struct qp *qp, uint32_t num);
/* Something is about to be posted, and nobody knows how many. */
void posts_lost(const struct qp *qp);
/*
 * The queue pair is about to be destroyed, and was not if @err. Another one may have its number
 * before it is known that it has gone. Return: its place, for posts_left().
 */
int posts_leaves(const struct qp *qp);
void posts_left(int place, const struct qp *qp, int err);

#endif
