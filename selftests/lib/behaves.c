// SPDX-License-Identifier: GPL-2.0
/*
 * behaves DEVICE [xrc] WHAT: says how the device behaves where it may choose, in one line, or as
 * WHAT says. Two queue pairs of one process, "near" and "far", are connected with each other; by
 * xrc, which noise, srq, qpn, immediate, zero, early, rnr, cq, order, acks and traffic know, the
 * near one sends to an SRQ by the far one.
 *
 *	noise		what flushed receives (xrc: sends) say beside their status, a line each
 *	srq [resized]	the order in which receives of an SRQ were used, and whether the data is
 *			where it belongs; resized: it has grown since half of them were posted
 *	qpn		the distance of the number of a queue pair to that of the one destroyed
 *			before
 *	immediate	what becomes of a WRITE with immediate and a wrong R_Key
 *	long ud|uc	what the first receive ends with that had a message too long for it, and
 *			then one that fits
 *	zero		where 8 bytes go by a list of an element of 0 bytes and another, and how
 *			they are sent by such a list
 *	late [ud]	how many of 20 sends have not completed when their answer is there
 *	early		whether one of 20 sends has completed within 10 ms
 *	rnr		"ready QPN": it finds no receive, and tries again until the standard input
 *			ends
 *	cq [resized]	how many entries a CQ of 5 has, and what becomes of 6 completions; resized:
 *			it was larger before
 *	order OPCODE ROUNDS	whether the last byte of a message (write, read, send) was seen
 *				before the first, in so many
 *	window [fenced]	whether a window is still there while a local invalidation stands behind a
 *			send that waits
 *	flush		what a receive ends with that has two elements of 0 bytes, and is flushed
 *	acks		whether 16 sends complete that are posted together, of which the last alone
 *			asks for a completion
 *	pd [newer|parent|kept]	what becomes of a datagram by an address handle of another PD;
 *			newer: it is posted by ibv_wr_start(); parent: that of a parent domain of
 *			the same PD; kept: "made", and it is posted when the standard input ends
 *	traffic ROUNDS	whether so many sends complete, one after the other
 *	threads ROUNDS	whether two threads that make and destroy queue pairs of one CQ see all
 *			completions
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "device.h"

#define SIZE 32768
#define SECONDS 60
#define DEPTH 32
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

enum { NEAR, FAR };

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *send_cq[2], *recv_cq[2];
static struct ibv_qp *qp[2];
static struct ibv_srq *srq;
static struct ibv_port_attr port;
static uint8_t memory[2][SIZE];
static int rnr_timer = 12;
static bool is_xrc;

static void die(const char *what)
{
	fprintf(stderr, "behaves: %s: %m\n", what);
	exit(1);
}

static void *made(void *object, const char *what)
{
	if (!object)
		die(what);
	return object;
}

static struct ibv_cq *make_cq(int entries)
{
	return made(ibv_create_cq(ctx, entries, NULL, NULL, 0), "CQ");
}

static void make_qp(int i, enum ibv_qp_type type, int entries)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = DEPTH,
			 .max_send_sge = 2,
			 .max_recv_sge = 2 },
		.srq = i == FAR ? srq : NULL,
	};

	attr.send_cq = send_cq[i] = make_cq(DEPTH);
	attr.recv_cq = recv_cq[i] = make_cq(entries);
	qp[i] = made(ibv_create_qp(pd, &attr), "queue pair");
}

static void to_init(int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS, .qkey = 7,
	};
	int last = qp[i]->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;

	if (ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | last))
		die("INIT");
}

static void to_rts(int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp[!i]->qp_num,
		.max_dest_rd_atomic = 1, .max_rd_atomic = 1, .min_rnr_timer = rnr_timer,
		.timeout = 18, .retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = { .dlid = port.lid, .port_num = 1 },
	};
	bool ud = qp[i]->qp_type == IBV_QPT_UD, rc = qp[i]->qp_type == IBV_QPT_RC;
	int rtr = ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	int rts = IBV_QP_SQ_PSN;

	if (rc || qp[i]->qp_type == IBV_QPT_XRC_RECV)
		rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (rc || qp[i]->qp_type == IBV_QPT_XRC_SEND)
		rts |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	if (rc || is_xrc)
		rts |= IBV_QP_TIMEOUT;
	if (ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | rtr))
		die("RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | rts))
		die("RTS");
}

static void make_xrc_srq(struct ibv_xrcd *domain)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 16, .max_sge = 2 }, .srq_type = IBV_SRQT_XRC, .xrcd = domain,
		.pd = pd, .cq = recv_cq[FAR],
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
	};

	srq = made(ibv_create_srq_ex(ctx, &attr), "SRQ");
}

static void make_xrc_sender(void)
{
	struct ibv_qp_init_attr_ex from = {
		.qp_type = IBV_QPT_XRC_SEND, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 2 },
	};

	from.send_cq = from.recv_cq = send_cq[NEAR] = make_cq(DEPTH);
	qp[NEAR] = made(ibv_create_qp_ex(ctx, &from), "queue pair");
}

static void make_xrc(int entries)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_qp_init_attr_ex to = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = made(ibv_open_xrcd(ctx, &domain), "XRC domain"),
	};

	recv_cq[FAR] = make_cq(entries);
	make_xrc_srq(to.xrcd);
	make_xrc_sender();
	qp[FAR] = made(ibv_create_qp_ex(ctx, &to), "queue pair");
}

/* @entries: of the CQ of the far one's receives */
static void make_pair(enum ibv_qp_type type, int entries)
{
	if (is_xrc) {
		make_xrc(entries);
	} else {
		make_qp(NEAR, type, DEPTH);
		make_qp(FAR, type, entries);
	}
	to_init(NEAR);
	to_init(FAR);
	to_rts(NEAR);
	to_rts(FAR);
}

