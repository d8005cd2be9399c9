// SPDX-License-Identifier: GPL-2.0
/* Atomics, ATOMIC WRITE and FLUSH. */
#include "end.h"
#include "suites.h"

namespace ops {

namespace {

constexpr uint64_t big = 0x0102030405060708;

uint64_t &word(const End &end, size_t offset)
{
	return *reinterpret_cast<uint64_t *>(end.mem.at(offset));
}

struct Atomic {
	const char *name;
	ibv_wr_opcode op;
	uint64_t before, compare_add, swap, after;
};

constexpr Atomic atomics[] = {
	{"cas.equal", IBV_WR_ATOMIC_CMP_AND_SWP, big, big, 77, 77},
	{"cas.unequal", IBV_WR_ATOMIC_CMP_AND_SWP, big, big + 1, 77, big},
	{"cas.high_half_differs", IBV_WR_ATOMIC_CMP_AND_SWP, big, big ^ (1ULL << 63), 77, big},
	{"fetch_add.one", IBV_WR_ATOMIC_FETCH_AND_ADD, 41, 1, 0, 42},
	{"fetch_add.carry", IBV_WR_ATOMIC_FETCH_AND_ADD, 0xffffffff, 1, 0, 0x100000000},
	{"fetch_add.wrap", IBV_WR_ATOMIC_FETCH_AND_ADD, ~0ULL, 2, 0, 1},
	{"fetch_add.zero", IBV_WR_ATOMIC_FETCH_AND_ADD, big, 0, 0, big},
};

void run_atomic(const Env &env, const Atomic &t)
{
	Pair p(env);
	word(p.b, 64) = t.before;
	word(p.b, 56) = word(p.b, 72) = big;
	Wr wr = p.rdma_wr(t.op, 0, 8);
	wr.addr = p.b.mem.addr(64);
	wr.compare_add = t.compare_add;
	wr.swap = t.swap;
	p.a.send(wr);
	p.a.expect(
		{.opcode = t.op == IBV_WR_ATOMIC_CMP_AND_SWP ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD,
		 .byte_len = 8});
	CHECK_EQ(word(p.a, 0), t.before);
	CHECK_EQ(word(p.b, 64), t.after);
	CHECK_EQ(word(p.b, 56), big);
	CHECK_EQ(word(p.b, 72), big);
}

/* Many outstanding, more than max_rd_atomic allows at a time: each is executed once. */
void many(const Env &env)
{
	for (uint8_t depth : {1, 4}) {
		EndOptions o;
		o.rd_atomic = depth;
		Pair p(env, o);
		word(p.b, 0) = 0;
		for (unsigned i = 0; i < 64; i++) {
			Wr wr = p.rdma_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, i * 8, 8);
			wr.addr = p.b.mem.addr();
			wr.compare_add = 3;
			wr.id = i;
			p.a.send(wr);
		}
		for (unsigned i = 0; i < 64; i++)
			p.a.expect({.id = i});
		for (unsigned i = 0; i < 64; i++)
			CHECK_EQ(word(p.a, i * 8), i * 3);
		CHECK_EQ(word(p.b, 0), 64 * 3);
	}
}

/* Two requesters on one counter lose no increment. */
void contended(const Env &env)
{
	Pair p(env), q(env);
	Memory counter(p.b.pd.get(), 64);
	*reinterpret_cast<uint64_t *>(counter.at()) = 0;
	constexpr unsigned n = 200;
	/* q's PD has a region of its own over the same bytes. */
	Mr mr(made(ibv_reg_mr(q.b.pd.get(), counter.at(), 64, all_access), "ibv_reg_mr"));
	for (unsigned i = 0; i < n; i++) {
		for (Pair *pair : {&p, &q}) {
			Wr wr = pair->rdma_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);
			wr.addr = counter.addr();
			wr.rkey = pair == &p ? counter.rkey() : mr->rkey;
			wr.compare_add = 1;
			pair->a.send(wr);
		}
		p.a.expect({});
		q.a.expect({});
	}
	CHECK_EQ(*reinterpret_cast<uint64_t *>(counter.at()), 2 * n);
}

