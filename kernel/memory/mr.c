// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions.
 *
 * The data path finds a region by its key under RCU and holds a reference
 * while it uses the region. Deregistration first hides the key, then waits until
 * the last reference is gone, then unpins. A region is checked only after the
 * reference was taken. A region is reregistered while it has no references. So a
 * reader sees it as it was before that or as it is after, never in between.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include "compat/compat.h"
#include "memory/access.h"
#include "memory/mr.h"
#include "memory/odp.h"
#include "memory/pd.h"
#include "core/mmap.h"
#include "core/quota.h"
#include "core/refuse.h"

struct pib_mr *pib_mr_alloc(struct pib_pd *pd, enum pib_mr_type type, int access)
{
	struct pib_mr *mr;
	int err;

	err = pib_quota_take(pd->quota, pd->owner, PIB_OBJ_MR);
	if (err)
		return ERR_PTR(err);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	err = -ENOMEM;
	if (!mr)
		goto err_give;
	mr->k.kind = PIB_KEY_MR;
	mr->k.pd = pd;
	mr->type = type;
	mr->access = access;
	refcount_set(&mr->ref, 1);
	init_completion(&mr->gone);

	err = pib_key_reserve(pd->keys, &mr->k);
	if (err)
		goto err_free;
	mr->ib.device = pd->ib.device;
	mr->ib.lkey = mr->k.key;
	mr->ib.rkey = mr->k.key;
	return mr;

err_free:
	kfree(mr);
err_give:
	pib_quota_give(pd->quota, pd->owner, PIB_OBJ_MR);
	return ERR_PTR(err);
}

static void mr_free(struct pib_mr *mr)
{
	struct pib_pd *pd = mr->k.pd;

	if (mr->release)
		mr->release(mr);
	kvfree(mr->map.pages);
	kvfree(mr->set);
	ib_umem_release(mr->umem);
	pib_odp_put(mr->odp);
	pib_quota_give(pd->quota, pd->owner, PIB_OBJ_MR);
	kfree_rcu(mr, rcu);
}

void pib_mr_discard(struct pib_mr *mr)
{
	pib_key_release(mr->k.pd->keys, &mr->k);
	mr_free(mr);
}

void pib_mr_publish(struct pib_mr *mr)
{
	/* Pairs with the acquire in mr_check_key() and mr_suits(). */
	smp_store_release(&mr->valid, mr->type != PIB_MR_TYPE_FAST);
	pib_key_publish(mr->k.pd->keys, &mr->k);
	pib_object_add(mr->k.pd->objects, &mr->obj, PIB_OBJECT_KIND_MR, mr->k.pd->obj.id,
		       pib_pd_kernel(mr->k.pd));
}

u64 pib_mr_va(const struct pib_mr *mr, u64 addr)
{
	return pib_odp_start(mr->odp) + (addr - mr->map.iova);
}

/* Hide the region, and wait for the last of those who have found it, who are asked to let go. */
static void mr_quiesce(struct pib_mr *mr)
{
	pib_key_hide(mr->k.pd->keys, &mr->k);
	WRITE_ONCE(mr->wanted, true);
	pib_mr_put(mr);
	pib_mem_wait(&mr->gone);
}

/* Undo mr_quiesce(): the takers of references from now on see the region as it is now. */
static void mr_resume(struct pib_mr *mr)
{
	reinit_completion(&mr->gone);
	WRITE_ONCE(mr->wanted, false);
	/* Pairs with smp_mb__after_atomic() in mr_get(), which follows its taking a reference. */
	smp_wmb();
	refcount_set(&mr->ref, 1);
	pib_key_publish(mr->k.pd->keys, &mr->k);
}

struct ib_mr *pib_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct pib_mr *mr = pib_mr_alloc(to_pd(ibpd), PIB_MR_TYPE_DMA, access);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->map.length = U64_MAX;
	pib_mr_publish(mr);
	return &mr->ib;
}

/*
 * The kernel addresses of pinned memory, run by run: adjacent entries of the
 * table that touch are one run.
 */
struct run_iter {
	struct scatterlist *sg;
	unsigned int left;
	unsigned long addr;
	u64 len;
};

