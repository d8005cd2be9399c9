// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The data path's view of registered memory: a key and a range become a
 * segment, once, with every check; segments are then read, written and
 * operated on without further ones.
 *
 * A segment without a region is memory of the kernel's own (the reserved
 * L_Key), or empty.
 */
#include <linux/atomic.h>
#include "burst.h"
#include "hca.h"
#include "mem.h"
#include "mr.h"
#include "mw.h"
#include "pd.h"
#include "qp.h"

/* Under rcu_read_lock(). */
static struct pib_key *key_find(struct pib_hca *hca, u32 key)
{
	struct pib_key *k = pib_hot_guess(&hca->hot_mrs, key >> 8);

	if (k && !((k->key ^ key) >> 8))
		return k;
	return pib_hot_load(&hca->hot_mrs, &hca->mrs, key >> 8);
}

static int mr_check(const struct pib_mr *mr, const struct pib_pd *pd, u32 key, u64 addr, u32 len,
		    int access)
{
	const struct pib_mr_map *map = &mr->map;

	if (!smp_load_acquire(&mr->valid) || mr->k.key != key || mr->k.pd != pd)
		return -EINVAL;
	if (access & ~mr->access)
		return -EACCES;
	/* no sum of untrusted values that could wrap */
	if (addr < map->iova || len > map->length || addr - map->iova > map->length - len)
		return -ERANGE;
	return 0;
}

/* Reference first, checks afterwards: see mr.c. */
static int mr_get(struct pib_mr *mr, const struct pib_pd *pd, u32 key, u64 addr, u32 len,
		  int access, struct pib_seg *seg)
{
	int err;

	if (!refcount_inc_not_zero(&mr->ref))
		return -EINVAL;
	err = mr_check(mr, pd, key, addr, len, access);
	if (err) {
		pib_mr_put(mr);
		return err;
	}
	seg->mr = mr;
	seg->addr = addr;
	seg->len = len;
	return 0;
}

int pib_mem_get_local(struct pib_pd *pd, u32 lkey, u64 addr, u32 len, int access,
		      struct pib_seg *seg)
{
	struct pib_hca *hca = to_hca(pd->ib.device);
	struct pib_key *k;
	int err = -EINVAL;

	/* 10.6.3.2: nothing is accessed, nothing is checked */
	if (!len || (lkey == hca->ib.local_dma_lkey && !pd->user)) {
		*seg = (struct pib_seg) { .addr = addr, .len = len };
		return 0;
	}

	rcu_read_lock();
	k = key_find(hca, lkey);
	if (k && k->kind == PIB_KEY_MR)
		err = mr_get(container_of(k, struct pib_mr, k), pd, lkey, addr, len, access, seg);
	rcu_read_unlock();
	return err;
}

static int remote_get(struct pib_qp *qp, struct pib_key *k, u32 rkey, u64 addr, u32 len,
		      int access, struct pib_seg *seg)
{
	if (!k)
		return -EINVAL;
	if (k->kind == PIB_KEY_MW)
		return pib_window_get(qp, container_of(k, struct pib_window, k), rkey, addr, len,
				      access, seg);
	return mr_get(container_of(k, struct pib_mr, k), pib_qp_remote_pd(qp), rkey, addr, len,
		      access, seg);
}

int pib_mem_get_remote(struct pib_qp *qp, u32 rkey, u64 addr, u32 len, int access,
		       struct pib_seg *seg)
{
	int err;

	/* C9-88: the R_Key of an empty request is not looked at */
	if (!len) {
		*seg = (struct pib_seg) {};
		return 0;
	}

	rcu_read_lock();
	err = remote_get(qp, key_find(qp->hca, rkey), rkey, addr, len, access, seg);
	rcu_read_unlock();
	return err;
}

/* Where the region or window begins. A window may be bound anew meanwhile: then it is refused, or begins elsewhere. */
static u64 key_start(const struct pib_key *k)
{
	if (k->kind == PIB_KEY_MW)
		return READ_ONCE(container_of(k, struct pib_window, k)->first);
	return container_of(k, struct pib_mr, k)->map.iova;
}

int pib_mem_check_remote(struct pib_qp *qp, u32 rkey, int access)
{
	struct pib_seg seg = {};
	struct pib_key *k;
	int err = -EINVAL;

	rcu_read_lock();
	k = key_find(qp->hca, rkey);
	if (k)
		err = remote_get(qp, k, rkey, key_start(k), 0, access, &seg);
	rcu_read_unlock();
	pib_mem_put(&seg);
	return err;
}

void pib_mem_put(struct pib_seg *seg)
{
	if (seg->mr)
		pib_mr_put(seg->mr);
	seg->mr = NULL;
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

void *pib_seg_map(const struct pib_seg *seg, u32 off, u32 *len)
{
	if (off >= seg->len) {
		*len = 0;
		return NULL;
	}
	*len = min(*len, seg->len - off);
	if (!seg->mr)
		return (void *)(unsigned long)(seg->addr + off);
	return map_addr(&seg->mr->map, seg->addr + off, len);
}

int pib_seg_write(struct pib_seg *seg, u32 off, struct pib_burst *b, u32 b_off, u32 len)
{
	while (len) {
		u32 n = len;
		const void *src;
		void *dst;

		dst = pib_seg_map(seg, off, &n);
		if (!dst)
			return -EFAULT;
		src = pib_burst_chunk(b, b_off, &n);
		if (!src || !n)
			return -EFAULT;
		memcpy(dst, src, n);
		off += n;
		b_off += n;
		len -= n;
	}
	return 0;
}

/* 8 bytes that can be operated on at once (9.4.5: aligned). */
static void *atomic_addr(struct pib_seg *seg)
{
	u32 len = sizeof(u64);
	void *p = pib_seg_map(seg, 0, &len);

	if (!p || len != sizeof(u64) || !IS_ALIGNED((unsigned long)p, sizeof(u64)))
		return NULL;
	return p;
}

int pib_seg_cas(struct pib_seg *seg, u64 compare, u64 swap, u64 *orig)
{
	u64 *p = atomic_addr(seg);

	if (!p)
		return -EINVAL;
	*orig = cmpxchg64(p, compare, swap);
	return 0;
}

int pib_seg_faa(struct pib_seg *seg, u64 add, u64 *orig)
{
	atomic64_t *p = atomic_addr(seg);

	if (!p)
		return -EINVAL;
	*orig = atomic64_fetch_add(add, p);
	return 0;
}

int pib_seg_atomic_write(struct pib_seg *seg, u64 value)
{
	atomic64_t *p = atomic_addr(seg);

	if (!p)
		return -EINVAL;
	atomic64_xchg(p, value);
	return 0;
}

static int mr_invalidate(struct pib_qp *qp, struct pib_mr *mr, u32 key)
{
	/* 10.6.5: only what was registered by a work request */
	if (mr->type != PIB_MR_FAST || mr->k.key != key || mr->k.pd != pib_qp_remote_pd(qp))
		return -EINVAL;
	if (atomic_read(&mr->windows))
		return -EINVAL;
	WRITE_ONCE(mr->valid, false);
	return 0;
}

int pib_mem_invalidate(struct pib_qp *qp, u32 key, bool remote)
{
	struct pib_key *k;
	int err = -EINVAL;

	rcu_read_lock();
	k = key_find(qp->hca, key);
	if (k && k->kind == PIB_KEY_MW)
		err = pib_window_invalidate(qp, container_of(k, struct pib_window, k), key);
	else if (k)
		err = mr_invalidate(qp, container_of(k, struct pib_mr, k), key);
	rcu_read_unlock();
	return err;
}
