// SPDX-License-Identifier: GPL-2.0
/*
 * parting HOW FROM TO: TO's host has more to send than its network takes, by connections to FROM.
 * On one of its own FROM sends a message to TO, which ends its queue pair as soon as it has the
 * message. FROM must hear all the same that the message has arrived. HOW: destroyed, reset or
 * error; sending: destroyed, and has more to send itself.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "end.h"

#define BUSY 64
#define WRITES 2
#define SIZE 65536
#define BYTES 64

static struct end sender, receiver, busy[BUSY], sink[BUSY];
static char memory[SIZE];

static void pair(struct end *a, const char *one, struct end *b, const char *other)
{
	open_end(a, one, IBV_QPT_RC, WRITES, 1, memory, SIZE);
	open_end(b, other, IBV_QPT_RC, WRITES, 1, memory, SIZE);
	connect_rc(a, b, IBV_MTU_1024, 20, 1, 0);
	connect_rc(b, a, IBV_MTU_1024, 20, 1, 0);
}

static void post(struct end *e, const struct end *far, enum ibv_wr_opcode op, uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)memory, bytes, e->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = op,
		.wr.rdma = { (uintptr_t)memory, far->mr->rkey },
	}, *bad;

	if (ibv_post_send(e->qp, &wr, &bad))
		die(name_of(e), "post_send");
}

static void fill(void)
{
	for (int i = 0; i < BUSY; i++)
		for (int k = 0; k < WRITES; k++)
			post(&busy[i], &sink[i], IBV_WR_RDMA_WRITE, SIZE);
}

static void receive(void)
{
	struct ibv_sge sge = { (uintptr_t)memory, BYTES, receiver.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(receiver.qp, &wr, &bad))
		die(name_of(&receiver), "post_recv");
}

#define DESTROYED (-1)

static const struct way {
	const char *name;
	int state;
	int sends;
} ways[] = {
	{ "destroyed", DESTROYED, 0 },
	{ "reset", IBV_QPS_RESET, 0 },
	{ "error", IBV_QPS_ERR, 0 },
	{ "sending", DESTROYED, WRITES },
};

static const struct way *way_of(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(name, ways[i].name))
			return &ways[i];
	error(2, 0, "parting: %s?", name);
	return NULL;
}

static void end(const struct way *way)
{
	if (way->state != DESTROYED)
		modify(&receiver, (struct ibv_qp_attr){ .qp_state = way->state }, 0, "modify_qp");
	else if (ibv_destroy_qp(receiver.qp))
		die(name_of(&receiver), "destroy_qp");
}

int main(int argc, char **argv)
{
	const struct way *way;

	if (argc != 4)
		return 2;
	way = way_of(argv[1]);
	for (int i = 0; i < BUSY; i++)
		pair(&busy[i], argv[3], &sink[i], argv[2]);
	pair(&sender, argv[2], &receiver, argv[3]);
	receive();
	fill();
	for (int i = 0; i < way->sends; i++)
		post(&receiver, &sender, IBV_WR_RDMA_WRITE, SIZE);
	post(&sender, &receiver, IBV_WR_SEND, BYTES);
	while (!take(&receiver))
		;
	end(way);
	puts("received, and left");
	while (!take(&sender))
		;
	puts("acknowledged");
	return 0;
}
