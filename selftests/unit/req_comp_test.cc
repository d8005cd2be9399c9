// SPDX-License-Identifier: GPL-2.0
// The requester, inward: acknowledgements, NAKs, responses, and the clock.
#include "qp.h"

using namespace qp;

namespace {

TEST(ReqComp, AckSpeaksForAllBeforeIt)
{
	Qp q;

	for (int i = 0; i < 3; i++)
		q.post(PIB_WR_WRITE, 2 * kMtu);
	q.sends();
	q.gets(ack(kPsn + 2)); // the middle of the second
	EXPECT_EQ(q.done(), "1:0");
	q.gets(ack(kPsn + 5));
	EXPECT_EQ(q.done(), "2:0 3:0");
	EXPECT_EQ(pib_req_deadline(&q.n.req), 0u);
}

TEST(ReqComp, GhostAcksAreCounted)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.gets(ack(kPsn + 1)); // never sent
	q.gets(ack(kPsn - 1));
	q.gets(ack(kPsn + 0x800000));
	q.gets(ack(kPsn + 5, kNak | 1));
	EXPECT_EQ(q.done(), "");
	EXPECT_EQ(q.n.req.stats.dup_acks, 4u);
	q.gets(ack(kPsn));
	EXPECT_EQ(q.done(), "1:0");
}

TEST(ReqComp, ResponsesOfTheWrongKindAreCounted)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_READ, 8);
	q.post(PIB_WR_CAS, 8);
	q.sends();
	q.gets(read_resp(kPsn, 1, Bytes(8), kOnly)); // for a WRITE
	q.gets(atomic_ack(kPsn, 0));
	q.gets(ack(kPsn + 1)); // for a READ
	q.gets(atomic_ack(kPsn + 1, 0));
	q.gets(read_resp(kPsn + 2, 1, {}, kOnly));			// for an atomic
	q.gets(with(ack(kPsn), [](Burst &b) { b.h.syndrome = 0x40; })); // reserved
	q.gets(with(ack(kPsn), [](Burst &b) { b.h.syndrome = 0x85; }));
	q.gets(with(ack(kPsn), [](Burst &b) { b.h.tp = PIB_TP_UC; }));
	q.gets(ack(kPsn, kNak | 9)); // reserved NAK code
	q.gets(with(read_resp(kPsn + 1, 1, Bytes(8), kOnly),
		    [](Burst &b) { b.h.syndrome = kNak; }));
	q.gets(with(read_resp(kPsn + 1, 1, Bytes(8), kOnly), [](Burst &b) { b.npkts = 0; }));
	EXPECT_EQ(q.done(), "");
	EXPECT_EQ(q.n.req.stats.bad_responses, 11u);
	EXPECT_FALSE(q.n.req.error);
}

// 9.7.5.2, 11.6.2
TEST(ReqComp, FatalNaks)
{
	static const struct {
		uint8_t code;
		uint32_t status;
	} cases[] = {
		{1, PIB_WC_REM_INV_REQ_ERR},
		{2, PIB_WC_REM_ACCESS_ERR},
		{3, PIB_WC_REM_OP_ERR},
	};

	for (const auto &t : cases) {
		Qp q;

		for (int i = 0; i < 3; i++)
			q.post(PIB_WR_WRITE, 8);
		q.sends();
		q.gets(ack(kPsn + 1, kNak | t.code));
		EXPECT_EQ(q.done(), "1:0 2:" + std::to_string(t.status) + " 3:5");
	}
}

