// SPDX-License-Identifier: GPL-2.0
/* The others are not to feel what one user does, on purpose or not. */
#include <atomic>
#include <csignal>
#include <fstream>
#include <iostream>
#include <poll.h>
#include <semaphore>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "counter.h"
#include "cpus.h"
#include "rings.h"
#include "slow.h"
#include "suites.h"

namespace ops {

namespace {

/* A second thread that posts as fast as what it posts is taken, so many at a time. */
class Refill {
public:
	Refill(Ring *ring, uint32_t most) :
		thread_([=, this] {
			while (!stop_)
				ring->producer = ring->consumer + most;
		})
	{
	}
	~Refill()
	{
		stop_ = true;
		thread_.join();
	}

private:
	std::atomic<bool> stop_ = false;
	std::thread thread_;
};

/*
 * Receives are posted as fast as those of a QP in error are flushed. A QP that was never done would
 * keep its CPU, and everybody whose QPs stand on that CPU's list.
 */
void refilled_queue(const Env &env)
{
	Pair p(env), other(env);
	Refill refill(ring_of([&] { p.b.recv({p.b.sge(0, 64)}); }), 8);
	p.b.to(IBV_QPS_ERR);
	for (int i = 0; i < 50; i++) {
		other.ping();
		CHECK_EQ(p.b.state(), IBV_QPS_ERR);
	}
}

/*
 * A second thread that fills a send queue up whenever something of it has completed, until @most are completed. It has to be on
 * the CPU of the CQ's vector, and comes there before who has made it: he goes on when it waits for the next completion.
 */
class RefillFirst {
public:
	RefillFirst(Ring *ring, uint32_t depth, uint32_t most, End &e) :
		thread_([=, this, &e] { run(ring, depth, most, e); })
	{
		waits_.acquire();
		stop_ = !comes_first_;
		CHECK_EQ(comes_first_, true);
	}
	~RefillFirst()
	{
		stop_ = true;
		thread_.join();
	}

private:
	void run(Ring *ring, uint32_t depth, uint32_t most, End &e)
	{
		const sched_param first{2};
		const uint32_t begin = ring->consumer;
		ibv_wc wc[64];

		comes_first_ = !sched_setscheduler(0, SCHED_FIFO, &first);
		for (bool told = false; !stop_; told = true) {
			ibv_req_notify_cq(e.cq.get(), 0);
			while (ibv_poll_cq(e.cq.get(), 64, wc) > 0)
				;
			if (ring->consumer - begin < most)
				ring->producer = ring->consumer + depth;
			if (!told)
				waits_.release();
			await(e);
		}
	}
	static void await(End &e)
	{
		pollfd channel{e.channel->fd, POLLIN, 0};
		ibv_cq *cq;
		void *context;

		if (::poll(&channel, 1, 10) == 1 &&
		    !ibv_get_cq_event(e.channel.get(), &cq, &context))
			ibv_ack_cq_events(cq, 1);
	}

