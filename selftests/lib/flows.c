// SPDX-License-Identifier: GPL-2.0
/*
 * flows [-n MESSAGES] [-s BYTES] SOURCE:SINK:SL...: RDMA writes over UC from port 1 of one device to that of
 * another, all flows at the same time, as fast as they are taken. Ends with 0 when the last one has been sent, which
 * may be never.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device.h"

#define DEPTH 16

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
};

struct flow {
	const char *name;
	struct end from, to;
	unsigned int posted, done;
};

static unsigned int messages = 1000, size = 65536;
static char *memory;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "flows: %s: %s: %m\n", name, what);
	exit(1);
}

static void open_end(struct end *e, const char *name)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UC, .sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	e->ctx = open_device(name);
	if (!e->ctx)
		die("cannot open", name);
	if (ibv_query_port(e->ctx, 1, &e->port))
		die("cannot query the port", name);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, DEPTH, NULL, NULL, 0);
	if (!e->pd || !e->cq)
		die("cannot make objects", name);
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &attr);
	e->mr = ibv_reg_mr(e->pd, memory, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!e->qp || !e->mr)
		die("cannot make a QP", name);
}

static void connect_end(struct end *e, const struct end *far, unsigned int sl, const char *name)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT", name);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_2048, .dest_qp_num = far->qp->qp_num, .rq_psn = 1,
		.ah_attr = { .dlid = far->port.lid, .sl = sl, .port_num = 1 },
	};
	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN))
		die("RTR", name);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .sq_psn = 1 };
	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		die("RTS", name);
}

static void flow_open(struct flow *f, const char *word)
{
	char from[64], to[64];
	unsigned int sl;

	f->name = word;
	if (sscanf(word, "%63[^:]:%63[^:]:%u", from, to, &sl) != 3 || sl > 15) {
		fprintf(stderr, "flows: '%s' is not SOURCE:SINK:SL\n", word);
		exit(2);
	}
	open_end(&f->from, from);
	open_end(&f->to, to);
	connect_end(&f->from, &f->to, sl, word);
	connect_end(&f->to, &f->from, sl, word);
}

static void post(struct flow *f)
{
	struct ibv_sge sge = { (uintptr_t)memory, size, f->from.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE }, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)memory;
	wr.wr.rdma.rkey = f->to.mr->rkey;
	if (ibv_post_send(f->from.qp, &wr, &bad))
		die("post_send", f->name);
	f->posted++;
}

/* Returns how many have come to their end. */
static int advance(struct flow *f)
{
	struct ibv_wc wc[DEPTH];
	int i, n = ibv_poll_cq(f->from.cq, DEPTH, wc);

	for (i = 0; i < n; i++) {
		if (wc[i].status) {
			fprintf(stderr, "flows: %s: %s\n", f->name, ibv_wc_status_str(wc[i].status));
			exit(1);
		}
		f->done++;
	}
	while (f->posted < messages && f->posted - f->done < DEPTH)
		post(f);
	return n;
}

int main(int argc, char **argv)
{
	unsigned int i, num, rest;
	struct flow *flows;
	int c, any;

	while ((c = getopt(argc, argv, "n:s:")) != -1) {
		if (c == 'n')
			messages = atoi(optarg);
		else if (c == 's')
			size = atoi(optarg);
		else
			return 2;
	}
	num = argc - optind;
	memory = calloc(1, size);
	flows = calloc(num, sizeof(*flows));
	if (!num || !memory || !flows)
		return 2;
	for (i = 0; i < num; i++)
		flow_open(&flows[i], argv[optind + i]);
	do {
		for (i = rest = any = 0; i < num; i++) {
			any |= advance(&flows[i]);
			rest += messages - flows[i].done;
		}
		if (!any)
			usleep(500);
	} while (rest);
	return 0;
}
