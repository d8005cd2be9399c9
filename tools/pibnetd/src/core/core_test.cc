// SPDX-License-Identifier: GPL-2.0
// Sessions and forwarding: the core among peers, in memory.
#include <gtest/gtest.h>

#include <fstream>

#include "core/fake_net.h"
#include "wire/ping.h"

namespace pib::netd {
namespace {

using namespace fake;

constexpr char kOne[] =
	R"({"switches": [{"name": "sw0", "ports": 4, "guid": "0x0200000000000001"}]})";

std::uint8_t vl_of(const Bytes &packet)
{
	return packet[0] >> 4;
}

class Fabric : public ::testing::Test {
protected:
	void start(const std::string &json = kOne)
	{
		const auto done = w.configure(json);
		ASSERT_TRUE(done) << done.error().text;
	}
	/// a has LID 2, b has LID 3, both ports are Active.
	void join()
	{
		w.add(a);
		w.add(b);
		w.run(500);
		ASSERT_TRUE(w.port_of(a) && w.port_of(b));
		for (const auto &[peer, lid] : {std::pair{&a, 2}, std::pair{&b, 3}}) {
			Port &port = *w.port_of(*peer);
			EXPECT_EQ(port.p.state, PIB_PORT_INIT);
			port.p.state = PIB_PORT_ACTIVE;
			w.route(*port.owner, static_cast<std::uint16_t>(lid), port.p.num);
		}
	}
	/// All have one key.
	void start_keyed()
	{
		Config config = *parse_config(kOne);
		config.switches[0].key = Key(32, 7);
		ASSERT_TRUE(w.core.configure(config, w.now));
		a.key = b.key = Key(32, 7);
	}
	static Bytes get_node_info()
	{
		return make_mad_packet(PIB_LID_PERMISSIVE, PIB_LID_PERMISSIVE, 0,
				       directed(make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0)));
	}
	Bytes send(const PacketSpec &spec)
	{
		Bytes packet = make_packet(spec);
		w.deliver(a.at, a.data(packet));
		w.carry();
		return packet;
	}

