// SPDX-License-Identifier: GPL-2.0
// Windows of VLs: what waits for a peer that takes in slowly, and what does not.
#include "core/fake_fabric.h"

namespace pib::netd {
namespace {

using namespace fake;

class Windows : public Fabric {
protected:
	void begin(bool keyed = false)
	{
		Config config = *parse_config(kOne);
		config.windows = true;
		config.data_class.dscp[0] = 46;
		if (keyed)
			config.switches[0].key = a.key = b.key = Key(32, 7);
		ASSERT_TRUE(w.core.configure(config, w.now));
		a.caps |= PIB_CAP_WINDOWS;
		b.caps |= PIB_CAP_WINDOWS;
		join();
		ASSERT_TRUE(a.session.peer_caps & PIB_CAP_WINDOWS);
		for (std::uint8_t vl = 0; vl < 8; vl++)
			w.port_of(b)->p.sl2vl[w.port_of(a)->p.num][vl] = vl;
		// The peers' hellos of the present sessions.
		a.credit(PIB_CREDIT_TELLS, w.now);
		b.credit(PIB_CREDIT_TELLS, w.now);
		a.credits.clear();
		b.credits.clear();
	}
	Bytes pack(const Bytes &packet)
	{
		return a.key.empty() ? a.data(packet) : a.sealed(packet);
	}
	/// Packets of 4 KiB go from a to b on that SL, which are numbered by their bytes.
	void flood(std::uint8_t sl, unsigned n)
	{
		for (unsigned i = 0; i < n; i++) {
			w.deliver(a.at, pack(make_packet({.slid = 2,
							  .dlid = 3,
							  .sl = sl,
							  .length = 4096,
							  .fill = number[sl]++})));
			w.carry();
		}
	}
	/// Packets that have come to b.
	std::size_t came(std::uint8_t vl) const
	{
		return static_cast<std::size_t>(
			std::count_if(b.packets.begin(), b.packets.end(),
				      [&](const Bytes &packet) { return packet[0] >> 4 == vl; }));
	}
	/// The packets of that VL have come in order.
	void expect_order(std::uint8_t vl) const
	{
		std::uint8_t next = 0;
		for (const Bytes &packet : b.packets)
			if (packet[0] >> 4 == vl)
				ASSERT_EQ(packet[40], next++);
	}
	/// b takes in what has come to it by now, or some of it, and says so.
	void take(pib_credit_kind kind = PIB_CREDIT_TELLS, std::size_t most = SIZE_MAX)
	{
		for (; taken < b.packets.size() && most--; taken++)
			pib_credits_take(
				&b.windows, b.packets[taken][0] >> 4,
				pib_credit_bytes(
					static_cast<std::uint32_t>(b.packets[taken].size()), 1),
				w.now);
		w.deliver(b.at, b.credit(kind, w.now));
		w.carry();
	}
	static constexpr std::size_t kPacket = 8 + 12 + 8 + 4096 + 4 + PIB_CREDIT_PACKET;
	static constexpr std::size_t kAlone = PIB_CREDIT_ALONE / kPacket + 1;
	static constexpr std::size_t kShare = PIB_CREDIT_SHARE / kPacket + 1;
	/// After so many the sender is told.
	static constexpr std::size_t kToldAlone = (PIB_CREDIT_ALONE / 4 + kPacket - 1) / kPacket;
	static constexpr std::size_t kToldShared = (PIB_CREDIT_SHARE / 4 + kPacket - 1) / kPacket;
	/// That wait at most.
	static constexpr std::size_t kHeld = (1 << 20) / kPacket;

