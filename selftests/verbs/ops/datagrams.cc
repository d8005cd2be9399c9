// SPDX-License-Identifier: GPL-2.0
/* UD: what is dropped and what the receiver is told (9.8.3, 10.2.5). */
#include <arpa/inet.h>

#include "end.h"
#include "suites.h"

namespace ops {

namespace {

EndOptions options()
{
	EndOptions o;
	o.type = IBV_QPT_UD;
	return o;
}

/*
 * The datagram that was sent before is dropped, this one is not: it is the next and only one that
 * arrives.
 */
void marker(Pair &p, uint64_t recv_id)
{
	Wr wr = p.send_wr(0, 77);
	p.a.send(wr);
	p.a.expect({.opcode = IBV_WC_SEND});
	p.b.expect_recv({.id = recv_id, .byte_len = 77 + 40});
	p.b.expect_none();
	CHECK_EQ(p.b.state(), IBV_QPS_RTS);
}

void wrong_qkey(const Env &env)
{
	Pair p(env, options());
	p.b.recv({p.b.sge(0, 200)}, 1);
	for (uint32_t flip : {1u, 0x100u, 0x01000000u}) {
		Wr wr = p.send_wr(0, 8);
		wr.qkey ^= flip;
		p.a.send(wr);
		p.a.expect({});
	}
	marker(p, 1);
}

/* Each is counted, however many there are; on one device none is lost on the way. */
void many_wrong_qkeys(const Env &env)
{
	if (env.two_devices())
		throw Skip("datagrams may be lost");
	Pair p(env, options());
	auto violations = [&] {
		ibv_port_attr attr{};
		CHECK(!ibv_query_port(p.b.dev.ctx.get(), p.b.dev.port, &attr));
		return attr.qkey_viol_cntr;
	};
	uint32_t before = violations();
	Wr wr = p.send_wr(0, 8);
	wr.qkey ^= 1;
	for (int i = 0; i < 500; i++) {
		p.a.send(wr);
		p.a.expect({});
	}
	p.b.recv({p.b.sge(0, 200)}, 1);
	marker(p, 1);
	CHECK_EQ(violations(), before + 500);
}

/* With the high bit set, the sender's own Q_Key is put into the packet (10.2.5). */
void privileged_qkey(const Env &env)
{
	EndOptions oa = options(), ob = options();
	oa.qkey = ob.qkey = 0x2468ace0;
	Pair p(env, oa, ob);
	p.b.recv({p.b.sge(0, 200)}, 1);
	p.b.recv({p.b.sge(0, 200)}, 2);
	Wr wr = p.send_wr(0, 8);
	wr.qkey = 0x80000000;
	p.a.send(wr);
	p.a.expect({});
	p.b.expect_recv({.id = 1, .byte_len = 48});
	marker(p, 2);
}

/* The Q_Key of a QP can be changed in RTS. */
void changed_qkey(const Env &env)
{
	Pair p(env, options());
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.qkey = 0x777;
	p.b.modify(attr, IBV_QP_STATE | IBV_QP_QKEY);
	p.b.recv({p.b.sge(0, 200)}, 1);
	Wr wr = p.send_wr(0, 8);
	p.a.send(wr);
	p.a.expect({});
	p.b.opt.qkey = 0x777;
	marker(p, 1);
}

/* Longer than the buffer: dropped, and the receive request waits for the next (9.8.3.2.2). */
void buffer_too_small(const Env &env)
{
	Pair p(env, options());
	p.b.recv({p.b.sge(0, 40 + 100)}, 1);
	memset(p.b.mem.at(), 0x44, 400);
	p.a.send(p.send_wr(0, 101));
	p.a.expect({});
	marker(p, 1);
	check_all(p.b.mem.bytes(140, 200), 0x44);
}

/* From an SRQ, the request that was too small is spent, and the QP with it. */
void srq_buffer_too_small(const Env &env)
{
	EndOptions ob = options();
	ob.srq_wr = 8;
	Pair p(env, options(), ob);
	p.b.recv({p.b.sge(0, 40 + 10)}, 1);
	p.a.send(p.send_wr(0, 11));
	p.a.expect({});
	p.b.expect({.status = IBV_WC_LOC_LEN_ERR, .id = 1});
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
}

/* A receive request whose memory is not one: the QP ends. */
void bad_receive(const Env &env)
{
	Pair p(env, options());
	ibv_sge bad = p.b.sge(0, 200);
	bad.lkey ^= 0x3300;
	p.b.recv({bad}, 1);
	p.a.send(p.send_wr(0, 8));
	p.a.expect({});
	p.b.expect({.status = IBV_WC_LOC_PROT_ERR, .id = 1});
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
}

/* A place of the P_Key table that is empty: nothing is sent that the peer would take for an offence. */
void no_pkey(const Env &env)
{
	EndOptions o = options();
	EndOptions empty = options();
	empty.pkey_index = 1;
	Pair p(env, empty, o);
	if (p.a.dev.needs_grh())
		throw Skip("RoCE has one P_Key");
	auto offences = [&] {
		ibv_port_attr attr;
		CHECK_EQ(ibv_query_port(p.b.dev.ctx.get(), p.b.dev.port, &attr), 0);
		return attr.bad_pkey_cntr;
	};
	const auto before = offences();
	p.b.recv({p.b.sge(0, 200)});
	p.a.send(p.send_wr(0, 8));
	p.a.expect({});
	p.b.expect_none();
	CHECK_EQ(offences(), before);
}

/* The 40 bytes before the payload are the GRH if there was one, and the header tells the truth. */
void header(const Env &env)
{
	EndOptions o = options();
	o.grh = true;
	Pair p(env, o);
	p.b.recv({p.b.sge(0, 200)});
	p.a.send(p.send_wr(0, 60));
	p.a.expect({});
	p.b.expect_recv({.byte_len = 100, .flags = unsigned(IBV_WC_GRH)});
	if (p.a.dev.needs_grh())
		throw Skip("RoCE has another header here");
	auto *grh = reinterpret_cast<ibv_grh *>(p.b.mem.at());
	CHECK_EQ(ntohl(grh->version_tclass_flow) >> 28, 6u);
	/* Payload length counts from the BTH to the ICRC, the pad bytes included. */
	CHECK_EQ(ntohs(grh->paylen), 12 + 8 + 60 + 4);
	CHECK_EQ(grh->next_hdr, 0x1b);
	CHECK(!memcmp(&grh->sgid, &p.a.dev.gid, 16));
	CHECK(!memcmp(&grh->dgid, &p.b.dev.gid, 16));
}

/* The receiver can answer with what the completion tells. */
void answer(const Env &env, bool grh)
{
	EndOptions o = options();
	o.grh = grh;
	Pair p(env, o);
	p.b.recv({p.b.sge(0, 200)});
	p.a.send(p.send_wr(0, 8));
	p.a.expect({});
	ibv_wc wc = p.b.completion();
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	if (!p.a.dev.needs_grh())
		CHECK_EQ(wc.slid, p.a.dev.port_attr.lid);
	CHECK_EQ(wc.sl, p.a.opt.sl);
	CHECK_EQ(wc.pkey_index, 0);
	Ah back(made(ibv_create_ah_from_wc(p.b.pd.get(), &wc,
					   reinterpret_cast<ibv_grh *>(p.b.mem.at()), p.b.dev.port),
		     "ibv_create_ah_from_wc"));
	p.a.recv({p.a.sge(4096, 200)}, 3);
	Wr wr;
	wr.sg = {p.b.sge(1000, 20)};
	wr.ah = back.get();
	wr.qpn = wc.src_qp;
	wr.qkey = p.a.opt.qkey;
	p.b.send(wr);
	p.b.expect({});
	p.a.expect_recv({.opcode = IBV_WC_RECV, .id = 3, .byte_len = 60, .src_qp = p.b.qpn()});
}

/* A service level is carried to the receiver. */
void service_level(const Env &env)
{
	EndOptions o = options();
	o.sl = 3;
	Pair p(env, o);
	if (p.a.dev.needs_grh())
		throw Skip("RoCE knows priorities instead");
	p.b.recv({p.b.sge(0, 200)});
	p.a.send(p.send_wr(0, 8));
	p.a.expect({});
	CHECK_EQ(p.b.completion().sl, 3);
}

/* To nobody's LID: sent, and gone. */
void no_such_lid(const Env &env)
{
	Pair p(env, options());
	if (p.a.dev.needs_grh())
		throw Skip("RoCE has no LIDs");
	ibv_ah_attr attr = p.a.address_of(p.b);
	attr.dlid = p.b.dev.port_attr.lid ^ 0x2aaa;
	Ah nowhere(made(ibv_create_ah(p.a.pd.get(), &attr), "ibv_create_ah"));
	p.b.recv({p.b.sge(0, 200)}, 1);
	Wr wr = p.send_wr(0, 8);
	wr.ah = nowhere.get();
	for (int i = 0; i < 5; i++) {
		p.a.send(wr);
		p.a.expect({});
	}
	marker(p, 1);
}

void bad_handles(const Env &env)
{
	Pair p(env, options());
	ibv_ah_attr attr = p.a.address_of(p.b);
	attr.port_num = 99;
	CHECK(!ibv_create_ah(p.a.pd.get(), &attr));
	attr = p.a.address_of(p.b);
	attr.is_global = 1;
	attr.grh.sgid_index = 255;
	CHECK(!ibv_create_ah(p.a.pd.get(), &attr));
	attr = p.a.address_of(p.b);
	attr.sl = 16;
	CHECK(!ibv_create_ah(p.a.pd.get(), &attr));
}

/* Handles come and go; a request that was posted with one does not need it any more. */
void handle_destroyed(const Env &env)
{
	Pair p(env, options());
	for (unsigned i = 0; i < 100; i++) {
		p.b.recv({p.b.sge(0, 200)}, i);
		Wr wr = p.send_wr(0, 8);
		p.ah = p.a.ah_to(p.b);
		wr.ah = p.ah.get();
		p.a.send(wr);
		p.a.expect({});
		p.ah.reset();
		p.b.expect_recv({.id = i});
	}
}

/*
 * A handle belongs to its PD: with a QP of another one it is an error of the requester (10.2.3).
 * Others find it when it is posted; pib does so if it is asked to (docs/behaviors.md).
 */
void handle_of_other_pd(const Env &env)
{
	Pair p(env, options());
	Pd other(made(ibv_alloc_pd(p.a.dev.ctx.get()), "ibv_alloc_pd"));
	ibv_ah_attr attr = p.a.address_of(p.b);
	Ah foreign(made(ibv_create_ah(other.get(), &attr), "ibv_create_ah"));
	Wr wr = p.send_wr(0, 8);
	wr.ah = foreign.get();
	p.b.recv({p.b.sge(0, 200)}, 1);
	const int err = p.a.try_send(wr);
	if (err && p.a.dev.needs_grh())
		return;
	CHECK_EQ(err, 0);
	p.a.expect({.status = IBV_WC_LOC_QP_OP_ERR});
	p.b.expect_none();
}

/* A subnet management packet (13.4.2, 14.2.1): class, method, attribute; nothing else in it matters here. */
void fill_smp(uint8_t *mad, uint8_t mgmt_class, uint8_t method, uint16_t attribute)
{
	memset(mad, 0, 256);
	mad[0] = 1;
	mad[1] = mgmt_class;
	mad[2] = 1;
	mad[3] = method;
	mad[15] = 42; /* transaction */
	mad[16] = attribute >> 8;
	mad[17] = attribute;
	if (mgmt_class == 0x81)
		memset(mad + 32, 0xff, 4); /* DrSLID and DrDLID: all of the route is directed */
}

/*
 * QP0 belongs to the subnet's management, and to VL15 (9.6.1, 14.2.1). A request to it from another
 * QP is not answered, and nothing is done.
 */
void to_qp0(const Env &env, uint8_t mgmt_class, uint8_t method)
{
	EndOptions o = options();
	o.qkey = 0;
	Pair p(env, o);
	if (p.a.dev.needs_grh())
		throw Skip("RoCE has no subnet manager");
	ibv_ah_attr attr = p.a.address_of(p.b);
	if (mgmt_class == 0x81)
		attr.dlid = 0xffff;
	Ah agent(made(ibv_create_ah(p.a.pd.get(), &attr), "ibv_create_ah"));
	fill_smp(p.a.mem.at(), mgmt_class, method, method == 1 ? 0x11 : 0x31);
	p.a.recv({p.a.sge(4096, 512)}, 9);
	Wr wr = p.send_wr(0, 256);
	wr.ah = agent.get();
	wr.qpn = 0;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_LOC_QP_OP_ERR, .id = 1});
	CHECK_EQ(p.a.state(), IBV_QPS_SQE);
	p.a.expect_none();
	/* The QP itself is well, once it has been told to go on. */
	ibv_qp_attr rts{};
	rts.qp_state = IBV_QPS_RTS;
	p.a.modify(rts, IBV_QP_STATE);
	p.ping();
	p.a.expect_none();
}

} // namespace

