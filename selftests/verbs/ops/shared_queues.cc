// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues (10.2.9). */
#include <atomic>
#include <chrono>
#include <thread>

#include "end.h"
#include "suites.h"

namespace ops {

namespace {

EndOptions options(int wr, ibv_qp_type type = IBV_QPT_RC)
{
	EndOptions o;
	o.srq_wr = wr;
	o.type = type;
	return o;
}

/* Receives of one queue serve several QPs, in the order they were posted. */
void several_qps(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(32, type));
	/* a second sender, whose peer is a QP on b's SRQ */
	EndOptions o;
	o.type = type;
	End sender(env.open_a(), o);
	ibv_qp_init_attr attr{};
	attr.send_cq = attr.recv_cq = p.b.cq.get();
	attr.srq = p.b.srq.get();
	attr.cap = {8, 0, 1, 0, 0};
	attr.qp_type = type;
	Qp first = std::move(p.b.qp);
	p.b.qp.reset(made(ibv_create_qp(p.b.pd.get(), &attr), "ibv_create_qp"));
	p.b.to_init();
	p.b.to_rtr(sender);
	p.b.to_rts();
	sender.to_init();
	sender.to_rtr(p.b);
	sender.to_rts();
	std::swap(first, p.b.qp);
	Ah way;
	uint32_t second_qpn = first->qp_num;
	if (type == IBV_QPT_UD)
		way = sender.ah_to(p.b);
	for (unsigned i = 0; i < 20; i++) {
		p.b.recv({p.b.sge(i * 128, 128)}, i);
		bool other = i % 3 == 0;
		Wr wr = p.send_wr(0, 8);
		if (other) {
			wr.sg = {sender.sge(0, 8)};
			wr.ah = way.get();
			wr.qpn = type == IBV_QPT_UD ? second_qpn : 0;
		}
		(other ? sender : p.a).send(wr);
		(other ? sender : p.a).expect({});
		ibv_wc wc = p.b.completion();
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.wr_id, i);
		CHECK_EQ(wc.qp_num, other ? second_qpn : p.b.qpn());
	}
	first.reset();
}

/* An empty SRQ: RC gets RNR and waits. */
void empty(const Env &env)
{
	Pair p(env, options(8));
	Wr wr = p.send_wr(0, 8);
	p.a.send(wr);
	p.b.recv({p.b.sge(0, 64)}, 5);
	p.a.expect({});
	p.b.expect({.id = 5});
	EndOptions oa;
	oa.rnr_retry = 0;
	Pair q(env, oa, options(8));
	q.a.send(q.send_wr(0, 8));
	q.a.expect({.status = IBV_WC_RNR_RETRY_EXC_ERR});
}

/* Every slot that was granted can be used, and no more. */
void full(const Env &env)
{
	Pair p(env, options(50));
	ibv_srq_attr attr{};
	CHECK_EQ(ibv_query_srq(p.b.srq.get(), &attr), 0);
	CHECK(attr.max_wr >= 50);
	for (int round = 0; round < 3; round++) {
		for (unsigned i = 0; i < attr.max_wr; i++)
			p.b.recv({p.b.sge(0, 64)}, i);
		CHECK_EQ(p.b.try_recv({p.b.sge(0, 64)}), ENOMEM);
		for (unsigned i = 0; i < attr.max_wr; i++) {
			p.a.send(p.send_wr(0, 8));
			p.a.expect({});
			p.b.expect({.id = i});
		}
	}
}

/* The event comes when fewer than the limit are left, once for each arming. */
void limit(const Env &env)
{
	Pair p(env, options(32));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 10; i++)
			p.b.recv({p.b.sge(0, 64)});
		ibv_srq_attr attr{};
		attr.srq_limit = 6;
		CHECK_EQ(ibv_modify_srq(p.b.srq.get(), &attr, IBV_SRQ_LIMIT), 0);
		CHECK_EQ(ibv_query_srq(p.b.srq.get(), &attr), 0);
		CHECK_EQ(attr.srq_limit, 6u);
		for (int i = 0; i < 4; i++) {
			p.a.send(p.send_wr(0, 8));
			p.a.expect({});
			p.b.expect({});
			CHECK(!p.b.event_pending());
		}
		p.a.send(p.send_wr(0, 8));
		p.a.expect({});
		p.b.expect({});
		p.b.expect_event(IBV_EVENT_SRQ_LIMIT_REACHED);
		/* Disarmed now. */
		CHECK_EQ(ibv_query_srq(p.b.srq.get(), &attr), 0);
		CHECK_EQ(attr.srq_limit, 0u);
		for (int i = 0; i < 5; i++) {
			p.a.send(p.send_wr(0, 8));
			p.a.expect({});
			p.b.expect({});
		}
		CHECK(!p.b.event_pending());
	}
}

