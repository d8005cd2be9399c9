/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A QP waits for pages of a region that is paged in on demand. */
#ifndef PIB_PAGEIN_H
#define PIB_PAGEIN_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct pib_mr;
struct pib_qp;
struct pib_seg;

/**
 * struct pib_pagein - one thing that a QP waits for
 * @work: brings the pages in, then kicks the QP
 * @qp: whose; a reference is held while @busy
 * @busy: @work is under way and owns what follows; released with store-release, otherwise qp->lock
 *	guards it
 * @mr: region, a reference is held while @busy
 * @key: its key
 * @addr: first byte in the region's numbering
 * @len: bytes
 * @write: they will be written to
 * @since: ns: when it began
 * @err: how it ended, for pib_pagein_start() to find
 * @stale: what @err says is nobody's business any more; guarded by qp->lock, also while @busy
 */
struct pib_pagein {
	struct work_struct work;
	struct pib_qp *qp;
	bool busy;
	struct pib_mr *mr;
	u32 key;
	u64 addr;
	u32 len;
	bool write;
	u64 since;
	int err;
	bool stale;
};

void pib_pagein_init(struct pib_pagein *p, struct pib_qp *qp);
/* Still waiting? When it is over the QP is kicked. */
static inline bool pib_pagein_busy(const struct pib_pagein *p)
{
	return smp_load_acquire(&p->busy);
}

/* Who waited does so no more: how it ends matters to nobody. qp->lock held. */
void pib_pagein_forget(struct pib_pagein *p);

/**
 * pib_pagein_start() - have missing pages brought in
 * @seg: access was checked; a page of it is missing
 * @off: first byte needed
 * @len: bytes needed
 *
 * qp->lock held. -EAGAIN: try again when the QP runs next and @p is not busy. -EFAULT: that was
 * done, in vain.
 */
int pib_pagein_start(struct pib_pagein *p, const struct pib_seg *seg, u32 off, u32 len, bool write);

#endif
