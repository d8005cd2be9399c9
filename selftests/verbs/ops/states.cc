// SPDX-License-Identifier: GPL-2.0
/* Queue pair states: transitions and their attributes, draining, errors, flushing, events (10.3.1, 11.2.5). */
#include <chrono>
#include <thread>
#include <unistd.h>

#include "end.h"
#include "own_device.h"
#include "suites.h"

namespace ops {

namespace {

constexpr ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

EndOptions options(ibv_qp_type type)
{
	EndOptions o;
	o.type = type;
	return o;
}

/* A query tells what was set. */
void query(const Env &env, ibv_qp_type type)
{
	EndOptions o = options(type);
	o.min_rnr_timer = 13;
	o.rnr_retry = 5;
	o.retry = 3;
	o.timeout = 17;
	o.mtu = IBV_MTU_1024;
	o.grh = true;
	Pair p(env, o);
	ibv_qp_attr a = p.a.query();
	CHECK_EQ(a.qp_state, IBV_QPS_RTS);
	CHECK_EQ(a.cur_qp_state, IBV_QPS_RTS);
	CHECK_EQ(a.sq_psn, p.a.opt.psn);
	CHECK_EQ(a.port_num, p.a.dev.port);
	CHECK_EQ(a.pkey_index, 0);
	CHECK(a.cap.max_send_wr >= o.cap.max_send_wr);
	CHECK(a.cap.max_recv_sge >= o.cap.max_recv_sge);
	if (type == IBV_QPT_UD) {
		CHECK_EQ(a.qkey, o.qkey);
		return;
	}
	CHECK_EQ(a.path_mtu, IBV_MTU_1024);
	CHECK_EQ(a.dest_qp_num, p.b.qpn());
	CHECK_EQ(a.rq_psn, p.b.opt.psn);
	CHECK_EQ(a.qp_access_flags, o.qp_access);
	CHECK_EQ(a.ah_attr.dlid, p.b.dev.port_attr.lid);
	CHECK_EQ(a.ah_attr.is_global, 1);
	CHECK(!memcmp(&a.ah_attr.grh.dgid, &p.b.dev.gid, 16));
	if (type != IBV_QPT_RC)
		return;
	CHECK_EQ(a.timeout, 17);
	CHECK_EQ(a.retry_cnt, 3);
	CHECK_EQ(a.rnr_retry, 5);
	CHECK_EQ(a.min_rnr_timer, 13);
	CHECK_EQ(a.max_rd_atomic, o.rd_atomic);
	CHECK_EQ(a.max_dest_rd_atomic, o.rd_atomic);
}

/* The PSNs that are told are those of the next packets, whatever was set once. */
void query_psn(const Env &env, ibv_qp_type type)
{
	EndOptions o = options(type);
	o.psn = 0xfffffe;
	Pair p(env, o);
	for (unsigned i = 0; i < 3; i++)
		p.ping();
	CHECK_EQ(p.a.query().sq_psn, 1);
	CHECK_EQ(p.b.query().sq_psn, p.b.opt.psn);
	if (type != IBV_QPT_UD)
		CHECK_EQ(p.b.query().rq_psn, 1);
}

/* Transitions that there are not, and attributes that are missing or wrong. */
struct BadChange {
	const char *name;
	ibv_qp_state from, to;
	int mask; /* besides the state */
	void (*spoil)(ibv_qp_attr &attr);
};

void keep(ibv_qp_attr &) {}
constexpr int init_mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int rtr_mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int rts_mask = IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			 IBV_QP_MAX_QP_RD_ATOMIC;

constexpr BadChange bad_changes[] = {
	{"reset_to_rtr", IBV_QPS_RESET, IBV_QPS_RTR, rtr_mask, keep},
	{"reset_to_rts", IBV_QPS_RESET, IBV_QPS_RTS, rts_mask, keep},
	{"reset_to_sqd", IBV_QPS_RESET, IBV_QPS_SQD, 0, keep},
	{"init_to_rts", IBV_QPS_INIT, IBV_QPS_RTS, rts_mask, keep},
	{"rtr_to_init", IBV_QPS_RTR, IBV_QPS_INIT, init_mask, keep},
	{"rts_to_rtr", IBV_QPS_RTS, IBV_QPS_RTR, rtr_mask, keep},
	{"err_to_rts", IBV_QPS_ERR, IBV_QPS_RTS, rts_mask, keep},
	{"err_to_init", IBV_QPS_ERR, IBV_QPS_INIT, init_mask, keep},
	{"init_without_port", IBV_QPS_RESET, IBV_QPS_INIT, init_mask & ~IBV_QP_PORT, keep},
	{"init_without_access", IBV_QPS_RESET, IBV_QPS_INIT, init_mask & ~IBV_QP_ACCESS_FLAGS,
	 keep},
	{"init_port_0", IBV_QPS_RESET, IBV_QPS_INIT, init_mask,
	 [](ibv_qp_attr &a) { a.port_num = 0; }},
	{"init_port_200", IBV_QPS_RESET, IBV_QPS_INIT, init_mask,
	 [](ibv_qp_attr &a) { a.port_num = 200; }},
	{"init_pkey_index", IBV_QPS_RESET, IBV_QPS_INIT, init_mask,
	 [](ibv_qp_attr &a) { a.pkey_index = 60000; }},
	{"rtr_without_av", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask & ~IBV_QP_AV, keep},
	{"rtr_without_qpn", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask & ~IBV_QP_DEST_QPN, keep},
	{"rtr_without_psn", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask & ~IBV_QP_RQ_PSN, keep},
	{"rtr_without_rnr_timer", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask & ~IBV_QP_MIN_RNR_TIMER,
	 keep},
	{"rtr_mtu_0", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask,
	 [](ibv_qp_attr &a) { a.path_mtu = ibv_mtu(0); }},
	{"rtr_mtu_8192", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask,
	 [](ibv_qp_attr &a) { a.path_mtu = ibv_mtu(6); }},
	{"rtr_qpn_of_25_bits", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask,
	 [](ibv_qp_attr &a) { a.dest_qp_num = 1 << 24; }},
	{"rtr_too_many_reads", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask,
	 [](ibv_qp_attr &a) { a.max_dest_rd_atomic = 255; }},
	{"rtr_gid_index", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask,
	 [](ibv_qp_attr &a) {
		 a.ah_attr.is_global = 1;
		 a.ah_attr.grh.sgid_index = 250;
	 }},
	{"rtr_with_foreign_mask", IBV_QPS_INIT, IBV_QPS_RTR, rtr_mask | IBV_QP_TIMEOUT, keep},
	{"rts_without_psn", IBV_QPS_RTR, IBV_QPS_RTS, rts_mask & ~IBV_QP_SQ_PSN, keep},
	{"rts_without_timeout", IBV_QPS_RTR, IBV_QPS_RTS, rts_mask & ~IBV_QP_TIMEOUT, keep},
	{"rts_without_retry", IBV_QPS_RTR, IBV_QPS_RTS, rts_mask & ~IBV_QP_RETRY_CNT, keep},
	{"rts_retry_8", IBV_QPS_RTR, IBV_QPS_RTS, rts_mask,
	 [](ibv_qp_attr &a) { a.retry_cnt = 8; }},
	{"rts_rnr_retry_8", IBV_QPS_RTR, IBV_QPS_RTS, rts_mask,
	 [](ibv_qp_attr &a) { a.rnr_retry = 8; }},
	{"rts_timeout_32", IBV_QPS_RTR, IBV_QPS_RTS, rts_mask,
	 [](ibv_qp_attr &a) { a.timeout = 32; }},
	{"rts_too_many_reads", IBV_QPS_RTR, IBV_QPS_RTS, rts_mask,
	 [](ibv_qp_attr &a) { a.max_rd_atomic = 255; }},
	{"rts_wrong_current_state", IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_CUR_STATE,
	 [](ibv_qp_attr &a) { a.cur_qp_state = IBV_QPS_SQD; }},
};

void bring_to(Pair &p, ibv_qp_state state)
{
	if (state == IBV_QPS_RESET)
		return;
	p.a.to_init();
	if (state == IBV_QPS_ERR)
		p.a.to(IBV_QPS_ERR);
	if (state == IBV_QPS_INIT || state == IBV_QPS_ERR)
		return;
	p.a.to_rtr(p.b);
	if (state == IBV_QPS_RTS)
		p.a.to_rts();
}

void bad_change(const Env &env, const BadChange &t)
{
	EndOptions o;
	Pair p(env, o, o, false);
	bring_to(p, t.from);
	ibv_qp_attr a{};
	a.qp_state = t.to;
	a.cur_qp_state = t.from;
	a.port_num = p.a.dev.port;
	a.ah_attr = p.a.address_of(p.b);
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = p.b.qpn();
	a.max_dest_rd_atomic = a.max_rd_atomic = 1;
	a.timeout = 14;
	t.spoil(a);
	CHECK(p.a.try_modify(a, t.mask | IBV_QP_STATE) != 0);
	CHECK_EQ(p.a.state(), t.from);
}

/* Posting is refused in states that do not have it (10.8.2, 11.4.1.1). */
void posting(const Env &env)
{
	EndOptions o;
	Pair p(env, o, o, false);
	Wr wr = p.send_wr(0, 8);
	CHECK(p.a.try_send(wr) != 0);
	CHECK(p.a.try_recv({p.a.sge(0, 8)}) != 0);
	p.a.to_init();
	CHECK(p.a.try_send(wr) != 0);
	CHECK_EQ(p.a.try_recv({p.a.sge(0, 8)}), 0);
	p.a.to_rtr(p.b);
	CHECK(p.a.try_send(wr) != 0);
	CHECK_EQ(p.a.try_recv({p.a.sge(0, 8)}), 0);
}

/* Receives posted in INIT serve what comes in RTR. */
void receive_in_rtr(const Env &env, ibv_qp_type type)
{
	EndOptions o = options(type);
	Pair p(env, o, o, false);
	p.a.to_init();
	p.b.to_init();
	p.b.recv({p.b.sge(0, 1000)}, 6);
	p.b.to_rtr(p.a);
	p.a.to_rtr(p.b);
	p.a.to_rts();
	if (type == IBV_QPT_UD)
		p.ah = p.a.ah_to(p.b);
	p.a.send(p.send_wr(0, 100));
	p.a.expect({});
	p.b.expect_recv({.id = 6});
	/* The first packet in RTR tells that the connection stands; datagrams have none. */
	if (type != IBV_QPT_UD)
		p.b.expect_event(IBV_EVENT_COMM_EST);
	CHECK_EQ(p.b.state(), IBV_QPS_RTR);
}

/* Everything that is posted, on both queues, comes back flushed, in order, and so does what is posted later. */
void flush(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	for (unsigned i = 0; i < 20; i++)
		p.a.recv({p.a.sge(0, 100)}, 100 + i);
	p.a.to(IBV_QPS_ERR);
	for (unsigned i = 20; i < 30; i++) {
		p.a.recv({p.a.sge(0, 100)}, 100 + i);
		Wr wr = p.send_wr(0, 8);
		wr.id = 200 + i;
		wr.flags = i % 2 ? IBV_SEND_SIGNALED : 0;
		p.a.send(wr);
	}
	unsigned recv = 100, send = 220;
	for (unsigned n = 0; n < 40; n++) {
		ibv_wc wc = p.a.completion();
		CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		CHECK_EQ(wc.wr_id, wc.wr_id >= 200 ? send : recv);
		(wc.wr_id >= 200 ? send : recv)++;
	}
	p.a.expect_none();
}

/* Requests that were under way: each completes once, first the finished ones, then the flushed. */
void flush_under_way(const Env &env)
{
	EndOptions o;
	o.memory = 1 << 20;
	Pair p(env, o);
	for (unsigned i = 0; i < 40; i++) {
		Wr wr = p.rdma_wr(i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 1 << 18);
		wr.id = i;
		p.a.send(wr);
	}
	p.a.to(IBV_QPS_ERR);
	bool flushed = false;
	for (unsigned i = 0; i < 40; i++) {
		ibv_wc wc = p.a.completion();
		CHECK_EQ(wc.wr_id, i);
		CHECK(wc.status == (flushed ? IBV_WC_WR_FLUSH_ERR : wc.status));
		flushed = flushed || wc.status == IBV_WC_WR_FLUSH_ERR;
		CHECK(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR);
	}
	p.a.expect_none();
}

/* RESET forgets the queues and the completions; the QP can be used again. */
void reset(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	for (int round = 0; round < 5; round++) {
		p.ping();
		p.a.recv({p.a.sge(0, 64)}, 1);
		p.b.recv({p.b.sge(0, 64)}, 2);
		p.a.to(round & 1 ? IBV_QPS_ERR : IBV_QPS_RESET);
		p.a.to(IBV_QPS_RESET);
		p.b.to(IBV_QPS_RESET);
		p.a.expect_none();
		p.b.expect_none();
		ibv_qp_attr a = p.a.query();
		CHECK_EQ(a.qp_state, IBV_QPS_RESET);
		p.connect();
	}
	p.ping();
}

/* SQD: what has begun ends, the event tells so, what is posted waits until RTS. */
void drain(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	size_t grh = grh_len(p.b);
	for (unsigned i = 0; i < 20; i++) {
		p.b.recv({p.b.sge(0, 8 + grh)}, i);
		Wr wr = p.send_wr(0, 8);
		wr.id = i;
		p.a.send(wr);
	}
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_SQD;
	attr.en_sqd_async_notify = 1;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
	p.a.expect_event(IBV_EVENT_SQ_DRAINED);
	ibv_qp_attr now = p.a.query();
	CHECK_EQ(now.qp_state, IBV_QPS_SQD);
	CHECK_EQ(now.sq_draining, 0);
	/* All that will complete has completed. */
	unsigned done = 0;
	for (ibv_wc wc{}; ibv_poll_cq(p.a.cq.get(), 1, &wc) == 1; done++)
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	Wr wr = p.send_wr(0, 8);
	wr.id = 20;
	p.b.recv({p.b.sge(0, 8 + grh)}, 20);
	p.a.send(wr);
	CHECK(!p.a.event_pending());
	p.a.expect_none();
	/* Receiving goes on. */
	if (type != IBV_QPT_UD) {
		p.a.recv({p.a.sge(4096, 64)}, 70);
		Wr back;
		back.sg = {p.b.sge(4096, 8)};
		back.id = 71;
		p.b.send(back);
		p.a.expect({.opcode = IBV_WC_RECV, .id = 70});
	}
	p.a.to(IBV_QPS_RTS);
	for (unsigned i = done; i <= 20; i++)
		p.a.expect({.id = i});
	CHECK(!p.a.event_pending());
}

/* The event comes after the last completion, also where a message is on its way for a while. */
void drain_large(const Env &env)
{
	constexpr unsigned kMessages = 8;
	constexpr uint32_t kSize = 256 << 10;
	EndOptions o = options(IBV_QPT_UC);
	o.memory = kMessages * kSize;
	Pair p(env, o);
	for (unsigned i = 0; i < kMessages; i++) {
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, i * kSize, kSize);
		wr.id = i;
		p.a.send(wr);
	}
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_SQD;
	attr.en_sqd_async_notify = 1;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
	p.a.expect_event(IBV_EVENT_SQ_DRAINED);
	unsigned done = 0;
	for (ibv_wc wc{}; ibv_poll_cq(p.a.cq.get(), 1, &wc) == 1; done++)
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	p.a.expect_none();
	p.a.to(IBV_QPS_RTS);
	for (unsigned i = done; i < kMessages; i++)
		p.a.expect({.id = i});
}

/* A request that has begun ends in SQD: until it has, there is no way back to RTS. */
void drain_unfinished(const Env &env)
{
	Pair p(env);
	uint32_t psn = p.a.query().sq_psn;
	p.a.send(p.send_wr(0, 8));
	/* There is no receive for it: it has begun, and does not end. */
	while (p.a.query().sq_psn == psn)
		;
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_SQD;
	attr.en_sqd_async_notify = 1;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
	CHECK_EQ(p.a.query().sq_draining, 1);
	attr = {};
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(p.a.try_modify(attr, IBV_QP_STATE), EINVAL);
	attr.qp_state = IBV_QPS_SQD;
	attr.timeout = 13;
	CHECK_EQ(p.a.try_modify(attr, IBV_QP_STATE | IBV_QP_TIMEOUT), EINVAL);
	CHECK_EQ(p.a.state(), IBV_QPS_SQD);
	p.b.recv({p.b.sge(0, 8)});
	p.a.expect_event(IBV_EVENT_SQ_DRAINED);
	p.a.expect({});
	CHECK_EQ(p.a.try_modify(attr, IBV_QP_STATE | IBV_QP_TIMEOUT), 0);
	p.a.to(IBV_QPS_RTS);
	p.b.expect_recv({});
	p.ping();
}

/* The time that an RNR NAK names may be given on the way to RTS (11.2.5.2): 81.92 ms, not 10 us. */
void rnr_timer_of_rts(const Env &env)
{
	Pair p(env, {}, {}, false);
	p.a.to_init();
	p.b.to_init();
	p.a.to_rtr(p.b);
	p.b.to_rtr(p.a);
	p.a.to_rts();
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = p.b.opt.psn;
	attr.timeout = p.b.opt.timeout;
	attr.retry_cnt = p.b.opt.retry;
	attr.rnr_retry = p.b.opt.rnr_retry;
	attr.max_rd_atomic = p.b.opt.rd_atomic;
	attr.min_rnr_timer = 26;
	p.b.modify(attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	const auto begin = std::chrono::steady_clock::now();
	p.a.send(p.send_wr(0, 8));
	usleep(5000);
	p.b.recv({p.b.sge(0, 8)});
	p.a.expect({});
	CHECK(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(80));
}

/*
 * In SQD the port may change alone: the address stays, and leads from there on by the new port. Neither port has a
 * cable, which none of this takes.
 */
void port_in_sqd(const Env &)
{
	OwnDevice own("ports 2");
	Pair p(Env{.dev_a = own.name, .dev_b = own.name});
	CHECK_EQ(p.a.query().ah_attr.port_num, 1);
	p.a.to(IBV_QPS_SQD);
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_SQD;
	attr.port_num = 2;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_PORT);
	ibv_qp_attr now = p.a.query();
	CHECK_EQ(now.port_num, 2);
	CHECK_EQ(now.ah_attr.port_num, 2);
	p.a.to(IBV_QPS_RTS);
	attr.port_num = 3;
	p.a.to(IBV_QPS_SQD);
	CHECK_EQ(p.a.try_modify(attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	CHECK_EQ(p.a.query().ah_attr.port_num, 2);
}

/* In SQD some attributes may change. */
void change_in_sqd(const Env &env)
{
	Pair p(env);
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_SQD;
	attr.en_sqd_async_notify = 1;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
	p.a.expect_event(IBV_EVENT_SQ_DRAINED);
	attr = {};
	attr.qp_state = IBV_QPS_SQD;
	attr.timeout = 16;
	attr.retry_cnt = 1;
	attr.rnr_retry = 2;
	attr.max_rd_atomic = 1;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_MAX_QP_RD_ATOMIC);
	p.a.to(IBV_QPS_RTS);
	ibv_qp_attr now = p.a.query();
	CHECK_EQ(now.timeout, 16);
	CHECK_EQ(now.retry_cnt, 1);
	CHECK_EQ(now.rnr_retry, 2);
	CHECK_EQ(now.max_rd_atomic, 1);
	p.ping();
}

/* Without the wish to be told, nothing is told. */
void drain_quietly(const Env &env)
{
	Pair p(env);
	p.a.to(IBV_QPS_SQD);
	CHECK_EQ(p.a.state(), IBV_QPS_SQD);
	p.a.to(IBV_QPS_RTS);
	p.ping();
	CHECK(!p.a.event_pending());
}

/* UC, UD: an error of the send queue stops only that; receiving goes on, and RTS mends it (10.3.1.6). */
void send_queue_error(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	Wr bad = p.send_wr(0, 8);
	bad.sg[0].lkey ^= 0x7700;
	bad.id = 1;
	p.a.send(bad);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR, .id = 1});
	CHECK_EQ(p.a.state(), IBV_QPS_SQE);
	Wr wr = p.send_wr(0, 8);
	wr.id = 2;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_WR_FLUSH_ERR, .id = 2});
	p.a.recv({p.a.sge(4096, 100)}, 3);
	Wr back;
	back.sg = {p.b.sge(0, 8)};
	Ah way;
	if (type == IBV_QPT_UD) {
		way = p.b.ah_to(p.a);
		back.ah = way.get();
		back.qpn = p.a.qpn();
		back.qkey = p.a.opt.qkey;
	}
	p.b.send(back);
	p.b.expect({});
	p.a.expect({.opcode = IBV_WC_RECV, .id = 3});
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.cur_qp_state = IBV_QPS_SQE;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
	p.b.recv({p.b.sge(0, 100)}, 4);
	wr.id = 5;
	p.a.send(wr);
	p.a.expect({.id = 5});
	/* UC: the PSNs go on where they stood, and the peer may be behind. */
	if (type == IBV_QPT_UD)
		p.b.expect_recv({.id = 4});
}

