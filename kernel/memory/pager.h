/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work that brings pages of a process in. */
#ifndef PIB_MEMORY_PAGER_H
#define PIB_MEMORY_PAGER_H

#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct mm_struct;
struct pib_pager;
struct pib_pd;

/**
 * struct pib_pagers - the queues of the processes that have memory in an HCA
 * @lock: guards @pagers and their users; sleeps
 * @pagers: address of an mm -> struct pib_pager
 */
struct pib_pagers {
	struct mutex lock;
	struct xarray pagers;
};

/* Context: process. */
void pib_pagers_init(struct pib_pagers *all);
/* Pagers may be left: memory can outlive the registration of its device. Context: process. */
void pib_pagers_exit(struct pib_pagers *all);

/**
 * pib_pager_get() - the queue of a process
 * @pd: of the region for which the queue is needed; its owner pays
 * @mm: of the process; the caller keeps the struct
 *
 * The HCA of @pd must not be freed before the pager is put.
 *
 * Context: process; may sleep.
 * Return: the pager with a reference, which pib_pager_put() drops; ERR_PTR().
 */
struct pib_pager *pib_pager_get(struct pib_pd *pd, struct mm_struct *mm);
/*
 * Drop a reference. With the last one the queue is destroyed: the work in it has then released its
 * memory, and only its last steps are waited for.
 *
 * Context: process, but not work in the queue; sleeps.
 */
void pib_pager_put(struct pib_pager *pager);
/* Queue @work. Context: any. */
void pib_pager_queue(struct pib_pager *pager, struct work_struct *work);
/*
 * Take room for a piece of advice, until pib_pager_advised().
 *
 * Context: any.
 * Return: false: as much advice waits for pages as may.
 */
bool pib_pager_advise(struct pib_pager *pager);
/* Give the room back. Context: any. */
void pib_pager_advised(struct pib_pager *pager);

#endif
