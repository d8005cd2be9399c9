// SPDX-License-Identifier: GPL-2.0
// How packets leave: the VL and the class of each, super-packets of one class, and lanes that take turns.
#include <gtest/gtest.h>

#include "core/fake_fabric.h"

namespace pib::netd {
namespace {

using namespace fake;

std::uint8_t vl_of(const Bytes &packet)
{
	return packet[0] >> 4;
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

} // namespace
} // namespace pib::netd
