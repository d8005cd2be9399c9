/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester's ring: env fills a slot, posts it, and retires it when it is finished. The head of
 * rc_req.c explains the indices. Context of all these functions: under the queue pair's lock.
 */
#ifndef PIB_PROTO_RC_RING_H
#define PIB_PROTO_RC_RING_H

#include "rc.h"

/* The requester's: env asks pib_req_done(). */
enum pib_wqe_state {
	PIB_WQE_POSTED = 0,
	PIB_WQE_ACTIVE,		/* has its PSNs; packets may be under way */
	PIB_WQE_LOCAL,		/* env executes it */
	PIB_WQE_FAILED,		/* @status is set; work requests before it end first */
	PIB_WQE_DONE,
};

/* Return: the slot of index @i, which may be any. */
static inline struct pib_swqe *pib_req_wqe(const struct pib_req *r, u32 i)
{
	return (struct pib_swqe *)((char *)r->ring + (size_t)(i & r->mask) * r->stride);
}

/* Return: the slot to fill, for pib_req_post(); NULL: the ring is full. */
static inline struct pib_swqe *pib_req_slot(struct pib_req *r)
{
	return r->head - r->tail > r->mask ? NULL : pib_req_wqe(r, r->head);
}

/* Post the slot that was filled. */
static inline void pib_req_post(struct pib_req *r)
{
	struct pib_swqe *w = pib_req_wqe(r, r->head);

	w->state = PIB_WQE_POSTED;
	w->status = PIB_WC_SUCCESS;
	w->off = 0;
	w->npkts = 0;
	r->head++;
}

/*
 * Return: false: all that was posted has been sent, or is done, and pib_req_next() has nothing to
 * give.
 */
static inline bool pib_req_unsent(const struct pib_req *r)
{
	return r->cur != r->head;
}

/*
 * Find the oldest work request, if that is finished, with its @status. UC, UD: finished when sent.
 *
 * Return: it, for pib_req_retire(); NULL: it is not, or there is none.
 */
static inline struct pib_swqe *pib_req_done(struct pib_req *r)
{
	struct pib_swqe *w = pib_req_wqe(r, r->tail);

	if (r->tail == r->head)
		return NULL;
	if (w->state == PIB_WQE_DONE)
		return w;
	if (!r->flushing)
		return NULL;
	w->state = PIB_WQE_DONE;
	w->status = PIB_WC_WR_FLUSH_ERR;
	return w;
}

/* Forget the work request that pib_req_done() returned. */
static inline void pib_req_retire(struct pib_req *r)
{
	r->tail++;
	if ((s32)(r->una - r->tail) < 0)
		r->una = r->tail;
	if ((s32)(r->cur - r->una) < 0)
		r->cur = r->una;
}

#endif
