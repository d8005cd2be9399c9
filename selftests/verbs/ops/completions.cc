// SPDX-License-Identifier: GPL-2.0
/* Completion queues: events, solicited events, overflow, resizing, vectors, extended polling. */
#include <arpa/inet.h>
#include <sched.h>

#include "end.h"
#include "probe.h"
#include "suites.h"

namespace ops {

namespace {

void arm(End &e, bool solicited_only)
{
	if (ibv_req_notify_cq(e.rcq ? e.rcq.get() : e.cq.get(), solicited_only))
		FAIL("ibv_req_notify_cq fails");
}

void message(Pair &p, unsigned flags)
{
	Wr wr = p.send_wr(0, 8);
	wr.flags |= flags;
	p.a.send(wr);
	p.a.expect({});
	p.b.expect_recv({});
}

void event(const Env &env)
{
	Pair p(env);
	for (int i = 0; i < 5; i++) {
		p.b.recv({p.b.sge(0, 64)});
		arm(p.b, false);
		CHECK(!p.b.cq_event_pending());
		message(p, 0);
		p.b.expect_cq_event();
		/* One event for one arming. */
		p.b.recv({p.b.sge(0, 64)});
		message(p, 0);
		CHECK(!p.b.cq_event_pending());
	}
}

/* Armed for solicited completions: an ordinary one is silent, a solicited one and an error are not. */
void solicited(const Env &env, ibv_qp_type type)
{
	EndOptions o;
	o.type = type;
	Pair p(env, o);
	for (int i = 0; i < 4; i++)
		p.b.recv({p.b.sge(0, 100)});
	arm(p.b, true);
	message(p, 0);
	message(p, 0);
	CHECK(!p.b.cq_event_pending());
	message(p, IBV_SEND_SOLICITED);
	p.b.expect_cq_event();
	arm(p.b, true);
	p.b.to(IBV_QPS_ERR);
	p.b.expect_cq_event();
	p.b.expect_recv({.status = IBV_WC_WR_FLUSH_ERR});
}

/* Arming for any completion is not undone by arming for solicited ones. */
void arm_both(const Env &env)
{
	Pair p(env);
	p.b.recv({p.b.sge(0, 64)});
	arm(p.b, false);
	arm(p.b, true);
	message(p, 0);
	p.b.expect_cq_event();
}

/* Completions of sends raise events as well. */
void send_event(const Env &env)
{
	Pair p(env);
	arm(p.a, false);
	p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8));
	p.a.expect_cq_event();
	p.a.expect({});
}

/* More completions than there is room for: the CQ fails, and so do its QPs (11.6.3.1). */
void overflow(const Env &env)
{
	EndOptions o;
	o.cqe = 4;
	Pair p(env, o);
	unsigned room = p.a.cq->cqe;
	for (unsigned i = 0; i < room + 40; i++) {
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8);
		wr.id = i;
		if (p.a.try_send(wr)) {
			/* The send queue is the shorter one: it is not what this is about. */
			CHECK(i > room);
			break;
		}
	}
	/* The two events come in either order. */
	bool cq = false, qp = false;
	for (int i = 0; i < 2; i++) {
		ibv_async_event e{};
		while (!p.a.event_pending())
			;
		CHECK_EQ(ibv_get_async_event(p.a.dev.ctx.get(), &e), 0);
		ibv_ack_async_event(&e);
		cq |= e.event_type == IBV_EVENT_CQ_ERR;
		qp |= e.event_type == IBV_EVENT_QP_FATAL;
	}
	CHECK(cq);
	CHECK(qp);
	CHECK_EQ(p.a.state(), IBV_QPS_ERR);
}

