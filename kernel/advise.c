// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Advice on regions. The keys are checked at once; what follows is done in the
 * caller's time if it asks for that (FLUSH), else in a work item that holds the
 * regions until it is done.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "advise.h"
#include "mem.h"
#include "mr.h"
#include "odp.h"
#include "pd.h"

/**
 * struct advice - an advice being followed
 * @work: if it is not followed at once
 * @flags: enum pib_odp_fault
 * @num: entries in @segs
 * @segs: with references
 */
struct advice {
	struct work_struct work;
	u32 flags;
	u32 num;
	struct pib_seg segs[];
};

static void advice_free(struct advice *a)
{
	while (a->num)
		pib_mem_put(&a->segs[--a->num]);
	kvfree(a);
}

static int follow(const struct advice *a)
{
	const struct pib_seg *seg;
	u32 i;
	int err;

	for (i = 0; i < a->num; i++) {
		seg = &a->segs[i];
		if (!seg->len)
			continue;
		err = pib_odp_fault(seg->mr->odp, pib_mr_va(seg->mr, seg->addr), seg->len, a->flags);
		if (err)
			return -EFAULT;
	}
	return 0;
}

static void advice_work(struct work_struct *work)
{
	struct advice *a = container_of(work, struct advice, work);

	/* who does not wait does not hear of it either */
	follow(a);
	advice_free(a);
}

/* -ENOENT: no such key; -EPERM: not for writing; -EINVAL: not paged on demand; -EFAULT: outside. */
static int take(struct advice *a, struct pib_pd *pd, const struct ib_sge *sge, bool write)
{
	struct pib_seg *seg = &a->segs[a->num];
	int err;

	err = pib_mem_get_local(pd, sge->lkey, sge->addr, sge->length,
				write ? IB_ACCESS_LOCAL_WRITE : 0, seg);
	if (err == -EINVAL)
		return -ENOENT;
	if (err)
		return err == -EACCES ? -EPERM : -EFAULT;
	a->num++;
	return seg->mr && !seg->mr->odp ? -EINVAL : 0;
}

/* NULL: there is nothing to do. */
static struct pib_odp *first_odp(const struct advice *a)
{
	u32 i;

	for (i = 0; i < a->num; i++)
		if (a->segs[i].len)
			return a->segs[i].mr->odp;
	return NULL;
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
	struct pib_odp *odp;
	struct advice *a;
	u32 i;

	if (how < 0)
		return how;
	a = kvzalloc(struct_size(a, segs, num_sge), GFP_KERNEL_ACCOUNT);
	if (!a)
		return -ENOMEM;
	a->flags = how;
	for (i = 0; !err && i < num_sge; i++)
		err = take(a, to_pd(ibpd), &sg_list[i], how & PIB_ODP_WRITE);

	odp = err || flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH ? NULL : first_odp(a);
	if (odp) {
		INIT_WORK(&a->work, advice_work);
		pib_odp_queue(odp, &a->work);
		return 0;
	}
	if (!err)
		err = follow(a);
	advice_free(a);
	return err;
}
