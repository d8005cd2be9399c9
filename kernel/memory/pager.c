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
 * @entry: in @all; guarded by the lock of @all
 * @all: the pagers of the HCA in which its regions are; never changes
 * @quota: of that HCA; never changes
 * @owner: see pib_quota_take(); never changes
 * @mm: the process; never changes
 * @start: guards the making of @wq, which holds up this process alone; sleeps
 * @wq: runs what is queued; does not change once it is there, which pib_pager_get() sees to
 * @users: regions; guarded by the lock of @all
 * @advice: pieces of advice that are not followed yet
 */
struct pib_pager {
	struct hlist_node entry;
	struct pib_pagers *all;
	struct pib_quota *quota;
	struct pib_user *owner;
	struct mm_struct *mm;
	struct mutex start;
	struct workqueue_struct *wq;
	unsigned int users;
	atomic_t advice;
};

void pib_pagers_init(struct pib_pagers *all)
{
	mutex_init(&all->lock);
	hash_init(all->by_mm);
}

static void pager_destroy(struct pib_pager *pager)
{
	if (pager->wq)
		destroy_workqueue(pager->wq);
	pib_quota_give(pager->quota, pager->owner, PIB_OBJ_PAGER);
	kfree(pager);
}

static struct pib_pager *pager_alloc(struct pib_pd *pd, struct mm_struct *mm)
{
	struct pib_pager *pager = kzalloc(sizeof(*pager), GFP_KERNEL_ACCOUNT);

	if (!pager)
		return NULL;
	pager->all = pd->pagers;
	pager->quota = pd->quota;
	pager->owner = pd->owner;
	pager->mm = mm;
	mutex_init(&pager->start);
	return pager;
}

/*
 * All users' processes take the lock of @all, so nothing is allocated under it.
 * Return: the pager of the process of @fresh, with one user more: @fresh if there was none;
 * ERR_PTR().
 */
static struct pib_pager *pager_enter(struct pib_pagers *all, struct pib_pager *fresh)
{
	struct pib_pager *pager;
	int err;

	lockdep_assert_held(&all->lock);

	hash_for_each_possible(all->by_mm, pager, entry, (unsigned long)fresh->mm) {
		if (pager->mm != fresh->mm)
			continue;
		pager->users++;
		return pager;
	}
	err = pib_quota_take(fresh->quota, fresh->owner, PIB_OBJ_PAGER);
	if (err)
		return ERR_PTR(err);
	fresh->users = 1;
	hash_add(all->by_mm, &fresh->entry, (unsigned long)fresh->mm);
	return fresh;
}

/* The pager counts already, so there are no more queues than pagers may be. */
static int pager_start(struct pib_pager *pager)
{
	int err;

	mutex_lock(&pager->start);
	/* unbound: no CPU's other work waits for a page */
	if (!pager->wq)
		pager->wq = alloc_workqueue("pib_pagein", WQ_UNBOUND, AT_ONCE);
	err = pager->wq ? 0 : -ENOMEM;
	mutex_unlock(&pager->start);
	return err;
}

struct pib_pager *pib_pager_get(struct pib_pd *pd, struct mm_struct *mm)
{
	struct pib_pager *pager, *fresh = pager_alloc(pd, mm);
	int err;

	if (!fresh)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&pd->pagers->lock);
	pager = pager_enter(pd->pagers, fresh);
	mutex_unlock(&pd->pagers->lock);
	if (pager != fresh)
		kfree(fresh);
	if (IS_ERR(pager))
		return pager;
	err = pager_start(pager);
	if (!err)
		return pager;
	pib_pager_put(pager);
	return ERR_PTR(err);
}

void pib_pager_put(struct pib_pager *pager)
{
	struct pib_pagers *all = pager->all;
	bool last;

	mutex_lock(&all->lock);
	last = !--pager->users;
	if (last)
		hash_del(&pager->entry);
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
