// SPDX-License-Identifier: GPL-2.0
// Probes show of the way between two ends of a link whether flows' ports get through, and which sizes do.
#include <gtest/gtest.h>

#include "session_pair.h"

using namespace session_pair;

namespace {

class Flows : public ::testing::Test {
protected:
	void SetUp() override
	{
		ASSERT_TRUE(p.join(1000 * kMs));
		p.run(100 * kMs);
	}
	// End 0 probes. Returns what end 1 does.
	uint32_t probe(int32_t behind = 0, uint8_t type = PIB_DG_KEEPALIVE)
	{
		pib_hello h{}, seen;
		Bytes bytes;
		uint8_t parsed;
		uint32_t id;

		h.role = PIB_ROLE_SWITCH;
		h.mtu_cap = 5;
		pib_session_build_probe(&p.end[0].session, &h, bytes.data());
		EXPECT_EQ(pib_hello_parse(&seen, &parsed, &id, bytes.data(), bytes.size()), 0);
		EXPECT_EQ(parsed, PIB_DG_KEEPALIVE);
		seen.seq -= behind;
		return pib_session_rx_probe(&p.end[1].session, &seen, type, p.now);
	}
	// Looks from now on at all that end 1 says, to any session.
	void listen() { from = p.sent[1].size(); }
	unsigned told() const
	{
		unsigned n = 0;

		for (size_t i = from; i < p.sent[1].size(); i++) {
			pib_hello h;
			uint8_t type;
			uint32_t id;

			EXPECT_EQ(pib_hello_parse(&h, &type, &id, p.sent[1][i].data(),
						  PIB_HELLO_WIRE_LEN),
				  0);
			n += (h.caps & PIB_CAP_FLOWS_COME) != 0;
		}
		EXPECT_LT(from, p.sent[1].size());
		return n;
	}

	Pair p;
	size_t from = 0;
};

TEST_F(Flows, AProbeShowsThatTheyComeForAWhile)
{
	EXPECT_EQ(probe(), uint32_t{PIB_SESSION_DO_SEND}) << "news";
	EXPECT_EQ(probe(), 0u);
	listen();
	p.run((PIB_FLOW_PATIENCE_MS - 10) * kMs);
	EXPECT_EQ(told(), p.sent[1].size() - from);
	p.run(10 * kMs);
	listen();
	p.run(2000 * kMs);
	EXPECT_EQ(told(), 0u);
}

TEST_F(Flows, ProbesOfOtherSessionsAndOldOnesShowNothing)
{
	EXPECT_EQ(probe(0, PIB_DG_HELLO), uint32_t{PIB_SESSION_DO_REJECT});
	EXPECT_EQ(probe(PIB_PROBE_LAG + 1), uint32_t{PIB_SESSION_DO_REJECT});
	p.end[0].session.nonce += 2;
	EXPECT_EQ(probe(), uint32_t{PIB_SESSION_DO_REJECT});
	p.end[0].session.nonce -= 2;
	listen();
	p.run(1000 * kMs);
	EXPECT_EQ(told(), 0u);
	EXPECT_EQ(probe(PIB_PROBE_LAG), uint32_t{PIB_SESSION_DO_SEND});
}

TEST_F(Flows, ARestartedPeerIsToldNothingOfItsFormerSession)
{
	probe();
	p.restart(0);
	listen();
	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(1000 * kMs);
	EXPECT_EQ(told(), 0u);
}

TEST_F(Flows, WhatCameInASessionThatWasDownIsOver)
{
	p.reset(1, true);
	p.run(1000 * kMs);
	EXPECT_EQ(probe(), uint32_t{PIB_SESSION_DO_SEND}) << "it is down, and kept";
	p.reset(1, false);
	listen();
	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(1000 * kMs);
	EXPECT_EQ(told(), 0u);
}

TEST(Way, LargeDatagramsThatGetLostAreNoticed)
{
	Pair p;

	p.mtu = 1500;
	p.carries = 1300;
	ASSERT_TRUE(p.join(1000 * kMs));
	// At both ends at once: answers of one do not keep the other one from asking.
	p.run((500 + 2 * PIB_PMTU_PROBES * 2 * (PIB_PMTU_HURRY_MS + 10)) * kMs);
	for (const Peer &e : p.end) {
		EXPECT_EQ(pib_pmtu_size(&e.session.pmtu), 1280u);
		EXPECT_EQ(e.downs, 0);
	}
	EXPECT_EQ(p.refused, 0);
	EXPECT_LE(p.end[0].sent, 45);
	p.carries = 1500;
	p.run(10000 * kMs);
	EXPECT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 1500u);
	// The next session begins with the route's MTU.
	p.carries = 1300;
	p.run(10000 * kMs);
	EXPECT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 1280u);
	p.reset(0, false);
	ASSERT_TRUE(p.join(1000 * kMs));
	EXPECT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 0u);
	EXPECT_EQ(p.end[0].session.pmtu.limit, uint32_t{PIB_PMTU_OPEN});
}

TEST(Way, NoPaddedProbesForAPeerThatDoesNotKnowThem)
{
	for (const uint32_t caps : {0u, uint32_t{PIB_CAP_PADDED}, uint32_t{PIB_CAP_SEGMENTS}}) {
		Pair p;

		p.mtu = 1500;
		p.carries = 0;
		p.caps = caps;
		ASSERT_TRUE(p.join(1000 * kMs));
		p.run(60000 * kMs);
		EXPECT_TRUE(p.joined());
		EXPECT_EQ(p.end[0].session.pmtu.number, 0) << caps;
		EXPECT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 1500u);
		EXPECT_LE(p.end[0].sent, 125) << "keepalives only";
	}
}

