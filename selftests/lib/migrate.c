// SPDX-License-Identifier: GPL-2.0
/*
 * migrate [-1] [-d] [-k] [-r] [-s] [-u] DEVICE DEVICE PATH PATH: messages between two devices over
 * an RC connection, the second path loaded as the alternate one (IBA 17.2.8). A PATH is
 * PORT:BITS:PORT:BITS, what either end uses: its port, and what it adds to that port's LID.
 *
 * Says "armed" when both ends are, then sends, both ways, until both ends have migrated; then a
 * thousand messages more. Nothing may be lost, doubled or out of order, and nothing may fail.
 * The caller cuts the first path when it says "running qp N", or has this queue pair, the first
 * end's, migrate.
 *
 *	-1	only the first end sends: the other one has nothing that could time out
 *	-d	the other path is dead, too: each end that sends says PATH_MIG and PATH_MIG_ERR, and
 *		has the error. An end that has nothing to send notices nothing.
 *	-k	the second path has another P_Key: the second one of the ports' tables
 *	-r	nothing is cut: the first end is told to migrate
 *	-s	the first end sends by the second path at once; the other end has that loaded, but
 *		not armed, and takes nothing that comes by it
 *	-u	the ends do not know the same other path: who migrates does not find anybody, and
 *		the other end, which cannot follow, says so once
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "device.h"

#define DEPTH 32
#define SIZE 4096
#define AFTER 1000
#define SECONDS 150
#define PAUSE_US 2000

struct path {
	unsigned int port[2], bits[2];
};

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint64_t *memory;	/* DEPTH places to send from, and as many to receive into */
	bool sends, migrated, mig_error, failed;
	uint64_t posted, sent, received;
};

static struct end ends[2];
static struct path paths[2];
static bool one_way, dead, asked, other_key, stray, unknown;

static void die(const char *what)
{
	fprintf(stderr, "migrate: %s: %m\n", what);
	exit(1);
}

static void wrong(const char *what, unsigned int who)
{
	fprintf(stderr, "migrate: end %u: %s (sent %llu and %llu, received %llu and %llu)\n", who,
		what, (unsigned long long)ends[0].sent, (unsigned long long)ends[1].sent,
		(unsigned long long)ends[0].received, (unsigned long long)ends[1].received);
	exit(1);
}

static uint16_t lid_of(const struct end *e, unsigned int port, unsigned int bits)
{
	struct ibv_port_attr attr;

	if (ibv_query_port(e->ctx, port, &attr) || !attr.lid)
		die("no LID");
	return attr.lid + bits;
}

static void open_end(struct end *e, const char *name)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = DEPTH,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	e->ctx = open_device(name);
	if (!e->ctx)
		die(name);
	if (fcntl(e->ctx->async_fd, F_SETFL, O_NONBLOCK))
		die("fcntl");
	e->memory = calloc(2 * DEPTH, SIZE);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 2 * DEPTH, NULL, NULL, 0);
	if (!e->memory || !e->pd || !e->cq)
		die("objects");
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &attr);
	e->mr = ibv_reg_mr(e->pd, e->memory, 2 * DEPTH * SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!e->qp || !e->mr)
		die("QP");
}

/* How end @i reaches the other one by @path. */
static struct ibv_ah_attr way(unsigned int i, const struct path *path)
{
	return (struct ibv_ah_attr){
		.dlid = lid_of(&ends[!i], path->port[!i], path->bits[!i]),
		.src_path_bits = path->bits[i], .port_num = path->port[i],
	};
}

static uint64_t *place(struct end *e, bool recv, uint64_t n)
{
	return e->memory + ((recv ? DEPTH : 0) + n % DEPTH) * (SIZE / sizeof(uint64_t));
}

static void post_recv(struct end *e, uint64_t n)
{
	struct ibv_sge sge = { (uintptr_t)place(e, true, n), SIZE, e->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(e->qp, &wr, &bad))
		die("post_recv");
}