/* Resizing keeps what is in the CQ, in order, and goes on. */
void resize(const Env &env)
{
	EndOptions o;
	o.cqe = 16;
	Pair p(env, o);
	unsigned id = 0, seen = 0;
	for (int entries : {16, 60, 20, 200, 9}) {
		for (int i = 0; i < 8; i++) {
			Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8);
			wr.id = id++;
			p.a.send(wr);
		}
		/* An RDMA READ behind them: they have completed when it has. */
		Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 8);
		wr.id = id++;
		p.a.send(wr);
		for (int spin = 0; spin < 3; spin++)
			p.a.expect({.id = seen++});
		if (int err = ibv_resize_cq(p.a.cq.get(), entries)) {
			if (err == ENOSYS || err == EOPNOTSUPP)
				throw Skip("not supported");
			/* Too small for what is in it is a reason. */
			CHECK(entries < 16);
		} else {
			CHECK(p.a.cq->cqe >= entries);
		}
		while (seen < id)
			p.a.expect({.id = seen++});
	}
	p.a.expect_none();
}

void resize_too_small(const Env &env)
{
	EndOptions o;
	o.cqe = 64;
	Pair p(env, o);
	for (unsigned i = 0; i < 39; i++)
		p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8));
	/* They are all in the CQ, unpolled, when what a READ behind them has brought is there. */
	memset(p.a.mem.at(4096), 0, 8);
	memset(p.b.mem.at(4096), 7, 8);
	p.a.send(p.rdma_wr(IBV_WR_RDMA_READ, 4096, 8));
	while (*static_cast<volatile uint8_t *>(p.a.mem.at(4096 + 7)) != 7)
		;
	CHECK_EQ(p.a.state(), IBV_QPS_RTS);
	CHECK(ibv_resize_cq(p.a.cq.get(), 4) != 0);
	for (unsigned i = 0; i < 40; i++)
		p.a.expect({});
}

/* Thousands of unpolled entries move in order, also while more of them come. */
void resize_many(const Env &env)
{
	constexpr unsigned many = 3000;
	EndOptions o;
	o.cap.max_send_wr = 2 * many;
	o.cqe = 3 * many;
	Pair p(env, o);
	for (unsigned i = 0; i < many; i++) {
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8);
		wr.id = i;
		p.a.send(wr);
	}
	p.a.expect({.id = 0});
	for (int entries : {5 * many, 2 * many, 4 * many})
		CHECK_EQ(ibv_resize_cq(p.a.cq.get(), entries), 0);
	for (unsigned i = 1; i < many; i++)
		p.a.expect({.id = i});
	p.a.expect_none();
}

/* The event waits for a number of entries, or for a time. */
void moderation(const Env &env)
{
	Pair p(env);
	ibv_modify_cq_attr attr{};
	attr.attr_mask = IBV_CQ_ATTR_MODERATE;
	attr.moderate = {4, 65535};
	int err = ibv_modify_cq(p.a.cq.get(), &attr);
	if (err == EOPNOTSUPP || err == ENOSYS)
		throw Skip("not supported");
	CHECK_EQ(err, 0);
	/* One entry: held back at least once, however slow this machine is, and always told of in the end. */
	bool held = false;
	for (int i = 0; i < 200 && !held; i++) {
		arm(p.a, false);
		p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8));
		p.a.expect({});
		held = !p.a.cq_event_pending();
		p.a.expect_cq_event();
	}
	CHECK(held);
	/* Four: at once, and one event for all of them. */
	arm(p.a, false);
	for (int i = 0; i < 4; i++)
		p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8));
	p.a.expect_cq_event();
	for (int i = 0; i < 4; i++)
		p.a.expect({});
	CHECK(!p.a.cq_event_pending());
	/* None of this without a period, or for a single entry. */
	for (ibv_moderate_cq off : {ibv_moderate_cq{4, 0}, ibv_moderate_cq{1, 65535}}) {
		attr.moderate = off;
		CHECK_EQ(ibv_modify_cq(p.a.cq.get(), &attr), 0);
		arm(p.a, false);
		p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8));
		p.a.expect({});
		p.a.expect_cq_event();
	}
}

/* To ignore overruns means to overwrite what was not polled: pib does not. */
void ignore_overrun(const Env &env)
{
	Device dev = env.open_a();
	ibv_cq_init_attr_ex attr{};
	attr.cqe = 16;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	errno = 0;
	CHECK(!ibv_create_cq_ex(dev.ctx.get(), &attr));
	CHECK_EQ(errno, EOPNOTSUPP);
}

