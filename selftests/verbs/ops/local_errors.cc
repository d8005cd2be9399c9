// SPDX-License-Identifier: GPL-2.0
/* Errors that the requester's own side finds (10.10.3, 11.6.2), and those of receive requests. */
#include "end.h"
#include "suites.h"
#include "wire.h"

namespace ops {

namespace {

EndOptions options(ibv_qp_type type)
{
	EndOptions o;
	o.type = type;
	return o;
}

/* A way in which the element of a send request is wrong. */
struct BadSge {
	const char *name;
	void (*spoil)(Pair &p, const Memory &foreign, ibv_sge &sge);
};

constexpr BadSge bad_sges[] = {
	{"unknown_lkey", [](Pair &, const Memory &, ibv_sge &s) { s.lkey ^= 0x5500; }},
	{"stale_lkey", [](Pair &, const Memory &, ibv_sge &s) { s.lkey ^= 1; }},
	{"past_the_region",
	 [](Pair &p, const Memory &, ibv_sge &s) { s.addr = p.a.mem.addr(p.a.mem.size()) - 99; }},
	{"before_the_region",
	 [](Pair &p, const Memory &, ibv_sge &s) { s.addr = p.a.mem.addr() - 1; }},
	{"address_wraps", [](Pair &, const Memory &, ibv_sge &s) { s.addr = -50; }},
	{"other_pd", [](Pair &, const Memory &foreign, ibv_sge &s) { s = foreign.sge(0, 100); }},
};

/* The request fails, the QP is in error, what follows is flushed, the peer has received nothing. */
void bad_send(const Env &env, ibv_qp_type type, ibv_wr_opcode op, const BadSge &t)
{
	Pair p(env, options(type));
	Pd other(made(ibv_alloc_pd(p.a.dev.ctx.get()), "ibv_alloc_pd"));
	Memory foreign(other.get(), 4096);
	Wr wr = op == IBV_WR_SEND ? p.send_wr(0, 100) : p.rdma_wr(op, 0, 100);

	if (op == IBV_WR_SEND)
		p.b.recv({p.b.sge(0, 1000)});
	memset(p.b.mem.at(), 0, p.b.mem.size());
	t.spoil(p, foreign, wr.sg[0]);
	wr.id = 10;
	p.a.send(wr);
	Wr good = p.send_wr(0, 8);
	good.id = 11;
	p.a.try_send(good);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR, .id = 10});
	if (type == IBV_QPT_RC)
		CHECK_EQ(p.a.state(), IBV_QPS_ERR);
	else
		CHECK_EQ(p.a.state(), IBV_QPS_SQE);
	p.b.expect_none();
	check_all(p.b.mem.bytes(0, p.b.mem.size()), 0);
}

/* The second element is the bad one: nothing of the message gets placed at the far end. */
void bad_second(const Env &env)
{
	Pair p(env);
	Wr wr = p.send_wr(0, 100);
	wr.sg.push_back({p.a.mem.addr(), 10, p.a.mem.lkey() ^ 0x100});
	p.b.recv({p.b.sge(0, 1000)});
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR});
	p.b.expect_none();
}

/* Where a READ or atomic places its answer must be writable. */
void read_into_read_only(const Env &env, ibv_wr_opcode op)
{
	Pair p(env);
	Memory ro(p.a.pd.get(), 4096, IBV_ACCESS_REMOTE_READ);
	Wr wr = p.rdma_wr(op, 0, 8);
	wr.sg = {ro.sge(0, 8)};
	memset(ro.at(), 0x33, 8);
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR});
	CHECK_EQ(p.a.state(), IBV_QPS_ERR);
	check_all(ro.bytes(0, 8), 0x33);
}

/* From an unwritable region one may send. */
void send_from_read_only(const Env &env)
{
	Pair p(env);
	Memory ro(p.a.pd.get(), 4096, 0);
	fill(ro.bytes(0, 100), 1);
	p.b.recv({p.b.sge(0, 100)});
	Wr wr = p.send_wr(0, 0);
	wr.sg = {ro.sge(0, 100)};
	p.a.send(wr);
	p.a.expect({});
	p.b.expect_recv({});
	check_filled(p.b.mem.bytes(0, 100), 1);
}

