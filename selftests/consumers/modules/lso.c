// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that posts large sends, good ones and nonsense, on the device "dev".
 * The log says what went wrong; loading the module fails then.
 */
#include <linux/delay.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#define QKEY		0x1234
#define HEAD_LEN	44	/* IPoIB 4, IPv4 20, TCP 20 */
#define DATA_LEN	4700
#define MSS		1000
#define PACKETS		DIV_ROUND_UP(DATA_LEN, MSS)
#define RECVS		8
#define TRIES		20
#define RECV_LEN	(40 + 2048)

static char *dev = "pib0";
module_param(dev, charp, 0444);
static bool refuses_ah;
module_param(refuses_ah, bool, 0444);
static bool completes_late;
module_param(completes_late, bool, 0444);

struct lso {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_qp *plain;
	struct ib_ah *ah;
	u8 *recv;
	u8 *data;
	u8 head[256];
	int wrong;
};

struct bad {
	const char *what;
	int hlen;
	int mss;
	int at;		/* byte of the headers that is changed; -1: none */
	u8 value;
	int flags;
	u32 qpn;
};

static const struct bad bads[] = {
	{ "no header", 0, MSS, -1 },
	{ "less than none", -1, MSS, -1 },
	{ "IPoIB's alone", 4, MSS, -1 },
	{ "a byte too few", HEAD_LEN - 1, MSS, -1 },
	{ "a byte too many", HEAD_LEN + 1, MSS, -1 },
	{ "more than there can be", 125, MSS, -1 },
	{ "all there is", INT_MAX, MSS, -1 },
	{ "the least there is", INT_MIN, MSS, -1 },
	{ "no data in a packet", HEAD_LEN, 0, -1 },
	{ "less than no data", HEAD_LEN, -1, -1 },
	{ "more than a packet", HEAD_LEN, 4097, -1 },
	{ "all data there are", HEAD_LEN, INT_MAX, -1 },
	{ "a byte more than the MTU", HEAD_LEN, 4097 - HEAD_LEN, -1 },
	{ "QP1", HEAD_LEN, MSS, -1, 0, 0, 1 },
	{ "no IP", HEAD_LEN, MSS, 1, 0x06 },
	{ "a long IP header", HEAD_LEN, MSS, 4, 0x4F },
	{ "a short IP header", HEAD_LEN, MSS, 4, 0x41 },
	{ "a fragment", HEAD_LEN, MSS, 11, 1 },
	{ "UDP", HEAD_LEN, MSS, 13, IPPROTO_UDP },
	{ "a long TCP header", HEAD_LEN, MSS, 36, 0xF0 },
	{ "a short TCP header", HEAD_LEN, MSS, 36, 0x10 },
	{ "inline", HEAD_LEN, MSS, -1, 0, IB_SEND_INLINE },
	{ "a group", HEAD_LEN, MSS, -1, 0, 0, IB_MULTICAST_QPN },
};

static const u8 good_head[HEAD_LEN] = {
	0x08, 0x00, 0, 0,
	0x45, 0, 0, 0, 0, 7, 0x40, 0, 64, IPPROTO_TCP, 0, 0, 10, 78, 0, 1, 10, 78, 0, 2,
	0x10, 0, 0x20, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 4, 0, 0, 0, 0, 0,
};

static void lso_expect(struct lso *t, const char *what, int got, int want)
{
	if (got == want)
		return;
	t->wrong++;
	pr_err("lso: %s: %d, not %d\n", what, got, want);
}

static int lso_post(struct lso *t, struct ib_qp *qp, const struct bad *b, int opcode, int flags)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)t->data,
		.length = opcode == IB_WR_LSO ? DATA_LEN : 64,
		.lkey = t->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED | flags | b->flags,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.ah = t->ah,
		.header = t->head,
		.hlen = b->hlen,
		.mss = b->mss,
		.remote_qpn = b->qpn ?: t->qp->qp_num,
		.remote_qkey = QKEY,
	};

	memcpy(t->head, good_head, sizeof(good_head));
	if (b->at >= 0)
		t->head[b->at] = b->value;
	return ib_post_send(qp, &wr.wr, NULL);
}

static void lso_nonsense(struct lso *t)
{
	static const struct bad good = { "", HEAD_LEN, MSS, -1 };
	int i;

	for (i = 0; i < ARRAY_SIZE(bads); i++)
		lso_expect(t, bads[i].what, lso_post(t, t->qp, &bads[i], IB_WR_LSO, 0), -EINVAL);
	lso_expect(t, "a QP without large sends", lso_post(t, t->plain, &good, IB_WR_LSO, 0),
		   -EINVAL);
	lso_expect(t, "checksums of a QP without them",
		   lso_post(t, t->plain, &good, IB_WR_SEND, IB_SEND_IP_CSUM), -EINVAL);
}

static int lso_poll(struct lso *t, struct ib_wc *wc)
{
	int i;

	for (i = 0; i < 5000; i++) {
		if (ib_poll_cq(t->cq, 1, wc) == 1)
			return 0;
		usleep_range(1000, 2000);
	}
	pr_err("lso: no completion\n");
	return -ETIMEDOUT;
}

