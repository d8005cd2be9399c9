// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/capability.h>
#include <linux/log2.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>
#include "core/ring.h"
#include "core/mmap.h"

#define RING_SIZE_MAX	SZ_1G

static int ring_offer(struct pib_ring *ring, struct ib_udata *udata, struct pib_ring_info *info)
{
	struct pib_ucontext *ctx = rdma_udata_to_drv_context(udata, struct pib_ucontext, ib);
	struct pib_mmap_entry *entry;

	entry = pib_mmap_entry_create(&ctx->ib, ring->hdr, ring->size);
	if (IS_ERR(entry))
		return PTR_ERR(entry);

	ring->entry = entry;
	*info = (struct pib_ring_info) {
		.offset = rdma_user_mmap_get_offset(&entry->rdma),
		.size = ring->size,
		.entries = ring->entries,
		.stride = ring->stride,
	};
	return 0;
}

/* The ring counts against RLIMIT_MEMLOCK, as ib_umem has it for what a process pins. */
static int ring_charge(struct pib_ring *ring)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long pages = ring->size >> PAGE_SHIFT;
	struct mm_struct *mm = current->mm;

	if (atomic64_add_return(pages, &mm->pinned_vm) > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages, &mm->pinned_vm);
		pr_debug("pib: %s: a ring of %lu pages is beyond RLIMIT_MEMLOCK, %lu\n",
			 current->comm, pages, limit);
		return -ENOMEM;
	}
	mmgrab(mm);
	ring->mm = mm;
	return 0;
}

static void ring_uncharge(struct pib_ring *ring)
{
	if (!ring->mm)
		return;
	atomic64_sub(ring->size >> PAGE_SHIFT, &ring->mm->pinned_vm);
	mmdrop(ring->mm);
	ring->mm = NULL;
}

static int refuse_size(u32 entries, u32 stride)
{
	pr_debug("pib: %s: a ring of %u slots of %u bytes is beyond 1 GiB\n", current->comm,
		 entries, stride);
	return -EINVAL;
}

int pib_ring_alloc(struct pib_ring *ring, u32 entries, u32 stride,
		   struct ib_udata *udata, struct pib_ring_info *info)
{
	u64 size;
	int err;

	if (entries > RING_SIZE_MAX || stride > RING_SIZE_MAX)
		return refuse_size(entries, stride);
	entries = roundup_pow_of_two(max(entries, 1U));
	stride = roundup_pow_of_two(max(stride, 1U));
	size = PAGE_ALIGN(sizeof(struct pib_ring_hdr) + (u64)entries * stride);
	if (size > RING_SIZE_MAX + PAGE_SIZE)
		return refuse_size(entries, stride);

	*ring = (struct pib_ring) {
		.entries = entries,
		.stride = stride,
		.size = size,
		.user = !!udata,
	};
	if (udata) {
		err = ring_charge(ring);
		if (err)
			return err;
	}
	ring->hdr = __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!ring->hdr) {
		ring_uncharge(ring);
		return -ENOMEM;
	}
	ring->slots = ring->hdr + 1;

	if (!udata)
		return 0;
	err = ring_offer(ring, udata, info);
	if (err) {
		vfree(ring->hdr);
		ring->hdr = NULL;
		ring_uncharge(ring);
	}
	return err;
}

void pib_ring_free(struct pib_ring *ring)
{
	if (ring->entry) {
		WRITE_ONCE(ring->hdr->busy, 0);
		WRITE_ONCE(ring->hdr->arm, 1);
		rdma_user_mmap_entry_remove(&ring->entry->rdma);
	} else {
		vfree(ring->hdr);
	}
	ring_uncharge(ring);
	ring->hdr = NULL;
	ring->entry = NULL;
}