/* Armed above what is there: the event comes at once. */
void limit_at_once(const Env &env)
{
	Pair p(env, options(32));
	for (int i = 0; i < 3; i++)
		p.b.recv({p.b.sge(0, 64)});
	ibv_srq_attr attr{};
	attr.srq_limit = 10;
	CHECK_EQ(ibv_modify_srq(p.b.srq.get(), &attr, IBV_SRQ_LIMIT), 0);
	p.a.send(p.send_wr(0, 8));
	p.a.expect({});
	p.b.expect({});
	p.b.expect_event(IBV_EVENT_SRQ_LIMIT_REACHED);
}

/* A limit is armed by modify alone; what creation says of it means nothing (ibv_create_srq(3)). */
void limit_at_creation(const Env &env, uint32_t limit)
{
	Pair p(env, options(32));
	ibv_srq_init_attr init{};
	init.attr = {.max_wr = 32, .max_sge = 1, .srq_limit = limit};
	Srq srq(made(ibv_create_srq(p.b.pd.get(), &init), "ibv_create_srq"));
	ibv_srq_attr attr{};
	CHECK_EQ(ibv_query_srq(srq.get(), &attr), 0);
	CHECK_EQ(attr.srq_limit, 0u);
	/* The queue that the QP takes from is this one. */
	p.b.qp.reset();
	std::swap(p.b.srq, srq);
	ibv_qp_init_attr qp{};
	qp.send_cq = qp.recv_cq = p.b.cq.get();
	qp.srq = p.b.srq.get();
	qp.cap = {8, 0, 1, 0, 0};
	qp.qp_type = IBV_QPT_RC;
	p.b.qp.reset(made(ibv_create_qp(p.b.pd.get(), &qp), "ibv_create_qp"));
	p.a.to(IBV_QPS_RESET);
	p.connect();
	for (int i = 0; i < 3; i++)
		p.ping();
	CHECK(!p.b.event_pending());
	attr.srq_limit = 6;
	CHECK_EQ(ibv_modify_srq(p.b.srq.get(), &attr, IBV_SRQ_LIMIT), 0);
	p.ping();
	p.b.expect_event(IBV_EVENT_SRQ_LIMIT_REACHED);
}

/* Resizing keeps what is posted, in order. */
void resize(const Env &env)
{
	if (!env.open_b().has(IBV_DEVICE_SRQ_RESIZE))
		throw Skip("not supported");
	Pair p(env, options(16));
	unsigned posted = 0, got = 0;
	for (unsigned size : {40, 200, 20, 17}) {
		for (int i = 0; i < 15; i++)
			p.b.recv({p.b.sge(0, 64)}, posted++);
		ibv_srq_attr attr{};
		attr.max_wr = size;
		CHECK_EQ(ibv_modify_srq(p.b.srq.get(), &attr, IBV_SRQ_MAX_WR), 0);
		CHECK_EQ(ibv_query_srq(p.b.srq.get(), &attr), 0);
		CHECK(attr.max_wr >= size);
		while (got < posted) {
			p.a.send(p.send_wr(0, 8));
			p.a.expect({});
			p.b.expect({.id = got++});
		}
	}
	/* Smaller than what is posted: refused, and nothing is lost. */
	ibv_srq_attr now{}, attr{};
	CHECK_EQ(ibv_query_srq(p.b.srq.get(), &now), 0);
	for (unsigned i = 0; i < now.max_wr; i++)
		p.b.recv({p.b.sge(0, 64)}, posted++);
	attr.max_wr = 1;
	CHECK(ibv_modify_srq(p.b.srq.get(), &attr, IBV_SRQ_MAX_WR) != 0);
	while (got < posted) {
		p.a.send(p.send_wr(0, 8));
		p.a.expect({});
		p.b.expect({.id = got++});
	}
}

/*
 * The queue is resized while another thread posts to it and a third one's messages empty it: nothing is
 * lost or given twice, and what is posted keeps its order.
 */