	World w;
	Peer a{1, 0xA0}, b{2, 0xB0};
};

TEST_F(Fabric, PeersGetPortsAndComeUp)
{
	start();
	join();
	EXPECT_NE(w.port_of(a), w.port_of(b));
	EXPECT_TRUE(a.fsm.plugged);
	EXPECT_EQ(a.fsm.peer_node_guid, 0x0200000000000001u);
	EXPECT_EQ(a.fsm.peer_role, PIB_ROLE_SWITCH);
}

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

TEST_F(Fabric, TheVlIsThatOfTheTableAndTheIcrcStaysRight)
{
	start();
	join();
	w.port_of(b)->p.sl2vl[w.port_of(a)->p.num][5] = 3;
	send({.slid = 2, .dlid = 3, .sl = 5});
	ASSERT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(vl_of(b.packets[0]), 3);
	Packet parsed;
	ASSERT_EQ(parse_packet(b.packets[0], parsed), PIB_PARSE_OK);
	EXPECT_TRUE(icrc_is_right(parsed));
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

TEST_F(Fabric, LargePacketsTravelInSegments)
{
	start();
	join();
	for (const std::size_t length : {std::size_t{4096}, std::size_t{2000}}) {
		b.packets.clear();
		b.segments.clear();
		const Bytes packet = send({.slid = 2, .dlid = 3, .length = length});
		ASSERT_EQ(b.packets.size(), 1u) << length;
		EXPECT_EQ(b.packets[0], packet);
		EXPECT_EQ(b.segments.size(), length == 4096 ? 3u : 2u);
	}
}

TEST_F(Fabric, APeerWithoutSegmentsGetsOneLargeDatagram)
{
	start();
	b.caps = 0;
	join();
	const Bytes packet = send({.slid = 2, .dlid = 3, .length = 4096});
	ASSERT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(b.packets[0], packet);
	EXPECT_TRUE(b.segments.empty());
}

/// Frames as a peer makes them: packets end to end, cut into parts of 1000 bytes.
std::vector<Bytes> cut(const Peer &peer, const std::vector<Bytes> &packets, std::uint16_t frame)
{
	Bytes all;
	std::vector<std::size_t> starts;
	for (const Bytes &packet : packets) {
		starts.push_back(all.size());
		all.insert(all.end(), packet.begin(), packet.end());
	}
	std::vector<Bytes> out;
	const std::size_t total = (all.size() + 999) / 1000;
	for (std::size_t i = 0; i < total; i++) {
		pib_segment s{.flags = 0,
			      .tag = pib_link_tag(peer.fsm.peer_nonce),
			      .link_id = peer.fsm.remote_id,
			      .frame = frame,
			      .index = static_cast<std::uint8_t>(i),
			      .total = static_cast<std::uint8_t>(total),
			      .size = 1000,
			      .first = PIB_SEG_NO_FIRST};
		for (const std::size_t at : starts)
			if (at >= i * 1000 && at < (i + 1) * 1000 && s.first == PIB_SEG_NO_FIRST)
				s.first = static_cast<std::uint16_t>(at - i * 1000);
		Bytes bytes(PIB_SEG_HDR_LEN);
		pib_segment_build(&s, bytes.data());
		bytes.insert(bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(i * 1000),
			     all.begin() + static_cast<std::ptrdiff_t>(
						   std::min(all.size(), (i + 1) * 1000)));
		out.push_back(bytes);
	}
	return out;
}

TEST_F(Fabric, FramesArePutTogetherAndALostSegmentCostsItsPacketsOnly)
{
	start();
	join();
	std::vector<Bytes> packets;
	for (std::uint8_t i = 0; i < 5; i++)
		packets.push_back(make_packet({.slid = 2, .dlid = 3, .length = 2048, .fill = i}));
	auto segments = cut(a, packets, 1);
	std::reverse(segments.begin(), segments.end());
	for (const Bytes &one : segments)
		w.deliver(a.at, one);
	w.carry();
	EXPECT_EQ(b.packets, packets);

	// The fourth of the segments holds parts of the second packet.
	b.packets.clear();
	segments = cut(a, packets, 2);
	segments.erase(segments.begin() + 3);
	for (const Bytes &one : segments)
		w.deliver(a.at, one);
	for (std::uint16_t f = 3; f < 11; f++)
		w.deliver(a.at, cut(a, packets, f)[0]);
	w.carry();
	ASSERT_EQ(b.packets.size(), 4u);
	EXPECT_EQ(b.packets[0], packets[0]);
	EXPECT_EQ(b.packets[1], packets[2]);
	EXPECT_GE(w.count(PIB_US_RX_REASM), 1u);
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

TEST_F(Fabric, ALostPeerRaisesTrap128)
{
	start();
	join();
	pib_port &p0 = w.node().port(0).p;
	p0.lid = 7;
	p0.sm_lid = 2;
	w.peers = {&a};
	w.run(3500);
	EXPECT_EQ(w.port_of(b), nullptr);
	ASSERT_FALSE(a.packets.empty());
	Packet trap;
	ASSERT_EQ(parse_packet(a.packets[0], trap), PIB_PARSE_OK);
	const std::uint8_t *mad = trap.bytes + trap.header_length;
	EXPECT_EQ(trap.h.dlid, 2);
	EXPECT_EQ(mad[PIB_MAD_METHOD], PIB_METHOD_TRAP);
	EXPECT_EQ(pib_get16(mad + PIB_MAD_DATA + 4), 128);
}

TEST_F(Fabric, WhoHasGoneIsNotCalled)
{
	start();
	join();
	w.peers = {};
	w.run(3000);
	const auto said = w.count(PIB_US_TX_DATAGRAMS);
	w.run(3000);
	EXPECT_EQ(w.count(PIB_US_TX_DATAGRAMS), said);
	w.peers = {&a, &b};
	w.run(1000);
	EXPECT_TRUE(w.port_of(a) && w.port_of(b));
}

TEST_F(Fabric, ARestartedPeerGetsItsPortBackAfterADown)
{
	start();
	join();
	Port *const had = w.port_of(a);
	const auto downed = had->counts.link_downed;
	a.restart();
	w.run(1500);
	EXPECT_EQ(w.port_of(a), had);
	EXPECT_EQ(had->counts.link_downed, downed + 1);
	EXPECT_EQ(had->p.state, PIB_PORT_INIT);
}

TEST_F(Fabric, ARestartedDaemonTakesItsPeersBackAtTheirPorts)
{
	start();
	join();
	const auto had_a = w.port_of(a)->p.num, had_b = w.port_of(b)->p.num;
	World again;
	again.now = w.now;
	again.seed = 99;
	ASSERT_TRUE(again.configure(kOne));
	again.core.set_reservations(w.core.reservations());
	again.add(b);
	again.add(a);
	again.run(4000);
	ASSERT_TRUE(again.port_of(a) && again.port_of(b));
	EXPECT_EQ(again.port_of(a)->p.num, had_a);
	EXPECT_EQ(again.port_of(b)->p.num, had_b);
}

TEST_F(Fabric, OneTooManyIsRefusedAndToldWhy)
{
	start(R"({"switches": [{"name": "sw0", "ports": 2}]})");
	join();
	Peer c{3, 0xC0};
	w.add(c);
	w.run(1000);
	EXPECT_FALSE(c.fsm.plugged);
	EXPECT_EQ(c.refusal, PIB_REFUSED_FULL);
	EXPECT_TRUE(w.port_of(a) && w.port_of(b));
}

TEST_F(Fabric, TheSecondSwitchTakesWhatTheFirstCannot)
{
	start(R"({"switches": [{"name": "sw0", "ports": 1}, {"name": "sw1", "ports": 1}]})");
	w.add(a);
	w.add(b);
	w.run(1000);
	ASSERT_TRUE(w.port_of(a) && w.port_of(b));
	EXPECT_NE(w.port_of(a)->owner, w.port_of(b)->owner);
}

TEST_F(Fabric, OtherFabricsAndClosedSwitchesRefuse)
{
	start(R"({"switches": [{"name": "sw0", "fabric": 5, "accept": false}]})");
	a.fabric = 6;
	b.fabric = 5;
	w.add(a);
	w.add(b);
	w.run(1000);
	EXPECT_EQ(a.refusal, PIB_REFUSED_FABRIC);
	EXPECT_EQ(b.refusal, PIB_REFUSED_CLOSED);
	EXPECT_GE(w.count(PIB_US_RX_FABRIC), 1u);
}

TEST_F(Fabric, KeysMustAgree)
{
	start_keyed();
	b.key = Key(32, 8);
	Peer c{3, 0xC0};
	w.add(a);
	w.add(b);
	w.add(c);
	w.run(1000);
	EXPECT_TRUE(w.port_of(a));
	EXPECT_FALSE(w.port_of(b) || w.port_of(c));
	EXPECT_EQ(c.refusal, PIB_REFUSED_KEY);
	EXPECT_EQ(b.refusal, PIB_REFUSED_NOT) << "what it cannot check it does not believe";
	EXPECT_GE(w.count(PIB_US_RX_BAD_AUTH), 2u);
	w.port_of(a)->p.state = PIB_PORT_INIT;
	w.deliver(a.at, a.sealed(get_node_info()));
	w.carry();
	EXPECT_EQ(a.packets.size(), 1u);
}

/// Two switches of one fabric, whose keys are exchanged under two peers.
class Exchange : public Fabric {
protected:
	void SetUp() override
	{
		ASSERT_TRUE(set(old_key, {}));
		for (Peer *peer : {&a, &b})
			peer->rekey(old_key, {}, w.now);
		join();
	}
	Status set(const Key &first, const Key &second, Drop drop = Drop::unused)
	{
		Config config = *parse_config(
			R"({"switches": [{"name": "sw0", "ports": 1}, {"name": "sw1", "ports": 1}]})");
		for (SwitchConfig &node : config.switches) {
			node.key = first;
			node.second_key = second;
		}
		return w.core.configure(config, w.now, drop);
	}
	std::uint64_t ups(Peer &peer)
	{
		w.run(1500);
		Port *port = w.port_of(peer);
		if (!port || !port->link->is_up || !peer.fsm.plugged)
			return 0;
		// Data goes both ways.
		port->p.state = PIB_PORT_INIT;
		peer.packets.clear();
		w.deliver(peer.at, peer.sealed(get_node_info()));
		w.carry();
		return peer.packets.size() == 1 ? 1 + port->counts.link_downed : 0;
	}

	const Key old_key = Key(32, 7), new_key = Key(32, 8), third_key = Key(32, 9);
};

TEST_F(Exchange, StepByStepWithTwoRestarts)
{
	EXPECT_EQ(ups(a), 1u);
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	EXPECT_EQ(ups(a), 1u) << "that is no restart";
	ASSERT_TRUE(set(new_key, old_key));
	EXPECT_EQ(ups(a), 2u);
	EXPECT_EQ(ups(b), 2u);
	for (Peer *peer : {&a, &b})
		peer->rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(a), 3u);
	EXPECT_EQ(ups(b), 3u);
	ASSERT_TRUE(set(new_key, {}));
	for (Peer *peer : {&a, &b})
		peer->rekey(new_key, {}, w.now);
	EXPECT_EQ(ups(a), 3u);
	EXPECT_EQ(ups(b), 3u);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_AUTH), 0u);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_SEAL), 0u);
}