/* A QP that goes into error under an SRQ tells when the SRQ is no longer its own. */
void last_wqe(const Env &env)
{
	EndOptions o;
	o.srq_wr = 16;
	Pair p(env, o);
	p.b.recv({p.b.sge(0, 64)});
	p.b.to(IBV_QPS_ERR);
	p.b.expect_event(IBV_EVENT_QP_LAST_WQE_REACHED);
	p.b.expect_none();
}

/* The receive in hand is completed before the QP tells that it takes nothing more from the SRQ. */
void last_wqe_in_hand(const Env &env)
{
	constexpr size_t half = 1 << 17;
	EndOptions o;
	o.srq_wr = 16;
	o.memory = 2 * half;
	Pair p(env, o);
	p.b.recv({p.b.sge(0, 2 * half)}, 3);
	p.a.mem.at()[0] = 0x5a;
	p.b.mem.at()[0] = 0;
	/* The second half is never sent. */
	Wr wr = p.send_wr(0, half);
	wr.sg.push_back(p.a.sge(half, half));
	wr.sg.back().lkey ^= 0x3300;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR});
	const volatile uint8_t *first = p.b.mem.at();
	for (int ms = 0; *first != 0x5a; ms++) {
		CHECK(ms < 20000);
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	CHECK(!p.b.event_pending());
	p.b.to(IBV_QPS_ERR);
	p.b.expect_event(IBV_EVENT_QP_LAST_WQE_REACHED);
	ibv_wc wc{};
	CHECK_EQ(ibv_poll_cq(p.b.cq.get(), 1, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(wc.wr_id, 3u);
	p.b.expect_none();
}

/* RTS -> RTS changes what it may. */
void change_in_rts(const Env &env)
{
	EndOptions o;
	o.qp_access = IBV_ACCESS_LOCAL_WRITE;
	Pair p(env, o);
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	/* those of a region, too, which mean nothing to a QP */
	attr.qp_access_flags =
		all_access | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | IBV_ACCESS_ZERO_BASED;
	attr.min_rnr_timer = 7;
	p.b.modify(attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER);
	CHECK_EQ(p.b.query().min_rnr_timer, 7);
	fill(p.a.mem.bytes(0, 100), 1);
	p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 100));
	p.a.expect({});
	check_filled(p.b.mem.bytes(0, 100), 1);
}

