// SPDX-License-Identifier: GPL-2.0
/*
 * manners DEVICE MISTAKE [wait]: a small verbs program that behaves, but for one mistake, by its
 * name in docs/manners.md. By "none" it makes none, nor by "selective", "two-events" and "busy-cq",
 * which look like one; by "wide-psns" it makes one 3000 times. Two RC queue pairs at port 1 of the
 * device talk to each other. With "wait"
 * it makes the mistake once a line has come on standard input, and says "ready" before.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device.h"

#define SENDS	8
#define LENGTH	64

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static char memory[2 * LENGTH];
static struct ibv_context *ctx;
static struct ibv_port_attr port;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_mr *mr, *far_mr;
static struct side near, far;
static uint32_t first_psn = 1;
static int leaves_pd, leaves_cq;

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "manners: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void make_side(struct side *s, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.cap = { .max_send_wr = SENDS,
			 .max_recv_wr = 4,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	s->cq = ibv_create_cq(ctx, 64, NULL, channel, 0);
	must(!s->cq, "create_cq");
	init.send_cq = s->cq;
	init.recv_cq = s->cq;
	s->qp = ibv_create_qp(pd, &init);
	must(!s->qp, "create_qp");
}

static int modify(struct side *s, struct ibv_qp_attr attr, int mask)
{
	return ibv_modify_qp(s->qp, &attr, mask | IBV_QP_STATE);
}

static void init_side(struct side *s)
{
	must(modify(s,
		    (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT,
					  .port_num = 1,
					  .qp_access_flags = IBV_ACCESS_REMOTE_WRITE },
		    IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	     "INIT");
}

static void connect_side(struct side *s, const struct side *peer, uint32_t rq_psn, uint32_t sq_psn)
{
	must(modify(s, (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp->qp_num,
		.rq_psn = rq_psn,
		.ah_attr = { .dlid = port.lid, .port_num = 1 }, .min_rnr_timer = 20,
		.max_dest_rd_atomic = 1,
	     }, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
	must(modify(s, (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .sq_psn = sq_psn, .timeout = 18, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1,
	     }, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	     IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

static void connect_sides(void)
{
	init_side(&near);
	init_side(&far);
	connect_side(&near, &far, 1, first_psn);
	connect_side(&far, &near, first_psn & 0xffffff, 1);
}

static struct ibv_ah *make_ah(uint16_t dlid)
{
	return ibv_create_ah(pd, &(struct ibv_ah_attr){ .dlid = dlid, .port_num = 1 });
}

/* Return: 0, or ENOMEM while the queue is full. */
static int post(enum ibv_wr_opcode opcode, int flags)
{
	struct ibv_sge piece = { (uintptr_t)memory, LENGTH, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 7, .sg_list = &piece, .num_sge = 1, .opcode = opcode, .send_flags = flags,
		.wr.rdma = { (uintptr_t)memory + LENGTH, far_mr ? far_mr->rkey : 0 },
	}, *bad;

	return ibv_post_send(near.qp, &wr, &bad);
}

static void post_receive(struct side *s)
{
	struct ibv_sge piece = { (uintptr_t)memory + LENGTH, LENGTH, far_mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &piece, .num_sge = 1 }, *bad;

	must(ibv_post_recv(s->qp, &wr, &bad), "post_recv");
}

static enum ibv_wc_status completed(struct side *s)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(s->cq, 1, &wc))
		;
	return wc.status;
}

static void write_once(int flags)
{
	must(post(IBV_WR_RDMA_WRITE, flags | IBV_SEND_SIGNALED), "post_send");
	must(completed(&near) != IBV_WC_SUCCESS, "write");
}

static void nothing(void)
{
	write_once(0);
	post_receive(&far);
	must(post(IBV_WR_SEND, IBV_SEND_SOLICITED | IBV_SEND_SIGNALED), "post_send");
	must(completed(&near) || completed(&far), "send");
}

/* One completion says that those before it are finished, too: all buffers are its again. */
static void selective(void)
{
	int round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < SENDS / 2 - 1; i++)
			must(post(IBV_WR_RDMA_WRITE, 0), "post_send");
		write_once(0);
		memory[0]++;
	}
}