TEST_F(Exchange, WhoComesWithTheSecondKeyGetsAPort)
{
	ASSERT_TRUE(set(old_key, new_key));
	b.rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(b), 2u);
	b.restart();
	b.rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(b), 3u);
}

TEST_F(Exchange, WhoIsLeftBehindIsOut)
{
	ASSERT_TRUE(set(old_key, new_key));
	a.rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	EXPECT_EQ(ups(a), 2u);
	EXPECT_EQ(ups(b), 0u) << "it does not know the switch's key";
	a.rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(a), 3u);
	ASSERT_TRUE(set(new_key, {}));
	EXPECT_EQ(ups(a), 3u);
	EXPECT_EQ(ups(b), 0u);
	b.rekey(third_key, new_key, w.now);
	EXPECT_EQ(ups(b), 0u) << "it hears, and is not heard";
}

TEST_F(Exchange, AWrongOrderIsRefusedAndChangesNothing)
{
	auto refused = set(new_key, old_key);
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().text.find("not its second key before"), std::string::npos);
	EXPECT_EQ(ups(a), 1u);
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	EXPECT_EQ(ups(a), 2u);
	refused = set(new_key, {});
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().text.find("the peer uses the key that would go"),
		  std::string::npos);
	EXPECT_EQ(ups(a), 2u);
}

