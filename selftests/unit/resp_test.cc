// SPDX-License-Identifier: GPL-2.0
// The responder: what is executed, what is answered, in which order.
#include "qp.h"

using namespace qp;

namespace {

uint64_t cell(Qp &q, size_t at = 0)
{
	uint64_t v;

	memcpy(&v, q.n.mem[kKey].bytes.data() + at, 8);
	return v;
}

Burst atomic(uint8_t op, uint32_t psn, uint64_t swap_add, uint64_t compare = 0)
{
	Burst b = request(op, psn, 1, 8, kOnly | kAckReq);

	b.h.swap_add = swap_add;
	b.h.compare = compare;
	return b;
}

Burst read_req(uint32_t psn, uint32_t len, uint32_t off = 0)
{
	Burst b = request(PIB_OP_READ_REQ, psn, 1, len, kOnly | kAckReq);

	b.h.va += off;
	return b;
}

TEST(Resp, SendOfSeveralPackets)
{
	Qp q;
	std::vector<Burst> v;

	q.recvs(1);
	EXPECT_EQ(str(q.gets(request(PIB_OP_SEND, kPsn, 1, kMtu, kFirst))), "");
	EXPECT_EQ(str(q.gets(request(PIB_OP_SEND, kPsn + 1, 2, 2 * kMtu, 0))), "");
	v = q.gets(
		with(request(PIB_OP_SEND, kPsn + 3, 1, 5, kLast | PIB_H_IMM | PIB_H_SE | kAckReq),
		     [](Burst &b) { b.h.ex = 0x1234; }));
	ASSERT_EQ(str(v), "ACK@1003+1");
	EXPECT_EQ(v[0].h.msn, 1u);
	EXPECT_EQ(v[0].h.dqpn, 0x22u);
	Wc wc = q.received();

	EXPECT_EQ(wc.status, PIB_WC_SUCCESS);
	EXPECT_EQ(wc.len, 3 * kMtu + 5);
	EXPECT_EQ(wc.ex, 0x1234u);
	EXPECT_EQ(wc.flags, PIB_H_IMM | PIB_H_SE);
	EXPECT_EQ(wc.data[kMtu], pattern(1, uint8_t(kPsn + 1))[0]);
}

TEST(Resp, OneAckForManyRequests)
{
	Qp q;

	for (int i = 0; i < 5; i++)
		q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn + i, 1, 8, kOnly | kAckReq));
	EXPECT_EQ(str(q.sends()), "ACK@1004+1");
	EXPECT_EQ(q.n.resp.msn, 5u);
}

TEST(Resp, NoAckUnasked)
{
	Qp q;

	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly))), "");
}

TEST(Resp, AckUnaskedAtTheEndOfAMessage)
{
	NodeCfg c = config();

	c.resp.ack_each = true;
	Qp q(c);

	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn, 2, 2 * kMtu, kOnly))), "ACK@1001+1");
	q.recvs(1);
	EXPECT_EQ(str(q.gets(request(PIB_OP_SEND, kPsn + 2, 1, kMtu, kFirst))), "");
	EXPECT_EQ(str(q.gets(request(PIB_OP_SEND, kPsn + 3, 1, 5, kLast))), "ACK@1003+1");
}

TEST(Resp, MsnAndPsnWrap)
{
	NodeCfg c = config();

	c.rq_psn = 0xFFFFFF;
	Qp q(c);

	q.n.resp.msn = 0xFFFFFF;
	std::vector<Burst> v =
		q.gets(request(PIB_OP_WRITE, 0xFFFFFF, 2, 2 * kMtu, kOnly | kAckReq));

	EXPECT_EQ(str(v), "ACK@0+1");
	EXPECT_EQ(v[0].h.msn, 0u);
}

TEST(Resp, CreditsAreWhatIsPosted)
{
	NodeCfg c = config();

	c.resp.credits = true;
	Qp q(c);

	q.recvs(6);
	std::vector<Burst> v = q.gets(request(PIB_OP_SEND, kPsn, 1, 8, kOnly | kAckReq));

	EXPECT_EQ(v[0].h.syndrome, 4); // 5, rounded down
	q.recvs(2);
	v = q.gets(request(PIB_OP_WRITE, kPsn + 1, 1, 8, kOnly | kAckReq));
	EXPECT_EQ(v[0].h.syndrome, 5); // 7: code of 6
}

// ---- sequence ----

TEST(Resp, SequenceErrorIsSaidOnce)
{
	Qp q;

	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 1, 1, 8, kOnly))), "NAK60@1000");
	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 2, 1, 8, kOnly))), "");
	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly | kAckReq))), "ACK@1000+1");
	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 2, 1, 8, kOnly))), "NAK60@1001");
	EXPECT_EQ(q.n.resp.stats.out_of_sequence, 3u);
}

TEST(Resp, DuplicateIsAcknowledgedAgainNotExecuted)
{
	Qp q;
	Burst b = request(PIB_OP_SEND, kPsn, 1, 8, kOnly);

	q.recvs(3);
	q.gets(b);
	q.gets(request(PIB_OP_WRITE, kPsn + 1, 1, 8, kOnly));
	EXPECT_EQ(str(q.gets(b)), "ACK@1001+1"); // as far as it got
	EXPECT_EQ(q.n.received.size(), 1u);
	EXPECT_EQ(q.n.resp.stats.duplicates, 1u);
}

