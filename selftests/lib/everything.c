// SPDX-License-Identifier: GPL-2.0
/*
 * everything DEVICE one|used|many N|churn|target FILE|share FILE N: objects of verbs for who lists
 * them.
 *
 *	one	one of each kind; says which: "KIND NUMBER HANDLE" a line, then "ready"; sleeps
 *	used	an SRQ of which the limit is 2, with three receives, and a memory window, bound to
 *		the second half of a region; says which, as "one" does, then "ready"; sleeps
 *	many N	N memory regions, then "ready"; sleeps
 *	target	an XRC target QP in the domain of FILE, then "qp NUMBER"; sleeps
 *	share	opens the XRC target QP of that number, then "ready"; sleeps
 *	churn	makes and destroys objects until it is killed; says "ready" after the first round
 *
 * It ends by itself after some minutes.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "device.h"

#define MINUTES	20
#define ROUND	16

static struct ibv_context *ctx;
static char memory[4096] __attribute__((aligned(4096)));

static void die(const char *what)
{
	fprintf(stderr, "everything: %s: %m\n", what);
	exit(1);
}

static void *made(void *object, const char *what)
{
	if (!object)
		die(what);
	return object;
}

static void say(const char *kind, unsigned int number, unsigned int handle)
{
	printf("%s %u %u\n", kind, number, handle);
}

static void ready(void)
{
	printf("ready\n");
	fflush(stdout);
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };
	struct ibv_qp *qp = made(ibv_create_qp(pd, &init), "create_qp");

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		die("modify_qp");
	return qp;
}

static struct ibv_srq *make_srq(struct ibv_pd *pd)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };

	return made(ibv_create_srq(pd, &init), "create_srq");
}

static struct ibv_ah *make_ah(struct ibv_pd *pd)
{
	struct ibv_ah_attr attr = { .dlid = 0x1234, .sl = 3, .port_num = 1 };

	return made(ibv_create_ah(pd, &attr), "create_ah");
}

static struct ibv_mr *make_mr(struct ibv_pd *pd)
{
	return made(ibv_reg_mr(pd, memory, sizeof(memory),
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
		    "reg_mr");
}

static struct ibv_xrcd *open_xrcd(int fd)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd,
		.oflags = O_CREAT,
	};

	return made(ibv_open_xrcd(ctx, &init), "open_xrcd");
}

static struct ibv_xrcd *domain_of(const char *file)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		die(file);
	return open_xrcd(fd);
}

static void target(const char *file)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = domain_of(file),
	};
	struct ibv_qp *qp = made(ibv_create_qp_ex(ctx, &init), "create_qp_ex");

	say("qp", qp->qp_num, qp->handle);
	fflush(stdout);
}

static void share(const char *file, unsigned int number)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = number, .xrcd = domain_of(file), .qp_type = IBV_QPT_XRC_RECV,
	};

	made(ibv_open_qp(ctx, &attr), "open_qp");
	ready();
}

static void make_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 256 };
	struct ibv_dm *dm = made(ibv_alloc_dm(ctx, &attr), "alloc_dm");

	say("dm", 0, dm->handle);
}

static void one(void)
{
	union ibv_gid group = {
		.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7 },
	};
	struct ibv_pd *pd = made(ibv_alloc_pd(ctx), "alloc_pd");
	struct ibv_mr *mr = make_mr(pd);
	struct ibv_mw *mw = made(ibv_alloc_mw(pd, IBV_MW_TYPE_2), "alloc_mw");
	struct ibv_cq *cq = made(ibv_create_cq(ctx, 16, NULL, NULL, 0), "create_cq");
	struct ibv_srq *srq = make_srq(pd);
	struct ibv_qp *qp = make_qp(pd, cq, NULL);
	struct ibv_ah *ah = make_ah(pd);

	if (ibv_attach_mcast(qp, &group, 0xC007))
		die("attach_mcast");
	say("context", 0, 0);
	say("pd", 0, pd->handle);
	say("mr", mr->rkey, mr->handle);
	say("mw", mw->rkey, mw->handle);
	say("cq", 0, cq->handle);
	say("srq", 0, srq->handle);
	say("qp", qp->qp_num, qp->handle);
	say("ah", 0, ah->handle);
	say("attachment", qp->qp_num, 0);
	open_xrcd(-1);
	say("xrcd", 0, 0);
	make_dm();
	ready();
}

/* Return: an RC queue pair that is connected with itself. */
static struct ibv_qp *connected(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = made(ibv_create_qp(pd, &init), "create_qp");
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_READ,
		.path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num, .min_rnr_timer = 12,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
	};

	if (ibv_query_port(ctx, 1, &port))
		die("query_port");
	attr.ah_attr = (struct ibv_ah_attr) { .dlid = port.lid, .port_num = 1 };
	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS");
	return qp;
}