/* A value that the module refuses is a mistake all the same. */
static void wide_field(void)
{
	must(!modify(&near, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 32 },
		     IBV_QP_TIMEOUT),
	     "a wide timeout");
}

static void try_ah(uint16_t dlid)
{
	struct ibv_ah *ah = make_ah(dlid);

	if (ah)
		must(ibv_destroy_ah(ah), "destroy_ah");
}

static void magic_lid(void)
{
	try_ah(0xffff);
}

static void group_without_grh(void)
{
	try_ah(0xc007);
}

static void send_flags(void)
{
	write_once(IBV_SEND_SOLICITED);
}

static void qkey_top_bit(void)
{
	struct ibv_sge piece = { (uintptr_t)memory, LENGTH, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .remote_qpn = 0x123456, .remote_qkey = 0x80000001 },
	};
	struct side ud;

	make_side(&ud, IBV_QPT_UD);
	must(modify(&ud, (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 },
		    IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), "INIT");
	must(modify(&ud, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR }, 0), "RTR");
	must(modify(&ud, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS }, IBV_QP_SQ_PSN), "RTS");
	wr.wr.ud.ah = make_ah(port.lid);
	must(!wr.wr.ud.ah, "create_ah");
	must(ibv_post_send(ud.qp, &wr, &bad), "post_send");
	must(completed(&ud) != IBV_WC_SUCCESS, "send");
	must(ibv_destroy_ah(wr.wr.ud.ah) || ibv_destroy_qp(ud.qp) || ibv_destroy_cq(ud.cq),
	     "destroy");
}

static void unsignaled_full(void)
{
	int i, err;

	for (i = 0; i < 2 * SENDS; i++) {
		do
			err = post(IBV_WR_RDMA_WRITE, 0);
		while (err == ENOMEM);
		must(err, "post_send");
	}
	do
		err = post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED);
	while (err == ENOMEM);
	must(err || completed(&near), "write");
}

/* The key of what is gone is used. */
static void stale_rkey(void)
{
	struct ibv_mr gone = *far_mr;

	write_once(0);
	must(ibv_dereg_mr(far_mr), "dereg_mr");
	far_mr = &gone;
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED), "post_send");
	far_mr = NULL;
	must(completed(&near) != IBV_WC_REM_ACCESS_ERR, "an R_Key that is gone");
}

static void dereg_busy(void)
{
	post_receive(&far);
	must(ibv_dereg_mr(far_mr), "dereg_mr");
	far_mr = NULL;
}

static void lost_on_reset(void)
{
	post_receive(&far);
	must(modify(&far, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, 0), "RESET");
}

/* There is nothing to receive it. */
static void destroyed_busy(void)
{
	must(post(IBV_WR_SEND, IBV_SEND_SIGNALED), "post_send");
}

static void unpolled(void)
{
	struct ibv_cq *cq;
	void *context;

	must(ibv_req_notify_cq(near.cq, 0), "req_notify_cq");
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED), "post_send");
	must(ibv_get_cq_event(channel, &cq, &context), "get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

/* The CQ is left behind: destroying it would wait for ever. */
static void unacked_event(void)
{
	struct ibv_cq *cq;
	void *context;

	must(ibv_req_notify_cq(near.cq, 0), "req_notify_cq");
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED), "post_send");
	must(ibv_get_cq_event(channel, &cq, &context), "get_cq_event");
	must(completed(&near), "write");
	leaves_cq = 1;
}

static void fork_unsafe(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	must(child < 0 || waitpid(child, NULL, 0) != child, "fork");
}

static void left_behind(void)
{
	int i;

	for (i = 0; i < 3; i++)
		must(!make_ah(port.lid), "create_ah");
	leaves_pd = 1;
}

static void wide_psn(void)
{
	write_once(0);
}

