// SPDX-License-Identifier: GPL-2.0
// Packets and MADs through the core, among peers in memory.
#include <gtest/gtest.h>

#include "core/fake_fabric.h"

namespace pib::netd {
namespace {

using namespace fake;

std::uint8_t vl_of(const Bytes &packet)
{
	return packet[0] >> 4;
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

constexpr char kClasses[] = R"({"dscp": "3=46,1=8", "ecn": true, "switches":
	[{"name": "sw0", "ports": 4, "guid": "0x0200000000000001"}]})";

class Classes : public Fabric {
protected:
	/// TOS of the datagrams in which the packets leave, which come at once.
	std::vector<int> tos_of(const std::vector<PacketSpec> &specs)
	{
		std::vector<int> tos;
		Bytes all;
		std::size_t step = 0;
		for (const PacketSpec &spec : specs) {
			const Bytes one = a.data(make_packet(spec));
			step = std::max(step, one.size());
			all.insert(all.end(), one.begin(), one.end());
		}
		before = w.net.messages;
		w.deliver(a.at, all, step);
		for (const Datagram &each : w.net.sent)
			tos.push_back(each.tos);
		w.carry();
		return tos;
	}
	std::size_t before = 0;
};

TEST_F(Classes, DataHasTheDscpOfItsServiceLevel)
{
	start(kClasses);
	join();
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 3, .sl = 3}}), std::vector{46 << 2});
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 3, .sl = 1, .length = 4096}}),
		  (std::vector{8 << 2, 8 << 2, 8 << 2}));
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 3}}), std::vector{0});
	start();
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 3, .sl = 3}}), std::vector{0}) << "reloaded";
}

TEST_F(Classes, DataMayBeMarkedIfItsSenderHearsOfThat)
{
	start(kClasses);
	b.caps |= PIB_CAP_ECN;
	join();
	std::uint32_t mask = 1u << w.port_of(b)->p.num;
	w.node().node.mft[1][0] = mask;
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 3, .sl = 3}}), std::vector{46 << 2 | 2});
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 3, .tp = PIB_TP_RC}}), std::vector{2});
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 3, .dqpn = 1}}), std::vector{0});
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 0xC001, .dqpn = 0xFFFFFF}}), std::vector{0});
	EXPECT_EQ(tos_of({{.slid = 2, .dlid = 3, .length = 0, .tp = PIB_TP_RC, .op = PIB_OP_ACK}}),
		  std::vector{0});
	EXPECT_EQ(
		tos_of({{.slid = 2, .dlid = 3, .length = 16, .tp = PIB_TP_CNP, .op = PIB_OP_CNP}}),
		std::vector{0});
}

TEST_F(Classes, ASuperPacketIsOfOneClass)
{
	start(kClasses);
	b.caps |= PIB_CAP_ECN;
	join();
	for (const std::size_t length : {std::size_t{1024}, std::size_t{2048}}) {
		const PacketSpec low{.slid = 2, .dlid = 3, .length = length, .fill = 1},
			high{.slid = 2, .dlid = 3, .sl = 3, .length = length, .fill = 2};
		b.packets.clear();
		auto tos = tos_of({low, low, high, high, high});
		EXPECT_EQ(w.net.messages, before + 2);
		tos.erase(std::unique(tos.begin(), tos.end()), tos.end());
		EXPECT_EQ(tos.size(), 2u) << length;
		EXPECT_EQ(b.packets.size(), 5u);
	}
}

class Arbitration : public Fabric {
protected:
	void SetUp() override
	{
		start();
		join();
	}
	/// VLs of the super-packets in which the packets leave for b, which come at once. Service
	/// levels have the VL of their number.
	std::vector<int> leave(const std::vector<Bytes> &packets)
	{
		std::vector<int> vls;
		Bytes all;
		std::size_t step = 0;
		for (const Bytes &packet : packets) {
			const Bytes one = a.data(packet);
			step = step ? step : one.size();
			EXPECT_TRUE(one.size() == step || &packet == &packets.back());
			all.insert(all.end(), one.begin(), one.end());
		}
		w.deliver(a.at, all, step);
		for (const Datagram &each : w.net.sent)
			if (each.bytes.size() > PIB_DG_HDR_LEN + kLrh && each.to == b.at)
				vls.push_back(each.bytes[PIB_DG_HDR_LEN] >> 4);
		w.carry();
		vls.erase(std::unique(vls.begin(), vls.end()), vls.end());
		return vls;
	}
	static std::vector<Bytes> of(std::uint8_t sl, std::size_t n)
	{
		return std::vector(
			n, make_packet({.slid = 2, .dlid = 3, .sl = sl, .length = PIB_MAD_SIZE}));
	}
	static std::vector<Bytes> joined(const std::vector<std::vector<Bytes>> &all)
	{
		std::vector<Bytes> one;
		for (const auto &each : all)
			one.insert(one.end(), each.begin(), each.end());
		return one;
	}
	pib_port &out() { return w.port_of(b)->p; }
};

