/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_CORE_ELAPSED_H
#define PIB_CORE_ELAPSED_H

#include <linux/types.h>

/**
 * pib_elapsed() - compare the time from @since to @now with @nsec
 * @now: the time that a run of tasks began, or the like: it may be before @since
 * @since: ns of the same clock
 * @nsec: not negative
 *
 * The difference is compared as a signed number: a constant of unsigned type would make a @since
 * that lies ahead one long past.
 *
 * Context: any.
 * Return: true if @nsec nanoseconds or more have passed.
 */
static inline bool pib_elapsed(u64 now, u64 since, s64 nsec)
{
	return (s64)(now - since) >= nsec;
}

#endif
