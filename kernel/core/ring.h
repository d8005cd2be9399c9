/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rings shared with user space (uapi/rdma/pib-abi.h), or used by the kernel alone. */
#ifndef PIB_CORE_RING_H
#define PIB_CORE_RING_H

#include <rdma/ib_verbs.h>
#include "uapi/rdma/pib-abi.h"

/**
 * struct pib_ring - a ring
 * @hdr: start of the memory (vmalloc_user())
 * @slots: first slot
 * @entries: a power of two
 * @stride: bytes to a slot, a power of two
 * @size: bytes of memory
 * @index: the kernel's own copy of the index that it owns, the only one it relies on
 * @user: mapped by a process: the other index is not to be trusted
 * @entry: mmap entry, or NULL
 * @mm: whose RLIMIT_MEMLOCK it counts against; NULL for the kernel's own
 */
struct pib_ring {
	struct pib_ring_hdr *hdr;
	void *slots;
	u32 entries;
	u32 stride;
	u32 size;
	u32 index;
	bool user;
	struct pib_mmap_entry *entry;
	struct mm_struct *mm;
};

/**
 * pib_ring_alloc() - memory for at least @entries slots of at least @stride bytes
 * @udata: NULL for a ring of the kernel's own
 * @info: result for user space, may be NULL without @udata
 *
 * Process context. 0, -ENOMEM, -EINVAL.
 */
int pib_ring_alloc(struct pib_ring *ring, u32 entries, u32 stride,
		   struct ib_udata *udata, struct pib_ring_info *info);
/*
 * Process context. The memory stays with the processes that have it mapped; who
 * posts into it finds that he has to ring, and rings in vain.
 */
void pib_ring_free(struct pib_ring *ring);

static inline void *pib_ring_slot(const struct pib_ring *ring, u32 index)
{
	return ring->slots + (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/*
 * Work queues: slots waiting to be taken, never more than the ring holds
 * whatever the process has written into its index.
 */
static inline u32 pib_ring_pending(const struct pib_ring *ring)
{
	u32 n = smp_load_acquire(&ring->hdr->producer) - ring->index;

	return n <= ring->entries ? n : 0;
}

/* Work queues: @n slots have been taken and copied. */
static inline void pib_ring_consume(struct pib_ring *ring, u32 n)
{
	ring->index += n;
	smp_store_release(&ring->hdr->consumer, ring->index);
}

#endif
