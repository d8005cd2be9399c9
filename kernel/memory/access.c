// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The data path's view of registered memory. A key and a range become a
 * span once, with every check. Spans are then read, written and operated
 * on without further checks.
 *
 * A span without a region is memory of the kernel's own (the reserved
 * L_Key), or empty.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include "memory/access.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "memory/odp.h"
#include "memory/pd.h"

#define ASKS_MAX	(120 * 1000 / PIB_MEM_ASK_MSEC)	/* two minutes */

/* Number of requests by pib_mem_ask_back() */
static atomic_t mem_asked;

static int mr_check_key(const struct pib_mr *mr, const struct pib_pd *pd, u32 key, int access)
{
	/* Pairs with the release in pib_mr_reg() and pib_mr_publish(). */
	if (!smp_load_acquire(&mr->valid) || mr->k.key != key || mr->k.pd != pd)
		return -EINVAL;
	return access & ~mr->access ? -EACCES : 0;
}

static int mr_check(const struct pib_mr *mr, const struct pib_pd *pd, u32 key, u64 addr, u32 len,
		    int access)
{
	const struct pib_mr_map *map = &mr->map;
	int err = mr_check_key(mr, pd, key, access);

	if (err)
		return err;
	/* No sum is made of untrusted values: it could wrap. */
	if (addr < map->iova || len > map->length || addr - map->iova > map->length - len)
		return -ERANGE;
	return 0;
}

/* The reference is taken first, then the region is checked: see mr.c. */
static int mr_get(struct pib_mr *mr, const struct pib_pd *pd, u32 key, u64 addr, u32 len,
		  int access, struct pib_span *span)
{
	int err;

	if (!refcount_inc_not_zero(&mr->ref))
		return -EINVAL;
	/* Pairs with smp_mb() in mr_invalidate() and smp_wmb() in mr_resume(). */
	smp_mb__after_atomic();
	err = mr_check(mr, pd, key, addr, len, access);
	if (err) {
		pib_mr_put(mr);
		return err;
	}
	*span = (struct pib_span) { .mr = mr, .addr = addr, .len = len };
	return 0;
}

int pib_mem_get_local(struct pib_pd *pd, u32 lkey, u64 addr, u32 len, int access,
		      struct pib_span *span)
{
	struct pib_key *k;
	int err = -EINVAL;

	/* 10.6.3.2: nothing is accessed, nothing is checked */
	if (!len || (!pd->user && lkey == pd->ib.device->local_dma_lkey)) {
		*span = (struct pib_span) { .addr = addr, .len = len };
		return 0;
	}

	rcu_read_lock();
	k = pib_key_find(pd->keys, lkey);
	if (k && k->kind == PIB_KEY_MR)
		err = mr_get(container_of(k, struct pib_mr, k), pd, lkey, addr, len, access, span);
	rcu_read_unlock();
	return err;
}

static int remote_get(struct pib_mem_ctx ctx, struct pib_key *k, u32 rkey, u64 addr, u32 len,
		      int access, struct pib_span *span)
{
	if (!k)
		return -EINVAL;
	if (k->kind == PIB_KEY_MW)
		return pib_window_get(ctx, container_of(k, struct pib_window, k), rkey, addr, len,
				      access, span);
	return mr_get(container_of(k, struct pib_mr, k), ctx.pd, rkey, addr, len, access, span);
}

int pib_mem_get_remote(struct pib_mem_ctx ctx, u32 rkey, u64 addr, u32 len, int access,
		       struct pib_span *span)
{
	int err;

	/* C9-88: the R_Key of an empty request is not looked at */
	if (!len) {
		*span = (struct pib_span) {};
		return 0;
	}

	rcu_read_lock();
	err = remote_get(ctx, pib_key_find(ctx.pd->keys, rkey), rkey, addr, len, access, span);
	rcu_read_unlock();
	return err;
}

