/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work that brings pages of a process in. */
#ifndef PIB_PAGER_H
#define PIB_PAGER_H

#include <linux/workqueue.h>

struct mm_struct;
struct pib_hca;
struct pib_pager;
struct pib_user;

/**
 * pib_pager_get() - the queue of a process
 * @owner: see pib_quota_take()
 * @mm: of the process; the caller keeps the struct
 *
 * @hca is not freed before it is put. Process context. ERR_PTR().
 */
struct pib_pager *pib_pager_get(struct pib_hca *hca, struct pib_user *owner, struct mm_struct *mm);
/* What was queued is done but for its last steps, or others still have it. Process context, not that of such work. */
void pib_pager_put(struct pib_pager *pager);
/* Any context. */
void pib_pager_queue(struct pib_pager *pager, struct work_struct *work);

#endif