static struct ibv_sge piece(int i, uint32_t at, uint32_t len)
{
	return (struct ibv_sge) { (uintptr_t)memory[i] + at, len, mr->lkey };
}

static void receive_list(int i, uint64_t id, struct ibv_sge *list, int num)
{
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = list, .num_sge = num }, *bad;

	if (srq && i == FAR ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp[i], &wr, &bad))
		die("receive");
}

static void receive(int i, uint64_t id, uint32_t at, uint32_t len)
{
	struct ibv_sge sge = piece(i, at, len);

	receive_list(i, id, &sge, 1);
}

static void request_list(int i, enum ibv_wr_opcode opcode, struct ibv_sge *list, int num,
			 uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.sg_list = list, .num_sge = num, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)memory[!i], rkey },
	}, *bad;

	if (is_xrc && ibv_get_srq_num(srq, &wr.qp_type.xrc.remote_srqn))
		die("SRQ");
	if (ibv_post_send(qp[i], &wr, &bad))
		die("send");
}

static void request(int i, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_sge sge = piece(i, 0, len);

	request_list(i, opcode, &sge, 1, mr->rkey);
}

static struct ibv_wc completion(struct ibv_cq *cq)
{
	time_t until = time(NULL) + SECONDS;
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc)) {
		if (time(NULL) > until)
			die("a completion does not come");
		usleep(500);
	}
	return wc;
}

static const char *ending(struct ibv_cq *cq)
{
	return ibv_wc_status_str(completion(cq).status);
}

/* The next asynchronous event, within @seconds. "-": there is none. */
static const char *event_within(int seconds)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	const char *name;

	do {
		if (poll(&fd, 1, seconds * 1000) != 1 || ibv_get_async_event(ctx, &event))
			return "-";
		name = ibv_event_type_str(event.event_type);
		ibv_ack_async_event(&event);
	} while (event.event_type == IBV_EVENT_COMM_EST);
	return name;
}

