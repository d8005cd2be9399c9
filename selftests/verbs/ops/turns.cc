// SPDX-License-Identifier: GPL-2.0
/* Turns of queue pairs: nobody waits for those of somebody else for long. */
#include <algorithm>
#include <chrono>
#include <iostream>

#include "cpus.h"
#include "rings.h"
#include "suites.h"

namespace ops {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr uint32_t nobody = 0xabcdef;
constexpr char pollers_cpus[] = "/sys/devices/virtual/workqueue/cpumask";

/* Doorbells in quick succession have the poller of this CPU take the QP. */
void hand_to_poller(End &e, const Ring *ring)
{
	bool busy = false;
	for (int i = 0; i < 10000 && !busy; i++) {
		ring_send(e);
		busy = ring->busy;
	}
	CHECK(busy);
}

/*
 * The poller of CPU 0 may run on CPU 1 only, of which somebody else has all. A post rings no doorbell meanwhile, so the guard alone
 * can have it sent, 10 ms after the QP was handed over. A completion that comes sooner says that the poller had a CPU after all.
 * The poller has had CPU 0 before, so the guard leaves the QP to that CPU.
 */
void poller_without_cpu(Env env)
{
	env.dev_b = env.dev_a;
	stay_on(0);
	Pair p(env);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8);
	Ring *ring = ring_of([&] { p.a.send(wr); });
	p.a.expect({});
	{
		Setting here(pollers_cpus, "1");
		hand_to_poller(p.a, ring);
		while (ring->busy)
			usleep(1000);
	}
	NoneForOthers none;
	Setting there(pollers_cpus, "2");
	TakenCpu taken(1);
	Milliseconds longest{};
	for (int i = 0; i < 5; i++) {
		hand_to_poller(p.a, ring);
		const auto begin = Clock::now();
		p.a.send(wr);
		p.a.expect({});
		longest = std::max<Milliseconds>(longest, Clock::now() - begin);
	}
	std::cout << "# up to " << longest.count() << " ms" << std::endl;
	CHECK(longest.count() > 4);
}

/* Posts so many work requests by one doorbell: none of them is answered, and all are taken from the ring. */
void post_many(End &e, const End &memory, int n)
{
	ibv_sge sge = memory.sge(0, 1);
	std::vector<ibv_send_wr> wrs(n);
	ibv_send_wr *bad;

	for (int i = 0; i < n; i++) {
		wrs[i].sg_list = &sge;
		wrs[i].num_sge = 1;
		wrs[i].opcode = IBV_WR_RDMA_WRITE;
		wrs[i].next = i + 1 < n ? &wrs[i + 1] : nullptr;
	}
	CHECK_EQ(ibv_post_send(e.qp.get(), wrs.data(), &bad), 0);
}

/* The numbers of the QPs of @n completions, in their order. */
std::vector<uint32_t> order_of_completions(End &e, size_t n, ibv_wc_status status)
{
	std::vector<uint32_t> order;
	while (order.size() < n) {
		ibv_wc wc = e.completion();
		CHECK_EQ(wc.status, status);
		order.push_back(wc.qp_num);
	}
	return order;
}

/* Most completions in a row that are of one QP, before all of one have come. */
size_t longest_row(const std::vector<uint32_t> &order)
{
	const size_t each = order.size() / 2;
	size_t longest = 0, row = 0, first = 0;
	for (size_t i = 0; i < order.size() && first < each && i + 1 - first < each; i++) {
		first += order[i] == order[0];
		row = i && order[i] == order[i - 1] ? row + 1 : 1;
		longest = std::max(longest, row);
	}
	return longest;
}

/* Two QPs with one CQ, which has room for the @depth work requests of each. */
struct Two {
	Two(const Env &env, uint32_t depth) : Two(env, options(depth)) {}

	/* Brings both to @state while the kernel's thread that runs them has no CPU. */
	void to(ibv_qp_state state)
	{
		come_first(true);
		a.to(state);
		b.to(state);
		come_first(false);
	}

