/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A task waits for pages of a region that is paged in on demand. */
#ifndef PIB_MEMORY_PAGE_FAULT_H
#define PIB_MEMORY_PAGE_FAULT_H

#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct pib_odp;
struct pib_span;
struct pib_task;

/**
 * struct pib_pagein - one thing that a task waits for
 * @work: brings the pages in, then kicks the task
 * @ref: the task, and @work while @busy
 * @lock: guards @task against its destruction; nothing is taken under it
 * @task: the task that waits; NULL once it has left, to be destroyed or reset, without waiting for
 *	@work
 * @guard: lock that the task's turns hold; never changes
 * @busy: @work is under way and owns the following fields, which it gives back by a release store;
 *	otherwise @guard guards them
 * @odp: memory, of which a reference is held while @busy
 * @va: first byte in the process
 * @key: of the region through which the memory was reached; the region may be gone
 * @len: bytes
 * @write: the bytes will be written to
 * @since: ns: when the wait began
 * @err: how the wait ended, for pib_pagein_start() to find
 * @took: ns that the wait took, for a trace that was on when it ended; 0: there is none to tell,
 *	or it was told
 * @stale: @err matters to nobody any more; guarded by @guard, also while @busy
 */
struct pib_pagein {
	struct work_struct work;
	refcount_t ref;
	spinlock_t lock;
	struct pib_task *task;
	spinlock_t *guard;
	bool busy;
	struct pib_odp *odp;
	u64 va;
	u32 key;
	u32 len;
	bool write;
	u64 since;
	int err;
	u64 took;
	bool stale;
};

/**
 * pib_pagein_create() - make the object by which a task waits
 * @task: see struct pib_pagein
 * @guard: see struct pib_pagein
 *
 * Context: process; may sleep.
 * Return: the object with a reference, which pib_pagein_put() drops; NULL: no memory.
 */
struct pib_pagein *pib_pagein_create(struct pib_task *task, spinlock_t *guard);
/**
 * pib_pagein_put() - drop a reference
 * @p: the object, or NULL
 *
 * Context: process.
 */
void pib_pagein_put(struct pib_pagein *p);
/**
 * pib_pagein_leave() - have pages that come find the task no more
 * @p: object of a task that is being destroyed, and that nothing runs any more
 *
 * The task keeps its reference on @p. The references on the task are not all put yet.
 *
 * Context: process, no locks; may sleep.
 */
void pib_pagein_leave(struct pib_pagein *p);

/**
 * pib_pagein_busy() - tell whether the task still waits
 * @p: object by which the task waits
 *
 * When the wait is over the task is kicked.
 *
 * Context: any.
 * Return: true: it waits.
 */
static inline bool pib_pagein_busy(const struct pib_pagein *p)
{
	/* Pairs with the release in pagein_end(). */
	return smp_load_acquire(&p->busy);
}

/**
 * pib_pagein_abandon() - note that the end of the wait matters to nobody any more
 * @p: object by which the task waits
 *
 * Context: @p->guard held.
 */
void pib_pagein_abandon(struct pib_pagein *p);

/**
 * pib_pagein_start() - have missing pages brought in
 * @p: of the task
 * @span: memory of which a page is missing
 * @off: first byte needed
 * @len: bytes needed
 * @write: the bytes will be written to
 *
 * Context: any; @p->guard held.
 * Return: -EAGAIN: the caller tries again when the task runs next and @p is not busy; -EFAULT: the
 *	pages were asked for before, and could not be brought in.
 */
int pib_pagein_start(struct pib_pagein *p, const struct pib_span *span, u32 off, u32 len,
		     bool write);

#endif