TEST_F(Exchange, WhoHasTheOldKeyAloneIsCutByForce)
{
	ASSERT_TRUE(set(old_key, new_key));
	a.rekey(new_key, old_key, w.now);
	b.credulous = true;
	ASSERT_TRUE(set(new_key, old_key));
	w.run(3000);
	const auto b_is_up = [&] {
		Port *port = w.port_of(b);
		return port && port->link->is_up;
	};
	ASSERT_TRUE(b_is_up()) << "by the old key";
	const auto had = ups(a);
	ASSERT_GT(had, 0u);
	const auto refused = set(new_key, {});
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().text.find("\"force\""), std::string::npos)
		<< refused.error().text;
	EXPECT_TRUE(b_is_up());
	ASSERT_TRUE(set(new_key, {}, Drop::forced));
	EXPECT_FALSE(b_is_up());
	EXPECT_EQ(ups(a), had);
	w.run(3000);
	EXPECT_FALSE(b_is_up());
}

TEST_F(Exchange, ForceMakesNoWrongOrderRight)
{
	ASSERT_FALSE(set(new_key, old_key, Drop::forced));
	ASSERT_FALSE(set(third_key, {}, Drop::forced));
	EXPECT_EQ(ups(a), 1u);
}

TEST_F(Exchange, ALinkThatIsJustRestartingCounts)
{
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	w.run(500);
	ASSERT_TRUE(set(new_key, old_key));
	ASSERT_EQ(w.port_of(a), nullptr) << "the restart is not over";
	const auto refused = set(new_key, {});
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().text.find("the peer uses the key that would go"),
		  std::string::npos);
	EXPECT_EQ(ups(a), 2u);
	EXPECT_EQ(ups(b), 2u);
	// Who stays away is waited for a moment only.
	for (Peer *peer : {&a, &b})
		peer->rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(a), 3u);
	EXPECT_EQ(ups(b), 3u);
	EXPECT_TRUE(set(new_key, {}));
}

