// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging.
 *
 * ib_core's umem follows the process's page tables and sleeps for that. The data
 * path does not sleep: it reads a table of kernel addresses of its own, page by page,
 * under a lock that invalidation takes for writing. So once invalidation has
 * returned no copy touches the page, and a copy holds up invalidation for no
 * longer than a page takes.
 *
 * An implicit region is made of chunks, which appear where something is mapped
 * and is accessed. Chunks without pages go when there are twice as many chunks as
 * were left the last time. So the number of chunks follows that of those in use.
 *
 * The work that brings a page in holds a reference on the memory, not on its region. For the page
 * may never come, and a region has to be deregistered all the same, above all when its process
 * ends. The memory is then released when the wait ends.
 *
 * Allocations made here are charged to the process whose memory it is, also where
 * a work item makes them.
 */
#include <linux/fs.h>
#include <linux/hmm.h>
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_umem_odp.h>
#include "compat/compat.h"
#include "memory/odp.h"
#include "memory/pager.h"
#include "memory/pd.h"
#include "core/quota.h"
#include "core/refuse.h"

#define CHUNK_SHIFT	21
#define CHUNK_SIZE	(1UL << CHUNK_SHIFT)
#define CHUNK_PAGES	(CHUNK_SIZE >> PAGE_SHIFT)
/* A region with fewer chunks than this is not searched for chunks without pages. */
#define CHUNKS_FEW	64

/* Entries cleared under the lock at once. A CPU that touches pages waits, with softirqs off. */
#define CLEAR_BATCH	512

/* Bits of a page's entry beside its address. */
#define ENTRY_PRESENT	1UL
#define ENTRY_WRITE	2UL	/* may be written to; alone: could be, page not marked dirty yet */

/**
 * struct pib_odp_chunk - a range of pages
 * @umem: ib_core's part; its umem_mutex serialises changes of @pages
 * @lock: held for reading while a page is touched, for writing while pages are taken away
 * @first: address of the first page in the process
 * @npages: entries in @pages
 * @users: implicit: calls that are bringing pages in; guarded by the region's @grow
 * @next: implicit: in a list of chunks that are released
 * @pages: kernel address of each and bits; read without umem_mutex
 */
struct pib_odp_chunk {
	struct ib_umem_odp *umem;
	rwlock_t lock;
	unsigned long first;
	unsigned long npages;
	unsigned int users;
	struct pib_odp_chunk *next;
	unsigned long pages[];
};

/**
 * struct pib_odp - memory of a region
 * @ibdev: device of the region; the struct is kept, not the device's registration
 * @quota: of @ibdev
 * @owner: see pib_quota_take()
 * @ref: the region's, and one for each that brings pages in
 * @reap: releases the memory where the last reference is put by work
 * @mm: of the process; the struct is kept, not what the process has mapped
 * @pager: where work for this memory is done
 * @umem: implicit: stands for the process; else NULL
 * @whole: explicit: all of it
 * @chunks: implicit: by address >> CHUNK_SHIFT; to touch pages they are looked up under RCU
 * @grow: guards @chunks, @num_chunks and @reap_at
 * @num_chunks: entries in @chunks
 * @reap_at: number of chunks at which those without pages are released
 * @start: address of the region's first byte
 * @writable: pages may be paged in for writing
 */
struct pib_odp {
	struct ib_device *ibdev;
	struct pib_quota *quota;
	struct pib_user *owner;
	refcount_t ref;
	struct work_struct reap;
	struct mm_struct *mm;
	struct pib_pager *pager;
	struct ib_umem_odp *umem;
	struct pib_odp_chunk *whole;
	struct xarray chunks;
	struct mutex grow;
	unsigned long num_chunks;
	unsigned long reap_at;
	u64 start;
	bool writable;
};

/* Releases memory whose last reference is put by work. */
static struct workqueue_struct *reaper;