	std::size_t taken = 0;
	std::array<std::uint8_t, 8> number{};
};

// Neither end alone makes a difference.
TEST_F(Windows, TheyAreOffByDefault)
{
	start();
	a.caps |= PIB_CAP_WINDOWS;
	b.caps |= PIB_CAP_WINDOWS;
	join();
	EXPECT_FALSE(b.session.peer_caps & PIB_CAP_WINDOWS) << "the daemon does not announce them";
	flood(0, kAlone + 100);
	EXPECT_EQ(b.packets.size(), kAlone + 100);
	w.run(1000);
	EXPECT_TRUE(a.credits.empty()) << "nor is the peer told anything";
	EXPECT_EQ(w.count(PIB_US_TX_WAITS), 0u);
	EXPECT_EQ(w.port_of(b)->link->credits.vl[0].sent, 0u) << "nothing is counted";
	w.deliver(b.at, b.credit(PIB_CREDIT_TELLS, w.now));
	EXPECT_EQ(w.count(PIB_US_RX_BAD_CREDITS), 1u);
}

TEST_F(Windows, WhatWaitsLeavesWhenTheyAreTurnedOff)
{
	begin();
	flood(0, kAlone + 10);
	ASSERT_EQ(came(0), kAlone);
	ASSERT_TRUE(w.core.configure(*parse_config(kOne), w.now));
	w.run(600);
	EXPECT_FALSE(b.session.peer_caps & PIB_CAP_WINDOWS);
	EXPECT_EQ(came(0), kAlone + 10);
	flood(0, kAlone);
	EXPECT_EQ(came(0), 2 * kAlone + 10);
	expect_order(0);
}

TEST_F(Windows, APeerWithoutThemGetsAllAtOnce)
{
	Config config = *parse_config(kOne);
	config.windows = true;
	ASSERT_TRUE(w.core.configure(config, w.now));
	join();
	EXPECT_TRUE(b.session.peer_caps & PIB_CAP_WINDOWS);
	flood(0, kAlone + 100);
	EXPECT_EQ(b.packets.size(), kAlone + 100);
	w.run(1000);
	EXPECT_TRUE(a.credits.empty()) << "nor is it told anything";
	EXPECT_TRUE(b.credits.empty());
	EXPECT_EQ(w.count(PIB_US_TX_WAITS), 0u);
}

TEST_F(Windows, WhatIsMoreThanAWindowWaitsUntilTheRestIsTakenIn)
{
	begin();
	flood(0, kAlone + 100);
	EXPECT_EQ(came(0), kAlone);
	EXPECT_EQ(w.count(PIB_US_TX_WAITS), 1u);
	take();
	EXPECT_EQ(came(0), kAlone + 100);
	expect_order(0);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_CREDITS), 0u);
}

/// Nobody computes anything under the lock, whatever a forged CREDIT names.
TEST_F(Windows, TheKeyIsFoundBeforeADatagramIsReceived)
{
	begin(true);
	const Bytes good = b.credit(PIB_CREDIT_TELLS, w.now);
	Bytes forged = b.credit(PIB_CREDIT_TELLS, w.now);
	forged[PIB_HELLO_MAC_OFF] ^= 1;
	const auto arrival = [&](const Bytes &bytes) {
		return Arrival{.path = {.socket = 0, .remote = b.at, .local = {}},
			       .bytes = bytes,
			       .step = bytes.size(),
			       .hop_limit = PIB_HOP_LIMIT};
	};
	std::vector<HelloKey> keys;
	w.core.check_hellos(arrival(good), keys);
	w.core.check_hellos(arrival(forged), keys);
	const HelloKey number = w.node().key_number;
	ASSERT_EQ(keys, (std::vector<HelloKey>{number, {}}));
	// The key that was found is believed.
	const auto refused = [&](const Bytes &bytes, HelloKey key) {
		const auto before = w.count(PIB_US_RX_BAD_AUTHENTICATION);
		w.core.receive(arrival(bytes), {&key, 1}, w.now);
		w.core.flush(w.now);
		return w.count(PIB_US_RX_BAD_AUTHENTICATION) - before;
	};
	EXPECT_EQ(refused(good, {}), 1u);
	EXPECT_EQ(refused(good, *number + 1), 1u) << "that of another fabric";
	EXPECT_EQ(refused(forged, number), 0u);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_CREDITS), 0u);
}

TEST_F(Windows, TheSameHoldsWithAKey)
{
	begin(true);
	flood(0, kAlone + 50);
	EXPECT_EQ(came(0), kAlone);
	Bytes forged = b.credit(PIB_CREDIT_TELLS, w.now);
	pib_put32(&forged[36], 100000000);
	w.deliver(b.at, forged);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_AUTHENTICATION), 1u);
	w.carry();
	EXPECT_EQ(came(0), kAlone);
	take();
	EXPECT_EQ(came(0), kAlone + 50);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_CREDITS), 0u);
	EXPECT_FALSE(a.credits.empty()) << "which is told, by its key";
}

