// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Nothing that a task does may sleep, but bringing pages in sleeps. So an operation that lacks a
 * page is deferred, a work item brings the page in, and the task begins the operation again.
 *
 * A page may never come, so the work holds neither task nor region. Both can be destroyed
 * meanwhile; a page that comes then wakes nobody.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "memory/access.h"
#include "memory/mr.h"
#include "memory/odp.h"
#include "memory/page_fault.h"
#include "core/task.h"
#include "tracing/transport.h"

/* End the wait. Return: the task with a reference; NULL: it is being destroyed. */
static struct pib_task *pagein_end(struct pib_pagein *p)
{
	struct pib_task *task;

	spin_lock(&p->lock);
	task = p->task;
	if (task)
		pib_task_get(task);
	/* Pairs with the acquire in pib_pagein_busy(). */
	smp_store_release(&p->busy, false);
	spin_unlock(&p->lock);
	return task;
}

static void pagein_work(struct work_struct *work)
{
	struct pib_pagein *p = container_of(work, struct pib_pagein, work);
	struct pib_task *task;
	int err;

	err = pib_odp_fault(p->odp, p->va, p->len, p->write ? PIB_ODP_WRITE : 0);
	/* -EAGAIN, -EBUSY: others were in the way. This is no error: the task tries again. */
	p->err = err == -EAGAIN || err == -EBUSY ? 0 : err;
	if (trace_pib_page_ready_enabled())
		p->took = ktime_get_ns() - p->since;
	pib_odp_put_work(p->odp);

	task = pagein_end(p);
	if (task) {
		pib_task_kick(task);
		pib_task_put(task);
	}
	pib_pagein_put(p);
}

struct pib_pagein *pib_pagein_create(struct pib_task *task, spinlock_t *guard)
{
	struct pib_pagein *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	INIT_WORK(&p->work, pagein_work);
	refcount_set(&p->ref, 1);
	spin_lock_init(&p->lock);
	p->task = task;
	p->guard = guard;
	return p;
}

void pib_pagein_put(struct pib_pagein *p)
{
	if (p && refcount_dec_and_test(&p->ref))
		kfree(p);
}

void pib_pagein_leave(struct pib_pagein *p)
{
	spin_lock(&p->lock);
	p->task = NULL;
	spin_unlock(&p->lock);
	/* The work has not begun, and nobody needs the page any more. */
	if (cancel_work(&p->work)) {
		pib_odp_put(p->odp);
		pib_pagein_put(p);
	}
}

/* This may come after pib_pagein_leave(): the task may run once more, which does nothing. */
void pib_pagein_abandon(struct pib_pagein *p)
{
	p->stale = true;
}

int pib_pagein_start(struct pib_pagein *p, const struct pib_span *span, u32 off, u32 len,
		     bool write)
{
	u64 va = pib_mr_va(span->mr, span->addr + off);
	int err;

	lockdep_assert_held(p->guard);

	if (pib_pagein_busy(p))
		return -EAGAIN;
	err = p->stale ? 0 : p->err;
	p->err = 0;
	p->stale = false;
	if (err && p->key == span->mr->k.key && p->va == va && p->len == len)
		return -EFAULT;

	p->odp = span->mr->odp;
	pib_odp_get(p->odp);
	p->key = span->mr->k.key;
	p->va = va;
	p->len = len;
	p->write = write;
	p->since = ktime_get_ns();
	p->took = 0;
	p->busy = true;
	refcount_inc(&p->ref);
	pib_odp_queue(p->odp, &p->work);
	return -EAGAIN;
}
