// SPDX-License-Identifier: GPL-2.0
/*
 * Registered memory of the program: where something from elsewhere may land in it, and what is in
 * it. It is read by the kernel's help, for it may be gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include "memory.h"

/* Regions that are known at one time; of others nothing is said. */
#define REGIONS	256
/* Bytes of a piece that are summed up at its begin, and at its end. */
#define SUMMED	32768

/* enum ibv_access_flags */
enum {
	REMOTE_WRITE = 1 << 1,
	REMOTE_ATOMIC = 1 << 3,
	MW_BIND = 1 << 4,
	ZERO_BASED = 1 << 5,
};

/* @low, @high: what comes from elsewhere lands there, as far as the program has said so by now. */
static struct region {
	uint64_t addr, length;
	uint32_t lkey;
	int is_open;
	uint64_t low, high;
} regions[REGIONS];

/* The place of @mr, or NULL. libibverbs' calls go by each other, and come here once for each. */
static struct region *same_region(const struct mr *mr)
{
	size_t i;

	for (i = 0; i < REGIONS; i++) {
		struct region *r = &regions[i];

		if (r->length && r->lkey == mr->lkey && r->addr == (uintptr_t)mr->addr &&
		    r->length == mr->length)
			return r;
	}
	return NULL;
}

static struct region *free_region(void)
{
	size_t i;

	for (i = 0; i < REGIONS; i++)
		if (!regions[i].length)
			return &regions[i];
	return NULL;
}

/* By a memory window that is bound to it peers may write, too. */
void memory_made(const struct mr *mr, unsigned int access)
{
	int is_open = !!(access & (REMOTE_WRITE | REMOTE_ATOMIC | MW_BIND));
	struct region *r;

	if (!mr || (access & ZERO_BASED))
		return;
	take_lock();
	r = same_region(mr);
	if (r) {
		r->is_open |= is_open;
	} else {
		r = free_region();
		if (r)
			*r = (struct region){ .addr = (uintptr_t)mr->addr,
					      .length = mr->length,
					      .lkey = mr->lkey,
					      .is_open = is_open };
	}
	give_lock();
}

void memory_gone(const struct mr *mr)
{
	size_t i;

	take_lock();
	for (i = 0; i < REGIONS; i++)
		if (regions[i].length && regions[i].lkey == mr->lkey)
			regions[i].length = 0;
	give_lock();
}

static int overlaps(const struct piece *p, uint64_t low, uint64_t high)
{
	return p->addr < high && low < p->addr + p->length;
}

/*
 * Return: whether @p is memory of the program by its own address, to which nothing comes from
 * elsewhere.
 */
static int is_quiet_piece(const struct piece *p)
{
	int known = 0;
	size_t i;

	for (i = 0; i < REGIONS; i++) {
		const struct region *r = &regions[i];

		if (!r->length)
			continue;
		known |= r->lkey == p->lkey && p->addr >= r->addr &&
			 p->addr + p->length <= r->addr + r->length;
		if (overlaps(p, r->low, r->high) ||
		    (r->is_open && overlaps(p, r->addr, r->addr + r->length)))
			return 0;
	}
	return known;
}

int is_quiet(const struct piece *pieces, int num)
{
	int i, quiet = 1;

	for (i = 0; i < num && quiet; i++)
		quiet = is_quiet_piece(&pieces[i]);
	return quiet;
}

void lands(const struct piece *p)
{
	size_t i;

	for (i = 0; i < REGIONS; i++) {
		struct region *r = &regions[i];

		if (!r->length || r->lkey != p->lkey)
			continue;
		if (!r->high || p->addr < r->low)
			r->low = p->addr;
		if (p->addr + p->length > r->high)
			r->high = p->addr + p->length;
	}
}

/* There is no way to read memory now, which says nothing of the memory. */
#define NO_WAY	(-2)

static ssize_t read_mem_file(void *to, uint64_t addr, size_t length)
{
	int file = open("/proc/thread-self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (file < 0)
		return NO_WAY;
	got = pread(file, to, length, (off_t)addr);
	close(file);
	return got;
}

/* Kernels may be built without the call, and containers may forbid it: it is the cheaper way. */
static ssize_t read_memory(void *to, uint64_t addr, size_t length)
{
	struct iovec here = { to, length };
	struct iovec there = { (void *)(uintptr_t)addr, length };
	ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);

	if (got < 0 && errno != EFAULT)
		got = read_mem_file(to, addr, length);
	return got;
}

static uint64_t add_bytes(uint64_t sum, uint64_t addr, uint64_t length)
{
	unsigned char bytes[8192];

	while (length) {
		size_t most = length < sizeof(bytes) ? length : sizeof(bytes);
		ssize_t i, got = read_memory(bytes, addr, most);

		if (got == NO_WAY)
			return 0;
		if (got <= 0)
			break;
		for (i = 0; i < got; i++)
			sum = (sum ^ bytes[i]) * 0x100000001b3ULL;
		addr += (uint64_t)got;
		length -= (uint64_t)got;
	}
	return sum;
}

uint64_t sum_up(const struct piece *pieces, int num)
{
	uint64_t sum = 0xcbf29ce484222325ULL;
	int i;

	for (i = 0; i < num; i++) {
		const struct piece *p = &pieces[i];
		uint64_t head = p->length < SUMMED ? p->length : SUMMED, tail = p->length - head;

		if (tail > SUMMED)
			tail = SUMMED;
		sum = add_bytes(sum, p->addr, head);
		if (sum)
			sum = add_bytes(sum, p->addr + p->length - tail, tail);
		if (!sum)
			break;
	}
	return sum;
}

void pieces_land(const struct piece *pieces, size_t num)
{
	size_t i;

	take_lock();
	for (i = 0; i < num; i++)
		lands(&pieces[i]);
	give_lock();
}
