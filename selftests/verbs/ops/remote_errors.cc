// SPDX-License-Identifier: GPL-2.0
/*
 * Errors that the responder finds: the status at the requester, the NAK on the
 * wire, the state of both, the event at the responder (9.7.5.2, 9.9.3, 11.6.3).
 */
#include "end.h"
#include "suites.h"
#include "wire.h"

namespace ops {

namespace {

struct RemoteError {
	const char *name;
	ibv_wr_opcode op;
	unsigned mr_access, qp_access;
	void (*spoil)(Pair &p, const Memory &foreign, Wr &wr);
	ibv_wc_status status;
	uint8_t nak;
	ibv_event_type event;
};

void nothing(Pair &, const Memory &, Wr &) {}
void unknown_key(Pair &, const Memory &, Wr &wr)
{
	wr.rkey ^= 0x5500;
}
void stale_key(Pair &, const Memory &, Wr &wr)
{
	wr.rkey ^= 1;
}
void before(Pair &p, const Memory &, Wr &wr)
{
	wr.addr = p.b.mem.addr() - 1;
}
void past(Pair &p, const Memory &, Wr &wr)
{
	wr.addr = p.b.mem.addr(p.b.mem.size()) - 7;
}
void wraps(Pair &, const Memory &, Wr &wr)
{
	wr.addr = -4;
}
void foreign_region(Pair &, const Memory &foreign, Wr &wr)
{
	wr.addr = foreign.addr();
	wr.rkey = foreign.rkey();
}
void unaligned(Pair &, const Memory &, Wr &wr)
{
	wr.addr += 4;
}

constexpr unsigned lw = IBV_ACCESS_LOCAL_WRITE, rw = IBV_ACCESS_REMOTE_WRITE,
		   rr = IBV_ACCESS_REMOTE_READ, ra = IBV_ACCESS_REMOTE_ATOMIC;
constexpr auto wr_ = IBV_WR_RDMA_WRITE, wri = IBV_WR_RDMA_WRITE_WITH_IMM, rd = IBV_WR_RDMA_READ,
	       cas = IBV_WR_ATOMIC_CMP_AND_SWP, faa = IBV_WR_ATOMIC_FETCH_AND_ADD;
constexpr auto access_err = IBV_WC_REM_ACCESS_ERR;
constexpr auto req_err = IBV_WC_REM_INV_REQ_ERR;

#define ACCESS access_err, nak_remote_access, IBV_EVENT_QP_ACCESS_ERR
#define REQUEST req_err, nak_invalid_request, IBV_EVENT_QP_REQ_ERR

constexpr RemoteError errors[] = {
	{"write.unknown_rkey", wr_, all_access, all_access, unknown_key, ACCESS},
	{"write.stale_rkey", wr_, all_access, all_access, stale_key, ACCESS},
	{"write.before_the_region", wr_, all_access, all_access, before, ACCESS},
	{"write.past_the_region", wr_, all_access, all_access, past, ACCESS},
	{"write.address_wraps", wr_, all_access, all_access, wraps, ACCESS},
	{"write.address_wraps.qp_does_not_allow", wr_, all_access, lw | rr | ra, wraps, REQUEST},
	{"write.other_pd", wr_, all_access, all_access, foreign_region, ACCESS},
	{"write.region_does_not_allow", wr_, lw | rr | ra, all_access, nothing, ACCESS},
	{"write.qp_does_not_allow", wr_, all_access, lw | rr | ra, nothing, REQUEST},
	{"write_imm.unknown_rkey", wri, all_access, all_access, unknown_key, ACCESS},
	{"write_imm.past_the_region", wri, all_access, all_access, past, ACCESS},
	{"write_imm.qp_does_not_allow", wri, all_access, lw | rr | ra, nothing, REQUEST},
	{"read.unknown_rkey", rd, all_access, all_access, unknown_key, ACCESS},
	{"read.stale_rkey", rd, all_access, all_access, stale_key, ACCESS},
	{"read.past_the_region", rd, all_access, all_access, past, ACCESS},
	{"read.address_wraps", rd, all_access, all_access, wraps, ACCESS},
	{"read.address_wraps.qp_does_not_allow", rd, all_access, lw | rw | ra, wraps, REQUEST},
	{"read.other_pd", rd, all_access, all_access, foreign_region, ACCESS},
	{"read.region_does_not_allow", rd, lw | rw | ra, all_access, nothing, ACCESS},
	{"read.qp_does_not_allow", rd, all_access, lw | rw | ra, nothing, REQUEST},
	{"read_of_nothing.qp_does_not_allow", rd, all_access, lw | rw | ra,
	 [](Pair &, const Memory &, Wr &wr) { wr.sg = {}; }, REQUEST},
	{"cas.unknown_rkey", cas, all_access, all_access, unknown_key, ACCESS},
	{"cas.region_does_not_allow", cas, lw | rr | rw, all_access, nothing, ACCESS},
	{"cas.qp_does_not_allow", cas, all_access, lw | rr | rw, nothing, REQUEST},
	{"cas.unaligned", cas, all_access, all_access, unaligned, REQUEST},
	{"fetch_add.past_the_region", faa, all_access, all_access,
	 [](Pair &p, const Memory &, Wr &wr) { wr.addr = p.b.mem.addr(p.b.mem.size()); }, ACCESS},
	{"fetch_add.other_pd", faa, all_access, all_access, foreign_region, ACCESS},
	{"fetch_add.unaligned", faa, all_access, all_access, unaligned, REQUEST},
};

void run(const Env &env, const RemoteError &t)
{
	EndOptions oa, ob;
	ob.mr_access = t.mr_access;
	ob.qp_access = t.qp_access;
	Pair p(env, oa, ob);
	Wire wire(env.capture);
	Pd other(made(ibv_alloc_pd(p.b.dev.ctx.get()), "ibv_alloc_pd"));
	Memory foreign(other.get(), 4096);

	memset(foreign.at(), 0, 4096);
	memset(p.b.mem.at(), 0, p.b.mem.size());
	fill(p.a.mem.bytes(0, 64), 1);
	Wr bad = p.rdma_wr(t.op, 0, 8);
	bad.id = 10;
	t.spoil(p, foreign, bad);
	p.b.recv({p.b.sge(4096, 64)}, 12);
	p.a.send(bad);
	Wr after = p.send_wr(0, 8);
	after.id = 11;
	p.a.try_send(after);
	p.a.expect({.status = t.status, .id = 10});
	p.a.expect({.status = IBV_WC_WR_FLUSH_ERR, .id = 11});
	CHECK_EQ(p.a.state(), IBV_QPS_ERR);
	p.b.expect_event(t.event);
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
	p.b.expect_recv({.status = IBV_WC_WR_FLUSH_ERR, .id = 12});
	check_all(p.b.mem.bytes(0, p.b.mem.size()), 0);
	check_all(foreign.bytes(0, 4096), 0);
	wire.expect_nak(p.a.qpn(), t.nak);
}

/* The good requests before the bad one are done and say so. */
void after_good_ones(const Env &env)
{
	Pair p(env);
	fill(p.a.mem.bytes(0, 40000), 3);
	for (unsigned i = 0; i < 10; i++) {
		Wr wr = p.rdma_wr(i % 3 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, i * 4000, 4000);
		if (i % 3 == 0)
			wr.sg = {p.a.sge(45000, 4000)};
		wr.id = i;
		if (i == 7)
			wr.rkey ^= 0x10000;
		p.a.send(wr);
	}
	for (unsigned i = 0; i < 10; i++)
		p.a.expect({.status = i < 7    ? IBV_WC_SUCCESS
				      : i == 7 ? IBV_WC_REM_ACCESS_ERR
					       : IBV_WC_WR_FLUSH_ERR,
			    .id = i});
	for (unsigned i : {1, 2, 4, 5})
		check_filled(p.b.mem.bytes(i * 4000, 4000), 3, i * 4000);
}

/* A long WRITE that begins inside the region and ends outside must not write a byte of it. */
void long_write_past_the_end(const Env &env)
{
	Pair p(env);
	memset(p.b.mem.at(), 0, p.b.mem.size());
	fill(p.a.mem.bytes(0, 60000), 3);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 60000);
	wr.addr = p.b.mem.addr(p.b.mem.size() - 59999);
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	check_all(p.b.mem.bytes(0, p.b.mem.size()), 0);
}

/* UC: the bad WRITE vanishes, the responder's QP lives or dies, the requester knows of nothing. */
void unreliable(const Env &env)
{
	EndOptions o;
	o.type = IBV_QPT_UC;
	Pair p(env, o);
	memset(p.b.mem.at(), 0, p.b.mem.size());
	fill(p.a.mem.bytes(0, 64), 1);
	Wr bad = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 64);
	bad.rkey ^= 0x5500;
	p.a.send(bad);
	p.a.expect({});
	CHECK_EQ(p.a.state(), IBV_QPS_RTS);
	check_all(p.b.mem.bytes(0, p.b.mem.size()), 0);
}

