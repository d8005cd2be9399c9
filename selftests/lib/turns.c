// SPDX-License-Identifier: GPL-2.0
/*
 * turns SLOWED OTHER: an RC connection between port 1 of two devices, of which congestion control
 * slows down the first one. Neither what it answers keeps it from asking, nor the other way round:
 * while the other end always waits for READs it gets a WRITE of its own through, and while it
 * always has WRITEs to send the other end gets a READ.
 *
 * Ends with 1 where one of them is still not done when MOST of the others are.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include "end.h"

#define DEPTH 8
#define SIZE 16384
#define FIRST 20
#define MOST 200

static struct end slowed, other;
static char memory[SIZE];

static void post(struct end *e, const struct end *far, enum ibv_wr_opcode op)
{
	struct ibv_sge sge = { (uintptr_t)memory, SIZE, e->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = op }, *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)memory;
	wr.wr.rdma.rkey = far->mr->rkey;
	if (ibv_post_send(e->qp, &wr, &bad))
		die(name_of(e), "post_send");
	e->posted++;
}

/* Keeps DEPTH requests of @e posted. Return: whether @until of them are done. */
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

/*
 * While @always has always something to do, @once does one thing. Return: whether that is done in
 * time.
 */
static bool gets_through(struct end *once, enum ibv_wr_opcode op, struct end *always,
			 enum ibv_wr_opcode ops)
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
	open_end(&slowed, argv[1], IBV_QPT_RC, DEPTH, 1, memory, SIZE);
	open_end(&other, argv[2], IBV_QPT_RC, DEPTH, 1, memory, SIZE);
	connect_rc(&slowed, &other, IBV_MTU_2048, 20, 7, DEPTH);
	connect_rc(&other, &slowed, IBV_MTU_2048, 20, 7, DEPTH);
	asks = gets_through(&slowed, IBV_WR_RDMA_WRITE, &other, IBV_WR_RDMA_READ);
	drain(&other);
	drain(&slowed);
	answers = gets_through(&other, IBV_WR_RDMA_READ, &slowed, IBV_WR_RDMA_WRITE);
	drain(&slowed);
	drain(&other);
	return !asks || !answers;
}