static void post_send(struct end *e)
{
	struct ibv_sge sge = { (uintptr_t)place(e, false, e->posted), SIZE, e->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = e->posted, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad;
	uint64_t *words = place(e, false, e->posted);

	words[0] = words[SIZE / 8 - 1] = e->posted;
	if (ibv_post_send(e->qp, &wr, &bad))
		die("post_send");
	e->posted++;
}

static void modify(struct end *e, struct ibv_qp_attr attr, int mask, const char *what)
{
	if (ibv_modify_qp(e->qp, &attr, mask | IBV_QP_STATE))
		die(what);
}

static void connect_end(unsigned int i)
{
	bool swapped = stray && !i;
	struct path other = paths[!swapped], first = paths[swapped];
	struct end *e = &ends[i];
	uint64_t n;

	/* A path that the peer does not have: from where it is not expected. */
	if (unknown && i)
		other.bits[0] ^= 1;
	modify(e, (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = first.port[i] },
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
	for (n = 0; n < DEPTH; n++)
		post_recv(e, n);
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_2048,
			.dest_qp_num = ends[!i].qp->qp_num, .rq_psn = 1,
			.ah_attr = way(i, &first), .min_rnr_timer = 5,
	       }, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, "RTR");
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTS, .sq_psn = 1, .timeout = 15, .retry_cnt = 3,
			.rnr_retry = 7,
			.alt_ah_attr = way(i, &other), .alt_port_num = other.port[i],
			.alt_timeout = 15,
			.alt_pkey_index = other_key, .path_mig_state = IBV_MIG_REARM,
	       }, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	       IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_ALT_PATH | (stray ? 0 : IBV_QP_PATH_MIG_STATE),
	       "RTS");
}

static void events(unsigned int i)
{
	struct ibv_async_event event;
	struct end *e = &ends[i];

	while (!ibv_get_async_event(e->ctx, &event)) {
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_PATH_MIG) {
			if (e->migrated)
				wrong("migrated twice", i);
			e->migrated = true;
			printf("end %u: PATH_MIG\n", i);
		} else if (event.event_type == IBV_EVENT_PATH_MIG_ERR) {
			if (!e->migrated && !(unknown && i))
				wrong("PATH_MIG_ERR before PATH_MIG", i);
			if (e->mig_error)
				wrong("PATH_MIG_ERR twice", i);
			e->mig_error = true;
			printf("end %u: PATH_MIG_ERR\n", i);
		}
	}
}

static void take(unsigned int i, const struct ibv_wc *wc)
{
	struct end *e = &ends[i];
	uint64_t *words;

	if (wc->status == IBV_WC_WR_FLUSH_ERR && e->failed)
		return;
	if (wc->status == IBV_WC_RETRY_EXC_ERR && dead) {
		e->failed = true;
		return;
	}
	if (wc->status)
		wrong(ibv_wc_status_str(wc->status), i);
	if (wc->opcode != IBV_WC_RECV) {
		if (wc->wr_id != e->sent++)
			wrong("completions out of order", i);
		return;
	}
	words = place(e, true, wc->wr_id);
	if (wc->byte_len != SIZE || words[0] != e->received || words[SIZE / 8 - 1] != e->received)
		wrong("a message is lost, doubled or damaged", i);
	e->received++;
	post_recv(e, wc->wr_id + DEPTH);
}

/*
 * A look at everything; with @load both ends send what they may. The pause leaves the processors to
 * those that carry it, and to whoever cuts the cable.
 */
static void turn(bool load)
{
	struct ibv_wc wc[2 * DEPTH];
	unsigned int i;
	int n, k;

	for (i = 0; i < 2; i++) {
		while (load && ends[i].sends && !ends[i].failed &&
		       ends[i].posted - ends[i].sent < DEPTH)
			post_send(&ends[i]);
		n = ibv_poll_cq(ends[i].cq, 2 * DEPTH, wc);
		for (k = 0; k < n; k++)
			take(i, &wc[k]);
		events(i);
	}
	usleep(PAUSE_US);
}

static struct ibv_qp_attr query(unsigned int i)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(ends[i].qp, &attr,
			 IBV_QP_PATH_MIG_STATE | IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_PORT |
				 IBV_QP_PKEY_INDEX,
			 &init))
		die("query_qp");
	return attr;
}

static void in_time(time_t end, const char *what)
{
	if (time(NULL) > end)
		wrong(what, 2);
}

/* One message each way tells either end that the other one is on its way. */
static void arm(time_t end)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		connect_end(i);
	while (query(0).path_mig_state != IBV_MIG_ARMED ||
	       query(1).path_mig_state != IBV_MIG_ARMED) {
		for (i = 0; i < 2; i++)
			if (ends[i].posted == ends[i].sent)
				post_send(&ends[i]);
		turn(false);
		in_time(end, "not armed");
	}
	puts("armed");
}