TEST_F(Windows, OneVlDoesNotHoldUpTheOther)
{
	begin();
	flood(1, 1);
	flood(0, kShare + 100);
	EXPECT_EQ(came(0), kShare);
	flood(1, kShare - 1);
	EXPECT_EQ(came(1), kShare);
	flood(1, 5);
	EXPECT_EQ(came(1), kShare) << "it has a window as well";
	EXPECT_EQ(w.count(PIB_US_TX_WAITS), 2u);
	w.deliver(a.at,
		  a.data(make_mad_packet(2, 3, 0, make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0))));
	w.carry();
	EXPECT_EQ(came(15), 1u) << "management has none";
	take();
	EXPECT_EQ(came(0), 2 * kShare);
	EXPECT_EQ(came(1), kShare + 5);
}

TEST_F(Windows, ManagementOfAFullVlDoesNotWait)
{
	begin();
	flood(0, kAlone + 2 * kHeld);
	ASSERT_EQ(came(0), kAlone);
	Bytes gmp = make_mad_packet(2, 3, 1, make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0));
	ASSERT_EQ(gmp[0] >> 4, 0) << "QP1 has a VL of data";
	for (unsigned i = 0; i < 2; i++) {
		w.deliver(a.at, a.data(gmp));
		w.carry();
		EXPECT_EQ(came(0), kAlone + i + 1);
	}
	EXPECT_EQ(w.count(PIB_US_TX_OVERDRAWN), kHeld);
}

TEST_F(Windows, AWordOfCongestionDoesNotWait)
{
	begin();
	flood(0, kAlone + 1);
	ASSERT_EQ(came(0), kAlone);
	w.deliver(
		a.at,
		pack(make_packet(
			{.slid = 2, .dlid = 3, .length = 16, .tp = PIB_TP_CNP, .op = PIB_OP_CNP})));
	w.carry();
	EXPECT_EQ(came(0), kAlone + 1);
}

// Users may send to QP1.
TEST_F(Windows, WhatIsNotFromQp1IsNoManagement)
{
	begin();
	flood(0, kAlone);
	ASSERT_EQ(came(0), kAlone);
	for (const std::uint8_t tp : {PIB_TP_UD, PIB_TP_UC}) {
		w.deliver(a.at, pack(make_packet({.slid = 2, .dlid = 3, .dqpn = 1, .tp = tp})));
		w.carry();
		EXPECT_EQ(came(0), kAlone) << "it waits";
	}
	take();
	EXPECT_EQ(came(0), kAlone + 2);
}

// Management that is more than a window leaves others their part of it.
TEST_F(Windows, ManagementClosesNoWindowForGood)
{
	begin();
	flood(1, 1);
	flood(0, kShare);
	const Bytes gmp = make_mad_packet(2, 3, 1, make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0));
	for (unsigned i = 0; i < 2 * PIB_CREDIT_SHARE / 512; i++) {
		w.deliver(a.at, a.data(gmp));
		w.carry();
	}
	const std::size_t before = came(0);
	flood(0, kShare / 4);
	EXPECT_EQ(came(0), before) << "the window is full";
	// The first window is taken in. More than another one of management is on the way still.
	take(PIB_CREDIT_TELLS, kShare + 1 + PIB_CREDIT_SHARE / 512);
	EXPECT_GT(came(0), before);
}

TEST_F(Windows, WhatWaitsIsBounded)
{
	begin();
	flood(1, 1);
	flood(0, kShare + 2 * kHeld);
	EXPECT_EQ(w.count(PIB_US_TX_OVERDRAWN), kHeld);
	EXPECT_EQ(w.port_of(b)->counts.xmit_discard, kHeld);
	for (int i = 0; i < 10; i++)
		take();
	EXPECT_EQ(came(0), kShare + kHeld);
}

