/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The process' end of a ring that it shares with the kernel.
 *
 * Ordering: the side that fills slots publishes them by a release store of the
 * producer index, and the side that takes them hands them back by a release
 * store of the consumer index. Each side loads the other's index with acquire.
 * Only the tests for a sleeping partner (busy, arm) need more: there each side
 * stores one word and then loads the other's, which takes a full barrier on
 * both.
 */
#ifndef PIB_RING_H
#define PIB_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pib-abi.h"

/**
 * struct pib_ring - a mapped ring
 * @hdr: the mapping; NULL if the queue does not exist
 * @slots: the first slot
 * @size: bytes mapped
 * @entries: slots, a power of two. From the kernel's answer, not from the
 *	mapping, as is everything that bounds an access.
 * @stride_shift: log2 of the bytes to a slot
 * @limit: work queues: most slots that may be filled at once
 * @seen: work queues: a consumer index the kernel has published; an old one
 *	only makes the ring look fuller than it is. Under the queue's lock.
 */
struct pib_ring {
	struct pib_ring_hdr *hdr;
	uint8_t *slots;
	size_t size;
	uint32_t entries;
	uint32_t stride_shift;
	uint32_t limit;
	uint32_t seen;
};

int pib_ring_map(struct pib_ring *ring, int cmd_fd,
		 const struct pib_ring_info *info, size_t min_stride,
		 uint32_t limit);
void pib_ring_unmap(struct pib_ring *ring);

static inline void *pib_ring_slot(const struct pib_ring *ring, uint32_t index)
{
	size_t slot = index & (ring->entries - 1);

	return ring->slots + (slot << ring->stride_shift);
}

static inline size_t pib_ring_stride(const struct pib_ring *ring)
{
	return (size_t)1 << ring->stride_shift;
}

/* Work queues: the process is the only one to write this index. */
static inline uint32_t pib_ring_producer(const struct pib_ring *ring)
{
	return __atomic_load_n(&ring->hdr->producer, __ATOMIC_RELAXED);
}

/* Work queues. Return: true if no slot is free at @producer. */
static inline bool pib_ring_full(struct pib_ring *ring, uint32_t producer)
{
	if (producer - ring->seen < ring->limit)
		return false;

	/* Pairs with the release in the kernel's pib_sq_retire() and pib_ring_consume(). */
	ring->seen = __atomic_load_n(&ring->hdr->consumer, __ATOMIC_ACQUIRE);
	return producer - ring->seen >= ring->limit;
}

static inline void pib_ring_publish(struct pib_ring *ring, uint32_t producer)
{
	/* Pairs with the acquire in the kernel's pib_ring_pending(). */
	__atomic_store_n(&ring->hdr->producer, producer, __ATOMIC_RELEASE);
}

/*
 * Send queues, after publishing. Return: true if the kernel needs a doorbell.
 */
static inline bool pib_ring_idle(const struct pib_ring *ring)
{
	/* Pairs with smp_mb() in the kernel's pib_sq_idle(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return !__atomic_load_n(&ring->hdr->busy, __ATOMIC_RELAXED);
}

/*
 * Receive queues, after publishing. Return: true if the kernel asks for a
 * doorbell.
 */
static inline bool pib_ring_armed(const struct pib_ring *ring)
{
	/* Pairs with smp_mb() in the kernel's pib_rq_flush(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->hdr->arm, __ATOMIC_RELAXED);
}

/* Shared receive queues. Return: true if the kernel has given up the ring. */
static inline bool pib_ring_gone(const struct pib_ring *ring)
{
	return __atomic_load_n(&ring->hdr->arm, __ATOMIC_RELAXED);
}

/* Completion queues: the process is the only one to write this index. */
static inline uint32_t pib_ring_consumer(const struct pib_ring *ring)
{
	return __atomic_load_n(&ring->hdr->consumer, __ATOMIC_RELAXED);
}

static inline void pib_ring_consume(struct pib_ring *ring, uint32_t consumer)
{
	/* Pairs with the acquire in the kernel's cq_filled(), before a slot is filled again. */
	__atomic_store_n(&ring->hdr->consumer, consumer, __ATOMIC_RELEASE);
}

/*
 * Completion queues. Return: the number of entries from @consumer on. Indices
 * that make no sense (the device is gone and its memory with it) count as an
 * empty ring.
 */
static inline uint32_t pib_ring_filled(const struct pib_ring *ring,
				       uint32_t consumer)
{
	/* Pairs with the release in the kernel's cq_add(). */
	uint32_t filled = __atomic_load_n(&ring->hdr->producer,
					  __ATOMIC_ACQUIRE) - consumer;

	return filled <= ring->entries ? filled : 0;
}

#endif
