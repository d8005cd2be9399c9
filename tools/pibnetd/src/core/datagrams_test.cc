// SPDX-License-Identifier: GPL-2.0
// Packets in datagrams: frames of segments, marks of the network, and sizes that come through.
#include <gtest/gtest.h>

#include "core/fake_fabric.h"

namespace pib::netd {
namespace {

using namespace fake;

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
		// A sender names the end of the last packet as if another one followed.
		if (s.first == PIB_SEG_NO_FIRST && i + 1 == total && all.size() < total * 1000)
			s.first = static_cast<std::uint16_t>(all.size() - i * 1000);
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
	EXPECT_GE(w.count(PIB_US_RX_REASSEMBLY), 1u);
}

/// A frame that comes in one super-packet.
class PassingFrame : public Fabric {
protected:
	void SetUp() override
	{
		start();
		join();
		for (std::uint8_t i = 0; i < 5; i++)
			packets.push_back(make_packet(
				{.slid = 2, .dlid = 3, .dqpn = 9, .length = 2048, .fill = i}));
	}
	void send(std::vector<Bytes> segments)
	{
		Bytes all;
		for (const Bytes &segment : segments)
			all.insert(all.end(), segment.begin(), segment.end());
		b.packets.clear();
		b.segments.clear();
		w.net.messages = 0;
		w.deliver(a.at, all, segments[0].size());
		w.carry();
	}
	/// It left as it came, in parts of 1000 bytes, and not in such as the path has room for.
	bool passed() const
	{
		return w.net.messages == 1 && b.packets == packets && !b.segments.empty() &&
		       b.segments[0].size == 1000;
	}
	bool was_cut_anew() const
	{
		return b.packets == packets && (b.segments.empty() || b.segments[0].size != 1000);
	}

	std::vector<Bytes> packets;
};

TEST_F(PassingFrame, GoesOnAsItCame)
{
	const pib_counts in = w.port_of(a)->counts, out = w.port_of(b)->counts;
	send(cut(a, packets, 1));
	EXPECT_TRUE(passed());
	EXPECT_EQ(w.port_of(a)->counts.rcv_pkts - in.rcv_pkts, 5u);
	EXPECT_EQ(w.port_of(a)->counts.rcv_bytes - in.rcv_bytes, 5 * packets[0].size());
	EXPECT_EQ(w.port_of(b)->counts.xmit_pkts - out.xmit_pkts, 5u);
	EXPECT_EQ(w.port_of(b)->counts.vl_xmit_pkts[0] - out.vl_xmit_pkts[0], 5u);
	const std::uint16_t number = b.segments[0].frame;
	send(cut(a, packets, 1));
	EXPECT_TRUE(passed());
	EXPECT_EQ(b.segments[0].frame, number + 1) << "of the link that it leaves by";
}

TEST_F(PassingFrame, ChangesItsVl)
{
	Port &out = *w.port_of(b);
	out.p.sl2vl[w.port_of(a)->p.num][0] = 3;
	send(cut(a, packets, 1));
	for (Bytes &packet : packets)
		packet[0] |= 3 << 4;
	EXPECT_TRUE(passed());
	EXPECT_EQ(out.counts.vl_xmit_pkts[3], 5u);
}

TEST_F(PassingFrame, IsCutAnewForASmallerPath)
{
	w.net.mtu = 900;
	send(cut(a, packets, 1));
	EXPECT_TRUE(was_cut_anew());
}

TEST_F(PassingFrame, IsCutAnewIfItsHeadersAreWrong)
{
	auto segments = cut(a, packets, 1);
	pib_put16(&segments[3][14], 5);
	send(segments);
	EXPECT_TRUE(was_cut_anew());
	segments = cut(a, packets, 2);
	std::swap(segments[1], segments[2]);
	send(segments);
	EXPECT_TRUE(was_cut_anew()) << "out of order";
}

TEST_F(PassingFrame, IsTakenApartForSeveralLinks)
{
	packets[2] = make_packet({.slid = 2, .dlid = 2, .dqpn = 9, .length = 2048});
	send(cut(a, packets, 1));
	packets.erase(packets.begin() + 2);
	EXPECT_TRUE(was_cut_anew());
	EXPECT_EQ(w.port_of(a)->counts.relay_loop, 1u);
}

TEST_F(PassingFrame, IsMarkedAndDelayed)
{
	w.ce = true;
	send(cut(a, packets, 1));
	EXPECT_EQ(b.packets.size(), 5u);
	EXPECT_EQ(b.packets[0][kLrh + 4] & 0x80, 0x80);
	w.ce = false;
	model::LinkChange slow;
	slow.latency = 1000;
	w.core.change_faults(*w.port_of(b), slow, w.now);
	send(cut(a, packets, 2));
	EXPECT_TRUE(b.packets.empty());
	w.run(20);
	EXPECT_EQ(b.packets, packets);
}

/// Peers that leave the ICRC out.
class WithoutIcrc : public Fabric {
protected:
	void begin(std::uint32_t caps_of_b)
	{
		start();
		a.caps |= PIB_CAP_NOICRC;
		b.caps |= caps_of_b;
		join();
		ASSERT_TRUE(a.session.peer_caps & PIB_CAP_NOICRC);
	}
	static Bytes stripped(Bytes packet)
	{
		std::fill(packet.end() - PIB_ICRC_LEN, packet.end(), std::uint8_t{0});
		return packet;
	}
	void send_stripped(const Bytes &packet)
	{
		Bytes bytes = a.data(stripped(packet));
		bytes[1] |= PIB_DG_NOICRC;
		w.deliver(a.at, bytes);
		w.carry();
	}
	std::vector<Bytes> segments_of(const std::vector<Bytes> &packets, std::uint16_t number)
	{
		std::vector<Bytes> all;
		for (const Bytes &packet : packets)
			all.push_back(stripped(packet));
		std::vector<Bytes> segments = cut(a, all, number);
		for (Bytes &segment : segments)
			segment[1] |= PIB_DG_NOICRC;
		return segments;
	}
	void send_frame(const std::vector<Bytes> &packets, std::uint16_t number)
	{
		for (const Bytes &segment : segments_of(packets, number))
			w.deliver(a.at, segment);
		w.carry();
	}
	/// In one super-packet.
	void send_whole(const std::vector<Bytes> &packets, std::uint16_t number)
	{
		const std::vector<Bytes> segments = segments_of(packets, number);
		Bytes all;
		for (const Bytes &segment : segments)
			all.insert(all.end(), segment.begin(), segment.end());
		w.net.messages = 0;
		w.deliver(a.at, all, segments[0].size());
		w.carry();
	}

