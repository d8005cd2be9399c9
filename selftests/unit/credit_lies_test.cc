// SPDX-License-Identifier: GPL-2.0
// Windows of VLs over UDP: peers that lie, and strangers.
#include "credit_path.h"

namespace {

using namespace credit;

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

// However near it is: an answer tells it from an honest one.
TEST_F(Lies, NorDoesOneThatIsNear)
{
	rate = 1e8;
	for (const uint32_t ahead : {50u, uint32_t{PIB_CREDIT_LAG}, 5000u, 0x3FFFFFFFu}) {
		pib_credit_msg forged = next();
		forged.seq = a.heard + ahead;
		tell(forged);
		forged.nonce = 11;
		forged.peer_nonce = 22;
		forged.seq = b.heard + ahead;
		pib_credits_rx(&b, &forged, now);
		run(20 * kMs, {0, 1});
		const uint64_t before = taken[0] + taken[1];
		run(100 * kMs, {0, 1});
		EXPECT_GE(taken[0] + taken[1] - before, rate * 0.1 * 0.9) << ahead;
		EXPECT_LT(b.seq - a.heard, 20u) << "honest ones are the last ones again " << ahead;
	}
}

TEST_F(Lies, NorDoesAQuestionFarAhead)
{
	for (const uint8_t vl : {0, 1}) {
		pib_credit_msg forged = next();
		forged.nonce = 11;
		forged.peer_nonce = 22;
		forged.seq = b.heard + 0x3FFFFFFF;
		forged.asks = true;
		forged.vl = vl;
		EXPECT_TRUE(pib_credits_rx(&b, &forged, now) & PIB_CREDIT_DO_ANSWER);
	}
	rate = 1e8;
	run(20 * kMs, {0, 1});
	const uint64_t before = taken[0] + taken[1];
	run(100 * kMs, {0, 1});
	EXPECT_GE(taken[0] + taken[1] - before, rate * 0.1 * 0.9);
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

} // namespace