/* A QP is destroyed while requests are under way in both directions. */
void destroy_under_way(const Env &env)
{
	for (int i = 0; i < 20; i++) {
		EndOptions o;
		o.memory = 1 << 20;
		o.timeout = 8;
		o.retry = 1;
		Pair p(env, o);
		for (unsigned n = 0; n < 20; n++) {
			p.a.send(p.rdma_wr(n & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0,
					   1 << 18));
			Wr back;
			back.op = IBV_WR_RDMA_WRITE;
			back.sg = {p.b.sge(0, 1 << 18)};
			back.addr = p.a.mem.addr();
			back.rkey = p.a.mem.rkey();
			p.b.send(back);
		}
		(i & 1 ? p.a : p.b).qp.reset();
	}
}

} // namespace

void add_states(Suite &suite)
{
	for (auto type : types) {
		std::string t = type_name(type);
		suite.add("state.query." + t, [=](Env &env) { query(env, type); });
		suite.add("state.query_psn." + t, [=](Env &env) { query_psn(env, type); });
		suite.add("state.receive_in_rtr." + t,
			  [=](Env &env) { receive_in_rtr(env, type); });
		suite.add("state.flush." + t, [=](Env &env) { flush(env, type); });
		suite.add("state.reset." + t, [=](Env &env) { reset(env, type); });
		suite.add("state.drain." + t, [=](Env &env) { drain(env, type); });
		if (type != IBV_QPT_RC)
			suite.add("state.sqe." + t, [=](Env &env) { send_queue_error(env, type); });
	}
	for (const auto &t : bad_changes)
		suite.add(std::string("state.refused.") + t.name,
			  [=](Env &env) { bad_change(env, t); });
	suite.add("state.posting", posting);
	suite.add("state.flush_under_way", flush_under_way);
	suite.add("state.drain_large.uc", drain_large);
	suite.add("state.drain_quietly", drain_quietly);
	suite.add("state.drain_unfinished", drain_unfinished);
	suite.add("state.rnr_timer_of_rts", rnr_timer_of_rts);
	suite.add("state.change_in_sqd", change_in_sqd);
	suite.add("state.port_in_sqd", port_in_sqd);
	suite.add("state.change_in_rts", change_in_rts);
	suite.add("state.last_wqe_reached", last_wqe);
	suite.add("state.last_wqe_in_hand", last_wqe_in_hand);
	suite.add("state.destroy_under_way", destroy_under_way);
}

} // namespace ops
