// SPDX-License-Identifier: GPL-2.0
/*
 * victim DEVICE [srq|xrc|ud]: two RC queue pairs of one process, connected with each other, to
 * which something is done by "pibctl inject". Says "ready near N far N" (with srq the far one takes
 * its receives from an SRQ; with xrc they are queue pairs of XRC, and the SRQ is named by the
 * message; with ud they are of UD, and can only send), then does what each line of its standard
 * input says: send, write, read; or immediate, a WRITE that finds no receive, to be followed by
 * receive; or, with ud, long, a datagram that its receive has no room for, to be followed by again,
 * one that fits. Then it says how that has ended:
 *
 *	N send STATUS recv STATUS data good|bad
 *
 * recv is "-" where there is no receive, or if it has not ended after all. Asynchronous events are
 * told as "event NAME".
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "device.h"

#define SIZE 8192
#define SECONDS 60
#define MTU IBV_MTU_1024
#define DATAGRAM 1024
#define GRH_BYTES 40
#define QKEY 7

enum { NEAR, FAR };

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq[2];
static struct ibv_qp *qp[2];
static struct ibv_srq *srq;
static bool is_xrc;
static bool is_ud;
static struct ibv_ah *ah;
static struct ibv_mr *mr;
static uint8_t memory[2][SIZE];

static void die(const char *what)
{
	fprintf(stderr, "victim: %s: %m\n", what);
	exit(1);
}

static void *tell_events(void *arg)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(ctx, &event)) {
		printf("event %s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
	return arg;
}

static void make_memory(void)
{
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, memory, sizeof(memory),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ)
		: NULL;
	if (!mr)
		die("memory");
}

static void make(bool shared)
{
	struct ibv_srq_init_attr shared_attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16,
			 .max_recv_wr = 16,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int i;

	if (is_ud)
		attr.qp_type = IBV_QPT_UD;
	if (shared)
		srq = ibv_create_srq(pd, &shared_attr);
	for (i = NEAR; i <= FAR; i++) {
		cq[i] = ibv_create_cq(ctx, 16, NULL, NULL, 0);
		attr.send_cq = attr.recv_cq = cq[i];
		attr.srq = i == FAR ? srq : NULL;
		qp[i] = cq[i] ? ibv_create_qp(pd, &attr) : NULL;
		if (!qp[i])
			die("queue pair");
	}
}

/* The near end can only send, the far one only be sent to. */
static void make_xrc(void)
{
	struct ibv_xrcd_init_attr domain_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *domain = ibv_open_xrcd(ctx, &domain_attr);
	struct ibv_srq_init_attr_ex srq_attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.srq_type = IBV_SRQT_XRC,
		.xrcd = domain,
		.pd = pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
	};
	struct ibv_qp_init_attr_ex near_attr = {
		.qp_type = IBV_QPT_XRC_SEND, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
	}, far_attr = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = domain,
	};

	cq[NEAR] = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	cq[FAR] = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	near_attr.send_cq = near_attr.recv_cq = cq[NEAR];
	srq_attr.cq = cq[FAR];
	if (!domain || !cq[NEAR] || !cq[FAR])
		die("XRC domain");
	srq = ibv_create_srq_ex(ctx, &srq_attr);
	qp[NEAR] = ibv_create_qp_ex(ctx, &near_attr);
	qp[FAR] = ibv_create_qp_ex(ctx, &far_attr);
	if (!srq || !qp[NEAR] || !qp[FAR])
		die("XRC");
}

/* Return: what end @i has of the two. An end of XRC has only one of them, of RC both. */
static int has(int i, int requester, int responder)
{
	return is_xrc ? (i == NEAR ? requester : responder) : requester | responder;
}

static void connect_end(int i, uint16_t lid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags =
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.path_mtu = MTU,
		.dest_qp_num = qp[!i]->qp_num,
		.max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .dlid = lid, .port_num = 1 },
	};

	if (ibv_modify_qp(qp[i], &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp[i], &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN |
				  has(i, 0, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)))
		die("RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN |
			  has(i, IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC, 0)))
		die("RTS");
}