void refused(const Env &env)
{
	Device dev = env.open_a();
	CHECK(!ibv_create_cq(dev.ctx.get(), 0, nullptr, nullptr, 0));
	CHECK(!ibv_create_cq(dev.ctx.get(), dev.device_attr.orig_attr.max_cqe + 1, nullptr, nullptr,
			     0));
	CHECK(!ibv_create_cq(dev.ctx.get(), 16, nullptr, nullptr, dev.ctx->num_comp_vectors));
	CHECK(!ibv_create_cq(dev.ctx.get(), 16, nullptr, nullptr, -1));
}

/* One completion with its event, of a CQ on vector @v. */
void event_on_vector(const Env &env, int v)
{
	Pair p(env);
	Cq cq(made(ibv_create_cq(p.a.dev.ctx.get(), 16, nullptr, p.a.channel.get(), v),
		   "ibv_create_cq"));
	p.a.qp.reset();
	ibv_qp_init_attr attr{};
	attr.send_cq = attr.recv_cq = cq.get();
	attr.cap = {8, 8, 1, 1, 0};
	attr.qp_type = IBV_QPT_RC;
	std::swap(p.a.cq, cq);
	p.a.qp.reset(made(ibv_create_qp(p.a.pd.get(), &attr), "ibv_create_qp"));
	p.b.to(IBV_QPS_RESET);
	p.connect();
	arm(p.a, false);
	p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8));
	p.a.expect_cq_event();
	p.a.expect({});
	p.a.qp.reset();
	std::swap(p.a.cq, cq);
	cq.reset();
}

/* A CQ on each vector gets its events. */
void vectors(const Env &env)
{
	int n = env.open_a().ctx->num_comp_vectors;
	for (int v = 0; v < n; v++)
		event_on_vector(env, v);
}

void run_on(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* Vector n is CPU n, wherever the work request was posted. */
void vector_is_cpu(const Env &env)
{
	int n = env.open_a().ctx->num_comp_vectors;
	if (n < 2)
		throw Skip("one vector");
	Probe upcall("ib_uverbs_comp_handler");
	for (int cpu = 0; cpu < n; cpu++) {
		run_on(cpu);
		for (int v = 0; v < n; v++) {
			upcall.clear();
			event_on_vector(env, v);
			auto cpus = upcall.cpus();
			CHECK_EQ(cpus.size(), 1u);
			CHECK_EQ(cpus.at(0), v);
		}
	}
}

/* Polling several at a time, and what ibv_poll_cq() does with a count of 0. */
void poll_many(const Env &env)
{
	Pair p(env);
	for (unsigned i = 0; i < 30; i++) {
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8);
		wr.id = i;
		p.a.send(wr);
	}
	ibv_wc wc[7]{};
	CHECK_EQ(ibv_poll_cq(p.a.cq.get(), 0, wc), 0);
	for (unsigned seen = 0; seen < 30;) {
		int n = ibv_poll_cq(p.a.cq.get(), 7, wc);
		CHECK(n >= 0 && n <= 7);
		for (int i = 0; i < n; i++)
			CHECK_EQ(wc[i].wr_id, seen++);
	}
}

