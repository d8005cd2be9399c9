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
 * @pd: of the region that is made of it
 * @start: first byte; with @length U64_MAX and 0 all of the process's memory, now and later (implicit region)
 * @length: bytes
 * @access: enum ib_access_flags
 *
 * Nothing is mapped or pinned. The caller owns a reference. Process context. ERR_PTR().
 */
struct pib_odp *pib_odp_create(struct pib_pd *pd, u64 start, u64 length, int access);
/* For who has a reference, or one on the region. Any context. */
void pib_odp_get(struct pib_odp *odp);
/*
 * The memory is released with the last reference. May be NULL. Process context; sleeps, but not for pages.
 * Not for work of pib_odp_queue(), which cannot wait for the end of its own queue: pib_odp_put_work().
 */
void pib_odp_put(struct pib_odp *odp);
void pib_odp_put_work(struct pib_odp *odp);
bool pib_odp_writable(const struct pib_odp *odp);
u64 pib_odp_start(const struct pib_odp *odp);

/* What pib_odp_fault() is to do, see there. */
enum pib_odp_fault {
	PIB_ODP_WRITE = 1,	/* pages will be written to */
	PIB_ODP_PRESENT = 2,	/* only what is in memory, nothing is brought in */
};

/**
 * pib_odp_fault() - bring pages in
 * @va: address in the process
 * @len: bytes
 * @flags: enum pib_odp_fault
 *
 * They may be gone again when it returns. Process context, sleeps. 0; -EFAULT, -EPERM: not mapped, or
 * not for that access; -EINVAL: the process has gone; -EBUSY, -ENOMEM.
 */
int pib_odp_fault(struct pib_odp *odp, u64 va, u64 len, u32 flags);

/*
 * For work that does that: in its process's queue, where it waits for nobody else's pages. It should have a
 * reference of its own and hold nothing else, for a page may never come. Any context.
 */
void pib_odp_queue(struct pib_odp *odp, struct work_struct *work);

/**
 * pib_odp_enter() - touch bytes
 * @va: address in the process
 * @len: bytes wanted; result: bytes that may be touched, all in one page
 * @held: for pib_odp_leave()
 *
 * Softirqs off. NULL: the page is not there (or not for writing). Otherwise the page stays where it is
 * until pib_odp_leave(), which must come soon: invalidation waits for it.
 */
void *pib_odp_enter(struct pib_odp *odp, u64 va, u32 *len, bool write, struct pib_odp_chunk **held);
void pib_odp_leave(struct pib_odp_chunk *held);

/* Of the module. When all devices have gone pib_odp_exit() waits for what was put by work. */
int pib_odp_init(void);
void pib_odp_exit(void);

#endif