/*
 * The element of a receive request is wrong in that way: LOC_PROT_ERR there, REM_OP_ERR at the
 * sender.
 */
void bad_receive(const Env &env, const BadSge &t)
{
	Pair p(env);
	Wire wire(env.capture);
	Pd other(made(ibv_alloc_pd(p.b.dev.ctx.get()), "ibv_alloc_pd"));
	Memory foreign(other.get(), 4096);
	std::swap(p.a, p.b); /* the spoilers look at a: here the receiver */
	ibv_sge sge = p.a.sge(0, 100);
	t.spoil(p, foreign, sge);
	p.a.recv({sge}, 20);
	p.a.recv({p.a.sge(0, 100)}, 21);
	Wr wr;
	wr.sg = {p.b.sge(0, 100)};
	p.b.send(wr);
	p.b.expect({.status = IBV_WC_REM_OP_ERR});
	p.a.expect_recv({.status = IBV_WC_LOC_PROT_ERR, .id = 20});
	p.a.expect_recv({.status = IBV_WC_WR_FLUSH_ERR, .id = 21});
	CHECK_EQ(p.a.state(), IBV_QPS_ERR);
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
	wire.expect_nak(p.b.qpn(), nak_remote_op);
}

void receive_read_only(const Env &env)
{
	Pair p(env);
	Memory ro(p.b.pd.get(), 4096, 0);
	p.b.recv({ro.sge(0, 100)});
	p.a.send(p.send_wr(0, 100));
	p.a.expect({.status = IBV_WC_REM_OP_ERR});
	p.b.expect_recv({.status = IBV_WC_LOC_PROT_ERR});
}

/* The message is longer than the receive request: RC says so to both. */
void receive_too_small(const Env &env, size_t length)
{
	Pair p(env);
	Wire wire(env.capture);
	p.b.recv({p.b.sge(0, length - 1)}, 5);
	p.a.send(p.send_wr(0, length));
	p.a.expect({.status = IBV_WC_REM_INV_REQ_ERR});
	p.b.expect_recv({.status = IBV_WC_LOC_LEN_ERR, .id = 5});
	CHECK_EQ(p.a.state(), IBV_QPS_ERR);
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
	wire.expect_nak(p.a.qpn(), nak_invalid_request);
}

/* UC: it is lost, and the receive request serves the next one (9.9.3, class D). */
void receive_too_small_uc(const Env &env, size_t length)
{
	Pair p(env, options(IBV_QPT_UC));
	p.b.recv({p.b.sge(0, 100)}, 5);
	p.a.send(p.send_wr(0, length));
	p.a.expect({});
	fill(p.a.mem.bytes(0, 32), 3);
	p.a.send(p.send_wr(0, 32));
	p.a.expect({});
	p.b.expect_recv({.id = 5, .byte_len = 32});
	check_filled(p.b.mem.bytes(0, 32), 3);
	CHECK_EQ(p.b.state(), IBV_QPS_RTS);
}

/* Refused when posted. */
void refused(const Env &env)
{
	Pair p(env);
	Wr wr = p.send_wr(0, 8);
	wr.sg.assign(p.a.opt.cap.max_send_sge + 1, p.a.sge(0, 8));
	CHECK(p.a.try_send(wr) != 0);
	CHECK(p.b.try_recv(std::vector<ibv_sge>(p.b.opt.cap.max_recv_sge + 1, p.b.sge(0, 8))) != 0);
	p.ping();
}

/* UC and UD know no READ, no atomics; UD no RDMA at all. Refused at once or completed in error. */
void opcode_of_other_type(const Env &env, ibv_qp_type type, ibv_wr_opcode op)
{
	Pair p(env, options(type));
	Wr wr = p.rdma_wr(op, 0, 8);
	memset(p.b.mem.at(), 0, 64);
	if (p.a.try_send(wr))
		return;
	p.a.expect({.status = IBV_WC_LOC_QP_OP_ERR});
	check_all(p.b.mem.bytes(0, 64), 0);
}

/* A datagram longer than the port's MTU. */
void datagram_too_long(const Env &env)
{
	Pair p(env, options(IBV_QPT_UD));
	Wr wr = p.send_wr(0, p.a.dev.mtu() + 1);
	p.b.recv({p.b.sge(0, 10000)});
	if (p.a.try_send(wr))
		return;
	p.a.expect({.status = IBV_WC_LOC_LEN_ERR});
	p.b.expect_none();
}