TEST_F(Arbitration, LanesTakeTurns)
{
	const auto low = of(0, 2 * PIB_SEG_MAX), high = of(1, 2 * PIB_SEG_MAX);
	EXPECT_EQ(leave(joined({low, high})), (std::vector{0, 1, 0, 1}));
	EXPECT_EQ(b.packets.size(), 4u * PIB_SEG_MAX);
}

TEST_F(Arbitration, TheHighTableGoesFirst)
{
	out().vlarb[2][0][0] = 1;
	out().vlarb[2][0][1] = 255;
	out().vl_high_limit = 255;
	EXPECT_EQ(leave(joined({of(0, 2 * PIB_SEG_MAX), of(1, 3 * PIB_SEG_MAX), of(2, 1)})),
		  (std::vector{1, 0, 2, 0}));
}

TEST_F(Arbitration, ALaneThatIsAloneIsChargedToo)
{
	out().vlarb[0][0][1] = 0;
	out().vlarb[2][0][1] = 255;
	out().vl_high_limit = 0;
	const auto both = joined({of(1, PIB_SEG_MAX), of(0, PIB_SEG_MAX)});
	EXPECT_EQ(leave(both), (std::vector{0, 1}));
	EXPECT_EQ(leave(both), (std::vector{0, 1}));
}

TEST_F(Arbitration, ManagementGoesBeforeAll)
{
	const Bytes smp = make_mad_packet(2, 3, 0, make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0));
	const std::size_t before = w.net.management;
	EXPECT_EQ(leave(joined({of(0, 3), of(1, 3), {smp}})), (std::vector{15, 0, 1}));
	EXPECT_EQ(w.net.management, before + 1);
}

TEST_F(Arbitration, ALaneInNoTableGoesLast)
{
	out().vlarb[0][1][1] = 0;
	EXPECT_EQ(leave(joined({of(1, 3), of(0, 2 * PIB_SEG_MAX)})), (std::vector{0, 1}));
	EXPECT_EQ(b.packets.size(), 3u + 2 * PIB_SEG_MAX);
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
			      .tag = pib_session_tag(peer.session.peer_nonce),
			      .link_id = peer.session.remote_id,
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
	for (std::uint16_t f = 3; f < 3 + Frames::kPlaces; f++)
		w.deliver(a.at, cut(a, packets, f)[0]);
	w.carry();
	ASSERT_EQ(b.packets.size(), 4u);
	EXPECT_EQ(b.packets[0], packets[0]);
	EXPECT_EQ(b.packets[1], packets[2]);
	EXPECT_GE(w.count(PIB_US_RX_REASM), 1u);
}

std::size_t marked(const std::vector<Bytes> &packets)
{
	return static_cast<std::size_t>(
		std::count_if(packets.begin(), packets.end(), [](const Bytes &bytes) {
			Packet packet;
			EXPECT_EQ(parse_packet(bytes, packet), PIB_PARSE_OK);
			EXPECT_TRUE(icrc_is_right(packet));
			return packet.h.flags & PIB_H_FECN;
		}));
}

TEST_F(Fabric, MarksOfTheNetworkBecomeMarksOfPackets)
{
	start();
	join();
	EXPECT_TRUE(a.session.peer_caps & PIB_CAP_ECN);
	send({.slid = 2, .dlid = 3});
	EXPECT_EQ(w.count(PIB_US_RX_CE), 0u);
	EXPECT_EQ(marked(b.packets), 0u);
	w.ce = true;
	send({.slid = 2, .dlid = 3});
	EXPECT_EQ(w.count(PIB_US_RX_CE), 1u);
	EXPECT_EQ(marked(b.packets), 1u);
	w.deliver(a.at, a.data(make_mad_packet(2, 3, 1, make_smp(PIB_METHOD_GET, 1, 0))));
	w.carry();
	EXPECT_EQ(b.packets.size(), 3u);
	EXPECT_EQ(marked(b.packets), 1u) << "nobody slows down for management";
}