TEST(Resp, DuplicateAckStopsBeforeARead)
{
	Qp q;
	Burst b = request(PIB_OP_WRITE, kPsn, 1, 8, kOnly | kAckReq);

	q.gets(b);
	q.gets(request(PIB_OP_WRITE, kPsn + 1, 1, 8, kOnly | kAckReq));
	q.gets(read_req(kPsn + 2, 8));
	q.gets(request(PIB_OP_WRITE, kPsn + 3, 1, 8, kOnly | kAckReq));
	EXPECT_EQ(str(q.gets(b)), "ACK@1001+1"); // the READ's answer may be lost
}

// The READ is by then more than half of all PSNs back.
TEST(Resp, DuplicateLongAfterARead)
{
	Qp q;
	pib_act act;
	uint32_t psn = kPsn + 1;

	q.gets(read_req(kPsn, 8));
	for (int i = 0; i < 0x9000; i++) {
		Burst b = request(PIB_OP_WRITE, psn, 256, 0, kOnly);

		b.h.dmalen = 256 * kMtu;
		pib_resp_begin(&q.n.resp, &b.h, 256, 256 * kMtu);
		ASSERT_TRUE(pib_resp_step(&q.n.resp, &act));
		pib_resp_result(&q.n.resp, &act, PIB_RES_OK, 0);
		psn += 256;
	}
	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, psn - 1, 1, 8, kLast))),
		  "ACK@" + std::to_string(psn - 1) + "+1");
}

TEST(Resp, BurstThatPartlyCameBefore)
{
	Qp q;
	Burst b = request(PIB_OP_WRITE, kPsn, 8, 8 * kMtu, kOnly | kAckReq);

	q.gets(sim::part(b, 0, 3, kMtu));
	std::fill_n(q.n.mem[kKey].bytes.begin(), 3 * kMtu, 0xEE);
	EXPECT_EQ(str(q.gets(b)), "ACK@1007+1");
	EXPECT_EQ(q.n.mem[kKey].bytes[3 * kMtu - 1], 0xEE); // not written twice
	EXPECT_EQ(q.n.mem[kKey].bytes[3 * kMtu], b.data[3 * kMtu]);
	EXPECT_EQ(q.n.mem[kKey].bytes[8 * kMtu - 1], b.data[8 * kMtu - 1]);
}

TEST(Resp, PsnWindowOfDuplicates)
{
	Qp q;

	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 0x7FFFFF, 1, 8, kOnly))), "NAK60@1000");
	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 0x800000, 1, 8, kOnly))), "ACK@999+1");
}

// ---- RNR ----

TEST(Resp, RnrWithoutReceives)
{
	Qp q;
	Burst b = request(PIB_OP_SEND, kPsn, 3, 3 * kMtu, kOnly | kAckReq);

	EXPECT_EQ(str(q.gets(b)), "NAK2c@1000");
	// No NAK for the gap that follows.
	EXPECT_EQ(str(q.gets(request(PIB_OP_SEND, kPsn + 3, 1, 8, kOnly))), "");
	q.recvs(1);
	EXPECT_EQ(str(q.gets(b)), "ACK@1002+1");
	EXPECT_EQ(q.received().len, 3 * kMtu);
}

TEST(Resp, RnrForImmediateDataComesWithTheLastPacket)
{
	Qp q;
	Burst b = request(PIB_OP_WRITE, kPsn, 4, 4 * kMtu, kOnly | PIB_H_IMM | kAckReq);

	EXPECT_EQ(str(q.gets(b)), "NAK2c@1003");
	EXPECT_EQ(q.n.mem[kKey].bytes[3 * kMtu - 1], b.data[3 * kMtu - 1]);
	q.recvs(1);
	EXPECT_EQ(str(q.gets(sim::part(b, 3, 1, kMtu))), "ACK@1003+1");
	Wc wc = q.received();

	EXPECT_EQ(wc.len, 4 * kMtu);
	EXPECT_EQ(wc.flags, PIB_H_IMM);
	EXPECT_EQ(q.n.resp.msn, 1u);
}

// ---- READ ----

TEST(Resp, ReadInBursts)
{
	Qp q;
	std::vector<Burst> v = q.gets(read_req(kPsn, 9 * kMtu + 3));

	ASSERT_EQ(str(v), "RESP@1000+4 RESP@1004+4 RESP@1008+2");
	EXPECT_EQ(v[0].h.flags, kFirst);
	EXPECT_EQ(v[1].h.flags, 0);
	EXPECT_EQ(v[2].h.flags, kLast);
	EXPECT_EQ(v[0].h.msn, 1u);
	EXPECT_EQ(v[0].h.syndrome, 0x1F);
	EXPECT_EQ(v[2].data.size(), kMtu + 3);
	EXPECT_EQ(v[1].data[0], q.n.mem[kKey].bytes[4 * kMtu]);
	EXPECT_EQ(q.n.resp.epsn, kPsn + 10);
}

