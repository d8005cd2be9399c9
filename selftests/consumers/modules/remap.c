// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that maps a region again while the region is still registered, as SRP
 * and iSER do. The old R_Key leads to the old pages until it is invalidated, the next one to the
 * new pages, and that of a registration without a mapping to those of the last one. Both ends are
 * on the device "dev".
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include "rc.h"

#define PAGES	2
#define LEN	(PAGES * PAGE_SIZE)
#define TIMEOUT 14	/* 67 ms */
#define OLD	0xa5
#define NEW	0x5a

static char *dev = "pib0";
module_param(dev, charp, 0444);

/* Have @b read @len bytes from @addr on by the key of @a, which are all @value. */
static int remap_read(struct rc_end *a, struct rc_end *b, u64 addr, u32 len, u8 value,
		      const char *what)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)b->mem, .length = len, .lkey = b->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = addr,
		.rkey = a->mr->rkey,
	};
	u8 *wrong;
	int err;

	memset(b->mem, 0, LEN);
	err = ib_post_send(b->qp, &wr.wr, NULL) ?: rc_poll(b, IB_WC_SUCCESS, what);
	if (err)
		return err;
	wrong = memchr_inv(b->mem, value, len);
	if (!wrong)
		return 0;
	pr_err("remap: %s: byte %zu is %#x, not %#x\n", what, wrong - b->mem, *wrong, value);
	return -EBADMSG;
}

/* Invalidate the region of @a, and register it with the next key. */
static int remap_register_again(struct rc_end *a)
{
	int err = rc_inval(a);

	ib_update_fast_reg_key(a->mr, a->mr->rkey + 1);
	return err ?: rc_reg(a, IB_ACCESS_REMOTE_READ);
}

/*
 * The region leads to the first half of the memory of @a, then to the second one. The new mapping
 * is shorter than the old one: no entry of either is to be seen in the other.
 */
static int remap_run(struct rc_end *a, struct rc_end *b)
{
	u64 iova;
	int err = rc_alloc_mr(a, PAGES) ?: rc_pair(a, b, 1, TIMEOUT);

	if (err)
		return err;
	memset(a->mem, OLD, LEN);
	memset(a->mem + LEN, NEW, LEN);
	err = rc_register(a, LEN, IB_ACCESS_REMOTE_READ);
	if (err)
		return err;
	iova = a->mr->iova;
	return remap_read(a, b, iova, LEN, OLD, "registered") ?:
	       rc_map(a, a->mem + LEN, PAGE_SIZE) ?:
	       remap_read(a, b, iova, LEN, OLD, "registered, and mapped again") ?:
	       remap_register_again(a) ?:
	       remap_read(a, b, a->mr->iova, PAGE_SIZE, NEW, "registered again") ?:
	       remap_register_again(a) ?:
	       remap_read(a, b, a->mr->iova, PAGE_SIZE, NEW, "registered as it is");
}

static int __init remap_init(void)
{
	struct rc_end a = {}, b = {};
	int err = rc_open(&a, dev, 2 * LEN, 0) ?: rc_open(&b, dev, LEN, 0) ?: remap_run(&a, &b);

	rc_close(&b);
	rc_close(&a);
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
