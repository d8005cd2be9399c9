// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rings of captures, between the CPUs that write records and the one reader. */
#include <linux/log2.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "uapi/linux/pib_capture.h"
#include "fabric/capture_ring.h"

enum chunk_state {
	CHUNK_BUSY,	/* being written, or its burst has not landed yet */
	CHUNK_READY,
	CHUNK_SKIP,
};

int pib_capture_ring_init(struct pib_capture_ring *ring, u32 size)
{
	spin_lock_init(&ring->lock);
	ring->size = roundup_pow_of_two(size);
	ring->base = __vmalloc(ring->size, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	return ring->base ? 0 : -ENOMEM;
}

void pib_capture_ring_destroy(struct pib_capture_ring *ring)
{
	vfree(ring->base);
}

static struct pib_capture_chunk *chunk_at(const struct pib_capture_ring *ring, u64 at)
{
	return ring->base + (at & (ring->size - 1));
}

/* Mark the @len bytes before the end of the memory as unused. */
static void chunk_skip(struct pib_capture_ring *ring, u32 len)
{
	struct pib_capture_chunk *c = chunk_at(ring, ring->head);

	c->len = len;
	/* Pairs with the acquire in next_chunk(). */
	smp_store_release(&c->state, CHUNK_SKIP);
}

struct pib_capture_chunk *pib_capture_ring_take(struct pib_capture_ring *ring, u32 bytes)
{
	u32 len = sizeof(struct pib_capture_chunk) + bytes, rest, skip;
	struct pib_capture_chunk *c = NULL;

	spin_lock(&ring->lock);
	rest = ring->size - (ring->head & (ring->size - 1));
	skip = rest < len ? rest : 0;
	/* Pairs with the release in chunk_pass(): the reader is done with what it has passed. */
	if (ring->head + skip + len - smp_load_acquire(&ring->tail) <= ring->size) {
		c = chunk_at(ring, ring->head + skip);
		c->len = len;
		c->used = bytes;
		WRITE_ONCE(c->state, CHUNK_BUSY);
		if (skip)
			chunk_skip(ring, skip);
		/* Pairs with the acquire in next_chunk(): a reader that sees it sees its header. */
		smp_store_release(&ring->head, ring->head + skip + len);
	}
	spin_unlock(&ring->lock);
	return c;
}

/*
 * Give the room of @c back if nothing was taken since, so that a burst that is refused over and
 * over does not fill the ring. The reader does not pass a busy chunk.
 *
 * Return: true if the room was given back.
 */
static bool chunk_untake(struct pib_capture_ring *ring, const struct pib_capture_chunk *c)
{
	bool last;

	spin_lock(&ring->lock);
	last = chunk_at(ring, ring->head - c->len) == c;
	if (last)
		/* Pairs with the acquire in next_chunk(). */
		smp_store_release(&ring->head, ring->head - c->len);
	spin_unlock(&ring->lock);
	return last;
}

void pib_capture_ring_give(struct pib_capture_ring *ring, struct pib_capture_chunk *chunk,
			   bool keep)
{
	if (!keep && chunk_untake(ring, chunk))
		return;
	/* Pairs with the acquire in next_chunk(): the records are complete. */
	smp_store_release(&chunk->state, keep ? CHUNK_READY : CHUNK_SKIP);
}

static void chunk_pass(struct pib_capture_ring *ring, const struct pib_capture_chunk *c)
{
	ring->done = 0;
	/* Pairs with the acquire in pib_capture_ring_take(). */
	smp_store_release(&ring->tail, ring->tail + c->len);
}

/* Pass over chunks that are skipped. Return: the next chunk to read; NULL: none yet. */
static struct pib_capture_chunk *next_chunk(struct pib_capture_ring *ring)
{
	struct pib_capture_chunk *c;
	u32 state;

	/* Pairs with the release in pib_capture_ring_take(). */
	while (smp_load_acquire(&ring->head) != ring->tail) {
		c = chunk_at(ring, ring->tail);
		/* Pairs with the releases in pib_capture_ring_give() and chunk_skip(). */
		state = smp_load_acquire(&c->state);
		if (state == CHUNK_BUSY)
			return NULL;
		if (state == CHUNK_READY)
			return c;
		chunk_pass(ring, c);
	}
	return NULL;
}

bool pib_capture_ring_readable(const struct pib_capture_ring *ring)
{
	u64 tail = READ_ONCE(ring->tail);

	/* Pairs with the release in pib_capture_ring_take(). */
	return smp_load_acquire(&ring->head) != tail &&
	       READ_ONCE(chunk_at(ring, tail)->state) != CHUNK_BUSY;
}

/* Return: bytes of the whole records of @c behind the @done bytes already read, @room at most. */
static u32 chunk_fits(const struct pib_capture_chunk *c, u32 done, size_t room)
{
	const struct pib_capture_packet *p;
	u32 end = done;

	while (end < c->used) {
		p = (const void *)c->data + end;
		if (end + p->size - done > room)
			break;
		end += p->size;
	}
	return end - done;
}

ssize_t pib_capture_ring_read(struct pib_capture_ring *ring, void __user *to, size_t room)
{
	struct pib_capture_chunk *c;
	size_t sum = 0;
	u32 n;

	while ((c = next_chunk(ring))) {
		n = chunk_fits(c, ring->done, room - sum);
		if (!n)
			break;
		if (copy_to_user(to + sum, c->data + ring->done, n))
			return sum ?: -EFAULT;
		sum += n;
		ring->done += n;
		if (ring->done == c->used)
			chunk_pass(ring, c);
	}
	return sum;
}