// 17.2.8: before it gives up it asks for another path, and has all its retries there.
TEST(ReqComp, AnotherPathBeforeGivingUp)
{
	for (bool answered : {true, false}) {
		NodeCfg c = config();
		c.req.retry_cnt = 2;
		Qp q(c);

		q.post(PIB_WR_WRITE, 8);
		EXPECT_EQ(str(q.sends()), "WRITE@1000+1");
		pib_req_set_spare(&q.n.req, true);
		for (int i = 0; i < 2; i++)
			EXPECT_EQ(str(q.after(4 * kTimeout)), "WRITE@1000+1");
		EXPECT_FALSE(q.n.req.leave);
		EXPECT_EQ(str(q.after(4 * kTimeout)), "");
		EXPECT_TRUE(q.n.req.leave);
		EXPECT_FALSE(q.n.req.error);

		pib_req_new_path(&q.n.req, 8, false);
		EXPECT_FALSE(q.n.req.leave);
		EXPECT_TRUE(q.n.req.unproven);
		EXPECT_EQ(str(q.sends()), "WRITE@1000+1");
		for (int i = 0; i < 2; i++)
			EXPECT_EQ(str(q.after(4 * kTimeout)), "WRITE@1000+1");
		if (answered) {
			q.gets(ack(kPsn));
			EXPECT_EQ(q.done(), "1:0");
			EXPECT_FALSE(q.n.req.unproven);
			continue;
		}
		q.after(4 * kTimeout);
		EXPECT_EQ(q.n.req.error, PIB_WC_RETRY_EXC_ERR);
		EXPECT_TRUE(q.n.req.unproven);
		EXPECT_FALSE(q.n.req.leave);
	}
}

// Sequence errors use up retries as well, and an answer in time makes all of it unsaid.
TEST(ReqComp, AnotherPathAfterSequenceErrors)
{
	NodeCfg c = config();
	c.req.retry_cnt = 0;
	Qp q(c);

	pib_req_set_spare(&q.n.req, true);
	q.post(PIB_WR_WRITE, 3 * kMtu);
	q.sends();
	EXPECT_EQ(str(q.gets(ack(kPsn + 1, kNak))), "");
	EXPECT_TRUE(q.n.req.leave);
	q.gets(ack(kPsn + 2));
	EXPECT_EQ(q.done(), "1:0");
	EXPECT_FALSE(q.n.req.leave);
}

// The peer has changed the path: what is under way goes again at once, and the clock starts from
// there.
TEST(ReqComp, AFollowerSendsAgain)
{
	Qp q;

	q.post(PIB_WR_WRITE, 2 * kMtu);
	q.post(PIB_WR_READ, kMtu);
	q.sends();
	pib_req_new_path(&q.n.req, 8, true);
	EXPECT_FALSE(q.n.req.unproven);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+2 READ@1002+1");
	EXPECT_GT(pib_req_deadline(&q.n.req), q.now);
	q.gets(ack(kPsn + 1));
	q.gets(read_resp(kPsn + 2, 1, Bytes(kMtu), kOnly));
	EXPECT_EQ(q.done(), "1:0 2:0");
}

TEST(ReqComp, SequenceErrorGoesBack)
{
	Qp q;

	q.post(PIB_WR_WRITE, 3 * kMtu);
	q.post(PIB_WR_WRITE, 3 * kMtu);
	q.sends();
	EXPECT_EQ(str(q.gets(ack(kPsn + 2, kNak))), "WRITE@1002+1 WRITE@1003+3");
	EXPECT_EQ(q.n.req.stats.packet_seq_err, 1u);
	EXPECT_EQ(q.n.req.stats.retransmits, 4u);
	EXPECT_EQ(str(q.gets(ack(kPsn + 2, kNak))), ""); // the same, doubled on the way
	q.gets(ack(kPsn + 5));
	EXPECT_EQ(q.done(), "1:0 2:0");
}

TEST(ReqComp, WhatIsAcknowledgedMeanwhileIsNotSentAgain)
{
	Qp q;

	for (int i = 0; i < 4; i++)
		q.post(PIB_WR_WRITE, 4 * kMtu);
	q.sends();
	q.n.inbox.push_back(ack(kPsn, kNak));
	q.n.inbox.push_back(ack(kPsn + 9));
	EXPECT_EQ(str(q.sends()), "WRITE@1010+2 WRITE@1012+4");
}

TEST(ReqComp, NoRetryWithRetryCountZero)
{
	NodeCfg c = config();

	c.req.retry_cnt = 0;
	Qp q(c);

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.gets(ack(kPsn, kNak));
	EXPECT_EQ(q.done(), "1:12");
}