TEST(Resp, AnswersKeepTheOrderOfPsns)
{
	Qp q;

	q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly | kAckReq));
	q.n.inbox.push_back(read_req(kPsn + 1, 8));
	q.n.inbox.push_back(atomic(PIB_OP_FAA, kPsn + 2, 1));
	q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn + 3, 1, 8, kOnly | kAckReq));
	q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn + 5, 1, 8, kOnly | kAckReq));
	EXPECT_EQ(str(q.sends()), "RESP@1001+1 ATOMIC@1002+1 NAK60@1004");
}

// Return: of each thing that the responder says, whether it was foretold as an answer to a READ or
// an atomic.
std::string foretold(Qp &q)
{
	std::string said;

	q.n.run(q.now, 0);
	while (pib_resp_owes(&q.n.resp)) {
		said += pib_resp_next_is_answer(&q.n.resp) ? "answer " : "other ";
		q.n.run(q.now, 1);
	}
	return said;
}

// A sender that is slowed down holds back the answers to READs and atomics, and no ACK or NAK
// before or behind them.
TEST(Resp, WhatIsSaidNextIsKnownBefore)
{
	Qp q;

	EXPECT_FALSE(pib_resp_next_is_answer(&q.n.resp));
	q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly | kAckReq));
	q.n.inbox.push_back(read_req(kPsn + 1, 8));
	q.n.inbox.push_back(atomic(PIB_OP_FAA, kPsn + 2, 1));
	EXPECT_EQ(foretold(q), "other answer answer ");
	q.n.inbox.push_back(read_req(kPsn + 3, 8));
	q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn + 5, 1, 8, kOnly | kAckReq));
	EXPECT_EQ(foretold(q), "answer other ");
	EXPECT_EQ(str({q.n.out.begin(), q.n.out.end()}),
		  "ACK@1000+1 RESP@1001+1 ATOMIC@1002+1 RESP@1003+1 NAK60@1004");
}

TEST(Resp, AckBeforeAReadThatFollows)
{
	Qp q;

	q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly | kAckReq));
	q.n.inbox.push_back(read_req(kPsn + 1, 8));
	EXPECT_EQ(str(q.sends()), "ACK@1000+1 RESP@1001+1");
}

TEST(Resp, RepeatedReadAnswersTheRest)
{
	Qp q;
	std::vector<Burst> v;

	q.gets(read_req(kPsn, 4 * kMtu));
	v = q.gets(read_req(kPsn + 1, 3 * kMtu, kMtu));
	EXPECT_EQ(str(v), "RESP@1001+3");
	EXPECT_EQ(v[0].h.flags, kOnly);
	EXPECT_EQ(v[0].data[0], q.n.mem[kKey].bytes[kMtu]);
	v = q.gets(read_req(kPsn + 1, kMtu, kMtu)); // a part only
	EXPECT_EQ(str(v), "RESP@1001+1");
	EXPECT_EQ(v[0].data.size(), kMtu);
	EXPECT_EQ(q.n.resp.msn, 1u);
	EXPECT_EQ(q.n.resp.epsn, kPsn + 4);
}

TEST(Resp, RepeatedReadOfSomethingElseIsDropped)
{
	Qp q;

	q.gets(read_req(kPsn, 4 * kMtu));
	EXPECT_EQ(str(q.gets(read_req(kPsn, 5 * kMtu))), "");
	EXPECT_EQ(str(q.gets(read_req(kPsn, 4 * kMtu, 8))), "");
	EXPECT_EQ(str(q.gets(with(read_req(kPsn, 4 * kMtu), [](Burst &b) { b.h.rkey++; }))), "");
	EXPECT_EQ(str(q.gets(read_req(kPsn, 3 * kMtu - 1))), "");
	EXPECT_EQ(str(q.gets(read_req(kPsn - 1, kMtu))), "");
	EXPECT_EQ(str(q.gets(read_req(kPsn, 4 * kMtu))), "RESP@1000+4");
}

TEST(Resp, MemoryOfAReadIsGone)
{
	Qp q;

	q.n.run(q.now);
	q.n.inbox.push_back(read_req(kPsn, 8 * kMtu));
	q.n.run(q.now, 1);
	q.n.read_memory_gone = true;
	EXPECT_EQ(str(q.sends()), "RESP@1000+4 NAK62@1004");
	EXPECT_EQ(q.n.resp.error, PIB_RES_ACCESS);
}

TEST(Resp, MemoryOfARepeatedReadIsGone)
{
	Qp q;

	q.gets(read_req(kPsn, 8 * kMtu));
	q.n.read_memory_gone = true;
	EXPECT_EQ(str(q.gets(read_req(kPsn + 2, 6 * kMtu, 2 * kMtu))), "NAK62@1002");
	EXPECT_EQ(q.n.resp.error, PIB_RES_OK);
	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 8, 1, 8, kOnly | kAckReq))),
		  "ACK@1008+1");
}

TEST(Resp, MemoryOfARepetitionOfAnUnfinishedReadIsGone)
{
	Qp q;

	q.n.inbox.push_back(read_req(kPsn, 8 * kMtu));
	q.n.run(q.now, 1);
	q.n.inbox.push_back(read_req(kPsn, 8 * kMtu));
	q.n.run(q.now, 0);
	q.n.read_memory_gone = true;
	EXPECT_EQ(str(q.sends()), "RESP@1000+4 NAK62@1000");
	EXPECT_EQ(q.n.resp.error, PIB_RES_ACCESS);
}

// ---- pages that take long ----

