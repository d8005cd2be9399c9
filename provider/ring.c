// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <sys/mman.h>

#include "ring.h"

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static bool ring_info_valid(const struct pib_ring_info *info, size_t min_stride)
{
	uint64_t need = sizeof(struct pib_ring_hdr) +
			(uint64_t)info->entries * info->stride;

	return is_power_of_two(info->entries) &&
	       is_power_of_two(info->stride) &&
	       info->stride >= min_stride && info->size >= need;
}

/**
 * pib_ring_map() - map the ring that a command has answered
 * @ring: filled in; untouched on failure
 * @cmd_fd: the context's command descriptor
 * @info: from the answer; size 0 leaves @ring without a mapping
 * @min_stride: bytes that every slot must be able to hold
 * @limit: most slots to be filled at once
 *
 * Return: 0 or an errno value.
 */
int pib_ring_map(struct pib_ring *ring, int cmd_fd,
		 const struct pib_ring_info *info, size_t min_stride,
		 uint32_t limit)
{
	void *map;

	if (!info->size) {
		*ring = (struct pib_ring){};
		return 0;
	}
	if (!ring_info_valid(info, min_stride))
		return EPROTO;

	map = mmap(NULL, info->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   cmd_fd, (off_t)info->offset);
	if (map == MAP_FAILED)
		return errno;

	*ring = (struct pib_ring){
		.hdr = map,
		.slots = (uint8_t *)map + sizeof(struct pib_ring_hdr),
		.size = info->size,
		.entries = info->entries,
		.stride_shift = (uint32_t)__builtin_ctz(info->stride),
		.limit = limit < info->entries ? limit : info->entries,
	};
	/* Pairs with the release in the kernel's pib_sq_retire() and pib_ring_consume(). */
	ring->seen = __atomic_load_n(&ring->hdr->consumer, __ATOMIC_ACQUIRE);
	return 0;
}

/**
 * pib_ring_unmap() - give the mapping of a ring back
 * @ring: ring, which may have none; has none afterwards
 */
void pib_ring_unmap(struct pib_ring *ring)
{
	if (ring->hdr)
		munmap(ring->hdr, ring->size);
	*ring = (struct pib_ring){};
}
