// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Nothing that a QP does may sleep; pages come in by sleeping. So what lacks a
 * page is put off, a work item brings the page in, and the QP begins it anew.
 */
#include <linux/ktime.h>
#include "mem.h"
#include "mr.h"
#include "odp.h"
#include "pagein.h"
#include "qp.h"

static void pagein_work(struct work_struct *work)
{
	struct pib_pagein *p = container_of(work, struct pib_pagein, work);
	struct pib_qp *qp = p->qp;
	struct pib_mr *mr = p->mr;
	int err;

	err = pib_odp_fault(mr->odp, pib_mr_va(mr, p->addr), p->len, p->write ? PIB_ODP_WRITE : 0);
	/* in the way of others, not in vain */
	p->err = err == -EAGAIN || err == -EBUSY ? 0 : err;
	smp_store_release(&p->busy, false);
	pib_mr_put(mr);
	pib_qp_kick(qp);
	pib_qp_put(qp);
}

void pib_pagein_init(struct pib_pagein *p, struct pib_qp *qp)
{
	INIT_WORK(&p->work, pagein_work);
	p->qp = qp;
}

void pib_pagein_forget(struct pib_pagein *p)
{
	lockdep_assert_held(&p->qp->lock);

	p->stale = true;
}

int pib_pagein_start(struct pib_pagein *p, const struct pib_seg *seg, u32 off, u32 len, bool write)
{
	u64 addr = seg->addr + off;
	int err;

	lockdep_assert_held(&p->qp->lock);

	if (pib_pagein_busy(p))
		return -EAGAIN;
	err = p->stale ? 0 : p->err;
	p->err = 0;
	p->stale = false;
	if (err && p->key == seg->mr->k.key && p->addr == addr && p->len == len)
		return -EFAULT;

	refcount_inc(&seg->mr->ref);
	p->mr = seg->mr;
	p->key = seg->mr->k.key;
	p->addr = addr;
	p->len = len;
	p->write = write;
	p->since = ktime_get_ns();
	p->busy = true;
	pib_qp_get(p->qp);
	pib_odp_queue(seg->mr->odp, &p->work);
	return -EAGAIN;
}
