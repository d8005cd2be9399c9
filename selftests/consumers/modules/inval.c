// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that invalidates a region while the answer to a READ from it waits for a
 * slow cable, behind the answer to another READ, which takes a minute. From the device "dev" to the
 * device "peer". The cable is mended before "go" is set.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include "rc.h"

#define LEN 65536

static char *dev = "pib0";
module_param(dev, charp, 0444);
static char *peer = "pib1";
module_param(peer, charp, 0444);
static bool go;
module_param(go, bool, 0644);

static int inval_read(struct rc_end *e, u64 addr, u32 rkey)
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

/* Nothing is sent again: there is no timeout. */
static int inval_run(struct rc_end *a, struct rc_end *b)
{
	int err = rc_alloc_mr(a, LEN / PAGE_SIZE) ?: rc_pair(a, b, 2, 0) ?:
		  rc_register(a, LEN, IB_ACCESS_REMOTE_READ) ?:
		  inval_read(b, (uintptr_t)a->mem, a->pd->unsafe_global_rkey) ?:
		  inval_read(b, a->mr->iova, a->mr->rkey);

	if (err)
		return err;
	/* The answers come to the cable meanwhile. */
	msleep(500);
	return rc_inval(a);
}

static void inval_wait_to_go(void)
{
	int i;

	for (i = 0; i < 300 && !READ_ONCE(go); i++)
		msleep(100);
}

static int __init inval_init(void)
{
	struct rc_end a = {}, b = {};
	int err = rc_open(&a, dev, LEN, IB_PD_UNSAFE_GLOBAL_RKEY) ?:
		  rc_open(&b, peer, LEN, IB_PD_UNSAFE_GLOBAL_RKEY) ?: inval_run(&a, &b);

	pr_info("inval: result %d\n", err);
	inval_wait_to_go();
	rc_close(&b);
	rc_close(&a);
	return err;
}

static void __exit inval_exit(void)
{
}

module_init(inval_init);
module_exit(inval_exit);
MODULE_DESCRIPTION("A region invalidated while an answer from it waits");
MODULE_LICENSE("GPL");
