/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The ring between those who capture packets and the one who reads them.
 *
 * A writer takes room, fills it in, and says later whether it is to be read: whether a burst has
 * passed a port is known when it has landed.
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
 * @lock: of writers, guards @head; softirqs off; nothing is taken under it
 * @base: memory; never changes
 * @size: bytes, a power of two; never changes
 * @head: where the next chunk begins; grows without end
 * @tail: the reader's; what is before it is free
 * @done: bytes of records that were read of the chunk at @tail; the reader's
 */
struct pib_capture_ring {
	spinlock_t lock;
	void *base;
	u32 size;
	u64 head;
	u64 tail;
	u32 done;
};

/* @size: bytes, made a power of two. Process context. Return: 0 or -ENOMEM. */
int pib_capture_ring_init(struct pib_capture_ring *ring, u32 size);
void pib_capture_ring_destroy(struct pib_capture_ring *ring);

/* Room for @bytes of records, a multiple of 8. Softirqs off. Return: NULL: there is none. */
struct pib_capture_chunk *pib_capture_ring_take(struct pib_capture_ring *ring, u32 bytes);
/*
 * The chunk is complete; @keep: it is to be read, else its room is free again, at once if nothing
 * was taken since. Softirqs off.
 */
void pib_capture_ring_give(struct pib_capture_ring *ring, struct pib_capture_chunk *chunk,
			   bool keep);

/*
 * May there be something to read? It may turn out to be nothing, for the burst was refused. Any
 * context.
 */
bool pib_capture_ring_readable(const struct pib_capture_ring *ring);
/*
 * Copy as many whole records as there are and fit. One reader at a time; process context.
 *
 * Return: bytes; -EFAULT: none could be copied.
 */
ssize_t pib_capture_ring_read(struct pib_capture_ring *ring, void __user *to, size_t room);

#endif