/* The extended CQ tells all it was asked to, and time goes forward. */
void extended(const Env &env)
{
	EndOptions o;
	Pair p(env, o, o, false);
	ibv_cq_init_attr_ex attr{};
	attr.cqe = 64;
	attr.wc_flags = uint64_t(IBV_WC_STANDARD_FLAGS) | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	ibv_cq_ex *cqx = made(ibv_create_cq_ex(p.b.dev.ctx.get(), &attr), "ibv_create_cq_ex");
	p.b.qp.reset();
	std::unique_ptr<ibv_cq, Destroy<ibv_destroy_cq>> cq(ibv_cq_ex_to_cq(cqx));
	ibv_qp_init_attr qa{};
	qa.send_cq = qa.recv_cq = cq.get();
	qa.cap = p.b.opt.cap;
	qa.qp_type = IBV_QPT_RC;
	p.b.qp.reset(made(ibv_create_qp(p.b.pd.get(), &qa), "ibv_create_qp"));
	p.connect();
	ibv_poll_cq_attr pa{};
	CHECK_EQ(ibv_start_poll(cqx, &pa), ENOENT);
	uint64_t before = 0;
	for (unsigned i = 0; i < 20; i++) {
		p.b.recv({p.b.sge(0, 64)}, 40 + i);
		Wr wr = p.send_wr(0, 10 + i, IBV_WR_SEND_WITH_IMM);
		wr.imm = 900 + i;
		p.a.send(wr);
		p.a.expect({});
		while (int err = ibv_start_poll(cqx, &pa))
			CHECK_EQ(err, ENOENT);
		CHECK_EQ(cqx->status, IBV_WC_SUCCESS);
		CHECK_EQ(cqx->wr_id, 40 + i);
		CHECK_EQ(ibv_wc_read_opcode(cqx), IBV_WC_RECV);
		CHECK_EQ(ibv_wc_read_byte_len(cqx), 10 + i);
		CHECK_EQ(ntohl(ibv_wc_read_imm_data(cqx)), 900 + i);
		CHECK_EQ(ibv_wc_read_qp_num(cqx), p.b.qpn());
		CHECK_EQ(ibv_wc_read_wc_flags(cqx), unsigned(IBV_WC_WITH_IMM));
		uint64_t now = ibv_wc_read_completion_ts(cqx);
		CHECK(now > before);
		before = now;
		CHECK_EQ(ibv_next_poll(cqx), ENOENT);
		ibv_end_poll(cqx);
	}
	ibv_values_ex values{};
	values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	CHECK_EQ(ibv_query_rt_values_ex(p.b.dev.ctx.get(), &values), 0);
	CHECK(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK);
	CHECK(uint64_t(values.raw_clock.tv_sec) * 1000000000 + values.raw_clock.tv_nsec >= before);
	p.b.qp.reset();
}

/* Completions of a QP that is gone: not those of another on the same CQ. */
void destroyed_qp(const Env &env)
{
	Pair p(env);
	p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8));
	p.a.expect({});
	ibv_qp_init_attr attr{};
	attr.send_cq = attr.recv_cq = p.a.cq.get();
	attr.cap = {8, 8, 1, 1, 0};
	attr.qp_type = IBV_QPT_RC;
	for (int i = 0; i < 20; i++) {
		Qp other(made(ibv_create_qp(p.a.pd.get(), &attr), "ibv_create_qp"));
		p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8));
		other.reset();
		p.a.expect({});
	}
	p.a.expect_none();
}

/* A CQ in use cannot be destroyed, nor can a PD. */
void busy(const Env &env)
{
	Pair p(env);
	CHECK(ibv_destroy_cq(p.a.cq.get()) != 0);
	CHECK(ibv_dealloc_pd(p.a.pd.get()) != 0);
	p.ping();
}

} // namespace

void add_completions(Suite &suite)
{
	suite.add("cq.event", event);
	suite.add("cq.solicited.rc", [](Env &env) { solicited(env, IBV_QPT_RC); });
	suite.add("cq.solicited.ud", [](Env &env) { solicited(env, IBV_QPT_UD); });
	suite.add("cq.arm_both", arm_both);
	suite.add("cq.send_event", send_event);
	suite.add("cq.overflow", overflow);
	suite.add("cq.resize", resize);
	suite.add("cq.resize_too_small", resize_too_small);
	suite.add("cq.resize_many", resize_many);
	suite.add("cq.moderation", moderation);
	suite.add("cq.ignore_overrun", ignore_overrun);
	suite.add("cq.refused", refused);
	suite.add("cq.vectors", vectors);
	suite.add("cq.vector_is_cpu", vector_is_cpu);
	suite.add("cq.poll_many", poll_many);
	suite.add("cq.extended", extended);
	suite.add("cq.destroyed_qp", destroyed_qp);
	suite.add("cq.busy", busy);
}

} // namespace ops
