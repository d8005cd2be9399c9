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

TEST(ReqLate, GoesBackFourTimesAtMostAndTwiceAsLateEachTime)
{
	Lossy q;
	const uint64_t begin = q.now;

	q.post(PIB_WR_WRITE, 3 * kMtu);
	q.sends();
	EXPECT_EQ(str(q.after(kLate)), write(q.psn + 2, 1));
	for (int i = 1; i < 4; i++) {
		EXPECT_EQ(str(q.after((kLate << i) - 1)), "") << i;
		// the window is two packets, of which one asks
		EXPECT_EQ(str(q.after(1)), write(q.psn, 2)) << i;
	}
	EXPECT_EQ(pib_req_deadline(&q.n.req), begin + kLong);
	EXPECT_EQ(q.n.req.retries_left, q.n.req.cfg.retry_cnt);
	EXPECT_EQ(q.n.req.stats.late, 4u);
	q.now = begin + kLong;
	EXPECT_EQ(str(q.sends()), write(q.psn, 2));
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
	EXPECT_EQ(str(q.after(kLate)), write(q.psn, 2));
	EXPECT_EQ(str(q.gets(ack(q.psn, kNak))), write(q.psn, 2)); // which is news again
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

} // namespace