// The next @n times.
static void missing(Qp &q, int n)
{
	q.n.page_missing = [n]() mutable { return n-- > 0; };
}

TEST(Resp, PageOfAReceiveIsMissing)
{
	Qp q;
	Burst b = request(PIB_OP_SEND, kPsn, 3, 3 * kMtu, kOnly | kAckReq);

	q.recvs(1);
	missing(q, 2);
	EXPECT_EQ(str(q.gets(b)), "NAK2c@1000");
	EXPECT_EQ(str(q.gets(request(PIB_OP_SEND, kPsn + 3, 1, 8, kOnly))), "");
	EXPECT_EQ(str(q.gets(b)), "NAK2c@1000");
	EXPECT_EQ(str(q.gets(b)), "ACK@1002+1");
	EXPECT_EQ(q.received().data, b.data);
}

// Not as if only a receive work request were missing, which the last packet takes.
TEST(Resp, PageOfAWriteIsMissing)
{
	Qp q;
	Burst b = request(PIB_OP_WRITE, kPsn, 3, 3 * kMtu, kOnly | kAckReq | PIB_H_IMM);

	q.recvs(1);
	missing(q, 1);
	EXPECT_EQ(str(q.gets(b)), "NAK2c@1000");
	EXPECT_EQ(str(q.gets(b)), "ACK@1002+1");
	EXPECT_EQ(q.received().status, PIB_WC_SUCCESS);
}

TEST(Resp, PageOfAnAtomicIsMissing)
{
	Qp q;
	uint64_t before = cell(q);
	Burst b = atomic(PIB_OP_FAA, kPsn, 5);

	missing(q, 1);
	EXPECT_EQ(str(q.gets(b)), "NAK2c@1000");
	EXPECT_EQ(cell(q), before);
	EXPECT_EQ(str(q.gets(b)), "ATOMIC@1000+1");
	EXPECT_EQ(cell(q), before + 5);
}

TEST(Resp, PageOfAReadIsMissing)
{
	Qp q;

	q.n.inbox.push_back(read_req(kPsn, 2 * kMtu));
	q.n.inbox.push_back(read_req(kPsn + 2, kMtu));
	q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn + 3, 1, 8, kOnly | kAckReq));
	q.n.run(q.now, 0);
	missing(q, 1);
	EXPECT_EQ(str(q.sends()), "NAK2c@1000");
	// all again: what was executed is not executed again, what was to be answered is answered
	q.n.inbox.push_back(read_req(kPsn, 2 * kMtu));
	q.n.inbox.push_back(read_req(kPsn + 2, kMtu));
	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 3, 1, 8, kOnly | kAckReq))),
		  "RESP@1000+2 RESP@1002+1 ACK@1003+1");
	EXPECT_EQ(q.n.resp.stats.duplicates, 3u);
}

// The READ first: what is refused behind it comes again, and is refused again.
TEST(Resp, PageOfAReadIsMissingBeforeARefusal)
{
	Qp q;
	auto strange = with(read_req(kPsn + 1, kMtu), [](Burst &b) { b.h.rkey = 1; });

	missing(q, 3);
	for (int i = 0; i < 3; i++) {
		q.n.inbox.push_back(read_req(kPsn, kMtu));
		EXPECT_EQ(str(q.gets(strange)), "NAK2c@1000");
		EXPECT_EQ(q.n.resp.error, PIB_RES_OK);
	}
	q.n.inbox.push_back(read_req(kPsn, kMtu));
	EXPECT_EQ(str(q.gets(strange)), "RESP@1000+1 NAK62@1001");
	EXPECT_EQ(q.n.resp.error, PIB_RES_ACCESS);
}

// A receive that was used up does not come back: the READ waits for its page.
TEST(Resp, PageOfAReadIsMissingBeforeAReceiveTooSmall)
{
	Qp q;

	q.recvs(1);
	q.n.inbox.push_back(read_req(kPsn, kMtu));
	q.n.inbox.push_back(request(PIB_OP_SEND, kPsn + 1, 70, 70 * kMtu, kOnly | kAckReq));
	q.n.run(q.now, 0);
	missing(q, 1);
	EXPECT_EQ(str(q.sends()), "RESP@1000+1 NAK61@1001");
}

TEST(Resp, PageOfAReadIsMissingBeforeABadInvalidation)
{
	Qp q;
	Burst b = request(PIB_OP_SEND, kPsn + 1, 2, 2 * kMtu, kOnly | kAckReq | PIB_H_INV);

	q.recvs(2);
	q.n.on_invalidate = [](uint32_t) { return false; };
	q.n.inbox.push_back(read_req(kPsn, kMtu));
	q.n.inbox.push_back(b);
	q.n.run(q.now, 0);
	missing(q, 1);
	EXPECT_EQ(str(q.sends()), "RESP@1000+1 NAK62@1001");
	EXPECT_EQ(q.n.resp.error, PIB_RES_INVALIDATE);
	EXPECT_EQ(q.received().status, PIB_WC_REM_INV_REQ_ERR);
}