TEST_F(Fabric, AMarkedSegmentMarksItsFrame)
{
	start();
	join();
	const std::vector<Bytes> packets(
		3, make_packet({.slid = 2, .dlid = 3, .length = 2048, .fill = 1}));
	for (std::uint16_t frame = 1; frame <= 2; frame++) {
		for (const Bytes &one : cut(a, packets, frame)) {
			w.ce = frame == 2 && !w.count(PIB_US_RX_CE);
			w.deliver(a.at, one);
		}
		w.carry();
		EXPECT_EQ(b.packets.size(), 3u * frame);
		EXPECT_EQ(marked(b.packets), frame == 2 ? 3u : 0u);
	}
}

TEST_F(Fabric, ASealedMarkedDatagramIsMarked)
{
	start_keyed();
	join();
	w.ce = true;
	w.deliver(a.at, a.sealed(make_packet({.slid = 2, .dlid = 3})));
	w.carry();
	EXPECT_EQ(marked(b.packets), 1u);
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

TEST_F(Fabric, DataMayComeFromAnyPortOfThePeer)
{
	start();
	join();
	EXPECT_TRUE(a.session.peer_caps & PIB_CAP_FLOWS);
	Address flow = a.at;
	flow.port = 50000;
	w.deliver(flow, a.data(make_packet({.slid = 2, .dlid = 3})));
	w.carry();
	EXPECT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDR), 0u);
}

// A firewall or a NAT may let nothing but the links' own port through, and may change its mind.
TEST_F(Fabric, APeerIsToldWhetherItsFlowsComeIn)
{
	start();
	join();
	Address flow = a.at;
	flow.port = 50000;
	const auto told = [&] { return (a.session.peer_caps & PIB_CAP_FLOWS_COME) != 0; };
	w.run(PIB_KEEPALIVE_MS);
	EXPECT_FALSE(told());
	w.deliver(flow, a.probe());
	w.carry();
	EXPECT_TRUE(told()) << "at once";
	EXPECT_EQ(w.port_of(a)->link->path.remote, a.at);
	EXPECT_FALSE(b.session.peer_caps & PIB_CAP_FLOWS_COME);
	w.run(PIB_FLOW_PATIENCE_MS / 2);
	w.deliver(flow, a.probe());
	w.run(PIB_FLOW_PATIENCE_MS - PIB_KEEPALIVE_MS);
	EXPECT_TRUE(told());
	w.run(2 * PIB_KEEPALIVE_MS);
	EXPECT_FALSE(told()) << "none has come for long";
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDR), 0u);
}

TEST_F(Fabric, ProbesCountForTheirSessionOnly)
{
	start();
	join();
	Address flow = a.at;
	flow.port = 50000;
	const auto probe = [&] {
		w.deliver(flow, a.probe());
		w.carry();
		EXPECT_TRUE(a.told_flows);
		a.told_flows = false;
	};
	probe();
	a.restart();
	w.run(PIB_FLOW_PATIENCE_MS / 2);
	ASSERT_TRUE(w.port_of(a)->link->established());
	EXPECT_FALSE(a.told_flows) << "restarted";
	Port &port = *w.port_of(a);
	w.core.plug(port, false, w.now);
	w.run(PIB_KEEPALIVE_MS);
	probe();
	w.core.plug(port, true, w.now);
	w.run(PIB_FLOW_PATIENCE_MS / 2);
	ASSERT_TRUE(port.link->established());
	EXPECT_FALSE(a.told_flows) << "unplugged meanwhile";
	probe();
}

TEST_F(Fabric, AProbeThatIsNotThePeersCountsForNothing)
{
	start();
	join();
	Address flow = a.at;
	flow.port = 50000;
	w.deliver(address(9), a.probe());
	a.session.nonce++;
	const Bytes earlier = a.probe();
	a.session.nonce--;
	w.deliver(flow, earlier);
	Bytes hello = a.probe();
	hello[0] = PIB_DG_VERSION << 4 | PIB_DG_HELLO;
	w.deliver(flow, hello);
	w.deliver(a.at, a.probe());
	const Bytes recorded = a.probe();
	w.run((PIB_PROBE_LAG + 2) * PIB_KEEPALIVE_MS);
	w.deliver(flow, recorded);
	w.run(2 * PIB_KEEPALIVE_MS);
	EXPECT_FALSE(a.session.peer_caps & PIB_CAP_FLOWS_COME);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDR), 5u);
	EXPECT_EQ(w.port_of(a)->link->path.remote, a.at);
}

