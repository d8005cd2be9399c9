/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A share of a CPU: the time that may be spent on work for others. That is a quarter of the time in
 * the long run, and a quarter of a second at once.
 */
#ifndef PIB_PROTO_SHARE_H
#define PIB_PROTO_SHARE_H

#include "env.h"

#define PIB_SHARE_OF	4			/* 1 / this of the time */
#define PIB_SHARE_BURST	PIB_NSEC_PER_SEC	/* time to have at once, times PIB_SHARE_OF */
#define PIB_SHARE_ONE	(PIB_NSEC_PER_SEC / 50)	/* work that takes longer was held up by others */

/**
 * struct pib_share - the used part of a share
 * @until: ns: time at which all work so far will have been paid for
 */
struct pib_share {
	u64 until;
};

/* Return: true if work may be done at @now, in ns. Context: under the lock of what holds @s. */
static inline bool pib_share_left(const struct pib_share *s, u64 now)
{
	return s->until <= now + PIB_SHARE_BURST;
}

/* Pay for work from @begun to @ended, in ns. Context: under the same lock. */
static inline void pib_share_spend(struct pib_share *s, u64 begun, u64 ended)
{
	u64 took = ended - begun;

	if (s->until < begun)
		s->until = begun;
	s->until += (took < PIB_SHARE_ONE ? took : PIB_SHARE_ONE) * PIB_SHARE_OF;
}

#endif
