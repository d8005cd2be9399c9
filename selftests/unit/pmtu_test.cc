// SPDX-License-Identifier: GPL-2.0
// How large datagrams may be that reach the peer: a path that swallows large ones, loses any by chance, or changes; peers that lie.
#include <gtest/gtest.h>
#include <map>
#include <random>

extern "C" {
#include "../../kernel/proto/pmtu.h"
}

namespace {

constexpr uint64_t kMs = PIB_NSEC_PER_MSEC;

void bound(pib_pmtu &p, uint32_t mtu)
{
	const pib_pmtu_bounds bounds{mtu, PIB_PMTU_LEAST, PIB_PMTU_MOST};

	pib_pmtu_bound(&p, &bounds);
}

// One end and what its probes meet. As a link does, it speaks every 500 ms, and in a hurry every 100 ms; the peer answers at once.
class Path {
public:
	explicit Path(uint32_t route) : bounds{route, PIB_PMTU_LEAST, PIB_PMTU_MOST}
	{
		pib_pmtu_init(&p);
	}

	void run(uint64_t span)
	{
		for (const uint64_t until = now + span; now < until;) {
			speak();
			const uint64_t wait = pib_pmtu_hurries(&p) ? PIB_PMTU_HURRY_MS : 500;
			lowered += size() < bounds.mtu ? wait : 0;
			now += wait * kMs;
			total += wait;
		}
	}
	uint32_t size() const { return pib_pmtu_size(&p); }

	pib_pmtu p{};
	pib_pmtu_bounds bounds;
	bool overtaken = false;	  // what is sent behind a probe arrives before it
	uint32_t carries = 65536; // without a word to who sends more
	double loss = 0;
	uint64_t now = 1000 * kMs, lowered = 0, total = 0;
	int falls = 0;
	std::map<uint32_t, int> probes; // by size

private:
	bool lost() { return std::uniform_real_distribution<>(0, 1)(rng) < loss; }

	void speak()
	{
		pib_pmtu_bound(&p, &bounds);
		seq++;
		if (const uint32_t probe = pib_pmtu_next(&p, seq, now)) {
			probes[probe]++;
			if (probe <= carries && !lost())
				comes = p.number;
		}
		if (!overtaken)
			came = comes;
		if (lost())
			return;
		ack = seq;
		if (!lost())
			falls += pib_pmtu_heard(&p, came, ack, now);
		came = comes;
	}

