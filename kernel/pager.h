/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work that brings pages of a process in. */
#ifndef PIB_PAGER_H
#define PIB_PAGER_H

#include <linux/workqueue.h>

struct mm_struct;
struct pib_pager;

/* The one of @mm; the caller keeps the struct. Process context. ERR_PTR(). */
struct pib_pager *pib_pager_get(struct mm_struct *mm);
/* What was queued is done, or others still have it. Process context. */
void pib_pager_put(struct pib_pager *pager);
void pib_pager_queue(struct pib_pager *pager, struct work_struct *work);

#endif
