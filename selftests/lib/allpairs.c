// SPDX-License-Identifier: GPL-2.0
/*
 * allpairs [-n MESSAGES] [-s BYTES] [-f] [DEVICE...]: RC traffic between every pair of ports 1 of
 * the devices (by default all whose port 1 is ACTIVE), in both directions: sends and RDMA writes,
 * with the data looked at. Prints "N devices, P pairs, M messages" and ends with 0 if all arrived
 * whole. With -f it goes on, now and then, until SIGTERM, and prints "running" when every pair has
 * had its first message.
 */
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_S 120
#define PAUSE_US 50000

struct dev {
	const char *name;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct ibv_qp **qp;	/* by peer */
	unsigned char *buf;	/* by peer: sent, received, written by it */
	uint64_t done;
};

static unsigned int num, messages = 4, size = 1024;
static volatile sig_atomic_t ended;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "allpairs: %s: %s: %m\n", name, what);
	exit(1);
}

static unsigned char *slot(struct dev *d, unsigned int peer, unsigned int which)
{
	return d->buf + (3 * peer + which) * (size_t)size;
}

static int dev_open(struct dev *d, struct ibv_device *ibdev)
{
	d->name = ibv_get_device_name(ibdev);
	d->ctx = ibv_open_device(ibdev);
	if (!d->ctx)
		die("cannot open", d->name);
	if (ibv_query_port(d->ctx, 1, &d->port) || ibv_query_gid(d->ctx, 1, 0, &d->gid))
		die("cannot query the port", d->name);
	if (d->port.state == IBV_PORT_ACTIVE)
		return 1;
	ibv_close_device(d->ctx);
	return 0;
}

static void dev_setup(struct dev *d)
{
	int depth = num * 4;
	unsigned int i;

	d->buf = calloc(3 * num, size);
	d->qp = calloc(num, sizeof(*d->qp));
	d->pd = ibv_alloc_pd(d->ctx);
	d->cq = ibv_create_cq(d->ctx, depth, NULL, NULL, 0);
	if (!d->buf || !d->qp || !d->pd || !d->cq)
		die("cannot make objects", d->name);
	d->mr = ibv_reg_mr(d->pd, d->buf, 3 * (size_t)num * size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!d->mr)
		die("cannot register memory", d->name);
	for (i = 0; i < num; i++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = d->cq,
			.recv_cq = d->cq,
			.qp_type = IBV_QPT_RC,
			.sq_sig_all = 1,
			.cap = { .max_send_wr = 2,
				 .max_recv_wr = 2,
				 .max_send_sge = 1,
				 .max_recv_sge = 1 },
		};

		d->qp[i] = ibv_create_qp(d->pd, &attr);
		if (!d->qp[i])
			die("cannot make a QP", d->name);
	}
}

