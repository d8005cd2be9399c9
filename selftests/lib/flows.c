// SPDX-License-Identifier: GPL-2.0
/*
 * flows [-n MESSAGES] [-s BYTES] SOURCE:SINK:SL...: RDMA writes over UC from port 1 of one device
 * to that of another, all flows at the same time, as fast as they are taken. Ends with 0 when the
 * last one has been sent, which may be never. SIGUSR1: the memory of the first flow is deregistered
 * at its source, whatever waits there. How long that took is printed, and the program ends with 0.
 */
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "end.h"

#define DEPTH 16

struct flow {
	struct end from, to;
};

static unsigned int messages = 1000, size = 65536;
static char *memory;
static volatile sig_atomic_t wants_memory;

static void want_memory(int sig)
{
	wants_memory = sig;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int take_memory(const struct end *e)
{
	long began = now_ms();

	if (ibv_dereg_mr(e->mr))
		die(name_of(e), "dereg_mr");
	printf("deregistered after %ld ms\n", now_ms() - began);
	return 0;
}

static void connect_end(struct end *e, const struct end *far, unsigned int sl)
{
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_INIT, .port_num = 1,
			.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	       }, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_2048,
			.dest_qp_num = far->qp->qp_num, .rq_psn = 1,
			.ah_attr = { .dlid = far->port.lid, .sl = sl, .port_num = 1 },
	       }, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN, "RTR");
	modify(e, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .sq_psn = 1 }, IBV_QP_SQ_PSN,
	       "RTS");
}

static void flow_open(struct flow *f, const char *word)
{
	char from[64], to[64];
	unsigned int sl;

	if (sscanf(word, "%63[^:]:%63[^:]:%u", from, to, &sl) != 3 || sl > 15) {
		fprintf(stderr, "flows: '%s' is not SOURCE:SINK:SL\n", word);
		exit(2);
	}
	open_end(&f->from, from, IBV_QPT_UC, DEPTH, 1, memory, size);
	open_end(&f->to, to, IBV_QPT_UC, DEPTH, 1, memory, size);
	connect_end(&f->from, &f->to, sl);
	connect_end(&f->to, &f->from, sl);
}

static void post(struct end *from, const struct end *to)
{
	struct ibv_sge sge = { (uintptr_t)memory, size, from->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
	}, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)memory;
	wr.wr.rdma.rkey = to->mr->rkey;
	if (ibv_post_send(from->qp, &wr, &bad))
		die(name_of(from), "post_send");
	from->posted++;
}

/* Returns how many have come to their end. */
static int advance(struct flow *f)
{
	struct end *from = &f->from;
	int n = take(from);

	while (from->posted < messages && from->posted - from->done < DEPTH)
		post(from, &f->to);
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
	signal(SIGUSR1, want_memory);
	do {
		if (wants_memory)
			return take_memory(&flows[0].from);
		for (i = rest = any = 0; i < num; i++) {
			any |= advance(&flows[i]);
			rest += messages - flows[i].from.done;
		}
		if (!any)
			usleep(500);
	} while (rest);
	return 0;
}
