// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A page may take as long as its owner likes: a file of FUSE has a process
 * behind it, which need not answer. So each process whose memory is paged in has
 * a queue of its own, of which so much runs at once: others' pages do not wait for his.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "pager.h"

#define AT_ONCE	8

/**
 * struct pib_pager - one process's
 * @mm: the process; never changes
 * @wq: runs what is queued; never changes
 * @users: regions
 */
struct pib_pager {
	struct mm_struct *mm;
	struct workqueue_struct *wq;
	unsigned int users;
};

/* By the address of the mm. */
static DEFINE_XARRAY(pagers);
/* Guards the table and the users of each. */
static DEFINE_MUTEX(pagers_lock);

static struct pib_pager *pager_create(struct mm_struct *mm)
{
	struct pib_pager *pager = kzalloc(sizeof(*pager), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!pager)
		return ERR_PTR(-ENOMEM);
	pager->mm = mm;
	/* unbound: no CPU's other work is to wait for a page */
	pager->wq = alloc_workqueue("pib_pagein", WQ_UNBOUND, AT_ONCE);
	if (!pager->wq)
		goto err_free;
	err = xa_err(xa_store(&pagers, (unsigned long)mm, pager, GFP_KERNEL));
	if (err)
		goto err_wq;
	return pager;

err_wq:
	destroy_workqueue(pager->wq);
err_free:
	kfree(pager);
	return ERR_PTR(err);
}

struct pib_pager *pib_pager_get(struct mm_struct *mm)
{
	struct pib_pager *pager;

	mutex_lock(&pagers_lock);
	pager = xa_load(&pagers, (unsigned long)mm);
	if (!pager)
		pager = pager_create(mm);
	if (!IS_ERR(pager))
		pager->users++;
	mutex_unlock(&pagers_lock);
	return pager;
}

void pib_pager_put(struct pib_pager *pager)
{
	bool last;

	mutex_lock(&pagers_lock);
	last = !--pager->users;
	if (last)
		xa_erase(&pagers, (unsigned long)pager->mm);
	mutex_unlock(&pagers_lock);
	if (!last)
		return;
	/* work has let its regions go, but may not have ended */
	destroy_workqueue(pager->wq);
	kfree(pager);
}

void pib_pager_queue(struct pib_pager *pager, struct work_struct *work)
{
	queue_work(pager->wq, work);
}
