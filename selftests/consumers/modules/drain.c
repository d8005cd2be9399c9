// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that takes its pages back once its QP is drained, while what was sent
 * from them is still in a slow cable: a packet that it has sent, then the answer to a READ. The
 * bytes that arrive must be those that were there before. From the device "dev" to the device
 * "peer".
 *
 * "stalled": the cable is full, of packets of other QPs, so the packet has not left the QP yet when
 * that is drained. The cable is mended before "go" is set. Nothing must arrive.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "rc.h"

#define LEN	65536
#define PACKET	4096	/* a QP sends no more than that before the first answer */
#define OLD	0x5A
#define NEW	0xA5
#define TIMEOUT	21	/* 8.6 s */

static char *dev = "pib0";
module_param(dev, charp, 0444);
static char *peer = "pib1";
module_param(peer, charp, 0444);
static int latency = 2000;	/* of the cable, ms */
module_param(latency, int, 0444);

static bool stalled;
module_param(stalled, bool, 0444);
static int fillers = 3;	/* QPs whose packets fill a cable whose buffer has room for one */
static bool go;
module_param(go, bool, 0644);

struct drain_end {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	u8 *mem;
};

static int drain_open(struct drain_end *e, const char *name)
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
	return PTR_ERR_OR_ZERO(e->cq);
}

static void drain_close(struct drain_end *e)
{
	if (!IS_ERR_OR_NULL(e->cq))
		ib_destroy_cq(e->cq);
	if (!IS_ERR_OR_NULL(e->pd))
		ib_dealloc_pd(e->pd);
	if (e->ib)
		ib_device_put(e->ib);
	kfree(e->mem);
}

static int drain_create(struct drain_end *e)
{
	e->qp = rc_create(e->pd, e->cq);
	return PTR_ERR_OR_ZERO(e->qp);
}

static int drain_connect(struct drain_end *e, const struct drain_end *to)
{
	return rc_connect(e->qp, to->ib, to->qp->qp_num, 1, TIMEOUT);
}

static int drain_poll(struct drain_end *e, enum ib_wc_status status)
{
	return rc_poll(e->cq, 30, status, dev_name(&e->ib->dev));
}

static int drain_recv(struct drain_end *e, u32 len)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)e->mem, .length = len, .lkey = e->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(e->qp, &wr, NULL);
}

static int drain_send(struct drain_end *e, enum ib_wr_opcode opcode, u32 len,
		      const struct drain_end *from)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)e->mem, .length = len, .lkey = e->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = (uintptr_t)from->mem,
		.rkey = from->pd->unsafe_global_rkey,
	};

	return ib_post_send(e->qp, &wr.wr, NULL);
}

/* The QP's work request is flushed, and with that its pages are the consumer's again. */
static int drain_take_back(struct drain_end *e)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int err = ib_modify_qp(e->qp, &attr, IB_QP_STATE) ?: drain_poll(e, IB_WC_WR_FLUSH_ERR);

	memset(e->mem, NEW, LEN);
	return err;
}

static int drain_arrived(const struct drain_end *e, u32 len, const char *what)
{
	if (!memchr_inv(e->mem, OLD, len))
		return 0;
	pr_err("drain: %s: not the bytes that were sent\n", what);
	return -EPROTO;
}

/* The send is in the cable when the QP is drained. */
static int drain_sent(struct drain_end *a, struct drain_end *b)
{
	int err = drain_recv(b, PACKET) ?: drain_send(a, IB_WR_SEND, PACKET, b);

	if (err)
		return err;
	msleep(latency / 2);
	return drain_take_back(a) ?: drain_poll(b, IB_WC_SUCCESS) ?:
	       drain_arrived(b, PACKET, "send");
}

/* The answer is in the cable, which the request has passed, when the QP is drained. */
static int drain_read(struct drain_end *a, struct drain_end *b)
{
	int err = drain_recv(a, 1) ?: drain_send(b, IB_WR_RDMA_READ, LEN, a);

	if (err)
		return err;
	msleep(latency + latency / 2);
	return drain_take_back(a) ?: drain_poll(b, IB_WC_SUCCESS) ?: drain_arrived(b, LEN, "READ");
}

static int drain_wait_to_go(void)
{
	int i;

	pr_info("drain: taken back\n");
	for (i = 0; i < 300 && !READ_ONCE(go); i++)
		msleep(100);
	return READ_ONCE(go) ? 0 : -ETIMEDOUT;
}

static int drain_stall(struct drain_end *a, struct drain_end *b)
{
	int err = drain_recv(b, PACKET) ?: drain_send(a, IB_WR_SEND, PACKET, b);

	if (err)
		return err;
	msleep(500);
	err = drain_take_back(a) ?: drain_wait_to_go();
	if (err)
		return err;
	msleep(2000);
	if (!memchr_inv(b->mem, 0, LEN))
		return 0;
	pr_err("drain: a send that had not left its QP arrived\n");
	return -EPROTO;
}

static int drain_pair(struct drain_end *a, struct drain_end *b,
		      int (*run)(struct drain_end *a, struct drain_end *b))
{
	int err = drain_create(a);

	if (err)
		return err;
	err = drain_create(b);
	if (!err) {
		memset(a->mem, OLD, LEN);
		memset(b->mem, 0, LEN);
		err = drain_connect(a, b) ?: drain_connect(b, a) ?: run(a, b);
		ib_destroy_qp(b->qp);
	}
	ib_destroy_qp(a->qp);
	return err;
}

/* QPs of the same ends fill the cable; the other end posts no receives for them. */
static int drain_stalled(struct drain_end *a, struct drain_end *b)
{
	struct drain_end next_a = *a, next_b = *b;
	int err = drain_send(a, IB_WR_SEND, PACKET, b);

	if (err)
		return err;
	return drain_pair(&next_a, &next_b, --fillers ? drain_stalled : drain_stall);
}

static int drain_in_cable(struct drain_end *a, struct drain_end *b)
{
	int sent = drain_pair(a, b, drain_sent);
	int read = drain_pair(a, b, drain_read);

	return sent ?: read;
}

static int __init drain_init(void)
{
	struct drain_end a = {}, b = {};
	int err = drain_open(&a, dev) ?: drain_open(&b, peer);

	if (!err && stalled)
		err = drain_pair(&a, &b, drain_stalled);
	else if (!err)
		err = drain_in_cable(&a, &b);
	drain_close(&b);
	drain_close(&a);
	pr_info("drain: %d\n", err);
	return err;
}

static void __exit drain_exit(void)
{
}

module_init(drain_init);
module_exit(drain_exit);
MODULE_DESCRIPTION("Pages taken back after a drain, with bursts on their way");
MODULE_LICENSE("GPL");
