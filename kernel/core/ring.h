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
 * @index: private copy of the index that the kernel owns; the kernel relies on no other
 * @user: a process has the ring mapped, so the other index is not to be trusted
 * @entry: mmap entry, or NULL
 * @mm: process against whose RLIMIT_MEMLOCK the ring counts; NULL for the kernel's own
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
 * pib_ring_alloc() - make a ring
 * @ring: result
 * @entries: least number of slots; rounded up to a power of two
 * @stride: least bytes to a slot; rounded up to a power of two
 * @udata: of the process that is to map the ring; NULL for a ring of the kernel's own
 * @info: result: place and shape of the ring, for the process; may be NULL without @udata
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL: the ring would be larger than 1 GiB; -ENOMEM: no memory, or RLIMIT_MEMLOCK.
 */
int pib_ring_alloc(struct pib_ring *ring, u32 entries, u32 stride,
		   struct ib_udata *udata, struct pib_ring_info *info);
/*
 * Free a ring. The memory stays with the processes that have it mapped. One that posts into it
 * finds that it has to ring, and its doorbell has no effect. Context: process.
 */
void pib_ring_free(struct pib_ring *ring);

/* Return: the slot of @index, which may be any number. Context: any. */
static inline void *pib_ring_slot(const struct pib_ring *ring, u32 index)
{
	return ring->slots + (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/*
 * Count the slots of a work queue that wait to be taken. Context: any; exact under its lock.
 *
 * Return: their number, never more than the ring holds, whatever the process has written into its
 * index.
 */
static inline u32 pib_ring_pending(const struct pib_ring *ring)
{
	/*
	 * Pairs with the release in the provider, post_sends(), post_recvs(), pib_post_srq_recv().
	 */
	u32 n = smp_load_acquire(&ring->hdr->producer) - ring->index;

	return n <= ring->entries ? n : 0;
}

/* Note that @n slots of a work queue were taken and copied. Context: the queue's lock held. */
static inline void pib_ring_consume(struct pib_ring *ring, u32 n)
{
	ring->index += n;
	/* Pairs with the acquire in the provider, post_sends() and post_recvs(). */
	smp_store_release(&ring->hdr->consumer, ring->index);
}

#endif
