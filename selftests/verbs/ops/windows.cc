// SPDX-License-Identifier: GPL-2.0
/* Memory windows of both types, and invalidation from both ends. */
#include <thread>

#include "end.h"
#include "slow.h"
#include "suites.h"

namespace ops {

namespace {

constexpr unsigned window_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

Mw make_window(End &end, ibv_mw_type type)
{
	uint64_t need = type == IBV_MW_TYPE_1
				? IBV_DEVICE_MEM_WINDOW
				: IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	if (!end.dev.has(need))
		throw Skip("no memory windows of this type");
	return Mw(made(ibv_alloc_mw(end.pd.get(), type), "ibv_alloc_mw"));
}

ibv_mw_bind_info range(End &end, size_t offset, size_t length, unsigned access = window_access)
{
	ibv_mw_bind_info info{};
	info.mr = end.mem.mr();
	info.addr = end.mem.addr(offset);
	info.length = length;
	info.mw_access_flags = access;
	return info;
}

/* Binds at b, the target; the caller takes the completion. */
void post_bind(End &end, ibv_mw *mw, const ibv_mw_bind_info &info)
{
	if (mw->type == IBV_MW_TYPE_1) {
		ibv_mw_bind bind{};
		bind.wr_id = 50;
		bind.send_flags = IBV_SEND_SIGNALED;
		bind.bind_info = info;
		if (int err = ibv_bind_mw(end.qp.get(), mw, &bind))
			FAIL(std::string("ibv_bind_mw: ") + strerror(err));
		return;
	}
	Wr wr;
	wr.op = IBV_WR_BIND_MW;
	wr.mw = mw;
	wr.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind = info;
	wr.id = 50;
	end.send(wr);
	mw->rkey = wr.rkey;
}

void bind(End &end, ibv_mw *mw, const ibv_mw_bind_info &info)
{
	post_bind(end, mw, info);
	end.expect({.opcode = IBV_WC_BIND_MW, .id = 50});
}

EndOptions base(unsigned extra = 0)
{
	EndOptions o;
	o.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | extra;
	return o;
}

Wr through(Pair &p, uint32_t rkey, ibv_wr_opcode op, size_t offset, size_t length)
{
	Wr wr = p.rdma_wr(op, offset, length);
	wr.rkey = rkey;
	return wr;
}

/* The region itself grants nothing: what gets through, gets through the window. */
void use(const Env &env, ibv_mw_type type)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, type);
	bind(p.b, mw.get(), range(p.b, 4096, 8192));
	fill(p.a.mem.bytes(0, 65536), 9);
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 4096, 8192));
	p.a.expect({.opcode = IBV_WC_RDMA_WRITE});
	CHECK(!memcmp(p.a.mem.at(4096), p.b.mem.at(4096), 8192));
	memset(p.a.mem.at(), 0, 65536);
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_READ, 5000, 100));
	p.a.expect({.opcode = IBV_WC_RDMA_READ});
	CHECK(!memcmp(p.a.mem.at(5000), p.b.mem.at(5000), 100));
	/* Once the window is bound again, with another range and key, the old key is no more. */
	uint32_t old = mw->rkey;
	if (type == IBV_MW_TYPE_1) {
		bind(p.b, mw.get(), range(p.b, 20000, 100));
		CHECK(mw->rkey != old);
		p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 20000, 100));
		p.a.expect({});
		p.a.send(through(p, old, IBV_WR_RDMA_WRITE, 4096, 8));
		p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	}
}

/*
 * A window is bound while the region's new memory is being pinned, which takes long: either the region stays as it
 * was, or there is no window. The new memory must not be written to, the region says.
 */