static void run_start(struct run_iter *it, struct ib_umem *umem)
{
	it->sg = umem->sgt_append.sgt.sgl;
	it->left = umem->sgt_append.sgt.orig_nents;
}

static bool run_next(struct run_iter *it)
{
	if (!it->left)
		return false;
	it->addr = (unsigned long)sg_virt(it->sg);
	it->len = 0;
	do {
		it->len += it->sg->length;
		it->sg = sg_next(it->sg);
		it->left--;
	} while (it->left && (unsigned long)sg_virt(it->sg) == it->addr + it->len);
	return true;
}

/*
 * The size of page and the place of the first byte in the first page for which
 * no page spans two runs: all the places where one run ends and the next begins
 * must be page boundaries.
 */
static u64 map_layout(struct pib_mr_map *map, struct ib_umem *umem)
{
	u64 pos = 0, first = 0, spread = 0;
	struct run_iter it;
	int nruns = 0;

	run_start(&it, umem);
	while (run_next(&it)) {
		if (nruns == 1)
			first = pos;
		if (nruns)
			spread |= pos - first;
		pos += it.len;
		nruns++;
	}
	if (nruns <= 1)
		return 0;

	map->shift = spread ? __ffs64(spread) : ilog2(roundup_pow_of_two(pos));
	map->base = -first & (BIT_ULL(map->shift) - 1);
	map->npages = (pos + map->base + BIT_ULL(map->shift) - 1) >> map->shift;
	return map->npages;
}

static void map_fill(struct pib_mr_map *map, struct ib_umem *umem)
{
	u64 pos = map->base, size = BIT_ULL(map->shift), i = 0;
	struct run_iter it;

	run_start(&it, umem);
	while (run_next(&it)) {
		u64 end = pos + it.len;

		/* the first run may begin, the last one end within a page */
		for (; i < map->npages && i << map->shift < end; i++)
			map->pages[i] = it.addr + (i * size - pos);
		pos = end;
	}
}

static int map_umem(struct pib_mr_map *map, struct ib_umem *umem)
{
	struct run_iter it;

	map->length = umem->length;
	if (!map_layout(map, umem)) {
		run_start(&it, umem);
		if (!run_next(&it))
			return -EINVAL;
		map->linear = it.addr + ib_umem_offset(umem);
		return 0;
	}

	map->pages = kvmalloc_array(map->npages, sizeof(*map->pages), GFP_KERNEL_ACCOUNT);
	if (!map->pages)
		return -ENOMEM;
	map_fill(map, umem);
	map->base += ib_umem_offset(umem);
	return 0;
}

/**
 * struct memory - memory of a process, as a region has it
 * @map: see struct pib_mr
 * @umem: see there
 * @odp: see there
 */
struct memory {
	struct pib_mr_map map;
	struct ib_umem *umem;
	struct pib_odp *odp;
};

static int memory_pin(struct memory *m, struct ib_device *ibdev, u64 start, u64 length, int access)
{
	struct ib_umem *umem = ib_umem_get_va(ibdev, start, length, access);
	int err;

	if (IS_ERR(umem))
		return pib_refuse(ibdev, PTR_ERR(umem), "mr: %llu bytes at %#llx, access %#x: %pe",
				  length, start, access, umem);
	err = map_umem(&m->map, umem);
	if (err) {
		ib_umem_release(umem);
		return err;
	}
	m->umem = umem;
	return 0;
}

static int memory_odp(struct memory *m, struct pib_pd *pd, u64 start, u64 length, int access)
{
	struct pib_odp *odp = pib_odp_create(pd, start, length, access);

	if (IS_ERR(odp))
		return pib_refuse(pd->ib.device, PTR_ERR(odp),
				  "mr: %llu bytes at %#llx on demand, access %#x: %pe", length,
				  start, access, odp);
	m->map.length = length;
	m->odp = odp;
	return 0;
}

/* Get memory of the calling process. */
static int memory_get(struct memory *m, struct pib_pd *pd, u64 start, u64 length, u64 virt,
		      int access)
{
	*m = (struct memory) { .map.iova = access & IB_ZERO_BASED ? 0 : virt };
	if (pib_range_wraps(m->map.iova, length))
		return pib_refuse(pd->ib.device, -EINVAL, "mr: %llu bytes at %#llx", length,
				  m->map.iova);
	if (access & IB_ACCESS_ON_DEMAND)
		return memory_odp(m, pd, start, length, access);
	return memory_pin(m, pd->ib.device, start, length, access);
}

