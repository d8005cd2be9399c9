// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that invalidates a region while the answer to a READ from it waits for a
 * slow cable, behind the answer to another READ, which takes a minute. From the device "dev" to the
 * device "peer". The cable is mended before "go" is set.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "rc.h"

#define LEN 65536

static char *dev = "pib0";
module_param(dev, charp, 0444);
static char *peer = "pib1";
module_param(peer, charp, 0444);
static bool go;
module_param(go, bool, 0644);

struct inval_end {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	u8 *mem;
};

static int inval_open(struct inval_end *e, const char *name)
{
	struct ib_cq_init_attr cq = { .cqe = 16 };

	e->mem = kmalloc(LEN, GFP_KERNEL);
	e->ib = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);
	if (!e->ib || !e->mem)
		return -ENODEV;
	e->pd = ib_alloc_pd(e->ib, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(e->pd))
		return PTR_ERR(e->pd);
	e->cq = ib_create_cq(e->ib, NULL, NULL, NULL, &cq);
	if (IS_ERR(e->cq))
		return PTR_ERR(e->cq);
	e->mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, LEN / PAGE_SIZE);
	return PTR_ERR_OR_ZERO(e->mr);
}

static int inval_create(struct inval_end *e)
{
	e->qp = rc_create(e->pd, e->cq);
	return PTR_ERR_OR_ZERO(e->qp);
}

static void inval_close(struct inval_end *e)
{
	if (!IS_ERR_OR_NULL(e->qp))
		ib_destroy_qp(e->qp);
	if (!IS_ERR_OR_NULL(e->mr))
		ib_dereg_mr(e->mr);
	if (!IS_ERR_OR_NULL(e->cq))
		ib_destroy_cq(e->cq);
	if (!IS_ERR_OR_NULL(e->pd))
		ib_dealloc_pd(e->pd);
	if (e->ib)
		ib_device_put(e->ib);
	kfree(e->mem);
}

/* Nothing is sent again: there is no timeout. */
static int inval_connect(struct inval_end *e, const struct inval_end *to)
{
	return rc_connect(e->qp, to->ib, to->qp->qp_num, 2, 0);
}

static int inval_read(struct inval_end *e, u64 addr, u32 rkey)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)e->mem, .length = LEN, .lkey = e->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = addr,
		.rkey = rkey,
	};

	return ib_post_send(e->qp, &wr.wr, NULL);
}

static int inval_run(struct inval_end *a, struct inval_end *b)
{
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV };
	int err = inval_create(a) ?: inval_create(b) ?: inval_connect(a, b) ?:
		  inval_connect(b, a) ?:
		  rc_register(a->qp, a->mr, a->mem, LEN, IB_ACCESS_REMOTE_READ) ?:
		  inval_read(b, (uintptr_t)a->mem, a->pd->unsafe_global_rkey) ?:
		  inval_read(b, a->mr->iova, a->mr->rkey);

	if (err)
		return err;
	/* The answers come to the cable meanwhile. */
	msleep(500);
	wr.ex.invalidate_rkey = a->mr->rkey;
	return ib_post_send(a->qp, &wr, NULL) ?:
	       rc_poll(a->cq, RC_SECONDS, IB_WC_SUCCESS, "LOCAL_INV");
}

static void inval_wait_to_go(void)
{
	int i;

	for (i = 0; i < 300 && !READ_ONCE(go); i++)
		msleep(100);
}

static int __init inval_init(void)
{
	struct inval_end a = {}, b = {};
	int err = inval_open(&a, dev) ?: inval_open(&b, peer) ?: inval_run(&a, &b);

	pr_info("inval: result %d\n", err);
	inval_wait_to_go();
	inval_close(&b);
	inval_close(&a);
	return err;
}

static void __exit inval_exit(void)
{
}

module_init(inval_init);
module_exit(inval_exit);
MODULE_DESCRIPTION("A region invalidated while an answer from it waits");
MODULE_LICENSE("GPL");
