// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A page may take as long as its owner likes: a file of FUSE has a process
 * behind it, which need not answer. So each process whose memory is paged in has a queue
 * of its own, from which AT_ONCE items run at once: others' pages do not wait for its pages.
 *
 * The queue may outlive its process, and the registration of the HCA: the memory that uses
 * it keeps the HCA's structs (odp.c).
 */
#include <linux/slab.h>
#include "core/quota.h"
#include "memory/pager.h"
#include "memory/pd.h"

#define AT_ONCE	8
/* Advice costs memory until its pages have come, even if the process that gave it is gone. */
#define ADVICE_MAX	64

/**
 * struct pib_pager - the queue of one process
 * @all: the pagers of the HCA in which its regions are; never changes
 * @quota: of that HCA; never changes
 * @owner: see pib_quota_take(); never changes
 * @mm: the process; never changes
 * @wq: runs what is queued; never changes
 * @users: regions; guarded by the lock of @all
 * @advice: pieces of advice that are not followed yet
 */
struct pib_pager {
	struct pib_pagers *all;
	struct pib_quota *quota;
	struct pib_user *owner;
	struct mm_struct *mm;
	struct workqueue_struct *wq;
	unsigned int users;
	atomic_t advice;
};

void pib_pagers_init(struct pib_pagers *all)
{
	mutex_init(&all->lock);
	xa_init(&all->pagers);
}

void pib_pagers_exit(struct pib_pagers *all)
{
	xa_destroy(&all->pagers);
}

static void pager_destroy(struct pib_pager *pager)
{
	if (pager->wq)
		destroy_workqueue(pager->wq);
	pib_quota_give(pager->quota, pager->owner, PIB_OBJ_PAGER);
	kfree(pager);
}

static struct pib_pager *pager_create(struct pib_pd *pd, struct mm_struct *mm)
{
	struct pib_pager *pager;
	int err;

	lockdep_assert_held(&pd->pagers->lock);

	err = pib_quota_take(pd->quota, pd->owner, PIB_OBJ_PAGER);
	if (err)
		return ERR_PTR(err);
	pager = kzalloc(sizeof(*pager), GFP_KERNEL_ACCOUNT);
	if (!pager) {
		pib_quota_give(pd->quota, pd->owner, PIB_OBJ_PAGER);
		return ERR_PTR(-ENOMEM);
	}
	err = -ENOMEM;
	*pager = (struct pib_pager) {
		.all = pd->pagers,
		.quota = pd->quota,
		.owner = pd->owner,
		.mm = mm,
	};
	/* unbound: no CPU's other work waits for a page */
	pager->wq = alloc_workqueue("pib_pagein", WQ_UNBOUND, AT_ONCE);
	if (pager->wq)
		err = xa_err(xa_store(&pd->pagers->pagers, (unsigned long)mm, pager, GFP_KERNEL));
	if (!err)
		return pager;
	pager_destroy(pager);
	return ERR_PTR(err);
}

struct pib_pager *pib_pager_get(struct pib_pd *pd, struct mm_struct *mm)
{
	struct pib_pagers *all = pd->pagers;
	struct pib_pager *pager;

	mutex_lock(&all->lock);
	pager = xa_load(&all->pagers, (unsigned long)mm);
	if (!pager)
		pager = pager_create(pd, mm);
	if (!IS_ERR(pager))
		pager->users++;
	mutex_unlock(&all->lock);
	return pager;
}

void pib_pager_put(struct pib_pager *pager)
{
	struct pib_pagers *all = pager->all;
	bool last;

	mutex_lock(&all->lock);
	last = !--pager->users;
	if (last)
		xa_erase(&all->pagers, (unsigned long)pager->mm);
	mutex_unlock(&all->lock);
	/* Work has released its memory, but may not have ended. */
	if (last)
		pager_destroy(pager);
}

void pib_pager_queue(struct pib_pager *pager, struct work_struct *work)
{
	queue_work(pager->wq, work);
}

bool pib_pager_advise(struct pib_pager *pager)
{
	return atomic_add_unless(&pager->advice, 1, ADVICE_MAX);
}

void pib_pager_advised(struct pib_pager *pager)
{
	atomic_dec(&pager->advice);
}
