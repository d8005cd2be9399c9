/* SPDX-License-Identifier: GPL-2.0 */
/* Queue pairs of one port that talk to each other, and what they need: of manners.c. */
#pragma once

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENDS 8
#define LENGTH 64

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static char memory[2 * LENGTH];
static struct ibv_context *ctx;
static struct ibv_port_attr port;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_mr *mr, *far_mr;
static struct side near, far;
static struct ibv_srq *srq;
static uint32_t first_psn = 1;
static uint8_t sl;

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "manners: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void make_side(struct side *s, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.srq = srq,
		.cap = {.max_send_wr = SENDS,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	s->cq = ibv_create_cq(ctx, 64, NULL, channel, 0);
	must(!s->cq, "create_cq");
	init.send_cq = s->cq;
	init.recv_cq = s->cq;
	s->qp = ibv_create_qp(pd, &init);
	must(!s->qp, "create_qp");
}

static int modify(struct side *s, struct ibv_qp_attr attr, int mask)
{
	return ibv_modify_qp(s->qp, &attr, mask | IBV_QP_STATE);
}

static void init_side(struct side *s)
{
	must(modify(s,
		    (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT,
					 .port_num = 1,
					 .qp_access_flags = IBV_ACCESS_REMOTE_WRITE},
		    IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	     "INIT");
}

static int to_rtr(struct side *s, const struct side *peer, enum ibv_mtu mtu, uint32_t rq_psn)
{
	return modify(s,
		      (struct ibv_qp_attr){
			      .qp_state = IBV_QPS_RTR,
			      .path_mtu = mtu,
			      .dest_qp_num = peer->qp->qp_num,
			      .rq_psn = rq_psn,
			      .ah_attr = {.dlid = port.lid, .sl = sl, .port_num = 1},
			      .min_rnr_timer = 20,
			      .max_dest_rd_atomic = 1,
		      },
		      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static void connect_side(struct side *s, const struct side *peer, uint32_t rq_psn, uint32_t sq_psn)
{
	must(to_rtr(s, peer, IBV_MTU_1024, rq_psn), "RTR");
	must(modify(s,
		    (struct ibv_qp_attr){
			    .qp_state = IBV_QPS_RTS,
			    .sq_psn = sq_psn,
			    .timeout = 18,
			    .retry_cnt = 7,
			    .rnr_retry = 7,
			    .max_rd_atomic = 1,
		    },
		    IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			    IBV_QP_MAX_QP_RD_ATOMIC),
	     "RTS");
}

static void connect_sides(void)
{
	init_side(&near);
	init_side(&far);
	connect_side(&near, &far, 1, first_psn);
	connect_side(&far, &near, first_psn & 0xffffff, 1);
}

static struct ibv_ah *make_ah(uint16_t dlid)
{
	return ibv_create_ah(pd, &(struct ibv_ah_attr){.dlid = dlid, .port_num = 1});
}

/* Return: 0, or ENOMEM while the queue is full. */
static int post(enum ibv_wr_opcode opcode, int flags)
{
	struct ibv_sge piece = {(uintptr_t)memory, LENGTH, mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = 7,
		.sg_list = &piece,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = flags,
		.wr.rdma = {(uintptr_t)memory + LENGTH, far_mr ? far_mr->rkey : 0},
	};
	struct ibv_send_wr *bad;

	return ibv_post_send(near.qp, &wr, &bad);
}

static void post_receive(struct side *s)
{
	struct ibv_sge piece = {(uintptr_t)memory + LENGTH, LENGTH, far_mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &piece, .num_sge = 1};
	struct ibv_recv_wr *bad;

	must(ibv_post_recv(s->qp, &wr, &bad), "post_recv");
}

static enum ibv_wc_status completed(struct side *s)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(s->cq, 1, &wc))
		;
	return wc.status;
}
