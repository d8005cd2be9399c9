// SPDX-License-Identifier: GPL-2.0
// Windows of VLs over UDP: VLs that wait, what is asked about them, and peers that are silent.
#include "credit_path.h"

namespace {

using namespace credit;

class Waiting : public Path {};

// Datagrams do not wait for long, whatever little the peer takes in. Others do.
TEST_F(Waiting, AVlThatIsClosedForLongIsStuckUntilItOpens)
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

TEST_F(Waiting, APeerThatFallsSilentIsWaitedForLonger)
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
TEST_F(Waiting, AnOldQuestionIsForgotten)
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

TEST_F(Waiting, EachVlThatWaitsIsAskedFor)
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
TEST_F(Waiting, AnAnswerThatComesLateClosesNothing)
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

// While a VL is closed nothing but its questions is sent on it, so they come one behind the other, as many as there were while
// the way stood still. The CREDITs that go other ways have overtaken all of them.
class SlowWay : public Waiting {
protected:
	// VL 0 stands still for a while. Others ask, and are answered, @others times.
	void stand_still(unsigned others)
	{
		rate = 0;
		for (const uint64_t until = now + 1500 * kMs; now < until; now += kMs)
			offer(0);
		ASSERT_GT(std::ranges::count(queue, -1, &Item::vl), PIB_CREDIT_OLD_ANSWERS_MOST);
		for (unsigned i = 0; i < others; i++, now += kMs) {
			pib_credits_wait(&a, 1, now);
			hear(b, back, build(a, PIB_CREDIT_ASKS, 1));
			hear(a, queue, back.back().credit);
		}
		hear(b, back, build(a, PIB_CREDIT_TELLS));
		ASSERT_EQ(rejected, 0u);
	}
	// The way goes on. Returns how many questions were answered.
	size_t go_on(uint64_t each = 0)
	{
		back.clear();
		for (const Item &item : queue)
			if (item.vl < 0) {
				hear(b, back, item.credit);
				now += each;
			}
		return back.size();
	}
	// Where CPUs send for one VL, or take in what comes, the last question may come first.
	void hear_last()
	{
		const auto last = std::ranges::find(queue.rbegin(), queue.rend(), -1, &Item::vl);
		ASSERT_NE(last, queue.rend());
		hear(b, back, last->credit);
		last->vl = 0;
	}
};

TEST_F(SlowWay, QuestionsThatOthersHaveOvertakenAreNotBad)
{
	stand_still(3);
	const size_t asked_before = std::ranges::count(queue, -1, &Item::vl);
	EXPECT_EQ(go_on(), asked_before) << "each is newer than the one before";
	EXPECT_EQ(rejected, 0u);
}

TEST_F(SlowWay, HoweverManyOthersHaveOvertakenThem)
{
	stand_still(2 * PIB_CREDIT_LAG);
	const size_t asked_before = std::ranges::count(queue, -1, &Item::vl);
	EXPECT_EQ(go_on(), asked_before);
	EXPECT_EQ(rejected, 0u);
}

TEST_F(SlowWay, NorAreThoseThatTheLastOneHasOvertaken)
{
	stand_still(0);
	hear_last();
	EXPECT_EQ(go_on(), PIB_CREDIT_OLD_ANSWERS_MOST);
	EXPECT_EQ(rejected, 0u);
}

// These may be repetitions.
TEST_F(SlowWay, ThoseBehindTheLastOneAreBadBehindSoManyOthers)
{
	stand_still(2 * PIB_CREDIT_LAG);
	hear_last();
	const size_t asked_before = std::ranges::count(queue, -1, &Item::vl);
	EXPECT_EQ(go_on(kMs), asked_before) << "they are answered all the same";
	EXPECT_EQ(rejected, asked_before);
}

// A question is forged, far ahead.
TEST_F(SlowWay, WhatWasForgedIsForgotten)
{
	stand_still(3);
	pib_credit_msg forged = parse(build(a, PIB_CREDIT_ASKS, 0));
	forged.seq += 1u << 30;
	pib_credits_rx(&b, &forged, now);
	EXPECT_EQ(b.vl[0].heard, forged.seq);
	pib_credits_wait(&b, 1, now);
	hear(a, queue, build(b, PIB_CREDIT_ASKS, 1));
	hear(b, back, queue.back().credit);
	EXPECT_LT(int32_t(b.vl[0].heard - forged.seq), 0);
}

TEST_F(SlowWay, AQuestionThatComesTwiceIsBadAndAnswered)
{
	const pib_credit_msg m = parse(build(a, PIB_CREDIT_ASKS, 0));
	EXPECT_EQ(pib_credits_rx(&b, &m, now), PIB_CREDIT_DO_ANSWER);
	EXPECT_EQ(pib_credits_rx(&b, &m, now), PIB_CREDIT_DO_ANSWER | PIB_CREDIT_DO_REJECT);
}

// None of these is alone when one of them may go on.
TEST_F(Waiting, WhatOneDatagramOpensIsInUseTogether)
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

TEST_F(Waiting, WhatOneDatagramOpensIsSaid)
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
TEST_F(Waiting, BehindAQueueOfOthersAVlMayStillGetBy)
{
	rate = 0;
	for (int i = 0; i < 20; i++)
		offer(0);
	ASSERT_EQ(a.waits, 0);
	now += 2 * PIB_CREDIT_USE_MS * kMs;
	EXPECT_TRUE(pib_credits_spare(&a, 1, now));
	EXPECT_FALSE(pib_credits_spare(&a, 0, now));
}

TEST_F(Waiting, APeerThatHasNoWindowsIsNotOverdrawn)
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

// A VL that waits while another one is in use, too.
class OneWaits : public Path {
protected:
	void SetUp() override
	{
		rate = 0;
		fill();
	}
	void fill()
	{
		offer(1);
		while (offer(0))
			;
	}
};

// When no other VL is in use any more the window is wide, and nothing need come from the peer for that.
TEST_F(OneWaits, AVlWhoseWindowHasBecomeWideIsNotStuck)
{
	now += (PIB_CREDIT_USE_MS + PIB_CREDIT_STUCK_MS) * kMs;
	EXPECT_FALSE(pib_credits_stuck(&a, 0, now));
}

// Time alone opens it, and it is the others' turn to be narrow then, too.
TEST_F(OneWaits, AVlThatTimeHasOpenedWaitsNoLonger)
{
	ASSERT_EQ(a.waits, 1);
	now += (PIB_CREDIT_USE_MS + 1) * kMs;
	EXPECT_TRUE(pib_credits_open(&a, 0, now));
	EXPECT_EQ(a.waits, 0);
	while (offer(1))
		;
	EXPECT_LE(sent[1], PIB_CREDIT_SHARE + kBurst) << "it is in use";
}

// It has asked, and the question is behind all that it has sent.
class Asked : public OneWaits {
protected:
	void SetUp() override
	{
		OneWaits::SetUp();
		now += 2 * kMs;
		offer(0);
		ASSERT_EQ(questions, 1u);
	}
};

// VLs may go by ways of their own: an answer says nothing of one whose data the question may have overtaken.
TEST_F(Asked, AnAnswerIsForTheVlOfTheQuestion)
{
	hear(b, back, queue.back().credit); // before all data
	ASSERT_EQ(back.size(), 1u);
	EXPECT_EQ(parse(back[0].credit).vl, 0);
	hear(a, queue, back[0].credit);
	EXPECT_EQ(a.vl[0].lost, sent[0]);
	EXPECT_EQ(a.vl[1].lost, 0u);
}

// Another CPU of the peer has told of more before the answer left.
TEST_F(Asked, AnAnswerThatWasOvertakenIsOne)
{
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

// A question that got lost, and its repetitions, while the VL has opened again.
class OldQuestion : public OneWaits {
protected:
	void SetUp() override
	{
		OneWaits::SetUp();
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
		fill();
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
class Overfull : public OneWaits {
protected:
	void SetUp() override
	{
		OneWaits::SetUp();
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

} // namespace