/* UC: a WRITE with immediate and a bad key leaves the receive request to the next message. */
void unreliable_immediate(const Env &env)
{
	EndOptions o;
	o.type = IBV_QPT_UC;
	Pair p(env, o);
	p.b.recv({p.b.sge(4096, 64)}, 3);
	Wr bad = p.rdma_wr(wri, 0, 64);
	bad.rkey ^= 0x5500;
	p.a.send(bad);
	p.a.expect({});
	p.a.send(p.send_wr(0, 64));
	p.a.expect({});
	p.b.expect_recv({.opcode = IBV_WC_RECV, .id = 3, .byte_len = 64});
}

/* More READs in flight than the responder has resources for is the requester's offence. */
void too_many_reads(const Env &env)
{
	EndOptions oa, ob;
	oa.rd_atomic = 8;
	ob.rd_atomic = 1;
	oa.memory = ob.memory = 1 << 20;
	Pair p(env, oa, ob, false);
	p.a.to_init();
	p.b.to_init();
	p.a.to_rtr(p.b);
	p.b.to_rtr(p.a);
	p.a.to_rts();
	p.b.to_rts();
	for (unsigned i = 0; i < 8; i++) {
		Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, i * 65536, 65536);
		wr.id = i;
		p.a.send(wr);
	}
	bool failed = false;
	for (unsigned i = 0; i < 8; i++) {
		ibv_wc wc = p.a.completion();
		CHECK_EQ(wc.wr_id, i);
		if (failed)
			CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		else if (wc.status != IBV_WC_SUCCESS)
			CHECK_EQ(wc.status, IBV_WC_REM_INV_REQ_ERR), failed = true;
	}
	/* A responder that keeps pace may never have two of them open. */
}

} // namespace

void add_remote_errors(Suite &suite)
{
	for (const auto &t : errors)
		suite.add(std::string("remote_error.") + t.name, [=](Env &env) { run(env, t); });
	suite.add("remote_error.after_good_ones", after_good_ones);
	suite.add("remote_error.long_write_past_the_end", long_write_past_the_end);
	suite.add("remote_error.uc.write", unreliable);
	suite.add("remote_error.uc.write_imm", unreliable_immediate);
	suite.add("remote_error.too_many_reads", too_many_reads);
}

} // namespace ops
