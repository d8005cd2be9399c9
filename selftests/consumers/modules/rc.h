/* SPDX-License-Identifier: GPL-2.0 */
/* Ends of a connection of consumers in the kernel: queue pair, completions, memory and region. */
#ifndef PIB_TEST_RC_H
#define PIB_TEST_RC_H

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#define RC_PSN 1
#define RC_SECONDS 10 /* for a completion */

/* The attributes that each state takes. */
enum {
	RC_INIT = IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS,
	RC_RTR = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
		 IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
	RC_RTS = IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
		 IB_QP_MAX_QP_RD_ATOMIC,
};

/**
 * struct rc_end - one end, to begin as zeros
 * @ib: its device
 * @pd: its protection domain
 * @cq: of all of its work requests
 * @qp: its queue pair, if there is one
 * @mr: its region, if it has one
 * @mem: its memory
 */
struct rc_end {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	u8 *mem;
};

/*
 * Open @e on the device @name, with @len bytes of memory and a protection domain with @flags. The
 * caller closes @e, whatever comes of it. Return: 0 or an error.
 */
static inline int rc_open(struct rc_end *e, const char *name, int len, unsigned int flags)
{
	struct ib_cq_init_attr attr = {.cqe = 16};

	e->mem = kzalloc(len, GFP_KERNEL);
	e->ib = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);
	if (!e->ib || !e->mem)
		return -ENODEV;
	e->pd = ib_alloc_pd(e->ib, flags);
	if (IS_ERR(e->pd))
		return PTR_ERR(e->pd);
	e->cq = ib_create_cq(e->ib, NULL, NULL, NULL, &attr);
	return PTR_ERR_OR_ZERO(e->cq);
}

/* Give @e a region of up to @pages. Return: 0 or an error. */
static inline int rc_alloc_mr(struct rc_end *e, int pages)
{
	e->mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, pages);
	return PTR_ERR_OR_ZERO(e->mr);
}

static inline void rc_destroy(struct rc_end *e)
{
	if (!IS_ERR_OR_NULL(e->qp))
		ib_destroy_qp(e->qp);
	e->qp = NULL;
}

static inline void rc_close(struct rc_end *e)
{
	rc_destroy(e);
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

/* Give @e a queue pair: four work requests each way, all signaled. Return: 0 or an error. */
static inline int rc_create(struct rc_end *e)
{
	struct ib_qp_init_attr init = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_RC,
	};

	e->qp = ib_create_qp(e->pd, &init);
	return PTR_ERR_OR_ZERO(e->qp);
}

/*
 * Connect @e to @to, one way. @reads: READs at a time, either way; @timeout: as of ib_modify_qp(),
 * 0: nothing is sent again. Return: 0 or an error.
 */
static inline int rc_connect(struct rc_end *e, const struct rc_end *to, u8 reads, u8 timeout)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_READ,
		.path_mtu = IB_MTU_4096,
		.dest_qp_num = to->qp->qp_num,
		.rq_psn = RC_PSN,
		.sq_psn = RC_PSN,
		.max_rd_atomic = reads,
		.max_dest_rd_atomic = reads,
		.timeout = timeout,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	struct ib_port_attr port;
	int err = ib_query_port(to->ib, 1, &port);

	if (err)
		return err;
	rdma_ah_set_dlid(&attr.ah_attr, port.lid);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	err = ib_modify_qp(e->qp, &attr, RC_INIT);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(e->qp, &attr, RC_RTR);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(e->qp, &attr, RC_RTS);
}

/* Give @a and @b queue pairs, and connect them (rc_connect()). Return: 0 or an error. */
static inline int rc_pair(struct rc_end *a, struct rc_end *b, u8 reads, u8 timeout)
{
	return rc_create(a) ?: rc_create(b) ?: rc_connect(a, b, reads, timeout) ?:
	       rc_connect(b, a, reads, timeout);
}

/*
 * Wait @seconds for the next completion of @e, which has to have @status. Return: 0 or an error,
 * which the log has with @what.
 */
static inline int rc_poll_for(struct rc_end *e, int seconds, enum ib_wc_status status,
			      const char *what)
{
	struct ib_wc wc;
	int i;

	for (i = 0; i < 1000 * seconds; i++) {
		if (ib_poll_cq(e->cq, 1, &wc) == 1) {
			if (wc.status == status)
				return 0;
			pr_err(KBUILD_MODNAME ": %s: status %d, not %d\n", what, wc.status, status);
			return -EPROTO;
		}
		usleep_range(1000, 1100);
	}
	pr_err(KBUILD_MODNAME ": %s: no completion\n", what);
	return -ETIMEDOUT;
}

/* As rc_poll_for(), as long as a completion may take. */
static inline int rc_poll(struct rc_end *e, enum ib_wc_status status, const char *what)
{
	return rc_poll_for(e, RC_SECONDS, status, what);
}

/* Have the region of @e lead to @mem, as of the next registration. Return: 0 or an error. */
static inline int rc_map(struct rc_end *e, void *mem, int len)
{
	struct scatterlist sg;

	sg_init_one(&sg, mem, len);
	if (ib_dma_map_sg(e->ib, &sg, 1, DMA_BIDIRECTIONAL) != 1 ||
	    ib_map_mr_sg(e->mr, &sg, 1, NULL, PAGE_SIZE) != 1)
		return -EINVAL;
	return 0;
}

/* Register by a work request of @e what rc_map() was given. Return: 0 or an error. */
static inline int rc_reg(struct rc_end *e, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = e->mr,
		.key = e->mr->lkey,
		.access = access,
	};
	int err = ib_post_send(e->qp, &wr.wr, NULL);

	return err ?: rc_poll(e, IB_WC_SUCCESS, "REG_MR");
}

/* Register the memory of @e by a work request. Return: 0 or an error. */
static inline int rc_register(struct rc_end *e, int len, int access)
{
	return rc_map(e, e->mem, len) ?: rc_reg(e, access);
}

/* Invalidate the region of @e by a work request. Return: 0 or an error. */
static inline int rc_inval(struct rc_end *e)
{
	struct ib_send_wr wr = {.opcode = IB_WR_LOCAL_INV, .ex.invalidate_rkey = e->mr->rkey};
	int err = ib_post_send(e->qp, &wr, NULL);

	return err ?: rc_poll(e, IB_WC_SUCCESS, "LOCAL_INV");
}

#endif
