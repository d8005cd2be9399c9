/* SPDX-License-Identifier: GPL-2.0 */
/* For the small programs that send datagrams and receive none. */
#pragma once

#include "device.h"

/*
 * A queue pair that sends datagrams from port 1, so many at a time, all of which complete. Up to 8
 * bytes may stand in the work request. NULL: there is none.
 */
static struct ibv_qp *open_sender(struct ibv_pd *pd, struct ibv_cq *cq, unsigned int sends)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.send_cq = cq,
		.recv_cq = cq,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = sends,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 8},
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp ||
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		return NULL;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		return NULL;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) ? NULL : qp;
}