/* libpibmanners.so takes libibverbs' structs to be laid out like this. */
#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type)
AT(ibv_context, ops.poll_cq, 12 * sizeof(void *));
AT(ibv_context, ops.req_notify_cq, 13 * sizeof(void *));
AT(ibv_context, ops.post_srq_recv, 21 * sizeof(void *));
AT(ibv_context, ops.post_send, 26 * sizeof(void *));
AT(ibv_context, ops.post_recv, 27 * sizeof(void *));
AT(ibv_context, cmd_fd, 33 * sizeof(void *));
AT(ibv_comp_channel, fd, sizeof(void *));
AT(ibv_cq, channel, sizeof(void *));
AT(ibv_qp_attr, qp_access_flags, 8 * 4);
AT(ibv_qp, send_cq, 3 * sizeof(void *));
AT(ibv_qp, recv_cq, 4 * sizeof(void *));
AT(ibv_qp, qp_num, 6 * sizeof(void *) + 4);
AT(ibv_mr, lkey, 4 * sizeof(void *) + 4);
AT(ibv_send_wr, send_flags, 3 * 8 + 8);
AT(ibv_wc, qp_num, 28);
_Static_assert(sizeof(struct ibv_wc) == 48, "ibv_wc");

static void woken(int number)
{
	(void)number;
}

/* An event is waited for that does not come: a signal ends that. */
static void wait_in_vain(void)
{
	struct ibv_cq *cq;
	void *context;

	must(sigaction(SIGALRM, &(struct sigaction){ .sa_handler = woken }, NULL), "sigaction");
	alarm(1);
	must(!ibv_get_cq_event(channel, &cq, &context), "an event that nobody has asked for");
}

static void unarmed_wait(void)
{
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED), "post_send");
	wait_in_vain();
	must(completed(&near), "write");
}

/* The event says that there is a completion, of which none will say so again. */
static void armed_late(void)
{
	struct ibv_cq *cq;
	void *context;

	must(ibv_req_notify_cq(near.cq, 0), "req_notify_cq");
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED), "post_send");
	must(ibv_get_cq_event(channel, &cq, &context), "get_cq_event");
	ibv_ack_cq_events(cq, 1);
	must(ibv_req_notify_cq(near.cq, 0), "req_notify_cq");
	wait_in_vain();
	must(completed(&near), "write");
}

/*
 * The second event may be there when the first one is taken, or come after that: it is right to
 * wait for it.
 */
static void two_events(void)
{
	struct ibv_cq *cq;
	void *context;
	int i;

	for (i = 0; i < 2; i++) {
		must(ibv_req_notify_cq(near.cq, 0), "req_notify_cq");
		write_once(0);
		must(poll(&(struct pollfd){ .fd = channel->fd, .events = POLLIN }, 1, -1) != 1,
		     "poll");
	}
	for (i = 0; i < 2; i++) {
		must(ibv_get_cq_event(channel, &cq, &context), "get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
}

/* The completions of a CQ stay there if the CQ cannot be destroyed. */
static void busy_cq(void)
{
	unpolled();
	must(ibv_req_notify_cq(near.cq, 0), "req_notify_cq");
	must(!ibv_destroy_cq(near.cq), "a CQ that a queue pair needs");
	must(completed(&near), "write");
}

/* A program that closes what it did not open may get a socket of its own with that number. */
static void other_socket(void)
{
	const char *fd = getenv("PIB_MANNERS_FD");
	struct ibv_ah *ah;
	int ends[2];
	char byte;

	must(!fd || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), "socketpair");
	must(dup2(ends[0], atoi(fd)) < 0, "dup2");
	ah = make_ah(1);
	must(!ah || ibv_destroy_ah(ah), "an AH");
	must(recv(ends[1], &byte, 1, MSG_DONTWAIT) >= 0, "somebody else writes to the socket");
}

static void buffer_changed(void)
{
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED), "post_send");
	memory[LENGTH / 2]++;
	must(completed(&near), "write");
}

/* The kernel refuses all of them: they are made all the same. */
static void wide_psns(void)
{
	struct ibv_qp_attr attr = { .sq_psn = 0x1000001 };
	int i;

	for (i = 0; i < 3000; i++)
		must(!ibv_modify_qp(near.qp, &attr, IBV_QP_SQ_PSN), "a PSN in RTS");
}