TEST(ReqComp, TimeoutAndRetryCount)
{
	NodeCfg c = config();

	c.req.retry_cnt = 3;
	Qp q(c);

	q.post(PIB_WR_WRITE, 8);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+1");
	EXPECT_EQ(pib_req_deadline(&q.n.req), q.now + kTimeout);
	EXPECT_EQ(str(q.after(kTimeout - 1)), "");
	EXPECT_EQ(str(q.after(1)), "WRITE@1000+1");
	// Without an answer the next time-out is twice as long, up to the four times that 9.7.6.1.3
	// allows.
	EXPECT_EQ(str(q.after(2 * kTimeout - 1)), "");
	EXPECT_EQ(str(q.after(1)), "WRITE@1000+1");
	EXPECT_EQ(str(q.after(4 * kTimeout - 1)), "");
	EXPECT_EQ(str(q.after(1)), "WRITE@1000+1");
	EXPECT_EQ(str(q.after(4 * kTimeout - 1)), "");
	EXPECT_EQ(q.done(), "");
	EXPECT_EQ(str(q.after(1)), "");
	EXPECT_EQ(q.done(), "1:12");
	EXPECT_EQ(q.n.req.stats.timeouts, 4u);
}

// Modifying the QP again and again does not keep it alive.
TEST(ReqComp, ModifyingDoesNotRenewTheRetryCount)
{
	NodeCfg c = config();

	c.req.retry_cnt = 1;
	c.req.rnr_retry = 1;
	Qp q(c);

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	EXPECT_EQ(str(q.after(kTimeout)), "WRITE@1000+1");
	c.req.timeout++;
	pib_req_reconfig(&q.n.req, &c.req);
	EXPECT_EQ(str(q.after(2 * kTimeout)), "");
	EXPECT_EQ(q.done(), "1:12");

	Qp again(c);

	again.post(PIB_WR_WRITE, 8);
	again.sends();
	again.after(2 * kTimeout);
	c.req.retry_cnt = 2;
	pib_req_reconfig(&again.n.req, &c.req);
	EXPECT_EQ(str(again.after(4 * kTimeout)), "WRITE@1000+1");
}

TEST(ReqComp, ProgressRenewsTheRetryCount)
{
	NodeCfg c = config();

	c.req.retry_cnt = 1;
	Qp q(c);

	q.post(PIB_WR_WRITE, 4 * kMtu);
	q.sends();
	for (uint32_t i = 0; i < 4; i++) {
		EXPECT_NE(str(q.after(kTimeout)), "");
		q.gets(ack(kPsn + i));
	}
	EXPECT_EQ(q.done(), "1:0");
}

TEST(ReqComp, TimeoutZeroIsForEver)
{
	NodeCfg c = config();

	c.req.timeout = 0;
	Qp q(c);

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	EXPECT_EQ(pib_req_deadline(&q.n.req), 0u);
	EXPECT_EQ(str(q.after(1000 * PIB_NSEC_PER_SEC)), "");
}

