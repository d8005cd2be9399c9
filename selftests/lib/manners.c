// SPDX-License-Identifier: GPL-2.0
/*
 * manners DEVICE MISTAKE [wait|refused]: a small verbs program that behaves, but for one mistake,
 * by its name in docs/manners.md; "flags-newer" and "flags-bind" make "send-flags" by other calls,
 * "invalidated" makes "stale-rkey". By "none" it makes none, nor by "selective", "two-events",
 * "late-ack", "busy-cq", "newer" and "path", which look like one; by "wide-psns" it makes one 3000
 * times. Two RC queue pairs at port 1 of the device talk to each other. With "wait" it makes the
 * mistake once a line has come on standard input, and says "ready" before. With "refused" each call
 * that makes the mistake has to fail, by PIB_MANNERS_ERROR and for no other reason; then the
 * program does what is right.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device.h"
#include "layout.h"
#include "sides.h"

static int leaves_pd, leaves_cq;

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
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SOLICITED | IBV_SEND_SIGNALED), "post_send");
	must(completed(&near) != IBV_WC_SUCCESS, "write");
}

/* A call of its own posts it. */
static void flags_bind(void)
{
	struct ibv_mr *bound = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE |
					  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SOLICITED | IBV_SEND_SIGNALED,
		.bind_info = { .mr = bound, .addr = (uintptr_t)memory, .length = LENGTH,
			       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE },
	};

	must(!bound || !mw || ibv_bind_mw(near.qp, mw, &bind), "bind_mw");
	must(completed(&near) != IBV_WC_SUCCESS, "bind");
	must(ibv_dealloc_mw(mw) || ibv_dereg_mr(bound), "window");
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

/* The peer itself has invalidated the key, which was never used. */
static void invalidated(void)
{
	struct ibv_mr *bound = ibv_reg_mr(pd, memory + LENGTH, LENGTH, IBV_ACCESS_LOCAL_WRITE |
					  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	struct ibv_mr gone = { 0 }, *was = far_mr;
	struct ibv_send_wr bind, invalidate, *bad;

	must(!bound || !mw, "window");
	gone.rkey = ibv_inc_rkey(mw->rkey);
	bind = (struct ibv_send_wr){
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { mw, gone.rkey, { bound, (uintptr_t)memory + LENGTH, LENGTH,
					      IBV_ACCESS_REMOTE_WRITE } },
	};
	invalidate = (struct ibv_send_wr){
		.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = gone.rkey,
	};
	must(ibv_post_send(far.qp, &bind, &bad) || completed(&far), "bind");
	must(ibv_post_send(far.qp, &invalidate, &bad) || completed(&far), "LOCAL_INV");
	far_mr = &gone;
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED), "post_send");
	far_mr = was;
	must(completed(&near) != IBV_WC_REM_ACCESS_ERR, "an R_Key that was invalidated");
	must(ibv_dealloc_mw(mw) || ibv_dereg_mr(bound), "window");
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

static void *acknowledges_late(void *cq)
{
	usleep(200000);
	ibv_ack_cq_events(cq, 1);
	return NULL;
}

/* The CQ is destroyed while another thread is about to acknowledge its event. */
static void late_ack(void)
{
	struct ibv_cq *cq;
	void *context;
	pthread_t thread;

	must(ibv_req_notify_cq(near.cq, 0), "req_notify_cq");
	write_once(0);
	must(ibv_get_cq_event(channel, &cq, &context), "get_cq_event");
	must(pthread_create(&thread, NULL, acknowledges_late, cq), "pthread_create");
	pthread_detach(thread);
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

/* ---- the newer interfaces ---- */

static struct ibv_cq_ex *newer_cq;
static struct ibv_qp_ex *newer_qp;

/* Such a queue pair and CQ in place of the near ones. */
static void make_newer(void)
{
	struct ibv_cq_init_attr_ex cq = { .cqe = 64, .wc_flags = IBV_WC_EX_WITH_QP_NUM };
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ,
		.cap = { .max_send_wr = SENDS, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1, .max_inline_data = LENGTH },
	};

	must(ibv_destroy_qp(near.qp) || ibv_destroy_qp(far.qp) || ibv_destroy_cq(near.cq),
	     "destroy");
	newer_cq = ibv_create_cq_ex(ctx, &cq);
	must(!newer_cq, "create_cq_ex");
	near.cq = ibv_cq_ex_to_cq(newer_cq);
	init.send_cq = near.cq;
	init.recv_cq = near.cq;
	near.qp = ibv_create_qp_ex(ctx, &init);
	must(!near.qp, "create_qp_ex");
	newer_qp = ibv_qp_to_qp_ex(near.qp);
	must(!newer_qp || newer_qp != ibv_qp_to_qp_ex(near.qp), "qp_to_qp_ex");
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.send_cq = far.cq;
	init.recv_cq = far.cq;
	far.qp = ibv_create_qp_ex(ctx, &init);
	must(!far.qp, "create_qp_ex");
	connect_sides();
}