static void memory_swap(struct memory *m, struct pib_mr *mr)
{
	swap(mr->map, m->map);
	swap(mr->umem, m->umem);
	swap(mr->odp, m->odp);
}

static void memory_put(struct memory *m)
{
	kvfree(m->map.pages);
	ib_umem_release(m->umem);
	pib_odp_put(m->odp);
}

struct ib_mr *pib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt,
			      int access, struct ib_udata *udata)
{
	struct memory m;
	struct pib_mr *mr;
	int err;

	err = pib_udata_check(udata, 0);
	if (err)
		return ERR_PTR(err);
	mr = pib_mr_alloc(to_pd(ibpd), PIB_MR_TYPE_USER, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	err = memory_get(&m, mr->k.pd, start, length, virt, access);
	if (err) {
		pib_mr_discard(mr);
		return ERR_PTR(err);
	}
	memory_swap(&m, mr);
	pib_mr_publish(mr);
	return &mr->ib;
}

#define WRITE_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND)

/* Return: true if the memory must be got again: pages got for reading cannot be written to. */
static bool needs_memory(struct pib_mr *mr, int flags, int access)
{
	bool writable = mr->odp ? pib_odp_writable(mr->odp) : mr->umem->writable;

	return (flags & IB_MR_REREG_TRANS) || !mr->odp != !(access & IB_ACCESS_ON_DEMAND) ||
	       ((flags & IB_MR_REREG_ACCESS) && (access & WRITE_ACCESS) && !writable);
}

/*
 * The new memory is pinned before the old is let go, so that a refusal leaves
 * the region as it was. The key stays.
 */
struct ib_mr *pib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 virt,
				int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct pib_mr *mr = to_mr(ibmr);
	struct memory m = {};
	bool anew;
	int err;

	if (mr->type != PIB_MR_TYPE_USER)
		return ERR_PTR(pib_refuse(ibmr->device, -EOPNOTSUPP,
					  "mr %#x: rereg_mr: no memory of the process",
					  ibmr->lkey));
	err = pib_udata_check(udata, 0);
	if (err)
		return ERR_PTR(err);
	if (atomic_read(&mr->windows))
		return ERR_PTR(pib_refuse(ibmr->device, -EBUSY,
					  "mr %#x: rereg_mr: a window is bound",
					  ibmr->lkey));
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (!(flags & IB_MR_REREG_TRANS)) {
		start = mr->odp ? pib_odp_start(mr->odp) : mr->umem->address;
		length = mr->map.length;
		virt = mr->map.iova;
	}
	anew = needs_memory(mr, flags, access);
	if (anew) {
		err = memory_get(&m, mr->k.pd, start, length, virt, access);
		if (err)
			return ERR_PTR(err);
	}

	mr_quiesce(mr);
	/* as in pib_dereg_mr(): windows may have come while memory was pinned */
	if (atomic_read(&mr->windows))
		err = pib_refuse(ibmr->device, -EBUSY,
				 "mr %#x: rereg_mr: a window was just bound", ibmr->lkey);
	if (!err && anew)
		memory_swap(&m, mr);
	if (!err)
		mr->access = access;
	if (!err && flags & IB_MR_REREG_PD)
		mr->k.pd = to_pd(ibpd);
	WRITE_ONCE(mr->obj.parent, mr->k.pd->obj.id);
	mr_resume(mr);

	memory_put(&m);
	return ERR_PTR(err);
}

int pib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct pib_mr *mr = to_mr(ibmr);

	/*
	 * 11.2.8.5: not while windows are bound to it. ib_core (seen in 6.12) has taken the region
	 * out of what `rdma resource` shows by now, and does not put it back.
	 */
	if (atomic_read(&mr->windows))
		return pib_refuse(ibmr->device, -EBUSY, "mr %#x: dereg_mr: a window is bound",
				  ibmr->lkey);
	mr_quiesce(mr);
	/* A bind holds a reference while it counts its window: now the number is final. */
	if (atomic_read(&mr->windows)) {
		mr_resume(mr);
		return pib_refuse(ibmr->device, -EBUSY, "mr %#x: dereg_mr: a window was just bound",
				  ibmr->lkey);
	}
	pib_object_del(mr->k.pd->objects, &mr->obj);
	pib_key_release(mr->k.pd->keys, &mr->k);
	mr_free(mr);
	return 0;
}

