/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting in a stream (transport/sqpoll.c). */
#ifndef PIB_STREAM_H
#define PIB_STREAM_H

#include <linux/compiler.h>
#include <linux/types.h>

struct pib_budget;
struct pib_qp;

/**
 * struct pib_stream - how a process posts
 * @run: doorbells in a row. Of the poster, who may be several, as is the following
 * @since: jiffies of the first
 * @index: of the send ring, where it was looked at last. Of who runs the QP, as are the following
 * @not_before: jiffies: until then it is no stream
 * @crowd: ns: since when others want the CPU that does so, 0: they do not
 * @until: ns: how long it is looked at if nothing comes
 */
struct pib_stream {
	u32 run;
	u32 index;
	unsigned long since;
	unsigned long not_before;
	u64 crowd;
	u64 until;
};

/* A doorbell. True: it is one of a stream, and another CPU had better run the QP. Any context. */
bool pib_stream_next(struct pib_qp *qp);

/* The peer has sent something: the poster may have waited for that. */
static inline void pib_stream_break(struct pib_stream *s)
{
	if (READ_ONCE(s->run))
		WRITE_ONCE(s->run, 0);
}

/* Is the ring to be looked at again, although there is nothing to do? qp->lock held. */
bool pib_stream_lingers(struct pib_qp *qp, const struct pib_budget *budget);

#endif
