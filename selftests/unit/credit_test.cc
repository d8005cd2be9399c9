// SPDX-License-Identifier: GPL-2.0
// Windows of VLs over UDP: two ends and a path that is slow, far, loses and doubles; peers that are silent or lie.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <random>

extern "C" {
#include "../../kernel/proto/credit.h"
}

namespace {

constexpr uint64_t kUs = PIB_NSEC_PER_USEC, kMs = PIB_NSEC_PER_MSEC;
constexpr uint32_t kBurst = 16384;
constexpr uint32_t kSharedUpdates = PIB_CREDIT_SHARE / 4;

using Wire = std::array<uint8_t, PIB_CREDIT_WIRE_LEN>;

pib_credit_msg parse(const Wire &bytes)
{
	pib_credit_msg m{};
	uint32_t to = 0;

	EXPECT_TRUE(pib_credit_parse(&m, &to, bytes.data(), bytes.size()));
	return m;
}

// Ends a and b; a sends on some VLs as fast as its windows let it. The path there is a queue that is emptied at a rate; the way back
// takes no longer than the delay. A step is 20 us, at which what was pushed back tries again.
class Path : public testing::Test {
protected:
	static constexpr uint64_t kStep = 20 * kUs, kRoom = 16 << 20;

	struct Item {
		int vl; // -1: a CREDIT
		uint32_t bytes;
		Wire credit;
		uint64_t due = 0;
	};

	Path()
	{
		pib_credits_init(&a, 11, 22);
		pib_credits_init(&b, 22, 11);
	}

	bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(rng) < p; }

	Wire build(pib_credits &from, pib_credit_kind kind, uint8_t vl = 0)
	{
		Wire bytes;
		pib_credits_build(&from, 5, kind, vl, now, bytes.data());
		credits++;
		return bytes;
	}
	void say(std::deque<Item> &to, pib_credits &from, pib_credit_kind kind, uint8_t vl = 0)
	{
		const Wire bytes = build(from, kind, vl);
		if (chance(credit_loss))
			return;
		if (overtakes && &to == &queue) {
			first.push_back({-1, PIB_CREDIT_WIRE_LEN, bytes, now + delay});
			return;
		}
		to.push_back({-1, PIB_CREDIT_WIRE_LEN, bytes, now + delay});
		queued += &to == &queue ? PIB_CREDIT_WIRE_LEN : 0;
	}
	void hear(pib_credits &c, std::deque<Item> &back, const Wire &bytes)
	{
		const pib_credit_msg m = parse(bytes);
		const uint32_t todo = pib_credits_rx(&c, &m, now);
		rejected += !!(todo & PIB_CREDIT_DO_REJECT);
		if (todo & PIB_CREDIT_DO_ANSWER)
			say(back, c, PIB_CREDIT_ANSWERS);
	}

	// Try to send one burst.
	bool offer(int vl)
	{
		if (!pib_credits_open(&a, vl, now)) {
			waits += pib_credits_wait(&a, vl, now);
			if (const int asker = pib_credits_due(&a, now); asker >= 0) {
				questions++;
				asked[asker]++;
				say(queue, a, PIB_CREDIT_ASKS, asker);
			}
			return false;
		}
		pib_credits_sent(&a, vl, kBurst, now);
		sent[vl] += kBurst;
		if (chance(loss) || queued >= kRoom)
			return true;
		for (int n = 0; n <= (chance(doubles) ? 1 : 0); n++) {
			queue.push_back({vl, kBurst, {}, now + delay});
			queued += kBurst;
		}
		deepest = std::max(deepest, queued);
		return true;
	}
	void arrive(const Item &item)
	{
		if (item.vl < 0) {
			hear(b, back, item.credit);
			return;
		}
		taken[item.vl] += item.bytes;
		if (pib_credits_take(&b, item.vl, item.bytes, now))
			say(back, b, PIB_CREDIT_TELLS);
	}
	void move()
	{
		for (room = std::min(room + rate * kStep / 1e9, rate * kStep / 1e9 + 2 * kBurst);
		     !queue.empty() && queue.front().due <= now && room >= queue.front().bytes;) {
			const Item item = queue.front();
			queue.pop_front();
			room -= item.bytes;
			queued -= item.bytes;
			arrive(item);
		}
		while (!first.empty() && first.front().due <= now) {
			const Item item = first.front();
			first.pop_front();
			arrive(item);
		}
		while (!back.empty() && back.front().due <= now) {
			const Item item = back.front();
			back.pop_front();
			hear(a, queue, item.credit);
		}
	}
	// VLs that always have something to send, several bursts of each in a step if they may.
	void run(uint64_t span, const std::vector<int> &vls)
	{
		for (const uint64_t until = now + span; now < until; now += kStep) {
			for (int n = 0; n < most_bursts; n++)
				for (int vl : vls)
					offer(vl);
			move();
		}
	}

	pib_credits a{}, b{};
	std::deque<Item> queue, first, back;
	bool overtakes = false; // CREDITs do not wait behind data
	uint64_t now = 1000 * kMs;
	double rate = 1e9, room = 0; // bytes per second
	uint64_t delay = 50 * kUs;
	double loss = 0, credit_loss = 0, doubles = 0;
	int most_bursts = 4;
	std::mt19937 rng{7};
	std::map<int, uint64_t> sent, taken, asked;
	uint64_t credits = 0, waits = 0, questions = 0, rejected = 0, deepest = 0, queued = 0;
};

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
	deepest = 0;
	run(500 * kMs, {0, 1});
	EXPECT_LE(deepest, 2 * (PIB_CREDIT_SHARE + kBurst) + 100 * PIB_CREDIT_WIRE_LEN);
}