	uint32_t seq = 0, ack = 0;
	uint16_t comes = 0, came = 0;
	std::mt19937_64 rng{1};
};

TEST(Pmtu, BeginsWithTheRoutes)
{
	Path w(1500);

	w.run(500 * kMs);
	EXPECT_EQ(w.size(), 1500u);
	EXPECT_EQ(w.probes[1500], 1);
	w.run(10 * PIB_PMTU_CONFIRM_MS * kMs);
	EXPECT_EQ(w.size(), 1500u);
	EXPECT_EQ(w.falls, 0);
	EXPECT_LE(w.probes[1500], 12) << "they are few";
	EXPECT_EQ(w.probes.size(), 1u);
}

TEST(Pmtu, NothingBeforeARouteIsKnown)
{
	pib_pmtu p{};

	pib_pmtu_init(&p);
	EXPECT_EQ(pib_pmtu_size(&p), 0u);
	EXPECT_EQ(pib_pmtu_next(&p, 1, 1000 * kMs), 0u);
	bound(p, PIB_PMTU_LEAST - 1);
	EXPECT_EQ(pib_pmtu_next(&p, 1, 1000 * kMs), 0u) << "there is nothing to choose from";
}

TEST(Pmtu, ABlackHoleIsFound)
{
	for (const auto &[route, carries, size, steps] : {
		     std::array{1500u, 1499u, 1400u, 1u},
		     std::array{1500u, 1300u, 1280u, 2u},
		     std::array{1500u, 1279u, 576u, 3u},
		     std::array{1350u, 1300u, 1280u, 1u},
		     std::array{9000u, 1500u, 1500u, 1u},
		     std::array{65535u, 1300u, 1280u, 3u},
	     }) {
		Path w(route);

		w.carries = carries;
		w.run(steps * PIB_PMTU_PROBES * 2 * PIB_PMTU_HURRY_MS * kMs + 500 * kMs);
		EXPECT_EQ(w.size(), size) << route << ' ' << carries;
		EXPECT_EQ(w.falls, static_cast<int>(steps));
		EXPECT_EQ(w.probes.rbegin()->second, PIB_PMTU_PROBES) << "of the first size";
		w.run(3600 * 1000 * kMs);
		EXPECT_EQ(w.size(), size) << "no better, no worse";
		EXPECT_EQ(w.falls, static_cast<int>(steps));
	}
}

TEST(Pmtu, ABlackHoleThatOpensLater)
{
	Path w(1500);

	w.run(60000 * kMs);
	w.carries = 1300;
	w.run((PIB_PMTU_CONFIRM_MS + 2000) * kMs);
	EXPECT_EQ(w.size(), 1280u);
}

// One probe in half a minute is all that is spent on a larger size that does not come through.
TEST(Pmtu, ALargerSizeIsProbedEverLessOften)
{
	Path w(1500);

	w.carries = 1300;
	w.run(120000 * kMs);
	w.probes.clear();
	w.run(600 * 1000 * kMs);
	EXPECT_LE(w.probes[1400], 21);
	EXPECT_GE(w.probes[1400], 19);
	EXPECT_EQ(w.probes.count(1500), 0u) << "step by step";
}

TEST(Pmtu, RisesAgain)
{
	Path w(9000);

	w.carries = 1300;
	w.run(600 * 1000 * kMs);
	EXPECT_EQ(w.size(), 1280u);
	w.carries = 65536;
	w.run((PIB_PMTU_RAISE_MAX_MS + 1000) * kMs);
	EXPECT_EQ(w.size(), 9000u);
	EXPECT_EQ(w.probes.rbegin()->first, uint32_t{PIB_PMTU_MOST});
}

TEST(Pmtu, TheFirstProbeOfALargerSizeComesSoon)
{
	Path w(1500);

	w.carries = 1400;
	w.run(900 * kMs);
	EXPECT_EQ(w.size(), 1400u);
	w.carries = 1500;
	w.run(1500 * kMs);
	EXPECT_EQ(w.size(), 1500u);
}

TEST(Pmtu, AProbeOrTwoThatAreLostChangeNothing)
{
	pib_pmtu p{};
	uint32_t seq = 0;
	uint64_t now = 1000 * kMs;
	const auto probe = [&](bool comes) {
		EXPECT_TRUE(pib_pmtu_next(&p, ++seq, now));
		now += PIB_PMTU_HURRY_MS * kMs;
		EXPECT_FALSE(pib_pmtu_next(&p, ++seq, now));
		EXPECT_FALSE(pib_pmtu_heard(&p, comes ? p.number : 0, seq, now));
		EXPECT_FALSE(p.probed);
		now += PIB_PMTU_CONFIRM_MS * kMs;
	};

	pib_pmtu_init(&p);
	bound(p, 1500);
	for (int i = 0; i < 100; i++) {
		for (int lost = 0; lost < PIB_PMTU_PROBES - 1; lost++)
			probe(false);
		probe(true);
		EXPECT_EQ(pib_pmtu_size(&p), 1500u);
		EXPECT_FALSE(pib_pmtu_hurries(&p));
	}
}

TEST(Pmtu, LossByChanceLowersForMomentsOnly)
{
	for (const auto &[loss, most] : {std::pair(0.1, 0.002), std::pair(0.3, 0.05)}) {
		Path w(1500);

		w.loss = loss;
		w.run(24 * 3600 * 1000 * kMs);
		EXPECT_LT(static_cast<double>(w.lowered) / static_cast<double>(w.total), most)
			<< loss << ", falls: " << w.falls;
		w.loss = 0;
		w.run(60000 * kMs);
		EXPECT_EQ(w.size(), 1500u);
	}
}

TEST(Pmtu, ABlackHoleIsFoundUnderLoss)
{
	Path w(1500);

	w.carries = 1300;
	w.loss = 0.3;
	w.run(10000 * kMs);
	EXPECT_LE(w.size(), 1280u);
}

TEST(Pmtu, SilenceIsNoLoss)
{
	Path w(1500);

	w.loss = 1;
	w.run(60000 * kMs);
	EXPECT_EQ(w.size(), 1500u);
	EXPECT_EQ(w.probes[1500], 1) << "it is still awaited";
	w.loss = 0;
	w.run(2000 * kMs);
	EXPECT_EQ(w.falls, 0);
}

// Small datagrams may be quicker: a network has several ways, a queue prefers them. The probe comes for all that.
TEST(Pmtu, AProbeThatIsOvertakenIsNotLost)
{
	Path w(1500);

	w.overtaken = true;
	w.run(600 * 1000 * kMs);
	EXPECT_EQ(w.falls, 0);
	w.carries = 1300;
	w.run((PIB_PMTU_CONFIRM_MS + 3000) * kMs);
	EXPECT_EQ(w.size(), 1280u);
	w.carries = 1500;
	w.run((PIB_PMTU_RAISE_MAX_MS + 3000) * kMs);
	EXPECT_EQ(w.size(), 1500u);
}

// Each IPv6 path carries 1280 bytes, and an IB MTU of 2048 makes no datagrams of 4000.
TEST(Pmtu, ALinkHasBounds)
{
	Path w(9000);

	w.bounds.least = 1280;
	w.bounds.most = 2272;
	w.carries = 2500;
	w.run(60000 * kMs);
	EXPECT_EQ(w.size(), 9000u);
	EXPECT_EQ(w.probes.rbegin()->first, 2272u);
	w.carries = 600;
	w.run(3600 * 1000 * kMs);
	EXPECT_EQ(w.size(), 1280u);
	w.bounds.most = 480;
	w.probes.clear();
	w.run(60000 * kMs);
	EXPECT_TRUE(w.probes.empty()) << "there is nothing to choose from";
}

TEST(Pmtu, WhatWasNotSentIsNotLost)
{
	pib_pmtu p{};

	pib_pmtu_init(&p);
	bound(p, 1500);
	for (uint32_t seq = 1; seq < 20; seq++) {
		ASSERT_EQ(pib_pmtu_next(&p, seq, seq * PIB_PMTU_HURRY_MS * kMs), 1500u);
		pib_pmtu_forget(&p, p.number - 1);
		EXPECT_TRUE(p.probed) << "another one";
		pib_pmtu_forget(&p, p.number);
		EXPECT_FALSE(pib_pmtu_heard(&p, 0, seq, seq * PIB_PMTU_HURRY_MS * kMs));
	}
	EXPECT_EQ(p.falls, 0u);
}

// A larger size that was to be probed is so the next time, and not the size in use, of which nothing is new.
TEST(Pmtu, ALargerSizeThatWasNotSentIsProbedNext)
{
	pib_pmtu p{};
	uint32_t seq = 0;
	uint64_t now = 1000 * kMs;

	pib_pmtu_init(&p);
	bound(p, 1500);
	p.limit = 1400;
	ASSERT_EQ(pib_pmtu_next(&p, ++seq, now), 1400u);
	pib_pmtu_heard(&p, p.number, seq, now);
	ASSERT_EQ(pib_pmtu_next(&p, ++seq, now), 1500u);
	pib_pmtu_forget(&p, p.number);
	bound(p, 9000);
	EXPECT_EQ(pib_pmtu_next(&p, ++seq, now), 1500u);
}

// The peer is not asked every 100 ms, unless there is something to be found out.
TEST(Pmtu, ARouteThatLeavesNothingToFindOut)
{
	pib_pmtu p{};
	uint64_t now = 1000 * kMs;

	pib_pmtu_init(&p);
	bound(p, 9000);
	p.limit = 1400;
	ASSERT_EQ(pib_pmtu_next(&p, 1, now), 1400u);
	pib_pmtu_heard(&p, p.number, 1, now);
	ASSERT_EQ(pib_pmtu_next(&p, 2, now), 1500u);
	pib_pmtu_heard(&p, p.number, 2, now);
	ASSERT_TRUE(pib_pmtu_hurries(&p)) << "more may come through";
	bound(p, 1500);
	EXPECT_EQ(pib_pmtu_next(&p, 3, now), 0u);
	EXPECT_FALSE(pib_pmtu_hurries(&p));
}

// A router that says so is followed as before, and what it says is proved.
TEST(Pmtu, ARouteThatChanges)
{
	Path w(1500);

	w.run(10000 * kMs);
	w.bounds.mtu = 1350;
	w.run(500 * kMs);
	EXPECT_EQ(w.size(), 1350u);
	EXPECT_EQ(w.probes[1350], 1);
	w.bounds.mtu = 1500;
	w.carries = 1300;
	w.run(3000 * kMs);
	EXPECT_EQ(w.size(), 1280u);
	w.bounds.mtu = 1200;
	w.run(1000 * kMs);
	EXPECT_EQ(w.size(), 1200u);
	w.bounds.mtu = 1500;
	w.run(1000 * kMs);
	EXPECT_EQ(w.size(), 1280u) << "what was found is kept";
}

TEST(Pmtu, AnAnswerIsOfOneProbe)
{
	pib_pmtu p{};

	pib_pmtu_init(&p);
	bound(p, 1500);
	ASSERT_EQ(pib_pmtu_next(&p, 1, 1000 * kMs), 1500u);
	const uint16_t first = p.number;
	EXPECT_FALSE(pib_pmtu_heard(&p, 0, 1, 1000 * kMs));
	EXPECT_TRUE(p.probed) << "what was sent with it may have overtaken it";
	EXPECT_EQ(pib_pmtu_next(&p, 2, 1050 * kMs), 0u) << "one at a time";
	EXPECT_FALSE(pib_pmtu_heard(&p, 0, 2, 1050 * kMs));
	EXPECT_EQ(pib_pmtu_next(&p, 3, 1100 * kMs), 0u);
	EXPECT_FALSE(pib_pmtu_heard(&p, 0, 2, 1100 * kMs));
	EXPECT_TRUE(p.probed) << "nothing that was sent long behind it has come";
	bound(p, 1280);
	ASSERT_EQ(pib_pmtu_next(&p, 4, 1200 * kMs), 1280u);
	EXPECT_EQ(pib_pmtu_next(&p, 5, 1300 * kMs), 0u);
	EXPECT_FALSE(pib_pmtu_heard(&p, first, 4, 1300 * kMs));
	EXPECT_TRUE(p.probed) << "what has come was of the size before";
	EXPECT_FALSE(pib_pmtu_heard(&p, first, 5, 1300 * kMs));
	EXPECT_EQ(p.lost, 1) << "nor does it count for this one";
	// A new session has other numbers than the last one, whose answers may be late.
	pib_pmtu_init(&p);
	bound(p, 1500);
	ASSERT_EQ(pib_pmtu_next(&p, 6, 1400 * kMs), 1500u);
	EXPECT_NE(p.number, first);
}

TEST(Pmtu, NumbersGoRound)
{
	Path w(1500);

	w.p.number = 0xFFFE;
	w.run(20000 * kMs);
	EXPECT_EQ(w.falls, 0);
	EXPECT_NE(w.p.number, 0);
}

// A peer that says what it likes gets datagrams of a size that a link may have, and draws a bounded number of probes.
TEST(Pmtu, APeerThatLies)
{
	std::mt19937_64 rng(7);

	for (int seed = 0; seed < 50; seed++) {
		pib_pmtu p{};
		uint64_t now = 1000 * kMs;
		int probes = 0;

		pib_pmtu_init(&p);
		bound(p, 9000);
		for (uint32_t seq = 1; seq <= 10000; seq++, now += PIB_PMTU_HURRY_MS * kMs) {
			const uint32_t size = pib_pmtu_next(&p, seq, now);

			probes += size != 0;
			ASSERT_LE(size, uint32_t{PIB_PMTU_MOST});
			ASSERT_TRUE(!size || size >= PIB_PMTU_LEAST);
			// At any rate between two that this end sends.
			for (int n = rng() % 20; n; n--)
				pib_pmtu_heard(&p, rng() % 3 ? p.number : rng() % 0x10000,
					       seq - rng() % 3 + rng() % 2, now);
			ASSERT_GE(pib_pmtu_size(&p), PIB_PMTU_LEAST);
			ASSERT_LE(pib_pmtu_size(&p), 9000u);
		}
		EXPECT_LE(probes, 10000) << "no more than one for each datagram of its own";
	}
}

TEST(Pmtu, APeerThatNeverAnswers)
{
	Path w(9000);

	w.carries = 0;
	w.run(3600 * 1000 * kMs);
	EXPECT_EQ(w.size(), PIB_PMTU_LEAST);
	int all = 0;
	for (const auto &[size, n] : w.probes)
		all += n;
	EXPECT_LE(all, 3600 * (PIB_PMTU_PROBES + 1) * 1000 / PIB_PMTU_CONFIRM_MS + 100);
}

} // namespace
