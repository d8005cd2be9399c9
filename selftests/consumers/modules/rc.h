/* SPDX-License-Identifier: GPL-2.0 */
/* Connected queue pairs of consumers in the kernel, their completions, and regions. */
#ifndef PIB_TEST_RC_H
#define PIB_TEST_RC_H

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/scatterlist.h>
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

/* Return: a queue pair whose work requests are all signaled, four at a time; ERR_PTR(). */
static inline struct ib_qp *rc_create(struct ib_pd *pd, struct ib_cq *cq)
{
	struct ib_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_RC,
	};

	return ib_create_qp(pd, &init);
}

/*
 * Connect @qp to queue pair @qpn of @to. @reads: READs at a time, either way; @timeout: as of
 * ib_modify_qp(), 0: nothing is sent again. Return: 0 or an error.
 */
static inline int rc_connect(struct ib_qp *qp, struct ib_device *to, u32 qpn, u8 reads, u8 timeout)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_READ,
		.path_mtu = IB_MTU_4096,
		.dest_qp_num = qpn,
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
	int err = ib_query_port(to, 1, &port);

	if (err)
		return err;
	rdma_ah_set_dlid(&attr.ah_attr, port.lid);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	err = ib_modify_qp(qp, &attr, RC_INIT);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(qp, &attr, RC_RTR);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(qp, &attr, RC_RTS);
}

/*
 * Wait @seconds for the next completion of @cq, which has to have @status. Return: 0 or an error,
 * which the log has with @what.
 */
static inline int rc_poll(struct ib_cq *cq, int seconds, enum ib_wc_status status, const char *what)
{
	struct ib_wc wc;
	int i;

	for (i = 0; i < 1000 * seconds; i++) {
		if (ib_poll_cq(cq, 1, &wc) == 1) {
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

/* Have @mr lead to @mem, as of the next registration. Return: 0 or an error. */
static inline int rc_map(struct ib_mr *mr, void *mem, int len)
{
	struct scatterlist sg;

	sg_init_one(&sg, mem, len);
	if (ib_dma_map_sg(mr->device, &sg, 1, DMA_BIDIRECTIONAL) != 1 ||
	    ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE) != 1)
		return -EINVAL;
	return 0;
}

/* Register by a work request of @qp what rc_map() was given. Return: 0 or an error. */
static inline int rc_reg(struct ib_qp *qp, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->lkey,
		.access = access,
	};
	int err = ib_post_send(qp, &wr.wr, NULL);

	return err ?: rc_poll(qp->send_cq, RC_SECONDS, IB_WC_SUCCESS, "REG_MR");
}

/* Register memory by a work request of @qp. Return: 0 or an error. */
static inline int rc_register(struct ib_qp *qp, struct ib_mr *mr, void *mem, int len, int access)
{
	return rc_map(mr, mem, len) ?: rc_reg(qp, mr, access);
}

#endif