TEST_F(Exchange, WhoIsAwayForLongDoesNotCount)
{
	ASSERT_TRUE(set(old_key, new_key));
	ASSERT_TRUE(set(new_key, old_key));
	w.run(PIB_DEAD_MS - 100);
	EXPECT_FALSE(set(new_key, {}));
	w.run(200);
	EXPECT_TRUE(set(new_key, {}));
}

TEST_F(Exchange, WhoIsLeftBehindIsSeen)
{
	const char *const text = pib_hello_refusal_text(PIB_REFUSED_KEY);
	Link &link = *w.port_of(b)->link;
	ASSERT_TRUE(set(old_key, new_key));
	a.rekey(new_key, old_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	w.run(4000);
	EXPECT_STREQ(link.refusal(w.now),
		     "the peer does not know this switch's key, but the second one");
	ASSERT_TRUE(set(new_key, {}));
	w.run(20000);
	EXPECT_STREQ(link.refusal(w.now), text) << "and is not known by the old one";
	EXPECT_NE(w.logged.str().find("peer has another key"), std::string::npos);
	EXPECT_EQ(w.port_of(a)->link->refusal(w.now), nullptr);
	b.rekey(new_key, {}, w.now);
	w.run(3000);
	ASSERT_TRUE(w.port_of(b));
	EXPECT_EQ(w.port_of(b)->link->refusal(w.now), nullptr);
}

TEST_F(Exchange, TheSealOfALostPeerGoesWithItsKey)
{
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	w.run(1500);
	Link &link = *w.port_of(b)->link;
	ASSERT_TRUE(link.seal);
	std::erase(w.peers, &b);
	w.run(2 * PIB_DEAD_MS);
	ASSERT_FALSE(link.is_up);
	ASSERT_TRUE(set(new_key, {}, Drop::forced));
	EXPECT_FALSE(link.seal);
}

TEST_F(Exchange, AReloadDoesNotOpenASwitch)
{
	for (const Drop drop : {Drop::unused, Drop::forced}) {
		const auto refused = set({}, {}, drop);
		ASSERT_FALSE(refused);
		EXPECT_NE(refused.error().text.find("restart"), std::string::npos)
			<< refused.error().text;
	}
	EXPECT_EQ(ups(a), 1u);
	// Nor one that is changed otherwise, too.
	Config config = *parse_config(R"({"switches": [{"name": "sw0", "ports": 7}]})");
	EXPECT_FALSE(w.core.configure(config, w.now));
	config.switches[0].key = old_key;
	EXPECT_TRUE(w.core.configure(config, w.now));
}

TEST_F(Exchange, ASealHasTheKeyOfEachSide)
{
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	w.run(1500);
	// The header and its tag are right, so the seal decides.
	const auto by = [&](const Key &own) {
		Bytes bytes = a.sealed(get_node_info());
		const Bytes plain = a.data(get_node_info());
		std::copy(plain.begin() + PIB_DG_HDR_LEN, plain.end(),
			  bytes.begin() + PIB_SEAL_HEAD_LEN);
		Seal seal(own, new_key, a.fsm.nonce, a.fsm.peer_nonce);
		seal.close(bytes);
		return bytes;
	};
	w.port_of(a)->p.state = PIB_PORT_INIT;
	w.deliver(a.at, by(new_key));
	w.deliver(a.at, by(third_key));
	EXPECT_EQ(w.count(PIB_US_RX_BAD_SEAL), 2u);
	w.net.sent.clear();
	w.deliver(a.at, by(old_key));
	EXPECT_EQ(w.count(PIB_US_RX_BAD_SEAL), 2u);
	ASSERT_EQ(w.net.sent.size(), 1u);
	const Bytes answer = w.net.sent[0].bytes;
	Bytes plain(answer.size());
	Seal wrong(old_key, old_key, a.fsm.nonce, a.fsm.peer_nonce);
	EXPECT_EQ(wrong.open(answer, plain), Opened::bad);
	Seal right(old_key, new_key, a.fsm.nonce, a.fsm.peer_nonce);
	EXPECT_EQ(right.open(answer, plain), Opened::opened);
}

TEST(SealKeys, AreWiped)
{
	alignas(Seal) std::array<std::uint8_t, sizeof(Seal)> memory{};
	Seal *seal = new (memory.data()) Seal(Key(32, 7), Key(32, 8), 1, 2);
	const auto filled = [&] {
		return std::count_if(memory.begin(), memory.end(), [](auto byte) { return byte; });
	};
	EXPECT_GT(filled(), 48);
	seal->~Seal();
	EXPECT_LT(filled(), 16);
}

TEST_F(Fabric, SealedDataIsTakenOnceAndUnchanged)
{
	start_keyed();
	join();
	w.deliver(a.at, a.data(get_node_info()));
	EXPECT_EQ(w.count(PIB_US_RX_UNSEALED), 1u);
	const Bytes good = a.sealed(get_node_info());
	for (std::size_t i = 0; i < good.size(); i++) {
		Bytes bad = good;
		bad[i] ^= 0x10;
		w.deliver(a.at, bad);
	}
	for (std::size_t length = 0; length < good.size(); length++)
		w.deliver(a.at, Bytes(good.begin(), good.begin() + static_cast<int>(length)));
	w.carry();
	EXPECT_TRUE(a.packets.empty());
	EXPECT_GE(w.count(PIB_US_RX_BAD_SEAL), good.size() - PIB_DG_HDR_LEN);
	w.deliver(a.at, good);
	w.deliver(a.at, good);
	w.carry();
	EXPECT_EQ(a.packets.size(), 1u);
	EXPECT_EQ(w.count(PIB_US_RX_REPLAYED), 1u);
}

TEST_F(Fabric, SealedDataOfAnOpenFabricIsNotTaken)
{
	start();
	join();
	Bytes bytes = a.data(get_node_info());
	bytes[1] |= PIB_DG_SEALED;
	w.deliver(a.at, bytes);
	w.carry();
	EXPECT_TRUE(a.packets.empty());
	EXPECT_EQ(w.count(PIB_US_RX_UNKNOWN_LINK), 1u);
}

TEST_F(Fabric, SealedDataOfAnotherSessionIsNotTaken)
{
	start_keyed();
	join();
	const Bytes old = a.sealed(get_node_info());
	a.restart();
	w.run(1000);
	ASSERT_TRUE(w.port_of(a)->link->established());
	Bytes moved = old;
	const Bytes now = a.sealed(get_node_info());
	std::copy_n(now.begin(), PIB_DG_HDR_LEN, moved.begin());
	w.deliver(a.at, old);
	w.deliver(a.at, moved);
	w.carry();
	EXPECT_TRUE(a.packets.empty());
	EXPECT_EQ(w.count(PIB_US_RX_BAD_SEAL), 1u);
	w.deliver(a.at, now);
	w.carry();
	EXPECT_EQ(a.packets.size(), 1u);
}

TEST_F(Fabric, SealedSuperPacketsOfPacketsAndOfSegments)
{
	start_keyed();
	join();
	for (const std::size_t length : {std::size_t{64}, std::size_t{2048}}) {
		Bytes all;
		std::size_t step = 0;
		for (int i = 0; i < 5; i++) {
			const Bytes one =
				a.sealed(make_packet({.slid = 2, .dlid = 3, .length = length}));
			step = one.size();
			all.insert(all.end(), one.begin(), one.end());
		}
		b.packets.clear();
		w.deliver(a.at, all, step);
		w.carry();
		EXPECT_EQ(b.packets.size(), 5u) << length;
	}
	EXPECT_FALSE(b.segments.empty());
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
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDR), 1u);
	w.deliver(a.at, changed(1, PIB_DG_NOICRC));
	EXPECT_EQ(w.count(PIB_US_RX_BAD_ICRC), 1u);
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