static void fail_qp(struct ibv_qp *q)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (ibv_modify_qp(q, &attr, IBV_QP_STATE))
		die("ERR");
}

static void flush_sends(void)
{
	int i;

	make_pair(IBV_QPT_XRC_SEND, DEPTH);
	fail_qp(qp[NEAR]);
	for (i = 0; i < 8; i++)
		request(NEAR, IBV_WR_SEND, 8);
}

static void flush_receives(void)
{
	int i;

	make_qp(NEAR, IBV_QPT_RC, DEPTH);
	to_init(NEAR);
	for (i = 0; i < 8; i++)
		receive(NEAR, i, 0, 64);
	fail_qp(qp[NEAR]);
}

static void noise(void)
{
	struct ibv_wc wc;
	int i;

	if (is_xrc)
		flush_sends();
	else
		flush_receives();
	for (i = 0; i < 8; i++) {
		wc = completion(is_xrc ? send_cq[NEAR] : recv_cq[NEAR]);
		if ((!is_xrc && wc.wr_id != (uint64_t)i) || wc.status != IBV_WC_WR_FLUSH_ERR ||
		    wc.qp_num != qp[NEAR]->qp_num || wc.vendor_err)
			printf("what is defined is wrong: ");
		printf("%d %u %u %u %u %u %u %u\n", wc.opcode, wc.byte_len, wc.imm_data,
		       wc.wc_flags, wc.pkey_index, wc.slid, wc.sl, wc.dlid_path_bits);
	}
}

static void grow_srq(void)
{
	struct ibv_srq_attr attr = { .max_wr = 64 };

	if (ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR))
		die("modify_srq");
}

static void shared(bool resized)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 2 } };
	bool good = true;
	struct ibv_wc wc;
	uint64_t i;

	if (!is_xrc)
		srq = made(ibv_create_srq(pd, &attr), "SRQ");
	make_pair(IBV_QPT_RC, DEPTH);
	for (i = 0; i < 16; i++) {
		if (i == 8 && resized)
			grow_srq();
		receive(FAR, i, 64 * i, 64);
	}
	for (i = 0; i < 16; i++) {
		memory[NEAR][0] = i + 1;
		request(NEAR, IBV_WR_SEND, 8);
		wc = completion(recv_cq[FAR]);
		good &= wc.status == IBV_WC_SUCCESS && wc.byte_len == 8 && wc.wr_id < 16 &&
			memory[FAR][64 * (wc.wr_id & 15)] == i + 1;
		good &= completion(send_cq[NEAR]).status == IBV_WC_SUCCESS;
		printf("%d ", (int)wc.wr_id);
	}
	printf("data %s\n", good ? "good" : "bad");
}

static void make_sender(void)
{
	if (is_xrc)
		make_xrc_sender();
	else
		make_qp(NEAR, IBV_QPT_RC, DEPTH);
}

static void numbers(void)
{
	uint32_t first;

	make_sender();
	first = qp[NEAR]->qp_num;
	if (ibv_destroy_qp(qp[NEAR]))
		die("destroy");
	make_sender();
	printf("%u\n", qp[NEAR]->qp_num - first);
}

/* An SRQ keeps its receive, when the queue pair fails. */
static void immediate(void)
{
	struct ibv_sge sge = piece(NEAR, 0, 64);
	const char *sent, *event;
	struct ibv_wc wc;

	make_pair(IBV_QPT_RC, DEPTH);
	receive(FAR, 0, 0, 64);
	request_list(NEAR, IBV_WR_RDMA_WRITE_WITH_IMM, &sge, 1, mr->rkey ^ 0x100);
	sent = ending(send_cq[NEAR]);
	event = event_within(1);
	if (!is_xrc)
		wc = completion(recv_cq[FAR]);
	printf("send %s recv %s event %s\n", sent,
	       !is_xrc || ibv_poll_cq(recv_cq[FAR], 1, &wc) == 1 ? ibv_wc_status_str(wc.status) :
								   "-",
	       event);
}