	End a, b;

private:
	Two(const Env &env, const EndOptions &o) : a(env.open_a(), o), b(env.open_a(), o)
	{
		rings();
		ibv_qp_init_attr attr{};
		attr.send_cq = attr.recv_cq = a.cq.get();
		attr.cap = o.cap;
		attr.qp_type = o.type;
		b.qp.reset(made(ibv_create_qp(a.pd.get(), &attr), "ibv_create_qp"));
		for (End *e : {&a, &b}) {
			e->to_init();
			e->to_rtr(a);
			e->to_rts();
		}
	}
	static EndOptions options(uint32_t depth)
	{
		EndOptions o;
		o.cap = {depth, 1, 1, 1, 0};
		o.cqe = 2 * depth + 1;
		o.dest_qpn = nobody;
		o.timeout = 0;
		return o;
	}
};

void check_turns(Two &two, size_t depth, ibv_wc_status status, size_t turn)
{
	const size_t longest = longest_row(order_of_completions(two.a, 2 * depth, status));
	std::cout << "# " << longest << " in a row" << std::endl;
	CHECK(longest <= 2 * turn);
}

/*
 * Two QPs have thousands of work requests that are finished at once, for both come to ERR while the kernel's thread that runs them
 * has no CPU. They have one CQ, so that it shows how many a turn completes: where it flushes, 128 twice.
 */
void completions_in_turn(Env env)
{
	constexpr int depth = 4000, turn = 128;
	stay_on(0);
	Two two(env, depth);
	for (End *e : {&two.a, &two.b})
		post_many(*e, two.a, depth);
	two.a.expect_none();
	two.to(IBV_QPS_ERR);
	check_turns(two, depth, IBV_WC_WR_FLUSH_ERR, turn);
}

/*
 * Posts so many work requests by one doorbell, that need no answer from anybody: a window is bound and its key, which stays the same,
 * is invalidated, again and again.
 */
void post_local(End &e, const End &memory, ibv_mw *mw, int n)
{
	std::vector<ibv_send_wr> wrs(n);
	ibv_send_wr *bad;

	for (int i = 0; i < n; i++) {
		wrs[i].send_flags = IBV_SEND_SIGNALED;
		wrs[i].next = i + 1 < n ? &wrs[i + 1] : nullptr;
		if (i % 2) {
			wrs[i].opcode = IBV_WR_LOCAL_INV;
			wrs[i].invalidate_rkey = mw->rkey;
		} else {
			wrs[i].opcode = IBV_WR_BIND_MW;
			wrs[i].bind_mw = {
				mw,
				mw->rkey,
				{memory.mem.mr(), memory.mem.addr(), 8, IBV_ACCESS_REMOTE_READ}};
		}
	}
	CHECK_EQ(ibv_post_send(e.qp.get(), wrs.data(), &bad), 0);
}

/*
 * As above, of what a QP does by itself: both have taken in thousands of local operations in SQD, and may begin with them at once. A
 * turn has as many of these as it may send bursts, 32.
 */
void local_in_turn(Env env)
{
	constexpr int depth = 4000, turn = 32;
	stay_on(0);
	Two two(env, depth);
	std::vector<Mw> windows;
	for (End *e : {&two.a, &two.b}) {
		windows.emplace_back(
			made(ibv_alloc_mw(two.a.pd.get(), IBV_MW_TYPE_2), "ibv_alloc_mw"));
		e->to(IBV_QPS_SQD);
		post_local(*e, two.a, windows.back().get(), depth);
	}
	two.a.expect_none();
	two.to(IBV_QPS_RTS);
	check_turns(two, depth, IBV_WC_SUCCESS, turn);
}

} // namespace

void add_turns(Suite &suite)
{
	suite.add("isolation.poller_without_cpu", poller_without_cpu);
	suite.add("isolation.completions_in_turn", completions_in_turn);
	suite.add("isolation.local_in_turn", local_in_turn);
}

} // namespace ops
