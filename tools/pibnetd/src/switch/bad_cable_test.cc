// SPDX-License-Identifier: GPL-2.0
// Cables with faults, between switches and towards peers.
#include <gtest/gtest.h>

#include "core/fake_net.h"

namespace pib::netd {
namespace {

using namespace fake;

/// a -- sa/1 [sa] sa/2 -- sb/2 [sb] sb/1 -- b. a has LID 2, b has LID 3.
constexpr char kChain[] =
	R"({"switches": [{"name": "sa", "ports": 3}, {"name": "sb", "ports": 3, "accept": false}],
  "cables": [["sa/2", "sb/2"], ["sb/1", "udp:10.0.0.2"]]})";

class BadCable : public ::testing::Test {
protected:
	void SetUp() override
	{
		const auto done = w.configure(kChain);
		ASSERT_TRUE(done) << done.error().text;
		w.add(a);
		w.add(b);
		w.run(1000);
		ASSERT_TRUE(w.port_of(a) && w.port_of(b));
		for (Switch *node : {&sa(), &sb()})
			for (std::uint8_t port : {std::uint8_t{1}, std::uint8_t{2}})
				w.activate(*node, port);
		w.route(sa(), 3, 2);
		w.route(sb(), 3, 1);
	}

	Switch &sa() { return w.node("sa"); }
	Switch &sb() { return w.node("sb"); }

	/// From a.
	void pass(const Bytes &packet)
	{
		w.deliver(a.at, a.data(packet));
		w.carry();
	}

	/// Packets from a to b.
	void send(unsigned n, std::size_t length = 64)
	{
		for (unsigned i = 0; i < n; i++)
			pass(make_packet({.slid = 2,
					  .dlid = 3,
					  .length = length,
					  .fill = static_cast<std::uint8_t>(i)}));
	}

	/// Management from a to b, to QP qpn.
	void flood(unsigned n, std::uint32_t qpn)
	{
		const Bytes packet = make_mad_packet(2, 3, qpn, Bytes(256));
		for (unsigned i = 0; i < n; i++)
			pass(packet);
	}

	/// The cable under a port of sa: 2 leads to sb.
	void make(unsigned port, const model::LinkChange &change)
	{
		w.core.change_faults(sa().port(port), change, w.now);
	}

	World w;
	Peer a{1, 0xA0}, b{2, 0xB0};
};

model::LinkChange of_rate(std::uint64_t rate)
{
	model::LinkChange change;
	change.rate = rate;
	return change;
}

model::LinkChange lossy(std::uint64_t seed, std::uint32_t loss)
{
	model::LinkChange change;
	change.seed = seed;
	change.loss = loss;
	return change;
}

model::LinkChange healthy()
{
	model::LinkChange change;
	change.healthy = true;
	return change;
}

TEST_F(BadCable, TheSameSeedLosesTheSamePackets)
{
	const auto arrived = [&](std::uint64_t seed) {
		make(2, lossy(seed, 300'000'000));
		b.packets.clear();
		send(100);
		return b.packets;
	};
	const auto first = arrived(7);
	EXPECT_GT(first.size(), 40u);
	EXPECT_LT(first.size(), 95u);
	EXPECT_EQ(sb().port(2).counts.rcv_err, 100 - first.size());
	EXPECT_EQ(sa().port(2).counts.xmit_pkts, 100u);
	EXPECT_EQ(sb().port(2).faults.arrival->counts().lost, 100 - first.size());
	EXPECT_EQ(arrived(7), first);
	EXPECT_NE(arrived(8), first);
}

TEST_F(BadCable, APeersCableIsBadBothWays)
{
	make(1, lossy(7, PIB_FAULT_ALWAYS));
	send(10);
	EXPECT_TRUE(b.packets.empty());
	EXPECT_EQ(sa().port(1).counts.rcv_err, 10u);
	EXPECT_EQ(sa().port(1).faults.arrival->counts().lost, 10u);
	make(1, healthy());
	EXPECT_FALSE(sa().port(1).faults.arrival);
	w.core.change_faults(*w.port_of(b), lossy(7, PIB_FAULT_ALWAYS), w.now);
	send(10);
	EXPECT_TRUE(b.packets.empty());
	EXPECT_EQ(sb().port(1).faults.departure->counts().lost, 10u);
}

TEST_F(BadCable, DamageIsFoundByThePortOrByTheIcrc)
{
	model::LinkChange noisy;
	noisy.seed = 3;
	noisy.bit_errors = PIB_FAULT_BER_MAX / 20;
	make(2, noisy);
	send(20, 1024);
	EXPECT_LE(b.packets.size(), 3u);
	EXPECT_GE(sb().port(2).counts.symbol_err, sb().port(2).counts.rcv_err);
	EXPECT_GE(sb().port(2).counts.rcv_err, 17u);

	make(2, healthy());
	w.core.change_faults(*w.port_of(b), noisy, w.now);
	b.packets.clear();
	send(50, 1024);
	ASSERT_FALSE(b.packets.empty());
	std::size_t wrong = 0;
	for (const Bytes &bytes : b.packets) {
		Packet packet;
		wrong += parse_packet(bytes, packet) || !icrc_is_right(packet);
	}
	// All but those where a field was hit that switches may change, or no bit at all.
	EXPECT_GE(wrong + 4, b.packets.size());
}

