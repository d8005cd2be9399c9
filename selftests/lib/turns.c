// SPDX-License-Identifier: GPL-2.0
/*
 * turns SLOWED OTHER: an RC connection between port 1 of two devices, of which congestion control slows down the first one.
 * Neither what it answers keeps it from asking, nor the other way round: while the other end always waits for READs it
 * gets a WRITE of its own through, and while it always has WRITEs to send the other end gets a READ.
 *
 * Ends with 1 where one of them is still not done when MOST of the others are.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "device.h"

#define DEPTH 8
#define SIZE 16384
#define FIRST 20
#define MOST 200

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	unsigned int posted, done;
};

static struct end slowed, other;
static char memory[SIZE];

static void die(const char *what)
{
	fprintf(stderr, "turns: %s: %m\n", what);
	exit(1);
}

static void open_end(struct end *e, const char *name)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	e->ctx = open_device(name);
	if (!e->ctx || ibv_query_port(e->ctx, 1, &e->port))
		die(name);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, DEPTH, NULL, NULL, 0);
	if (!e->pd || !e->cq)
		die("objects");
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &attr);
	e->mr = ibv_reg_mr(e->pd, memory, SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!e->qp || !e->mr)
		die("QP");
}

static void modify(struct end *e, struct ibv_qp_attr attr, int mask, const char *what)
{
	if (ibv_modify_qp(e->qp, &attr, mask | IBV_QP_STATE))
		die(what);
}

static void connect_end(struct end *e, const struct end *far)
{
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_INIT, .port_num = 1,
			.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	       }, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_2048, .dest_qp_num = far->qp->qp_num, .rq_psn = 1,
			.ah_attr = { .dlid = far->port.lid, .port_num = 1 }, .min_rnr_timer = 5, .max_dest_rd_atomic = DEPTH,
	       }, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	       IBV_QP_MIN_RNR_TIMER, "RTR");
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTS, .sq_psn = 1, .timeout = 20, .retry_cnt = 7, .rnr_retry = 7,
			.max_rd_atomic = DEPTH,
	       }, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC, "RTS");
}

static void post(struct end *e, const struct end *far, enum ibv_wr_opcode op)
{
	struct ibv_sge sge = { (uintptr_t)memory, SIZE, e->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = op }, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)memory;
	wr.wr.rdma.rkey = far->mr->rkey;
	if (ibv_post_send(e->qp, &wr, &bad))
		die("post_send");
	e->posted++;
}

static void take(struct end *e)
{
	struct ibv_wc wc[DEPTH];
	int i, n = ibv_poll_cq(e->cq, DEPTH, wc);

	for (i = 0; i < n; i++) {
		if (wc[i].status) {
			fprintf(stderr, "turns: %s\n", ibv_wc_status_str(wc[i].status));
			exit(1);
		}
		e->done++;
	}
}

/* Has @e, which is never without, so many done? */
static bool busy(struct end *e, const struct end *far, enum ibv_wr_opcode op, unsigned int until)
{
	take(e);
	while (e->posted - e->done < DEPTH)
		post(e, far, op);
	return e->done >= until;
}

static void drain(struct end *e)
{
	while (e->done < e->posted) {
		take(e);
		usleep(500);
	}
}

/* While @always has always something to do, @once does one thing. Return: whether that is done in time. */
static bool gets_through(struct end *once, enum ibv_wr_opcode op, struct end *always, enum ibv_wr_opcode ops)
{
	unsigned int begun = always->done, mine = once->done;

	while (!busy(always, once, ops, begun + FIRST))
		usleep(500);
	begun = always->done;
	post(once, always, op);
	while (once->done == mine && !busy(always, once, ops, begun + MOST)) {
		take(once);
		usleep(500);
	}
	printf("meanwhile %u of the other end's\n", always->done - begun);
	return once->done > mine;
}

int main(int argc, char **argv)
{
	bool asks, answers;

	if (argc != 3)
		return 2;
	open_end(&slowed, argv[1]);
	open_end(&other, argv[2]);
	connect_end(&slowed, &other);
	connect_end(&other, &slowed);
	asks = gets_through(&slowed, IBV_WR_RDMA_WRITE, &other, IBV_WR_RDMA_READ);
	drain(&other);
	drain(&slowed);
	answers = gets_through(&other, IBV_WR_RDMA_READ, &slowed, IBV_WR_RDMA_WRITE);
	drain(&slowed);
	drain(&other);
	return !asks || !answers;
}
