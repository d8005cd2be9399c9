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
/**
 * pib_odp_get() - take a reference
 * @odp: memory, of which or of whose region the caller has a reference
 *
 * Context: any.
 */
void pib_odp_get(struct pib_odp *odp);
/**
 * pib_odp_put() - drop a reference
 * @odp: memory, which is released with the last one; NULL: nothing is done
 *
 * Work of pib_odp_queue() does not call this: it cannot wait for the end of its own queue.
 *
 * Context: process; sleeps, but not for pages.
 */
void pib_odp_put(struct pib_odp *odp);
/**
 * pib_odp_put_work() - drop a reference, in work of pib_odp_queue()
 * @odp: memory
 *
 * Context: any.
 */
void pib_odp_put_work(struct pib_odp *odp);
/**
 * pib_odp_writable() - tell whether pages can be brought in for writing
 * @odp: memory
 *
 * Context: any.
 * Return: true: they can. It never changes.
 */
bool pib_odp_writable(const struct pib_odp *odp);
/**
 * pib_odp_start() - get the address of the first byte in the process
 * @odp: memory
 *
 * Context: any.
 * Return: the address, which never changes.
 */
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

/**
 * pib_odp_queue() - queue work that brings pages in
 * @odp: memory
 * @work: the work. It should have a reference on @odp and hold nothing else, for a page may never
 *	come
 *
 * The queue is that of the process, so the work waits for nobody else's pages.
 *
 * Context: any.
 */
void pib_odp_queue(struct pib_odp *odp, struct work_struct *work);
/**
 * pib_odp_advise() - take room for a piece of advice to the process
 * @odp: memory
 *
 * Context: any.
 * Return: as pib_pager_advise().
 */
bool pib_odp_advise(struct pib_odp *odp);
/**
 * pib_odp_advised() - give that room back
 * @odp: memory
 *
 * Context: any.
 */
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
/**
 * pib_odp_leave() - end what pib_odp_enter() began
 * @held: from there
 *
 * Context: softirqs off since then.
 */
void pib_odp_leave(struct pib_odp_chunk *held);

/**
 * pib_odp_init() - make the workqueue, before the first memory is made
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int pib_odp_init(void);
/**
 * pib_odp_exit() - destroy the workqueue, when all devices have gone
 *
 * This waits until all memory is released, for which work may still be waiting.
 *
 * Context: process; sleeps.
 */
void pib_odp_exit(void);

#endif