TEST_F(Fabric, APeerMayMoveButItsRecordedDatagramsMoveNothing)
{
	start();
	join();
	const auto next = [&] {
		for (;; w.now += 10 * kMs)
			if (const auto said = a.tick(w.now))
				return *said;
	};
	const Address home = a.at, elsewhere = address(9);
	const Bytes recorded = next();
	w.deliver(home, recorded);
	w.deliver(elsewhere, recorded);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDR), 1u);
	EXPECT_EQ(w.port_of(a)->link->path.remote, home);
	w.deliver(elsewhere, next());
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDR), 1u);
	EXPECT_EQ(w.port_of(a)->link->path.remote, elsewhere);
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

TEST_F(Fabric, AnUnpluggedPortIsDownAtBothEnds)
{
	start();
	join();
	Port &port = *w.port_of(a);
	w.core.plug(port, false, w.now);
	w.run(500);
	EXPECT_EQ(port.p.state, PIB_PORT_DOWN);
	EXPECT_FALSE(a.fsm.plugged);
	w.core.plug(port, true, w.now);
	w.run(500);
	EXPECT_EQ(port.p.state, PIB_PORT_INIT);
	EXPECT_TRUE(a.fsm.plugged);
}

TEST_F(Fabric, ReloadTouchesOnlyWhatChanged)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}]})");
	join();
	const auto downed = w.port_of(a)->counts.link_downed;
	ASSERT_TRUE(w.configure(R"({"switches": [{"name": "sw0", "ports": 4, "description": "core"},
                                           {"name": "sw1", "ports": 2}],
                              "cables": [["sw0/4", "sw1/1"]]})"));
	EXPECT_EQ(w.port_of(a)->counts.link_downed, downed);
	EXPECT_EQ(w.port_of(a)->p.state, PIB_PORT_ACTIVE);
	EXPECT_STREQ(w.node().node.desc, "core");
	EXPECT_EQ(w.node("sw1").port(1).p.state, PIB_PORT_INIT);
	ASSERT_TRUE(w.configure(
		R"({"switches": [{"name": "sw0", "ports": 4, "description": "core"}]})"));
	EXPECT_EQ(w.node().port(4).p.state, PIB_PORT_DOWN);
	EXPECT_EQ(w.core.find_switch("sw1"), nullptr);
	// Another size is another switch: its peers come back.
	ASSERT_TRUE(w.configure(R"({"switches": [{"name": "sw0", "ports": 8}]})"));
	EXPECT_EQ(w.port_of(a), nullptr);
	w.run(3000);
	EXPECT_TRUE(w.port_of(a) && w.port_of(b));
}

