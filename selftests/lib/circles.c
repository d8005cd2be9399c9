// SPDX-License-Identifier: GPL-2.0
/*
 * circles DEVICE: sends one datagram to MLID 0xC000 from port 1 of the device. Ends with 0 if the
 * datagram has completed.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MLID		0xC000

static void die(const char *what)
{
	fprintf(stderr, "circles: %s: %m\n", what);
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return ibv_open_device(*list);
	return NULL;
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_inline_data = 8 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp ||
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		die("no QP");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		die("no RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		die("no RTS");
	return qp;
}

static void send_one(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 2, NULL, NULL, 0);
	struct ibv_qp *qp = make_qp(pd, cq);
	struct ibv_ah_attr to = { .dlid = MLID, .port_num = 1, .is_global = 1 };
	uint64_t payload = 0;
	struct ibv_sge sge = { .addr = (uintptr_t)&payload, .length = sizeof(payload) };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
	};
	struct ibv_wc wc;
	int n = 0;

	to.grh.dgid.raw[0] = 0xFF;
	to.grh.dgid.raw[1] = 0x12;
	to.grh.dgid.raw[15] = 9;
	wr.wr.ud.ah = ibv_create_ah(pd, &to);
	wr.wr.ud.remote_qpn = 0xFFFFFF;
	wr.wr.ud.remote_qkey = 1;
	if (!wr.wr.ud.ah || ibv_post_send(qp, &wr, &bad))
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
