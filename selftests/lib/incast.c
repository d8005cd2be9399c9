// SPDX-License-Identifier: GPL-2.0
/*
 * incast SOURCE SINK: datagrams from many queue pairs of one device to a single one of another,
 * which has a receive for each that comes. It takes in less at a time than they send together. Ends
 * with 0 when all have been sent.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include "end.h"

#define SOURCES 16
#define MESSAGES 5000
#define DEPTH 1024
#define RECEIVES 16000
#define SIZE 2048
#define GRH_BYTES 40
#define QKEY 0x11

static struct end sources[SOURCES], sink;
static char memory[GRH_BYTES + SIZE];

static void start(struct end *e)
{
	modify(e, (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY },
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, "INIT");
	modify(e, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR }, 0, "RTR");
	modify(e, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .sq_psn = 1 }, IBV_QP_SQ_PSN,
	       "RTS");
}

static struct ibv_ah *way_to_sink(struct end *from)
{
	struct ibv_ah_attr attr = { .dlid = sink.port.lid, .port_num = 1 };
	struct ibv_ah *ah = ibv_create_ah(from->pd, &attr);

	if (!ah)
		die(name_of(from), "no address handle");
	return ah;
}

static void post_send(struct end *e, struct ibv_ah *ah)
{
	struct ibv_sge sge = { (uintptr_t)memory, SIZE, e->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = sink.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	if (ibv_post_send(e->qp, &wr, &bad))
		die(name_of(e), "post_send");
	e->posted++;
}

static void post_receives(void)
{
	struct ibv_sge sge = { (uintptr_t)memory, sizeof(memory), sink.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	for (; sink.posted - sink.done < RECEIVES; sink.posted++)
		if (ibv_post_recv(sink.qp, &wr, &bad))
			die(name_of(&sink), "post_recv");
}

/* Return: how many datagrams of the source are still to be sent. */
static unsigned int advance(struct end *e, struct ibv_ah *ah)
{
	take(e);
	while (e->posted < MESSAGES && e->posted - e->done < DEPTH)
		post_send(e, ah);
	return MESSAGES - e->done;
}

int main(int argc, char **argv)
{
	struct ibv_ah *ah[SOURCES];
	unsigned int i, rest;

	if (argc != 3)
		return 2;
	open_end(&sink, argv[2], IBV_QPT_UD, 1, RECEIVES, memory, sizeof(memory));
	start(&sink);
	for (i = 0; i < SOURCES; i++) {
		open_end(&sources[i], argv[1], IBV_QPT_UD, DEPTH, 1, memory, sizeof(memory));
		start(&sources[i]);
		ah[i] = way_to_sink(&sources[i]);
	}
	do {
		while (take(&sink) > 0)
			;
		post_receives();
		for (i = rest = 0; i < SOURCES; i++)
			rest += advance(&sources[i], ah[i]);
	} while (rest);
	return 0;
}