TEST_F(Windows, WhatWaitsKeepsItsOrderWhileMoreComes)
{
	begin();
	flood(1, 1);
	flood(0, kShare + 100);
	std::size_t all = kShare + 100;
	for (unsigned i = 0; i < 60; i++) {
		take(PIB_CREDIT_TELLS, i % 5);
		flood(0, i % 3);
		all += i % 3;
	}
	EXPECT_GT(came(0), kShare + 60);
	EXPECT_LT(came(0), all);
	while (taken < b.packets.size())
		take();
	EXPECT_EQ(came(0), all);
	expect_order(0);
	EXPECT_EQ(w.count(PIB_US_TX_OVERDRAWN), 0u);
}

// Nobody knows whom it is for after so long.
TEST_F(Windows, WhatWaitsForTooLongIsDropped)
{
	begin();
	flood(0, kAlone + 10);
	ASSERT_EQ(came(0), kAlone);
	const auto answer = [&] {
		for (const auto &m : std::exchange(b.credits, {})) {
			if (!m.asks)
				continue;
			// All that is asked for has been lost but a little.
			pib_credits_rx(&b.windows, &m, w.now);
		}
	};
	// The peer lives, and takes in next to nothing: too little for another packet.
	for (unsigned ms = 0; ms < 2000; ms += 100) {
		answer();
		pib_credits_take(&b.windows, 0, 1, w.now);
		w.deliver(b.at, b.credit(PIB_CREDIT_TELLS, w.now));
		w.run(100);
	}
	ASSERT_EQ(came(0), kAlone);
	EXPECT_EQ(w.port_of(b)->counts.xmit_discard, 0u);
	for (unsigned ms = 0; ms < 400; ms += 100) {
		answer();
		pib_credits_take(&b.windows, 0, 1, w.now);
		w.deliver(b.at, b.credit(PIB_CREDIT_TELLS, w.now));
		w.run(100);
	}
	EXPECT_EQ(w.count(PIB_US_TX_OVERDRAWN), 10u);
	EXPECT_EQ(w.port_of(b)->counts.xmit_discard, 10u);
	take();
	flood(0, 1);
	EXPECT_EQ(came(0), kAlone + 1);
}

TEST_F(Windows, WhatWaitsIsDroppedWhenTheLinkGoesDown)
{
	begin();
	flood(0, kAlone + 10);
	ASSERT_EQ(came(0), kAlone);
	Port &port = *w.port_of(b);
	w.core.plug(port, false, w.now);
	w.core.plug(port, true, w.now);
	w.run(1000);
	ASSERT_TRUE(w.port_of(b));
	w.activate(w.node(), port.p.num);
	take();
	flood(0, 1);
	EXPECT_EQ(came(0), kAlone + 1);
}

// It must not overtake the data of its VL. An answer must not wait behind data.
TEST_F(Windows, AQuestionGoesTheWayOfData)
{
	begin();
	flood(1, 1);
	flood(0, kShare + 10);
	ASSERT_EQ(came(0), kShare);
	const auto said = [&] {
		std::vector<Datagram> all;
		for (const Datagram &each : w.net.sent)
			if (each.to == b.at && (each.bytes[0] & 0xF) == PIB_DG_CREDIT)
				all.push_back(each);
		return all;
	};
	w.now += 2 * kMs;
	w.core.timers(w.now);
	auto all = said();
	ASSERT_EQ(all.size(), 1u);
	EXPECT_EQ(all[0].tos, 46 << 2);
	EXPECT_EQ(all[0].rank, Rank::data);
	w.carry();
	w.deliver(b.at, b.credit(PIB_CREDIT_ASKS, w.now));
	all = said();
	ASSERT_EQ(all.size(), 1u);
	EXPECT_EQ(all[0].tos, 0);
	EXPECT_EQ(all[0].rank, Rank::credit);
}

