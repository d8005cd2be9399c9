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

static int drain_poll(struct rc_end *e, enum ib_wc_status status)
{
	return rc_poll_for(e, 30, status, dev_name(&e->ib->dev));
}

static int drain_recv(struct rc_end *e, u32 len)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)e->mem, .length = len, .lkey = e->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(e->qp, &wr, NULL);
}

static int drain_send(struct rc_end *e, enum ib_wr_opcode opcode, u32 len,
		      const struct rc_end *from)
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
static int drain_take_back(struct rc_end *e)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int err = ib_modify_qp(e->qp, &attr, IB_QP_STATE) ?: drain_poll(e, IB_WC_WR_FLUSH_ERR);

	memset(e->mem, NEW, LEN);
	return err;
}

static int drain_arrived(const struct rc_end *e, u32 len, const char *what)
{
	if (!memchr_inv(e->mem, OLD, len))
		return 0;
	pr_err("drain: %s: not the bytes that were sent\n", what);
	return -EPROTO;
}

/* The send is in the cable when the QP is drained. */
static int drain_sent(struct rc_end *a, struct rc_end *b)
{
	int err = drain_recv(b, PACKET) ?: drain_send(a, IB_WR_SEND, PACKET, b);

	if (err)
		return err;
	msleep(latency / 2);
	return drain_take_back(a) ?: drain_poll(b, IB_WC_SUCCESS) ?:
	       drain_arrived(b, PACKET, "send");
}

/* The answer is in the cable, which the request has passed, when the QP is drained. */
static int drain_read(struct rc_end *a, struct rc_end *b)
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

static int drain_stall(struct rc_end *a, struct rc_end *b)
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

static int drain_pair(struct rc_end *a, struct rc_end *b,
		      int (*run)(struct rc_end *a, struct rc_end *b))
{
	int err;

	memset(a->mem, OLD, LEN);
	memset(b->mem, 0, LEN);
	err = rc_pair(a, b, 1, TIMEOUT) ?: run(a, b);
	rc_destroy(b);
	rc_destroy(a);
	return err;
}

/* QPs of the same ends fill the cable; the other end posts no receives for them. */
static int drain_stalled(struct rc_end *a, struct rc_end *b)
{
	struct rc_end next_a = *a, next_b = *b;
	int err = drain_send(a, IB_WR_SEND, PACKET, b);

	if (err)
		return err;
	next_a.qp = NULL;
	next_b.qp = NULL;
	return drain_pair(&next_a, &next_b, --fillers ? drain_stalled : drain_stall);
}

static int drain_in_cable(struct rc_end *a, struct rc_end *b)
{
	int sent = drain_pair(a, b, drain_sent);
	int read = drain_pair(a, b, drain_read);

	return sent ?: read;
}

static int __init drain_init(void)
{
	struct rc_end a = {}, b = {};
	int err = rc_open(&a, dev, LEN, IB_PD_UNSAFE_GLOBAL_RKEY) ?:
		  rc_open(&b, peer, LEN, IB_PD_UNSAFE_GLOBAL_RKEY);

	if (!err && stalled)
		err = drain_pair(&a, &b, drain_stalled);
	else if (!err)
		err = drain_in_cable(&a, &b);
	rc_close(&b);
	rc_close(&a);
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