// Requests behind the READ come again: one that is refused must not keep the READ from its answer.
TEST(Resp, NothingIsTakenInBehindAReadThatIsToBeRepeated)
{
	Qp q;
	auto strange = with(read_req(kPsn + 2, kMtu), [](Burst &b) { b.h.rkey = 1; });

	missing(q, 2);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(str(q.gets(read_req(kPsn, 2 * kMtu))), "NAK2c@1000");
		EXPECT_EQ(str(q.gets(strange)), "");
		EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 3, 1, 8, kOnly | kAckReq))), "");
	}
	q.n.inbox.push_back(read_req(kPsn, 2 * kMtu));
	EXPECT_EQ(str(q.gets(strange)), "RESP@1000+2 NAK62@1002");
	EXPECT_EQ(q.n.resp.error, PIB_RES_ACCESS);
}

// The requester may have had its beginning; what came before the READ is no repetition of it.
TEST(Resp, RestOfAReadIsRepeated)
{
	Qp q;
	Burst next = request(PIB_OP_WRITE, kPsn + 9, 1, 8, kOnly | kAckReq);

	q.gets(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly));
	q.n.inbox.push_back(read_req(kPsn + 1, 8 * kMtu));
	q.n.run(q.now, 1);
	missing(q, 1);
	EXPECT_EQ(str(q.sends()), "RESP@1001+4 NAK2c@1005");
	EXPECT_EQ(str(q.gets(next)), "");
	q.gets(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly));
	EXPECT_EQ(str(q.gets(next)), "");
	EXPECT_EQ(str(q.gets(read_req(kPsn + 5, 4 * kMtu, 4 * kMtu))), "RESP@1005+4");
	EXPECT_EQ(str(q.gets(next)), "ACK@1009+1");
}

// ---- atomics and their likes ----

TEST(Resp, AtomicsAreExecutedOnce)
{
	Qp q;
	uint64_t before = cell(q);
	Burst b = atomic(PIB_OP_FAA, kPsn, 5);
	std::vector<Burst> v = q.gets(b);

	ASSERT_EQ(str(v), "ATOMIC@1000+1");
	EXPECT_EQ(v[0].h.compare, before);
	EXPECT_EQ(cell(q), before + 5);
	v = q.gets(b);
	ASSERT_EQ(str(v), "ATOMIC@1000+1");
	EXPECT_EQ(v[0].h.compare, before);
	EXPECT_EQ(cell(q), before + 5);
}

TEST(Resp, CompareAndSwap)
{
	Qp q;
	uint64_t before = cell(q);

	q.gets(atomic(PIB_OP_CAS, kPsn, 7, before + 1));
	EXPECT_EQ(cell(q), before);
	std::vector<Burst> v = q.gets(atomic(PIB_OP_CAS, kPsn + 1, 7, before));

	EXPECT_EQ(v[0].h.compare, before);
	EXPECT_EQ(cell(q), 7u);
}

TEST(Resp, RepeatedAtomicThatWasNeverThereIsDropped)
{
	Qp q;

	q.gets(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly));
	EXPECT_EQ(str(q.gets(atomic(PIB_OP_FAA, kPsn, 1))), "");
	q.gets(atomic(PIB_OP_FAA, kPsn + 1, 1));
	EXPECT_EQ(str(q.gets(atomic(PIB_OP_CAS, kPsn + 1, 1))), ""); // another operation
}

TEST(Resp, AtomicWriteIsNotRepeated)
{
	Qp q;
	Burst b = atomic(PIB_OP_ATOMIC_WRITE, kPsn, 99);

	EXPECT_EQ(str(q.gets(b)), "RESP@1000+1");
	EXPECT_EQ(cell(q), 99u);
	q.gets(atomic(PIB_OP_ATOMIC_WRITE, kPsn + 1, 100));
	EXPECT_EQ(str(q.gets(b)), "RESP@1000+1");
	EXPECT_EQ(cell(q), 100u);
}

TEST(Resp, FlushIsAnsweredWithoutData)
{
	Qp q;
	std::vector<Burst> v = q.gets(request(PIB_OP_FLUSH, kPsn, 1, 64, kOnly));

	ASSERT_EQ(str(v), "RESP@1000+1");
	EXPECT_EQ(v[0].h.flags, kOnly);
	EXPECT_EQ(v[0].data.size(), 0u);
}

TEST(Resp, OldestResourcesAreReused)
{
	Qp q;
	uint32_t psn = kPsn;

	for (int i = 0; i < 40; i++)
		q.gets(atomic(PIB_OP_FAA, psn++, 1));
	EXPECT_EQ(str(q.gets(atomic(PIB_OP_FAA, psn - 16, 1))), "ATOMIC@1024+1");
	EXPECT_EQ(str(q.gets(atomic(PIB_OP_FAA, psn - 17, 1))), "");
}

// ---- what must be refused (9.7.4, 9.7.5.2) ----

struct Bad {
	const char *what;
	Burst first, second; // @first is taken in, @second is refused
	uint8_t syndrome;
};

Burst none()
{
	return with({}, [](Burst &b) { b.npkts = 0; });
}

