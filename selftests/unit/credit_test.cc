// SPDX-License-Identifier: GPL-2.0
// Windows of VLs over UDP: how wide they are, and what is lost, doubled or slow.
#include "credit_path.h"

namespace {

using namespace credit;

TEST(Credit, Bytes)
{
	pib_credits c{};
	pib_credit_msg m{};
	uint32_t to = 0;
	Wire bytes;

	pib_credits_init(&c, 0x0102030405060708, 0x1112131415161718);
	c.answers = 0x21222324;
	pib_credits_take(&c, 0, 0x01020304, kMs);
	pib_credits_take(&c, 14, 9, kMs);
	pib_credits_build(&c, 0x31323334, PIB_CREDIT_ASKS, 3, kMs, bytes.data());
	EXPECT_EQ(bytes[0], 0x26);
	EXPECT_EQ(bytes[4], 0x31);
	EXPECT_EQ(bytes[11], 1) << "its number";
	EXPECT_EQ(bytes[12], 0x21);
	EXPECT_EQ(bytes[16], 1);
	EXPECT_EQ(bytes[24], 0x11);
	EXPECT_EQ(bytes[32], 1);
	EXPECT_EQ(bytes[33], 3);
	EXPECT_EQ(bytes[36], 1);
	EXPECT_EQ(bytes[39], 4);
	EXPECT_EQ(bytes[36 + 4 * 14 + 3], 9);
	EXPECT_TRUE(std::all_of(bytes.begin() + 96, bytes.end(), [](auto x) { return !x; }));
	ASSERT_TRUE(pib_credit_parse(&m, &to, bytes.data(), bytes.size()));
	EXPECT_EQ(to, 0x31323334u);
	EXPECT_EQ(m.nonce, c.nonce);
	EXPECT_EQ(m.peer_nonce, c.peer_nonce);
	EXPECT_EQ(m.seq, 1u);
	EXPECT_EQ(m.answers, 0x21222324u);
	EXPECT_TRUE(m.asks);
	EXPECT_EQ(m.vl, 3);
	EXPECT_EQ(m.taken[0], 0x01020304u);
	EXPECT_EQ(m.taken[14], 9u);
	EXPECT_FALSE(pib_credit_parse(&m, &to, bytes.data(), bytes.size() - 1));
	EXPECT_FALSE(pib_credit_parse(&m, &to, bytes.data(), bytes.size() + 1));
	bytes[0] = 0x23;
	EXPECT_FALSE(pib_credit_parse(&m, &to, bytes.data(), bytes.size())) << "a KEEPALIVE";
	bytes[0] = 0x16;
	EXPECT_FALSE(pib_credit_parse(&m, &to, bytes.data(), bytes.size())) << "another version";
}

TEST(Credit, HowAVlStandsIsShown)
{
	pib_credits c{};
	pib_credit_view v{};

	pib_credits_init(&c, 1, 2);
	EXPECT_FALSE(pib_credits_view(&c, 3, kMs, &v));
	pib_credits_sent(&c, 3, 1000, kMs);
	EXPECT_TRUE(pib_credits_view(&c, 3, kMs, &v));
	EXPECT_EQ(v.window, PIB_CREDIT_ALONE);
	EXPECT_EQ(v.on_way, 1000u);
	EXPECT_FALSE(v.waits);
	EXPECT_FALSE(pib_credits_view(&c, 4, kMs, &v));
	pib_credits_sent(&c, 4, 1, kMs);
	pib_credits_wait(&c, 3, kMs);
	EXPECT_TRUE(pib_credits_view(&c, 3, kMs, &v));
	EXPECT_EQ(v.window, PIB_CREDIT_SHARE);
	EXPECT_TRUE(v.waits);
	EXPECT_FALSE(v.unbounded);
}

// The way stands still from the beginning, so there is nothing that the peer could tell. The VL is shown when it is given up, too.
TEST_F(Path, AVlIsShownThoughThePeerWasNeverHeard)
{
	pib_credit_view v{};

	rate = 0;
	run((PIB_CREDIT_PATIENCE_MS + 200) * kMs, {3});
	ASSERT_TRUE(a.off);
	EXPECT_TRUE(pib_credits_view(&a, 3, now, &v));
	EXPECT_TRUE(v.unbounded);
	EXPECT_FALSE(v.waits);
	EXPECT_GT(v.on_way, PIB_CREDIT_ALONE);
	EXPECT_FALSE(pib_credits_view(&a, 4, now, &v)) << "nothing was sent on it";
	rate = 1e9;
	run(100 * kMs, {3});
	EXPECT_TRUE(pib_credits_view(&a, 3, now, &v));
	EXPECT_FALSE(v.unbounded) << "the peer is heard";
}

TEST_F(Path, AWindowIsWideForOneVlAndNarrowForSeveral)
{
	rate = 0;
	for (int i = 0; i < 10000; i++)
		offer(3);
	EXPECT_EQ(sent[3], PIB_CREDIT_ALONE);
	EXPECT_EQ(waits, 1u);
	EXPECT_FALSE(pib_credits_overdrawn(&a, 3))
		<< "it is full, which those who can wait may find too late";
	pib_credits_sent(&a, 3, PIB_CREDIT_ALONE - 1, now);
	EXPECT_FALSE(pib_credits_overdrawn(&a, 3));
	pib_credits_sent(&a, 3, 1, now);
	EXPECT_TRUE(pib_credits_overdrawn(&a, 3));
	EXPECT_FALSE(pib_credits_overdrawn(&a, 4));
	for (int i = 0; i < 10000; i++)
		offer(4);
	EXPECT_EQ(sent[4], PIB_CREDIT_SHARE);
	EXPECT_EQ(waits, 2u);
	EXPECT_TRUE(pib_credits_open(&a, PIB_CREDIT_VLS, now));
	EXPECT_FALSE(pib_credits_overdrawn(&a, PIB_CREDIT_VLS));
	now += PIB_CREDIT_USE_MS * kMs;
	EXPECT_FALSE(pib_credits_open(&a, 4, now)) << "the other one waits";
	a.waits = 0;
	EXPECT_TRUE(pib_credits_open(&a, 4, now)) << "the other one is not in use";
	EXPECT_FALSE(pib_credits_open(&a, 3, now));
}

TEST_F(Path, AVlThatHasLittleOnItsWayIsNotHeldBackByOthers)
{
	rate = 0;
	EXPECT_FALSE(pib_credits_spare(&a, 0, now)) << "there is no other";
	for (int i = 0; i < 20; i++)
		offer(0);
	EXPECT_FALSE(pib_credits_spare(&a, 0, now));
	EXPECT_TRUE(pib_credits_spare(&a, 1, now)) << "before it has sent anything";
	offer(1);
	EXPECT_TRUE(pib_credits_spare(&a, 1, now));
	EXPECT_FALSE(pib_credits_spare(&a, 0, now)) << "it has filled what there is";
	for (int i = 0; i < 8; i++)
		offer(1);
	EXPECT_FALSE(pib_credits_spare(&a, 1, now));
	EXPECT_FALSE(pib_credits_spare(&a, PIB_CREDIT_VLS, now));
}

TEST_F(Path, AloneNothingIsLostOfTheRateAndLittleIsSaid)
{
	for (const double r : {1e7, 1e8, 8e8}) {
		rate = r;
		run(2000 * kMs, {0});
		const uint64_t before = taken[0], said = credits;
		run(1000 * kMs, {0});
		EXPECT_GE(taken[0] - before, r * 0.97);
		EXPECT_LE(credits - said, r / (PIB_CREDIT_ALONE / 4) * 1.1 + 500);
	}
	EXPECT_EQ(rejected, 0u);
}

TEST_F(Path, FarAwayTheRateIsThatOfTheWindow)
{
	rate = 1e9;
	delay = 20 * kMs;
	run(1000 * kMs, {0});
	const uint64_t before = taken[0];
	run(1000 * kMs, {0});
	EXPECT_GE(taken[0] - before, PIB_CREDIT_ALONE * 1000ull / 40 * 0.7);
}

TEST_F(Path, SeveralShareEvenlyAndLittleIsOnTheWay)
{
	rate = 1e8;
	run(100 * kMs, {0});
	run(200 * kMs, {0, 1});
	std::map<int, uint64_t> before = taken;
	deepest = 0;
	run(1000 * kMs, {0, 0, 0, 0, 0, 0, 0, 0, 1});
	const double first = taken[0] - before[0], second = taken[1] - before[1];
	EXPECT_NEAR(first / second, 1, 0.1) << "though the first one tries eight times as often";
	EXPECT_GE(first + second, rate * 0.95);
	EXPECT_LE(deepest, 2 * (PIB_CREDIT_SHARE + kBurst) + 100 * PIB_CREDIT_WIRE_LEN);
	EXPECT_EQ(rejected, 0u);
}

// On a slow path a VL waits for longer than it counts as in use. When it may go on, its sender may come later than others.
TEST_F(Path, AVlThatHasWaitedIsInUseUntilItSends)
{
	rate = 0;
	offer(0);
	while (offer(1))
		;
	while (offer(0))
		;
	now += 2 * PIB_CREDIT_USE_MS * kMs;
	EXPECT_FALSE(pib_credits_open(&a, 0, now)) << "the other one waits";
	pib_credits_take(&b, 1, kBurst, now);
	hear(a, queue, build(b, PIB_CREDIT_TELLS));
	EXPECT_FALSE(a.waits >> 1 & 1) << "it may go on";
	EXPECT_FALSE(pib_credits_open(&a, 0, now)) << "it will";
	now += PIB_CREDIT_USE_MS * kMs;
	EXPECT_TRUE(pib_credits_open(&a, 0, now)) << "it has not";
}

TEST_F(Path, ASlowPathIsSharedThoughOneSenderHasManyTurnsBeforeTheOther)
{
	rate = 1e6;
	run(1000 * kMs, {0, 1});
	std::map<int, uint64_t> before = taken;
	deepest = 0;
	std::vector<int> turns(64, 0);
	turns.push_back(1);
	most_bursts = 1;
	run(5000 * kMs, turns);
	const double first = taken[0] - before[0], second = taken[1] - before[1];
	EXPECT_NEAR(first / second, 1, 0.1);
	EXPECT_LE(deepest, 2 * (PIB_CREDIT_SHARE + kBurst) + 2000 * PIB_CREDIT_WIRE_LEN);
}

TEST_F(Path, ASlowPathIsNoLoss)
{
	rate = 1e6;
	run(3000 * kMs, {0, 1});
	EXPECT_LE(deepest, 2 * (PIB_CREDIT_SHARE + kBurst) + 2000 * PIB_CREDIT_WIRE_LEN);
	EXPECT_FALSE(a.off);
}

TEST_F(Path, QuestionsThatOvertakeDataCloseNothing)
{
	rate = 1e8;
	overtakes = true;
	run(500 * kMs, {0, 1});
	const uint64_t before = taken[0] + taken[1];
	run(500 * kMs, {0, 1});
	EXPECT_GE(taken[0] + taken[1] - before, rate * 0.5 * 0.95);
	// When what they have overtaken has come the windows are as they were.
	overtakes = false;
	run(500 * kMs, {0, 1});
	expect_windows_hold(500 * kMs);
}

TEST_F(Path, AQuestionMayStandBehindALongQueue)
{
	rate = 3e6;
	run(3000 * kMs, {0});
	EXPECT_LE(deepest, PIB_CREDIT_ALONE + kBurst + 100 * PIB_CREDIT_WIRE_LEN);
	EXPECT_EQ(a.vl[0].patience, 0u);
	run(2000 * kMs, {0, 1});
	expect_windows_hold(1000 * kMs);
}

TEST_F(Path, WhatIsLostDoesNotCloseAWindow)
{
	for (const double p : {0.01, 0.1, 0.5}) {
		loss = p;
		rate = 1e8;
		run(500 * kMs, {0, 1});
		const uint64_t before = taken[0] + taken[1];
		run(1000 * kMs, {0, 1});
		EXPECT_GE(taken[0] + taken[1] - before, rate * (1 - p) * 0.3) << p;
	}
	loss = 1;
	run(300 * kMs, {0});
	loss = 0;
	const uint64_t before = taken[0];
	run(100 * kMs, {0});
	EXPECT_GE(taken[0] - before, rate / 20);
}

TEST_F(Path, ALostVlIsFoundThoughAnotherOneSpeaks)
{
	rate = 1e8;
	run(200 * kMs, {0, 1});
	// All of VL 0 that is on its way gets lost, and VL 1 goes on.
	loss = 1;
	while (pib_credits_open(&a, 0, now))
		offer(0);
	loss = 0;
	queued -= kBurst * std::erase_if(queue, [](const Item &item) { return !item.vl; });
	const uint64_t before = taken[0];
	run(50 * kMs, {0, 1});
	EXPECT_GT(taken[0], before);
}

TEST_F(Path, CreditsThatGetLostAreMadeUpFor)
{
	rate = 1e8;
	for (const double p : {0.1, 0.5}) {
		credit_loss = p;
		const uint64_t before = taken[0] + taken[1];
		run(1000 * kMs, {0, 1});
		EXPECT_GE(taken[0] + taken[1] - before, rate * (p > 0.2 ? 0.1 : 0.8)) << p;
	}
	// For a while all do.
	credit_loss = 1;
	run(100 * kMs, {0, 1});
	credit_loss = 0;
	const uint64_t before = taken[0] + taken[1];
	run(500 * kMs, {0, 1});
	EXPECT_GE(taken[0] + taken[1] - before, rate * 0.5 * 0.8);
}

TEST_F(Path, APeerThatDoesNotAnswerGetsNoWindows)
{
	rate = 1e8;
	credit_loss = 1;
	run((PIB_CREDIT_PATIENCE_MS + 200) * kMs, {0, 1});
	EXPECT_TRUE(a.off);
	const uint64_t before = taken[0] + taken[1];
	most_bursts = 1;
	run(1000 * kMs, {0, 1});
	EXPECT_GE(taken[0] + taken[1] - before, rate * 0.9);
	EXPECT_LE(asked[0], 21u);
	EXPECT_LE(asked[1], 21u);
	credit_loss = 0;
	rate = 1e10;
	run(1000 * kMs, {0, 1});
	EXPECT_FALSE(a.off) << "it is heard again";
	// and the windows hold again, when each VL has once been asked for
	rate = 1e8;
	most_bursts = 4;
	run(20 * kMs, {0, 1});
	expect_windows_hold(500 * kMs);
}

TEST_F(Path, WhatIsDoubledDoesNotClose)
{
	rate = 1e8;
	doubles = 0.05;
	run(500 * kMs, {0, 1});
	const uint64_t before = taken[0];
	run(500 * kMs, {0, 1});
	EXPECT_GT(taken[0], before);
	doubles = 0;
	run(500 * kMs, {0, 1});
	deepest = 0;
	run(500 * kMs, {0, 1});
	EXPECT_LE(deepest, 4 * PIB_CREDIT_SHARE);
}

TEST_F(Path, CountsComeRound)
{
	rate = 1e9;
	for (pib_credits *c : {&a, &b}) {
		pib_credit_vl &v = c->vl[0];
		v.sent = v.taken = v.asked = v.in = v.told = 0xFFFF0000;
	}
	a.seq = b.seq = a.heard = b.heard = 0xFFFFFFF0;
	loss = 0.01;
	run(300 * kMs, {0, 1});
	EXPECT_LT(a.vl[0].sent, 0xFFFF0000u);
	EXPECT_LT(b.seq, 0xFFFFFFF0u);
	EXPECT_NE(b.seq, 0u);
	EXPECT_EQ(rejected, 0u);
	const uint64_t before = taken[0] + taken[1];
	run(100 * kMs, {0, 1});
	EXPECT_GT(taken[0] + taken[1] - before, 10000000u);
}

TEST_F(Path, ASecondVlIsToldAtOnce)
{
	EXPECT_FALSE(pib_credits_owes(&b));
	EXPECT_FALSE(pib_credits_take(&b, 0, PIB_CREDIT_ALONE / 4 - 1, now));
	EXPECT_TRUE(pib_credits_owes(&b));
	EXPECT_TRUE(pib_credits_take(&b, 1, 1, now));
	build(b, PIB_CREDIT_TELLS);
	EXPECT_FALSE(pib_credits_owes(&b));
	EXPECT_FALSE(pib_credits_take(&b, 0, kSharedUpdates - 1, now));
	EXPECT_FALSE(pib_credits_take(&b, 1, 1, now));
	EXPECT_TRUE(pib_credits_take(&b, 0, 1, now));
	EXPECT_FALSE(pib_credits_take(&b, PIB_CREDIT_VLS, 1 << 30, now));
}

TEST_F(Path, NumbersAreNeverZero)
{
	a.seq = 0xFFFFFFFF;
	EXPECT_EQ(parse(build(a, PIB_CREDIT_TELLS)).seq, 1u);
}

TEST_F(Path, WhatIsNeverTakenInDoesNotComeRound)
{
	for (int i = 0; i < 5 * 1024; i++) {
		pib_credits_sent(&a, 0, 1 << 20, now);
		ASSERT_EQ(pib_credits_overdrawn(&a, 0), i >= 7) << i;
	}
}

// A question says that windows are narrow, for the receiver may see one VL alone.
TEST_F(Path, WhoHasNarrowWindowsIsToldMoreOften)
{
	rate = 0;
	offer(0);
	EXPECT_FALSE(parse(build(a, PIB_CREDIT_ASKS, 0)).is_shared);
	offer(1); // of which nothing comes
	const auto told_after = [&] {
		for (uint32_t n = kBurst;; n += kBurst)
			if (pib_credits_take(&b, 0, kBurst, now)) {
				build(b, PIB_CREDIT_TELLS);
				return n;
			}
	};
	EXPECT_EQ(told_after(), PIB_CREDIT_ALONE / 4);
	hear(b, back, build(a, PIB_CREDIT_ASKS, 0));
	EXPECT_EQ(told_after(), kSharedUpdates);
	now += 2 * PIB_CREDIT_USE_MS * kMs;
	EXPECT_EQ(told_after(), PIB_CREDIT_ALONE / 4);
}

// The peer has counted something that this end has not: it had windows first.
TEST_F(Path, WhatIsCountedByThePeerAloneIsBadOnce)
{
	rate = 1e8;
	pib_credits_take(&b, 0, 100000, now);
	for (int i = 0; i < 10; i++) {
		pib_credits_sent(&a, 0, kBurst, now);
		pib_credits_take(&b, 0, kBurst, now);
		hear(a, queue, build(b, PIB_CREDIT_TELLS));
		EXPECT_EQ(a.vl[0].sent - a.vl[0].taken - a.vl[0].lost, 0u);
	}
	EXPECT_EQ(rejected, 1u);
	run(100 * kMs, {0, 1});
	const uint64_t before = taken[0];
	run(500 * kMs, {0, 1});
	EXPECT_EQ(rejected, 1u);
	EXPECT_NEAR(taken[0] - before, rate / 4, rate / 40);
}

// The sender's windows are wide again before.
TEST_F(Path, ASecondVlIsToldOfForLongerThanItIsInUse)
{
	pib_credits_take(&b, 1, kBurst, now);
	pib_credits_take(&b, 0, kBurst, now);
	build(b, PIB_CREDIT_TELLS);
	now += (2 * PIB_CREDIT_USE_MS - 1) * kMs;
	EXPECT_FALSE(pib_credits_take(&b, 0, kSharedUpdates - 1, now));
	EXPECT_TRUE(pib_credits_take(&b, 0, 1, now));
}

TEST_F(Path, SharedUpdatesAreFourToAWindow)
{
	rate = 1e8;
	run(200 * kMs, {0, 1});
	const uint64_t said = credits, before = taken[0] + taken[1];
	run(1000 * kMs, {0, 1});
	EXPECT_LE(credits - said, (taken[0] + taken[1] - before) / kSharedUpdates * 1.2 + 2000);
}

} // namespace