static int mem_check_key(struct pib_mem_ctx ctx, struct pib_key *k, u32 rkey, int access)
{
	struct pib_mr *mr;
	int err;

	if (!k)
		return -EINVAL;
	if (k->kind == PIB_KEY_MW)
		return pib_window_check_key(ctx, container_of(k, struct pib_window, k), rkey,
					    access);
	mr = container_of(k, struct pib_mr, k);
	if (!refcount_inc_not_zero(&mr->ref))
		return -EINVAL;
	/* As in mr_get(). */
	smp_mb__after_atomic();
	err = mr_check_key(mr, ctx.pd, rkey, access);
	pib_mr_put(mr);
	return err;
}

int pib_mem_check_remote(struct pib_mem_ctx ctx, u32 rkey, int access)
{
	int err;

	rcu_read_lock();
	err = mem_check_key(ctx, pib_key_find(ctx.pd->keys, rkey), rkey, access);
	rcu_read_unlock();
	return err;
}

void pib_mem_put(struct pib_span *span)
{
	if (span->win)
		pib_window_put(span->win);
	if (span->mr)
		pib_mr_put(span->mr);
	span->win = NULL;
	span->mr = NULL;
}

/* Address of the byte @addr of the region, and how many of @len follow it without a gap. */
static void *map_addr(const struct pib_mr_map *map, u64 addr, u32 *len)
{
	u64 size = BIT_ULL(map->shift), pos, i, run;

	if (!map->pages)
		return (void *)(map->linear + (unsigned long)(addr - map->iova));

	pos = addr - map->iova + map->base;
	i = pos >> map->shift;
	if (i >= map->npages)
		return NULL;
	pos &= size - 1;
	addr = map->pages[i] + pos;
	for (run = size - pos; run < *len; run += size, i++)
		if (i + 1 >= map->npages || map->pages[i + 1] != map->pages[i] + size)
			break;
	*len = min_t(u64, *len, run);
	return (void *)(unsigned long)addr;
}

void *pib_span_map(const struct pib_span *span, u32 off, u32 *len)
{
	if (off >= span->len) {
		*len = 0;
		return NULL;
	}
	*len = min(*len, span->len - off);
	if (!span->mr)
		return (void *)(unsigned long)(span->addr + off);
	return map_addr(&span->mr->map, span->addr + off, len);
}

void pib_mem_ask_back(void)
{
	atomic_inc(&mem_asked);
}

bool pib_mem_is_asked(u32 *seen)
{
	u32 now = atomic_read(&mem_asked);
	bool asked = now != *seen;

	*seen = now;
	return asked;
}

void pib_mem_wait(struct completion *gone)
{
	u32 asks = 0;

	while (!wait_for_completion_timeout(gone, msecs_to_jiffies(PIB_MEM_ASK_MSEC))) {
		pib_mem_ask_back();
		/* The hung-task detector does not see a task that wakes. */
		asks++;
		WARN_ONCE(asks == ASKS_MAX, "memory was asked for, and nobody gives it back\n");
	}
}

bool pib_span_is_wanted(const struct pib_span *span)
{
	return (span->mr && READ_ONCE(span->mr->wanted)) ||
	       (span->win && READ_ONCE(span->win->closing));
}

bool pib_span_pageable(const struct pib_span *span)
{
	return span->mr && span->mr->odp;
}

void *pib_span_enter(const struct pib_span *span, u32 off, u32 *len, bool write,
		     struct pib_odp_chunk **held)
{
	void *p;

	*held = NULL;
	if (!pib_span_pageable(span))
		return pib_span_map(span, off, len) ?: ERR_PTR(-EFAULT);
	if (off >= span->len)
		return ERR_PTR(-EFAULT);
	*len = min(*len, span->len - off);
	p = pib_odp_enter(span->mr->odp, pib_mr_va(span->mr, span->addr + off), len, write, held);
	return p ?: ERR_PTR(-EAGAIN);
}