static void begin_newer(uint64_t id, unsigned int flags)
{
	newer_qp->wr_id = id;
	newer_qp->wr_flags = flags;
	ibv_wr_rdma_write(newer_qp, far_mr->rkey, (uintptr_t)memory + LENGTH);
}

/* The completion of that write. Only those in a row are seen by ibv_next_poll(). */
static void newer_completed(uint64_t id)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int err;

	do
		err = ibv_start_poll(newer_cq, &attr);
	while (err == ENOENT);
	must(err || newer_cq->status || newer_cq->wr_id != id, "start_poll");
	while (!ibv_next_poll(newer_cq))
		must(newer_cq->status, "next_poll");
	ibv_end_poll(newer_cq);
}

/* Three writes of one list, one of them inline: its buffer is the program's at once. */
static void newer(void)
{
	char inlined[LENGTH] = { 0 };
	struct ibv_sge piece = { (uintptr_t)memory, LENGTH, mr->lkey };
	int round;

	make_newer();
	for (round = 0; round < 20; round++) {
		ibv_wr_start(newer_qp);
		begin_newer(1, 0);
		ibv_wr_set_sge(newer_qp, mr->lkey, (uintptr_t)memory, LENGTH);
		begin_newer(2, 0);
		ibv_wr_set_inline_data(newer_qp, inlined, LENGTH);
		begin_newer(3, IBV_SEND_SIGNALED);
		ibv_wr_set_sge_list(newer_qp, 1, &piece);
		must(ibv_wr_complete(newer_qp), "wr_complete");
		memset(inlined, round, LENGTH);
		newer_completed(3);
		memory[0]++;
	}
	ibv_wr_start(newer_qp);
	begin_newer(4, IBV_SEND_SIGNALED);
	ibv_wr_abort(newer_qp);
}

static void post_newer(unsigned int flags)
{
	ibv_wr_start(newer_qp);
	begin_newer(5, flags);
	ibv_wr_set_sge(newer_qp, mr->lkey, (uintptr_t)memory, LENGTH);
}

static void changed_newer(void)
{
	make_newer();
	post_newer(IBV_SEND_SIGNALED);
	must(ibv_wr_complete(newer_qp), "wr_complete");
	memory[LENGTH / 2]++;
	newer_completed(5);
}

/* A write is posted by the older interface, and polled by the newer one. */
static void changed_mixed(void)
{
	make_newer();
	must(post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED), "post_send");
	memory[LENGTH / 2]++;
	newer_completed(7);
}

static void flags_newer(void)
{
	make_newer();
	post_newer(IBV_SEND_SOLICITED | IBV_SEND_SIGNALED);
	must(ibv_wr_complete(newer_qp), "wr_complete");
	newer_completed(5);
}

/* There pib does not look at them. */
static void reserved_newer(void)
{
	make_newer();
	post_newer(1 << 9 | IBV_SEND_SIGNALED);
	must(ibv_wr_complete(newer_qp), "wr_complete");
	newer_completed(5);
}

static void reserved_comp_mask(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 1, .comp_mask = 1 << 20 };

	must(!!ibv_create_cq_ex(ctx, &init), "a CQ with a reserved bit");
}

static void empty_field(void)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 1, .max_sge = 1 }, .pd = pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(ctx, &init);

	must(srq && ibv_destroy_srq(srq), "destroy_srq");
}

/* ---- paths ---- */

static void large_mtu(void)
{
	struct side more;

	make_side(&more, IBV_QPT_RC);
	init_side(&more);
	to_rtr(&more, &near, port.active_mtu + 1, 1);
	must(ibv_destroy_qp(more.qp) || ibv_destroy_cq(more.cq), "destroy");
}

static void next_event(struct rdma_event_channel *events, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	must(rdma_get_cm_event(events, &event), "get_cm_event");
	if (event->event != type)
		fprintf(stderr, "manners: %s: status %d\n", rdma_event_str(event->event),
			event->status);
	must(event->event != type, rdma_event_str(type));
	rdma_ack_cm_event(event);
}