TEST_F(Fabric, ConfiguredLinksCallTheirPeer)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}], "cables": [["sw0/3", "udp:10.0.0.1"]]})");
	w.add(a);
	w.run(1000);
	ASSERT_TRUE(w.port_of(a));
	EXPECT_EQ(w.port_of(a)->p.num, 3);
}

/// What a peer without a port for it answers to the last hello that the daemon has sent.
Bytes refusal_of(const Net &net, std::uint8_t why)
{
	pib_hello h;
	std::uint32_t to = 0;
	std::uint8_t type = 0;
	const Bytes &hello = net.sent.back().bytes;
	EXPECT_EQ(pib_hello_parse(&h, &type, &to, hello.data(), hello.size()), 0);
	pib_hello answer{};
	answer.fabric = h.fabric;
	answer.role = PIB_ROLE_SWITCH;
	answer.mtu_cap = 5;
	answer.nonce = 7;
	answer.peer_nonce = h.nonce;
	answer.refusal = why;
	Bytes bytes(PIB_HELLO_WIRE_LEN);
	pib_hello_build(&answer, PIB_DG_BYE, h.link_id, bytes.data());
	return bytes;
}

TEST_F(Fabric, WhyThePeerHasNoPortIsKnownWhileItSaysSo)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}], "cables": [["sw0/3", "udp:10.0.0.1"]]})");
	w.core.timers(w.now);
	const Link &link = *w.node().port(3).link;
	EXPECT_EQ(link.refusal(w.now), nullptr);
	const Bytes refusal = refusal_of(w.net, PIB_REFUSED_FULL);
	w.deliver(b.at, refusal);
	EXPECT_EQ(link.refusal(w.now), nullptr) << "not from there";
	w.deliver(a.at, refusal);
	EXPECT_STREQ(link.refusal(w.now), "every port is taken");
	w.run(11000);
	EXPECT_EQ(link.refusal(w.now), nullptr);
}

