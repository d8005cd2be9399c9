// SPDX-License-Identifier: GPL-2.0
/* Packets that no queue pair sends, at one of a connection that they were made for (9.6.1, 9.7.4.1.5). */
#include "counter.h"
#include "end.h"
#include "forger.h"
#include "suites.h"

namespace ops {

namespace {

constexpr uint8_t send_only = 0x04, write_only = 0x0a, reserved_opcode = 0x15; /* RC */

/* The packet of a SEND that would come next from a. */
Packet next_packet(Pair &p, Forger &forger)
{
	p.ping();
	Packet packet = forger.last_to(p.b.qpn());
	packet.next();
	return packet;
}

/* It is dropped and counted, and the message of its PSN that is sent afterwards is the one that arrives. */
void expect_dropped(const Env &env, Pair &p, Forger &forger, const Packet &packet)
{
	Counter dropped(env, "rx_bad_service");
	forger.send(packet);
	dropped.until_more();
	p.ping();
	CHECK(!p.b.event_pending());
}

/* A request all the same: the responder says so by an event, and has ended. */
void opcode(const Env &env)
{
	Forger forger(env);
	Pair p(env);
	Packet packet = next_packet(p, forger);
	packet.bth(0) = reserved_opcode;
	forger.send(packet);
	p.b.expect_event(IBV_EVENT_QP_REQ_ERR);
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
}

/*
 * A SEND has begun, and something else comes in its place: the receive that it has taken says so, and
 * no event does (9.9.3, class C).
 */
void within_a_message(const Env &env, uint8_t opcode)
{
	constexpr uint8_t send_first = 0x00;
	EndOptions o;
	o.mtu = IBV_MTU_256;
	Forger forger(env);
	Pair p(env, o);
	p.b.recv({p.b.sge(0, 256)});
	p.a.send(p.send_wr(0, 256));
	p.a.expect({});
	p.b.expect_recv({.byte_len = 256});
	p.b.recv({p.b.sge(0, 1024)}, 21);
	p.b.recv({p.b.sge(1024, 1024)}, 22);
	Packet packet = forger.last_to(p.b.qpn());
	packet.next();
	packet.bth(0) = send_first;
	forger.send(packet);
	packet.next();
	packet.bth(0) = opcode;
	forger.send(packet);
	p.b.expect_recv({.status = IBV_WC_REM_INV_REQ_ERR, .id = 21});
	p.b.expect_recv({.status = IBV_WC_WR_FLUSH_ERR, .id = 22});
	CHECK_EQ(p.b.state(), IBV_QPS_ERR);
	CHECK(!p.b.event_pending());
}

/* The path of the connection has no GRH: who sends one, though a right one, is somebody else. */
void grh(const Env &env)
{
	Forger forger(env);
	Pair p(env);
	Packet packet = next_packet(p, forger);
	packet.add_grh(p.a.dev.gid, p.b.dev.gid);
	expect_dropped(env, p, forger, packet);
}

/* The path has one, which names another port. */
void sender(const Env &env)
{
	EndOptions o;
	o.grh = true;
	Forger forger(env);
	Pair p(env, o);
	Packet packet = next_packet(p, forger);
	CHECK(packet.has_grh());
	packet.ib[8 + 8 + 15] ^= 1;
	expect_dropped(env, p, forger, packet);
}

/* From another LID of the sender's host. */
void lid(const Env &env)
{
	Forger forger(env);
	Pair p(env);
	Packet packet = next_packet(p, forger);
	packet.ib[7] ^= 1;
	expect_dropped(env, p, forger, packet);
}

} // namespace

void add_forged(Suite &suite)
{
	suite.add("forged.opcode", opcode);
	suite.add("forged.opcode_within_a_message",
		  [](Env &env) { within_a_message(env, reserved_opcode); });
	suite.add("forged.message_within_a_message",
		  [](Env &env) { within_a_message(env, send_only); });
	suite.add("forged.write_within_a_message",
		  [](Env &env) { within_a_message(env, write_only); });
	suite.add("forged.grh", grh);
	suite.add("forged.grh_of_another", sender);
	suite.add("forged.lid_of_another", lid);
}

} // namespace ops
