// SPDX-License-Identifier: GPL-2.0
/* Peers that are not ready, not there, or gone (9.7.5.1.3, 9.7.6.1). */
#include "end.h"
#include "suites.h"
#include "wire.h"

namespace ops {

namespace {

EndOptions quick()
{
	EndOptions o;
	o.timeout = 10; /* 4 ms: retries run out soon */
	o.retry = 2;
	return o;
}

/* No receive is posted and no retry allowed. */
void rnr_exceeded(const Env &env, uint8_t retries, ibv_wr_opcode op)
{
	EndOptions o;
	o.rnr_retry = retries;
	Pair p(env, o);
	Wire wire(env.capture);
	Wr wr = op == IBV_WR_SEND ? p.send_wr(0, 64) : p.rdma_wr(op, 0, 64);
	wr.id = 4;
	p.a.send(wr);
	Wr after = p.send_wr(0, 8);
	after.id = 5;
	p.a.try_send(after);
	p.a.expect({.status = IBV_WC_RNR_RETRY_EXC_ERR, .id = 4});
	p.a.expect({.status = IBV_WC_WR_FLUSH_ERR, .id = 5});
	CHECK_EQ(p.a.state(), IBV_QPS_ERR);
	/* The responder has nothing to be sorry for. */
	CHECK_EQ(p.b.state(), IBV_QPS_RTS);
	CHECK(!p.b.event_pending());
	wire.expect_nak(p.a.qpn(), nak_rnr);
}

/* Seven retries are without end: the message waits until it is wanted. */
void rnr_waits(const Env &env, size_t length)
{
	Pair p(env);
	fill(p.a.mem.bytes(0, length), 1);
	p.a.send(p.send_wr(0, length));
	/* Proof that the other direction lives meanwhile. */
	for (int i = 0; i < 20; i++) {
		p.a.recv({p.a.sge(60000, 64)}, 9);
		Wr back;
		back.sg = {p.b.sge(60000, 8)};
		p.b.send(back);
		p.b.expect({.opcode = IBV_WC_SEND});
		p.a.expect({.opcode = IBV_WC_RECV, .id = 9});
	}
	p.b.recv({p.b.sge(0, length)}, 3);
	p.a.expect({.opcode = IBV_WC_SEND});
	p.b.expect_recv({.id = 3, .byte_len = length});
	check_filled(p.b.mem.bytes(0, length), 1);
}

/* A peer that never answers. */
void retry_exceeded(const Env &env, const char *how)
{
	EndOptions oa = quick(), ob;
	Pair p(env, oa, ob, false);
	if (how == std::string("wrong_qpn"))
		p.a.opt.dest_qpn = 0xfffff0;
	p.connect();
	if (how == std::string("reset"))
		p.b.to(IBV_QPS_RESET);
	else if (how == std::string("error"))
		p.b.to(IBV_QPS_ERR);
	else if (how == std::string("destroyed"))
		p.b.qp.reset();
	Wr wr = p.send_wr(0, 64);
	wr.id = 1;
	p.a.send(wr);
	wr.id = 2;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_RETRY_EXC_ERR, .id = 1});
	p.a.expect({.status = IBV_WC_WR_FLUSH_ERR, .id = 2});
	CHECK_EQ(p.a.state(), IBV_QPS_ERR);
}

/* A peer in INIT answers when it gets to RTR; the message is late, not lost. */
void peer_comes_late(const Env &env)
{
	EndOptions o;
	Pair p(env, o, o, false);
	p.a.to_init();
	p.b.to_init();
	p.a.to_rtr(p.b);
	p.a.to_rts();
	p.b.recv({p.b.sge(0, 64)}, 2);
	fill(p.a.mem.bytes(0, 64), 1);
	p.a.send(p.send_wr(0, 64));
	p.b.to_rtr(p.a);
	p.a.expect({});
	p.b.expect_recv({.id = 2});
	check_filled(p.b.mem.bytes(0, 64), 1);
	p.b.expect_event(IBV_EVENT_COMM_EST);
}