/* Each end that sends has to notice that nobody hears it, on either path. */
static bool all_dead(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (ends[i].sends && (!ends[i].failed || !ends[i].mig_error))
			return false;
	return !unknown || ends[1].mig_error;
}

static void until_dead(time_t end)
{
	while (!all_dead()) {
		turn(true);
		in_time(end, "no end");
	}
	if (!ends[1].sends && query(1).path_mig_state != IBV_MIG_ARMED)
		wrong("not armed any more", 1);
	if (!ends[1].sends && ends[1].mig_error != unknown)
		wrong("PATH_MIG_ERR", 1);
}

static void until_lost(time_t end)
{
	connect_end(0);
	connect_end(1);
	puts("running");
	post_send(&ends[0]);
	while (!ends[0].failed) {
		turn(false);
		in_time(end, "no end");
	}
	turn(false);
	if (ends[1].received)
		wrong("taken by a path that is not armed", 1);
}

static void drain(time_t end)
{
	while (ends[0].received != ends[1].posted || ends[1].received != ends[0].posted ||
	       ends[0].sent != ends[0].posted || ends[1].sent != ends[1].posted) {
		turn(false);
		in_time(end, "not all has arrived");
	}
}

/*
 * The path that was left is not kept as the other one: that has to be loaded before anybody arms
 * again.
 */
static void alternate_spent(unsigned int i)
{
	struct ibv_qp_attr rearm = {
		.qp_state = IBV_QPS_RTS, .path_mig_state = IBV_MIG_REARM,
	}, attr = query(i);

	if (attr.alt_port_num != attr.port_num || attr.alt_pkey_index != attr.pkey_index ||
	    attr.alt_ah_attr.dlid != attr.ah_attr.dlid ||
	    attr.alt_ah_attr.src_path_bits != attr.ah_attr.src_path_bits)
		wrong("the path that was left is the alternate one", i);
	if (ibv_modify_qp(ends[i].qp, &rearm, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE) != EINVAL)
		wrong("armed without a new path", i);
}

static void until_migrated(time_t end)
{
	uint64_t goal;
	unsigned int i;

	while (!ends[0].migrated || !ends[1].migrated) {
		turn(true);
		in_time(end, "not migrated");
	}
	goal = ends[0].sent + AFTER;
	while (ends[0].sent < goal) {
		turn(true);
		in_time(end, "it does not go on");
	}
	drain(end);
	for (i = 0; i < 2; i++) {
		struct ibv_qp_attr attr = query(i);

		if (attr.path_mig_state != IBV_MIG_MIGRATED || attr.pkey_index != other_key ||
		    attr.port_num != paths[1].port[i] ||
		    attr.ah_attr.port_num != paths[1].port[i] ||
		    attr.ah_attr.src_path_bits != paths[1].bits[i] ||
		    attr.ah_attr.dlid != way(i, &paths[1]).dlid)
			wrong("not on the other path", i);
		if (ends[i].mig_error)
			wrong("PATH_MIG_ERR", i);
		alternate_spent(i);
	}
}

static bool path_of(struct path *p, const char *word)
{
	return sscanf(word, "%u:%u:%u:%u", &p->port[0], &p->bits[0], &p->port[1], &p->bits[1]) == 4;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + SECONDS;
	uint64_t n;
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt(argc, argv, "1dkrsu")) != -1) {
		one_way |= c == '1';
		dead |= c == 'd' || c == 's' || c == 'u';
		asked |= c == 'r' || c == 'u';
		other_key |= c == 'k';
		stray |= c == 's';
		unknown |= c == 'u';
	}
	if (argc - optind != 4 || !path_of(&paths[0], argv[optind + 2]) ||
	    !path_of(&paths[1], argv[optind + 3]))
		return 2;
	open_end(&ends[0], argv[optind]);
	open_end(&ends[1], argv[optind + 1]);
	if (stray) {
		until_lost(end);
		return 0;
	}
	arm(end);
	drain(end);
	ends[0].sends = true;
	ends[1].sends = !one_way;
	for (n = ends[0].sent + 200; ends[0].sent < n; in_time(end, "no start"))
		turn(true);
	printf("running qp %u\n", ends[0].qp->qp_num);
	if (asked)
		modify(&ends[0],
		       (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
					     .path_mig_state = IBV_MIG_MIGRATED },
		       IBV_QP_PATH_MIG_STATE, "MIGRATED");
	if (dead)
		until_dead(end);
	else
		until_migrated(end);
	puts("done");
	return 0;
}
