// SPDX-License-Identifier: GPL-2.0
/*
 * wanted FROM TO SL WHAT: what the device FROM sends with SL does not leave its port. WHAT is how
 * somebody comes to wait for the memory that it refers to:
 *
 *	sqe		a UC queue pair fails by its second WRITE, and flushes the third
 *	bind		a window of type 1, from which TO has read, is bound once more
 *	invalidate	a window of type 2, from which TO has read, is invalidated by a LOCAL_INV
 *	reset		a UC queue pair that has a WRITE to send goes to RESET
 *
 * Says "done" when the completion of that is there, or the queue pair is in RESET; of sqe how each
 * WRITE ends. "nothing": there is no completion within 20 s. The wait for RESET ends by a signal
 * then.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "end.h"

#define SIZE 65536
#define DEPTH 8
#define SECONDS 20
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct end from, to;
static uint8_t memory[2][SIZE];
static struct ibv_mr *mr;
static struct ibv_mw *mw;

/* Nothing is sent again: there is no timeout. */
static void connect_end(struct end *e, const struct end *far, unsigned int sl)
{
	int rc = e->qp->qp_type == IBV_QPT_RC ? ~0 : 0;

	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS,
	       }, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_2048,
			.dest_qp_num = far->qp->qp_num, .rq_psn = 1, .max_dest_rd_atomic = 4,
			.min_rnr_timer = 12,
			.ah_attr = { .dlid = far->port.lid, .sl = sl, .port_num = 1 },
	       }, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       (rc & (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)), "RTR");
	modify(e, (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTS, .sq_psn = 1, .retry_cnt = 7,
			.rnr_retry = 7, .max_rd_atomic = 4,
	       }, IBV_QP_SQ_PSN | (rc & (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					 IBV_QP_MAX_QP_RD_ATOMIC)), "RTS");
}

static void post(struct end *e, struct ibv_send_wr wr, struct ibv_sge sge)
{
	struct ibv_send_wr *bad;

	if (sge.length) {
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	wr.send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(e->qp, &wr, &bad))
		die(name_of(e), "post_send");
}

static const char *ending(struct end *e)
{
	time_t until = time(NULL) + SECONDS;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(e->cq, 1, &wc) == 1)
			return ibv_wc_status_str(wc.status);
		usleep(1000);
	} while (time(NULL) <= until);
	return "nothing";
}

static void expect_success(struct end *e, const char *what)
{
	const char *how = ending(e);

	if (strcmp(how, ibv_wc_status_str(IBV_WC_SUCCESS)))
		error(1, 0, "%s: %s", what, how);
}

/* Ticks for which the port of FROM had something to send, and could not. */
static unsigned long waited(void)
{
	char path[128];
	unsigned long n = 0;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/counters/port_xmit_wait", name_of(&from));
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lu", &n) != 1)
		die(name_of(&from), "port_xmit_wait");
	fclose(f);
	return n;
}

static void until_it_waits(void)
{
	time_t until = time(NULL) + SECONDS;
	unsigned long before = waited();

	while (waited() <= before + 1000) {
		if (time(NULL) > until)
			error(1, 0, "nothing waits at the port of %s", name_of(&from));
		usleep(1000);
	}
}

static void write_from(uint32_t lkey)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory[1], to.mr->rkey },
	};

	post(&from, wr, (struct ibv_sge){ (uintptr_t)memory[0], SIZE, lkey });
}

static void fail(void)
{
	int i;

	write_from(from.mr->lkey);
	until_it_waits();
	write_from(from.mr->lkey ^ 0x100);
	write_from(from.mr->lkey);
	for (i = 0; i < 3; i++)
		printf("%s%s", i ? ", " : "", ending(&from));
	printf("\n");
}

static void reset(void)
{
	write_from(from.mr->lkey);
	until_it_waits();
	alarm(SECONDS);
	modify(&from, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, 0, "RESET");
	alarm(0);
	printf("done\n");
}

static struct ibv_mw_bind_info range(uint32_t length)
{
	return (struct ibv_mw_bind_info){ mr, (uintptr_t)memory[0], length,
					  IBV_ACCESS_REMOTE_READ };
}

static void bind_first(uint32_t length)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED, .bind_info = range(length),
	};

	if (ibv_bind_mw(from.qp, mw, &bind))
		die(name_of(&from), "bind_mw");
}

static void bind_second(void)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { mw, ibv_inc_rkey(mw->rkey), range(SIZE) },
	};

	post(&from, wr, (struct ibv_sge){});
	mw->rkey = wr.bind_mw.rkey;
}

/* TO reads all of the window. The answer gets as far as the port of FROM. */
static void read_window(void)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ, .wr.rdma = { (uintptr_t)memory[0], mw->rkey },
	};

	post(&to, wr, (struct ibv_sge){ (uintptr_t)memory[1], SIZE, to.mr->lkey });
	until_it_waits();
}

static void open_window(enum ibv_mw_type type)
{
	mr = ibv_reg_mr(from.pd, memory[0], SIZE, ACCESS | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(from.pd, type);
	if (!mr || !mw)
		die(name_of(&from), "no window");
	if (type == IBV_MW_TYPE_1)
		bind_first(SIZE);
	else
		bind_second();
	expect_success(&from, "bind");
	read_window();
}

static void take_window(const char *what)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = mw->rkey };

	if (!strcmp(what, "bind"))
		bind_first(SIZE / 2);
	else
		post(&from, wr, (struct ibv_sge){});
	expect_success(&from, what);
	printf("done\n");
}

int main(int argc, char **argv)
{
	const char *what = argc == 5 ? argv[4] : "";
	int sqe = !strcmp(what, "sqe"), resets = !strcmp(what, "reset");
	enum ibv_qp_type type = sqe || resets ? IBV_QPT_UC : IBV_QPT_RC;

	if (!sqe && !resets && strcmp(what, "bind") && strcmp(what, "invalidate"))
		return 2;
	open_end(&from, argv[1], type, DEPTH, DEPTH, memory, sizeof(memory));
	open_end(&to, argv[2], type, DEPTH, DEPTH, memory, sizeof(memory));
	connect_end(&from, &to, atoi(argv[3]));
	connect_end(&to, &from, 0);
	if (sqe) {
		fail();
	} else if (resets) {
		reset();
	} else {
		open_window(strcmp(what, "bind") ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
		take_window(what);
	}
	return 0;
}