TEST_F(Fabric, APeerHearsWhichPaddedProbeCame)
{
	for (const bool keyed : {false, true}) {
		World fresh;
		Peer peer{3, 0xC0};
		const Key key = keyed ? Key(32, 7) : Key{};
		Config config = *parse_config(kOne);
		config.switches[0].key = key;
		ASSERT_TRUE(fresh.core.configure(config, fresh.now));
		peer.key = key;
		fresh.add(peer);
		fresh.run(500);
		ASSERT_TRUE(peer.session.peer_caps & PIB_CAP_PADDED);
		const auto probe = peer.padded(1500, fresh.now);
		ASSERT_TRUE(probe);
		EXPECT_EQ(probe->size(), 1472u);
		const std::uint64_t sent = fresh.count(PIB_US_TX_DATAGRAMS);
		fresh.deliver(peer.at, *probe);
		EXPECT_EQ(fresh.count(PIB_US_TX_DATAGRAMS), sent) << "it draws no answer";
		EXPECT_EQ(peer.session.pmtu.probed, 1500u);
		fresh.run(PIB_KEEPALIVE_MS);
		EXPECT_EQ(peer.session.pmtu.probed, 0u);
		EXPECT_EQ(peer.session.pmtu.lost, 0);
		EXPECT_EQ(fresh.count(PIB_US_RX_BAD_HELLO), 0u);
		fresh.deliver(peer.at, *probe);
		EXPECT_EQ(fresh.count(PIB_US_RX_BAD_HELLO), 1u) << "it came before";
		fresh.deliver(address(9), *probe);
		EXPECT_EQ(fresh.count(PIB_US_RX_WRONG_ADDR), 1u);
		Bytes other = *probe;
		other[155]++;
		fresh.deliver(peer.at, other);
		EXPECT_EQ(fresh.count(PIB_US_RX_BAD_AUTH), keyed ? 1u : 0u);
		other = *probe;
		other.pop_back();
		fresh.deliver(peer.at, other);
		const std::uint64_t bad = keyed ? 2 : 3;
		EXPECT_EQ(fresh.count(PIB_US_RX_BAD_HELLO), bad) << "not all of it";
		other = *probe;
		std::fill_n(other.begin() + 4, 4, 0);
		fresh.deliver(peer.at, other);
		EXPECT_EQ(fresh.count(PIB_US_RX_BAD_HELLO), bad + 1) << "to no link";
	}
}

TEST_F(Fabric, DatagramsBecomeSmallerIfLargeOnesGetLost)
{
	start();
	b.caps |= PIB_CAP_PADDED;
	b.carries = 1300;
	join();
	w.run(3000);
	EXPECT_EQ(pib_pmtu_size(&w.port_of(b)->link->session.pmtu), 1280u);
	EXPECT_EQ(w.count(PIB_US_TX_SHRUNK), 2u);
	EXPECT_NE(w.logged.str().find("large datagrams get lost"), std::string::npos);
	EXPECT_EQ(pib_pmtu_size(&w.port_of(a)->link->session.pmtu), 1500u)
		<< "it says nothing of any";
	const Bytes packet = make_packet({.slid = 2, .dlid = 3, .length = 4096});
	w.deliver(a.at, a.data(packet));
	std::size_t largest = 0;
	for (const Datagram &datagram : w.net.sent)
		largest = std::max(largest, datagram.bytes.size());
	EXPECT_LE(largest, 1280u - 28);
	EXPECT_GT(largest, 1200u);
	w.carry();
	ASSERT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(b.packets[0], packet);
	b.carries = 65535;
	w.run(10000);
	EXPECT_EQ(pib_pmtu_size(&w.port_of(b)->link->session.pmtu), 1500u);
	// Of the way to another address nothing is known.
	b.carries = 1300;
	w.run(10000);
	ASSERT_EQ(pib_pmtu_size(&w.port_of(b)->link->session.pmtu), 1280u);
	b.carries = 65535;
	b.at = address(77);
	w.run(1200);
	EXPECT_EQ(w.port_of(b)->link->path.remote, b.at);
	EXPECT_EQ(pib_pmtu_size(&w.port_of(b)->link->session.pmtu), 1500u);
}