/* The local side takes 8 bytes in pieces. */
void result_scattered(const Env &env)
{
	Pair p(env);
	word(p.b, 0) = big;
	Wr wr = p.rdma_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);
	wr.sg = {p.a.sge(100, 3), p.a.sge(200, 5)};
	wr.compare_add = 1;
	p.a.send(wr);
	p.a.expect({});
	uint64_t got;
	memcpy(&got, p.a.mem.at(100), 3);
	memcpy(reinterpret_cast<uint8_t *>(&got) + 3, p.a.mem.at(200), 5);
	CHECK_EQ(got, big);
}

EndOptions extended(unsigned extra_access)
{
	EndOptions o;
	o.ext_ops = true;
	o.mr_access |= extra_access;
	o.qp_access |= extra_access;
	return o;
}

void need(const Env &env, uint64_t cap, const char *what)
{
	if (!env.open_a().has(cap))
		throw Skip(std::string(what) + " is not offered by this kernel");
}

void atomic_write(const Env &env)
{
	Pair p(env, extended(0));
	ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p.a.qp.get());
	uint64_t value = big;

	memset(p.b.mem.at(), 0, 64);
	ibv_wr_start(qpx);
	qpx->wr_id = 12;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qpx, p.b.mem.rkey(), p.b.mem.addr(16), &value);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	p.a.expect({.opcode = IBV_WC_ATOMIC_WRITE, .id = 12});
	CHECK_EQ(word(p.b, 16), big);
	CHECK_EQ(word(p.b, 8), 0u);
	CHECK_EQ(word(p.b, 24), 0u);
}

void atomic_write_unaligned(const Env &env)
{
	Pair p(env, extended(0));
	ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p.a.qp.get());
	uint64_t value = big;

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qpx, p.b.mem.rkey(), p.b.mem.addr(17), &value);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	p.a.expect({.status = IBV_WC_REM_INV_REQ_ERR});
}

/* A QP that does not do it for anybody says so, whatever the key allows (9.7.4.1.5). */
void atomic_write_not_granted(const Env &env)
{
	need(env, IB_UVERBS_DEVICE_ATOMIC_WRITE, "ATOMIC_WRITE");
	EndOptions o = extended(0);
	o.qp_access &= ~unsigned(IBV_ACCESS_REMOTE_WRITE);
	Pair p(env, o);
	ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p.a.qp.get());
	uint64_t value = big;

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qpx, p.b.mem.rkey(), p.b.mem.addr(16), &value);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	p.a.expect({.status = IBV_WC_REM_INV_REQ_ERR});
	p.b.expect_event(IBV_EVENT_QP_REQ_ERR);
}

void flush(const Env &env, uint8_t type, uint8_t level, unsigned access, bool granted)
{
	need(env, IB_UVERBS_DEVICE_FLUSH_GLOBAL, "this FLUSH");
	Pair p(env, extended(granted ? access : 0));
	ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p.a.qp.get());

	fill(p.a.mem.bytes(0, 8192), 6);
	Wr write = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8192);
	write.flags = 0;
	p.a.send(write);
	ibv_wr_start(qpx);
	qpx->wr_id = 13;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(qpx, p.b.mem.rkey(), p.b.mem.addr(), 8192, type, level);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	if (!granted) {
		p.a.expect({.status = IBV_WC_REM_INV_REQ_ERR, .id = 13});
		p.b.expect_event(IBV_EVENT_QP_REQ_ERR);
		return;
	}
	p.a.expect({.opcode = IBV_WC_FLUSH, .id = 13});
	check_filled(p.b.mem.bytes(0, 8192), 6);
}

/* A FLUSH of 8 KiB from @offset on; @key: what is wrong with the R_Key. */
void post_flush(Pair &p, uint32_t key, int64_t offset, uint8_t type, uint8_t level)
{
	ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p.a.qp.get());
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(qpx, p.b.mem.rkey() ^ key, p.b.mem.addr() + offset, 8192, type, level);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
}