/* Number of struct pib_odp, whose pages work may wait for. The module waits until there is none. */
static atomic_t alive = ATOMIC_INIT(0);

/*
 * Take the references on the device that memory needs. They do not keep the device registered: a
 * page that does not come would hold up the end of the registration, and all who wait for that.
 */
static int odp_hold_device(struct pib_odp *odp, struct pib_pd *pd)
{
	int err = pib_quota_take(pd->quota, pd->owner, PIB_OBJ_ODP);

	if (err)
		return err;
	odp->ibdev = pd->ib.device;
	odp->quota = pd->quota;
	odp->owner = pd->owner;
	get_device(odp->ibdev->dev.parent);
	get_device(&odp->ibdev->dev);
	atomic_inc(&alive);
	return 0;
}

static void odp_release_device(struct pib_odp *odp)
{
	struct device *parent = odp->ibdev->dev.parent;

	pib_quota_give(odp->quota, odp->owner, PIB_OBJ_ODP);
	put_device(&odp->ibdev->dev);
	put_device(parent);
	/* Pairs with wait_var_event() in pib_odp_exit(). */
	if (atomic_dec_and_test(&alive))
		wake_up_var(&alive);
}

bool pib_odp_writable(const struct pib_odp *odp)
{
	return odp->writable;
}

u64 pib_odp_start(const struct pib_odp *odp)
{
	return odp->start;
}

/* ---- taking pages away ---- */

static void clear_batch(struct pib_odp_chunk *c, unsigned long from, unsigned long to)
{
	unsigned long i, entry;

	lockdep_assert_held(&c->umem->umem_mutex);

	/* umem_mutex is held: nobody adds pages meanwhile. */
	while (from < to && !c->pages[from])
		from++;
	if (from == to)
		return;

	write_lock_bh(&c->lock);
	for (i = from; i < to; i++)
		if (c->pages[i])
			WRITE_ONCE(c->pages[i], c->pages[i] & ~ENTRY_PRESENT);
	write_unlock_bh(&c->lock);

	for (i = from; i < to; i++) {
		entry = c->pages[i];
		WRITE_ONCE(c->pages[i], 0);
		if (entry & ENTRY_WRITE)
			folio_mark_dirty(page_folio(virt_to_page((void *)(entry & PAGE_MASK))));
	}
}

/* Clear the entries [from, to), which nobody uses any more when this returns. */
static void chunk_clear(struct pib_odp_chunk *c, unsigned long from, unsigned long to)
{
	unsigned long end;

	for (; from < to; from = end) {
		end = min(from + CLEAR_BATCH, to);
		clear_batch(c, from, end);
		cond_resched();
	}
}