// No datagram is larger than the MTU of both ports makes it. A peer may say another one within a session.
TEST(Way, PaddedProbesAreNoLargerThanData)
{
	constexpr uint32_t small = 1024 + PIB_PMTU_HEADERS;
	Pair p;

	p.mtu = 1500;
	p.carries = small;
	p.end[1].mtu_cap = 3;
	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(10000 * kMs);
	EXPECT_EQ(p.padded.size(), 2 * 2u) << "each has come";
	for (const pib_hello &h : p.padded)
		EXPECT_EQ(h.padded, small - 28);
	for (const Peer &e : p.end)
		EXPECT_EQ(pib_pmtu_size(&e.session.pmtu), 1500u);
	p.carries = 1300;
	p.end[1].mtu_cap = 5;
	p.run(10000 * kMs);
	for (const Peer &e : p.end) {
		EXPECT_EQ(pib_pmtu_size(&e.session.pmtu), 1280u);
		EXPECT_EQ(e.downs, 0);
	}
	p.padded.clear();
	p.end[1].mtu_cap = 3;
	p.run(10000 * kMs);
	EXPECT_FALSE(p.padded.empty());
	for (const pib_hello &h : p.padded)
		EXPECT_LE(h.padded, small - 28);
}

// A peer that asks all the time does not keep this end from finding out, nor from rising again.
TEST(Way, QuestionsDoNotPutPaddedProbesOff)
{
	Pair p;

	p.mtu = 1500;
	p.carries = 1300;
	ASSERT_TRUE(p.join(1000 * kMs));
	for (int i = 0; i < 20; i++) {
		p.ask(1);
		p.run(400 * kMs);
	}
	EXPECT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 1280u);
	p.carries = 1500;
	for (int i = 0; i < 40; i++) {
		p.ask(1);
		p.run(400 * kMs);
	}
	EXPECT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 1500u);
}

// Large datagrams get lost on the way, and both ends have found that out.
void find_hole(Pair &p)
{
	p.mtu = 1500;
	p.carries = 1300;
	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(3000 * kMs);
	ASSERT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 1280u);
}

TEST(Way, WhatWasFoundIsOfOneAddress)
{
	Pair p;

	ASSERT_NO_FATAL_FAILURE(find_hole(p));
	p.carries = 1500;
	p.end[0].session.flow_at = p.now;
	pib_session_moved(&p.end[0].session, true);
	EXPECT_EQ(p.end[0].session.flow_at, 0u);
	p.run(600 * kMs);
	EXPECT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 1500u);
	EXPECT_TRUE(p.joined());
}

// A peer may have an address of each IP version: what is sent goes to one of them.
TEST(Way, TheOtherAddressSaysNothingOfSizes)
{
	Pair p;

	ASSERT_NO_FATAL_FAILURE(find_hole(p));
	p.end[0].session.flow_at = p.now;
	pib_session_moved(&p.end[0].session, false);
	EXPECT_EQ(p.end[0].session.flow_at, 0u) << "the peer sends from there";
	p.run(100 * kMs);
	EXPECT_EQ(pib_pmtu_size(&p.end[0].session.pmtu), 1280u);
	EXPECT_EQ(p.end[0].session.pmtu.falls, 2u);
}

TEST(Way, PaddedProbesCostLittle)
{
	Pair p;

	p.mtu = 1500;
	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(60000 * kMs);
	EXPECT_LE(p.padded.size(), 2 * 13u);
	EXPECT_LE(p.end[0].sent, 125 + 2 * 13) << "a question and an answer for each";
}

// Old ones, and those of another session, count for nothing.
TEST(Way, PaddedProbesCountOnce)
{
	Pair p;

	p.mtu = 1500;
	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(12000 * kMs);
	ASSERT_GE(p.padded.size(), 4u);
	pib_session f = p.end[0].session;
	const pib_hello last =
		p.padded.back().nonce == f.peer_nonce ? p.padded.back() : *(p.padded.end() - 2);
	ASSERT_EQ(last.nonce, f.peer_nonce);
	for (const pib_hello &h : p.padded)
		EXPECT_FALSE(pib_session_take_padded(&f, &h, PIB_DG_KEEPALIVE));
	pib_hello h = last;
	h.seq = f.rx_seq;
	h.probe++;
	EXPECT_FALSE(pib_session_take_padded(&f, &h, PIB_DG_HELLO));
	h.peer_nonce++;
	EXPECT_FALSE(pib_session_take_padded(&f, &h, PIB_DG_KEEPALIVE));
	h.peer_nonce--;
	h.seq = f.rx_seq - PIB_PROBE_LAG - 1;
	EXPECT_FALSE(pib_session_take_padded(&f, &h, PIB_DG_KEEPALIVE));
	h.seq = f.rx_seq;
	EXPECT_TRUE(pib_session_take_padded(&f, &h, PIB_DG_KEEPALIVE));
	EXPECT_FALSE(pib_session_take_padded(&f, &h, PIB_DG_KEEPALIVE));
	// The sequence tells which probe is newer, so their own numbers may begin again.
	f.rx_seq = ++h.seq;
	h.probe = 1;
	EXPECT_TRUE(pib_session_take_padded(&f, &h, PIB_DG_KEEPALIVE));
	EXPECT_EQ(f.peer_probe, 1);
}

} // namespace