	std::atomic<bool> stop_ = false;
	bool comes_first_ = false;
	std::binary_semaphore waits_{0};
	std::jthread thread_;
};

/*
 * Sends are posted as fast as those of a QP in SQE are flushed: on one CPU, by a thread that comes first, after each turn of who
 * leaves that state. He has flushed what was there when he said so, and not all that there is, to which there is no end: the thread
 * would go on to eight times as many. Nobody flushes beside him: doorbells in quick succession have given the QP to the poller, a
 * thread of the kernel, which has no time on either CPU but for what Linux keeps from threads that come first (a twentieth), some
 * turns.
 */
void refilled_send_queue(const Env &env)
{
	constexpr uint32_t depth = 16000;
	EndOptions o;
	o.type = IBV_QPT_UD;
	o.cap.max_send_wr = depth;
	o.cqe = 4 * depth;
	o.vector = 1;
	stay_on(1);
	Pair p(env, o), other(env);
	Wr wr = p.send_wr(0, 8);
	wr.flags = 0;
	Ring *ring = ring_of([&] { p.a.send(wr); });
	wr.sg[0].lkey ^= 0x7700;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR});
	CHECK_EQ(p.a.state(), IBV_QPS_SQE);
	{
		NoneForOthers none;
		TakenCpu taken(0);
		come_first(true);
		for (int i = 0; i < 10000 && !ring->busy; i++)
			ring_send(p.a);
		CHECK(ring->busy);
		RefillFirst refill(ring, depth, 8 * depth, p.a);
		const uint32_t before = ring->consumer;
		ibv_qp_attr attr{};
		attr.qp_state = IBV_QPS_RTS;
		attr.cur_qp_state = IBV_QPS_SQE;
		const int err = p.a.try_modify(attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
		const uint32_t flushed = ring->consumer - before;
		come_first(false);
		std::cout << "# flushed " << flushed << " of " << depth << std::endl;
		CHECK_EQ(err, 0);
		CHECK(flushed >= depth);
		CHECK(flushed < 4 * depth);
	}
	other.ping();
}

/*
 * A QP without a P_Key sends nothing, and that counts: else it would go through all that is posted
 * in one turn, and with that keep its CPU.
 */
void keyless(const Env &env)
{
	EndOptions options;
	options.type = IBV_QPT_UC;
	options.cap = {16000, 1, 32, 1, 0};
	options.cqe = 16001;
	options.memory = 1 << 25;
	EndOptions empty = options;
	empty.pkey_index = 1;
	Pair p(env, empty, options), other(env);
	if (p.a.dev.needs_grh())
		throw Skip("RoCE has one P_Key");
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 1);
	wr.sg.assign(32, p.a.sge(0, 1 << 25));
	wr.flags = 0;
	for (int i = 0; i < 16000; i++)
		p.a.send(wr);
	for (int i = 0; i < 20; i++)
		other.ping();
	p.a.to(IBV_QPS_ERR);
	other.ping();
}

/*
 * Eight QPs of a CPU send all the time, to nobody, so nothing holds them up. Each run of that CPU's list is spent when four of them
 * have had their turn. The others come first in the next run, and so has a QP of somebody else its turn.
 */
void busy_others(Env env)
{
	const uint32_t depth = 2000;
	EndOptions options, small;
	options.type = small.type = IBV_QPT_UC;
	options.cap = {depth, 1, 32, 1, 0};
	options.cqe = depth + 1;
	options.memory = 1 << 24;
	env.dev_b = env.dev_a;
	stay_on(0);
	Pair other(env);
	std::vector<std::unique_ptr<Pair>> busy;
	for (int i = 0; i < 8; i++) {
		Pair &p = *busy.emplace_back(std::make_unique<Pair>(env, options, small));
		p.a.to(IBV_QPS_SQD);
		p.b.to(IBV_QPS_RESET);
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 1);
		wr.sg.assign(32, p.a.sge(0, 1 << 24));
		wr.flags = 0;
		for (uint32_t n = 0; n < depth; n++)
			p.a.send(wr);
	}
	for (auto &p : busy)
		p->a.to(IBV_QPS_RTS);
	for (int i = 0; i < 20; i++)
		other.ping();
	for (auto &p : busy)
		p->a.to(IBV_QPS_ERR);
}

/*
 * A process of its own whose memory does not come. It does as it is told, for 40 s at most:
 *	w	answers when somebody waits for a page
 *	s	its own QP reads from the other end, answers at once
 *	c	answers with the status of a completion
 *	r	lets the pages come
 *	b	answers with the first byte of its memory
 */
class Stuck {
public:
	struct Facts {
		uint32_t qpn, rkey;
		uint64_t addr;
		char error[64];
	};
	static constexpr size_t pages = 64;

	/** Before the process has anything of its own. */
	Stuck(const Env &env, const EndOptions &o)
	{
		CHECK(!pipe(to_) && !pipe(from_));
		pid_ = fork();
		CHECK(pid_ >= 0);
		if (!pid_) {
			close(to_[1]);
			close(from_[0]);
			run(env, o);
		}
		close(to_[0]);
		close(from_[1]);
		get(facts);
		if (facts.error[0])
			throw Skip(facts.error);
	}
	~Stuck()
	{
		close(to_[1]);
		close(from_[0]);
		waitpid(pid_, nullptr, 0);
	}
	Stuck(const Stuck &) = delete;
	Stuck &operator=(const Stuck &) = delete;

