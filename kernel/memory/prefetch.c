// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Advice on regions. The keys are checked at once; the pages are brought in by a work item that
 * holds the regions' memory. With FLUSH the caller waits until that is done, or it is killed.
 * Advice beyond what may wait for pages of a process is not followed.
 */
#include <linux/completion.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "memory/prefetch.h"
#include "memory/access.h"
#include "memory/mr.h"
#include "memory/odp.h"
#include "memory/pd.h"
#include "core/refuse.h"

/**
 * struct advice_range - a range that an advice is about
 * @odp: memory; a reference is held
 * @va: first byte in its process
 * @len: bytes
 */
struct advice_range {
	struct pib_odp *odp;
	u64 va;
	u32 len;
};

/**
 * struct advice - an advice being followed
 * @work: follows it, then lets go of @ranges
 * @ref: the caller's, and that of @work
 * @done: it was followed
 * @err: how that ended
 * @flags: enum pib_odp_fault
 * @num: entries in @ranges
 * @ranges: none is empty
 */
struct advice {
	struct work_struct work;
	refcount_t ref;
	struct completion done;
	int err;
	u32 flags;
	u32 num;
	struct advice_range ranges[];
};

static void advice_put(struct advice *a)
{
	if (refcount_dec_and_test(&a->ref))
		kvfree(a);
}

static int prefetch_follow(const struct advice *a)
{
	const struct advice_range *r;

	for (r = a->ranges; r < a->ranges + a->num; r++)
		if (pib_odp_fault(r->odp, r->va, r->len, a->flags))
			return -EFAULT;
	return 0;
}

static void advice_work(struct work_struct *work)
{
	struct advice *a = container_of(work, struct advice, work);

	a->err = prefetch_follow(a);
	pib_odp_advised(a->ranges[0].odp);
	while (a->num)
		pib_odp_put_work(a->ranges[--a->num].odp);
	complete(&a->done);
	advice_put(a);
}

static struct advice *advice_create(u32 num, u32 flags)
{
	struct advice *a = kvzalloc(struct_size(a, ranges, num), GFP_KERNEL_ACCOUNT);

	if (!a)
		return NULL;
	INIT_WORK(&a->work, advice_work);
	refcount_set(&a->ref, 1);
	init_completion(&a->done);
	a->flags = flags;
	return a;
}

/*
 * Take the memory of @sge. Return: 0; -ENOENT: no such key; -EPERM: not for writing; -EINVAL: not
 * paged on demand; -EFAULT: outside of the region.
 */
static int prefetch_take(struct advice *a, struct pib_pd *pd, const struct ib_sge *sge)
{
	bool write = a->flags & PIB_ODP_WRITE;
	struct advice_range *r;
	struct pib_span span;
	int err;

	err = pib_mem_get_local(pd, sge->lkey, sge->addr, sge->length,
				write ? IB_ACCESS_LOCAL_WRITE : 0, &span);
	if (err == -EINVAL)
		return -ENOENT;
	if (err)
		return err == -EACCES ? -EPERM : -EFAULT;
	if (span.mr && !span.mr->odp) {
		err = -EINVAL;
	} else if (span.len) {
		r = &a->ranges[a->num++];
		*r = (struct advice_range) { span.mr->odp, pib_mr_va(span.mr, span.addr),
					     span.len };
		pib_odp_get(r->odp);
	}
	pib_mem_put(&span);
	return err;
}

static void advice_drop(struct advice *a)
{
	while (a->num)
		pib_odp_put(a->ranges[--a->num].odp);
}

/*
 * Queue the advice. Return: 0, also where there is no room and the caller does not @wait; -EINTR:
 * the caller is being killed; -EAGAIN: there is no room, and the caller would wait; or the result.
 */
static int advice_start(struct advice *a, bool wait)
{
	if (!pib_odp_advise(a->ranges[0].odp)) {
		advice_drop(a);
		return wait ? -EAGAIN : 0;
	}
	refcount_inc(&a->ref);
	/* The ranges may be of several processes' memory: all wait in the queue of the first. */
	pib_odp_queue(a->ranges[0].odp, &a->work);
	if (!wait)
		return 0;
	return wait_for_completion_killable(&a->done) ? -EINTR : a->err;
}

static int advice_flags(enum ib_uverbs_advise_mr_advice advice)
{
	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		return 0;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		return PIB_ODP_WRITE;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		return PIB_ODP_PRESENT;
	default:
		return -EOPNOTSUPP;
	}
}

int pib_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		  struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs)
{
	int how = advice_flags(advice), err = 0;
	struct advice *a;
	u32 i;

	if (how < 0)
		return pib_refuse(ibpd->device, how, "advise_mr: advice %d", advice);
	a = advice_create(num_sge, how);
	if (!a)
		return -ENOMEM;
	for (i = 0; !err && i < num_sge; i++)
		err = prefetch_take(a, to_pd(ibpd), &sg_list[i]);

	if (err) {
		ibdev_dbg(ibpd->device, "advise_mr: L_Key %#x: %d\n", sg_list[i - 1].lkey, err);
		advice_drop(a);
	} else if (a->num) {
		err = advice_start(a, flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH);
	}
	advice_put(a);
	return err;
}