/* No memory here outlives a power failure: neither the device nor a region says so. A QP may, as ib_cm's do. */
void not_persistent(const Env &env)
{
	need(env, IB_UVERBS_DEVICE_FLUSH_GLOBAL, "this FLUSH");
	Pair p(env, extended(IBV_ACCESS_FLUSH_GLOBAL));
	unsigned access = all_access | IBV_ACCESS_FLUSH_PERSISTENT;
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.qp_access_flags = access;
	Mr mr(ibv_reg_mr(p.b.pd.get(), p.b.mem.at(), 4096, access));
	CHECK(!mr);
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(ibv_rereg_mr(p.b.mem.mr(), IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, access) !=
	      0);
	CHECK(!p.b.dev.has(IB_UVERBS_DEVICE_FLUSH_PERSISTENT));
	CHECK_EQ(p.b.try_modify(attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
	/* Then the key is refused. */
	post_flush(p, 0, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	p.b.expect_event(IBV_EVENT_QP_ACCESS_ERR);
}

/* A requester that asks for it all the same is told that the QP does not do it. */
void persistent_refused(const Env &env, uint8_t type)
{
	need(env, IB_UVERBS_DEVICE_FLUSH_GLOBAL, "this FLUSH");
	Pair p(env, extended(IBV_ACCESS_FLUSH_GLOBAL));
	post_flush(p, 0, 0, type, IBV_FLUSH_RANGE);
	p.a.expect({.status = IBV_WC_REM_INV_REQ_ERR});
	p.b.expect_event(IBV_EVENT_QP_REQ_ERR);
}

/* A range: past its end. A region: the range says nothing, the key all. */
void flush_refused(const Env &env, uint8_t level, uint32_t key, int64_t offset, unsigned mr_access)
{
	need(env, IB_UVERBS_DEVICE_FLUSH_GLOBAL, "this FLUSH");
	EndOptions o = extended(IBV_ACCESS_FLUSH_GLOBAL);
	o.mr_access &= mr_access;
	Pair p(env, o);
	post_flush(p, key, offset, IBV_FLUSH_GLOBAL, level);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	p.b.expect_event(IBV_EVENT_QP_ACCESS_ERR);
}

} // namespace

void add_atomics(Suite &suite)
{
	for (const auto &t : atomics)
		suite.add(std::string("atomic.") + t.name, [=](Env &env) { run_atomic(env, t); });
	suite.add("atomic.many", many);
	suite.add("atomic.contended", contended);
	suite.add("atomic.result_scattered", result_scattered);
	suite.add("atomic_write", atomic_write);
	suite.add("atomic_write.unaligned", atomic_write_unaligned);
	suite.add("atomic_write.not_granted", atomic_write_not_granted);
	suite.add("flush.global.range", [](Env &env) {
		flush(env, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE, IBV_ACCESS_FLUSH_GLOBAL, true);
	});
	suite.add("flush.global.region", [](Env &env) {
		flush(env, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR, IBV_ACCESS_FLUSH_GLOBAL, true);
	});
	suite.add("flush.persistent.not_offered", not_persistent);
	suite.add("flush.persistent.refused",
		  [](Env &env) { persistent_refused(env, IBV_FLUSH_PERSISTENT); });
	suite.add("flush.persistent.refused.with_global", [](Env &env) {
		persistent_refused(env, IBV_FLUSH_PERSISTENT | IBV_FLUSH_GLOBAL);
	});
	suite.add("flush.range.past_the_region",
		  [](Env &env) { flush_refused(env, IBV_FLUSH_RANGE, 0, (1 << 16) - 8191, ~0U); });
	suite.add("flush.range.unknown_rkey",
		  [](Env &env) { flush_refused(env, IBV_FLUSH_RANGE, 0x5500, 0, ~0U); });
	suite.add("flush.region.unknown_rkey",
		  [](Env &env) { flush_refused(env, IBV_FLUSH_MR, 0x5500, 0, ~0U); });
	suite.add("flush.region.stale_rkey",
		  [](Env &env) { flush_refused(env, IBV_FLUSH_MR, 1, 0, ~0U); });
	suite.add("flush.region.does_not_allow", [](Env &env) {
		flush_refused(env, IBV_FLUSH_MR, 0, 0, ~unsigned(IBV_ACCESS_FLUSH_GLOBAL));
	});
	suite.add("flush.not_granted", [](Env &env) {
		flush(env, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE, IBV_ACCESS_FLUSH_GLOBAL, false);
	});
}

} // namespace ops
