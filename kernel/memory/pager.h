/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work that brings pages of a process in. */
#ifndef PIB_MEMORY_PAGER_H
#define PIB_MEMORY_PAGER_H

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

struct mm_struct;
struct pib_pager;
struct pib_pd;

/**
 * struct pib_pagers - the queues of the processes that have memory in an HCA
 * @lock: guards @by_mm and the pagers' users; sleeps
 * @by_mm: struct pib_pager, by the address of its mm
 */
struct pib_pagers {
	struct mutex lock;
	DECLARE_HASHTABLE(by_mm, 8);
};

/**
 * pib_pagers_init() - set the queues of an HCA up
 * @all: the queues
 *
 * Context: process.
 */
void pib_pagers_init(struct pib_pagers *all);

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
/**
 * pib_pager_put() - drop a reference
 * @pager: queue of the process
 *
 * With the last one the queue is destroyed. The work in it has then released its memory, and only
 * its last steps are waited for.
 *
 * Context: process, but not work in the queue; sleeps.
 */
void pib_pager_put(struct pib_pager *pager);
/**
 * pib_pager_queue() - queue work
 * @pager: queue of the process
 * @work: brings pages in
 *
 * Context: any.
 */
void pib_pager_queue(struct pib_pager *pager, struct work_struct *work);
/**
 * pib_pager_advise() - take room for a piece of advice, until pib_pager_advised()
 * @pager: queue of the process
 *
 * Context: any.
 * Return: false: as much advice waits for pages as may.
 */
bool pib_pager_advise(struct pib_pager *pager);
/**
 * pib_pager_advised() - give the room back
 * @pager: queue of the process
 *
 * Context: any.
 */
void pib_pager_advised(struct pib_pager *pager);

#endif