TEST(ReqComp, RnrWaitsAsLongAsTheCodeSays)
{
	// 9.7.5.2.8, in units of 10 us
	static const uint32_t table[32] = {65536, 1,	2,    3,     4,	    6,	   8,	  12,
					   16,	  24,	32,   48,    64,    96,	   128,	  192,
					   256,	  384,	512,  768,   1024,  1536,  2048,  3072,
					   4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

	for (uint8_t code = 0; code < 32; code++) {
		Qp q;

		q.post(PIB_WR_SEND, 8);
		q.sends();
		EXPECT_EQ(str(q.gets(ack(kPsn, kRnr | code))), "");
		EXPECT_EQ(pib_req_deadline(&q.n.req), q.now + table[code] * 10000ULL);
		EXPECT_EQ(str(q.after(table[code] * 10000ULL - 1)), "");
		EXPECT_EQ(str(q.after(1)), "SEND@1000+1");
	}
}

TEST(ReqComp, RnrWaitsLongerWhereThatIsAskedFor)
{
	NodeCfg c = config();

	c.req.rnr_times = 3;
	Qp q(c);

	q.post(PIB_WR_SEND, 8);
	q.sends();
	EXPECT_EQ(str(q.gets(ack(kPsn, kRnr | 1))), "");
	EXPECT_EQ(pib_req_deadline(&q.n.req), q.now + 30000);
	EXPECT_EQ(str(q.after(29999)), "");
	EXPECT_EQ(str(q.after(1)), "SEND@1000+1");
}

TEST(ReqComp, RnrRetryCount)
{
	NodeCfg c = config();

	c.req.rnr_retry = 2;
	Qp q(c);

	q.post(PIB_WR_SEND, 8);
	q.sends();
	for (int i = 0; i < 2; i++) {
		q.gets(ack(kPsn, kRnr | 1));
		q.gets(ack(kPsn, kRnr | 1)); // said twice while waiting: counts once
		EXPECT_EQ(str(q.after(10000)), "SEND@1000+1");
	}
	q.gets(ack(kPsn, kRnr | 1));
	EXPECT_EQ(q.done(), "1:13");
}

TEST(ReqComp, RnrRetrySevenIsForEver)
{
	Qp q;

	q.post(PIB_WR_SEND, 8);
	q.sends();
	for (int i = 0; i < 100; i++) {
		q.gets(ack(kPsn, kRnr | 1));
		EXPECT_EQ(str(q.after(10000)), "SEND@1000+1");
	}
	EXPECT_EQ(q.n.req.stats.rnr_nak_rcvd, 100u);
	EXPECT_EQ(q.n.req.stats.timeouts, 0u);
	q.gets(ack(kPsn));
	EXPECT_EQ(q.done(), "1:0");
}

TEST(ReqComp, RnrInTheMiddleGoesOnThere)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.gets(ack(kPsn, 0x1F));
	q.post(PIB_WR_WRITE_IMM, 3 * kMtu);
	EXPECT_EQ(str(q.sends()), "WRITE@1001+3");
	EXPECT_EQ(str(q.gets(ack(kPsn + 3, kRnr | 1))), "");
	std::vector<Burst> v = q.after(10000);

	EXPECT_EQ(str(v), "WRITE@1003+1");
	EXPECT_EQ(v[0].h.flags, kLast | PIB_H_IMM | kAckReq);
}

TEST(ReqComp, ProgressEndsAnRnrWait)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_WRITE, 8);
	q.sends();
	EXPECT_EQ(str(q.gets(ack(kPsn, kRnr | 1))), "");
	EXPECT_EQ(str(q.gets(ack(kPsn))), "WRITE@1001+1"); // the NAK was an old one
}

TEST(ReqComp, RnrAlsoAcknowledgesWhatIsBefore)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.gets(ack(kPsn + 1, kRnr | 1));
	EXPECT_EQ(q.done(), "1:0");
}

// A READ or an atomic, too, may be put off by its responder.
TEST(ReqComp, RnrForAReadHasItAskedForAgain)
{
	Qp q;

	q.post(PIB_WR_READ, 2 * kMtu);
	q.post(PIB_WR_WRITE, 8);
	EXPECT_EQ(str(q.sends()), "READ@1000+1 WRITE@1002+1");
	EXPECT_EQ(str(q.gets(ack(kPsn, kRnr | 1))), "");
	EXPECT_EQ(str(q.after(10000)), "READ@1000+1 WRITE@1002+1");
}

TEST(ReqComp, RnrForAPartThatWasAnsweredIsNoGhost)
{
	Qp q;

	q.post(PIB_WR_READ, 2 * kMtu);
	q.sends();
	q.gets(read_resp(kPsn, 1, pattern(kMtu), kFirst));
	q.gets(ack(kPsn, kRnr | 1));
	EXPECT_EQ(q.n.req.stats.rnr_nak_rcvd, 1u);
	EXPECT_EQ(q.n.req.stats.dup_acks, 0u);
	EXPECT_EQ(str(q.after(10000)), "READ@1001+1");
}

// ---- READ responses ----

// A response that cannot be stored for long is as good as lost, and costs no retry.
TEST(ReqComp, ResponseWithoutAPlaceIsAskedForAgain)
{
	NodeCfg c = config();

	c.req.retry_cnt = 0;
	for (uint32_t posts : {1u, 2u, 4u}) {
		c.ring = 4;
		Qp q(c);
		int missing = 3;

		q.n.page_missing = [&] { return missing-- > 0; };
		q.post(PIB_WR_READ, 2 * kMtu);
		for (uint32_t i = 1; i < posts; i++)
			q.post(PIB_WR_BIND_MW, 0);
		q.sends();
		for (int i = 0; i < 3; i++)
			EXPECT_EQ(str(q.gets(read_resp(kPsn, 2, pattern(2 * kMtu), kOnly))),
				  "READ@1000+1");
		EXPECT_EQ(q.done(), "");
		EXPECT_EQ(str(q.gets(read_resp(kPsn, 2, pattern(2 * kMtu), kOnly))), "");
		EXPECT_EQ(q.done().substr(0, 3), "1:0");
	}
}