static void connect_to(struct dev *d, unsigned int me, struct dev *far, unsigned int peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(d->qp[peer], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		die("INIT", d->name);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_2048,
		.dest_qp_num = far->qp[me]->qp_num,
		.rq_psn = 1, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .dlid = far->port.lid, .port_num = 1 },
	};
	if (ibv_modify_qp(d->qp[peer], &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		die("RTR", d->name);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .sq_psn = 1,
		.max_rd_atomic = 1,
	};
	if (ibv_modify_qp(d->qp[peer], &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS", d->name);
}

/*
 * The byte @i of what @from sends to @to in a round. Packets that follow each other are not alike,
 * so one that takes another's place is noticed.
 */
static unsigned char pattern(unsigned int from, unsigned int to, unsigned int round, unsigned int i)
{
	return from * 31 + to * 7 + round * 3 + i % 251;
}

static void post_recv(struct dev *d, unsigned int peer)
{
	struct ibv_sge sge = { (uintptr_t)slot(d, peer, 1), size, d->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = peer, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(d->qp[peer], &wr, &bad))
		die("post_recv", d->name);
}

static void post_send(struct dev *d, unsigned int me, struct dev *far, unsigned int peer,
		      unsigned int round)
{
	struct ibv_sge sge = { (uintptr_t)slot(d, peer, 0), size, d->mr->lkey };
	struct ibv_send_wr send = {
		.wr_id = peer, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	};
	struct ibv_send_wr write = { .wr_id = peer, .next = &send, .sg_list = &sge, .num_sge = 1,
				     .opcode = IBV_WR_RDMA_WRITE }, *bad;
	unsigned int i;

	for (i = 0; i < size; i++)
		slot(d, peer, 0)[i] = pattern(me, peer, round, i);
	write.wr.rdma.remote_addr = (uintptr_t)slot(far, me, 2);
	write.wr.rdma.rkey = far->mr->rkey;
	if (ibv_post_send(d->qp[peer], &write, &bad))
		die("post_send", d->name);
}

/* Return: how many completions there were. */
static int poll_some(struct dev *d)
{
	struct ibv_wc wc[16];
	int i, n = ibv_poll_cq(d->cq, 16, wc);

	if (n < 0)
		die("poll_cq", d->name);
	for (i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS) {
			fprintf(stderr, "allpairs: %s with device %llu: %s\n", d->name,
				(unsigned long long)wc[i].wr_id, ibv_wc_status_str(wc[i].status));
			exit(1);
		}
		d->done++;
	}
	return n;
}

/* Two completions of the sender and one of the receiver for each ordered pair. */
static void wait_round(struct dev *devs, unsigned int round)
{
	time_t end = time(NULL) + TIMEOUT_S;
	unsigned int i, ready;
	int any;

	do {
		for (i = ready = any = 0; i < num; i++) {
			any |= poll_some(&devs[i]);
			ready += devs[i].done == 3ULL * (num - 1) * (round + 1);
		}
		if (time(NULL) > end) {
			fprintf(stderr, "allpairs: messages are missing after %d s\n", TIMEOUT_S);
			exit(1);
		}
		if (!any)
			usleep(500);
	} while (ready < num);
}

static void check_round(struct dev *devs, unsigned int to, unsigned int round)
{
	unsigned int from, i;

	for (from = 0; from < num; from++) {
		for (i = 0; from != to && i < size; i++) {
			unsigned char want = pattern(from, to, round, i);

			if (slot(&devs[to], from, 1)[i] == want &&
			    slot(&devs[to], from, 2)[i] == want)
				continue;
			fprintf(stderr, "allpairs: %s got damaged data from %s\n", devs[to].name,
				devs[from].name);
			exit(1);
		}
	}
}

static void run_round(struct dev *devs, unsigned int round)
{
	unsigned int i, j;

	for (i = 0; i < num; i++)
		for (j = 0; j < num; j++)
			if (i != j)
				post_recv(&devs[i], j);
	for (i = 0; i < num; i++)
		for (j = 0; j < num; j++)
			if (i != j)
				post_send(&devs[i], i, &devs[j], j, round);
	wait_round(devs, round);
	for (i = 0; i < num; i++)
		check_round(devs, i, round);
}

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static unsigned int run_on(struct dev *devs)
{
	unsigned int round = 0;

	signal(SIGTERM, end);
	while (!ended) {
		run_round(devs, round);
		if (!round++) {
			puts("running");
			fflush(stdout);
		}
		usleep(PAUSE_US);
	}
	return round;
}

static int wanted(const char *name, char **names, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return 1;
	return !n;
}

int main(int argc, char **argv)
{
	struct ibv_device **list;
	unsigned int i, j;
	struct dev *devs;
	int opt, n, follow = 0;

	while ((opt = getopt(argc, argv, "n:s:f")) != -1) {
		if (opt == 'n')
			messages = atoi(optarg);
		else if (opt == 's')
			size = atoi(optarg);
		else if (opt == 'f')
			follow = 1;
		else
			return 2;
	}
	list = ibv_get_device_list(&n);
	devs = calloc(n ? n : 1, sizeof(*devs));
	if (!list || !devs)
		return 1;
	for (i = 0; i < (unsigned int)n; i++)
		if (wanted(ibv_get_device_name(list[i]), argv + optind, argc - optind))
			num += dev_open(&devs[num], list[i]);
	if (num < 2) {
		fprintf(stderr, "allpairs: fewer than two devices have an ACTIVE port\n");
		return 1;
	}
	for (i = 0; i < num; i++)
		dev_setup(&devs[i]);
	for (i = 0; i < num; i++)
		for (j = 0; j < num; j++)
			if (i != j)
				connect_to(&devs[i], i, &devs[j], j);
	for (i = 0; i < messages && !follow; i++)
		run_round(devs, i);
	if (follow)
		messages = run_on(devs);
	printf("%u devices, %u pairs, %u messages\n", num, num * (num - 1) / 2,
	       messages * num * (num - 1) * 2);
	return 0;
}
