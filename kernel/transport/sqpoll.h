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
 * struct pib_sqpoll - pace of a poster, and polling of its ring
 * @run: doorbells in a row. Written by posters, which may be several
 * @since: jiffies of the first of them. Written by posters
 * @index: index of the send ring at the last look. Written by the owner of the QP, as are the
 *	members below
 * @not_before: jiffies before which the ring is not polled again
 * @crowd: time, ns, since which other tasks want the CPU that polls; 0: none does
 * @until: time, ns, until which the ring is polled if nothing comes
 */
struct pib_sqpoll {
	u32 run;
	u32 index;
	unsigned long since;
	unsigned long not_before;
	u64 crowd;
	u64 until;
};

/* Doorbells in a row after which polling begins. */
#define PIB_SQPOLL_RUN	32

/**
 * pib_sqpoll_due() - decide about the poller when PIB_SQPOLL_RUN doorbells were rung in a row
 * @s: polling of the ring
 *
 * Context: any.
 * Return: true: the QP should be handed to the poller.
 */
bool pib_sqpoll_due(struct pib_sqpoll *s);

/**
 * pib_sqpoll_break() - begin to count doorbells again
 * @s: polling of the ring; the peer has sent something, for which the poster may have waited
 *
 * Context: any.
 */
static inline void pib_sqpoll_break(struct pib_sqpoll *s)
{
	if (READ_ONCE(s->run))
		WRITE_ONCE(s->run, 0);
}

/**
 * pib_sqpoll_again() - decide whether the ring is read again, although there is nothing to do
 * @qp: queue pair of the ring
 * @budget: of the run of this CPU's list
 *
 * Context: qp->lock held.
 * Return: true: the ring is read again.
 */
bool pib_sqpoll_again(struct pib_qp *qp, const struct pib_budget *budget);

#endif
