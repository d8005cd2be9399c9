// SPDX-License-Identifier: GPL-2.0
/*
 * circles DEVICE LID...: sets the multicast tables of the switches with these LIDs so that MLID 0xC000 leaves by every
 * port, and sends one datagram to it from port 1 of the device. Ends with 0 if the datagram has completed.
 */
#include <infiniband/umad.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAD_LEN		256
#define METHOD_SET	2
#define ATTR_MFT	0x1B
#define ALL_PORTS	0xFFFE
#define MLID		0xC000
#define TIMEOUT_MS	1000

static void die(const char *what)
{
	fprintf(stderr, "circles: %s: %m\n", what);
	exit(1);
}

/* SubnSet(MulticastForwardingTable): the first block, for ports 1 to 15. */
static void set_table(int umad, int agent, unsigned int lid)
{
	uint8_t *buf = calloc(1, umad_size() + MAD_LEN);
	uint8_t *mad = umad_get_mad(buf);
	int len = MAD_LEN;

	mad[0] = 1;
	mad[1] = 1;
	mad[2] = 1;
	mad[3] = METHOD_SET;
	mad[15] = (uint8_t)lid;
	mad[17] = ATTR_MFT;
	for (unsigned int i = 0; i < 32; i++) {
		mad[64 + 2 * i] = ALL_PORTS >> 8;
		mad[65 + 2 * i] = ALL_PORTS & 0xFF;
	}
	umad_set_addr(buf, (int)lid, 0, 0, 0);
	if (umad_send(umad, agent, buf, MAD_LEN, TIMEOUT_MS, 3) ||
	    umad_recv(umad, buf, &len, 4 * TIMEOUT_MS) < 0 || umad_status(buf) || mad[4] | mad[5])
		die("a switch does not take its table");
	free(buf);
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
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_inline_data = 8 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
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
	int umad, agent;
	struct ibv_context *ctx;

	if (argc < 3)
		return 2;
	umad_init();
	umad = umad_open_port(argv[1], 1);
	agent = umad < 0 ? -1 : umad_register(umad, 1, 1, 0, NULL);
	if (agent < 0)
		die("no agent");
	for (int i = 2; i < argc; i++)
		set_table(umad, agent, (unsigned int)strtoul(argv[i], NULL, 0));
	ctx = open_device(argv[1]);
	if (!ctx)
		die("cannot open the device");
	send_one(ctx);
	return 0;
}
