// SPDX-License-Identifier: GPL-2.0
// The requester where the network below may lose packets: what it does before the timeout.
#include "qp.h"

using namespace qp;

namespace {

constexpr uint64_t kTrip = 100000, kLateMin = 1000, kLate = 3 * kTrip, kLong = 4096ULL << 14;

NodeCfg lossy()
{
	NodeCfg c = config();

	c.req.timeout = 14;
	c.late_min = kLateMin;
	return c;
}

// It has sent by UDP, and an answer took @trip.
class Lossy : public Qp {
public:
	explicit Lossy(const NodeCfg &c = lossy(), uint64_t trip = kTrip) : Qp(c)
	{
		for (int i = 0; i < 2; i++) {
			post(PIB_WR_WRITE, 8);
			sends();
			now += trip;
			gets(ack(n.req.next_psn - 1));
		}
		done();
		psn = n.req.next_psn;
	}

	uint32_t psn;
};

std::string write(uint32_t psn, int n)
{
	return "WRITE@" + std::to_string(psn) + "+" + std::to_string(n);
}

// @n bursts of a packet each
std::string singles(uint32_t psn, int n)
{
	std::string s = write(psn, 1);

	for (int i = 1; i < n; i++)
		s += " " + write(psn + i, 1);
	return s;
}

TEST(ReqLate, TheLastPacketGoesOnceMore)
{
	Lossy q;

	q.post(PIB_WR_WRITE, 3 * kMtu);
	EXPECT_EQ(str(q.sends()), write(q.psn, 3));
	EXPECT_EQ(str(q.after(kLate - 1)), "");

	std::vector<Burst> asked = q.after(1);

	EXPECT_EQ(str(asked), write(q.psn + 2, 1));
	EXPECT_TRUE(asked[0].h.flags & PIB_H_ACKREQ);
	EXPECT_TRUE(asked[0].h.flags & PIB_H_LAST);
	EXPECT_EQ(q.n.req.stats.late, 1u);
	q.gets(ack(q.psn + 2));
	EXPECT_EQ(q.done(), "3:0");
	EXPECT_EQ(pib_req_deadline(&q.n.req), 0u);
}

// A NAK tells what is lost, and the rest goes again, long before the timeout.
TEST(ReqLate, WhatIsLackedGoesAgain)
{
	Lossy q;

	q.post(PIB_WR_WRITE, 3 * kMtu);
	q.sends();
	q.after(kLate);
	EXPECT_EQ(str(q.gets(ack(q.psn + 1, kNak))), write(q.psn + 1, 2));
	EXPECT_EQ(q.n.req.stats.timeouts, 0u);
}

TEST(ReqLate, GoesBackAndIsTwiceAsLateEachTime)
{
	Lossy q;
	const uint64_t begin = q.now;

	q.post(PIB_WR_WRITE, 3 * kMtu);
	q.sends();
	EXPECT_EQ(str(q.after(kLate)), write(q.psn + 2, 1));
	EXPECT_EQ(str(q.after(2 * kLate - 1)), "");
	EXPECT_EQ(str(q.after(1)), write(q.psn + 2, 1));
	for (int i = 2; i < 6; i++) {
		EXPECT_EQ(str(q.after((kLate << i) - 1)), "") << i;
		EXPECT_EQ(str(q.after(1)), singles(q.psn, 3))
			<< i; // of a window of two, and the last
	}
	EXPECT_EQ(pib_req_deadline(&q.n.req), begin + kLong);
	EXPECT_EQ(q.n.req.retries_left, q.n.req.cfg.retry_cnt);
	EXPECT_EQ(q.n.req.stats.late, 6u);
	q.now = begin + kLong;
	EXPECT_EQ(str(q.sends()), singles(q.psn, 3));
	EXPECT_EQ(q.n.req.stats.timeouts, 1u);
	EXPECT_EQ(q.n.req.retries_left, q.n.req.cfg.retry_cnt - 1);
}

// The responder does not repeat a NAK: asking would not help.
TEST(ReqLate, GoesBackAtOnceWhereTheRepetitionIsLost)
{
	Lossy q;

	q.post(PIB_WR_WRITE, 2 * kMtu);
	q.sends();
	EXPECT_EQ(str(q.gets(ack(q.psn, kNak))), write(q.psn, 2));
	EXPECT_EQ(str(q.after(kLate)), singles(q.psn, 2));
	EXPECT_EQ(str(q.gets(ack(q.psn, kNak))), singles(q.psn, 2)); // which is news again
}

TEST(ReqLate, AReadIsAskedForAgain)
{
	Lossy q;

	q.post(PIB_WR_READ, 2 * kMtu);
	q.sends();
	q.gets(read_resp(q.psn, 1, Bytes(kMtu), PIB_H_FIRST));
	EXPECT_EQ(str(q.after(kLate)), "READ@" + std::to_string(q.psn + 1) + "+1");
	q.gets(read_resp(q.psn + 1, 1, Bytes(kMtu), kOnly));
	EXPECT_EQ(q.done(), "3:0");
}

TEST(ReqLate, WhatWasSentTwiceIsNotTimed)
{
	Lossy q;
	const uint64_t srtt = q.n.req.srtt;

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.after(kLate);
	q.now += kLate;
	q.gets(ack(q.psn));
	EXPECT_EQ(q.n.req.srtt, srtt);
	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.now += kTrip + 8000;
	q.gets(ack(q.psn + 1));
	EXPECT_EQ(q.n.req.srtt, srtt + 1000);
}

TEST(ReqLate, AShortRoundTripIsNoReasonToHurry)
{
	Lossy q(lossy(), 10);

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	EXPECT_EQ(pib_req_deadline(&q.n.req), q.now + kLateMin);
}

TEST(ReqLate, OnlyWherePacketsMayBeLostAndThereIsATimeout)
{
	NodeCfg safe = lossy(), endless = lossy();

	safe.late_min = 0;
	endless.req.timeout = 0;

	Lossy a(safe), b(endless);

	a.post(PIB_WR_WRITE, 8);
	a.sends();
	EXPECT_EQ(pib_req_deadline(&a.n.req), a.now + kLong);
	b.post(PIB_WR_WRITE, 8);
	b.sends();
	EXPECT_EQ(pib_req_deadline(&b.n.req), 0u);
}

TEST(ReqLate, NothingIsLateWhileThisEndCannotListen)
{
	Lossy q;

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.now += 2 * kLate;
	pib_req_excuse(&q.n.req, q.now);
	EXPECT_EQ(str(q.sends()), "");
	EXPECT_EQ(str(q.after(kLate)), write(q.psn, 1));
}

// More may be in flight than the window that begins with the first burst.
TEST(ReqLate, AsksWhereTheWindowIsFull)
{
	NodeCfg c = lossy();

	c.req.pmtu = 4096;
	c.req.max_burst = 65536;

	Qp q(c);

	q.post(PIB_WR_WRITE, 8 * 4096, 0);
	EXPECT_EQ(str(q.sends()), write(kPsn, 8));
	EXPECT_EQ(q.n.req.cwnd, 4u);
	EXPECT_EQ(str(q.after(1000000)), write(kPsn + 7, 1));
}

TEST(ReqLate, AsksInTheMiddleOfAMessage)
{
	Lossy q;
	uint32_t window = q.n.req.cwnd;

	q.post(PIB_WR_WRITE, 1000 * kMtu);
	q.sends();
	EXPECT_EQ(q.n.req.snd_psn, q.psn + window);
	EXPECT_EQ(str(q.after(kLate)), write(q.psn + window - 1, 1));
}

// Answers that have all become slower are repeated for some time only.
TEST(ReqLate, ALongerRoundTripIsLearnt)
{
	Lossy q;
	uint64_t before = 0;

	for (int i = 0; i < 8; i++) {
		before = q.n.req.stats.late;
		q.post(PIB_WR_WRITE, 8);
		q.sends();
		for (int j = 0; j < 50; j++)
			q.after(kTrip / 5);
		q.gets(ack(q.n.req.next_psn - 1));
	}
	EXPECT_EQ(q.n.req.stats.late, before);
	EXPECT_GT(q.n.req.srtt, 3 * kTrip);
	EXPECT_EQ(q.n.req.backoff, 0);
}

// Four bursts fit the window.
TEST(ReqLate, BurstsAreAQuarterOfASmallWindow)
{
	NodeCfg c = lossy();

	c.req.max_burst = 64 * kMtu;

	Lossy q(c);

	ASSERT_EQ(q.n.req.cwnd, 64u);
	q.post(PIB_WR_WRITE, 1000 * kMtu);
	EXPECT_EQ(str(q.sends()), write(q.psn, 16) + " " + write(q.psn + 16, 16) + " " +
					  write(q.psn + 32, 16) + " " + write(q.psn + 48, 16));
}

// A READ may take long for other reasons.
TEST(ReqLate, TheWindowStaysWhereAReadIsLateAtFirst)
{
	Lossy q;
	uint32_t window = q.n.req.cwnd;

	q.post(PIB_WR_READ, 2 * kMtu);
	q.sends();
	q.after(kLate);
	EXPECT_EQ(q.n.req.cwnd, window);
	q.after(2 * kLate);
	EXPECT_EQ(q.n.req.cwnd, window);
	q.after(4 * kLate);
	EXPECT_EQ(q.n.req.cwnd, 2u);
}

TEST(ReqLate, NothingIsLateOnceThereIsNoTimeout)
{
	Lossy q;
	pib_req_cfg endless = q.n.req.cfg;

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	endless.timeout = 0;
	pib_req_reconfig(&q.n.req, &endless);
	EXPECT_EQ(str(q.after(kLate)), "");
}

// A READ that waits for the window waits for what asks.
TEST(ReqLate, AsksBeforeAReadThatDoesNotFit)
{
	NodeCfg c = lossy();

	c.req.max_burst = 16 * kMtu;
	c.req.max_window = 13;

	Lossy q(c);

	q.post(PIB_WR_WRITE, 2 * kMtu, 0);
	q.post(PIB_WR_READ, 16 * kMtu);

	std::vector<Burst> sent = q.sends();

	EXPECT_EQ(str(sent), write(q.psn, 2));
	EXPECT_TRUE(sent[0].h.flags & PIB_H_ACKREQ);
}

} // namespace