static struct ibv_ah *make_ah(struct ibv_pd *of)
{
	struct ibv_ah_attr attr = { .dlid = port.lid, .port_num = 1 };

	return made(ibv_create_ah(of, &attr), "AH");
}

/* Return: 0 or why it was not posted. */
static int post_datagram(int i, struct ibv_ah *ah, uint32_t len)
{
	struct ibv_sge sge = piece(i, 0, len);
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { ah, qp[!i]->qp_num, 7 },
	}, *bad;

	return ibv_post_send(qp[i], &wr, &bad);
}

static void send_datagram(int i, struct ibv_ah *ah, uint32_t len)
{
	if (post_datagram(i, ah, len))
		die("send");
}

static void too_long(const char *type)
{
	bool ud = !strcmp(type, "ud");
	uint32_t room = ud ? 40 : 0;
	struct ibv_ah *ah;

	make_pair(ud ? IBV_QPT_UD : IBV_QPT_UC, DEPTH);
	ah = make_ah(pd);
	receive(FAR, 0, 0, 64 + room);
	if (ud) {
		send_datagram(NEAR, ah, 65);
		send_datagram(NEAR, ah, 64);
	} else {
		request(NEAR, IBV_WR_SEND, 65);
		request(NEAR, IBV_WR_SEND, 64);
	}
	printf("%s\n", ending(recv_cq[FAR]));
}

static void zero(void)
{
	struct ibv_sge to[2] = { piece(FAR, 0, 0), piece(FAR, 64, 64) };
	struct ibv_sge from[2] = { piece(NEAR, 0, 8), piece(NEAR, 8, 0) };

	make_pair(IBV_QPT_RC, DEPTH);
	memory[NEAR][0] = 1;
	receive_list(FAR, 0, to, 2);
	request(NEAR, IBV_WR_SEND, 8);
	if (completion(send_cq[NEAR]).status || completion(recv_cq[FAR]).status)
		die("a plain send");
	printf("received by the %s ",
	       memory[FAR][0] ? "first" : memory[FAR][64] ? "second" : "none");
	receive(FAR, 0, 0, 64);
	request_list(NEAR, IBV_WR_SEND, from, 2, 0);
	printf("sent %s\n", ending(send_cq[NEAR]));
}

static void send_8(int i, struct ibv_ah *ah)
{
	if (ah)
		send_datagram(i, ah, 8);
	else
		request(i, IBV_WR_SEND, 8);
}

static void late(bool ud)
{
	struct ibv_ah *ah;
	int i, n = 0;
	struct ibv_wc wc;

	make_pair(ud ? IBV_QPT_UD : IBV_QPT_RC, DEPTH);
	ah = ud ? make_ah(pd) : NULL;
	for (i = 0; i < 20; i++) {
		receive(NEAR, 0, 0, 64);
		receive(FAR, 0, 0, 64);
		send_8(NEAR, ah);
		completion(recv_cq[FAR]);
		send_8(FAR, ah);
		completion(recv_cq[NEAR]);
		if (!ibv_poll_cq(send_cq[NEAR], 1, &wc)) {
			n++;
			wc = completion(send_cq[NEAR]);
		}
		if (wc.status || completion(send_cq[FAR]).status)
			die("a send");
	}
	printf("%d\n", n);
}

static uint64_t now_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

static void early(void)
{
	bool any = false;
	uint64_t began;
	int i;

	make_pair(IBV_QPT_RC, DEPTH);
	for (i = 0; i < 20; i++) {
		receive(FAR, 0, 0, 64);
		began = now_usec();
		request(NEAR, IBV_WR_SEND, 8);
		if (completion(send_cq[NEAR]).status)
			die("a send");
		any |= now_usec() < began + 10000;
	}
	printf("%s\n", any ? "one" : "none");
}

