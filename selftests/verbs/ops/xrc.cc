// SPDX-License-Identifier: GPL-2.0
/* XRC: initiator and target QPs, domains, SRQs named by the sender (annex A14). */
#include <atomic>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "end.h"
#include "suites.h"
#include "wire.h"

namespace ops {

namespace {

/* The target's side: a domain with an SRQ, and the target QP. */
struct Target {
	Target(const Env &env, int fd = -1) : dev(env.open_b())
	{
		pd.reset(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
		cq.reset(made(ibv_create_cq(dev.ctx.get(), 64, nullptr, nullptr, 0),
			      "ibv_create_cq"));
		ibv_xrcd_init_attr xa{};
		xa.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
		xa.fd = fd;
		xa.oflags = O_CREAT;
		xrcd.reset(made(ibv_open_xrcd(dev.ctx.get(), &xa), "ibv_open_xrcd"));
		srq = make_srq();
		mem = Memory(pd.get(), 1 << 16);
		ibv_qp_init_attr_ex qa{};
		qa.qp_type = IBV_QPT_XRC_RECV;
		qa.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		qa.xrcd = xrcd.get();
		qp.reset(made(ibv_create_qp_ex(dev.ctx.get(), &qa), "ibv_create_qp"));
	}

	Srq make_srq()
	{
		ibv_srq_init_attr_ex sa{};
		sa.attr.max_wr = 32;
		sa.attr.max_sge = 2;
		sa.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			       IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		sa.srq_type = IBV_SRQT_XRC;
		sa.pd = pd.get();
		sa.xrcd = xrcd.get();
		sa.cq = cq.get();
		return Srq(made(ibv_create_srq_ex(dev.ctx.get(), &sa), "ibv_create_srq"));
	}

	static uint32_t number(const Srq &srq)
	{
		uint32_t n = 0;
		CHECK_EQ(ibv_get_srq_num(srq.get(), &n), 0);
		return n;
	}

	void recv(const Srq &to, size_t offset, size_t length, uint64_t id)
	{
		ibv_sge sge = mem.sge(offset, length);
		ibv_recv_wr wr{id, nullptr, &sge, 1}, *bad = nullptr;
		CHECK_EQ(ibv_post_srq_recv(to.get(), &wr, &bad), 0);
	}

	Device dev;
	Pd pd;
	Cq cq;
	Xrcd xrcd;
	Srq srq;
	Memory mem;
	Qp qp;
};

constexpr uint32_t psn = 0x4321;

/* The initiator is an End whose QP is of the sending kind. */
struct Xrc {
	explicit Xrc(const Env &env, int fd = -1) : target(env, fd), a(env.open_a(), {})
	{
		ibv_qp_init_attr_ex qa{};
		qa.qp_type = IBV_QPT_XRC_SEND;
		qa.send_cq = a.cq.get();
		qa.cap = {64, 0, 4, 0, 0};
		qa.pd = a.pd.get();
		qa.comp_mask = IBV_QP_INIT_ATTR_PD;
		a.qp.reset(made(ibv_create_qp_ex(a.dev.ctx.get(), &qa), "ibv_create_qp"));
		connect(a.qp.get(), a.dev, target.qp->qp_num, target.dev);
		connect(target.qp.get(), target.dev, a.qpn(), a.dev);
	}

	static void connect(ibv_qp *qp, const Device &from, uint32_t qpn, const Device &to)
	{
		bool sends = qp->qp_type == IBV_QPT_XRC_SEND;
		ibv_qp_attr attr{};
		attr.qp_state = IBV_QPS_INIT;
		attr.port_num = from.port;
		attr.qp_access_flags = sends ? 0 : all_access;
		CHECK_EQ(ibv_modify_qp(qp, &attr,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS),
			 0);
		attr = {};
		attr.qp_state = IBV_QPS_RTR;
		attr.path_mtu = from.port_attr.active_mtu;
		attr.dest_qp_num = qpn;
		attr.rq_psn = psn;
		attr.max_dest_rd_atomic = 4;
		attr.min_rnr_timer = 1;
		attr.ah_attr.dlid = to.port_attr.lid;
		attr.ah_attr.port_num = from.port;
		int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN;
		CHECK_EQ(ibv_modify_qp(qp, &attr,
				       sends ? mask
					     : mask | IBV_QP_MAX_DEST_RD_ATOMIC |
						       IBV_QP_MIN_RNR_TIMER),
			 0);
		attr = {};
		attr.qp_state = IBV_QPS_RTS;
		attr.sq_psn = psn;
		attr.timeout = 14;
		attr.retry_cnt = 7;
		attr.rnr_retry = 7;
		attr.max_rd_atomic = 4;
		mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT;
		CHECK_EQ(ibv_modify_qp(qp, &attr,
				       sends ? mask | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						       IBV_QP_MAX_QP_RD_ATOMIC
					     : mask),
			 0);
	}