/* A path to the port itself, by its GID. Nobody has to listen there. */
static struct rdma_cm_id *asked_path(struct rdma_event_channel *events)
{
	struct sockaddr_ib to = {
		.sib_family = AF_IB, .sib_pkey = htobe16(0xffff), .sib_sid = htobe64(0x1061d2f),
		.sib_sid_mask = ~0ULL,
	};
	struct rdma_cm_id *id;

	must(ibv_query_gid(ctx, 1, 0, (union ibv_gid *)&to.sib_addr), "query_gid");
	must(rdma_create_id(events, &id, NULL, RDMA_PS_TCP), "create_id");
	must(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 5000), "resolve_addr");
	next_event(events, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(rdma_resolve_route(id, 5000), "resolve_route");
	next_event(events, RDMA_CM_EVENT_ROUTE_RESOLVED);
	must(id->route.num_paths < 1, "a path record");
	return id;
}

/* The connection's queue pair becomes RTR by @connect, with the SL that the path record has. */
static void by_path_record(void (*connect)(struct side *s))
{
	struct rdma_event_channel *events = rdma_create_event_channel();
	struct rdma_cm_id *id;
	struct side one;

	must(!events, "create_event_channel");
	id = asked_path(events);
	make_side(&one, IBV_QPT_RC);
	init_side(&one);
	must(rdma_connect(id, &(struct rdma_conn_param){ .qp_num = one.qp->qp_num }), "connect");
	sl = id->route.path_rec->sl;
	connect(&one);
	must(ibv_destroy_qp(one.qp) || ibv_destroy_cq(one.cq), "destroy");
	must(rdma_destroy_id(id), "destroy_id");
	rdma_destroy_event_channel(events);
}

static void by_other_sl(struct side *s)
{
	sl++;
	connect_side(s, &near, 1, 1);
}

static void by_right_sl(struct side *s)
{
	connect_side(s, &near, 1, 1);
}

static void path_ignored(void)
{
	by_path_record(by_other_sl);
}

static void path(void)
{
	by_path_record(by_right_sl);
}

/* ---- calls that fail by PIB_MANNERS_ERROR ---- */

static int kernel;

/* The kernel hears of no call until meet_kernel(), and so refuses none by EINVAL. */
static void leave_kernel(void)
{
	kernel = ctx->cmd_fd;
	ctx->cmd_fd = -1;
}

static void meet_kernel(void)
{
	ctx->cmd_fd = kernel;
}

static void must_refuse(int err, const char *what)
{
	must(err != EINVAL, what);
}

static int error_of(const void *object)
{
	return object ? 0 : errno;
}

/* Otherwise the queue pair became RTR, and could not do so once more. */
static void not_rtr(struct side *s, enum ibv_mtu mtu, uint32_t rq_psn, int more_sl)
{
	sl += more_sl;
	must_refuse(to_rtr(s, &near, mtu, rq_psn), "RTR");
	sl -= more_sl;
	must(to_rtr(s, &near, IBV_MTU_1024, 1), "RTR");
}

static void not_rtr_with(enum ibv_mtu mtu, uint32_t rq_psn)
{
	struct side more;

	make_side(&more, IBV_QPT_RC);
	init_side(&more);
	not_rtr(&more, mtu, rq_psn, 0);
	must(ibv_destroy_qp(more.qp) || ibv_destroy_cq(more.cq), "destroy");
}

static void refused_psn(void)
{
	not_rtr_with(IBV_MTU_1024, 0x1000001);
}

static void refused_mtu(void)
{
	not_rtr_with(port.active_mtu + 1, 1);
}

static void by_refused_sl(struct side *s)
{
	not_rtr(s, IBV_MTU_1024, 1, 1);
}

static void refused_path(void)
{
	by_path_record(by_refused_sl);
}

static void refused_bits(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 1, .comp_mask = 1 << 20 };

	make_newer();
	post_newer(1 << 9 | IBV_SEND_SIGNALED);
	must_refuse(ibv_wr_complete(newer_qp), "wr_complete");
	leave_kernel();
	must_refuse(error_of(ibv_reg_mr(pd, memory, LENGTH, 1 << 15)), "reg_mr");
	must_refuse(error_of(ibv_create_cq_ex(ctx, &init)), "create_cq_ex");
	must_refuse(modify(&near, (struct ibv_qp_attr){ 0 }, 1 << 22), "modify_qp");
	meet_kernel();
	post_newer(IBV_SEND_SIGNALED);
	must(ibv_wr_complete(newer_qp), "wr_complete");
	newer_completed(5);
}

static void refused_flag(void)
{
	leave_kernel();
	must_refuse(error_of(ibv_reg_mr(pd, memory, LENGTH, IBV_ACCESS_REMOTE_WRITE)), "reg_mr");
	meet_kernel();
}

