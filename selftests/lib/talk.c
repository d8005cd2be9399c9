// SPDX-License-Identifier: GPL-2.0
/*
 * talk [-g INDEX] [-klnr] rc|ud DEVICE P_KEY DEVICE P_KEY: one message from the first device's port
 * 1 to the second one's, each QP with the first entry of its own port's table that is of this
 * partition (its low 15 bits; 0: an entry that is empty).
 *
 *	-g	both name each other by GID, the second one by that entry of its GID table
 *	-k	the second one has another Q_Key than the message (ud)
 *	-l	the second one expects the message from another LID (rc)
 *	-n	an RDMA WRITE of four packets instead, which is not to arrive (rc): of a SEND the
 *		first packet goes alone, for the far end has yet to say what it can receive
 *	-r	the second QP goes back to RESET before the message comes
 *
 * Says "arrived" (status 0) or "lost" (status 1): for RC the sender's retries are exhausted, for UD
 * nothing has come in a second. Anything else, such as a P_Key that a table lacks, is status 2.
 */
#include <endian.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "device.h"

#define GRH_BYTES 40
#define BYTES 64
#define LONG_BYTES 4096
#define QKEY 0x11
#define UD_WAIT_NS 1000000000LL
#define RC_WAIT_NS 60000000000LL

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint16_t pkey_index;
	uint8_t gid_index;
	char memory[GRH_BYTES + LONG_BYTES];
};

static struct end ends[2];
static bool ud, by_gid, other_qkey, other_lid, resets;
static unsigned int bytes = BYTES;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "talk: %s: %s: %m\n", name, what);
	exit(2);
}

static void find_pkey(struct end *e, const char *name, unsigned int want)
{
	__be16 key;
	int i;

	for (i = 0; i < e->port.pkey_tbl_len; i++) {
		if (ibv_query_pkey(e->ctx, 1, i, &key))
			die("cannot query P_Keys", name);
		if ((be16toh(key) & 0x7FFF) == (want & 0x7FFF)) {
			e->pkey_index = i;
			return;
		}
	}
	fprintf(stderr, "talk: %s has no P_Key of partition 0x%x\n", name, want & 0x7FFF);
	exit(2);
}

static void open_end(struct end *e, const char *name, const char *key)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = ud ? IBV_QPT_UD : IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	e->ctx = open_device(name);
	if (!e->ctx)
		die("cannot open", name);
	if (ibv_query_port(e->ctx, 1, &e->port) || ibv_query_gid(e->ctx, 1, e->gid_index, &e->gid))
		die("cannot query the port", name);
	find_pkey(e, name, strtoul(key, NULL, 0));
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 2, NULL, NULL, 0);
	if (!e->pd || !e->cq)
		die("cannot make objects", name);
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &attr);
	e->mr = ibv_reg_mr(e->pd, e->memory, sizeof(e->memory), IBV_ACCESS_LOCAL_WRITE);
	if (!e->qp || !e->mr)
		die("cannot make a QP", name);
}

static void modify(struct end *e, struct ibv_qp_attr attr, int mask, const char *what)
{
	if (ibv_modify_qp(e->qp, &attr, mask | IBV_QP_STATE))
		die(what, ibv_get_device_name(e->ctx->device));
}

/* How the other end reaches @to. */
static struct ibv_ah_attr way(const struct end *from, const struct end *to)
{
	struct ibv_ah_attr attr = { .dlid = to->port.lid, .port_num = 1, .is_global = by_gid };

	if (other_lid && from == &ends[1])
		attr.dlid ^= 0x100;
	attr.grh.dgid = to->gid;
	attr.grh.sgid_index = from->gid_index;
	attr.grh.hop_limit = 1;
	return attr;
}

static void connect_end(struct end *e, const struct end *far)
{
	struct ibv_sge sge = { (uintptr_t)e->memory, sizeof(e->memory), e->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_INIT, .port_num = 1, .pkey_index = e->pkey_index,
			.qkey = QKEY ^ (other_qkey && e == &ends[1]),
	       }, IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS),
	       "INIT");
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
			.dest_qp_num = far->qp->qp_num, .rq_psn = 1,
			.ah_attr = way(e, far), .min_rnr_timer = 5,
	       }, ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, "RTR");
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTS, .sq_psn = 1, .timeout = 16, .retry_cnt = 2,
			.rnr_retry = 7,
	       }, IBV_QP_SQ_PSN | (ud ? 0 : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
	if (ibv_post_recv(e->qp, &wr, &bad))
		die("post_recv", ibv_get_device_name(e->ctx->device));
}

static void send_one(struct end *e, struct end *far)
{
	struct ibv_sge sge = { (uintptr_t)e->memory, bytes, e->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	if (bytes == LONG_BYTES) {
		wr.opcode = IBV_WR_RDMA_WRITE;
		wr.wr.rdma.remote_addr = (uintptr_t)far->memory;
		wr.wr.rdma.rkey = far->mr->rkey;
	}
	if (ud) {
		struct ibv_ah_attr attr = way(e, far);

		wr.wr.ud.ah = ibv_create_ah(e->pd, &attr);
		wr.wr.ud.remote_qpn = far->qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
		if (!wr.wr.ud.ah)
			die("no address handle", ibv_get_device_name(e->ctx->device));
	}
	memset(e->memory, 0x5A, bytes);
	if (ibv_post_send(e->qp, &wr, &bad))
		die("post_send", ibv_get_device_name(e->ctx->device));
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/*
 * Return: whether the message has come. It has not when the sender is told so, or when its time is
 * over.
 */
static bool arrives(void)
{
	int64_t end = now_ns() + (ud ? UD_WAIT_NS : RC_WAIT_NS);
	struct ibv_wc wc;

	while (now_ns() < end) {
		if (ibv_poll_cq(ends[1].cq, 1, &wc) > 0) {
			const char *data = ends[1].memory + (ud ? GRH_BYTES : 0);

			if (wc.status || data[0] != 0x5A || data[bytes - 1] != 0x5A)
				die("not what was sent", ibv_wc_status_str(wc.status));
			return true;
		}
		if (ibv_poll_cq(ends[0].cq, 1, &wc) > 0 && wc.status) {
			if (wc.status != IBV_WC_RETRY_EXC_ERR)
				die("the sender has failed", ibv_wc_status_str(wc.status));
			return false;
		}
		usleep(1000);
	}
	if (!ud)
		die("neither sent nor failed", "rc");
	return false;
}

int main(int argc, char **argv)
{
	bool came;
	int c;

	while ((c = getopt(argc, argv, "g:klnr")) != -1) {
		if (c == '?')
			return 2;
		if (c == 'g') {
			by_gid = true;
			ends[1].gid_index = atoi(optarg);
		}
		other_qkey |= c == 'k';
		other_lid |= c == 'l';
		resets |= c == 'r';
		if (c == 'n')
			bytes = LONG_BYTES;
	}
	argv += optind;
	if (argc - optind != 5)
		return 2;
	ud = !strcmp(argv[0], "ud");
	open_end(&ends[0], argv[1], argv[2]);
	open_end(&ends[1], argv[3], argv[4]);
	connect_end(&ends[0], &ends[1]);
	connect_end(&ends[1], &ends[0]);
	if (resets)
		modify(&ends[1], (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, 0, "RESET");
	send_one(&ends[0], &ends[1]);
	came = arrives();
	puts(came ? "arrived" : "lost");
	return !came;
}