/* A requester whose PSN is not what the responder expects gets nothing through. */
void wrong_psn(const Env &env)
{
	EndOptions oa = quick(), ob;
	Pair p(env, oa, ob, false);
	p.connect();
	p.a.to(IBV_QPS_RESET);
	p.a.to_init();
	p.a.to_rtr(p.b);
	p.a.opt.psn = p.a.opt.psn + 1000;
	p.a.to_rts();
	p.b.recv({p.b.sge(0, 64)});
	p.a.send(p.send_wr(0, 8));
	p.a.expect({.status = IBV_WC_RETRY_EXC_ERR});
	p.b.expect_none();
	CHECK_EQ(p.b.state(), IBV_QPS_RTS);
}

/* UC and UD do not care whether somebody is there. */
void unreliable(const Env &env, ibv_qp_type type)
{
	EndOptions o;
	o.type = type;
	Pair p(env, o, o, false);
	if (type == IBV_QPT_UC)
		p.a.opt.dest_qpn = 0xfffff0;
	p.connect();
	Wr wr = p.send_wr(0, 64);
	wr.qpn = 0xfffff0;
	for (int i = 0; i < 10; i++) {
		p.a.send(wr);
		p.a.expect({.opcode = IBV_WC_SEND});
	}
	CHECK_EQ(p.a.state(), IBV_QPS_RTS);
}

/* Without a receive request a UC or UD message is lost, and the next one is not. */
void unreliable_no_receive(const Env &env, ibv_qp_type type)
{
	EndOptions o;
	o.type = type;
	Pair p(env, o);
	for (int i = 0; i < 3; i++) {
		p.a.send(p.send_wr(0, 5000 > p.a.dev.mtu() && type == IBV_QPT_UD ? 100 : 5000));
		p.a.expect({});
	}
	/* Whether these were dropped yet nobody can tell; one that is received tells. */
	fill(p.a.mem.bytes(0, 16), 6);
	for (;;) {
		p.b.recv({p.b.sge(0, 6000)}, 8);
		p.a.send(p.send_wr(0, 16));
		p.a.expect({});
		ibv_wc wc = p.b.completion();
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		if (wc.byte_len == 16 + grh_len(p.b))
			break;
	}
	check_filled(p.b.mem.bytes(grh_len(p.b), 16), 6);
	CHECK_EQ(p.b.state(), IBV_QPS_RTS);
}

} // namespace

void add_retries(Suite &suite)
{
	for (uint8_t retries : {0, 1, 3}) {
		suite.add("rnr.exceeded_" + std::to_string(retries),
			  [=](Env &env) { rnr_exceeded(env, retries, IBV_WR_SEND); });
	}
	suite.add("rnr.exceeded.write_imm",
		  [](Env &env) { rnr_exceeded(env, 0, IBV_WR_RDMA_WRITE_WITH_IMM); });
	suite.add("rnr.waits.short", [](Env &env) { rnr_waits(env, 8); });
	suite.add("rnr.waits.long", [](Env &env) { rnr_waits(env, 50000); });
	for (const char *how : {"wrong_qpn", "reset", "error", "destroyed"})
		suite.add(std::string("retry.exceeded.") + how,
			  [=](Env &env) { retry_exceeded(env, how); });
	suite.add("retry.exceeded.wrong_psn", wrong_psn);
	suite.add("retry.peer_comes_late", peer_comes_late);
	suite.add("retry.uc.nobody_there", [](Env &env) { unreliable(env, IBV_QPT_UC); });
	suite.add("retry.ud.nobody_there", [](Env &env) { unreliable(env, IBV_QPT_UD); });
	suite.add("retry.uc.no_receive", [](Env &env) { unreliable_no_receive(env, IBV_QPT_UC); });
	suite.add("retry.ud.no_receive", [](Env &env) { unreliable_no_receive(env, IBV_QPT_UD); });
}

} // namespace ops