static void not_ready(void)
{
	char c;

	rnr_timer = 0;
	make_pair(IBV_QPT_RC, DEPTH);
	request(NEAR, IBV_WR_SEND, 8);
	printf("ready %u\n", qp[NEAR]->qp_num);
	fflush(stdout);
	while (read(0, &c, 1) == 1)
		;
}

static void entries(bool resized)
{
	int i, n = 0, status = 0;
	struct ibv_wc wc;

	make_pair(IBV_QPT_RC, resized ? DEPTH : 5);
	if (resized && ibv_resize_cq(recv_cq[FAR], 5))
		die("resize_cq");
	for (i = 0; i < 6; i++)
		receive(FAR, i, 0, 64);
	for (i = 0; i < 6 && !status; i++) {
		request(NEAR, IBV_WR_SEND, 8);
		status = completion(send_cq[NEAR]).status;
	}
	printf("entries %d ", recv_cq[FAR]->cqe);
	while (n < 6 && ibv_poll_cq(recv_cq[FAR], 1, &wc) == 1)
		n++;
	printf("seen %d event %s\n", n, n == 6 ? "-" : event_within(SECONDS));
}

static atomic_int wanted, looked;
static atomic_bool torn;
static volatile uint8_t *watched;

/* Sees the last byte become @wanted, then looks at the first. */
static void *watch(void *arg)
{
	int n = 0, next;

	for (;;) {
		while ((next = atomic_load(&wanted)) == n)
			;
		n = next;
		if (n < 0)
			return arg;
		while (watched[SIZE - 1] != (uint8_t)n)
			;
		if (watched[0] != (uint8_t)n)
			atomic_store(&torn, true);
		atomic_store(&looked, n);
	}
}

static void order(const char *word, int rounds)
{
	enum ibv_wr_opcode opcode = !strcmp(word, "write") ? IBV_WR_RDMA_WRITE :
				    !strcmp(word, "read") ? IBV_WR_RDMA_READ : IBV_WR_SEND;
	int from = opcode == IBV_WR_RDMA_READ ? FAR : NEAR, n;
	time_t until = time(NULL) + SECONDS;
	pthread_t thread;

	make_pair(IBV_QPT_RC, DEPTH);
	watched = memory[!from];
	if (pthread_create(&thread, NULL, watch, NULL))
		die("thread");
	/* Where the peer knows of no receive the first packet of a send goes alone (9.7.7.2). */
	for (n = 0; opcode == IBV_WR_SEND && n < 8; n++)
		receive(FAR, 0, 0, SIZE);
	for (n = 1; n <= rounds && !atomic_load(&torn) && time(NULL) <= until; n++) {
		memset(memory[from], n, SIZE);
		atomic_store(&wanted, n);
		if (opcode == IBV_WR_SEND)
			receive(FAR, 0, 0, SIZE);
		request(NEAR, opcode, SIZE);
		if (completion(send_cq[NEAR]).status ||
		    (opcode == IBV_WR_SEND && completion(recv_cq[FAR]).status))
			die(word);
		while (atomic_load(&looked) != n)
			;
		if (memcmp(memory[NEAR], memory[FAR], SIZE))
			die("the data");
	}
	atomic_store(&wanted, -1);
	pthread_join(thread, NULL);
	printf("%s\n", atomic_load(&torn) ? "last byte first" : "in order");
}

static struct ibv_mw *bind_window(void)
{
	struct ibv_mw *mw = made(ibv_alloc_mw(pd, IBV_MW_TYPE_2), "window");
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			     .bind_info = { mr, (uintptr_t)memory[FAR], SIZE,
					    IBV_ACCESS_REMOTE_WRITE } },
	}, *bad;

	if (ibv_post_send(qp[FAR], &wr, &bad) || completion(send_cq[FAR]).status)
		die("bind");
	mw->rkey = wr.bind_mw.rkey;
	return mw;
}