/* More than 2^31 bytes, gathered from a region over and over. */
void message_too_long(const Env &env)
{
	EndOptions o;
	o.memory = 256 << 20;
	o.cap.max_send_sge = 16;
	Pair p(env, o);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
	wr.sg.assign(9, p.a.sge(0, 256 << 20));
	if (p.a.try_send(wr))
		return;
	p.a.expect({.status = IBV_WC_LOC_LEN_ERR});
}

/* A region may go while a request that names it waits: the request fails, nothing else does. */
void region_gone_while_waiting(const Env &env)
{
	Pair p(env);
	Memory mem(p.a.pd.get(), 4096);
	/* Waits for a receive that is not there. */
	Wr first = p.send_wr(0, 8);
	p.a.send(first);
	Wr wr = p.send_wr(0, 8);
	wr.sg = {mem.sge(0, 8)};
	wr.flags |= IBV_SEND_FENCE;
	p.a.send(wr);
	mem.drop_mr();
	p.b.recv({p.b.sge(0, 64)}, 1);
	p.a.expect({});
	p.b.expect_recv({.id = 1});
	p.b.recv({p.b.sge(0, 64)}, 2);
	ibv_wc wc = p.a.completion();
	/* It may have been taken up before the region went. */
	CHECK(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_LOC_PROT_ERR);
}

} // namespace

void add_local_errors(Suite &suite)
{
	struct Combination {
		ibv_qp_type type;
		ibv_wr_opcode op;
		const char *name;
	};
	constexpr Combination combinations[] = {
		{IBV_QPT_RC, IBV_WR_SEND, "send"},	  {IBV_QPT_RC, IBV_WR_RDMA_WRITE, "write"},
		{IBV_QPT_RC, IBV_WR_RDMA_READ, "read"},	  {IBV_QPT_UC, IBV_WR_SEND, "send"},
		{IBV_QPT_UC, IBV_WR_RDMA_WRITE, "write"}, {IBV_QPT_UD, IBV_WR_SEND, "send"},
	};
	for (const auto &c : combinations)
		for (const auto &t : bad_sges)
			suite.add(std::string("local_error.") + type_name(c.type) + "." + c.name +
					  "." + t.name,
				  [=](Env &env) { bad_send(env, c.type, c.op, t); });
	suite.add("local_error.rc.second_element", bad_second);
	suite.add("local_error.rc.read_into_read_only",
		  [](Env &env) { read_into_read_only(env, IBV_WR_RDMA_READ); });
	suite.add("local_error.rc.atomic_into_read_only",
		  [](Env &env) { read_into_read_only(env, IBV_WR_ATOMIC_FETCH_AND_ADD); });
	suite.add("local_error.rc.send_from_read_only", send_from_read_only);
	for (const auto &t : bad_sges)
		suite.add(std::string("receive_error.rc.") + t.name,
			  [=](Env &env) { bad_receive(env, t); });
	suite.add("receive_error.rc.read_only", receive_read_only);
	for (size_t length : {101, 30000})
		suite.add("receive_error.uc.too_small_" + std::to_string(length),
			  [=](Env &env) { receive_too_small_uc(env, length); });
	for (size_t length : {1, 2, 4096, 4097, 65536})
		suite.add("receive_error.rc.too_small_" + std::to_string(length),
			  [=](Env &env) { receive_too_small(env, length); });
	suite.add("local_error.rc.too_many_elements", refused);
	suite.add("local_error.uc.read",
		  [](Env &env) { opcode_of_other_type(env, IBV_QPT_UC, IBV_WR_RDMA_READ); });
	suite.add("local_error.uc.atomic", [](Env &env) {
		opcode_of_other_type(env, IBV_QPT_UC, IBV_WR_ATOMIC_FETCH_AND_ADD);
	});
	suite.add("local_error.ud.write",
		  [](Env &env) { opcode_of_other_type(env, IBV_QPT_UD, IBV_WR_RDMA_WRITE); });
	suite.add("local_error.ud.too_long", datagram_too_long);
	suite.add("local_error.rc.longer_than_2_gib", message_too_long);
	suite.add("local_error.rc.region_gone", region_gone_while_waiting);
}

} // namespace ops
