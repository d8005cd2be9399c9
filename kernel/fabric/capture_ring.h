/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rings of captures, between the CPUs that write records and the one reader.
 *
 * A writer takes room, fills it in, and decides later whether a reader gets to see it: whether a
 * burst has passed a port is known only when it has landed.
 */
#ifndef PIB_FABRIC_CAPTURE_RING_H
#define PIB_FABRIC_CAPTURE_RING_H

#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct pib_capture_chunk - records that were written at once
 * @len: bytes, this header included; a multiple of 8
 * @state: enum in capture_ring.c; the writer's release pairs with the reader's acquire
 * @used: bytes of @data that are records; the writer's until the chunk is given
 * @reserved: none, @data is aligned to 8
 * @data: the records
 */
struct pib_capture_chunk {
	u32 len;
	u32 state;
	u32 used;
	u32 reserved;
	u8 data[];
};

/**
 * struct pib_capture_ring - chunks in the order in which their room was taken
 * @lock: guards @head among writers; softirqs off; no other lock is taken under it
 * @base: memory; never changes
 * @size: bytes, a power of two; never changes
 * @head: where the next chunk begins; grows without end
 * @tail: end of the room that is free again; written by the reader only
 * @done: bytes of records already read of the chunk at @tail; used by the reader only
 */
struct pib_capture_ring {
	spinlock_t lock;
	void *base;
	u32 size;
	u64 head;
	u64 tail;
	u32 done;
};

/*
 * Set up a ring of @size bytes, rounded up to a power of two.
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int pib_capture_ring_init(struct pib_capture_ring *ring, u32 size);
/* Free the memory of a ring that nobody uses any more. Context: process. */
void pib_capture_ring_destroy(struct pib_capture_ring *ring);

/*
 * Take room for @bytes of records, a multiple of 8.
 *
 * Context: softirqs off.
 * Return: the chunk; NULL: no room.
 */
struct pib_capture_chunk *pib_capture_ring_take(struct pib_capture_ring *ring, u32 bytes);
/*
 * Give a chunk that is complete to the reader if @keep is true. Else free its room, at once if
 * nothing was taken since. Context: softirqs off.
 */
void pib_capture_ring_give(struct pib_capture_ring *ring, struct pib_capture_chunk *chunk,
			   bool keep);

/*
 * Return: true if there may be something to read. A read may still find nothing, if the burst was
 * refused. Context: any.
 */
bool pib_capture_ring_readable(const struct pib_capture_ring *ring);
/*
 * Copy as many whole records to user space as there are and fit.
 *
 * Context: process; one reader at a time.
 * Return: bytes copied; -EFAULT: none could be copied.
 */
ssize_t pib_capture_ring_read(struct pib_capture_ring *ring, void __user *to, size_t room);

#endif