static void refused_field(void)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 1, .max_sge = 1 }, .pd = pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ,
	};

	leave_kernel();
	must_refuse(error_of(ibv_create_srq_ex(ctx, &init)), "create_srq_ex");
	meet_kernel();
}

/* A queue pair that talks to itself takes the last receive of its SRQ, and goes to ERR. */
static void last_receive(struct side *s)
{
	struct ibv_sge piece = { (uintptr_t)memory + LENGTH, LENGTH, far_mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &piece, .num_sge = 1 }, *bad;
	struct ibv_srq_attr limit = { .srq_limit = 1 };
	struct side was = near;

	init_side(s);
	connect_side(s, s, 1, 1);
	must(ibv_post_srq_recv(srq, &wr, &bad), "post_srq_recv");
	must(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "modify_srq");
	must(ibv_req_notify_cq(s->cq, 0), "req_notify_cq");
	near = *s;
	must(post(IBV_WR_SEND, IBV_SEND_SIGNALED), "post_send");
	near = was;
	must(completed(s) || completed(s), "send");
	must(modify(s, (struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR }, 0), "ERR");
}

/* Events of an SRQ, a queue pair and a CQ: each call waits until they are acknowledged. */
static void refused_ends(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_async_event limit, last;
	struct ibv_cq *cq;
	struct side own;
	void *context;

	srq = ibv_create_srq(pd, &init);
	must(!srq, "create_srq");
	make_side(&own, IBV_QPT_RC);
	last_receive(&own);
	must(ibv_get_async_event(ctx, &limit) || ibv_get_async_event(ctx, &last), "async_event");
	must(ibv_get_cq_event(channel, &cq, &context), "get_cq_event");
	leave_kernel();
	must_refuse(ibv_destroy_qp(own.qp), "destroy_qp");
	must_refuse(ibv_destroy_cq(own.cq), "destroy_cq");
	must_refuse(ibv_destroy_srq(srq), "destroy_srq");
	meet_kernel();
	ibv_ack_async_event(&limit);
	ibv_ack_async_event(&last);
	ibv_ack_cq_events(cq, 1);
	must(ibv_destroy_qp(own.qp) || ibv_destroy_cq(own.cq) || ibv_destroy_srq(srq), "destroy");
}

struct mistake {
	const char *name;
	void (*make)(void);
};

static const struct mistake mistakes[] = {
	{ "none", nothing },
	{ "selective", selective },
	{ "two-events", two_events },
	{ "late-ack", late_ack },
	{ "busy-cq", busy_cq },
	{ "other-socket", other_socket },
	{ "wide-psn", wide_psn },
	{ "wide-psns", wide_psns },
	{ "wide-field", wide_field },
	{ "magic-lid", magic_lid },
	{ "group-without-grh", group_without_grh },
	{ "send-flags", send_flags },
	{ "flags-newer", flags_newer },
	{ "flags-bind", flags_bind },
	{ "qkey-top-bit", qkey_top_bit },
	{ "unsignaled-full", unsignaled_full },
	{ "stale-rkey", stale_rkey },
	{ "invalidated", invalidated },
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
	{ "reserved-newer", reserved_newer },
	{ "reserved-comp-mask", reserved_comp_mask },
	{ "changed-newer", changed_newer },
	{ "changed-mixed", changed_mixed },
	{ "newer", newer },
	{ "empty-field", empty_field },
	{ "large-mtu", large_mtu },
	{ "path-ignored", path_ignored },
	{ "path", path },
	{ NULL, NULL },
};

static const struct mistake refused[] = {
	{ "wide-psn", refused_psn },
	{ "reserved-bits", refused_bits },
	{ "lone-flag", refused_flag },
	{ "empty-field", refused_field },
	{ "large-mtu", refused_mtu },
	{ "path-ignored", refused_path },
	{ "unacked-event", refused_ends },
	{ NULL, NULL },
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
	const char *how = argc == 4 ? argv[3] : "";
	const struct mistake *m = strcmp(how, "refused") ? mistakes : refused;

	while (argc >= 3 && m->name && strcmp(argv[2], m->name))
		m++;
	if (argc < 3 || !m->name) {
		fprintf(stderr, "usage: manners DEVICE MISTAKE [wait|refused]\n");
		return 2;
	}
	open_all(argv[1]);
	if (!strcmp(how, "wait")) {
		puts("ready");
		fflush(stdout);
		if (getchar() == EOF)
			return 1;
	}
	if (m->make == wide_psn)
		first_psn = 0x1000001;
	connect_sides();
	m->make();
	close_all();
	return 0;
}