TEST(ReqComp, PartOfAResponseWithoutAPlaceIsAskedForAgain)
{
	Qp q;
	int missing = 0;

	q.n.page_missing = [&] { return missing-- > 0; };
	q.post(PIB_WR_READ, 4 * kMtu);
	q.sends();
	q.gets(read_resp(kPsn, 1, pattern(kMtu), kFirst));
	missing = 1;
	EXPECT_EQ(str(q.gets(read_resp(kPsn + 1, 3, pattern(3 * kMtu), kLast))), "READ@1001+1");
	q.gets(read_resp(kPsn + 1, 3, pattern(3 * kMtu), kOnly));
	EXPECT_EQ(q.done(), "1:0");
}

// A READ that was sent before, and has yet to be sent again, may be answered before that.
TEST(ReqComp, AnyAnswerMayBeAStrayWhileAPageIsMissing)
{
	NodeCfg c = config();
	auto whole = [](uint32_t psn) { return read_resp(psn, 2, Bytes(2 * kMtu), kOnly); };
	int missing = 1;

	c.req.retry_cnt = 0;
	Qp q(c);
	q.n.page_missing = [&] { return missing-- > 0; };
	for (int i = 0; i < 2; i++)
		q.post(PIB_WR_READ, 2 * kMtu);
	q.sends();
	EXPECT_EQ(str(q.gets(whole(kPsn))), "READ@1000+1 READ@1002+1");
	for (int i = 0; i < 2; i++)
		q.post(PIB_WR_READ, 2 * kMtu);
	q.sends();
	q.n.inbox.push_back(whole(kPsn + 2)); // back to the first
	missing = 1;
	EXPECT_EQ(str(q.gets(whole(kPsn))), "READ@1000+1 READ@1002+1 READ@1004+1 READ@1006+1");
	q.gets(whole(kPsn));
	q.gets(whole(kPsn + 2));
	EXPECT_EQ(str(q.gets(whole(kPsn + 6))), "READ@1004+1 READ@1006+1");
	EXPECT_EQ(q.done(), "1:0 2:0");
}

TEST(ReqComp, ReadResponsesLandInParts)
{
	Qp q;
	Bytes d = pattern(4 * kMtu, 9);
	auto cut = [&](size_t from, size_t to) { return Bytes(d.begin() + from, d.begin() + to); };

	q.post(PIB_WR_READ, 4 * kMtu - 3);
	q.sends();
	q.gets(read_resp(kPsn, 1, cut(0, kMtu), kFirst));
	q.gets(read_resp(kPsn + 1, 2, cut(kMtu, 3 * kMtu), 0));
	EXPECT_EQ(q.done(), "");
	q.gets(read_resp(kPsn + 3, 1, cut(3 * kMtu, 4 * kMtu - 3), kLast));
	ASSERT_EQ(q.n.sent.size(), 1u);
	EXPECT_EQ(q.n.sent[0].data, cut(0, 4 * kMtu - 3));
	EXPECT_EQ(q.done(), "1:0");
}

TEST(ReqComp, GapInReadResponsesAsksForTheRest)
{
	Qp q;
	std::vector<Burst> v;

	q.post(PIB_WR_READ, 4 * kMtu);
	q.sends();
	q.gets(read_resp(kPsn, 1, Bytes(kMtu), kFirst));
	v = q.gets(read_resp(kPsn + 2, 1, Bytes(kMtu), 0));
	ASSERT_EQ(str(v), "READ@1001+1");
	EXPECT_EQ(v[0].h.va, kVa + kMtu);
	EXPECT_EQ(v[0].h.dmalen, 3 * kMtu);
	EXPECT_EQ(q.n.req.stats.implied_nak, 1u);
	EXPECT_EQ(str(q.gets(read_resp(kPsn + 3, 1, Bytes(kMtu), kLast))), ""); // the same gap
	q.gets(read_resp(kPsn + 1, 3, Bytes(3 * kMtu), kOnly));
	EXPECT_EQ(q.done(), "1:0");
}