void rereg_meanwhile(const Env &env, ibv_mw_type type)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, type);
	auto slow = slow_file();
	Pd other(made(ibv_alloc_pd(p.b.dev.ctx.get()), "ibv_alloc_pd"));
	int result = -1;
	std::thread rereg([&] {
		int flags = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS |
			    IBV_REREG_MR_CHANGE_PD;
		result =
			ibv_rereg_mr(p.b.mem.mr(), flags, other.get(), slow->at(), slow->size(), 0);
	});
	until_waiting(*slow);
	post_bind(p.b, mw.get(), range(p.b, 0, 4096));
	ibv_wc wc = p.b.completion();
	slow->release();
	rereg.join();
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK(result != 0);
	fill(p.a.mem.bytes(0, 4096), 3);
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 0, 4096));
	p.a.expect({});
	check_filled(p.b.mem.bytes(0, 4096), 3);
	check_all({slow->at(), slow->size()}, SlowFile::content);
}

struct Beyond {
	const char *name;
	size_t offset, length;
	ibv_wr_opcode op;
	unsigned access;
};

constexpr Beyond beyond[] = {
	{"before_it", 4095, 8, IBV_WR_RDMA_WRITE, window_access},
	{"after_it", 12280, 9, IBV_WR_RDMA_WRITE, window_access},
	{"far_away", 40000, 8, IBV_WR_RDMA_READ, window_access},
	{"write_not_granted", 4096, 8, IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_READ},
	{"read_not_granted", 4096, 8, IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_WRITE},
	{"atomic_not_granted", 4096, 8, IBV_WR_ATOMIC_FETCH_AND_ADD, window_access},
};

void outside(const Env &env, ibv_mw_type type, const Beyond &t)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, type);
	bind(p.b, mw.get(), range(p.b, 4096, 8192, t.access));
	memset(p.b.mem.at(), 0, p.b.mem.size());
	memset(p.a.mem.at(), 1, p.a.mem.size());
	p.a.send(through(p, mw->rkey, t.op, t.offset, t.length));
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	check_all(p.b.mem.bytes(0, p.b.mem.size()), 0);
}

/* Zero-based: addresses count from the window's start. */
void zero_based(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	bind(p.b, mw.get(), range(p.b, 4096, 100, window_access | IBV_ACCESS_ZERO_BASED));
	fill(p.a.mem.bytes(0, 100), 2);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 90);
	wr.rkey = mw->rkey;
	wr.addr = 10;
	p.a.send(wr);
	p.a.expect({});
	check_filled(p.b.mem.bytes(4106, 90), 2);
}

/* Binding with length 0 leaves the window unbound (type 1). */
void unbind(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_1);
	bind(p.b, mw.get(), range(p.b, 4096, 8192));
	bind(p.b, mw.get(), range(p.b, 0, 0));
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 4096, 8));
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

void local_invalidate(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	bind(p.b, mw.get(), range(p.b, 4096, 8192));
	Wr inv;
	inv.op = IBV_WR_LOCAL_INV;
	inv.imm = mw->rkey;
	p.b.send(inv);
	p.b.expect({.opcode = IBV_WC_LOCAL_INV});
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 4096, 8));
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

/* A window whose addresses are aligned, and whose memory is not: the request is refused, as one for an unaligned address. */
void unaligned_atomic(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	bind(p.b, mw.get(), range(p.b, 4100, 64, IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED));
	Wr wr = through(p, mw->rkey, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);
	wr.addr = 0;
	wr.compare_add = 1;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_INV_REQ_ERR});
	p.b.expect_event(IBV_EVENT_QP_REQ_ERR);
}

/* Nothing has this key. */
void local_invalidate_nothing(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	Wr inv;
	inv.op = IBV_WR_LOCAL_INV;
	inv.imm = mw->rkey ^ 0x5500;
	p.b.send(inv);
	p.b.expect({.status = IBV_WC_MW_BIND_ERR});
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
}

void remote_invalidate(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	bind(p.b, mw.get(), range(p.b, 4096, 8192));
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 4096, 8));
	p.a.expect({});
	p.b.recv({p.b.sge(0, 64)});
	Wr wr = p.send_wr(0, 8, IBV_WR_SEND_WITH_INV);
	wr.imm = mw->rkey;
	p.a.send(wr);
	p.a.expect({.opcode = IBV_WC_SEND});
	ibv_wc wc = p.b.completion();
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV);
	CHECK_EQ(wc.invalidated_rkey, mw->rkey);
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 4096, 8));
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