TEST_F(Path, AQuestionMayStandBehindALongQueue)
{
	rate = 3e6;
	run(3000 * kMs, {0});
	EXPECT_LE(deepest, PIB_CREDIT_ALONE + kBurst + 100 * PIB_CREDIT_WIRE_LEN);
	EXPECT_EQ(a.vl[0].patience, 0u);
	run(2000 * kMs, {0, 1});
	deepest = 0;
	run(1000 * kMs, {0, 1});
	EXPECT_LE(deepest, 2 * (PIB_CREDIT_SHARE + kBurst) + 100 * PIB_CREDIT_WIRE_LEN);
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
	deepest = 0;
	run(500 * kMs, {0, 1});
	EXPECT_LE(deepest, 2 * (PIB_CREDIT_SHARE + kBurst) + 100 * PIB_CREDIT_WIRE_LEN);
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

// Data that obeys no window shares a VL with data that does: its sender has so much on the way, and waits for the end of it.
class Beside : public Path {
protected:
	void pass(int vl, uint64_t most)
	{
		for (; inflight[vl] + kBurst <= most && !pib_credits_overdrawn_beside(&a, vl);
		     inflight[vl] += kBurst) {
			pib_credits_sent_beside(&a, vl, kBurst, now);
			queue.push_back({vl, kBurst, {}, now + delay});
			queued += kBurst;
			of.push_back(true);
		}
	}
	bool wait(int vl)
	{
		const bool could = offer(vl);
		if (could && !vl)
			of.push_back(false);
		return could;
	}
	// Bytes of VL 0 that obey and arrive, while others have so much on their way; VL 1 is in use or not.
	double arrives(uint64_t most, bool several, uint64_t span)
	{
		uint64_t obey = 0;
		for (const uint64_t until = now + span; now < until; now += kStep) {
			pass(0, most);
			for (int n = 0; n < 4; n++) {
				wait(0);
				if (several)
					wait(1);
			}
			stuck += pib_credits_stuck(&a, 0, now);
			const uint64_t before = taken[0];
			move();
			for (uint64_t n = (taken[0] - before) / kBurst; n; n--, of.pop_front())
				of.front() ? inflight[0] -= kBurst : obey += kBurst;
		}
		return obey;
	}

	std::map<int, uint64_t> inflight;
	std::deque<bool> of; // in the order of the queue: it obeys no window
	uint64_t stuck = 0;
};

TEST_F(Beside, WhatObeysNoWindowClosesNone)
{
	rate = 1e8;
	for (const bool several : {false, true}) {
		const uint64_t window = several ? PIB_CREDIT_SHARE : PIB_CREDIT_ALONE;
		for (const uint64_t most : {window / 4, window, uint64_t{PIB_CREDIT_ALONE}}) {
			arrives(most, several, 1000 * kMs);
			stuck = 0;
			const double obey = arrives(most, several, 2000 * kMs);
			// Half a window stands in the queue all the time, beside the rest.
			const double all = window / 2 + most + (several ? window : 0);
			EXPECT_GE(obey, 0.8 * 2 * rate * (window / 2) / all) << several << most;
			EXPECT_EQ(stuck, 0u) << several << most;
		}
	}
}

TEST_F(Beside, AWindowHoldsAlsoBesideOthers)
{
	rate = 1e7;
	arrives(PIB_CREDIT_ALONE, true, 1000 * kMs);
	deepest = 0;
	arrives(PIB_CREDIT_ALONE, true, 2000 * kMs);
	EXPECT_LE(deepest,
		  PIB_CREDIT_ALONE + 2 * (PIB_CREDIT_SHARE + kBurst) + 1000 * PIB_CREDIT_WIRE_LEN);
}

TEST_F(Beside, ItIsBoundedByItself)
{
	rate = 0;
	uint64_t n = 0;
	for (; n < 2 * PIB_CREDIT_MOST && !pib_credits_overdrawn_beside(&a, 0); n += kBurst)
		pib_credits_sent_beside(&a, 0, kBurst, now);
	EXPECT_EQ(n, PIB_CREDIT_MOST);
	EXPECT_FALSE(pib_credits_overdrawn(&a, 0)) << "the others have sent nothing";
	EXPECT_FALSE(pib_credits_overdrawn_beside(&a, 1));
	EXPECT_FALSE(pib_credits_overdrawn_beside(&a, PIB_CREDIT_VLS));
	uint64_t obey = 0;
	for (; offer(0); obey += kBurst)
		;
	EXPECT_EQ(obey, PIB_CREDIT_ALONE / 2);
	// When all has come, nothing of it is left.
	pib_credits_take(&b, 0, n + obey, now);
	hear(a, queue, build(b, PIB_CREDIT_TELLS));
	obey = 0;
	for (; offer(0); obey += kBurst)
		;
	EXPECT_EQ(obey, PIB_CREDIT_ALONE);
	EXPECT_FALSE(pib_credits_overdrawn_beside(&a, 0));
}

TEST_F(Beside, WhatIsLostOfItIsFoundAsWell)
{
	rate = 1e8;
	for (int i = 0; i < 100; i++)
		pib_credits_sent_beside(&a, 0, kBurst, now); // and nothing of it comes
	run(100 * kMs, {0});
	const uint64_t before = taken[0];
	run(1000 * kMs, {0});
	EXPECT_GE(taken[0] - before, rate * 0.95);
	EXPECT_LE(a.vl[0].beside, a.vl[0].sent - a.vl[0].taken - a.vl[0].lost);
}

TEST_F(Beside, ItIsNeverMoreThanIsOnTheWay)
{
	for (int i = 0; i < 100000; i++, now += rng() % kMs) {
		const int vl = rng() % 2;
		if (chance(0.5))
			pib_credits_sent_beside(&a, vl, rng() % 100000, now);
		else
			offer(vl);
		pib_credit_msg m = parse(build(b, PIB_CREDIT_TELLS));
		for (uint8_t each : {0, 1})
			m.taken[each] = a.vl[each].taken + (chance(0.1) ? rng() : rng() % 100000);
		m.answers = chance(0.5) ? a.seq : rng();
		m.is_answer = rng() & 1;
		m.vl = vl;
		pib_credits_rx(&a, &m, now);
		const pib_credit_vl &v = a.vl[vl];
		ASSERT_LE(v.beside, v.sent - v.taken - v.lost) << i;
		ASSERT_LE(v.sent - v.taken - v.lost, PIB_CREDIT_BOUND + 100000) << i;
		queue.clear();
	}
}

// Datagrams do not wait for long, whatever little the peer takes in. Others do.
TEST_F(Path, AVlThatIsClosedForLongIsStuckUntilItOpens)
{
	rate = 0;
	while (offer(0))
		;
	pib_credits_sent(&a, 0, 4 * kBurst, now);
	const uint64_t closed_at = now;
	EXPECT_FALSE(pib_credits_stuck(&a, 0, now));
	now = closed_at + PIB_CREDIT_STUCK_MS * kMs - 1;
	pib_credits_take(&b, 0, 1000, now);
	hear(a, queue, build(b, PIB_CREDIT_TELLS));
	EXPECT_FALSE(offer(0));
	EXPECT_FALSE(pib_credits_stuck(&a, 0, now));
	now++;
	EXPECT_TRUE(pib_credits_stuck(&a, 0, now));
	EXPECT_FALSE(pib_credits_stuck(&a, 1, now));
	EXPECT_FALSE(pib_credits_stuck(&a, 15, now));
	pib_credits_take(&b, 0, 4 * kBurst, now);
	hear(a, queue, build(b, PIB_CREDIT_TELLS));
	EXPECT_FALSE(pib_credits_stuck(&a, 0, now));
	EXPECT_TRUE(offer(0));
	EXPECT_FALSE(offer(0));
	EXPECT_FALSE(pib_credits_stuck(&a, 0, now)) << "another wait";
}

// When no other VL is in use any more the window is wide, and nothing need come from the peer for that.
TEST_F(Path, AVlWhoseWindowHasBecomeWideIsNotStuck)
{
	rate = 0;
	offer(1);
	while (offer(0))
		;
	now += (PIB_CREDIT_USE_MS + PIB_CREDIT_STUCK_MS) * kMs;
	EXPECT_FALSE(pib_credits_stuck(&a, 0, now));
}

TEST_F(Path, APeerThatFallsSilentIsWaitedForLonger)
{
	rate = 1e10;
	run(10 * kMs, {0, 1});
	credit_loss = 1;
	const auto windows_in = [&](uint64_t span) {
		const uint64_t before = sent[0];
		run(span, {0, 1});
		return (sent[0] - before + PIB_CREDIT_ALONE - 1) / PIB_CREDIT_ALONE;
	};
	run(PIB_CREDIT_PATIENCE_MS * kMs / 2, {0, 1});
	EXPECT_LE(windows_in(PIB_CREDIT_PATIENCE_MS * kMs), 2u);
	EXPECT_EQ(a.vl[0].patience, 1u);
	windows_in(2 * PIB_CREDIT_PATIENCE_MS * kMs);
	EXPECT_EQ(a.vl[0].patience, 2u);
	EXPECT_LE(windows_in(4 * PIB_CREDIT_PATIENCE_MS * kMs), 2u);
	EXPECT_FALSE(a.off);
	credit_loss = 0;
	run(200 * kMs, {0, 1});
	EXPECT_EQ(a.vl[0].patience, 0u);
}

// A question of a wait that is over says nothing of the next one.
TEST_F(Path, AnOldQuestionIsForgotten)
{
	rate = 0;
	offer(1);
	for (int i = 0; i < 100; i++)
		offer(0);
	now += 2 * kMs;
	ASSERT_FALSE(offer(0));
	EXPECT_EQ(questions, 1u);
	queue.pop_back(); // it gets lost, and what was sent arrives
	queued -= PIB_CREDIT_WIRE_LEN;
	rate = 1e9;
	for (int i = 0; i < 100; i++, now += kStep)
		move();
	EXPECT_TRUE(offer(0));
	now += 10 * PIB_CREDIT_PATIENCE_MS * kMs;
	rate = 0;
	while (offer(0))
		;
	now += 2 * kMs;
	offer(0);
	EXPECT_FALSE(a.off);
	EXPECT_EQ(questions, 2u);
}

// VLs may go by ways of their own: an answer says nothing of one whose data the question may have overtaken.
TEST_F(Path, AnAnswerIsForTheVlOfTheQuestion)
{
	rate = 0;
	offer(1);
	while (offer(0))
		;
	now += 2 * kMs;
	offer(0);
	ASSERT_EQ(questions, 1u);
	hear(b, back, queue.back().credit); // before all data
	ASSERT_EQ(back.size(), 1u);
	EXPECT_EQ(parse(back[0].credit).vl, 0);
	hear(a, queue, back[0].credit);
	EXPECT_EQ(a.vl[0].lost, sent[0]);
	EXPECT_EQ(a.vl[1].lost, 0u);
}

TEST_F(Path, EachVlThatWaitsIsAskedFor)
{
	rate = 0;
	for (int i = 0; i < 40; i++)
		for (int vl : {0, 1, 14})
			offer(vl);
	queue.clear();
	now += kMs;
	for (int vl; (vl = pib_credits_due(&a, now)) >= 0;) {
		asked[vl]++;
		say(queue, a, PIB_CREDIT_ASKS, vl);
	}
	EXPECT_EQ(asked, (std::map<int, uint64_t>{{0, 1}, {1, 1}, {14, 1}}));
	EXPECT_EQ(pib_credits_deadline(&a), now + PIB_CREDIT_ASK_MS * kMs);
	// In any order.
	for (const int i : {2, 0, 1}) {
		hear(b, back, queue[i].credit);
		hear(a, queue, back.back().credit);
	}
	EXPECT_EQ(a.waits, 0);
}

// A question that was overtaken by the opening of its VL is answered when more than was asked about has come.
TEST_F(Path, AnAnswerThatComesLateClosesNothing)
{
	rate = 0;
	for (int vl : {1, 0})
		while (offer(vl))
			;
	now += 2 * kMs;
	offer(0);
	ASSERT_GE(questions, 1u);
	now += 2 * kMs;
	offer(0);
	ASSERT_NE(a.vl[0].question, 0u);
	const uint32_t repetition = a.seq;
	ASSERT_NE(repetition, a.vl[0].question);
	pib_credit_msg m = parse(build(b, PIB_CREDIT_TELLS));
	m.taken[0] = sent[0] - kBurst;
	EXPECT_TRUE(pib_credits_rx(&a, &m, now) & PIB_CREDIT_DO_OPEN);
	for (int i = 0; i < 8; i++)
		EXPECT_TRUE(offer(0));
	m.taken[0] = sent[0];
	m.seq++;
	m.is_answer = true;
	m.answers = repetition;
	pib_credits_rx(&a, &m, now);
	EXPECT_TRUE(pib_credits_spare(&a, 0, now)) << "nothing is on its way";
	// More leaves, as far as the window goes.
	for (unsigned i = 0; i < PIB_CREDIT_SHARE / kBurst; i++)
		EXPECT_TRUE(offer(0)) << i;
	EXPECT_FALSE(offer(0));
}

// Another CPU of the peer has told of more before the answer left.
TEST_F(Path, AnAnswerThatWasOvertakenIsOne)
{
	rate = 0;
	offer(1);
	while (offer(0))
		;
	now += 2 * kMs;
	offer(0);
	ASSERT_EQ(questions, 1u);
	pib_credit_msg answer = parse(build(b, PIB_CREDIT_ANSWERS)),
		       tells = parse(build(b, PIB_CREDIT_TELLS));
	answer.answers = a.vl[0].question;
	answer.taken[0] = sent[0] - 4 * kBurst;
	tells.taken[0] = answer.taken[0];
	pib_credits_rx(&a, &tells, now);
	pib_credits_rx(&a, &answer, now);
	EXPECT_EQ(a.vl[0].question, 0u);
	EXPECT_EQ(a.vl[0].lost, 4 * kBurst);
	EXPECT_EQ(a.vl[0].taken, tells.taken[0]);
}

// Time alone opens it, and it is the others' turn to be narrow then, too.
TEST_F(Path, AVlThatTimeHasOpenedWaitsNoLonger)
{
	rate = 0;
	offer(1);
	while (offer(0))
		;
	ASSERT_EQ(a.waits, 1);
	now += (PIB_CREDIT_USE_MS + 1) * kMs;
	EXPECT_TRUE(pib_credits_open(&a, 0, now));
	EXPECT_EQ(a.waits, 0);
	while (offer(1))
		;
	EXPECT_LE(sent[1], PIB_CREDIT_SHARE + kBurst) << "it is in use";
}

// None of these is alone when one of them may go on.
TEST_F(Path, WhatOneDatagramOpensIsInUseTogether)
{
	rate = 0;
	for (int i = 0; i < 40; i++)
		for (int vl : {0, 1})
			offer(vl);
	ASSERT_EQ(a.waits, 3);
	now += 2 * PIB_CREDIT_USE_MS * kMs;
	for (int vl : {0, 1})
		pib_credits_take(&b, vl, sent[vl], now);
	hear(a, queue, build(b, PIB_CREDIT_TELLS));
	EXPECT_EQ(a.waits, 0);
	EXPECT_EQ(a.opened, 3);
	for (int vl : {0, 1}) {
		const uint64_t before = sent[vl];
		while (offer(vl))
			;
		EXPECT_LE(sent[vl] - before, PIB_CREDIT_SHARE + kBurst) << vl;
	}
}

TEST_F(Path, WhatOneDatagramOpensIsSaid)
{
	rate = 0;
	for (int i = 0; i < 40; i++)
		for (int vl : {3, 5})
			offer(vl);
	ASSERT_EQ(a.waits, 1 << 3 | 1 << 5);
	for (const int vl : {5, 3}) {
		pib_credits_take(&b, vl, sent[vl], now);
		hear(a, queue, build(b, PIB_CREDIT_TELLS));
		EXPECT_EQ(a.opened, 1 << vl);
	}
}

// The data that others have put into the queues below stays there for longer than they are in use.
TEST_F(Path, BehindAQueueOfOthersAVlMayStillGetBy)
{
	rate = 0;
	for (int i = 0; i < 20; i++)
		offer(0);
	ASSERT_EQ(a.waits, 0);
	now += 2 * PIB_CREDIT_USE_MS * kMs;
	EXPECT_TRUE(pib_credits_spare(&a, 1, now));
	EXPECT_FALSE(pib_credits_spare(&a, 0, now));
}

TEST_F(Path, APeerThatHasNoWindowsIsNotOverdrawn)
{
	rate = 0;
	credit_loss = 1;
	run((PIB_CREDIT_PATIENCE_MS + 200) * kMs, {0, 1});
	ASSERT_TRUE(a.off);
	for (uint32_t n = 0; n < PIB_CREDIT_BOUND; n += kBurst) {
		pib_credits_sent(&a, 0, kBurst, now);
		pib_credits_sent_beside(&a, 2, kBurst, now);
	}
	EXPECT_FALSE(pib_credits_overdrawn(&a, 0));
	EXPECT_FALSE(pib_credits_overdrawn_beside(&a, 2));
}

// A question that got lost, and its repetitions, while the VL has opened again.
class OldQuestion : public Path {
protected:
	void SetUp() override
	{
		rate = 0;
		offer(1);
		while (offer(0))
			;
		for (int i = 0; i < 300 && a.vl[0].ask_ms < PIB_CREDIT_ASK_MAX_MS; i++, now += kMs)
			offer(0);
		ASSERT_EQ(a.vl[0].ask_ms, PIB_CREDIT_ASK_MAX_MS);
		queue.clear();
		pib_credits_take(&b, 0, sent[0], now);
		hear(a, queue, build(b, PIB_CREDIT_TELLS));
		ASSERT_EQ(a.waits, 0);
		ASSERT_NE(a.vl[0].question, 0u);
	}
	// The VL waits again, and nobody is silent for long yet.
	void waits_after(uint64_t ms)
	{
		now += ms * kMs;
		offer(1);
		while (offer(0))
			;
		EXPECT_EQ(a.vl[0].patience, 0u);
		EXPECT_EQ(a.vl[0].lost, 0u) << "nothing is taken for lost";
	}
};

TEST_F(OldQuestion, IsForgottenAfterLong)
{
	waits_after(PIB_CREDIT_OLD_MS);
	now += 2 * kMs;
	offer(0);
	EXPECT_EQ(a.vl[0].question, a.seq) << "a new one is asked";
}

TEST_F(OldQuestion, CountsAnewWhileItIsNot)
{
	const uint32_t question = a.vl[0].question;
	waits_after(PIB_CREDIT_OLD_MS / 2);
	now += (PIB_CREDIT_PATIENCE_MS - 2) * kMs;
	offer(1);
	EXPECT_FALSE(offer(0));
	EXPECT_EQ(a.vl[0].patience, 0u);
	EXPECT_EQ(a.vl[0].question, question);
	now += 2 * kMs;
	offer(1);
	offer(0);
	EXPECT_EQ(a.vl[0].patience, 1u) << "it was silent for long now";
	EXPECT_EQ(a.vl[0].question, 0u);
}

// A VL that has so much on its way that it stays closed when some of it is taken in.
class Overfull : public Path {
protected:
	void SetUp() override
	{
		rate = 0;
		offer(1);
		while (offer(0))
			;
		pib_credits_sent(&a, 0, 40 * kBurst, now);
		sent[0] += 40 * kBurst;
	}
	void takes_in(uint32_t bytes)
	{
		pib_credits_take(&b, 0, bytes, now);
		hear(a, queue, build(b, PIB_CREDIT_TELLS));
	}
	// Looks every 10 ms, for so long, while all questions get lost.
	void looks(uint64_t ms)
	{
		for (const uint64_t until = now + ms * kMs; now < until; now += 10 * kMs) {
			offer(1);
			EXPECT_FALSE(offer(0));
			queue.clear();
		}
	}
	pib_credit_vl &v = a.vl[0];
};

// It could speak byte by byte and never answer.
TEST_F(Overfull, APeerThatAlwaysTakesInALittleIsNotWaitedForForever)
{
	const uint64_t began = now;
	for (; !v.patience && now < began + 20000 * kMs; now += 10 * kMs) {
		offer(1);
		offer(0);
		queue.clear();
		takes_in(1);
	}
	EXPECT_GE(now - began, PIB_CREDIT_OLD_MS * kMs);
	EXPECT_LE(now - began, (PIB_CREDIT_OLD_MS + 200) * kMs);
}

TEST_F(Overfull, AQuestionIsPutOffWhileTheVlGoesOn)
{
	now += kMs / 2;
	takes_in(kBurst);
	EXPECT_EQ(v.ask_at, now + PIB_CREDIT_ASK_MS * kMs);
	now += kMs;
	EXPECT_FALSE(offer(0));
	ASSERT_NE(v.question, 0u);
	const uint64_t ask_at = v.ask_at;
	now += kMs / 2;
	takes_in(kBurst);
	EXPECT_EQ(v.ask_at, ask_at) << "but not its repetitions";
}

// After it has been given up a sum is a guess, until an answer comes. A question about it is not put off.
TEST_F(Overfull, AGuessIsAskedAbout)
{
	takes_in(1);
	looks(PIB_CREDIT_PATIENCE_MS - 20);
	ASSERT_EQ(v.patience, 0u);
	for (; !v.patience; now += kMs)
		offer(0);
	ASSERT_FALSE(a.off);
	EXPECT_TRUE(v.guessed);
	EXPECT_EQ(v.question, 0u);
	for (int i = 0; i < 40; i++)
		offer(1);
	while (offer(0))
		;
	pib_credits_sent(&a, 0, 40 * kBurst, now);
	const uint64_t ask_at = v.ask_at;
	now += kMs / 2;
	takes_in(kBurst);
	EXPECT_EQ(v.ask_at, ask_at) << "it is not put off";
	now = ask_at;
	offer(0);
	ASSERT_NE(v.question, 0u);
	pib_credit_msg m = parse(build(b, PIB_CREDIT_TELLS));
	m.answers = v.question;
	pib_credits_rx(&a, &m, now);
	EXPECT_NE(v.question, 0u) << "it does not say that it is an answer";
	m.is_answer = true;
	m.seq++;
	m.taken[0] = v.asked;
	pib_credits_rx(&a, &m, now);
	EXPECT_EQ(v.question, 0u);
	EXPECT_FALSE(v.guessed);
	EXPECT_EQ(v.lost, 0u);
}

TEST_F(Overfull, EachTimeItIsWaitedForLonger)
{
	takes_in(1);
	for (const uint32_t times : {1, 2, 4, 4}) {
		const uint32_t lost = v.lost;
		looks(PIB_CREDIT_PATIENCE_MS * times - 20);
		EXPECT_EQ(v.lost, lost) << times;
		for (const uint64_t until = now + 200 * kMs; now < until && v.lost == lost;
		     now += kMs) {
			offer(1);
			pib_credits_due(&a, now);
		}
		EXPECT_NE(v.lost, lost) << times;
		while (offer(0))
			;
		pib_credits_sent(&a, 0, 40 * kBurst, now);
		offer(0);
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

// ---- lies ----

class Lies : public Path {
protected:
	pib_credit_msg next()
	{
		pib_credit_msg m{};
		m.nonce = 22;
		m.peer_nonce = 11;
		m.seq = a.heard + 1;
		for (int vl = 0; vl < PIB_CREDIT_VLS; vl++)
			m.taken[vl] = a.vl[vl].taken;
		return m;
	}
	uint32_t tell(const pib_credit_msg &m) { return pib_credits_rx(&a, &m, now); }
	uint32_t fill(int vl)
	{
		const uint64_t before = sent[vl];
		while (offer(vl))
			;
		return sent[vl] - before;
	}
	// An honest peer, or none, gets the VL open again, whatever was said before.
	bool opens(bool answers)
	{
		for (const uint64_t until = now + 2000 * kMs; now < until; now += kMs) {
			if (pib_credits_open(&a, 0, now))
				return true;
			const int vl = pib_credits_due(&a, now);
			if (vl < 0)
				continue;
			build(a, PIB_CREDIT_ASKS, vl);
			pib_credit_msg m = next();
			m.vl = vl;
			m.answers = a.seq;
			m.is_answer = true;
			if (answers)
				tell(m);
		}
		return false;
	}
};

TEST_F(Lies, OldForeignAndReplayedOnesCountForNothing)
{
	fill(0);
	pib_credit_msg m = next();
	m.taken[0] = 1000;
	EXPECT_EQ(tell(m) & PIB_CREDIT_DO_REJECT, 0u);
	const pib_credits was = a;
	m.taken[0] = sent[0];
	EXPECT_EQ(tell(m), PIB_CREDIT_DO_REJECT) << "it has come before";
	const uint32_t last = m.seq;
	m.seq = last - 1;
	EXPECT_EQ(tell(m), 0u) << "it may have been overtaken";
	m.seq = last - PIB_CREDIT_LAG - 1;
	EXPECT_EQ(tell(m), PIB_CREDIT_DO_REJECT) << "it is older than that";
	m.seq = last + 1;
	m.nonce++;
	EXPECT_EQ(tell(m), PIB_CREDIT_DO_REJECT) << "of another session of the peer";
	m.nonce--;
	m.peer_nonce++;
	EXPECT_EQ(tell(m), PIB_CREDIT_DO_REJECT) << "to another session";
	EXPECT_EQ(memcmp(&was, &a, sizeof(a)), 0);
	EXPECT_TRUE(opens(true));
}

TEST_F(Lies, TooMuchOpensOneWindowAndNoMore)
{
	fill(0);
	for (uint32_t more : {1u, 1000u, 0x40000000u, 0x7FFFFFFFu}) {
		pib_credit_msg m = next();
		m.taken[0] = a.vl[0].sent + more;
		EXPECT_TRUE(tell(m) & PIB_CREDIT_DO_REJECT) << more;
		EXPECT_LE(fill(0), PIB_CREDIT_ALONE + kBurst) << more;
		EXPECT_TRUE(opens(true)) << more;
		fill(0);
	}
	EXPECT_TRUE(opens(false));
}

TEST_F(Lies, BackwardsOnesAreNotBelieved)
{
	fill(0);
	pib_credit_msg m = next();
	m.taken[0] = sent[0];
	EXPECT_TRUE(tell(m) & PIB_CREDIT_DO_OPEN);
	fill(0);
	for (uint32_t less : {1u, 1000u, 0x7FFFFFFFu}) {
		m = next();
		m.taken[0] -= less;
		EXPECT_EQ(tell(m), PIB_CREDIT_DO_REJECT) << less;
		EXPECT_FALSE(pib_credits_open(&a, 0, now));
	}
	EXPECT_TRUE(opens(true));
	fill(0);
	EXPECT_TRUE(opens(false));
}

TEST_F(Lies, ANumberFarAheadShutsNobodyOut)
{
	pib_credit_msg forged = next();
	forged.seq = a.heard + 0x7FFFFFFF;
	EXPECT_EQ(tell(forged), 0u);
	forged.nonce = 11;
	forged.peer_nonce = 22;
	forged.seq = b.heard + 0x7FFFFFFF;
	EXPECT_EQ(pib_credits_rx(&b, &forged, now), 0u);
	rate = 1e8;
	run(20 * kMs, {0, 1});
	const uint64_t before = taken[0] + taken[1];
	run(100 * kMs, {0, 1});
	EXPECT_GE(taken[0] + taken[1] - before, rate * 0.1 * 0.9);
	EXPECT_EQ(a.heard, b.seq) << "the honest ones are the last ones again";
}

// A peer's honest answers, made of what it has taken in. Each is overtaken by a number that was forged.
class Forged : public Lies {
protected:
	// Return: false: the VL is closed and nothing is asked.
	bool ask(int vl)
	{
		const int asks = pib_credits_due(&a, now);
		if (asks != vl)
			return false;
		hear(b, back, build(a, PIB_CREDIT_ASKS, vl));
		hear(a, queue, back.back().credit);
		return true;
	}
};

TEST_F(Forged, ANumberALittleAheadDoesNotCloseAVlForGood)
{
	for (const uint32_t lead : {2u, 30u, 60u, 64u}) {
		const pib_credit_msg stale = next();
		fill(0);
		pib_credits_take(&b, 0, sent[0] - b.vl[0].in, now);
		unsigned forged = 0;
		for (int i = 0; i < 100 && !pib_credits_open(&a, 0, now); i++, now += kMs) {
			if ((int32_t)(a.heard - b.seq) <= 1) {
				pib_credit_msg m = stale;
				m.seq = b.seq + lead;
				tell(m);
				forged++;
			}
			ask(0);
		}
		EXPECT_TRUE(pib_credits_open(&a, 0, now)) << lead;
		EXPECT_LE(forged, 3u) << lead;
	}
}

TEST_F(Forged, ASumFarAheadIsForgottenWithTheNextAnswer)
{
	for (const uint32_t more : {0x10000000u, 0x40000000u, 0x7F000000u, 0x7FFFFFFFu}) {
		pib_credit_msg m = next();
		m.seq = ++b.seq;
		m.taken[0] = a.vl[0].sent + more;
		EXPECT_TRUE(tell(m) & PIB_CREDIT_DO_REJECT) << more;
		fill(0);
		pib_credits_take(&b, 0, sent[0] - b.vl[0].in, now);
		now += 2 * kMs;
		offer(0);
		ASSERT_NE(a.vl[0].question, 0u);
		ASSERT_FALSE(queue.empty());
		hear(b, back, queue.back().credit);
		hear(a, queue, back.back().credit);
		EXPECT_EQ(a.vl[0].taken, (uint32_t)sent[0]) << more;
		// From now on what is told counts.
		rejected = 0;
		fill(0);
		pib_credits_take(&b, 0, sent[0] - b.vl[0].in, now);
		hear(a, queue, build(b, PIB_CREDIT_TELLS));
		EXPECT_EQ(rejected, 0u) << more;
		EXPECT_TRUE(pib_credits_open(&a, 0, now)) << more;
	}
}

// The honest answers of a peer that has taken in everything open the VL, whatever else is said all the time.
TEST_F(Forged, AnythingAtAllKeepsNoHonestAnswerOut)
{
	for (int seed = 0; seed < 300; seed++) {
		rng.seed(seed);
		pib_credits_init(&a, 11, 22);
		pib_credits_init(&b, 22, 11);
		sent.clear();
		// Old sums keep a VL closed; others open it now and then.
		const double news = seed % 3 ? 0 : 0.5;
		for (int round = 0; round < 20; round++) {
			for (int vl : {0, 1})
				fill(vl);
			for (int vl : {0, 1})
				pib_credits_take(&b, vl, sent[vl] - b.vl[vl].in, now);
			int ms = 0;
			for (; !pib_credits_open(&a, 0, now); ms++, now += kMs) {
				ASSERT_LT(ms, 20) << seed;
				pib_credit_msg m = next();
				m.seq = seed & 1 ? b.seq + 3 + rng() % 60 : a.heard + rng() % 70;
				for (uint32_t &taken : m.taken)
					taken += chance(news) ? rng() : 0;
				tell(m);
				ask(0) || ask(1);
			}
		}
	}
}

// Many at once are answered, and then as many as anybody needs.
TEST_F(Lies, WhoAsksTooOftenGetsNoAnswers)
{
	const auto answers = [&](int questions) {
		int n = 0;
		for (int i = 0; i < questions; i++) {
			pib_credit_msg m = next();
			m.asks = true;
			const uint32_t todo = tell(m);
			EXPECT_EQ(!(todo & PIB_CREDIT_DO_ANSWER), !!(todo & PIB_CREDIT_DO_REJECT));
			n += !!(todo & PIB_CREDIT_DO_ANSWER);
		}
		return n;
	};
	EXPECT_EQ(answers(1000), PIB_CREDIT_ANSWERS_MOST);
	now += kMs;
	EXPECT_EQ(answers(1000), 1000 / PIB_CREDIT_ANSWER_US);
	int n = 0;
	for (int i = 0; i < 1000; i++) {
		now += kMs;
		n += answers(1000 / PIB_CREDIT_ANSWER_US);
	}
	EXPECT_EQ(n, 1000 * 1000 / PIB_CREDIT_ANSWER_US);
	now += 1000 * kMs;
	EXPECT_EQ(answers(1000), PIB_CREDIT_ANSWERS_MOST);
}

// A stranger who repeats questions that he has seen takes no answers from those who ask.
TEST_F(Lies, ReplaysUseUpNoAnswers)
{
	pib_credit_msg m = next();
	m.asks = true;
	ASSERT_TRUE(tell(m) & PIB_CREDIT_DO_ANSWER);
	const pib_credit_msg seen = m;
	now += 1000 * kMs;
	const auto replays = [&](int questions) {
		int n = 0;
		for (int i = 0; i < questions; i++)
			n += !!(tell(seen) & PIB_CREDIT_DO_ANSWER);
		return n;
	};
	EXPECT_EQ(replays(1000), PIB_CREDIT_OLD_ANSWERS_MOST);
	for (int i = 0; i < 100; i++, now += kMs) {
		EXPECT_LE(replays(100), 1);
		for (int n = 0; n < PIB_CREDIT_VLS; n++) {
			m.seq++;
			EXPECT_TRUE(tell(m) & PIB_CREDIT_DO_ANSWER) << "all VLs ask";
		}
	}
}

TEST_F(Lies, AQuestionForNoVlIsNone)
{
	pib_credit_msg m = next();
	m.asks = true;
	for (const uint8_t vl : {PIB_CREDIT_VLS, 255}) {
		m.vl = vl;
		m.seq++;
		EXPECT_EQ(tell(m), PIB_CREDIT_DO_REJECT);
	}
}

TEST_F(Lies, AnAnswerToWhatWasNotAskedIsNone)
{
	fill(0);
	for (int i = 0; i < 10; i++, now += kMs) {
		pib_credit_msg m = next();
		m.answers = i % 2 ? 77 : 0;
		m.is_answer = true;
		tell(m);
	}
	EXPECT_FALSE(pib_credits_open(&a, 0, now));
	build(a, PIB_CREDIT_ASKS);
	pib_credit_msg m = next();
	m.answers = a.seq + 1;
	m.is_answer = true;
	tell(m);
	EXPECT_NE(a.vl[0].question, 0u);
	m = next();
	m.answers = a.seq;
	m.is_answer = true;
	for (const uint8_t vl : {1, PIB_CREDIT_VLS, 255}) {
		m.vl = vl;
		m.seq++;
		tell(m);
		EXPECT_NE(a.vl[0].question, 0u) << "it is for another VL";
	}
}

TEST_F(Lies, AnythingAtAllClosesNoVlForGood)
{
	for (int seed = 0; seed < 300; seed++) {
		rng.seed(seed);
		pib_credits_init(&a, 11, 22);
		sent.clear();
		for (int i = 0; i < 200; i++, now += rng() % (4 * kMs)) {
			pib_credit_msg m = next();
			for (uint32_t &taken : m.taken)
				taken += chance(0.5) ? rng() : rng() % 100000;
			m.answers = chance(0.5) ? a.seq : rng();
			m.is_answer = rng() & 1;
			m.asks = rng() & 1;
			m.seq = a.heard + rng() % 5;
			if (chance(0.3))
				tell(m);
			const int vl = rng() % 3;
			for (unsigned n = rng() % 600; n && offer(vl); n--)
				;
			queue.clear();
		}
		for (int vl = 0; vl < PIB_CREDIT_VLS; vl++) {
			const pib_credit_vl &v = a.vl[vl];
			const uint32_t on_the_way = v.sent - v.taken - v.lost;
			EXPECT_LE(on_the_way, 2 * PIB_CREDIT_ALONE + kBurst) << seed;
		}
		ASSERT_TRUE(opens(seed & 1)) << seed;
	}
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