struct ib_mr *pib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct pib_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(pib_refuse(ibpd->device, -EOPNOTSUPP, "alloc_mr: type %d", type));
	if (!max_num_sg || max_num_sg > ibpd->device->attrs.max_fast_reg_page_list_len)
		return ERR_PTR(pib_refuse(ibpd->device, -EINVAL, "alloc_mr: %u pages",
					  max_num_sg));

	mr = pib_mr_alloc(to_pd(ibpd), PIB_MR_TYPE_FAST, 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->max_pages = max_num_sg;
	mr->map.pages = kvcalloc(max_num_sg, sizeof(*mr->map.pages), GFP_KERNEL_ACCOUNT);
	mr->set = kvcalloc(max_num_sg, sizeof(*mr->set), GFP_KERNEL_ACCOUNT);
	if (!mr->map.pages || !mr->set) {
		pib_mr_discard(mr);
		return ERR_PTR(-ENOMEM);
	}
	pib_mr_publish(mr);
	return &mr->ib;
}

static int set_page(struct ib_mr *ibmr, u64 addr)
{
	struct pib_mr *mr = to_mr(ibmr);

	if (mr->set_pages == mr->max_pages)
		return -ENOMEM;
	mr->set[mr->set_pages++] = addr;
	return 0;
}

/*
 * The region may still be registered: consumers post LOCAL_INV and do not wait, or map first and
 * post LOCAL_INV with REG_MR. Until then the old key leads to the old pages.
 */
int pib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct pib_mr *mr = to_mr(ibmr);

	if (mr->type != PIB_MR_TYPE_FAST)
		return pib_refuse(ibmr->device, -EINVAL, "mr %#x: map_mr_sg: no region of alloc_mr",
				  ibmr->lkey);
	mr->set_pages = 0;
	mr->is_set = true;
	return ib_sg_to_pages(ibmr, sg, nents, offset, set_page);
}

/*
 * Have the region lead where map_mr_sg has said last. Nobody refers to the region, and no key leads
 * to it. Registered again without a call of map_mr_sg, it keeps its pages.
 */
static void mr_take_set(struct pib_mr *mr)
{
	const struct ib_mr *ib = &mr->ib;
	struct pib_mr_map *map = &mr->map;

	if (mr->is_set) {
		swap(map->pages, mr->set);
		map->npages = mr->set_pages;
		mr->is_set = false;
	}
	map->iova = ib->iova;
	map->length = ib->length;
	map->shift = ilog2(ib->page_size);
	map->base = ib->iova & (ib->page_size - 1);
}

int pib_mr_reg(struct pib_pd *pd, struct ib_mr *ibmr, u32 key, int access)
{
	struct pib_mr *mr = to_mr(ibmr);

	if (mr->type != PIB_MR_TYPE_FAST || mr->k.pd != pd || (key ^ mr->k.key) >> 8)
		return -EINVAL;
	/* No memory here is persistent. Of processes ib_core refuses it, by the capabilities. */
	if (access & IB_ACCESS_FLUSH_PERSISTENT)
		return -EINVAL;
	/* 10.6.5: registered from the free state only */
	if (READ_ONCE(mr->valid) || !is_power_of_2(ibmr->page_size))
		return -EINVAL;
	/* An invalidation that was given up has left users behind, who know that they are to go. */
	if (refcount_read(&mr->ref) > 1)
		return -EAGAIN;

	WRITE_ONCE(mr->wanted, false);
	/* A peer that invalidates the key reads these two without a reference. */
	WRITE_ONCE(mr->k.key, key);
	WRITE_ONCE(mr->access, access);
	mr_take_set(mr);
	/* Pairs with the acquire in mr_check_key() and mr_suits(). */
	smp_store_release(&mr->valid, true);
	return 0;
}