/* After its invalidation a window of type 2 can be bound again, with the next key. */
void rebind(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	for (int i = 0; i < 10; i++) {
		bind(p.b, mw.get(), range(p.b, i * 4096, 100));
		fill(p.a.mem.bytes(i * 4096, 100), i);
		p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, i * 4096, 100));
		p.a.expect({});
		check_filled(p.b.mem.bytes(i * 4096, 100), i);
		Wr inv;
		inv.op = IBV_WR_LOCAL_INV;
		inv.imm = mw->rkey;
		p.b.send(inv);
		p.b.expect({});
	}
}

/* The receive of the SEND tells the responder's side, and no event does (9.9.3, class J). */
void expect_not_invalidated(Pair &p, uint32_t key)
{
	p.b.recv({p.b.sge(0, 64)}, 21);
	p.b.recv({p.b.sge(64, 64)}, 22);
	Wr wr = p.send_wr(0, 8, IBV_WR_SEND_WITH_INV);
	wr.imm = key;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	p.b.expect_recv({.status = IBV_WC_REM_INV_REQ_ERR, .id = 21});
	p.b.expect_recv({.status = IBV_WC_WR_FLUSH_ERR, .id = 22});
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
	CHECK(!p.b.event_pending());
}

/* A SEND that names a key which is none: the responder says access error. */
void invalidate_nothing(const Env &env)
{
	Pair p(env, base());
	make_window(p.b, IBV_MW_TYPE_2);
	expect_not_invalidated(p, 0x12345600);
}

/* A peer is not to invalidate a region of the user's. */
void invalidate_region(const Env &env)
{
	Pair p(env);
	make_window(p.b, IBV_MW_TYPE_2);
	expect_not_invalidated(p, p.b.mem.rkey());
}

/* Type 2B: only the QP that bound it may be used to reach it. */
void other_qp(const Env &env)
{
	Pair p(env, base()), q(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	if (!p.b.dev.has(IBV_DEVICE_MEM_WINDOW_TYPE_2B))
		throw Skip("no windows of type 2B");
	bind(p.b, mw.get(), range(p.b, 4096, 8192));
	Wr wr = q.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8);
	wr.addr = p.b.mem.addr(4096);
	wr.rkey = mw->rkey;
	q.a.send(wr);
	q.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 4096, 8));
	p.a.expect({});
}

struct BadBind {
	const char *name;
	size_t offset, length;
	unsigned mr_access, access;
};

constexpr BadBind bad_binds[] = {
	{"region_without_mw_bind", 0, 64, IBV_ACCESS_LOCAL_WRITE, window_access},
	{"range_before_the_region", -size_t(1), 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
	 window_access},
	{"write_to_a_read_only_region", 0, 64, IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_WRITE},
};

void bad_bind(const Env &env, const BadBind &t)
{
	EndOptions o;
	o.mr_access = t.mr_access;
	Pair p(env, o);
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	Wr wr;
	wr.op = IBV_WR_BIND_MW;
	wr.mw = mw.get();
	wr.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind = range(p.b, t.offset, t.length, t.access);
	/* Said at once, or by the completion. */
	if (p.b.try_send(wr))
		return;
	p.b.expect({.status = IBV_WC_MW_BIND_ERR});
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
}

/* A window's range is one of virtual addresses, and a zero-based region has none (10.6.7.2). */
void zero_based_region(const Env &env, ibv_mw_type type)
{
	Pair p(env, base(), base(IBV_ACCESS_ZERO_BASED));
	Mw mw = make_window(p.b, type);
	ibv_mw_bind_info info = range(p.b, 0, 4096);
	info.addr = 0;
	/* The call itself succeeds: the region is looked at when the request is executed. */
	post_bind(p.b, mw.get(), info);
	p.b.expect({.status = IBV_WC_MW_BIND_ERR, .id = 50});
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
}

