// SPDX-License-Identifier: GPL-2.0
/*
 * circles DEVICE: sends one datagram to MLID 0xC000 from port 1 of the device. Ends with 0 if the
 * datagram has completed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "sender.h"

#define MLID		0xC000

static void die(const char *what)
{
	fprintf(stderr, "circles: %s: %m\n", what);
	exit(1);
}

static void send_one(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 2, NULL, NULL, 0);
	struct ibv_qp *qp = open_sender(pd, cq, 1);
	struct ibv_ah_attr to = { .dlid = MLID, .port_num = 1, .is_global = 1 };
	uint64_t payload = 0;
	struct ibv_sge sge = { .addr = (uintptr_t)&payload, .length = sizeof(payload) };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	};
	struct ibv_wc wc;
	int n = 0;

	to.grh.dgid.raw[0] = 0xFF;
	to.grh.dgid.raw[1] = 0x12;
	to.grh.dgid.raw[15] = 9;
	wr.wr.ud.ah = ibv_create_ah(pd, &to);
	wr.wr.ud.remote_qpn = 0xFFFFFF;
	wr.wr.ud.remote_qkey = 1;
	if (!qp || !wr.wr.ud.ah || ibv_post_send(qp, &wr, &bad))
		die("cannot send");
	for (int i = 0; !n && i < 1000; i++) {
		usleep(10000);
		n = ibv_poll_cq(cq, 1, &wc);
	}
	if (n != 1 || wc.status)
		die("the datagram has not left");
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx;

	if (argc != 2)
		return 2;
	ctx = open_device(argv[1]);
	if (!ctx)
		die("cannot open the device");
	send_one(ctx);
	return 0;
}
