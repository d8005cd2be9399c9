// SPDX-License-Identifier: GPL-2.0
/*
 * pairs FROM TO COUNT: an RC connection between port 1 of two devices. COUNT times, at most 64, an
 * RDMA WRITE and a SEND behind it are posted at once, as a storage target answers, and waited for.
 * Before that WRITEs have opened the connection's window, and told of the receives.
 *
 * Says "warm" and waits for a line before the first pair.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "end.h"

#define DEPTH 64
#define LARGE 32768
#define SMALL 64
#define WARM 1024

static struct end from, to;
static char memory[LARGE];

static void receive(void)
{
	struct ibv_sge sge = { (uintptr_t)memory, SMALL, to.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(to.qp, &wr, &bad))
		die(name_of(&to), "post_recv");
}

/* A WRITE, and a SEND behind it if @pair. */
static void post(bool pair)
{
	struct ibv_sge sge[2] = {
		{ (uintptr_t)memory, LARGE, from.mr->lkey },
		{ (uintptr_t)memory, SMALL, from.mr->lkey },
	};
	struct ibv_send_wr send = { .sg_list = sge + 1, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_send_wr write = {
		.next = pair ? &send : NULL, .sg_list = sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory, to.mr->rkey },
	}, *bad;

	if (ibv_post_send(from.qp, &write, &bad))
		die(name_of(&from), "post_send");
	from.posted += pair ? 2 : 1;
}

static void drain(unsigned int left)
{
	while (from.posted - from.done > left)
		take(&from);
}

int main(int argc, char **argv)
{
	unsigned int i, count = argc == 4 ? strtoul(argv[3], NULL, 0) : 0;

	if (!count || count > DEPTH)
		return 2;
	open_end(&from, argv[1], IBV_QPT_RC, DEPTH, 1, memory, LARGE);
	open_end(&to, argv[2], IBV_QPT_RC, 1, DEPTH, memory, LARGE);
	connect_rc(&from, &to, IBV_MTU_4096, 20, 7, 0);
	connect_rc(&to, &from, IBV_MTU_4096, 20, 7, 0);
	for (i = 0; i < count; i++)
		receive();
	for (i = 0; i < WARM; i++) {
		drain(DEPTH - 1);
		post(false);
	}
	drain(0);
	puts("warm");
	fflush(stdout);
	getchar();
	for (i = 0; i < count; i++) {
		post(true);
		drain(0);
	}
	puts("done");
	return 0;
}
