// SPDX-License-Identifier: GPL-2.0
// Packets and MADs through the core, among peers in memory.
#include <gtest/gtest.h>

#include "core/fake_fabric.h"

namespace pib::netd {
namespace {

using namespace fake;

TEST_F(Fabric, UnicastFollowsTheTable)
{
	start();
	join();
	const Bytes packet = send({.slid = 2, .dlid = 3, .length = 100});
	ASSERT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(b.packets[0], packet);
	EXPECT_TRUE(a.packets.empty());
	EXPECT_EQ(w.port_of(a)->counts.rcv_bytes, packet.size());
	EXPECT_EQ(w.port_of(b)->counts.xmit_bytes, packet.size());
	EXPECT_EQ(w.port_of(b)->counts.ucast_xmit, 1u);
}

TEST_F(Fabric, DropsAreCountedWhereHardwareCountsThem)
{
	start();
	join();
	Port &in = *w.port_of(a);
	Port &out = *w.port_of(b);
	send({.slid = 2, .dlid = 9});
	EXPECT_EQ(in.counts.rcv_switch_relay_err, 1u);
	EXPECT_EQ(in.counts.relay_dlid, 1u);
	send({.slid = 2, .dlid = 2});
	EXPECT_EQ(in.counts.relay_loop, 1u);
	out.p.sl2vl[in.p.num][5] = 15;
	send({.slid = 2, .dlid = 3, .sl = 5});
	EXPECT_EQ(in.counts.relay_vl, 1u);
	EXPECT_EQ(in.counts.rcv_switch_relay_err, 3u);
	EXPECT_EQ(out.counts.xmit_discard, 0u);
	out.p.state = PIB_PORT_INIT;
	send({.slid = 2, .dlid = 3});
	EXPECT_EQ(out.counts.xmit_discard, 1u);
	EXPECT_EQ(out.counts.discard_inactive, 1u);
	out.p.state = PIB_PORT_ACTIVE;
	out.p.nbr_mtu = 3;
	send({.slid = 2, .dlid = 3, .length = 2048});
	EXPECT_EQ(out.counts.xmit_discard, 2u);
	EXPECT_EQ(out.counts.discard_mtu, 1u);
	in.p.part_enforce = 0x8;
	send({.slid = 2, .dlid = 3, .pkey = 0x8123});
	EXPECT_EQ(in.counts.rcv_constraint_err, 1u);
	EXPECT_TRUE(b.packets.empty());
}

TEST_F(Fabric, DataActivatesAnArmedPort)
{
	start();
	join();
	w.port_of(a)->p.state = PIB_PORT_ARMED;
	send({.slid = 2, .dlid = 3});
	EXPECT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(w.port_of(a)->p.state, PIB_PORT_ACTIVE);
}

TEST_F(Fabric, MulticastGoesToTheGroupButNotBack)
{
	start();
	Peer c{3, 0xC0};
	w.add(c);
	join();
	w.activate(w.node(), w.port_of(c)->p.num);
	std::uint32_t mask = 0;
	for (const Peer *peer : {&a, &b, &c})
		mask |= 1u << w.port_of(*peer)->p.num;
	w.node().node.mft[1][0] = mask;
	const Bytes packet = send({.slid = 2, .dlid = 0xC001, .dqpn = 0xFFFFFF});
	EXPECT_TRUE(a.packets.empty());
	ASSERT_EQ(b.packets.size(), 1u);
	ASSERT_EQ(c.packets.size(), 1u);
	EXPECT_EQ(c.packets[0], packet);
	EXPECT_EQ(w.port_of(c)->counts.mcast_xmit, 1u);
}

TEST_F(Fabric, ABatchOfEqualPacketsIsOneSuperPacket)
{
	start();
	join();
	Bytes all;
	std::size_t step = 0;
	for (std::uint8_t i = 0; i < 10; i++) {
		const Bytes one =
			a.data(make_packet({.slid = 2, .dlid = 3, .length = 1024, .fill = i}));
		step = one.size();
		all.insert(all.end(), one.begin(), one.end());
	}
	const std::size_t before = w.net.messages;
	w.deliver(a.at, all, step);
	EXPECT_EQ(w.net.messages, before + 1);
	w.carry();
	ASSERT_EQ(b.packets.size(), 10u);
	for (std::uint8_t i = 0; i < 10; i++)
		EXPECT_EQ(b.packets[i],
			  make_packet({.slid = 2, .dlid = 3, .length = 1024, .fill = i}));
}

TEST_F(Fabric, TheSwitchAnswersDirectedAndRoutedMads)
{
	start();
	w.add(a);
	w.run(500);
	w.deliver(a.at,
		  a.data(make_mad_packet(PIB_LID_PERMISSIVE, PIB_LID_PERMISSIVE, 0,
					 directed(make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0)))));
	w.carry();
	ASSERT_EQ(a.packets.size(), 1u);
	Packet answer;
	ASSERT_EQ(parse_packet(a.packets[0], answer), PIB_PARSE_OK);
	EXPECT_TRUE(icrc_is_right(answer));
	const std::uint8_t *mad = answer.bytes + answer.header_length;
	EXPECT_EQ(mad[PIB_MAD_METHOD], PIB_METHOD_GET_RESP);
	EXPECT_EQ(mad[PIB_MAD_DATA + 2], PIB_NODE_SWITCH);
	EXPECT_EQ(mad[PIB_MAD_DATA + 3], 4);