void add_datagrams(Suite &suite)
{
	suite.add("ud.wrong_qkey", wrong_qkey);
	suite.add("ud.wrong_qkey.many", many_wrong_qkeys);
	suite.add("ud.privileged_qkey", privileged_qkey);
	suite.add("ud.changed_qkey", changed_qkey);
	suite.add("ud.buffer_too_small", buffer_too_small);
	suite.add("ud.srq_buffer_too_small", srq_buffer_too_small);
	suite.add("ud.no_pkey", no_pkey);
	suite.add("ud.bad_receive", bad_receive);
	suite.add("ud.header", header);
	suite.add("ud.answer", [](Env &env) { answer(env, false); });
	suite.add("ud.answer_with_grh", [](Env &env) { answer(env, true); });
	suite.add("ud.service_level", service_level);
	suite.add("ud.no_such_lid", no_such_lid);
	suite.add("ud.bad_handles", bad_handles);
	suite.add("ud.handle_destroyed", handle_destroyed);
	suite.add("ud.handle_of_other_pd", handle_of_other_pd);
	suite.add("ud.qp0.get", [](Env &env) { to_qp0(env, 0x01, 1); });
	suite.add("ud.qp0.set", [](Env &env) { to_qp0(env, 0x01, 2); });
	suite.add("ud.qp0.directed_get", [](Env &env) { to_qp0(env, 0x81, 1); });
	suite.add("ud.qp0.directed_set", [](Env &env) { to_qp0(env, 0x81, 2); });
}

} // namespace ops
