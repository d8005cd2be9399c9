/* SPDX-License-Identifier: GPL-2.0 */
/* Registered memory of the program. */
#ifndef PIB_PRELOAD_MEMORY_H
#define PIB_PRELOAD_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include "queues.h"

/* Under the lock: this piece is where something from elsewhere lands. */
void lands(const struct piece *p);
/* The same of each, without the lock. */
void pieces_land(const struct piece *pieces, size_t num);
/*
 * Under the lock. Return: whether each is memory of the program by its own address, to which
 * nothing comes from elsewhere.
 */
int is_quiet(const struct piece *pieces, int num);
/*
 * Return: a sum of what is in the pieces. Not under the lock: to bring a page another thread may
 * have to post or poll (userfaultfd).
 */
uint64_t sum_up(const struct piece *pieces, int num);

#endif
