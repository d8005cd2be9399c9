// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that maps a region again while the region is still registered, as SRP
 * and iSER do. The old R_Key leads to the old pages until it is invalidated, the next one to the
 * new pages, and that of a registration without a mapping to those of the last one. Both ends are
 * on the device "dev".
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "rc.h"

#define PAGES	2
#define LEN	(PAGES * PAGE_SIZE)
#define TIMEOUT 14	/* 67 ms */
#define OLD	0xa5
#define NEW	0x5a

static char *dev = "pib0";
module_param(dev, charp, 0444);

/**
 * struct remap_ends - both ends, of one protection domain
 * @ib: their device
 * @pd: their protection domain
 * @mr: the region that is read from
 * @cq: of each
 * @qp: of each: the one that has the region, and its peer
 * @old: pages that the region has first
 * @new: pages that it has then
 * @got: what the peer has read
 */
struct remap_ends {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_mr *mr;
	struct ib_cq *cq[2];
	struct ib_qp *qp[2];
	u8 *old;
	u8 *new;
	u8 *got;
};

static u8 *remap_pages(u8 value)
{
	u8 *mem = (u8 *)__get_free_pages(GFP_KERNEL, get_order(LEN));

	if (mem)
		memset(mem, value, LEN);
	return mem;
}

static int remap_open(struct remap_ends *e)
{
	struct ib_cq_init_attr attr = { .cqe = 16 };
	int i;

	e->old = remap_pages(OLD);
	e->new = remap_pages(NEW);
	e->got = remap_pages(0);
	e->ib = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	if (!e->ib || !e->old || !e->new || !e->got)
		return -ENODEV;
	e->pd = ib_alloc_pd(e->ib, 0);
	if (IS_ERR(e->pd))
		return PTR_ERR(e->pd);
	for (i = 0; i < 2; i++) {
		e->cq[i] = ib_create_cq(e->ib, NULL, NULL, NULL, &attr);
		if (IS_ERR(e->cq[i]))
			return PTR_ERR(e->cq[i]);
	}
	e->mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, PAGES);
	return PTR_ERR_OR_ZERO(e->mr);
}

static void remap_close(struct remap_ends *e)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(e->qp[i]))
			ib_destroy_qp(e->qp[i]);
	if (!IS_ERR_OR_NULL(e->mr))
		ib_dereg_mr(e->mr);
	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(e->cq[i]))
			ib_destroy_cq(e->cq[i]);
	if (!IS_ERR_OR_NULL(e->pd))
		ib_dealloc_pd(e->pd);
	if (e->ib)
		ib_device_put(e->ib);
	free_pages((unsigned long)e->got, get_order(LEN));
	free_pages((unsigned long)e->new, get_order(LEN));
	free_pages((unsigned long)e->old, get_order(LEN));
}

static int remap_connect(struct remap_ends *e)
{
	int i, err = 0;

	for (i = 0; i < 2; i++) {
		e->qp[i] = rc_create(e->pd, e->cq[i]);
		if (IS_ERR(e->qp[i]))
			return PTR_ERR(e->qp[i]);
	}
	for (i = 0; i < 2 && !err; i++)
		err = rc_connect(e->qp[i], e->ib, e->qp[!i]->qp_num, 1, TIMEOUT);
	return err;
}

/* Read @len bytes from @addr on, which are all @value. */
static int remap_read(struct remap_ends *e, u64 addr, u32 len, u8 value, const char *what)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)e->got, .length = len, .lkey = e->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = addr,
		.rkey = e->mr->rkey,
	};
	u8 *wrong;
	int err;

	memset(e->got, 0, LEN);
	err = ib_post_send(e->qp[1], &wr.wr, NULL) ?:
	      rc_poll(e->cq[1], RC_SECONDS, IB_WC_SUCCESS, what);
	if (err)
		return err;
	wrong = memchr_inv(e->got, value, len);
	if (!wrong)
		return 0;
	pr_err("remap: %s: byte %zu is %#x, not %#x\n", what, wrong - e->got, *wrong, value);
	return -EBADMSG;
}

static int remap_inval(struct remap_ends *e)
{
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV, .ex.invalidate_rkey = e->mr->rkey };
	int err = ib_post_send(e->qp[0], &wr, NULL) ?:
		  rc_poll(e->cq[0], RC_SECONDS, IB_WC_SUCCESS, "LOCAL_INV");

	ib_update_fast_reg_key(e->mr, e->mr->rkey + 1);
	return err;
}

/* The new mapping is shorter than the old one: no entry of either is to be seen in the other. */
static int remap_run(struct remap_ends *e)
{
	u64 iova;
	int err = remap_connect(e) ?:
		  rc_register(e->qp[0], e->mr, e->old, LEN, IB_ACCESS_REMOTE_READ);

	if (err)
		return err;
	iova = e->mr->iova;
	return remap_read(e, iova, LEN, OLD, "registered") ?:
	       rc_map(e->mr, e->new, PAGE_SIZE) ?:
	       remap_read(e, iova, LEN, OLD, "registered, and mapped again") ?:
	       remap_inval(e) ?: rc_reg(e->qp[0], e->mr, IB_ACCESS_REMOTE_READ) ?:
	       remap_read(e, e->mr->iova, PAGE_SIZE, NEW, "registered again") ?:
	       remap_inval(e) ?: rc_reg(e->qp[0], e->mr, IB_ACCESS_REMOTE_READ) ?:
	       remap_read(e, e->mr->iova, PAGE_SIZE, NEW, "registered as it is");
}

static int __init remap_init(void)
{
	struct remap_ends e = {};
	int err = remap_open(&e) ?: remap_run(&e);

	remap_close(&e);
	pr_info("remap: %d\n", err);
	return err;
}

static void __exit remap_exit(void)
{
}

module_init(remap_init);
module_exit(remap_exit);
MODULE_DESCRIPTION("A region mapped again while it is registered");
MODULE_LICENSE("GPL");
