/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue pair at port 1 of a device, with all that it needs: for programs whose ends are all
 * alike.
 */
#pragma once

#include <errno.h>
#include <error.h>
#include <stddef.h>
#include "device.h"

#define END_POLL 64

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	unsigned int posted, done;
};

static void die(const char *device, const char *what)
{
	error(1, errno, "%s: %s", device, what);
}

/* @type, and work requests of one piece of memory: so many to send, so many to receive. */
static void open_end(struct end *e, const char *name, enum ibv_qp_type type, unsigned int sends,
		     unsigned int receives, void *memory, size_t size)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = sends,
			.max_recv_wr = receives,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	e->ctx = open_device(name);
	if (!e->ctx)
		die(name, "cannot open");
	if (ibv_query_port(e->ctx, 1, &e->port))
		die(name, "cannot query the port");
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, sends + receives, NULL, NULL, 0);
	if (!e->pd || !e->cq)
		die(name, "cannot make objects");
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &attr);
	e->mr = ibv_reg_mr(e->pd, memory, size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	if (!e->qp || !e->mr)
		die(name, "cannot make a QP");
}

static const char *name_of(const struct end *e)
{
	return ibv_get_device_name(e->ctx->device);
}

static void modify(struct end *e, struct ibv_qp_attr attr, int mask, const char *what)
{
	if (ibv_modify_qp(e->qp, &attr, mask | IBV_QP_STATE))
		die(name_of(e), what);
}

/*
 * One end of an RC connection, up to RTS. @timeout: 4.096 us * 2^it; @reads: READs at a time,
 * either way.
 */
static inline void connect_rc(struct end *e, const struct end *far, enum ibv_mtu mtu,
			      unsigned int timeout, unsigned int retries, unsigned int reads)
{
	modify(e,
	       (struct ibv_qp_attr){
		       .qp_state = IBV_QPS_INIT,
		       .port_num = 1,
		       .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	       },
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
	modify(e,
	       (struct ibv_qp_attr){
		       .qp_state = IBV_QPS_RTR,
		       .path_mtu = mtu,
		       .dest_qp_num = far->qp->qp_num,
		       .rq_psn = 1,
		       .ah_attr = {.dlid = far->port.lid, .port_num = 1},
		       .min_rnr_timer = 5,
		       .max_dest_rd_atomic = reads,
	       },
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	       "RTR");
	modify(e,
	       (struct ibv_qp_attr){
		       .qp_state = IBV_QPS_RTS,
		       .sq_psn = 1,
		       .timeout = timeout,
		       .retry_cnt = retries,
		       .rnr_retry = 7,
		       .max_rd_atomic = reads,
	       },
	       IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_MAX_QP_RD_ATOMIC,
	       "RTS");
}

/* Count what has been done since. Return: how much that is. */
static inline int take(struct end *e)
{
	struct ibv_wc wc[END_POLL];
	int i, n = ibv_poll_cq(e->cq, END_POLL, wc);

	for (i = 0; i < n; i++) {
		if (wc[i].status)
			error(1, 0, "%s: %s", name_of(e), ibv_wc_status_str(wc[i].status));
		e->done++;
	}
	return n;
}