	/** The other end's, to which it connects. */
	void connect(const End &e)
	{
		Facts f{e.qpn(), e.mem.rkey(), e.mem.addr(), {}};
		CHECK_EQ(write(to_[1], &f, sizeof(f)), ssize_t(sizeof(f)));
		CHECK(answer() == 'k');
	}
	char ask(char what)
	{
		tell(what);
		return answer();
	}
	void tell(char what) { CHECK_EQ(write(to_[1], &what, 1), 1); }

	Facts facts{};

private:
	template <typename T>
	void get(T &t) const
	{
		if (read(from_[0], &t, sizeof(t)) != sizeof(t))
			FAIL("the stuck process has ended");
	}
	char answer() const
	{
		char c;
		get(c);
		return c;
	}
	void say(char c) const
	{
		if (write(from_[1], &c, 1) != 1)
			_exit(1);
	}
	char heard() const
	{
		pollfd p{to_[0], POLLIN, 0};
		char c;
		if (poll(&p, 1, 40000) != 1 || read(to_[0], &c, 1) != 1)
			_exit(0);
		return c;
	}

	/*
	 * The other one says who it is; where it is, an end of ours on its device knows. That one is gone
	 * again on return: nothing may be unmapped once somebody waits for a page (slow_file.h).
	 */
	static void connect_to(End &e, const Env &env, const EndOptions &o)
	{
		End there(env.open_a(), o);
		e.to_rtr(there);
		e.to_rts();
	}

	/* Its region is that of pages that do not come; receives lie in it. */
	void set_up(End &e, const Env &env, const Mr &mr, const SlowFile &slow, const EndOptions &o)
	{
		Facts mine{e.qpn(), mr->rkey, reinterpret_cast<uintptr_t>(slow.at()), {}}, theirs;
		CHECK_EQ(write(from_[1], &mine, sizeof(mine)), ssize_t(sizeof(mine)));
		if (read(to_[0], &theirs, sizeof(theirs)) != sizeof(theirs))
			_exit(0);
		e.opt.dest_qpn = theirs.qpn;
		e.to_init();
		if (e.opt.type == IBV_QPT_UD && o.psn == group_psn)
			attach(e);
		connect_to(e, env, o);
		for (size_t i = 0; i < pages; i++)
			e.recv({{mine.addr + i * SlowFile::page, uint32_t(SlowFile::page),
				 mr->lkey}},
			       7);
		peer_ = theirs;
		say('k');
	}
	void obey(End &e, const Mr &mr, SlowFile &slow)
	{
		Wr wr;
		switch (heard()) {
		case 'w': until_waiting(slow); return say('w');
		case 's':
			wr.op = IBV_WR_RDMA_READ;
			wr.sg = {{reinterpret_cast<uintptr_t>(slow.at()), 10000, mr->lkey}};
			wr.addr = peer_.addr;
			wr.rkey = peer_.rkey;
			e.send(wr);
			return say('s');
		case 'c': return say('0' + e.completion().status);
		case 'r': slow.release(); return say('r');
		case 'b': return say(slow.at()[0]);
		}
	}
	[[noreturn]] void run(const Env &env, const EndOptions &o)
	{
		Facts none{};
		/* Stuck for want of a page, it would never see that the pipe is closed. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		try {
			auto slow = slow_file(pages);
			End e(env.open_b(), o);
			Mr mr(made(ibv_reg_mr(e.pd.get(), slow->at(), slow->size(),
					      all_access | IBV_ACCESS_ON_DEMAND),
				   "ibv_reg_mr"));
			set_up(e, env, mr, *slow, o);
			for (;;)
				obey(e, mr, *slow);
		} catch (const std::exception &x) {
			snprintf(none.error, sizeof(none.error), "%s", x.what());
			[[maybe_unused]] ssize_t n = write(from_[1], &none, sizeof(none));
		}
		_exit(1);
	}
	static void attach(End &e);

public:
	static constexpr uint32_t group_psn = 0x654321; /* says that it is to be a group's member */

private:
	pid_t pid_ = -1;
	int to_[2], from_[2];
	Facts peer_{};
};

ibv_gid group()
{
	ibv_gid gid{};
	gid.raw[0] = 0xff;
	gid.raw[1] = 0x12;
	gid.raw[2] = 0x40;
	gid.raw[3] = 0x1b;
	gid.raw[15] = 0x77;
	return gid;
}

constexpr uint16_t mlid = 0xc177;

void Stuck::attach(End &e)
{
	ibv_gid gid = group();
	CHECK(!ibv_attach_mcast(e.qp.get(), &gid, mlid));
}

/* One end whose peer is stuck; and two others, who have nothing to do with it. */
struct Victim {
	Victim(const Env &env, const EndOptions &o) :
		stuck(env, o), a(env.open_a(), o), there(env.open_b(), o)
	{
		a.opt.dest_qpn = stuck.facts.qpn;
		a.to_init();
		a.to_rtr(there);
		a.to_rts();
		stuck.connect(a);
		if (a.datagram())
			ah = a.ah_to(there);
	}