static void bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = mr, .addr = (uintptr_t)memory + sizeof(memory) / 2,
				.length = sizeof(memory) / 2,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ,
			},
		},
	};
	struct ibv_wc wc;

	if (ibv_post_send(qp, &wr, &bad))
		die("bind");
	while (!ibv_poll_cq(qp->send_cq, 1, &wc))
		;
	if (wc.status)
		die("bind");
}

static void used(void)
{
	struct ibv_pd *pd = made(ibv_alloc_pd(ctx), "alloc_pd");
	struct ibv_cq *cq = made(ibv_create_cq(ctx, 16, NULL, NULL, 0), "create_cq");
	struct ibv_mr *mr = made(ibv_reg_mr(pd, memory, sizeof(memory),
					    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND),
				 "reg_mr");
	struct ibv_mw *mw = made(ibv_alloc_mw(pd, IBV_MW_TYPE_2), "alloc_mw");
	struct ibv_srq *srq = make_srq(pd);
	struct ibv_recv_wr *bad, wr = { };
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct ibv_qp *qp = connected(pd, cq);
	int i;

	for (i = 0; i < 3; i++)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			die("post_srq_recv");
	if (ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT))
		die("modify_srq");
	bind(qp, mw, mr);
	say("mr", mr->rkey, mr->handle);
	say("qp", qp->qp_num, qp->handle);
	ready();
}

static void many(unsigned int n)
{
	struct ibv_pd *pd = made(ibv_alloc_pd(ctx), "alloc_pd");

	while (n--)
		make_mr(pd);
	ready();
}

static void churn_round(void)
{
	struct ibv_pd *pd = made(ibv_alloc_pd(ctx), "alloc_pd");
	struct ibv_cq *cq = made(ibv_create_cq(ctx, 16, NULL, NULL, 0), "create_cq");
	struct ibv_srq *srq = make_srq(pd);
	struct ibv_qp *qp[ROUND];
	struct ibv_mr *mr[ROUND];
	struct ibv_ah *ah[ROUND];
	int i;

	for (i = 0; i < ROUND; i++) {
		qp[i] = make_qp(pd, cq, i & 1 ? srq : NULL);
		mr[i] = make_mr(pd);
		ah[i] = make_ah(pd);
	}
	for (i = 0; i < ROUND; i++)
		if (ibv_destroy_ah(ah[i]) || ibv_dereg_mr(mr[i]) || ibv_destroy_qp(qp[i]))
			die("destroy");
	if (ibv_destroy_srq(srq) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd))
		die("destroy");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	alarm(MINUTES * 60);
	ctx = made(open_device(argv[1]), argv[1]);
	if (!strcmp(argv[2], "one"))
		one();
	else if (!strcmp(argv[2], "used"))
		used();
	else if (!strcmp(argv[2], "many") && argc > 3)
		many(atoi(argv[3]));
	else if (!strcmp(argv[2], "target") && argc > 3)
		target(argv[3]);
	else if (!strcmp(argv[2], "share") && argc > 4)
		share(argv[3], atoi(argv[4]));
	else if (!strcmp(argv[2], "churn"))
		for (churn_round(), ready();;)
			churn_round();
	else
		return 2;
	pause();
	return 0;
}