TEST(ReqComp, RepeatedResponsesBringOnlyWhatIsNew)
{
	Qp q;

	q.post(PIB_WR_READ, 4 * kMtu);
	q.sends();
	q.gets(read_resp(kPsn, 2, Bytes(2 * kMtu, 1), kFirst));
	q.gets(read_resp(kPsn, 1, Bytes(kMtu, 2), kFirst));
	q.gets(read_resp(kPsn, 4, Bytes(4 * kMtu, 3), kOnly));
	ASSERT_EQ(q.n.sent.size(), 1u);
	EXPECT_EQ(q.n.sent[0].data[2 * kMtu - 1], 1);
	EXPECT_EQ(q.n.sent[0].data[2 * kMtu], 3);
}

TEST(ReqComp, AckBeyondAReadImpliesItsLoss)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_READ, 8);
	q.post(PIB_WR_WRITE, 8);
	q.sends();
	EXPECT_EQ(str(q.gets(ack(kPsn + 2))), "READ@1001+1 WRITE@1002+1");
	EXPECT_EQ(q.done(), "1:0");
	EXPECT_EQ(str(q.gets(ack(kPsn + 2))), "");
	q.gets(read_resp(kPsn + 1, 1, Bytes(8), kOnly));
	q.gets(ack(kPsn + 2));
	EXPECT_EQ(q.done(), "2:0 3:0");
}

TEST(ReqComp, AResponseAcknowledgesWhatIsBefore)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_CAS, 8);
	q.sends();
	q.gets(atomic_ack(kPsn + 1, 0));
	EXPECT_EQ(q.done(), "1:0 2:0");
}

// The ring turns round, and so do the PSNs.
TEST(ReqComp, AnswersAreFoundAmongWhatTakesNoPsn)
{
	NodeCfg c = config();

	c.ring = 8;
	c.sq_psn = 0xFFFFFD;
	Qp q(c);
	for (uint32_t turn = 0, psn = c.sq_psn; turn < 5; turn++, psn += 6) {
		q.post(PIB_WR_WRITE, 2 * kMtu);
		q.post(PIB_WR_REG_MR, 0);
		q.post(PIB_WR_CAS, 8);
		q.post(PIB_WR_REG_MR, 0);
		q.post(PIB_WR_REG_MR, 0);
		q.post(PIB_WR_WRITE, 3 * kMtu);
		q.sends();
		q.gets(ack(psn + 2));		// for an atomic
		q.gets(atomic_ack(psn + 4, 0)); // for a WRITE
		EXPECT_EQ(q.n.req.stats.bad_responses, 2 * (turn + 1));
		q.gets(atomic_ack(psn + 2, 0));
		EXPECT_EQ(q.n.sent.size(), 5u);
		q.gets(ack(psn + 4));
		EXPECT_EQ(q.n.sent.size(), 5u);
		q.gets(ack(psn + 5));
		EXPECT_EQ(q.n.sent.size(), 6u);
		q.done();
	}
	EXPECT_EQ(q.n.req.stats.retransmits, 0u);
}

TEST(ReqComp, ReadResponseOfTheWrongLength)
{
	for (size_t len : {0u, kMtu - 1, kMtu + 1, 2 * kMtu}) {
		Qp q;

		q.post(PIB_WR_READ, kMtu);
		q.sends();
		q.gets(read_resp(kPsn, 1, Bytes(len), kOnly));
		EXPECT_EQ(q.done(), "1:7") << len;
	}
}

TEST(ReqComp, ReadResponseThatEndsElsewhere)
{
	Qp q;

	q.post(PIB_WR_READ, 3 * kMtu);
	q.sends();
	q.gets(read_resp(kPsn, 2, Bytes(2 * kMtu), kOnly));  // too early
	q.gets(read_resp(kPsn, 3, Bytes(3 * kMtu), kFirst)); // not at all
	EXPECT_EQ(q.n.req.stats.bad_responses, 2u);
	EXPECT_EQ(q.done(), "");
	q.gets(read_resp(kPsn, 3, Bytes(3 * kMtu), kOnly));
	EXPECT_EQ(q.done(), "1:0");
}