	Wr wr(ibv_wr_opcode op, size_t length)
	{
		Wr w;
		w.op = op;
		w.sg = {a.sge(0, length)};
		w.addr = stuck.facts.addr;
		w.rkey = stuck.facts.rkey;
		w.ah = ah.get();
		w.qpn = stuck.facts.qpn;
		w.qkey = a.opt.qkey;
		return w;
	}

	Stuck stuck;
	End a, there;
	Ah ah;
};

constexpr size_t length_of(ibv_wr_opcode op)
{
	return op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : op == IBV_WR_SEND ? 4000 : 20000;
}

EndOptions impatient(uint8_t rnr_retry)
{
	EndOptions o;
	o.timeout = 16; /* 268 ms: who hears nothing for long gives up */
	o.retry = 1;
	o.rnr_retry = rnr_retry;
	return o;
}

/* A message that was sent is not held: its memory can be deregistered, and its QP goes. */
void slow_target(const Env &env, ibv_wr_opcode op)
{
	Victim v(env, impatient(7));
	Counter refused(env, "rnr_no_page");
	v.a.send(v.wr(op, length_of(op)));
	v.stuck.ask('w');
	refused.until_more();
	v.a.mem.drop_mr();
	v.a.qp.reset();
	Pair other(env);
	other.ping();
}

/* The page is late; retries are not used up by that, for the receiver says so. */
void slow_but_comes(const Env &env, ibv_wr_opcode op)
{
	Victim v(env, impatient(7));
	Pair other(env);
	Counter refused(env, "rnr_no_page");
	memset(v.a.mem.at(), 1, 20000);
	v.a.send(v.wr(op, length_of(op)));
	v.stuck.ask('w');
	refused.until_more();
	for (int i = 0; i < 20; i++)
		other.ping();
	v.a.expect_none();
	v.stuck.ask('r');
	v.a.expect({});
	if (op == IBV_WR_RDMA_READ)
		check_all(v.a.mem.bytes(0, 20000), SlowFile::content);
	else if (op == IBV_WR_RDMA_WRITE)
		CHECK(v.stuck.ask('b') == 1);
}

/* A requester whose RNR retries are used up does not wait for the receiver's pages either. */
void slow_exceeded(const Env &env, ibv_wr_opcode op)
{
	Victim v(env, impatient(2));
	v.a.send(v.wr(op, length_of(op)));
	v.a.expect({.status = IBV_WC_RNR_RETRY_EXC_ERR});
}

/* The stuck process reads: the memory that it reads from is not held until it has a place for it. */
void slow_sink(const Env &env, bool dereg)
{
	Victim v(env, impatient(7));
	Counter dropped(env, "rx_no_page");
	memset(v.a.mem.at(), 9, 10000);
	v.stuck.ask('s');
	v.stuck.ask('w');
	dropped.until_more();
	if (dereg)
		v.a.mem.drop_mr();
	v.stuck.ask('r');
	CHECK_EQ(v.stuck.ask('c') == '0', !dereg);
	if (!dereg)
		CHECK(v.stuck.ask('b') == 9);
}

/* More messages than are kept for the stuck QP: each completes, and its QP can do with it what it likes. */
void slow_unreliable(const Env &env, ibv_qp_type type, bool reset)
{
	EndOptions o;
	o.type = type;
	Victim v(env, o);
	Counter dropped(env, "rx_no_page");
	for (int i = 0; i < 600; i++) {
		v.a.send(v.wr(IBV_WR_SEND, 1500));
		v.a.expect({});
	}
	v.stuck.ask('w');
	dropped.until_more();
	v.a.mem.drop_mr();
	if (reset)
		v.a.to(IBV_QPS_RESET);
	v.a.qp.reset();
	Pair other(env);
	other.ping();
}

/*
 * 125 MiB come to a stuck QP. The share of them that is kept is limited in bytes, not in packets.
 * (A kernel that looks for faults keeps what was freed for a while.)
 */
void slow_flooded(const Env &env)
{
	EndOptions o;
	o.type = IBV_QPT_UC;
	Victim v(env, o);
	Wr wr = v.wr(IBV_WR_RDMA_WRITE, 1 << 16);
	v.a.send(wr);
	v.a.expect({});
	v.stuck.ask('w');
	long before = meminfo("MemAvailable:");
	for (int i = 0; i < 2000; i++) {
		v.a.send(wr);
		v.a.expect({});
	}
	CHECK(before - meminfo("MemAvailable:") < 40 * long(slowness()));
	Pair other(env);
	other.ping();
}

/* A member of a group that is stuck: neither sender nor other members notice. */
void slow_member(Env env)
{
	env.dev_b = env.dev_a;
	EndOptions o;
	o.type = IBV_QPT_UD;
	o.psn = Stuck::group_psn;
	Victim v(env, o);
	End other(env.open_b(), o);
	ibv_gid gid = group();
	other.to_init();
	other.to_rtr(other);
	other.to_rts();
	CHECK(!ibv_attach_mcast(other.qp.get(), &gid, mlid));
	ibv_ah_attr attr{};
	attr.dlid = mlid;
	attr.port_num = v.a.dev.port;
	attr.is_global = 1;
	attr.grh.dgid = gid;
	attr.grh.hop_limit = 1;
	Ah ah(made(ibv_create_ah(v.a.pd.get(), &attr), "ibv_create_ah"));
	Wr wr = v.wr(IBV_WR_SEND, 1500);
	wr.ah = ah.get();
	wr.qpn = 0xffffff;
	for (int i = 0; i < 600; i++) {
		other.recv({other.sge(0, 4000)}, 5);
		v.a.send(wr);
		v.a.expect({.opcode = IBV_WC_SEND});
		other.expect({.id = 5, .byte_len = 1540});
	}
	v.stuck.ask('w');
	v.a.mem.drop_mr();
	v.a.to(IBV_QPS_RESET);
	CHECK(!ibv_detach_mcast(other.qp.get(), &gid, mlid));
}

} // namespace