	Wr wr(ibv_wr_opcode op, uint32_t srqn, size_t length)
	{
		Wr w;
		w.op = op;
		w.sg = {a.sge(0, length)};
		w.srqn = srqn;
		w.addr = target.mem.addr();
		w.rkey = target.mem.rkey();
		return w;
	}

	ibv_wc received() { return a.completion(target.cq.get()); }

	Target target;
	End a;
};

void send(const Env &env, ibv_wr_opcode op)
{
	Xrc x(env);
	uint32_t srqn = Target::number(x.target.srq);
	for (size_t length : {0, 1, 4096, 4097, 30000}) {
		fill(x.a.mem.bytes(0, length), length);
		x.target.recv(x.target.srq, 0, 32768, length);
		Wr wr = x.wr(op, srqn, length);
		wr.imm = 33;
		x.a.send(wr);
		x.a.expect({});
		ibv_wc wc = x.received();
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.wr_id, length);
		CHECK_EQ(wc.byte_len, length);
		CHECK_EQ(wc.qp_num, x.target.qp->qp_num);
		CHECK_EQ(bool(wc.wc_flags & IBV_WC_WITH_IMM), op != IBV_WR_SEND);
		check_filled(x.target.mem.bytes(0, length), length);
	}
}

void rdma(const Env &env)
{
	Xrc x(env);
	fill(x.a.mem.bytes(0, 40000), 1);
	x.a.send(x.wr(IBV_WR_RDMA_WRITE, Target::number(x.target.srq), 40000));
	x.a.expect({.opcode = IBV_WC_RDMA_WRITE});
	check_filled(x.target.mem.bytes(0, 40000), 1);
	memset(x.a.mem.at(), 0, 40000);
	x.a.send(x.wr(IBV_WR_RDMA_READ, Target::number(x.target.srq), 40000));
	x.a.expect({.opcode = IBV_WC_RDMA_READ});
	check_filled(x.a.mem.bytes(0, 40000), 1);
	Wr add = x.wr(IBV_WR_ATOMIC_FETCH_AND_ADD, Target::number(x.target.srq), 8);
	add.compare_add = 5;
	auto *word = reinterpret_cast<uint64_t *>(x.target.mem.at());
	*word = 10;
	x.a.send(add);
	x.a.expect({.opcode = IBV_WC_FETCH_ADD});
	CHECK_EQ(*word, 15u);
}

/* Two SRQs of the domain: each message goes where it says. */
void two_queues(const Env &env)
{
	Xrc x(env);
	Srq second = x.target.make_srq();
	for (unsigned i = 0; i < 20; i++) {
		const Srq &to = i & 1 ? second : x.target.srq;
		x.target.recv(to, 0, 64, i);
		x.a.send(x.wr(IBV_WR_SEND, Target::number(to), 8));
		x.a.expect({});
		CHECK_EQ(x.received().wr_id, i);
	}
}

/* An SRQ that is none, or of another domain. */
void wrong_queue(const Env &env, bool other_domain)
{
	Xrc x(env);
	Wire wire(env.capture);
	Target other(env);
	uint32_t srqn = other_domain ? Target::number(other.srq) : 0xfffff0;
	x.target.recv(x.target.srq, 0, 64, 1);
	x.a.send(x.wr(IBV_WR_SEND, srqn, 8));
	x.a.expect({.status = IBV_WC_REM_INV_REQ_ERR});
	wire.expect_nak(x.a.qpn(), nak_invalid_request);
}

/* Numbers of SRQs that are not for XRC, which come and go meanwhile: nobody is to find them. */
void basic_queues(const Env &env)
{
	Device dev = env.open_b();
	Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
	std::atomic<bool> stop = false;
	std::thread churn([&] {
		while (!stop) {
			ibv_srq_init_attr sa{nullptr, {8, 1, 0}};
			ibv_srq *srq = ibv_create_srq(pd.get(), &sa);
			if (srq)
				ibv_destroy_srq(srq);
		}
	});
	try {
		for (unsigned i = 0; i < 20; i++) {
			Xrc x(env);
			uint32_t srqn = Target::number(x.target.srq) + 1 + i % 4;
			x.a.send(x.wr(IBV_WR_SEND, srqn, 8));
			x.a.expect({.status = IBV_WC_REM_INV_REQ_ERR});
		}
	} catch (...) {
		stop = true;
		churn.join();
		throw;
	}
	stop = true;
	churn.join();
}

void wrong_key(const Env &env)
{
	Xrc x(env);
	auto event = [&] {
		ibv_async_event e{};
		CHECK(!ibv_get_async_event(x.target.dev.ctx.get(), &e));
		ibv_ack_async_event(&e);
		return e.event_type;
	};
	Wr wr = x.wr(IBV_WR_RDMA_WRITE, Target::number(x.target.srq), 8);
	wr.rkey ^= 0x4400;
	x.a.send(wr);
	x.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	/* The target takes nothing from SRQs any more, and says so. */
	CHECK_EQ(event(), IBV_EVENT_QP_ACCESS_ERR);
	CHECK_EQ(event(), IBV_EVENT_QP_LAST_WQE_REACHED);
}

/* An empty SRQ is waited for. */
void empty(const Env &env)
{
	Xrc x(env);
	x.a.send(x.wr(IBV_WR_SEND, Target::number(x.target.srq), 8));
	x.target.recv(x.target.srq, 0, 64, 9);
	x.a.expect({});
	CHECK_EQ(x.received().wr_id, 9u);
}

/* The domain of a file is one and the same for all who open it, in other processes too. */
void shared_domain(const Env &env)
{
	char path[] = "/tmp/pib-xrcd.XXXXXX";
	int fd = mkstemp(path);
	CHECK(fd >= 0);
	unlink(path);
	Xrc x(env, fd);
	int to_child[2], from_child[2];
	CHECK(!pipe(to_child) && !pipe(from_child));
	pid_t pid = fork();
	if (pid == 0) {
		/* An SRQ of this process's, in the domain of the target QP that is the parent's. */
		char c = 1;
		try {
			Target mine(env, fd);
			mine.recv(mine.srq, 0, 64, 77);
			uint32_t n = Target::number(mine.srq);
			c = write(from_child[1], &n, sizeof(n)) != sizeof(n);
			ibv_wc wc = x.a.completion(mine.cq.get());
			c |= wc.status != IBV_WC_SUCCESS || wc.wr_id != 77;
			check_filled(mine.mem.bytes(0, 50), 12);
		} catch (const std::exception &e) {
			c = 1;
		}
		_exit(c);
	}
	close(from_child[1]);
	uint32_t srqn = 0;
	bool told = read(from_child[0], &srqn, sizeof(srqn)) == sizeof(srqn);
	if (told) {
		fill(x.a.mem.bytes(0, 50), 12);
		x.a.send(x.wr(IBV_WR_SEND, srqn, 50));
		x.a.expect({});
	}
	int status = 1;
	waitpid(pid, &status, 0);
	CHECK(told);
	CHECK_EQ(status, 0);
	close(fd);
}

/* No room in the CQ of the SRQ: the CQ fails, and so does the target QP (11.6.3.1). */
void overflow(const Env &env)
{
	Xrc x(env);
	ibv_context *ctx = x.target.dev.ctx.get();
	int room = x.target.cq->cqe;
	for (int i = 0; i <= room; i++) {
		x.target.recv(x.target.srq, 0, 64, i);
		x.a.send(x.wr(IBV_WR_SEND, Target::number(x.target.srq), 8));
		if (i < room)
			x.a.expect({});
	}
	/* The events come in any order. */
	bool cq = false, qp = false, last = false;
	for (int i = 0; i < 3; i++) {
		pollfd p{ctx->async_fd, POLLIN, 0};
		ibv_async_event e{};
		CHECK_EQ(poll(&p, 1, 20000), 1);
		CHECK_EQ(ibv_get_async_event(ctx, &e), 0);
		ibv_ack_async_event(&e);
		cq |= e.event_type == IBV_EVENT_CQ_ERR;
		qp |= e.event_type == IBV_EVENT_QP_FATAL;
		last |= e.event_type == IBV_EVENT_QP_LAST_WQE_REACHED;
	}
	CHECK(cq);
	CHECK(qp);
	CHECK(last);
	ibv_qp_attr attr{};
	ibv_qp_init_attr init{};
	CHECK_EQ(ibv_query_qp(x.target.qp.get(), &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_ERR);
}

/* Receives cannot be posted to either QP, sends not to the target. */
void posting(const Env &env)
{
	Xrc x(env);
	ibv_sge sge = x.a.sge(0, 8);
	ibv_recv_wr rwr{1, nullptr, &sge, 1}, *rbad = nullptr;
	CHECK(ibv_post_recv(x.a.qp.get(), &rwr, &rbad) != 0);
}

} // namespace

void add_xrc(Suite &suite)
{
	suite.add("xrc.send", [](Env &env) { send(env, IBV_WR_SEND); });
	suite.add("xrc.send_imm", [](Env &env) { send(env, IBV_WR_SEND_WITH_IMM); });
	suite.add("xrc.rdma", rdma);
	suite.add("xrc.two_queues", two_queues);
	suite.add("xrc.no_such_queue", [](Env &env) { wrong_queue(env, false); });
	suite.add("xrc.queue_of_other_domain", [](Env &env) { wrong_queue(env, true); });
	suite.add("xrc.queue_of_no_domain", basic_queues);
	suite.add("xrc.wrong_rkey", wrong_key);
	suite.add("xrc.empty_queue", empty);
	suite.add("xrc.shared_domain", shared_domain);
	suite.add("xrc.overflow", overflow);
	suite.add("xrc.posting", posting);
}

} // namespace ops
