/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory that is paged in on demand: what lies behind a region with IB_ACCESS_ON_DEMAND. */
#ifndef PIB_MEMORY_ODP_H
#define PIB_MEMORY_ODP_H

#include <linux/types.h>

struct pib_odp;
struct pib_odp_chunk;
struct pib_pd;
struct work_struct;

/**
 * pib_odp_create() - memory of the calling process
 * @pd: of the region that is made of the memory
 * @start: first byte; with 0 and @length U64_MAX all of the process's memory, now and later
 *	(implicit region)
 * @length: bytes
 * @access: enum ib_access_flags
 *
 * Nothing is mapped or pinned.
 *
 * Context: process; may sleep.
 * Return: the memory with a reference, which pib_odp_put() drops; ERR_PTR().
 */
struct pib_odp *pib_odp_create(struct pib_pd *pd, u64 start, u64 length, int access);
/* Take a reference. The caller has one, or one on the region. Context: any. */
void pib_odp_get(struct pib_odp *odp);
/*
 * Drop a reference; the memory is released with the last one. @odp may be NULL. Not for work of
 * pib_odp_queue(), which cannot wait for the end of its own queue.
 *
 * Context: process; sleeps, but not for pages.
 */
void pib_odp_put(struct pib_odp *odp);
/* As pib_odp_put(), for work of pib_odp_queue(). Context: any. */
void pib_odp_put_work(struct pib_odp *odp);
/* Return: true if its pages can be brought in for writing. Never changes. */
bool pib_odp_writable(const struct pib_odp *odp);
/* Address of its first byte in the process. Never changes. */
u64 pib_odp_start(const struct pib_odp *odp);

/* Flags of pib_odp_fault(). */
enum pib_odp_fault {
	PIB_ODP_WRITE = 1,	/* pages will be written to */
	PIB_ODP_PRESENT = 2,	/* only pages that are in memory, none is brought in */
};

/**
 * pib_odp_fault() - bring pages in
 * @odp: memory
 * @va: address in the process
 * @len: bytes
 * @flags: enum pib_odp_fault
 *
 * The pages may be gone again when the function returns.
 *
 * Context: process; sleeps, for as long as the pages' owner likes.
 * Return: 0; -EFAULT, -EPERM: the range is not mapped, or not for that access; -EINVAL: the process
 *	has gone; -EBUSY; -ENOMEM.
 */
int pib_odp_fault(struct pib_odp *odp, u64 va, u64 len, u32 flags);

/*
 * Queue work that brings pages in. The queue is that of the process, so the work waits for nobody
 * else's pages. The work should have a reference on @odp and hold nothing else, for a page may
 * never come.
 *
 * Context: any.
 */
void pib_odp_queue(struct pib_odp *odp, struct work_struct *work);
/* As pib_pager_advise() and pib_pager_advised(), for the process. */
bool pib_odp_advise(struct pib_odp *odp);
void pib_odp_advised(struct pib_odp *odp);

/**
 * pib_odp_enter() - touch bytes
 * @odp: memory
 * @va: address in the process
 * @len: bytes wanted; result: bytes that may be touched, all in one page
 * @write: the bytes will be written to
 * @held: result, for pib_odp_leave()
 *
 * The page stays where it is until pib_odp_leave(). That must come soon, since invalidation waits
 * for it.
 *
 * Context: softirqs off, under rcu_read_lock() or what amounts to it.
 * Return: address of the bytes; NULL: the page is not there, or not for writing.
 */
void *pib_odp_enter(struct pib_odp *odp, u64 va, u32 *len, bool write, struct pib_odp_chunk **held);
/* End what pib_odp_enter() began. Context: softirqs off since then. */
void pib_odp_leave(struct pib_odp_chunk *held);

/* Make the workqueue, before the first memory is made. Context: process. Return: 0 or -ENOMEM. */
int pib_odp_init(void);
/*
 * Wait until all memory is released, which work may still be waiting for, and destroy the
 * workqueue. All devices have gone.
 *
 * Context: process; sleeps.
 */
void pib_odp_exit(void);

#endif