int pib_span_get(const struct pib_span *span, void *dst)
{
	struct pib_odp_chunk *held;
	u32 off, n;
	void *src;

	for (off = 0; off < span->len; off += n) {
		n = span->len - off;
		src = pib_span_enter(span, off, &n, false, &held);
		if (IS_ERR(src))
			return PTR_ERR(src);
		memcpy(dst + off, src, n);
		pib_span_leave(held);
	}
	return 0;
}

int pib_span_put(const struct pib_span *span, const void *src)
{
	struct pib_odp_chunk *held;
	u32 off, n;
	void *dst;

	for (off = 0; off < span->len; off += n) {
		n = span->len - off;
		dst = pib_span_enter(span, off, &n, true, &held);
		if (IS_ERR(dst))
			return PTR_ERR(dst);
		memcpy(dst, src + off, n);
		pib_span_leave(held);
	}
	return 0;
}

/* Enter the 8 bytes of an atomic operation, which must be aligned (9.4.5). */
static void *atomic_enter(struct pib_span *span, struct pib_odp_chunk **held)
{
	u32 len = sizeof(u64);
	void *p = pib_span_enter(span, 0, &len, true, held);

	if (IS_ERR(p))
		return p;
	if (len == sizeof(u64) && IS_ALIGNED((unsigned long)p, sizeof(u64)))
		return p;
	pib_span_leave(*held);
	return ERR_PTR(-EINVAL);
}

int pib_span_cas(struct pib_span *span, u64 compare, u64 swap, u64 *orig)
{
	struct pib_odp_chunk *held;
	u64 *p = atomic_enter(span, &held);

	if (IS_ERR(p))
		return PTR_ERR(p);
	*orig = cmpxchg64(p, compare, swap);
	pib_span_leave(held);
	return 0;
}

int pib_span_faa(struct pib_span *span, u64 add, u64 *orig)
{
	struct pib_odp_chunk *held;
	atomic64_t *p = atomic_enter(span, &held);

	if (IS_ERR(p))
		return PTR_ERR(p);
	*orig = atomic64_fetch_add(add, p);
	pib_span_leave(held);
	return 0;
}

int pib_span_atomic_write(struct pib_span *span, u64 value)
{
	struct pib_odp_chunk *held;
	atomic64_t *p = atomic_enter(span, &held);

	if (IS_ERR(p))
		return PTR_ERR(p);
	atomic64_xchg(p, value);
	pib_span_leave(held);
	return 0;
}

#define REMOTE_ACCESS (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

static int mr_invalidate(struct pib_mem_ctx ctx, struct pib_mr *mr, u32 key, bool remote)
{
	/* 10.6.5: only a region that was registered by a work request */
	if (mr->type != PIB_MR_TYPE_FAST || READ_ONCE(mr->k.key) != key || mr->k.pd != ctx.pd)
		return -EINVAL;
	/* Without remote access the key is an L_Key alone: a peer that knows it has guessed it. */
	if (remote && !(READ_ONCE(mr->access) & REMOTE_ACCESS))
		return -EINVAL;
	if (atomic_read(&mr->windows))
		return -EINVAL;
	WRITE_ONCE(mr->valid, false);
	/*
	 * Pairs with smp_mb__after_atomic() in mr_get(), which takes a reference, then looks at
	 * @valid. So a CPU whose reference is not seen here finds @valid cleared. A CPU with a
	 * reference may still be copying.
	 */
	smp_mb();
	if (refcount_read(&mr->ref) == 1)
		return 0;
	/* until REG_MR: who still refers to the region has no key for it any more */
	WRITE_ONCE(mr->wanted, true);
	return -EAGAIN;
}

int pib_mem_invalidate(struct pib_mem_ctx ctx, u32 key, bool remote)
{
	struct pib_key *k;
	int err = -EINVAL;

	rcu_read_lock();
	k = pib_key_find(ctx.pd->keys, key);
	if (k && k->kind == PIB_KEY_MW)
		err = pib_window_invalidate(ctx, container_of(k, struct pib_window, k), key);
	else if (k)
		err = mr_invalidate(ctx, container_of(k, struct pib_mr, k), key, remote);
	rcu_read_unlock();
	return err;
}