TEST_F(BadCable, LatencyHoldsAPacketUntilItIsDue)
{
	model::LinkChange slow;
	slow.latency = 25 * kMs;
	make(2, slow);
	send(3);
	EXPECT_TRUE(b.packets.empty());
	EXPECT_LE(w.core.deadline(), w.now + 25 * kMs);
	w.run(20);
	EXPECT_TRUE(b.packets.empty());
	w.run(20);
	EXPECT_EQ(b.packets.size(), 3u);
}

TEST_F(BadCable, OthersOvertakeAndSomeComeTwice)
{
	model::LinkChange wild;
	wild.seed = 5;
	wild.reorder = PIB_FAULT_ALWAYS / 4;
	wild.duplicate = PIB_FAULT_ALWAYS / 4;
	make(2, wild);
	send(100);
	w.run(50);
	const pib_fault_counts &counts = sb().port(2).faults.arrival->counts();
	EXPECT_GT(counts.reordered, 5u);
	EXPECT_GT(counts.duplicated, 5u);
	EXPECT_EQ(b.packets.size(), 100 + counts.duplicated);
}

TEST_F(BadCable, ASlowCableFillsAndMarks)
{
	pib_cc_node &cc = sa().node.cc;
	cc.control_map = 0x1F;
	cc.threshold = 15;
	make(2, of_rate(1'000'000'000));
	send(500, 2048);
	EXPECT_GT(cc.events, 0u);
	send(300, 2048);
	EXPECT_GT(sa().port(2).counts.xmit_discard, 0u);
	w.run(50);
	std::size_t marked = 0, right = 0;
	for (const Bytes &bytes : b.packets) {
		Packet packet;
		ASSERT_EQ(parse_packet(bytes, packet), PIB_PARSE_OK);
		marked += (packet.h.flags & PIB_H_FECN) != 0;
		right += icrc_is_right(packet);
	}
	EXPECT_EQ(marked, cc.events);
	EXPECT_EQ(right, b.packets.size());
	EXPECT_EQ(b.packets.size() + sa().port(2).counts.xmit_discard, 800u);
}

TEST_F(BadCable, AFloodOfManagementIsBounded)
{
	make(2, of_rate(1'000'000));
	flood(9000, 1);
	EXPECT_EQ(sa().port(2).counts.xmit_discard, 808u);
	send(1);
	EXPECT_EQ(sa().port(2).counts.xmit_discard, 809u);
	flood(5000, 0);
	EXPECT_EQ(sa().port(2).counts.xmit_discard, 1713u) << "QP0 has room behind a flood to QP1";
	EXPECT_EQ(sa().port(2).counts.xmit_pkts, 3u * 4096);
}

TEST_F(BadCable, AFloodFromAPeerIsBounded)
{
	make(1, of_rate(1'000'000));
	flood(9000, 1);
	EXPECT_EQ(sa().port(1).counts.rcv_overrun, 808u);
	EXPECT_EQ(sa().port(1).counts.rcv_err, 808u);
}

TEST_F(BadCable, ItFlaps)
{
	model::LinkChange flap;
	flap.flap = {200, 100};
	make(2, flap);
	unsigned down = 0;
	for (int i = 0; i < 60; i++) {
		w.run(10);
		down += sa().port(2).p.state == PIB_PORT_DOWN;
		EXPECT_EQ(sa().port(2).p.state == PIB_PORT_DOWN,
			  sb().port(2).p.state == PIB_PORT_DOWN);
	}
	EXPECT_GE(down, 15u);
	EXPECT_LE(down, 25u);
	EXPECT_GE(sa().port(2).counts.link_downed, 1u);
	w.core.plug(sa().port(2), true, w.now);
	w.run(1000);
	EXPECT_EQ(sa().port(2).p.state, PIB_PORT_INIT);
	EXPECT_FALSE(sa().port(2).faults.any());
}

TEST_F(BadCable, PacketsAreCountedByVlAndSl)
{
	sa().port(2).p.sl2vl[1][6] = 0;
	const Bytes packet = make_packet({.slid = 2, .dlid = 3, .sl = 6});
	w.deliver(a.at, a.data(packet));
	w.carry();
	EXPECT_EQ(sa().port(1).counts.sl_rcv_bytes[6], packet.size());
	EXPECT_EQ(sa().port(2).counts.sl_xmit_bytes[6], packet.size());
	EXPECT_EQ(sa().port(2).counts.vl_xmit_pkts[0], 1u);
	EXPECT_EQ(sa().port(2).counts.vl_xmit_bytes[0], packet.size());
}

TEST_F(BadCable, FaultsGoWithTheCable)
{
	make(2, lossy(1, PIB_FAULT_ALWAYS));
	model::LinkChange slow;
	slow.latency = kMs;
	w.core.change_faults(*w.port_of(b), slow, w.now);
	send(1);
	ASSERT_TRUE(w.configure(R"({"switches": [{"name": "sa", "ports": 3}]})"));
	EXPECT_FALSE(sa().port(2).faults.any());
	w.run(100);
	EXPECT_EQ(w.core.find_switch("sb"), nullptr);
}

} // namespace
} // namespace pib::netd
