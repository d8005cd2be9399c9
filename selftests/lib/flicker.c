// SPDX-License-Identifier: GPL-2.0
/*
 * flicker DEVICE LID SECONDS: datagrams of 256 bytes from port 1 to QP1 of that LID, whose
 * management class changes while they are sent, for so long. A reader that looks at it twice sees
 * two classes. Says how many were sent.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "sender.h"

#define BYTES 256
#define CLASS_SA 0x03
#define CLASS_CM 0x07

static volatile uint8_t mad[BYTES];
static volatile int over;

static void die(const char *what)
{
	fprintf(stderr, "flicker: %s: %m\n", what);
	exit(2);
}

static void *change(void *unused)
{
	while (!over)
		mad[1] = mad[1] == CLASS_SA ? CLASS_CM : CLASS_SA;
	return unused;
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx = argc == 4 ? open_device(argv[1]) : NULL;
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_cq *cq = ctx ? ibv_create_cq(ctx, 32, NULL, NULL, 0) : NULL;
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, (void *)mad, BYTES, 0) : NULL;
	struct ibv_sge sge = { .addr = (uintptr_t)mad, .length = BYTES };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_ah_attr to = { .port_num = 1 };
	unsigned long sent = 0, done = 0;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	pthread_t thread;
	time_t end;

	if (!mr || !cq)
		die("cannot begin");
	qp = open_sender(pd, cq, 16);
	if (!qp)
		die("no QP");
	to.dlid = strtoul(argv[2], NULL, 0);
	sge.lkey = mr->lkey;
	wr.wr.ud.ah = ibv_create_ah(pd, &to);
	wr.wr.ud.remote_qpn = 1;
	wr.wr.ud.remote_qkey = 1;
	if (!wr.wr.ud.ah || pthread_create(&thread, NULL, change, NULL))
		die("cannot begin");
	end = time(NULL) + atoi(argv[3]);
	while (time(NULL) < end) {
		while (sent - done < 16 && !ibv_post_send(qp, &wr, &bad))
			sent++;
		while (ibv_poll_cq(cq, 1, &wc) > 0)
			done++;
	}
	over = 1;
	pthread_join(thread, NULL);
	printf("%lu sent\n", done);
	return done ? 0 : 1;
}