	const Bytes small = make_packet({.slid = 2, .dlid = 3});
	const Bytes large = make_packet({.slid = 2, .dlid = 3, .length = 4096});
};

TEST_F(WithoutIcrc, PacketsPassAsTheyAre)
{
	begin(PIB_CAP_NOICRC);
	send_stripped(small);
	send_frame({large, large}, 1);
	EXPECT_EQ(b.packets, (std::vector{stripped(small), stripped(large), stripped(large)}));
	EXPECT_EQ(b.without_icrc, 3u);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_ICRC), 0u);
}

TEST_F(WithoutIcrc, AWholeFramePassesAsItCame)
{
	begin(PIB_CAP_NOICRC);
	send_whole({large, large}, 1);
	EXPECT_EQ(b.packets, (std::vector{stripped(large), stripped(large)}));
	EXPECT_EQ(b.without_icrc, 2u);
	EXPECT_EQ(w.net.messages, 1u);
	ASSERT_FALSE(b.segments.empty());
	EXPECT_EQ(b.segments[0].size, 1000u);
}

TEST_F(WithoutIcrc, AWholeFrameIsCutAnewForAPeerThatWantsOne)
{
	begin(0);
	send_whole({large, large}, 1);
	EXPECT_EQ(b.packets, (std::vector{large, large}));
	EXPECT_EQ(b.without_icrc, 0u);
}

TEST_F(WithoutIcrc, APeerThatWantsOneGetsOne)
{
	begin(0);
	send_stripped(small);
	send_frame({large, large}, 1);
	EXPECT_EQ(b.packets, (std::vector{small, large, large}));
	EXPECT_EQ(b.without_icrc, 0u);
}

TEST_F(WithoutIcrc, AFrameHasPacketsOfOneKind)
{
	begin(PIB_CAP_NOICRC);
	const std::vector packets = {large, large};
	for (const Bytes &segment : cut(a, packets, 1))
		w.deliver(a.at, segment);
	send_frame(packets, 2);
	EXPECT_EQ(b.packets, (std::vector{large, large, stripped(large), stripped(large)}));
	EXPECT_EQ(b.without_icrc, 2u);
}

TEST_F(WithoutIcrc, ABadCableIsGivenOneByWhichDamageIsFound)
{
	begin(PIB_CAP_NOICRC);
	model::LinkChange slow;
	slow.latency = 1000;
	w.core.change_faults(*w.port_of(b), slow, w.now);
	send_stripped(large);
	w.run(20);
	EXPECT_EQ(b.packets, (std::vector<Bytes>{large}));
	EXPECT_EQ(b.without_icrc, 0u);
}

TEST_F(Fabric, PeersAreNotToldToLeaveTheIcrcOutIfTheUserWantsIt)
{
	Config config = *parse_config(kOne);
	config.icrc = true;
	ASSERT_TRUE(w.core.configure(config, w.now));
	join();
	EXPECT_FALSE(a.session.peer_caps & PIB_CAP_NOICRC);
}

TEST_F(WithoutIcrc, AReloadTellsThePeersAtOnce)
{
	begin(PIB_CAP_NOICRC);
	Config config = *parse_config(kOne);
	config.icrc = true;
	w.net.sent.clear();
	ASSERT_TRUE(w.core.configure(config, w.now));
	EXPECT_EQ(w.net.sent.size(), 2u);
	w.carry();
	EXPECT_FALSE(a.session.peer_caps & PIB_CAP_NOICRC);
	EXPECT_FALSE(b.session.peer_caps & PIB_CAP_NOICRC);
	// This was on its way.
	b.packets.clear();
	send_stripped(small);
	EXPECT_EQ(b.packets, (std::vector<Bytes>{small}));
	EXPECT_EQ(b.without_icrc, 0u);
	config.icrc = false;
	ASSERT_TRUE(w.core.configure(config, w.now));
	w.carry();
	EXPECT_TRUE(b.session.peer_caps & PIB_CAP_NOICRC);
	b.packets.clear();
	send_stripped(small);
	EXPECT_EQ(b.packets, (std::vector<Bytes>{stripped(small)}));
}

TEST_F(WithoutIcrc, AgentsAnswer)
{
	begin(PIB_CAP_NOICRC);
	a.packets.clear();
	send_stripped(get_node_info());
	EXPECT_EQ(a.packets.size(), 1u);
	EXPECT_EQ(a.without_icrc, 0u);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_ICRC), 0u);
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
		EXPECT_EQ(fresh.count(PIB_US_RX_WRONG_ADDRESS), 1u);
		Bytes other = *probe;
		other[155]++;
		fresh.deliver(peer.at, other);
		EXPECT_EQ(fresh.count(PIB_US_RX_BAD_AUTHENTICATION), keyed ? 1u : 0u);
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

} // namespace
} // namespace pib::netd