/* The far one's send finds no receive. Behind it stands what takes the window away. */
static void window(bool fenced)
{
	struct ibv_sge sge = piece(FAR, 0, 8), out = piece(NEAR, 0, 8);
	struct ibv_send_wr invalidate = {
		.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr send = {
		.next = &invalidate, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	const struct timespec pause = { .tv_nsec = 1000000 };
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct ibv_mw *mw;
	int i;

	make_pair(IBV_QPT_RC, DEPTH);
	mw = bind_window();
	invalidate.invalidate_rkey = mw->rkey;
	if (fenced)
		invalidate.send_flags |= IBV_SEND_FENCE;
	if (ibv_post_send(qp[FAR], &send, &bad))
		die("send");
	for (i = 0; i < 50 && !status; i++) {
		nanosleep(&pause, NULL);
		request_list(NEAR, IBV_WR_RDMA_WRITE, &out, 1, mw->rkey);
		status = completion(send_cq[NEAR]).status;
	}
	if (status) {
		printf("%s\n", ibv_wc_status_str(status));
		return;
	}
	receive(NEAR, 0, 0, 64);
	if (completion(send_cq[FAR]).status || completion(send_cq[FAR]).status)
		die("the send, or what is behind it");
	printf("there\n");
}

static void flush(void)
{
	struct ibv_sge list[2] = { piece(NEAR, 0, 0), piece(NEAR, 64, 0) };

	make_qp(NEAR, IBV_QPT_RC, DEPTH);
	to_init(NEAR);
	receive_list(NEAR, 0, list, 2);
	fail_qp(qp[NEAR]);
	printf("%s\n", ending(recv_cq[NEAR]));
}

static void acks(void)
{
	struct ibv_send_wr wr[16], *bad;
	struct ibv_sge sge = piece(NEAR, 0, 8);
	int i;

	make_pair(IBV_QPT_RC, DEPTH);
	for (i = 0; i < 16; i++) {
		receive(FAR, 0, 0, 64);
		wr[i] = (struct ibv_send_wr) {
			.next = i < 15 ? &wr[i + 1] : NULL, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_SEND, .send_flags = i < 15 ? 0 : IBV_SEND_SIGNALED,
		};
		if (is_xrc && ibv_get_srq_num(srq, &wr[i].qp_type.xrc.remote_srqn))
			die("SRQ");
	}
	if (ibv_post_send(qp[NEAR], wr, &bad) || completion(send_cq[NEAR]).status)
		die("the sends");
	printf("all\n");
}

static struct ibv_pd *other_pd(bool parent)
{
	struct ibv_parent_domain_init_attr attr = { .pd = pd };

	return made(parent ? ibv_alloc_parent_domain(ctx, &attr) : ibv_alloc_pd(ctx), "PD");
}

static int post_newer(struct ibv_ah *ah)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_UD, .pd = pd,
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = DEPTH,
			 .max_send_sge = 2,
			 .max_recv_sge = 2 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp_ex *ex;

	attr.send_cq = attr.recv_cq = send_cq[NEAR];
	qp[NEAR] = made(ibv_create_qp_ex(ctx, &attr), "queue pair");
	to_init(NEAR);
	to_rts(NEAR);
	ex = ibv_qp_to_qp_ex(qp[NEAR]);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, ah, qp[FAR]->qp_num, 7);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)memory[NEAR], 8);
	return ibv_wr_complete(ex);
}

static void foreign(const char *how)
{
	struct ibv_ah *ah;
	int err;

	make_pair(IBV_QPT_UD, DEPTH);
	ah = make_ah(other_pd(!strcmp(how, "parent")));
	if (!strcmp(how, "kept")) {
		puts("made");
		fflush(stdout);
		while (getchar() != EOF)
			continue;
	}
	err = !strcmp(how, "newer") ? post_newer(ah) : post_datagram(NEAR, ah, 8);
	if (err) {
		printf("not posted: %s; ", strerror(err));
		if (post_datagram(NEAR, make_ah(pd), 8))
			die("a datagram by an AH of its own PD");
	}
	printf("completed: %s\n", ending(send_cq[NEAR]));
}