void resize_in_use(const Env &env)
{
	if (!env.open_b().has(IBV_DEVICE_SRQ_RESIZE))
		throw Skip("not supported");
	constexpr unsigned total = 4000;
	EndOptions o = options(16);
	o.cqe = 1024;
	Pair p(env, o);
	std::atomic<bool> stop = false;
	std::thread post([&] {
		unsigned posted = 0;
		while (posted < total && !stop)
			posted += !p.b.try_recv({p.b.sge(0, 64)}, posted);
	});
	std::string what;
	std::thread receive([&] {
		try {
			for (unsigned i = 0; i < total; i++) {
				p.a.send(p.send_wr(0, 8));
				p.a.expect({});
				p.b.expect({.id = i});
			}
		} catch (const std::exception &x) {
			what = x.what();
		}
		stop = true;
	});
	/* sizes that the ring has in turn: full most of the time, so the smaller ones are refused now and then */
	for (unsigned n = 0; !stop; n++) {
		ibv_srq_attr attr{};
		attr.max_wr = 16u << n % 11;
		ibv_modify_srq(p.b.srq.get(), &attr, IBV_SRQ_MAX_WR);
		/* the provider's lock is a spinlock, and not a fair one */
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	post.join();
	receive.join();
	if (!what.empty())
		FAIL(what);
}

/* A bad receive request ends the QP that got it, not the SRQ. */
void bad_receive(const Env &env)
{
	Pair p(env, options(16));
	ibv_sge bad = p.b.sge(0, 64);
	bad.lkey ^= 0x3300;
	p.b.recv({bad}, 1);
	p.b.recv({p.b.sge(0, 64)}, 2);
	p.a.send(p.send_wr(0, 8));
	p.a.expect({.status = IBV_WC_REM_OP_ERR});
	p.b.expect({.status = IBV_WC_LOC_PROT_ERR, .id = 1});
	p.b.expect_event(IBV_EVENT_QP_LAST_WQE_REACHED);
	p.b.expect_none();
	p.a.to(IBV_QPS_RESET);
	p.b.to(IBV_QPS_RESET);
	p.connect();
	p.a.send(p.send_wr(0, 8));
	p.a.expect({});
	p.b.expect({.id = 2});
}

/* Receive requests of a QP with an SRQ go to the SRQ alone. */
void post_to_qp(const Env &env)
{
	Pair p(env, options(16));
	ibv_sge sge = p.b.sge(0, 64);
	ibv_recv_wr wr{1, nullptr, &sge, 1}, *bad = nullptr;
	CHECK(ibv_post_recv(p.b.qp.get(), &wr, &bad) != 0);
}

void busy(const Env &env)
{
	Pair p(env, options(16));
	CHECK(ibv_destroy_srq(p.b.srq.get()) != 0);
	p.ping();
}

void refused(const Env &env)
{
	Device dev = env.open_a();
	Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
	ibv_srq_init_attr attr{};
	attr.attr.max_wr = dev.device_attr.orig_attr.max_srq_wr + 1;
	attr.attr.max_sge = 1;
	CHECK(!ibv_create_srq(pd.get(), &attr));
	attr.attr.max_wr = 10;
	attr.attr.max_sge = dev.device_attr.orig_attr.max_srq_sge + 1;
	CHECK(!ibv_create_srq(pd.get(), &attr));
	attr.attr.max_sge = 1;
	Srq srq(made(ibv_create_srq(pd.get(), &attr), "ibv_create_srq"));
	ibv_srq_attr limit{};
	limit.srq_limit = 100000;
	CHECK(ibv_modify_srq(srq.get(), &limit, IBV_SRQ_LIMIT) != 0);
}

} // namespace

void add_shared_queues(Suite &suite)
{
	suite.add("srq.several_qps.rc", [](Env &env) { several_qps(env, IBV_QPT_RC); });
	suite.add("srq.several_qps.ud", [](Env &env) { several_qps(env, IBV_QPT_UD); });
	suite.add("srq.empty", empty);
	suite.add("srq.full", full);
	suite.add("srq.limit", limit);
	suite.add("srq.limit_at_once", limit_at_once);
	suite.add("srq.limit_at_creation", [](Env &env) { limit_at_creation(env, 6); });
	suite.add("srq.limit_at_creation.beyond", [](Env &env) { limit_at_creation(env, 100000); });
	suite.add("srq.resize", resize);
	suite.add("srq.resize_in_use", resize_in_use);
	suite.add("srq.bad_receive", bad_receive);
	suite.add("srq.post_to_qp", post_to_qp);
	suite.add("srq.busy", busy);
	suite.add("srq.refused", refused);
}

} // namespace ops