std::vector<Bad> bad_requests()
{
	auto send = [](uint32_t n, size_t len, uint16_t f, uint32_t psn = kPsn) {
		return request(PIB_OP_SEND, psn, n, len, f);
	};
	auto write = [](uint32_t n, size_t len, uint16_t f, uint32_t dmalen, uint32_t psn = kPsn) {
		return with(request(PIB_OP_WRITE, psn, n, len, f),
			    [=](Burst &b) { b.h.dmalen = dmalen; });
	};
	auto set = [](Burst b, uint64_t va, uint32_t key, uint32_t len) {
		b.h.va = va;
		b.h.rkey = key;
		b.h.dmalen = len;
		return b;
	};
	Burst first = send(1, kMtu, kFirst), wfirst = write(1, kMtu, kFirst, 2 * kMtu);

	return {
		{"MIDDLE without FIRST", none(), send(1, kMtu, 0), 0x61},
		{"LAST without FIRST", none(), send(1, 8, kLast), 0x61},
		{"FIRST within a message", first, send(1, kMtu, kFirst, kPsn + 1), 0x61},
		{"ONLY within a message", first, send(1, 8, kOnly, kPsn + 1), 0x61},
		{"WRITE within a SEND", first, write(1, kMtu, 0, 0, kPsn + 1), 0x61},
		{"SEND within a WRITE", wfirst, send(1, kMtu, kLast, kPsn + 1), 0x61},
		{"READ within a SEND", first, read_req(kPsn + 1, 8), 0x61},
		{"atomic within a SEND", first, atomic(PIB_OP_FAA, kPsn + 1, 1), 0x61},
		{"short FIRST", none(), send(1, kMtu - 4, kFirst), 0x61},
		{"long FIRST", none(), send(1, kMtu + 4, kFirst), 0x61},
		{"short MIDDLE", first, send(1, kMtu - 4, 0, kPsn + 1), 0x61},
		{"empty LAST", first, send(1, 0, kLast, kPsn + 1), 0x61},
		{"long LAST", first, send(1, kMtu + 1, kLast, kPsn + 1), 0x61},
		{"long ONLY", none(), send(1, kMtu + 1, kOnly), 0x61},
		{"burst with a hole", none(), send(4, 2 * kMtu, kOnly), 0x61},
		{"WRITE beyond its length", none(), write(2, 2 * kMtu, kOnly, kMtu), 0x61},
		{"WRITE ends early", wfirst, write(1, 8, kLast, 0, kPsn + 1), 0x61},
		{"WRITE of more than 2^31", none(), write(1, kMtu, kFirst, 0x80000001), 0x61},
		{"WRITE past the end of memory", none(),
		 set(write(1, 8, kOnly, 8), ~0ULL - 3, kKey, 8), 0x62},
		{"WRITE with a wrong key", none(), set(write(1, 8, kOnly, 8), kVa, 1, 8), 0x62},
		{"WRITE out of the region", none(),
		 set(write(1, kMtu, kFirst, 8), kVa + 8000, kKey, kMtu * 2), 0x62},
		{"WRITE without the right", none(), set(write(1, 8, kOnly, 8), kVa, kReadKey, 8),
		 0x62},
		{"READ with a wrong key", none(), set(read_req(kPsn, 8), kVa, 1, 8), 0x62},
		{"READ out of the region", none(), set(read_req(kPsn, 8), kVa - 1, kKey, 8), 0x62},
		{"READ of more than 2^31", none(), set(read_req(kPsn, 8), kVa, kKey, 0x80000001),
		 0x61},
		{"READ past the end of memory", none(), set(read_req(kPsn, 8), ~0ULL, kKey, 2),
		 0x62},
		{"atomic with a wrong key", none(), set(atomic(PIB_OP_CAS, kPsn, 1), kVa, 1, 8),
		 0x62},
		{"misaligned CAS", none(), set(atomic(PIB_OP_CAS, kPsn, 1), kVa + 4, kKey, 8),
		 0x61},
		{"misaligned FAA", none(), set(atomic(PIB_OP_FAA, kPsn, 1), kVa + 1, kKey, 8),
		 0x61},
		{"misaligned ATOMIC_WRITE", none(),
		 set(atomic(PIB_OP_ATOMIC_WRITE, kPsn, 1), kVa + 4, kKey, 8), 0x61},
		{"ATOMIC_WRITE of 4 bytes", none(),
		 set(atomic(PIB_OP_ATOMIC_WRITE, kPsn, 1), kVa, kKey, 4), 0x61},
		{"FLUSH of no type", none(),
		 with(request(PIB_OP_FLUSH, kPsn, 1, 8, kOnly), [](Burst &b) { b.h.flush = 0; }),
		 0x61},
		{"FLUSH of a reserved level", none(),
		 with(request(PIB_OP_FLUSH, kPsn, 1, 8, kOnly), [](Burst &b) { b.h.flush = 0x21; }),
		 0x61},
		{"FLUSH of more than 2 GiB", none(),
		 set(request(PIB_OP_FLUSH, kPsn, 1, 8, kOnly), kVa, kKey, 0x80000001), 0x61},
		{"FLUSH with a wrong key", none(),
		 set(request(PIB_OP_FLUSH, kPsn, 1, 8, kOnly), kVa, 1, 8), 0x62},
		{"READ with a payload", none(),
		 with(read_req(kPsn, 8), [](Burst &b) { b.data.resize(4); }), 0x61},
	};
}