/* Bits that verbs.h does not have: who refuses them does not undo the mistake. */
static void reserved_bits(void)
{
	must(!post(IBV_WR_RDMA_WRITE, 1 << 9 | IBV_SEND_SIGNALED), "a send with a reserved flag");
}

static void reserved_access(void)
{
	must(!!ibv_reg_mr(pd, memory, LENGTH, 1 << 15), "memory with a reserved flag");
}

static void lone_flag(void)
{
	must(!!ibv_reg_mr(pd, memory, LENGTH, IBV_ACCESS_REMOTE_WRITE),
	     "memory that peers alone may write");
}

static void reserved_mask(void)
{
	modify(&near, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS }, 1 << 22);
}

static void reserved_qp_access(void)
{
	modify(&near, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .qp_access_flags = 1 << 15 },
	       IBV_QP_ACCESS_FLAGS);
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "none", nothing },
	{ "selective", selective },
	{ "two-events", two_events },
	{ "busy-cq", busy_cq },
	{ "other-socket", other_socket },
	{ "wide-psn", wide_psn },
	{ "wide-psns", wide_psns },
	{ "wide-field", wide_field },
	{ "magic-lid", magic_lid },
	{ "group-without-grh", group_without_grh },
	{ "send-flags", send_flags },
	{ "qkey-top-bit", qkey_top_bit },
	{ "unsignaled-full", unsignaled_full },
	{ "stale-rkey", stale_rkey },
	{ "dereg-busy", dereg_busy },
	{ "lost-on-reset", lost_on_reset },
	{ "destroyed-busy", destroyed_busy },
	{ "unpolled", unpolled },
	{ "left-behind", left_behind },
	{ "unacked-event", unacked_event },
	{ "fork-unsafe", fork_unsafe },
	{ "unarmed-wait", unarmed_wait },
	{ "armed-late", armed_late },
	{ "buffer-changed", buffer_changed },
	{ "reserved-bits", reserved_bits },
	{ "lone-flag", lone_flag },
	{ "reserved-access", reserved_access },
	{ "reserved-mask", reserved_mask },
	{ "reserved-qp-access", reserved_qp_access },
};

static void open_all(const char *device)
{
	ctx = open_device(device);
	must(!ctx || ibv_query_port(ctx, 1, &port), device);
	channel = ibv_create_comp_channel(ctx);
	pd = ibv_alloc_pd(ctx);
	must(!channel || !pd, "objects");
	mr = ibv_reg_mr(pd, memory, LENGTH, 0);
	far_mr = ibv_reg_mr(pd, memory + LENGTH, LENGTH,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(!mr || !far_mr, "reg_mr");
	make_side(&near, IBV_QPT_RC);
	make_side(&far, IBV_QPT_RC);
}

static void close_all(void)
{
	must(ibv_destroy_qp(near.qp) || ibv_destroy_qp(far.qp), "destroy_qp");
	must((!leaves_cq && ibv_destroy_cq(near.cq)) || ibv_destroy_cq(far.cq), "destroy_cq");
	must(ibv_dereg_mr(mr) || (far_mr && ibv_dereg_mr(far_mr)), "dereg_mr");
	must(!leaves_cq && ibv_destroy_comp_channel(channel), "destroy_comp_channel");
	must(!leaves_pd && ibv_dealloc_pd(pd), "dealloc_pd");
	must(ibv_close_device(ctx), "close_device");
}

int main(int argc, char **argv)
{
	void (*mistake)(void) = NULL;
	size_t i;

	for (i = 0; argc >= 3 && i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		if (!strcmp(argv[2], mistakes[i].name))
			mistake = mistakes[i].make;
	if (!mistake) {
		fprintf(stderr, "usage: manners DEVICE MISTAKE [wait]\n");
		return 2;
	}
	open_all(argv[1]);
	if (argc == 4) {
		puts("ready");
		fflush(stdout);
		if (getchar() == EOF)
			return 1;
	}
	if (mistake == wide_psn)
		first_psn = 0x1000001;
	connect_sides();
	mistake();
	close_all();
	return 0;
}