	Port &port = *w.port_of(a);
	port.p.state = PIB_PORT_ACTIVE;
	w.node().port(0).p.lid = 7;
	w.route(w.node(), 2, port.p.num);
	Bytes perf = make_smp(PIB_METHOD_GET, PIB_PERF_COUNTERS, 0);
	perf[PIB_MAD_CLASS] = PIB_CLASS_PERF;
	perf[PIB_MAD_DATA + 1] = port.p.num;
	w.deliver(a.at, a.data(make_mad_packet(2, 7, 1, perf)));
	w.carry();
	ASSERT_EQ(a.packets.size(), 2u);
	ASSERT_EQ(parse_packet(a.packets[1], answer), PIB_PARSE_OK);
	EXPECT_EQ(answer.h.slid, 7);
	EXPECT_EQ(answer.h.dlid, 2);
	EXPECT_EQ(answer.bytes[answer.header_length + PIB_MAD_METHOD], PIB_METHOD_GET_RESP);

	w.deliver(a.at, a.data(make_mad_packet(2, 7, 1, perf, 0x7FFF)));
	w.carry();
	ASSERT_EQ(a.packets.size(), 3u);
	ASSERT_EQ(parse_packet(a.packets[2], answer), PIB_PARSE_OK);
	EXPECT_EQ(answer.h.pkey, 0xFFFF) << "a limited member takes no answer from another one";
	w.deliver(a.at, a.data(make_mad_packet(2, 7, 1, perf, 0x8001)));
	w.carry();
	EXPECT_EQ(a.packets.size(), 3u) << "not of this partition";
	EXPECT_EQ(w.node().port(0).p.pkey_viol, 1u);
}

TEST_F(Fabric, WhoIsNotQp0IsNotAnsweredByIt)
{
	start();
	w.add(a);
	w.run(500);
	const Bytes mad = directed(make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0));
	const std::pair<std::uint32_t, std::uint8_t> strays[] = {{77, 15}, {0, 0}, {77, 0}};
	for (const auto &[sqpn, vl] : strays)
		w.deliver(a.at, a.data(make_stray_smp(sqpn, vl, mad)));
	w.carry();
	EXPECT_TRUE(a.packets.empty());
	EXPECT_EQ(w.count(PIB_US_RX_MALFORMED), 3u);
}

TEST_F(Fabric, ADamagedMadIsNotAnswered)
{
	start();
	w.add(a);
	w.run(500);
	Bytes packet = make_mad_packet(PIB_LID_PERMISSIVE, PIB_LID_PERMISSIVE, 0,
				       directed(make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0)));
	packet[100] ^= 1;
	w.deliver(a.at, a.data(packet));
	w.carry();
	EXPECT_TRUE(a.packets.empty());
	EXPECT_EQ(w.count(PIB_US_RX_BAD_ICRC), 1u);
}