TEST(Resp, BadRequestsGetTheirNak)
{
	for (auto &t : bad_requests()) {
		Qp q;
		bool taken = t.first.npkts;
		char want[32] = "";

		q.recvs(2);
		if (taken) {
			EXPECT_EQ(str(q.gets(t.first)), "") << t.what;
		}
		if (t.syndrome)
			std::snprintf(want, sizeof(want), "NAK%02x@%u", t.syndrome, kPsn + taken);
		EXPECT_EQ(str(q.gets(t.second)), want) << t.what;
		EXPECT_EQ(q.n.in_error, t.syndrome != 0) << t.what;
	}
}

// An operation that the QP does for nobody is an invalid request, whatever the range (9.7.4.1.5).
TEST(Resp, RightsOfTheQpComeBeforeTheRange)
{
	for (uint8_t op : {PIB_OP_WRITE, PIB_OP_READ_REQ, PIB_OP_FLUSH}) {
		Burst b =
			with(request(op, kPsn, 1, 8, kOnly), [](Burst &b) { b.h.va = ~0ULL - 3; });
		Qp q, open;

		q.n.no_remote_access = true;
		EXPECT_EQ(str(q.gets(b)), "NAK61@1000") << int(op);
		EXPECT_EQ(str(open.gets(b)), "NAK62@1000") << int(op);
	}
}

TEST(Resp, WriteLongerThanItSaidFailsWhereItExceeds)
{
	Qp q;

	q.gets(with(request(PIB_OP_WRITE, kPsn, 1, kMtu, kFirst),
		    [](Burst &b) { b.h.dmalen = kMtu; }));
	EXPECT_EQ(str(q.gets(request(PIB_OP_WRITE, kPsn + 1, 1, kMtu, 0))), "NAK61@1001");
}

TEST(Resp, SendLongerThanTheReceive)
{
	Qp q;

	q.recvs(1, kMtu);
	q.gets(request(PIB_OP_SEND, kPsn, 1, kMtu, kFirst));
	EXPECT_EQ(str(q.gets(request(PIB_OP_SEND, kPsn + 1, 1, 8, kLast))), "NAK61@1001");
	EXPECT_EQ(q.received().status, PIB_WC_LOC_LEN_ERR);
	EXPECT_EQ(q.n.resp.error, PIB_RES_LEN);
}

TEST(Resp, MoreReadsThanAllowed)
{
	Qp q;

	for (int i = 0; i < 5; i++)
		q.n.inbox.push_back(read_req(kPsn + i, 8));
	EXPECT_EQ(str(q.sends()), "RESP@1000+1 RESP@1001+1 RESP@1002+1 RESP@1003+1 NAK61@1004");
}

TEST(Resp, NoReadsWhereNoneAreAllowed)
{
	NodeCfg c = config();

	c.resp.max_rd_atomic = 0;
	Qp q(c);

	EXPECT_EQ(str(q.gets(read_req(kPsn, 8))), "NAK61@1000");
}

TEST(Resp, AfterAFatalNakNothingIsTakenIn)
{
	Qp q;

	q.n.inbox.push_back(read_req(kPsn, 8));
	q.n.inbox.push_back(request(PIB_OP_SEND, kPsn + 1, 1, kMtu, 0));
	q.n.inbox.push_back(request(PIB_OP_WRITE, kPsn + 1, 1, 8, kOnly | kAckReq));
	q.n.run(q.now, 1);
	EXPECT_FALSE(q.n.resp.error); // the NAK is yet to be sent
	EXPECT_EQ(str(q.sends()), "RESP@1000+1 NAK61@1001");
	EXPECT_EQ(q.n.resp.error, PIB_RES_INV_REQ);
	EXPECT_EQ(q.n.resp.stats.drops[PIB_RESP_DROP_ERROR_STATE], 1u);
}

TEST(Resp, ZeroLengthNeedsNoKey)
{
	Qp q;
	auto keyless = [](Burst b) {
		b.h.rkey = 1;
		b.h.va = ~0ULL;
		return b;
	};

	q.recvs(1);
	EXPECT_EQ(str(q.gets(keyless(request(PIB_OP_WRITE, kPsn, 1, 0, kOnly | kAckReq)))),
		  "ACK@1000+1");
	EXPECT_EQ(str(q.gets(keyless(read_req(kPsn + 1, 0)))), "RESP@1001+1");
	EXPECT_EQ(str(q.gets(keyless(
			  request(PIB_OP_WRITE, kPsn + 2, 1, 0, kOnly | PIB_H_IMM | kAckReq)))),
		  "ACK@1002+1");
	EXPECT_EQ(q.received().len, 0u);
}

// 9.7.4.1.5: an invalid request, wherever a request could begin or a message go on.
TEST(Resp, ReservedOpcodesAreInvalidRequests)
{
	auto reserved = [](uint32_t psn) {
		return with(request(PIB_OP_RESERVED, psn, 1, 20, kOnly),
			    [](Burst &b) { b.h.ex = 0x15; });
	};
	Qp q, within;

	q.recvs(1);
	EXPECT_EQ(str(q.gets(request(PIB_OP_SEND, kPsn, 1, 8, kOnly | kAckReq))), "ACK@1000+1");
	EXPECT_EQ(str(q.gets(reserved(kPsn))), ""); // a duplicate of nothing
	EXPECT_EQ(str(q.gets(reserved(kPsn + 2))), "NAK60@1001");
	EXPECT_EQ(str(q.gets(reserved(kPsn + 1))), "NAK61@1001");
	EXPECT_EQ(q.n.resp.error, PIB_RES_INV_REQ);
	EXPECT_EQ(q.n.resp.stats.drops[PIB_RESP_DROP_BAD_OPCODE], 1u);

	within.gets(with(request(PIB_OP_WRITE, kPsn, 1, kMtu, kFirst),
			 [](Burst &b) { b.h.dmalen = 2 * kMtu; }));
	EXPECT_EQ(str(within.gets(reserved(kPsn + 1))), "NAK61@1001");
}