/* Hardware lets a window be longer than its region; what the region does not cover is out of reach all the same. */
void longer_than_region(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	size_t start = p.b.mem.size() - 64;
	Wr wr;
	wr.op = IBV_WR_BIND_MW;
	wr.mw = mw.get();
	wr.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind = range(p.b, start, 128);
	if (p.b.try_send(wr) || p.b.completion().status == IBV_WC_MW_BIND_ERR)
		return;
	p.a.send(through(p, wr.rkey, IBV_WR_RDMA_WRITE, start, 64));
	p.a.expect({});
	Wr past = through(p, wr.rkey, IBV_WR_RDMA_WRITE, 0, 8);
	past.addr = p.b.mem.addr(p.b.mem.size() - 4);
	p.a.send(past);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

/* By a zero-based window of any length nobody comes round the end of the address space to what lies before the window. */
void before_zero_based(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_2);
	Wr wr;
	wr.op = IBV_WR_BIND_MW;
	wr.mw = mw.get();
	wr.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind = range(p.b, 4096, -size_t(1), window_access | IBV_ACCESS_ZERO_BASED);
	if (p.b.try_send(wr) || p.b.completion().status == IBV_WC_MW_BIND_ERR)
		return;
	Wr before = through(p, wr.rkey, IBV_WR_RDMA_READ, 0, 256);
	before.addr = -4096ULL;
	p.a.send(before);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

/* A region with a window bound to it stays (10.6.7.2.3). */
void region_stays(const Env &env)
{
	Pair p(env, base());
	Mw mw = make_window(p.b, IBV_MW_TYPE_1);
	bind(p.b, mw.get(), range(p.b, 4096, 8192));
	CHECK(ibv_dereg_mr(p.b.mem.mr()) != 0);
	p.a.send(through(p, mw->rkey, IBV_WR_RDMA_WRITE, 4096, 8));
	p.a.expect({});
}

} // namespace

void add_windows(Suite &suite)
{
	for (auto type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
		std::string t = type == IBV_MW_TYPE_1 ? "mw.type_1" : "mw.type_2";
		suite.add(t + ".use", [=](Env &env) { use(env, type); });
		suite.add(t + ".rereg_meanwhile", [=](Env &env) { rereg_meanwhile(env, type); });
		for (const auto &b : beyond)
			suite.add(t + "." + b.name, [=](Env &env) { outside(env, type, b); });
	}
	for (const auto &b : bad_binds)
		suite.add(std::string("mw.bind.") + b.name, [=](Env &env) { bad_bind(env, b); });
	suite.add("mw.bind.zero_based_region.type_1",
		  [](Env &env) { zero_based_region(env, IBV_MW_TYPE_1); });
	suite.add("mw.bind.zero_based_region.type_2",
		  [](Env &env) { zero_based_region(env, IBV_MW_TYPE_2); });
	suite.add("mw.bind.longer_than_the_region", longer_than_region);
	suite.add("mw.before_zero_based", before_zero_based);
	suite.add("mw.type_1.unbind", unbind);
	suite.add("mw.type_1.region_stays", region_stays);
	suite.add("mw.type_2.zero_based", zero_based);
	suite.add("mw.type_2.local_invalidate", local_invalidate);
	suite.add("mw.type_2.unaligned_atomic", unaligned_atomic);
	suite.add("mw.type_2.local_invalidate_nothing", local_invalidate_nothing);
	suite.add("mw.type_2.remote_invalidate", remote_invalidate);
	suite.add("mw.type_2.rebind", rebind);
	suite.add("mw.type_2.other_qp", other_qp);
	suite.add("send_inv.no_such_key", invalidate_nothing);
	suite.add("send_inv.region", invalidate_region);
}

} // namespace ops