/* Return: whether a receive has completed with success, now or within some 50 ms. */
static int lso_received(struct lso *t)
{
	struct ib_wc wc;
	int i;

	for (i = 0; i < 50; i++) {
		if (ib_poll_cq(t->cq, 1, &wc) == 1)
			return wc.opcode == IB_WC_RECV && wc.status == IB_WC_SUCCESS;
		usleep_range(1000, 2000);
	}
	return 0;
}

static void lso_check_packet(struct lso *t, const struct ib_wc *wc, int i)
{
	int len = min(MSS, DATA_LEN - i * MSS);
	const u8 *p = t->recv + wc->wr_id * RECV_LEN + 40;

	lso_expect(t, "status", wc->status, IB_WC_SUCCESS);
	lso_expect(t, "length", wc->byte_len, 40 + HEAD_LEN + len);
	lso_expect(t, "checksums verified", !!(wc->wc_flags & IB_WC_IP_CSUM_OK), 1);
	lso_expect(t, "IP's length", p[6] << 8 | p[7], HEAD_LEN - 4 + len);
	lso_expect(t, "IP's id", p[8] << 8 | p[9], 7 + i);
	lso_expect(t, "sequence", p[28 + 2] << 8 | p[28 + 3], 1 + i * MSS);
	lso_expect(t, "PSH", !!(p[37] & 8), len < MSS);
	lso_expect(t, "data", memcmp(p + HEAD_LEN, t->data + i * MSS, len), 0);
}

/* One large send to itself: its packets, and its own completion. */
static int lso_sense(struct lso *t)
{
	static const struct bad good = { "", HEAD_LEN, MSS, -1 };
	struct ib_wc wc;
	int i, n = 0, err = lso_post(t, t->qp, &good, IB_WR_LSO, 0);

	for (i = 0; i < PACKETS + 1 && !err; i++) {
		err = lso_poll(t, &wc);
		if (err)
			break;
		if (wc.opcode == IB_WC_RECV)
			lso_check_packet(t, &wc, n++);
		else
			lso_expect(t, "status of the send", wc.status, IB_WC_SUCCESS);
	}
	lso_expect(t, "packets", n, PACKETS);
	return err;
}

static int lso_recv(struct lso *t, int i)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)t->recv + i * RECV_LEN,
		.length = RECV_LEN,
		.lkey = t->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(t->qp, &wr, NULL);
}

static int lso_recvs(struct lso *t)
{
	int i, err = 0;

	for (i = 0; i < RECVS && !err; i++)
		err = lso_recv(t, i);
	return err;
}

/* A datagram to itself. Return: 0, or what kept it from being sent. */
static int lso_send_one(struct lso *t)
{
	static const struct bad good = { "", 0, 0, -1 };

	return lso_post(t, t->qp, &good, IB_WR_SEND, 0);
}

/* Wait for the completion of a send. Return: how many receives completed before; or -errno. */
static int lso_sent(struct lso *t)
{
	struct ib_wc wc;
	int n;

	for (n = 0; !lso_poll(t, &wc); n++) {
		if (wc.opcode != IB_WC_RECV)
			return n;
	}
	return -ETIMEDOUT;
}

/* Have the @n receives that are posted used up. */
static int lso_use_up(struct lso *t, int n)
{
	int got;

	for (; n; n--) {
		got = lso_send_one(t) ?: lso_sent(t);
		if (got < 0)
			return got;
		if (!got && !lso_received(t))
			return -ENODATA;
	}
	return 0;
}

/*
 * A datagram for which nothing is posted waits for a moment: a receive that is posted a millisecond
 * after it gets it. The moment may be over where the machine is busy, so it is tried often, and is
 * over where completions are late.
 */
static int lso_late(struct lso *t)
{
	int i, err = 0, n = 0;

	for (i = 0; i < TRIES && !err; i++) {
		err = lso_send_one(t) ?: lso_sent(t);
		if (err)
			break;
		mdelay(1);
		err = lso_recv(t, 0);
		if (err)
			break;
		if (lso_received(t))
			n++;
		else	/* then the next datagram finds the receive */
			err = lso_use_up(t, 1);
	}
	lso_expect(t, "a receive that is posted a little late gets the datagram",
		   n > 0 || completes_late, 1);
	pr_info("lso: %d of %d receives were not too late\n", n, TRIES);
	return err;
}

/* But not for long. */
static int lso_too_late(struct lso *t)
{
	int err = lso_send_one(t) ?: lso_sent(t);

	lso_expect(t, "nothing is received where nothing is posted", err, 0);
	if (err < 0)
		return err;
	msleep(500);
	err = lso_recv(t, 0);
	if (err)
		return err;
	lso_expect(t, "what was too long without a receive is lost", lso_received(t), 0);
	return lso_use_up(t, 1);
}