TEST(Resp, OtherServicesAreDropped)
{
	Qp q;

	EXPECT_EQ(str(q.gets(with(request(PIB_OP_SEND, kPsn, 1, 8, kOnly | kAckReq),
				  [](Burst &b) { b.h.tp = PIB_TP_UC; }))),
		  "");
	EXPECT_EQ(str(q.gets(with(request(PIB_OP_SEND, kPsn, 1, 8, kOnly),
				  [](Burst &b) { b.h.op = PIB_OP_CNP; }))),
		  "");
	EXPECT_EQ(q.n.resp.stats.drops[PIB_RESP_DROP_BAD_OPCODE], 2u);
	EXPECT_FALSE(q.n.in_error);
}

// ---- unreliable connected ----

class RespUc : public ::testing::Test {
protected:
	RespUc() : q(config(PIB_TP_UC)) {}

	std::vector<Burst> gets(Burst b)
	{
		b.h.tp = PIB_TP_UC;
		return q.gets(b);
	}

	Qp q;
};

TEST_F(RespUc, TakesMessagesAndSaysNothing)
{
	q.recvs(2);
	EXPECT_EQ(str(gets(request(PIB_OP_SEND, kPsn, 3, 3 * kMtu, kOnly | kAckReq))), "");
	EXPECT_EQ(q.received().len, 3 * kMtu);
	EXPECT_EQ(str(gets(request(PIB_OP_WRITE, kPsn + 3, 1, 8, kOnly | kAckReq))), "");
	EXPECT_EQ(q.n.resp.msn, 2u);
}

TEST_F(RespUc, GapLosesTheMessageNotTheReceive)
{
	q.recvs(1);
	gets(request(PIB_OP_SEND, kPsn, 1, kMtu, kFirst));
	gets(request(PIB_OP_SEND, kPsn + 2, 1, 8, kLast)); // one is missing
	EXPECT_EQ(q.received().status, 999u);
	gets(request(PIB_OP_SEND, kPsn + 3, 2, kMtu + 8, kOnly));
	EXPECT_EQ(q.received().len, kMtu + 8);
}

TEST_F(RespUc, FirstAfterAGapStartsAMessage)
{
	q.recvs(1);
	gets(request(PIB_OP_SEND, kPsn, 1, kMtu, kFirst));
	gets(request(PIB_OP_SEND, kPsn + 7, 1, 8, kOnly));
	Wc wc = q.received();

	EXPECT_EQ(wc.len, 8u);
	EXPECT_EQ(wc.data, pattern(8, uint8_t(kPsn + 7)));
}

TEST_F(RespUc, WithoutReceiveTheMessageIsLost)
{
	gets(request(PIB_OP_SEND, kPsn, 1, kMtu, kFirst));
	q.recvs(1);
	gets(request(PIB_OP_SEND, kPsn + 1, 1, 8, kLast));
	EXPECT_EQ(q.received().status, 999u);
	EXPECT_EQ(q.n.resp.stats.drops[PIB_RESP_DROP_RESOURCES], 1u);
	gets(request(PIB_OP_SEND, kPsn + 2, 1, 8, kOnly));
	EXPECT_EQ(q.received().len, 8u);
}

TEST_F(RespUc, ErrorsAreSilent)
{
	q.recvs(1);
	EXPECT_EQ(str(gets(with(request(PIB_OP_WRITE, kPsn, 1, 8, kOnly),
				[](Burst &b) { b.h.rkey = 1; }))),
		  "");
	EXPECT_EQ(str(gets(request(PIB_OP_SEND, kPsn + 1, 1, kMtu - 4, kFirst))), "");
	EXPECT_EQ(str(gets(request(PIB_OP_READ_REQ, kPsn + 2, 1, 8, kOnly))), "");
	EXPECT_FALSE(q.n.in_error);
	gets(request(PIB_OP_SEND, kPsn + 2, 1, 8, kOnly));
	EXPECT_EQ(q.received().len, 8u);
}

// ---- datagrams ----

TEST(RespUd, Checks)
{
	Burst b = request(PIB_OP_SEND, 5, 1, kMtu, kOnly);

	b.h.tp = PIB_TP_UD;
	b.h.qkey = 1;
	EXPECT_EQ(pib_ud_check(&b.h, kMtu, 1, kMtu), PIB_RESP_DROP_NONE);
	EXPECT_EQ(pib_ud_check(&b.h, kMtu + 1, 1, kMtu), PIB_RESP_DROP_BAD_LENGTH);
	EXPECT_EQ(pib_ud_check(&b.h, kMtu, 2, kMtu), PIB_RESP_DROP_QKEY);
	b.h.tp = PIB_TP_UC;
	EXPECT_EQ(pib_ud_check(&b.h, kMtu, 1, kMtu), PIB_RESP_DROP_BAD_OPCODE);
}

} // namespace
