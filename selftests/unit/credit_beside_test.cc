// SPDX-License-Identifier: GPL-2.0
// Windows of VLs over UDP: data that obeys none, on a VL with data that does.
#include "credit_path.h"

namespace {

using namespace credit;

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

} // namespace