TEST_F(Fabric, ThatTheKeysDifferIsKnownThoughItCannotBeProved)
{
	const std::string file = ::testing::TempDir() + "pibnetd_refused_key";
	std::ofstream(file) << std::string(32, 'k');
	start(R"({"switches": [{"name": "sw0", "ports": 4, "key_file": ")" + file +
	      R"("}], "cables": [["sw0/3", "udp:10.0.0.1"]]})");
	w.core.timers(w.now);
	const Link &link = *w.node().port(3).link;
	w.deliver(a.at, refusal_of(w.net, PIB_REFUSED_FULL));
	EXPECT_EQ(link.refusal(w.now), nullptr);
	w.deliver(a.at, refusal_of(w.net, PIB_REFUSED_KEY));
	EXPECT_STREQ(link.refusal(w.now), "the fabric's key is another one");
	EXPECT_EQ(w.count(PIB_US_RX_BAD_AUTH), 2u);
}

TEST_F(Fabric, WhoHearsBadlyDoesNotCallPeersDead)
{
	start();
	join();
	w.peers.clear();
	for (int i = 0; i < 1000; i++) {
		w.core.deaf(w.now);
		w.run(10);
	}
	EXPECT_TRUE(w.port_of(a) && w.port_of(b));
	w.run(PIB_DEAD_MS + 500);
	EXPECT_FALSE(w.port_of(a) || w.port_of(b));
}

TEST_F(Fabric, ATopologyFileSaysWhereHostsAre)
{
	const std::string file = ::testing::TempDir() + "pibnetd_places.net";
	std::ofstream(file)
		<< "switchguid=0x10\nSwitch 4 \"S\"\n[2] \"A\"[1]\n[3] \"B\"[1]\n"
		   "caguid=0xb0\nHca 1 \"A\"\n[1] \"S\"[2]\ncaguid=0x77\nHca 1 \"B\"\n[1] \"S\"[3]\n";
	start(R"({"topology": {"file": ")" + file + R"("}})");
	Peer c{3, 0xC0};
	for (Peer *peer : {&b, &a, &c}) {
		w.add(*peer);
		w.run(500);
	}
	ASSERT_TRUE(w.port_of(b));
	EXPECT_EQ(w.port_of(b)->p.num, 2);
	ASSERT_TRUE(w.port_of(a));
	EXPECT_EQ(w.port_of(a)->p.num, 3);
	EXPECT_FALSE(w.port_of(c));
	EXPECT_EQ(c.refusal, PIB_REFUSED_FULL);
}

TEST_F(Fabric, PingsComeBackAndHellosAreAnsweredWithoutALink)
{
	start();
	Ping ping;
	ping.run = 42;
	w.deliver(a.at, build_ping(ping, 1000, {}));
	ASSERT_EQ(w.net.sent.size(), 1u);
	EXPECT_EQ(w.net.sent[0].bytes.size(), 1000u);
	const auto pong = parse_ping(w.net.sent[0].bytes);
	ASSERT_TRUE(pong);
	EXPECT_EQ(pong->type, kPong);
	EXPECT_EQ(pong->run, 42u);
	EXPECT_EQ(pong->software, PingSoftware::pibnetd);
	EXPECT_TRUE(pong->flags & kPingFabric);
	w.net.sent.clear();
	// A pong is not answered: two daemons would play for ever.
	w.deliver(a.at, [&] {
		Bytes b2 = build_ping(ping, 100, {});
		b2[0] = 0x1F;
		return b2;
	}());
	EXPECT_TRUE(w.net.sent.empty());

	pib_hello h = a.say();
	h.caps = PIB_CAP_PROBE;
	h.nonce = 99;
	Bytes bytes(PIB_HELLO_WIRE_LEN);
	pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
	w.deliver(a.at, bytes);
	ASSERT_EQ(w.net.sent.size(), 1u);
	std::uint32_t to = 0;
	std::uint8_t type = 0;
	ASSERT_EQ(pib_hello_parse(&h, &type, &to, w.net.sent[0].bytes.data(), bytes.size()), 0);
	EXPECT_EQ(type, PIB_DG_HELLO_ACK);
	EXPECT_EQ(h.peer_nonce, 99u);
	for (unsigned i = 1; i <= 4; i++)
		EXPECT_EQ(w.node().port(i).link, nullptr);
}

} // namespace
} // namespace pib::netd