static void traffic(int rounds)
{
	make_pair(IBV_QPT_RC, DEPTH);
	while (rounds--) {
		receive(FAR, 0, 0, 64);
		request(NEAR, IBV_WR_SEND, 8);
		if (completion(recv_cq[FAR]).status || completion(send_cq[NEAR]).status)
			die("a send");
	}
	printf("all\n");
}

static struct ibv_cq *shared_cq;
static atomic_int flushed[2];
static int rounds_each;

/* A thread that polls sees completions of both. */
static void count_flushed(time_t until)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(shared_cq, 1, &wc))
		atomic_fetch_add(&flushed[wc.wr_id & 1], 1);
	else if (time(NULL) > until)
		die("a completion is lost");
}

static void *make_and_destroy(void *arg)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = shared_cq, .recv_cq = shared_cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)arg }, *bad;
	struct ibv_qp *mine;
	int i, n;

	for (i = 1; i <= rounds_each; i++) {
		mine = made(ibv_create_qp(pd, &init), "queue pair");
		if (ibv_modify_qp(mine, &attr,
				  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					  IBV_QP_ACCESS_FLAGS))
			die("INIT");
		for (n = 0; n < 4; n++)
			if (ibv_post_recv(mine, &wr, &bad))
				die("receive");
		fail_qp(mine);
		for (time_t until = time(NULL) + SECONDS; atomic_load(&flushed[wr.wr_id]) < 4 * i;)
			count_flushed(until);
		if (ibv_destroy_qp(mine))
			die("destroy");
	}
	return NULL;
}

static void threads(int rounds)
{
	pthread_t thread;

	shared_cq = make_cq(DEPTH);
	rounds_each = rounds;
	if (pthread_create(&thread, NULL, make_and_destroy, (void *)1))
		die("thread");
	make_and_destroy(NULL);
	pthread_join(thread, NULL);
	printf("all\n");
}

static bool show(int argc, char **argv)
{
	const char *what = argv[2];

	if (!strcmp(what, "noise"))
		noise();
	else if (!strcmp(what, "srq"))
		shared(argc == 4 && !strcmp(argv[3], "resized"));
	else if (!strcmp(what, "qpn"))
		numbers();
	else if (!strcmp(what, "immediate"))
		immediate();
	else if (!strcmp(what, "long") && argc == 4)
		too_long(argv[3]);
	else if (!strcmp(what, "zero"))
		zero();
	else if (!strcmp(what, "late"))
		late(argc == 4 && !strcmp(argv[3], "ud"));
	else if (!strcmp(what, "early"))
		early();
	else if (!strcmp(what, "rnr"))
		not_ready();
	else if (!strcmp(what, "cq"))
		entries(argc == 4 && !strcmp(argv[3], "resized"));
	else if (!strcmp(what, "order") && argc == 5)
		order(argv[3], atoi(argv[4]));
	else if (!strcmp(what, "window"))
		window(argc == 4 && !strcmp(argv[3], "fenced"));
	else if (!strcmp(what, "flush"))
		flush();
	else if (!strcmp(what, "acks"))
		acks();
	else if (!strcmp(what, "pd"))
		foreign(argc == 4 ? argv[3] : "");
	else if (!strcmp(what, "traffic") && argc == 4)
		traffic(atoi(argv[3]));
	else if (!strcmp(what, "threads") && argc == 4)
		threads(atoi(argv[3]));
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	ctx = made(open_device(argv[1]), argv[1]);
	if (ibv_query_port(ctx, 1, &port))
		die("port");
	pd = made(ibv_alloc_pd(ctx), "PD");
	mr = made(ibv_reg_mr(pd, memory, sizeof(memory), ACCESS | IBV_ACCESS_MW_BIND), "memory");
	is_xrc = argc > 3 && !strcmp(argv[2], "xrc");
	return show(argc - is_xrc, argv + is_xrc) ? 0 : 2;
}