static struct ib_qp *lso_qp(struct lso *t, u32 flags)
{
	struct ib_qp_init_attr init = {
		.send_cq = t->cq,
		.recv_cq = t->cq,
		.cap = { .max_send_wr = 16, .max_recv_wr = RECVS, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_UD,
		.create_flags = flags,
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct ib_qp *qp = ib_create_qp(t->pd, &init);
	int err;

	if (IS_ERR(qp))
		return qp;
	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	attr.qp_state = IB_QPS_RTR;
	err = err ?: ib_modify_qp(qp, &attr, IB_QP_STATE);
	attr.qp_state = IB_QPS_RTS;
	err = err ?: ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
	if (!err)
		return qp;
	ib_destroy_qp(qp);
	return ERR_PTR(err);
}

static struct ib_ah *lso_ah(struct lso *t, struct ib_pd *pd)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_port_attr port;
	int err = ib_query_port(t->ib, 1, &port);

	if (err)
		return ERR_PTR(err);
	rdma_ah_set_dlid(&attr, port.lid);
	rdma_ah_set_port_num(&attr, 1);
	return rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/*
 * An AH of another PD is refused when it is posted, or else completes in error, by which the QP is
 * of no use any more.
 */
static int lso_try_foreign(struct lso *t, struct ib_ah *foreign)
{
	static const struct bad good = { "", HEAD_LEN, MSS, -1 };
	struct ib_ah *own = t->ah;
	struct ib_wc wc = { };
	int err;

	t->ah = foreign;
	err = lso_post(t, t->plain, &good, IB_WR_SEND, 0);
	lso_expect(t, "an AH of another PD", err, refuses_ah ? -EINVAL : 0);
	if (refuses_ah)
		lso_expect(t, "and a large send by it", lso_post(t, t->qp, &good, IB_WR_LSO, 0),
			   -EINVAL);
	t->ah = own;
	if (err)
		return 0;
	err = lso_poll(t, &wc);
	lso_expect(t, "a send by an AH of another PD", wc.status, IB_WC_LOC_QP_OP_ERR);
	return err;
}

static int lso_foreign(struct lso *t)
{
	struct ib_pd *pd = ib_alloc_pd(t->ib, 0);
	struct ib_ah *ah;
	int err;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ah = lso_ah(t, pd);
	err = PTR_ERR_OR_ZERO(ah);
	if (!err) {
		err = lso_try_foreign(t, ah);
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
	ib_dealloc_pd(pd);
	return err;
}

static int lso_run(struct lso *t)
{
	int i, err;

	t->ah = lso_ah(t, t->pd);
	err = PTR_ERR_OR_ZERO(t->ah);
	if (err)
		return err;
	for (i = 0; i < DATA_LEN; i++)
		t->data[i] = i * 7 + i / 256;
	err = lso_recvs(t);
	if (!err) {
		lso_nonsense(t);
		err = lso_sense(t);
	}
	err = err ?: lso_use_up(t, RECVS - PACKETS) ?: lso_late(t) ?: lso_too_late(t);
	err = err ?: lso_foreign(t);
	rdma_destroy_ah(t->ah, RDMA_DESTROY_AH_SLEEPABLE);
	return err ?: t->wrong ? -EPROTO : 0;
}

static int lso_queues(struct lso *t)
{
	int err;

	t->qp = lso_qp(t, IB_QP_CREATE_IPOIB_UD_LSO);
	if (IS_ERR(t->qp))
		return PTR_ERR(t->qp);
	t->plain = lso_qp(t, 0);
	err = PTR_ERR_OR_ZERO(t->plain);
	if (!err) {
		err = lso_run(t);
		ib_destroy_qp(t->plain);
	}
	ib_destroy_qp(t->qp);
	return err;
}

static int lso_device(struct lso *t)
{
	struct ib_cq_init_attr cq = { .cqe = 64 };
	int err;

	t->pd = ib_alloc_pd(t->ib, 0);
	if (IS_ERR(t->pd))
		return PTR_ERR(t->pd);
	t->cq = ib_create_cq(t->ib, NULL, NULL, NULL, &cq);
	err = PTR_ERR_OR_ZERO(t->cq);
	if (!err) {
		err = lso_queues(t);
		ib_destroy_cq(t->cq);
	}
	ib_dealloc_pd(t->pd);
	return err;
}

static int __init lso_init(void)
{
	struct lso *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int err = -ENOMEM;

	if (!t)
		return err;
	t->recv = kzalloc(RECVS * RECV_LEN, GFP_KERNEL);
	t->data = kzalloc(DATA_LEN, GFP_KERNEL);
	t->ib = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	if (t->recv && t->data)
		err = t->ib ? lso_device(t) : -ENODEV;
	if (t->ib)
		ib_device_put(t->ib);
	kfree(t->data);
	kfree(t->recv);
	kfree(t);
	pr_info("lso: %d\n", err);
	return err;
}

static void __exit lso_exit(void)
{
}

module_init(lso_init);
module_exit(lso_exit);
MODULE_DESCRIPTION("Large sends, good ones and nonsense");
MODULE_LICENSE("GPL");
