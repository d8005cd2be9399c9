// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that registers memory by a work request without remote access, which no
 * process can. The key is an L_Key alone: a peer that has guessed it cannot invalidate it. Both
 * ends are on the device "dev".
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "rc.h"

#define TIMEOUT 14	/* 67 ms */

static char *dev = "pib0";
module_param(dev, charp, 0444);

/**
 * struct lkey_ends - both ends, of one protection domain
 * @ib: their device
 * @pd: their protection domain
 * @mr: the region of the one that is sent to
 * @cq: of each
 * @qp: of each: the one that is sent to, and its peer
 * @mem: a page
 */
struct lkey_ends {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_mr *mr;
	struct ib_cq *cq[2];
	struct ib_qp *qp[2];
	u8 *mem;
};

static int lkey_open(struct lkey_ends *e)
{
	struct ib_cq_init_attr attr = { .cqe = 16 };
	int i;

	e->mem = (u8 *)get_zeroed_page(GFP_KERNEL);
	e->ib = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	if (!e->ib || !e->mem)
		return -ENODEV;
	e->pd = ib_alloc_pd(e->ib, 0);
	if (IS_ERR(e->pd))
		return PTR_ERR(e->pd);
	for (i = 0; i < 2; i++) {
		e->cq[i] = ib_create_cq(e->ib, NULL, NULL, NULL, &attr);
		if (IS_ERR(e->cq[i]))
			return PTR_ERR(e->cq[i]);
	}
	e->mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, 1);
	return PTR_ERR_OR_ZERO(e->mr);
}

static void lkey_disconnect(struct lkey_ends *e)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (!IS_ERR_OR_NULL(e->qp[i]))
			ib_destroy_qp(e->qp[i]);
		e->qp[i] = NULL;
	}
}

static void lkey_close(struct lkey_ends *e)
{
	int i;

	lkey_disconnect(e);
	if (!IS_ERR_OR_NULL(e->mr))
		ib_dereg_mr(e->mr);
	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(e->cq[i]))
			ib_destroy_cq(e->cq[i]);
	if (!IS_ERR_OR_NULL(e->pd))
		ib_dealloc_pd(e->pd);
	if (e->ib)
		ib_device_put(e->ib);
	free_page((unsigned long)e->mem);
}

static int lkey_connect(struct lkey_ends *e)
{
	int i, err = 0;

	lkey_disconnect(e);
	for (i = 0; i < 2; i++) {
		e->qp[i] = rc_create(e->pd, e->cq[i]);
		if (IS_ERR(e->qp[i]))
			return PTR_ERR(e->qp[i]);
	}
	for (i = 0; i < 2 && !err; i++)
		err = rc_connect(e->qp[i], e->ib, e->qp[!i]->qp_num, 1, TIMEOUT);
	return err;
}

/* The next completion of end @i has this status. */
static int lkey_poll(struct lkey_ends *e, int i, enum ib_wc_status status, const char *what)
{
	return rc_poll(e->cq[i], RC_SECONDS, status, what);
}

/* Send eight bytes to the region, through its key, by @opcode. */
static int lkey_send(struct lkey_ends *e, enum ib_wr_opcode opcode)
{
	struct ib_sge to = { .addr = e->mr->iova, .length = 8, .lkey = e->mr->lkey };
	struct ib_sge from = {
		.addr = (uintptr_t)e->mem, .length = 8, .lkey = e->pd->local_dma_lkey,
	};
	struct ib_recv_wr recv = { .sg_list = &to, .num_sge = 1 };
	struct ib_send_wr send = {
		.opcode = opcode,
		.sg_list = &from,
		.num_sge = 1,
		.ex.invalidate_rkey = e->mr->lkey,
	};

	return ib_post_recv(e->qp[0], &recv, NULL) ?: ib_post_send(e->qp[1], &send, NULL);
}

static int lkey_run(struct lkey_ends *e)
{
	return lkey_connect(e) ?:
	       rc_register(e->qp[0], e->mr, e->mem, PAGE_SIZE, IB_ACCESS_LOCAL_WRITE) ?:
	       lkey_send(e, IB_WR_SEND_WITH_INV) ?:
	       lkey_poll(e, 0, IB_WC_REM_INV_REQ_ERR, "who has the L_Key") ?:
	       lkey_poll(e, 1, IB_WC_REM_ACCESS_ERR, "who wants it invalidated") ?:
	       lkey_connect(e) ?: lkey_send(e, IB_WR_SEND) ?:
	       lkey_poll(e, 0, IB_WC_SUCCESS, "who uses the L_Key again");
}

static int __init lkey_init(void)
{
	struct lkey_ends e = {};
	int err = lkey_open(&e) ?: lkey_run(&e);

	lkey_close(&e);
	pr_info("lkey: %d\n", err);
	return err;
}

static void __exit lkey_exit(void)
{
}

module_init(lkey_init);
module_exit(lkey_exit);
MODULE_DESCRIPTION("An L_Key that a peer wants to invalidate");
MODULE_LICENSE("GPL");