static void open_datagrams(uint16_t lid)
{
	struct ibv_ah_attr way = { .dlid = lid, .port_num = 1 };
	struct ibv_qp_attr attr = { .port_num = 1, .qkey = QKEY };
	int i;

	for (i = NEAR; i <= FAR; i++) {
		attr.qp_state = IBV_QPS_INIT;
		if (ibv_modify_qp(qp[i], &attr,
				  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
			die("INIT");
		attr.qp_state = IBV_QPS_RTR;
		if (ibv_modify_qp(qp[i], &attr, IBV_QP_STATE))
			die("RTR");
		attr.qp_state = IBV_QPS_RTS;
		if (ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
			die("RTS");
	}
	ah = ibv_create_ah(pd, &way);
	if (!ah)
		die("address handle");
}

static uint32_t length(void)
{
	return is_ud ? DATAGRAM : SIZE;
}

static void post_receive(uint32_t room)
{
	struct ibv_sge sge = { (uintptr_t)memory[FAR], room, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp[FAR], &wr, &bad))
		die("receive");
}

static void post_request(enum ibv_wr_opcode opcode, uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)memory[NEAR], bytes, mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)memory[FAR], mr->rkey },
	}, *bad;

	if (is_ud) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = qp[FAR]->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	if (is_xrc && ibv_get_srq_num(srq, &wr.qp_type.xrc.remote_srqn))
		die("SRQ");
	if (ibv_post_send(qp[NEAR], &wr, &bad))
		die("send");
}

/* A completion of end @i, within @seconds. "-": there is none. */
static const char *outcome(int i, int seconds)
{
	time_t until = time(NULL) + seconds;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(cq[i], 1, &wc) == 1)
			return ibv_wc_status_str(wc.status);
		usleep(1000);
	} while (time(NULL) <= until);
	return "-";
}

static void fill(unsigned int n, enum ibv_wr_opcode opcode)
{
	unsigned int i;

	for (i = 0; i < SIZE; i++) {
		memory[NEAR][i] = 7 * i + n;
		memory[FAR][i] = opcode == IBV_WR_RDMA_READ ? 5 * i + n : 0;
	}
}

static void tell_end(unsigned int n, bool receives)
{
	const char *sent = outcome(NEAR, SECONDS);
	const char *received = receives ? outcome(FAR, 1) : "-";
	const uint8_t *far = memory[FAR] + (is_ud ? GRH_BYTES : 0);

	printf("%u send %s recv %s data %s\n", n, sent, received,
	       memcmp(memory[NEAR], far, length()) ? "bad" : "good");
}

static void act(unsigned int n, enum ibv_wr_opcode opcode)
{
	fill(n, opcode);
	if (opcode == IBV_WR_SEND)
		post_receive(SIZE);
	post_request(opcode, length());
	tell_end(n, opcode == IBV_WR_SEND);
}

static void obey(const char *line, unsigned int *n)
{
	if (!strcmp(line, "send")) {
		act(++*n, IBV_WR_SEND);
	} else if (!strcmp(line, "write")) {
		act(++*n, IBV_WR_RDMA_WRITE);
	} else if (!strcmp(line, "read")) {
		act(++*n, IBV_WR_RDMA_READ);
	} else if (!strcmp(line, "immediate")) {
		fill(++*n, IBV_WR_RDMA_WRITE_WITH_IMM);
		post_request(IBV_WR_RDMA_WRITE_WITH_IMM, length());
	} else if (!strcmp(line, "receive")) {
		post_receive(SIZE);
		tell_end(*n, true);
	} else if (!strcmp(line, "long")) {
		fill(++*n, IBV_WR_SEND);
		post_receive(GRH_BYTES + DATAGRAM);
		post_request(IBV_WR_SEND, 2 * DATAGRAM);
		tell_end(*n, true);
	} else if (!strcmp(line, "again")) {
		fill(++*n, IBV_WR_SEND);
		post_request(IBV_WR_SEND, DATAGRAM);
		tell_end(*n, true);
	}
}

int main(int argc, char **argv)
{
	struct ibv_port_attr port;
	unsigned int n = 0;
	pthread_t thread;
	char line[64];

	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	ctx = open_device(argv[1]);
	if (!ctx || ibv_query_port(ctx, 1, &port))
		die(argv[1]);
	is_xrc = argc > 2 && !strcmp(argv[2], "xrc");
	is_ud = argc > 2 && !strcmp(argv[2], "ud");
	make_memory();
	if (is_xrc)
		make_xrc();
	else
		make(argc > 2 && !is_ud);
	if (is_ud) {
		open_datagrams(port.lid);
	} else {
		connect_end(NEAR, port.lid);
		connect_end(FAR, port.lid);
	}
	if (pthread_create(&thread, NULL, tell_events, NULL))
		die("thread");
	printf("ready near %u far %u\n", qp[NEAR]->qp_num, qp[FAR]->qp_num);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		obey(line, &n);
	}
	return 0;
}
