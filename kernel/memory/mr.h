/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions: what lies behind a key (10.6). */
#ifndef PIB_MEMORY_MR_H
#define PIB_MEMORY_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "core/objects.h"
#include "memory/key.h"
#include "uapi/linux/pib.h"

struct pib_odp;
struct ib_umem;

/**
 * pib_range_wraps() - tell whether a range goes beyond the end of the address space
 * @iova: first byte
 * @length: bytes
 *
 * Context: any.
 * Return: true: it does.
 */
static inline bool pib_range_wraps(u64 iova, u64 length)
{
	return length && iova + (length - 1) < iova;
}

/**
 * struct pib_mr_map - where the bytes of a region are
 * @iova: number of the first byte
 * @length: bytes
 * @base: position of the first byte in the first page
 * @shift: log2 of the size of a page
 * @npages: entries in @pages
 * @pages: addresses of equally sized runs of memory; NULL: @linear is used
 * @linear: address of the first byte of a region that is one run
 *
 * A "page" is a run of any power of two of bytes, as large as the memory's
 * layout allows, and need not be aligned to its size.
 */
struct pib_mr_map {
	u64 iova;
	u64 length;
	u64 base;
	u8 shift;
	u64 npages;
	unsigned long *pages;
	unsigned long linear;
};

/**
 * struct pib_mr - a memory region
 * @ib: ib_core's
 * @k: key and protection domain
 * @rcu: the structure outlives its last reference by a grace period
 * @ref: one for being registered, one for every span in use
 * @gone: completed when @ref reaches zero
 * @wanted: deregistration waits for @gone, or an invalidation for the users to go: see
 *	pib_span_is_wanted()
 * @type: enum pib_mr_type; never changes
 * @valid: the region may be used (10.6.5: is not in the free state). Stored with release after
 *	everything else, loaded with acquire
 * @access: enum ib_access_flags
 * @map: the memory
 * @windows: memory windows bound to the region
 * @umem: PIB_MR_TYPE_USER: the pinned pages, or
 * @odp: pages that come and go; @map then has no pages, only numbers
 * @max_pages: PIB_MR_TYPE_FAST: room in @map.pages and in @set
 * @set: PIB_MR_TYPE_FAST: what map_mr_sg has put there, for the next REG_MR. Until that is executed
 *	@map leads where the last one has had it lead
 * @set_pages: PIB_MR_TYPE_FAST: pages that map_mr_sg has put there
 * @is_set: PIB_MR_TYPE_FAST: map_mr_sg was called since the last REG_MR
 * @priv: for @release
 * @release: called when the region is freed, to release @priv; NULL: there is nothing more
 * @obj: in pib_pd.objects
 */
struct pib_mr {
	struct ib_mr ib;
	struct pib_key k;
	struct rcu_head rcu;
	refcount_t ref;
	struct completion gone;
	bool wanted;
	u8 type;
	bool valid;
	int access;
	struct pib_mr_map map;
	atomic_t windows;
	struct ib_umem *umem;
	struct pib_odp *odp;
	u32 max_pages;
	unsigned long *set;
	u32 set_pages;
	bool is_set;
	void *priv;
	void (*release)(struct pib_mr *mr);
	struct pib_object obj;
};

static inline struct pib_mr *to_mr(struct ib_mr *ib)
{
	return container_of(ib, struct pib_mr, ib);
}

/**
 * pib_mr_alloc() - make a region with a reserved key
 * @pd: protection domain
 * @type: enum pib_mr_type
 * @access: enum ib_access_flags
 *
 * Context: process; may sleep.
 * Return: the region; ERR_PTR().
 */
struct pib_mr *pib_mr_alloc(struct pib_pd *pd, enum pib_mr_type type, int access);
/**
 * pib_mr_publish() - make a region usable
 * @mr: region, in which everything has been filled in
 *
 * Context: process.
 */
void pib_mr_publish(struct pib_mr *mr);
/**
 * pib_mr_discard() - free a region that was never published
 * @mr: region
 *
 * Context: process; may sleep.
 */
void pib_mr_discard(struct pib_mr *mr);
/**
 * pib_mr_put() - drop a reference
 * @mr: region
 *
 * Context: any.
 */
static inline void pib_mr_put(struct pib_mr *mr)
{
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->gone);
}

/**
 * pib_mr_va() - turn an address of a region into one of its process
 * @mr: region with @odp
 * @addr: byte, in the region's numbering
 *
 * Context: any.
 * Return: the address.
 */
u64 pib_mr_va(const struct pib_mr *mr, u64 addr);

/*
 * ib_device_ops.
 *
 * Context: process; of pib_map_mr_sg() any.
 * Return: the region, ERR_PTR(); 0 or -errno. pib_rereg_user_mr(): NULL: the region was changed;
 *	pib_map_mr_sg(): the number of entries that were mapped.
 */
struct ib_mr *pib_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *pib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt,
			      int access, struct ib_udata *udata);
struct ib_mr *pib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 virt,
				int access, struct ib_pd *ibpd, struct ib_udata *udata);
int pib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *pib_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int pib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);

/**
 * pib_mr_reg() - execute REG_MR
 * @pd: of the QP
 * @ibmr: from the work request
 * @key: new key; its index must be the region's
 * @access: enum ib_access_flags
 *
 * Context: softirqs off.
 * Return: 0; -EINVAL: the work request completes LOC_QP_OP_ERR; -EAGAIN: an invalidation that was
 *	given up has left users behind, and the caller tries again.
 */
int pib_mr_reg(struct pib_pd *pd, struct ib_mr *ibmr, u32 key, int access);

#endif