TEST_F(Fabric, GarbageIsCountedByItsReason)
{
	start();
	join();
	const Bytes good = a.data(make_packet({.slid = 2, .dlid = 3}));
	const auto changed = [&](std::size_t at, std::uint8_t value) {
		Bytes bytes = good;
		bytes[at] = value;
		return bytes;
	};
	w.deliver(a.at, {0x20, 0});
	EXPECT_EQ(w.count(PIB_US_RX_SHORT), 1u);
	w.deliver(a.at, changed(0, 0x10));
	EXPECT_EQ(w.count(PIB_US_RX_VERSION), 1u);
	w.deliver(a.at, changed(5, static_cast<std::uint8_t>(good[5] + 1)));
	EXPECT_EQ(w.count(PIB_US_RX_UNKNOWN_LINK), 1u);
	w.deliver(a.at, changed(3, static_cast<std::uint8_t>(good[3] + 1)));
	EXPECT_EQ(w.count(PIB_US_RX_UNKNOWN_LINK), 2u);
	w.deliver(b.at, good);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 1u);
	const Bytes unchecked = changed(1, PIB_DG_NOICRC);
	w.deliver(a.at, {unchecked.begin(), unchecked.begin() + PIB_DG_HDR_LEN});
	EXPECT_EQ(w.count(PIB_US_RX_BAD_ICRC), 1u);
	const Bytes sealed = changed(1, PIB_DG_NOICRC | PIB_DG_SEALED);
	w.deliver(a.at, {sealed.begin(), sealed.begin() + PIB_DG_HDR_LEN});
	EXPECT_EQ(w.count(PIB_US_RX_BAD_ICRC), 1u);
	EXPECT_EQ(w.count(PIB_US_RX_UNKNOWN_LINK), 3u) << "its link has no seal";
	w.deliver(a.at, changed(PIB_DG_HDR_LEN, 0xFF));
	EXPECT_EQ(w.count(PIB_US_RX_MALFORMED), 1u);
	w.deliver(a.at, changed(0, 0x29));
	w.deliver(a.at, Bytes(PIB_HELLO_WIRE_LEN, 0x21));
	EXPECT_EQ(w.count(PIB_US_RX_BAD_HELLO), 2u);
	w.deliver(a.at, changed(0, 0x25));
	EXPECT_EQ(w.count(PIB_US_RX_MALFORMED), 2u);
	w.carry();
	EXPECT_TRUE(b.packets.empty());
	w.run(3000);
	EXPECT_EQ(w.port_of(a)->p.state, PIB_PORT_ACTIVE);
}

TEST_F(Fabric, PacketsOfAnEarlierSessionAreDropped)
{
	start();
	join();
	const Bytes old = a.data(make_packet({.slid = 2, .dlid = 3}));
	w.core.plug(*w.port_of(a), false, w.now);
	w.run(500);
	w.core.plug(w.node().port(1), true, w.now);
	w.run(500);
	ASSERT_TRUE(w.port_of(a));
	w.activate(w.node(), w.port_of(a)->p.num);
	w.deliver(a.at, old);
	w.carry();
	EXPECT_TRUE(b.packets.empty());
	EXPECT_EQ(w.count(PIB_US_RX_UNKNOWN_LINK), 1u);
	w.deliver(a.at, a.data(make_packet({.slid = 2, .dlid = 3})));
	w.carry();
	EXPECT_EQ(b.packets.size(), 1u);
}

TEST_F(Fabric, ACableInsideJoinsTwoSwitches)
{
	start(R"({"switches": [{"name": "sw0", "ports": 2}, {"name": "sw1", "ports": 2}],
            "cables": [["sw0/2", "sw1/1"]]})");
	w.add(a);
	w.add(b);
	w.run(1000);
	ASSERT_TRUE(w.port_of(a) && w.port_of(b));
	ASSERT_EQ(w.port_of(a)->owner->config.name, "sw0");
	ASSERT_EQ(w.port_of(b)->owner->config.name, "sw1");
	EXPECT_EQ(w.node("sw0").port(2).p.state, PIB_PORT_INIT);
	w.activate(w.node("sw0"), 1);
	w.activate(w.node("sw0"), 2);
	w.activate(w.node("sw1"), 1);
	w.activate(w.node("sw1"), 2);
	w.route(w.node("sw0"), 3, 2);
	w.route(w.node("sw1"), 3, 2);
	const Bytes packet = make_packet({.slid = 2, .dlid = 3});
	w.deliver(a.at, a.data(packet));
	w.carry();
	ASSERT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(b.packets[0], packet);

	w.core.plug(w.node("sw0").port(2), false, w.now);
	EXPECT_EQ(w.node("sw1").port(1).p.state, PIB_PORT_DOWN);
	w.core.plug(w.node("sw0").port(2), true, w.now);
	EXPECT_EQ(w.node("sw1").port(1).p.state, PIB_PORT_INIT);
}