TEST_F(Windows, APeerThatIsSilentIsAskedAndWhatIsLostIsFound)
{
	begin();
	w.deliver(b.at, b.credit(PIB_CREDIT_TELLS, w.now));
	flood(1, 1);
	flood(0, kShare + 10);
	ASSERT_EQ(came(0), kShare);
	// All of it was lost on the way to b.
	taken = b.packets.size();
	unsigned questions = 0;
	for (int i = 0; i < 20 && came(0) == kShare; i++) {
		w.run(10);
		for (const auto &m : std::exchange(b.credits, {})) {
			if (!m.asks)
				continue;
			questions++;
			pib_credits_rx(&b.windows, &m, w.now);
			w.deliver(b.at, b.credit(PIB_CREDIT_ANSWERS, w.now));
			w.carry();
		}
	}
	EXPECT_EQ(came(0), kShare + 10);
	EXPECT_GE(questions, 1u);
	EXPECT_LE(questions, 5u);
}

TEST_F(Windows, APeerThatNeverAnswersHoldsNothingUp)
{
	begin();
	flood(1, 1);
	flood(0, kShare + 10);
	w.run(PIB_CREDIT_PATIENCE_MS + 200);
	EXPECT_EQ(came(0), kShare + 10);
}

TEST_F(Windows, APeerIsToldWhatIsTakenIn)
{
	begin();
	flood(0, kToldAlone - 1);
	EXPECT_TRUE(a.credits.empty());
	flood(0, 1);
	ASSERT_EQ(a.credits.size(), 1u);
	EXPECT_EQ(a.credits[0].taken[0], kToldAlone * kPacket);
	// Each of several VLs has a narrow window, and is told of sooner.
	w.deliver(a.at, a.data([] {
		Bytes packet = make_packet({.slid = 2, .dlid = 3, .length = 64});
		packet[0] = 0x10;
		return packet;
	}()));
	w.carry();
	EXPECT_EQ(a.credits.size(), 2u);
	flood(0, kToldShared - 1);
	EXPECT_EQ(a.credits.size(), 2u);
	flood(0, 1);
	ASSERT_EQ(a.credits.size(), 3u);
	flood(0, 1);
	EXPECT_EQ(a.credits.size(), 3u);
	w.run(2 * PIB_KEEPALIVE_MS);
	ASSERT_EQ(a.credits.size(), 4u) << "the rest with the next keepalive";
	EXPECT_EQ(a.credits[3].taken[0], (kToldAlone + kToldShared + 1) * kPacket);
	w.run(2 * PIB_KEEPALIVE_MS);
	EXPECT_EQ(a.credits.size(), 4u) << "and no more than that";
	w.deliver(a.at, a.credit(PIB_CREDIT_ASKS, w.now));
	w.carry();
	ASSERT_EQ(a.credits.size(), 5u);
	EXPECT_TRUE(a.credits[4].is_answer);
	EXPECT_EQ(a.credits[4].answers, a.windows.seq);
}

TEST_F(Windows, BadOnesAreCounted)
{
	begin();
	flood(0, 1);
	const Bytes good = b.credit(PIB_CREDIT_TELLS, w.now);
	w.deliver(address(9), good);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 1u);
	Bytes bad = good;
	bad[20]++;
	w.deliver(b.at, bad);
	bad = good;
	bad.pop_back();
	w.deliver(b.at, bad);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_CREDITS), 2u);
	bad = good;
	bad[4]++;
	w.deliver(b.at, bad);
	EXPECT_EQ(w.count(PIB_US_RX_UNKNOWN_LINK), 1u);
	w.deliver(b.at, good);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_CREDITS), 2u);
	w.deliver(b.at, good);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_CREDITS), 3u) << "it came before";
	bad = b.credit(PIB_CREDIT_TELLS, w.now);
	pib_put32(&bad[36], 1 << 30);
	w.deliver(b.at, bad);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_CREDITS), 4u) << "more than was sent";
}

TEST_F(Windows, ANewSessionCountsAnew)
{
	begin();
	flood(0, kAlone + 10);
	ASSERT_EQ(came(0), kAlone);
	b.restart();
	w.run(1000);
	ASSERT_TRUE(w.port_of(b));
	w.activate(w.node(), w.port_of(b)->p.num);
	EXPECT_EQ(came(0), kAlone) << "what waited is gone";
	flood(0, 10);
	EXPECT_EQ(came(0), kAlone + 10);
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

} // namespace
} // namespace pib::netd