void add_isolation(Suite &suite)
{
	suite.add("isolation.refilled_queue", refilled_queue);
	suite.add("isolation.refilled_send_queue", refilled_send_queue);
	suite.add("isolation.no_pkey", keyless);
	suite.add("isolation.busy_others", busy_others);
	for (auto [name, op] : {std::pair{"write", IBV_WR_RDMA_WRITE},
				{"send", IBV_WR_SEND},
				{"read", IBV_WR_RDMA_READ},
				{"fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD}}) {
		std::string s = std::string("isolation.slow_page.") + name;
		suite.add(s + ".lets_go", [=](Env &env) { slow_target(env, op); });
		suite.add(s + ".comes", [=](Env &env) { slow_but_comes(env, op); });
		suite.add(s + ".retries", [=](Env &env) { slow_exceeded(env, op); });
	}
	suite.add("isolation.slow_page.sink.lets_go", [](Env &env) { slow_sink(env, true); });
	suite.add("isolation.slow_page.sink.comes", [](Env &env) { slow_sink(env, false); });
	for (ibv_qp_type type : {IBV_QPT_UC, IBV_QPT_UD}) {
		std::string s = std::string("isolation.slow_page.") + type_name(type);
		suite.add(s, [=](Env &env) { slow_unreliable(env, type, false); });
		suite.add(s + ".reset", [=](Env &env) { slow_unreliable(env, type, true); });
	}
	suite.add("isolation.slow_page.flooded", slow_flooded);
	suite.add("isolation.slow_page.member", slow_member);
}

} // namespace ops