/// It could not be sent what is larger than a size that was found, so none is looked for.
TEST_F(Fabric, APeerWithoutSegmentsGetsPacketsWhole)
{
	start();
	b.caps = PIB_CAP_PADDED;
	b.carries = 1300;
	join();
	w.run(10000);
	EXPECT_EQ(w.port_of(b)->link->session.pmtu.number, 0) << "no size is probed";
	EXPECT_EQ(pib_pmtu_size(&w.port_of(b)->link->session.pmtu), 1500u);
	EXPECT_EQ(w.count(PIB_US_TX_SHRUNK), 0u);
	const Bytes packet = make_packet({.slid = 2, .dlid = 3, .length = 4096});
	w.deliver(a.at, a.data(packet));
	w.carry();
	ASSERT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(b.packets[0], packet);
	EXPECT_TRUE(b.segments.empty());
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

/// On all lanes of all links, whose peers take nothing in.
TEST_F(Fabric, WhatWaitsForAllWindowsHasAnEnd)
{
	constexpr unsigned kPeers = 24, kVls = 8;
	Config config = *parse_config(R"({"switches": [{"name": "sw0", "ports": 28}]})");
	config.windows = true;
	ASSERT_TRUE(w.core.configure(config, w.now));
	join();
	std::deque<Peer> silent;
	for (unsigned i = 0; i < kPeers; i++) {
		w.add(silent.emplace_back(10 + i, 0x1000 + i));
		silent.back().caps |= PIB_CAP_WINDOWS;
	}
	w.run(3000);
	const auto lid_of = [](unsigned i) { return static_cast<std::uint16_t>(100 + i); };
	const auto link_of = [&](unsigned i) -> Link & { return *w.port_of(silent[i])->link; };
	for (unsigned i = 0; i < kPeers; i++) {
		ASSERT_TRUE(w.port_of(silent[i]) && link_of(i).windows) << i;
		Port &port = *w.port_of(silent[i]);
		w.activate(w.node(), port.p.num);
		w.route(w.node(), lid_of(i), port.p.num);
		for (std::uint8_t vl = 0; vl < kVls; vl++)
			port.p.sl2vl[w.port_of(a)->p.num][vl] = vl;
	}
	const auto flood = [&](unsigned i, std::uint8_t sl, unsigned n) {
		const Bytes one = a.data(
			make_packet({.slid = 2, .dlid = lid_of(i), .sl = sl, .length = 4096}));
		for (; n; n--)
			w.deliver(a.at, one);
		w.net.sent.clear();
	};
	const auto fill = [&](unsigned i) {
		for (std::uint8_t sl = 0; sl < kVls; sl++)
			flood(i, sl, 1);
		for (std::uint8_t sl = 0; sl < kVls; sl++)
			flood(i, sl, 320);
	};
	const auto held = [&] {
		std::size_t bytes = 0;
		for (unsigned i = 0; i < kPeers; i++)
			for (const Held &each : link_of(i).lanes.held)
				bytes += each.bytes();
		return bytes;
	};
	fill(0);
	EXPECT_GE(held(), std::size_t{kVls} << 19) << "up to 1 MiB on each lane";
	for (unsigned i = 1; i < kPeers; i++)
		fill(i);
	EXPECT_LE(held(), (std::size_t{128} << 20) + (std::size_t{kPeers * kVls} << 14));
	EXPECT_GE(held(), std::size_t{110} << 20);
	for (const Held &each : std::span(link_of(kPeers - 1).lanes.held).first(kVls))
		EXPECT_GE(each.bytes(), std::size_t{3 * 4096}) << "there is some for each";
	EXPECT_GT(w.count(PIB_US_TX_OVERDRAWN), 0u);
	// Lanes that are given up make room.
	for (unsigned i = 0; i < kPeers - 1; i++)
		w.core.plug(*w.port_of(silent[i]), false, w.now);
	const std::size_t before = link_of(kPeers - 1).lanes.held[0].bytes();
	flood(kPeers - 1, 0, 320);
	EXPECT_GE(link_of(kPeers - 1).lanes.held[0].bytes(), std::size_t{1 << 20} - 8192);
	EXPECT_LT(before, std::size_t{1 << 19});
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
