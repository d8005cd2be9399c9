// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that registers memory by a work request without remote access, which no
 * process can. The key is an L_Key alone: a peer that has guessed it cannot invalidate it. Both
 * ends are on the device "dev".
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include "rc.h"

#define TIMEOUT 14	/* 67 ms */

static char *dev = "pib0";
module_param(dev, charp, 0444);

/* Send eight bytes from @b to the region of @a, through its key, by @opcode. */
static int lkey_send(struct rc_end *a, struct rc_end *b, enum ib_wr_opcode opcode)
{
	struct ib_sge to = { .addr = a->mr->iova, .length = 8, .lkey = a->mr->lkey };
	struct ib_sge from = {
		.addr = (uintptr_t)b->mem, .length = 8, .lkey = b->pd->local_dma_lkey,
	};
	struct ib_recv_wr recv = { .sg_list = &to, .num_sge = 1 };
	struct ib_send_wr send = {
		.opcode = opcode,
		.sg_list = &from,
		.num_sge = 1,
		.ex.invalidate_rkey = a->mr->lkey,
	};

	return ib_post_recv(a->qp, &recv, NULL) ?: ib_post_send(b->qp, &send, NULL);
}

static int lkey_invalidate(struct rc_end *a, struct rc_end *b)
{
	return rc_pair(a, b, 1, TIMEOUT) ?: rc_register(a, PAGE_SIZE, IB_ACCESS_LOCAL_WRITE) ?:
	       lkey_send(a, b, IB_WR_SEND_WITH_INV) ?:
	       rc_poll(a, IB_WC_REM_INV_REQ_ERR, "who has the L_Key") ?:
	       rc_poll(b, IB_WC_REM_ACCESS_ERR, "who wants it invalidated");
}

static int lkey_use(struct rc_end *a, struct rc_end *b)
{
	return rc_pair(a, b, 1, TIMEOUT) ?: lkey_send(a, b, IB_WR_SEND) ?:
	       rc_poll(a, IB_WC_SUCCESS, "who uses the L_Key again");
}

static int lkey_run(struct rc_end *a, struct rc_end *b)
{
	int err = rc_alloc_mr(a, 1) ?: lkey_invalidate(a, b);

	rc_destroy(b);
	rc_destroy(a);
	return err ?: lkey_use(a, b);
}

static int __init lkey_init(void)
{
	struct rc_end a = {}, b = {};
	int err = rc_open(&a, dev, PAGE_SIZE, 0) ?: rc_open(&b, dev, PAGE_SIZE, 0) ?:
		  lkey_run(&a, &b);

	rc_close(&b);
	rc_close(&a);
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