TEST_F(Fabric, ALoopOfSwitchesEndsAPacketsWay)
{
	start(R"({"switches": [{"name": "sw0", "ports": 3}, {"name": "sw1", "ports": 3}],
            "cables": [["sw0/2", "sw1/1"], ["sw0/3", "sw1/2"]]})");
	w.add(a);
	w.run(500);
	for (const char *name : {"sw0", "sw1"})
		for (std::uint8_t i = 1; i <= 3; i++)
			w.activate(w.node(name), i);
	w.route(w.node("sw0"), 3, 2);
	w.route(w.node("sw1"), 3, 2);
	w.deliver(a.at, a.data(make_packet({.slid = 2, .dlid = 3})));
	std::uint64_t errors = 0;
	for (const char *name : {"sw0", "sw1"})
		for (std::uint8_t i = 1; i <= 3; i++)
			errors += w.node(name).port(i).counts.rcv_switch_relay_err;
	EXPECT_EQ(errors, 1u);
}

/// A batch is what came in before flush().
TEST_F(Fabric, ABatchOfMulticastsHasAnEnd)
{
	constexpr unsigned members = 60;
	start(R"({"switches": [{"name": "sw0", "ports": 62}]})");
	join();
	std::deque<Peer> group;
	for (unsigned i = 0; i < members; i++)
		w.add(group.emplace_back(10 + i, 0x1000 + i));
	w.run(3000);
	pib_node &node = w.node().node;
	for (const Peer &peer : group) {
		ASSERT_TRUE(w.port_of(peer)) << peer.guid;
		const std::uint8_t number = w.port_of(peer)->p.num;
		w.activate(w.node(), number);
		node.mft[1][number / 32] |= 1u << number % 32;
	}
	const Bytes one =
		a.data(make_packet({.slid = 2, .dlid = 0xC001, .dqpn = 0xFFFFFF, .length = 4000}));
	const Arrival arrival{.path = {.socket = 0, .remote = a.at, .local = {}},
			      .bytes = one,
			      .step = one.size(),
			      .hop_limit = PIB_HOP_LIMIT};
	const auto sum = [&](std::uint64_t pib_counts::*counter) {
		std::uint64_t all = 0;
		for (const Peer &peer : group)
			all += w.port_of(peer)->counts.*counter;
		return all;
	};
	w.net.sent.clear();
	const HelloKey key;
	for (int i = 0; i < 400; i++)
		w.core.receive(arrival, {&key, 1}, w.now);
	const std::uint64_t made = sum(&pib_counts::mcast_xmit);
	EXPECT_GE(made * one.size(), 40u << 20);
	EXPECT_LE(made * one.size(), 64u << 20);
	EXPECT_EQ(made + sum(&pib_counts::xmit_discard), 400u * members);
	w.core.flush(w.now);
	w.core.receive(arrival, {&key, 1}, w.now);
	EXPECT_EQ(sum(&pib_counts::mcast_xmit), made + members) << "the next batch has its own";
	w.core.flush(w.now);
	w.net.sent.clear();
}

// Each round doubles the copies: 64 of them would never end.
TEST_F(Fabric, AMulticastInCirclesEnds)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}, {"name": "sw1", "ports": 4}],
            "cables": [["sw0/2", "sw1/1"], ["sw0/3", "sw1/2"], ["sw0/4", "sw1/3"]]})");
	w.add(a);
	w.run(500);
	for (const char *name : {"sw0", "sw1"}) {
		w.node(name).node.mft[1][0] = 0x1E;
		for (std::uint8_t i = 1; i <= 4; i++)
			w.activate(w.node(name), i);
	}
	w.deliver(a.at, a.data(make_packet({.slid = 2, .dlid = 0xC001, .dqpn = 0xFFFFFF})));
	std::uint64_t sent = 0;
	for (const char *name : {"sw0", "sw1"})
		for (std::uint8_t i = 1; i <= 4; i++)
			sent += w.node(name).port(i).counts.mcast_xmit;
	EXPECT_LE(sent, 8192u);
	EXPECT_GE(sent, 1000u);
}

} // namespace
} // namespace pib::netd
