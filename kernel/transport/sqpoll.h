/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Polling of a send ring (transport/sqpoll.c). */
#ifndef PIB_TRANSPORT_SQPOLL_H
#define PIB_TRANSPORT_SQPOLL_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/types.h>

struct pib_budget;
struct pib_qp;

/**
 * struct pib_sqpoll - how a process posts, and how long its ring is polled
 * @run: doorbells in a row. Written by posters, of whom there may be several
 * @since: jiffies of the first of them. Written by posters
 * @index: index of the send ring at the last look. Written by the owner of the QP, as what follows
 * @not_before: jiffies before which the ring is not polled again
 * @crowd: ns since when other tasks want the CPU that polls, 0: none does
 * @until: ns until when the ring is polled if nothing comes
 */
struct pib_sqpoll {
	u32 run;
	u32 index;
	unsigned long since;
	unsigned long not_before;
	u64 crowd;
	u64 until;
};

/* Polling begins after so many doorbells. */
#define PIB_SQPOLL_RUN	32

/* What pib_sqpoll_next() does when that many have been rung. */
bool pib_sqpoll_due(struct pib_sqpoll *s);

/*
 * pib_sqpoll_next() - a doorbell was rung
 *
 * Context: any.
 * Return: true: the QP had better be handed to the poller.
 */
static inline bool pib_sqpoll_next(struct pib_sqpoll *s)
{
	u32 run = READ_ONCE(s->run);

	if (!run)
		WRITE_ONCE(s->since, jiffies);
	if (unlikely(run >= PIB_SQPOLL_RUN))
		return pib_sqpoll_due(s);
	WRITE_ONCE(s->run, run + 1);
	return false;
}

/* The peer has sent something: the poster may have waited for that. */
static inline void pib_sqpoll_break(struct pib_sqpoll *s)
{
	if (READ_ONCE(s->run))
		WRITE_ONCE(s->run, 0);
}

/*
 * pib_sqpoll_again() - is the ring to be looked at again, although there is nothing to do?
 *
 * Context: qp->lock held.
 */
bool pib_sqpoll_again(struct pib_qp *qp, const struct pib_budget *budget);

#endif