TEST(ReqComp, ReadDataThatCannotBeStored)
{
	Qp q;
	Work k = work(1, PIB_WR_READ, 4 * kMtu);

	k.bad_from = kMtu;
	q.n.post(k);
	q.next_id = 2;
	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.gets(read_resp(kPsn, 1, Bytes(kMtu), kFirst));
	EXPECT_EQ(q.done(), "");
	q.gets(read_resp(kPsn + 1, 3, Bytes(3 * kMtu), kLast));
	EXPECT_EQ(q.done(), "1:4 2:5");
}

TEST(ReqComp, NakAfterALostReadResponse)
{
	Qp q;

	q.post(PIB_WR_READ, 8);
	q.post(PIB_WR_WRITE, 8);
	q.sends();
	// The responder has gone to ERR: the READ will not be answered, but another try is due.
	EXPECT_EQ(str(q.gets(ack(kPsn + 1, kNak | 2))), "READ@1000+1 WRITE@1001+1");
	for (int i = 0; i < 8; i++)
		q.after(4 * kTimeout);
	EXPECT_EQ(q.done(), "1:12 2:5");
}

TEST(ReqComp, NakAfterALostReadResponseWithoutTimer)
{
	NodeCfg c = config();

	c.req.timeout = 0;
	Qp q(c);

	q.post(PIB_WR_READ, 8);
	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.gets(ack(kPsn + 1, kNak | 2));
	EXPECT_EQ(q.done(), "1:12 2:5");
}

// ---- the window ----

TEST(ReqComp, WindowOpensAndCloses)
{
	Qp q;
	uint32_t psn = kPsn;

	q.post(PIB_WR_WRITE, 4000 * kMtu);
	EXPECT_EQ(q.n.req.cwnd, 64u);
	q.sends();
	psn += 64;
	q.gets(ack(psn - 1));
	EXPECT_EQ(q.n.req.cwnd, 128u); // slow start
	q.gets(ack(psn, kNak));
	EXPECT_EQ(q.n.req.cwnd, 64u); // a loss halves it
	q.gets(ack(psn + 1, kNak));
	EXPECT_EQ(q.n.req.cwnd, 64u); // once for what was in flight
	q.after(4 * kTimeout);
	EXPECT_EQ(q.n.req.cwnd, 2u);
	EXPECT_EQ(q.n.req.ssthresh, 64u);
}

TEST(ReqComp, WindowGrowsOnlyWhereItWasUsed)
{
	Qp q;

	for (int i = 0; i < 100; i++) {
		q.post(PIB_WR_WRITE, 8);
		q.gets(ack(q.n.req.next_psn));
		q.gets(ack(q.n.req.next_psn - 1));
	}
	EXPECT_EQ(q.n.req.cwnd, 64u);
}

// The window begins, and grows once something was lost, as TCP's would, whatever the size of packets.
TEST(ReqComp, WindowGrowsByASegmentInARoundTrip)
{
	for (uint32_t mtu : {256u, 1024u, 2048u, 4096u}) {
		NodeCfg c = config();

		c.req.pmtu = mtu;
		c.req.max_burst = 65536;
		c.req.max_window = 0;
		c.late_min = 1;
		Qp q(c);

		pib_req_set_lossy(&q.n.req, c.late_min);
		EXPECT_LE(q.n.req.cwnd * mtu, 16384u);
		q.post(PIB_WR_WRITE, 32 << 20);
		for (int i = 0; i < 2; i++) {
			q.sends();
			q.gets(ack(q.n.req.next_psn - 1));
		}
		q.sends();
		q.gets(ack(q.n.req.una_psn, kNak));

		const uint32_t before = q.n.req.cwnd * mtu;

		q.sends();
		q.gets(ack(q.n.req.next_psn - 1)); // what was sent again
		for (int i = 0; i < 100; i++) {
			q.sends();
			q.gets(ack(q.n.req.next_psn - 1));
		}
		EXPECT_LE(q.n.req.cwnd * mtu, before + 102 * 2048) << mtu;
		EXPECT_GE(q.n.req.cwnd * mtu, before + 56 * 1024) << mtu;
	}
}

} // namespace