static bool odp_invalidate(struct mmu_interval_notifier *mni,
			   const struct mmu_notifier_range *range, unsigned long seq)
{
	struct ib_umem_odp *umem = container_of(mni, struct ib_umem_odp, notifier);
	unsigned long start = max(ib_umem_start(umem), range->start);
	unsigned long end = min(ib_umem_end(umem), range->end);
	struct pib_odp_chunk *c;

	if (!mmu_notifier_range_blockable(range))
		return false;

	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(mni, seq);
	/* Without a chunk nothing was ever mapped. */
	c = umem->private;
	if (c)
		chunk_clear(c, (start - c->first) >> PAGE_SHIFT,
			    (end - c->first + PAGE_SIZE - 1) >> PAGE_SHIFT);
	if (umem->npages)
		ib_umem_odp_unmap_dma_pages(umem, start, end);
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops odp_ops = {
	.invalidate = odp_invalidate,
};

/* ---- chunks ---- */

/*
 * Tables are as long as the range, whether or not anything is mapped there. So their entries are
 * limited for each user, before ib_core makes its own.
 */
static int charge_tables(struct pib_odp *odp, u64 npages)
{
	u32 max = pib_quota_max(PIB_OBJ_ODP_PAGES);

	if (npages > max)
		return pib_refuse(odp->ibdev, -ENOMEM, "%llu pages paged on demand, of %u", npages,
				  max);
	return pib_quota_charge(odp->quota, odp->owner, PIB_OBJ_ODP_PAGES, npages);
}

static void uncharge_tables(struct pib_odp *odp, u64 npages)
{
	pib_quota_uncharge(odp->quota, odp->owner, PIB_OBJ_ODP_PAGES, npages);
}

/* Make a chunk, which owns @umem. On failure @umem is released. Return: the chunk; ERR_PTR(). */
static struct pib_odp_chunk *chunk_create(struct ib_umem_odp *umem)
{
	unsigned long npages = (ib_umem_end(umem) - ib_umem_start(umem)) >> PAGE_SHIFT;
	struct pib_odp_chunk *c;

	c = kvzalloc(struct_size(c, pages, npages), GFP_KERNEL_ACCOUNT);
	if (!c) {
		ib_umem_odp_release(umem);
		return ERR_PTR(-ENOMEM);
	}
	c->umem = umem;
	c->first = ib_umem_start(umem);
	c->npages = npages;
	rwlock_init(&c->lock);

	mutex_lock(&umem->umem_mutex);
	umem->private = c;
	mutex_unlock(&umem->umem_mutex);
	return c;
}

static void chunk_destroy(struct pib_odp *odp, struct pib_odp_chunk *c)
{
	mutex_lock(&c->umem->umem_mutex);
	chunk_clear(c, 0, c->npages);
	c->umem->private = NULL;
	mutex_unlock(&c->umem->umem_mutex);
	ib_umem_odp_release(c->umem);
	uncharge_tables(odp, c->npages);
	kvfree(c);
}

static struct pib_odp_chunk *chunk_find(struct pib_odp *odp, u64 va)
{
	return odp->whole ?: xa_load(&odp->chunks, va >> CHUNK_SHIFT);
}

/* Chunks cost memory: a peer must not be able to have them made where nothing is mapped. */
static bool any_mapped(struct mm_struct *mm, u64 va, u64 len, u32 flags)
{
	unsigned long need = VM_READ | (flags & PIB_ODP_WRITE ? VM_WRITE : 0);
	struct vm_area_struct *vma;

	mmap_read_lock(mm);
	vma = find_vma_intersection(mm, va, va + len);
	while (vma && (vma->vm_flags & (need | VM_IO | VM_PFNMAP)) != need)
		vma = find_vma_intersection(mm, vma->vm_end, va + len);
	mmap_read_unlock(mm);
	return vma;
}

static bool chunk_empty(struct pib_odp_chunk *c)
{
	bool empty;

	mutex_lock(&c->umem->umem_mutex);
	empty = !memchr_inv(c->pages, 0, c->npages * sizeof(*c->pages));
	mutex_unlock(&c->umem->umem_mutex);
	return empty;
}

static void chunks_reap(struct pib_odp *odp)
{
	struct pib_odp_chunk *c, *gone = NULL;
	unsigned long i;

	lockdep_assert_held(&odp->grow);

	xa_for_each(&odp->chunks, i, c) {
		cond_resched();
		if (c->users || !chunk_empty(c))
			continue;
		xa_erase(&odp->chunks, i);
		odp->num_chunks--;
		c->next = gone;
		gone = c;
	}
	odp->reap_at = max(2 * odp->num_chunks, 1UL * CHUNKS_FEW);

	/* pib_odp_enter() may have found these chunks. */
	if (gone)
		synchronize_rcu();
	while ((c = gone)) {
		gone = c->next;
		chunk_destroy(odp, c);
	}
}

static struct pib_odp_chunk *chunk_add(struct pib_odp *odp, u64 va)
{
	struct pib_odp_chunk *c;
	struct ib_umem_odp *umem;
	int err;

	lockdep_assert_held(&odp->grow);

	err = charge_tables(odp, CHUNK_PAGES);
	if (err)
		return ERR_PTR(err);
	umem = ib_umem_odp_alloc_child(odp->umem, va & ~(CHUNK_SIZE - 1), CHUNK_SIZE, &odp_ops);
	c = IS_ERR(umem) ? ERR_CAST(umem) : chunk_create(umem);
	if (IS_ERR(c)) {
		uncharge_tables(odp, CHUNK_PAGES);
		return c;
	}
	err = xa_err(xa_store(&odp->chunks, va >> CHUNK_SHIFT, c, GFP_KERNEL));
	if (err) {
		chunk_destroy(odp, c);
		return ERR_PTR(err);
	}
	odp->num_chunks++;
	return c;
}

/*
 * Make a chunk for @va. It may register the first notifier of the process, which must not lose its
 * memory meanwhile.
 */
static struct pib_odp_chunk *chunk_make(struct pib_odp *odp, u64 va, u64 len, u32 flags)
{
	struct pib_odp_chunk *c = ERR_PTR(-EFAULT);

	lockdep_assert_held(&odp->grow);

	if (va >= TASK_SIZE_MAX || !mmget_not_zero(odp->mm))
		return c;
	if (any_mapped(odp->mm, va, len, flags)) {
		if (odp->num_chunks >= odp->reap_at)
			chunks_reap(odp);
		c = chunk_add(odp, va);
		if (c == ERR_PTR(-ENOMEM)) {
			/* Chunks without pages may have the owner's share. */
			chunks_reap(odp);
			c = chunk_add(odp, va);
		}
	}
	mmput_async(odp->mm);
	return c;
}

/* Find or make the chunk of @va, to bring pages in. Return: it, for chunk_put(); ERR_PTR(). */
static struct pib_odp_chunk *chunk_get(struct pib_odp *odp, u64 va, u64 len, u32 flags)
{
	struct pib_odp_chunk *c;

	if (odp->whole)
		return odp->whole;

	mutex_lock(&odp->grow);
	c = chunk_find(odp, va);
	if (!c)
		c = chunk_make(odp, va, len, flags);
	if (!IS_ERR(c))
		c->users++;
	mutex_unlock(&odp->grow);
	return c;
}

static void chunk_put(struct pib_odp *odp, struct pib_odp_chunk *c)
{
	if (odp->whole)
		return;
	mutex_lock(&odp->grow);
	c->users--;
	mutex_unlock(&odp->grow);
}

/* ---- bringing pages in ---- */

/*
 * Pages of memfd_secret(2) have no address in the kernel, though they have a struct page. So
 * process and kernel cannot share them. @page is mapped by the process and stays so until
 * umem_mutex is dropped, so its mapping stays, too. The kernel's own test for such pages is not
 * exported.
 */
static bool page_is_secret(struct page *page)
{
	struct address_space *mapping = folio_mapping(page_folio(page));

	return mapping && mapping->host && mapping->host->i_sb->s_magic == SECRETMEM_MAGIC;
}

/* Enter the pages that ib_core has got. Return: 0; -EFAULT: the kernel cannot touch one of them. */
static int chunk_fill(struct pib_odp_chunk *c, u64 va, u64 len, bool write)
{
	unsigned long i = (va - c->first) >> PAGE_SHIFT;
	unsigned long last = (va + len - 1 - c->first) >> PAGE_SHIFT;
	unsigned long pfn, entry;
	int err = 0;

	lockdep_assert_held(&c->umem->umem_mutex);

	for (; i <= last; i++) {
		pfn = pib_umem_odp_pfns(c->umem)[i];
		if (!(pfn & HMM_PFN_VALID))
			continue;
		if (page_is_secret(hmm_pfn_to_page(pfn))) {
			err = -EFAULT;
			continue;
		}
		entry = (unsigned long)page_address(hmm_pfn_to_page(pfn)) | ENTRY_PRESENT;
		/* A page that was brought in for writing stays so until it is invalidated. */
		if (write && pfn & HMM_PFN_WRITE)
			entry |= ENTRY_WRITE;
		else if ((c->pages[i] & PAGE_MASK) == (entry & PAGE_MASK))
			entry |= c->pages[i] & ENTRY_WRITE;
		WRITE_ONCE(c->pages[i], entry);
	}
	return err;
}

static int chunk_fault(struct pib_odp_chunk *c, u64 va, u64 len, u32 flags)
{
	bool write = flags & PIB_ODP_WRITE;
	int n;

	n = ib_umem_odp_map_dma_and_lock(c->umem, va, len, pib_umem_odp_access(write),
					 !(flags & PIB_ODP_PRESENT));
	if (n < 0)
		return n;
	n = chunk_fill(c, va, len, write);
	mutex_unlock(&c->umem->umem_mutex);
	return n;
}

static int odp_fault(struct pib_odp *odp, u64 va, u64 len, u32 flags)
{
	struct pib_odp_chunk *c;
	u64 n;
	int err;

	if (flags & PIB_ODP_WRITE && !odp->writable)
		return -EPERM;

	for (; len; va += n, len -= n) {
		n = odp->whole ? len : min_t(u64, len, CHUNK_SIZE - va % CHUNK_SIZE);
		c = chunk_get(odp, va, n, flags);
		if (IS_ERR(c))
			return PTR_ERR(c);
		err = chunk_fault(c, va, n, flags);
		chunk_put(odp, c);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

int pib_odp_fault(struct pib_odp *odp, u64 va, u64 len, u32 flags)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(odp->mm);
	struct mem_cgroup *old = set_active_memcg(memcg);
	int err = odp_fault(odp, va, len, flags);

	set_active_memcg(old);
	mem_cgroup_put(memcg);
	return err;
}

/* ---- touching pages ---- */

void *pib_odp_enter(struct pib_odp *odp, u64 va, u32 *len, bool write, struct pib_odp_chunk **held)
{
	struct pib_odp_chunk *c = chunk_find(odp, va);
	unsigned long need = ENTRY_PRESENT | (write ? ENTRY_WRITE : 0), entry;

	if (!c)
		return NULL;
	read_lock(&c->lock);
	entry = READ_ONCE(c->pages[(va - c->first) >> PAGE_SHIFT]);
	if ((entry & need) != need) {
		read_unlock(&c->lock);
		return NULL;
	}
	*held = c;
	__release(&c->lock);	/* for sparse, which knows no lock that is held or not */
	*len = min_t(u32, *len, PAGE_SIZE - offset_in_page(va));
	return (void *)(entry & PAGE_MASK) + offset_in_page(va);
}

void pib_odp_leave(struct pib_odp_chunk *held)
{
	__acquire(&held->lock);	/* see pib_odp_enter() */
	read_unlock(&held->lock);
}

/* ---- life ---- */

static int create_whole(struct pib_odp *odp, struct ib_device *ibdev, u64 start, u64 length,
			int access)
{
	struct ib_umem_odp *umem;
	u64 npages, end;
	int err;

	if (!length)
		return -EINVAL;
	if (check_add_overflow(start, length, &end))
		return -EOVERFLOW;
	/* The table has an entry for each small page, whatever pages the process has. */
	npages = (PAGE_ALIGN(end) - (start & PAGE_MASK)) >> PAGE_SHIFT;
	err = charge_tables(odp, npages);
	if (err)
		return err;
	umem = ib_umem_odp_get(ibdev, start, length, access & ~IB_ACCESS_HUGETLB, &odp_ops);
	if (!IS_ERR(umem))
		odp->writable = umem->umem.writable;
	odp->whole = IS_ERR(umem) ? ERR_CAST(umem) : chunk_create(umem);
	if (IS_ERR(odp->whole)) {
		uncharge_tables(odp, npages);
		return PTR_ERR(odp->whole);
	}
	return 0;
}

static int create_implicit(struct pib_odp *odp, struct ib_device *ibdev, int access)
{
	odp->umem = ib_umem_odp_alloc_implicit(ibdev, access);
	if (IS_ERR(odp->umem))
		return PTR_ERR(odp->umem);
	odp->writable = odp->umem->umem.writable;
	return 0;
}

static void odp_free(struct pib_odp *odp)
{
	struct pib_odp_chunk *c;
	unsigned long i;

	if (odp->whole)
		chunk_destroy(odp, odp->whole);
	xa_for_each(&odp->chunks, i, c)
		chunk_destroy(odp, c);
	xa_destroy(&odp->chunks);
	if (odp->umem)
		ib_umem_odp_release(odp->umem);
	/* The pager is known by the address of the mm, so the mm goes later. */
	pib_pager_put(odp->pager);
	mmdrop(odp->mm);
	odp_release_device(odp);
	kfree(odp);
}

static void odp_reap(struct work_struct *work)
{
	odp_free(container_of(work, struct pib_odp, reap));
}

struct pib_odp *pib_odp_create(struct pib_pd *pd, u64 start, u64 length, int access)
{
	struct ib_device *ibdev = pd->ib.device;
	struct pib_odp *odp = kzalloc(sizeof(*odp), GFP_KERNEL_ACCOUNT);
	int err;

	if (!odp)
		return ERR_PTR(-ENOMEM);
	refcount_set(&odp->ref, 1);
	INIT_WORK(&odp->reap, odp_reap);
	xa_init_flags(&odp->chunks, XA_FLAGS_ACCOUNT);
	odp->reap_at = CHUNKS_FEW;
	mutex_init(&odp->grow);
	odp->start = start;
	err = odp_hold_device(odp, pd);
	if (err)
		goto err_free;
	odp->pager = pib_pager_get(pd, current->mm);
	if (IS_ERR(odp->pager)) {
		err = PTR_ERR(odp->pager);
		goto err_device;
	}
	if (!start && length == U64_MAX)
		err = create_implicit(odp, ibdev, access);
	else
		err = create_whole(odp, ibdev, start, length, access);
	if (err)
		goto err_pager;
	/* ib_core does not keep the mm of an implicit region, which may outlive the process. */
	odp->mm = current->mm;
	mmgrab(odp->mm);
	return odp;

err_pager:
	pib_pager_put(odp->pager);
err_device:
	odp_release_device(odp);
err_free:
	kfree(odp);
	return ERR_PTR(err);
}

void pib_odp_get(struct pib_odp *odp)
{
	refcount_inc(&odp->ref);
}

void pib_odp_put(struct pib_odp *odp)
{
	if (odp && refcount_dec_and_test(&odp->ref))
		odp_free(odp);
}

void pib_odp_put_work(struct pib_odp *odp)
{
	if (refcount_dec_and_test(&odp->ref))
		queue_work(reaper, &odp->reap);
}

void pib_odp_queue(struct pib_odp *odp, struct work_struct *work)
{
	pib_pager_queue(odp->pager, work);
}

bool pib_odp_advise(struct pib_odp *odp)
{
	return pib_pager_advise(odp->pager);
}

void pib_odp_advised(struct pib_odp *odp)
{
	pib_pager_advised(odp->pager);
}

int pib_odp_init(void)
{
	reaper = alloc_workqueue("pib_reap", WQ_UNBOUND, 0);
	return reaper ? 0 : -ENOMEM;
}

void pib_odp_exit(void)
{
	/*
	 * No lock is held, so nobody else waits with the module. Pairs with atomic_dec_and_test()
	 * in odp_release_device().
	 */
	wait_var_event(&alive, !atomic_read(&alive));
	destroy_workqueue(reaper);
}
