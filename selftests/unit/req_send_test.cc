// SPDX-License-Identifier: GPL-2.0
// The requester, outward: what is sent, with which PSNs, and when it must wait.
#include "qp.h"

using namespace qp;

namespace {

TEST(ReqSend, PacketsOfAMessageInBursts)
{
	Qp q;
	std::vector<Burst> v;

	q.post(PIB_WR_WRITE_IMM, 5 * kMtu + 1, PIB_WR_SOLICITED | PIB_WR_SIGNALED);
	v = q.sends();
	ASSERT_EQ(v.size(), 1u); // no credits yet: the first packet goes alone
	EXPECT_EQ(v[0].npkts, 1u);
	EXPECT_EQ(v[0].h.flags, kFirst | kAckReq);
	EXPECT_EQ(v[0].h.va, kVa);
	EXPECT_EQ(v[0].h.rkey, kKey);
	EXPECT_EQ(v[0].h.dmalen, 5 * kMtu + 1);
	v = q.gets(ack(kPsn));
	EXPECT_EQ(str(v), "WRITE@1001+4 WRITE@1005+1");
	EXPECT_EQ(v[0].h.flags, 0);
	EXPECT_EQ(v[1].h.flags, kLast | PIB_H_IMM | PIB_H_SE | kAckReq);
	EXPECT_EQ(v[1].data.size(), 1u);
	q.gets(ack(kPsn + 5));
	EXPECT_EQ(q.done(), "1:0");
}

// How long a packet may go without asking for an acknowledgement.
constexpr uint64_t kAskNs = 1000000;

TEST(ReqSend, AMessageWithoutCompletionAsksLater)
{
	Qp q;
	std::vector<Burst> v;

	q.post(PIB_WR_WRITE, 2 * kMtu, 0);
	q.post(PIB_WR_WRITE, 8, 0);
	v = q.sends();
	ASSERT_EQ(str(v), "WRITE@1000+2 WRITE@1002+1");
	EXPECT_EQ(v[0].h.flags, kOnly);
	EXPECT_EQ(v[1].h.flags, kOnly);
	EXPECT_EQ(pib_req_deadline(&q.n.req),
		  q.now + kAskNs); // not the ACK timer, though that is shorter
	// Time is up: the last packet again, asking.
	v = q.after(kAskNs);
	ASSERT_EQ(str(v), "WRITE@1002+1");
	EXPECT_EQ(v[0].h.flags, kOnly | kAckReq);
	EXPECT_EQ(pib_req_deadline(&q.n.req), q.now + kTimeout);
	q.gets(ack(kPsn + 2));
	EXPECT_EQ(q.done(), "1:0 2:0");
	EXPECT_EQ(pib_req_deadline(&q.n.req), 0u);
	EXPECT_EQ(q.n.req.stats.timeouts, 0u);
}

TEST(ReqSend, OneThatAsksDoesSoForThoseBefore)
{
	Qp q;
	std::vector<Burst> v;

	q.post(PIB_WR_WRITE, 8, 0);
	q.post(PIB_WR_WRITE, 8);
	v = q.sends();
	EXPECT_EQ(v[0].h.flags, kOnly);
	EXPECT_EQ(v[1].h.flags, kOnly | kAckReq);
	EXPECT_EQ(pib_req_deadline(&q.n.req), q.now + kTimeout);
	q.gets(ack(kPsn + 1));
	EXPECT_EQ(q.done(), "1:0 2:0");
}

TEST(ReqSend, AsksBeforeTheRingIsFull)
{
	Qp q;
	uint32_t quarter = (q.n.req.mask + 1) / 4, asked = 0;

	for (uint32_t i = 0; i < 2 * quarter + 2; i++)
		q.post(PIB_WR_WRITE, 8, 0);
	for (const auto &b : q.sends())
		asked += !!(b.h.flags & kAckReq);
	EXPECT_EQ(asked, 2u);
}

TEST(ReqSend, AsksAtOnceWhereSomethingWaits)
{
	for (bool stop : {false, true}) {
		Qp q;
		std::vector<Burst> v;

		q.post(PIB_WR_WRITE, 8, 0);
		q.sends();
		if (stop)
			pib_req_stop(&q.n.req, true);
		else
			q.post(PIB_WR_LOCAL_INV, 0);
		v = q.sends();
		for (int i = 0; i < 2 && v.empty(); i++)
			v = q.after(1);
		ASSERT_EQ(str(v), "WRITE@1000+1") << stop;
		EXPECT_EQ(v[0].h.flags, kOnly | kAckReq);
		q.gets(ack(kPsn));
		EXPECT_EQ(q.done(), stop ? "1:0" : "1:0 2:0");
		EXPECT_TRUE(pib_req_drained(&q.n.req));
	}
}

// The last packet was never sent, since its payload could not be fetched: what went before
// it without asking goes again, so that the failure can be reported.
TEST(ReqSend, AsksForWhatIsBeforeAFailure)
{
	for (uint8_t flags : {0, int(PIB_WR_SIGNALED)}) {
		NodeCfg c = config();

		c.req.retry_cnt = 0;
		Work bad = work(2, PIB_WR_SEND, 8, flags);
		Qp q(c);
		std::vector<Burst> v;

		q.post(PIB_WR_WRITE, 8, 0);
		bad.bad_from = 0;
		q.n.post(bad);
		EXPECT_EQ(str(q.sends()), "WRITE@1000+1");
		v = q.after(1);
		ASSERT_EQ(str(v), "WRITE@1000+1");
		EXPECT_EQ(v[0].h.flags, kOnly | kAckReq);
		q.gets(ack(kPsn));
		EXPECT_EQ(q.done(), "1:0 2:4");
	}
}

TEST(ReqSend, ALostMessageWithoutCompletionIsSentAgain)
{
	Qp q;
	std::vector<Burst> v;

	q.post(PIB_WR_WRITE, 8, 0);
	q.post(PIB_WR_WRITE, 8, 0);
	q.sends();
	v = q.after(kAskNs);
	ASSERT_EQ(str(v), "WRITE@1001+1");
	v = q.gets(ack(kPsn, kNak)); // of neither anything has arrived
	EXPECT_EQ(str(v), "WRITE@1000+1 WRITE@1001+1");
	EXPECT_EQ(v[0].h.flags, kOnly | kAckReq);
	q.gets(ack(kPsn));
	for (int i = 0; i < 3 && q.n.req.una_psn != kPsn + 2; i++) {
		v = q.after(kAskNs);
		for (const auto &b : v)
			if (b.h.flags & kAckReq)
				q.gets(ack(b.h.psn));
	}
	EXPECT_EQ(q.done(), "1:0 2:0");
}

TEST(ReqSend, ZeroLengthTakesOnePsn)
{
	Qp q;

	q.post(PIB_WR_WRITE, 0);
	q.post(PIB_WR_READ, 0);
	q.post(PIB_WR_WRITE, 1);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+1 READ@1001+1 WRITE@1002+1");
	q.gets(read_resp(kPsn + 1, 1, {}, kOnly));
	q.gets(ack(kPsn + 2));
	EXPECT_EQ(q.done(), "1:0 2:0 3:0");
}

TEST(ReqSend, PsnsWrap)
{
	NodeCfg c = config();

	c.sq_psn = 0xFFFFFE;
	Qp q(c);

	q.post(PIB_WR_WRITE, 4 * kMtu);
	q.post(PIB_WR_WRITE, 1);
	EXPECT_EQ(str(q.sends()), "WRITE@16777214+4 WRITE@2+1");
	q.gets(ack(0xFFFFFF));
	EXPECT_EQ(q.done(), "");
	q.gets(ack(2));
	EXPECT_EQ(q.done(), "1:0 2:0");
}

TEST(ReqSend, ReadTakesThePsnsOfItsResponse)
{
	Qp q;
	std::vector<Burst> v;

	q.post(PIB_WR_READ, 3 * kMtu);
	q.post(PIB_WR_WRITE, 1);
	v = q.sends();
	EXPECT_EQ(str(v), "READ@1000+1 WRITE@1003+1");
	EXPECT_EQ(v[0].h.flags, kOnly | kAckReq);
	EXPECT_EQ(v[0].h.dmalen, 3 * kMtu);
}

TEST(ReqSend, LongReadGoesOutInParts)
{
	Qp q;
	std::vector<Burst> v;

	q.post(PIB_WR_READ, 9 * kMtu + 7);
	v = q.sends();
	EXPECT_EQ(str(v), "READ@1000+1 READ@1004+1 READ@1008+1");
	EXPECT_EQ(v[1].h.va, kVa + 4 * kMtu);
	EXPECT_EQ(v[1].h.dmalen, 4 * kMtu);
	EXPECT_EQ(v[2].h.dmalen, kMtu + 7);
}

TEST(ReqSend, AtomicsAndTheirLikes)
{
	Qp q;
	Work k = work(1, PIB_WR_CAS, 8);
	std::vector<Burst> v;

	k.w.compare_add = 5;
	k.w.swap = 6;
	q.n.post(k);
	k.w.wr_id = 2;
	k.w.opcode = PIB_WR_FAA;
	q.n.post(k);
	k.w.wr_id = 3;
	k.w.opcode = PIB_WR_ATOMIC_WRITE;
	q.n.post(k);
	k.w.wr_id = 4;
	k.w.opcode = PIB_WR_FLUSH;
	k.w.len = 100000;
	k.w.flush = 0x12;
	q.n.post(k);
	v = q.sends();
	ASSERT_EQ(str(v), "CAS@1000+1 FAA@1001+1 AW@1002+1 FLUSH@1003+1");
	EXPECT_EQ(v[0].h.compare, 5u);
	EXPECT_EQ(v[0].h.swap_add, 6u);
	EXPECT_EQ(v[1].h.swap_add, 5u);
	EXPECT_EQ(v[2].h.swap_add, 6u);
	EXPECT_EQ(v[2].h.dmalen, 8u);
	EXPECT_EQ(v[3].h.flush, 0x12);
	EXPECT_EQ(v[3].h.dmalen, 100000u);
	q.gets(atomic_ack(kPsn, 5));
	q.gets(atomic_ack(kPsn + 1, 77));
	ASSERT_EQ(q.n.sent.size(), 2u);
	EXPECT_EQ(q.n.sent[1].data[0], 77);
	q.gets(read_resp(kPsn + 2, 1, {}, kOnly));
	q.gets(read_resp(kPsn + 3, 1, {}, kOnly));
	EXPECT_EQ(q.done(), "1:0 2:0 3:0 4:0");
}

TEST(ReqSend, InvalidateAndImmediateOnTheLastPacketOnly)
{
	Qp q;
	Work k = work(1, PIB_WR_SEND_INV, 2 * kMtu);
	std::vector<Burst> v;

	k.w.ex = 0xABCD;
	q.n.post(k);
	q.sends();
	v = q.gets(ack(kPsn));
	ASSERT_EQ(v.size(), 1u);
	EXPECT_EQ(v[0].h.flags, kLast | PIB_H_INV | kAckReq);
	EXPECT_EQ(v[0].h.ex, 0xABCDu);
}

TEST(ReqSend, MaxRdAtomic)
{
	Qp q;

	for (int i = 0; i < 6; i++)
		q.post(i % 2 ? PIB_WR_FAA : PIB_WR_READ, 8);
	q.post(PIB_WR_WRITE, 1);
	EXPECT_EQ(str(q.sends()), "READ@1000+1 FAA@1001+1 READ@1002+1 FAA@1003+1");
	EXPECT_EQ(str(q.gets(read_resp(kPsn, 1, Bytes(8), kOnly))), "READ@1004+1");
	EXPECT_EQ(str(q.gets(atomic_ack(kPsn + 1, 0))), "FAA@1005+1 WRITE@1006+1");
}

TEST(ReqSend, NoReadsWhereNoneAreAllowed)
{
	NodeCfg c = config();

	c.req.max_rd_atomic = 0;
	Qp q(c);

	q.post(PIB_WR_READ, 8);
	q.post(PIB_WR_WRITE, 8);
	EXPECT_EQ(str(q.sends()), "");
	EXPECT_EQ(q.done(), "1:2 2:5"); // LOC_QP_OP_ERR, flushed
}

TEST(ReqSend, FenceWaitsForReadsAndAtomics)
{
	Qp q;

	q.post(PIB_WR_READ, 8);
	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_WRITE, 8, PIB_WR_FENCE);
	EXPECT_EQ(str(q.sends()), "READ@1000+1 WRITE@1001+1");
	EXPECT_EQ(str(q.gets(read_resp(kPsn, 1, Bytes(8), kOnly))), "WRITE@1002+1");
}

TEST(ReqSend, LocalOperationsInOrder)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_REG_MR, 0);
	q.post(PIB_WR_LOCAL_INV, 0);
	q.post(PIB_WR_WRITE, 8);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+1");
	EXPECT_EQ(q.n.executed_locals, 1u); // REG_MR at once, LOCAL_INV when nothing uses the key
	EXPECT_EQ(str(q.gets(ack(kPsn))), "WRITE@1001+1");
	EXPECT_EQ(q.n.executed_locals, 2u);
	EXPECT_EQ(q.done(), "1:0 2:0 3:0");
}

// A request that is sent again does not invalidate the key again; the completions keep their order.
TEST(ReqSend, EarlyInvalidationWaitsForNothing)
{
	NodeCfg c = config();

	c.req.early_inv = true;
	Qp q(c);

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_LOCAL_INV, 0);
	q.post(PIB_WR_WRITE, 8);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+1 WRITE@1001+1");
	EXPECT_EQ(q.n.executed_locals, 1u);
	EXPECT_EQ(q.done(), "");
	EXPECT_EQ(str(q.gets(ack(kPsn, kNak))), "WRITE@1000+1 WRITE@1001+1");
	EXPECT_EQ(q.n.executed_locals, 1u);
	q.gets(ack(kPsn + 1));
	EXPECT_EQ(q.done(), "1:0 2:0 3:0");
}

TEST(ReqSend, FencedInvalidationWaitsForAll)
{
	NodeCfg c = config();

	c.req.early_inv = true;
	Qp q(c);

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_LOCAL_INV, 0, PIB_WR_FENCE);
	q.post(PIB_WR_WRITE, 8);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+1");
	EXPECT_EQ(q.n.executed_locals, 0u);
	EXPECT_EQ(str(q.gets(ack(kPsn))), "WRITE@1001+1");
	EXPECT_EQ(q.n.executed_locals, 1u);
	EXPECT_EQ(q.done(), "1:0 2:0");
}

TEST(ReqSend, LocalErrorWaitsForWhatIsBeforeIt)
{
	Qp q;
	Work k = work(2, PIB_WR_WRITE, 8);

	q.post(PIB_WR_WRITE, 8);
	k.bad_from = 0;
	q.n.post(k);
	q.next_id = 3;
	q.post(PIB_WR_WRITE, 8);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+1");
	EXPECT_EQ(q.done(), "");
	EXPECT_FALSE(q.n.req.error);
	EXPECT_EQ(str(q.gets(ack(kPsn))), "");
	EXPECT_EQ(q.done(), "1:0 2:4 3:5"); // LOC_PROT_ERR, flushed
}

// pib_req_wanted() says whether a burst that env could not send at once is still to be sent.
TEST(ReqSend, PutOff)
{
	Qp q;
	pib_tx_req tx{};

	q.post(PIB_WR_WRITE, 8);
	ASSERT_TRUE(pib_req_next(&q.n.req, q.now, &tx));
	EXPECT_TRUE(pib_req_wanted(&q.n.req, &tx));
	q.after(2 * kTimeout); // its time is up: it is given out again
	EXPECT_EQ(q.n.req.stats.timeouts, 1u);
	ASSERT_TRUE(pib_req_wanted(&q.n.req, &tx));
	q.gets(ack(kPsn));
	EXPECT_FALSE(pib_req_wanted(&q.n.req, &tx));
	EXPECT_EQ(q.done(), "1:0");
}

TEST(ReqSend, PutOffAndGoneBack)
{
	Qp q;
	pib_tx_req first{}, second{};

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_WRITE, 8);
	ASSERT_TRUE(pib_req_next(&q.n.req, q.now, &first));
	ASSERT_TRUE(pib_req_next(&q.n.req, q.now, &second));
	pib_req_timer(&q.n.req, q.now + 2 * kTimeout);
	EXPECT_FALSE(pib_req_wanted(&q.n.req, &first));
	EXPECT_FALSE(pib_req_wanted(&q.n.req, &second));
	EXPECT_EQ(str(q.sends()), "WRITE@1000+1 WRITE@1001+1");
}

// The time that env needed is not the peer's.
TEST(ReqSend, Excused)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.now += 2 * kTimeout;
	pib_req_excuse(&q.n.req, q.now);
	EXPECT_EQ(str(q.sends()), "");
	EXPECT_EQ(str(q.after(kTimeout / 2)), "");
	EXPECT_EQ(q.n.req.stats.timeouts, 0u);
	EXPECT_EQ(str(q.after(kTimeout)), "WRITE@1000+1");
	EXPECT_EQ(q.n.req.stats.timeouts, 1u);
	q.gets(ack(kPsn));
	pib_req_excuse(&q.n.req, q.now);
	EXPECT_EQ(pib_req_deadline(&q.n.req), 0u);
}

TEST(ReqSend, WrongOpcodesAndLengths)
{
	static const struct {
		uint8_t tp, opcode;
		uint32_t len, status;
	} cases[] = {
		{PIB_TP_RC, 13, 8, PIB_WC_LOC_QP_OP_ERR},
		{PIB_TP_RC, 255, 8, PIB_WC_LOC_QP_OP_ERR},
		{PIB_TP_UC, PIB_WR_READ, 8, PIB_WC_LOC_QP_OP_ERR},
		{PIB_TP_UC, PIB_WR_CAS, 8, PIB_WC_LOC_QP_OP_ERR},
		{PIB_TP_UC, PIB_WR_SEND_INV, 8, PIB_WC_LOC_QP_OP_ERR},
		{PIB_TP_UD, PIB_WR_WRITE, 8, PIB_WC_LOC_QP_OP_ERR},
		{PIB_TP_UD, PIB_WR_SEND, kMtu + 1, PIB_WC_LOC_LEN_ERR},
		{PIB_TP_RC, PIB_WR_WRITE, 0x80000001, PIB_WC_LOC_LEN_ERR},
	};

	for (const auto &t : cases) {
		Qp q(config(t.tp));
		Work k = work(1, t.opcode, 0);

		k.w.len = t.len;
		q.n.post(k);
		EXPECT_EQ(str(q.sends()), "");
		EXPECT_EQ(q.done(), "1:" + std::to_string(t.status));
	}
}

// The length of a FLUSH is that of a range: where it names a region there is none (A19).
TEST(ReqSend, FlushOfARegionHasNoLength)
{
	for (bool region : {false, true}) {
		Qp q;
		Work k = work(1, PIB_WR_FLUSH, 0);

		k.w.len = 0x80000001;
		k.w.flush = region ? 0x11 : 0x01;
		q.n.post(k);
		EXPECT_EQ(str(q.sends()), region ? "FLUSH@1000+1" : "");
		EXPECT_EQ(q.done(), region ? "" : "1:" + std::to_string(PIB_WC_LOC_LEN_ERR));
	}
}

// A message of 2^31 bytes is 2^23 packets of 256: half of all PSNs, and no more at a time.
TEST(ReqSend, LargestMessage)
{
	for (uint8_t opcode : {PIB_WR_WRITE, PIB_WR_READ}) {
		NodeCfg c = config();
		std::vector<uint64_t> ring(64 * sizeof(pib_swqe) / 8);
		uint64_t bytes = 0, packets = 0;
		pib_place pl;
		pib_req r;
		pib_tx_req tx;

		c.req.max_burst = 65536;
		pib_req_init(&r, ring.data(), sizeof(pib_swqe), 63);
		pib_req_start(&r, &c.req, 0xF00000);
		pib_swqe *w = pib_req_slot(&r);
		w->opcode = opcode;
		w->flags = 0;
		w->len = 0x80000000;
		w->va = kVa;
		pib_req_post(&r);
		while (!pib_req_done(&r)) {
			ASSERT_TRUE(pib_req_next(&r, 1, &tx));
			ASSERT_LE((r.next_psn - r.una_psn) & PIB_PSN_MASK, 1u << 23);
			if (opcode == PIB_WR_WRITE) {
				bytes += tx.len;
				packets += tx.npkts;
				Burst a = ack(tx.h.psn + tx.npkts - 1);
				pib_req_response(&r, &a.h, 1, 0, 1, &pl);
				continue;
			}
			ASSERT_EQ(tx.h.va, kVa + bytes);
			bytes += tx.h.dmalen;
			packets += tx.h.dmalen / kMtu;
			Burst a = read_resp(tx.h.psn, tx.h.dmalen / kMtu, {}, kOnly);
			pib_req_response(&r, &a.h, a.npkts, tx.h.dmalen, 1, &pl);
		}
		EXPECT_EQ(bytes, 0x80000000u);
		EXPECT_EQ(packets, 1u << 23);
		EXPECT_EQ(r.next_psn, 0x700000u);
	}
}

TEST(ReqSend, WindowBoundsWhatIsInFlight)
{
	NodeCfg c = config();

	c.req.max_window = 10;
	Qp q(c);

	q.post(PIB_WR_WRITE, 64 * kMtu);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+4 WRITE@1004+4"); // a third burst would not fit
	EXPECT_EQ(str(q.gets(ack(kPsn + 3))), "WRITE@1008+4");
}

TEST(ReqSend, AcknowledgementsAreAskedForInTime)
{
	Qp q;
	int asked = 0;

	q.post(PIB_WR_WRITE, 200 * kMtu);
	std::vector<Burst> v = q.sends();

	ASSERT_EQ(v.size(), 16u); // the window of 64 packets
	for (const auto &b : v)
		asked += !!(b.h.flags & kAckReq);
	EXPECT_GE(asked, 4);
	EXPECT_TRUE(v.back().h.flags & kAckReq);
}

TEST(ReqSend, EndToEndCredits)
{
	Qp q;

	for (int i = 0; i < 4; i++)
		q.post(PIB_WR_SEND, 2 * kMtu);
	EXPECT_EQ(str(q.sends()), "SEND@1000+1");		   // nothing known
	EXPECT_EQ(str(q.gets(ack(kPsn, 0x00, 0))), "SEND@1001+1"); // taken: so is the rest
	EXPECT_EQ(str(q.gets(ack(kPsn + 1, 0x02, 1))), "SEND@1002+2 SEND@1004+2");
	EXPECT_EQ(str(q.gets(ack(kPsn + 3, 0x00, 2))), "");	       // in flight: wait
	EXPECT_EQ(str(q.gets(ack(kPsn + 5, 0x00, 3))), "SEND@1006+1"); // limited again
}

TEST(ReqSend, CreditsDoNotHoldUpWritesBeforeASend)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_WRITE, 8);
	q.post(PIB_WR_SEND, 8);
	q.post(PIB_WR_WRITE, 8);
	EXPECT_EQ(str(q.sends()), "WRITE@1000+1 WRITE@1001+1");
	EXPECT_EQ(str(q.gets(ack(kPsn + 1, 0x01, 2))), "SEND@1002+1 WRITE@1003+1");
}

TEST(ReqSend, OldAcksTakeNoCreditsBack)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.gets(ack(kPsn, 0x04, 1));
	EXPECT_EQ(q.n.req.credit_limit, 5u);
	q.gets(ack(kPsn, 0x00, 0));
	EXPECT_EQ(q.n.req.credit_limit, 5u);
	q.gets(ack(kPsn, 0x07, 1)); // unsolicited, with more
	EXPECT_EQ(q.n.req.credit_limit, 13u);
	q.gets(ack(kPsn, 0x1F, 1));
	EXPECT_TRUE(q.n.req.no_credits);
}

TEST(ReqSend, CreditCodes)
{
	// 9.7.7.2: code, count
	static const uint32_t table[] = {0,    1,    2,	   3,	  4,	 6,	8,    12,
					 16,   24,   32,   48,	  64,	 96,	128,  192,
					 256,  384,  512,  768,	  1024,	 1536,	2048, 3072,
					 4096, 6144, 8192, 12288, 16384, 24576, 32768};

	for (uint32_t code = 0; code < 31; code++) {
		EXPECT_EQ(pib_aeth_decode_credits(code), table[code]);
		EXPECT_EQ(pib_aeth_encode_credits(table[code]), code);
		EXPECT_EQ(pib_aeth_encode_credits(table[code] - !!code), code - !!code);
	}
	EXPECT_EQ(pib_aeth_encode_credits(~0u), 30);
}

TEST(ReqSend, DrainFinishesWhatWasStarted)
{
	Qp q;

	q.post(PIB_WR_WRITE, 200 * kMtu);
	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.n.stop(true);
	EXPECT_FALSE(pib_req_drained(&q.n.req));
	for (uint32_t psn = 0; psn < 200; psn += 20)
		q.gets(ack(kPsn + psn));
	q.gets(ack(kPsn + 199));
	EXPECT_EQ(q.done(), "1:0");
	EXPECT_TRUE(pib_req_drained(&q.n.req));
	EXPECT_EQ(str(q.sends()), "");
	q.n.stop(false);
	EXPECT_EQ(str(q.sends()), "WRITE@1200+1");
}

TEST(ReqSend, FlushNowAndLater)
{
	Qp q;

	q.post(PIB_WR_WRITE, 8);
	q.sends();
	q.post(PIB_WR_READ, 8);
	q.n.error();
	EXPECT_EQ(q.done(), "1:5 2:5");
	q.post(PIB_WR_SEND, 8);
	EXPECT_EQ(str(q.sends()), "");
	EXPECT_EQ(q.done(), "3:5");
	EXPECT_EQ(pib_req_deadline(&q.n.req), 0u);
}

TEST(ReqSend, MtuOfARunningQpStays)
{
	Qp q;
	pib_req_cfg c = q.n.cfg.req;

	q.post(PIB_WR_WRITE, 8 * kMtu);
	q.n.run(q.now, 1);
	c.pmtu = 1024;
	c.retry_cnt = 3;
	pib_req_reconfig(&q.n.req, &c);
	EXPECT_EQ(q.n.req.cfg.retry_cnt, 3);
	q.n.out.clear();
	EXPECT_EQ(str(q.sends()), "WRITE@1004+4");
	q.gets(ack(kPsn + 7));
	pib_req_reconfig(&q.n.req, &c);
	q.post(PIB_WR_WRITE, 8 * kMtu);
	EXPECT_EQ(str(q.sends()), "WRITE@1008+1 WRITE@1009+1");
}

TEST(ReqSend, XrcNamesItsSrq)
{
	Qp q(config(PIB_TP_XRC));
	Work k = work(1, PIB_WR_SEND, 8);
	std::vector<Burst> v;

	k.w.srqn = 0x4242;
	q.n.post(k);
	v = q.sends();
	ASSERT_EQ(v.size(), 1u);
	EXPECT_EQ(v[0].h.tp, PIB_TP_XRC);
	EXPECT_EQ(v[0].h.srqn, 0x4242u);
}

// ---- unreliable services: finished when sent ----

TEST(ReqSend, UcIsFinishedWhenSent)
{
	Qp q(config(PIB_TP_UC));

	q.post(PIB_WR_SEND, 6 * kMtu);
	q.n.run(q.now, 1);
	EXPECT_EQ(q.done(), "");
	q.sends();
	EXPECT_EQ(q.done(), "1:0");
	q.post(PIB_WR_WRITE, 1);
	EXPECT_EQ(str(q.sends()), "WRITE@1006+1");
	EXPECT_EQ(pib_req_deadline(&q.n.req), 0u);
}

TEST(ReqSend, UdSendsToWhomTheWorkRequestSays)
{
	Qp q(config(PIB_TP_UD));
	std::vector<Burst> v;

	q.post(PIB_WR_SEND_IMM, kMtu, PIB_WR_SOLICITED);
	v = q.sends();
	ASSERT_EQ(str(v), "SEND@1000+1");
	EXPECT_EQ(v[0].h.dqpn, 0x33u);
	EXPECT_EQ(v[0].h.qkey, 0x1111u);
	EXPECT_EQ(v[0].h.flags, kOnly | PIB_H_IMM | PIB_H_SE);
	EXPECT_EQ(q.done(), "1:0");
}

// A work request of @len bytes in packets of @mss, each behind @head_len bytes of headers.
Work large_send(uint32_t len, uint16_t mss, uint16_t head_len)
{
	Work k = work(1, PIB_WR_LSO, len);

	k.w.mss = mss;
	k.w.head_len = head_len;
	return k;
}

TEST(ReqSend, ALargeSendIsManyDatagrams)
{
	NodeCfg c = config(PIB_TP_UD);

	c.req.max_burst = 65536;
	Qp q(c);
	std::vector<Burst> v;

	q.n.post(large_send(10 * 1000 + 1, 1000, 56));
	v = q.sends();
	ASSERT_EQ(str(v), "SEND@1000+11");
	EXPECT_EQ(v[0].h.flags, kOnly);
	EXPECT_EQ(v[0].h.dqpn, 0x33u);
	EXPECT_EQ(v[0].data, pattern(10001, 1));
	EXPECT_EQ(q.done(), "1:0");
	// With nothing to send it is its headers.
	q.n.post(large_send(0, 1000, 56));
	EXPECT_EQ(str(q.sends()), "SEND@1011+1");
}

TEST(ReqSend, ALargeSendIsCutIntoBursts)
{
	NodeCfg c = config(PIB_TP_UD);

	c.req.max_burst = 65536;
	Qp q(c);
	std::vector<Burst> v;

	q.n.post(large_send(65536, 1992, 56)); // 32 packets of 2048 bytes are a burst
	v = q.sends();
	ASSERT_EQ(str(v), "SEND@1000+32 SEND@1032+1");
	EXPECT_EQ(v[1].h.flags, kOnly);
	EXPECT_EQ(v[0].data.size() + v[1].data.size(), 65536u);
	q.n.post(large_send(1000, 10, 56)); // 64 packets are a burst
	EXPECT_EQ(str(q.sends()), "SEND@1033+64 SEND@1097+36");
	EXPECT_EQ(q.done(), "1:0 1:0");
}

TEST(ReqSend, ALargeSendHasAnEnd)
{
	Qp q(config(PIB_TP_UD));

	q.n.post(large_send(65536, 1, 56));
	q.sends();
	EXPECT_EQ(q.done(), "1:1");
	Qp rc;

	rc.n.post(large_send(8, 8, 56));
	rc.sends();
	EXPECT_EQ(rc.done(), "1:2");
}

TEST(ReqSend, SqeAndBack)
{
	Qp q(config(PIB_TP_UD));

	q.post(PIB_WR_SEND, kMtu + 1);
	q.post(PIB_WR_SEND, 8);
	q.sends();
	q.sends();
	EXPECT_EQ(q.done(), "1:1 2:5");
	// Posted in SQE and not yet retired when the QP comes back.
	*pib_req_slot(&q.n.req) = work(9, PIB_WR_SEND, 8).w;
	q.n.works[9] = work(9, PIB_WR_SEND, 8);
	pib_req_post(&q.n.req);
	q.n.resume();
	EXPECT_EQ(str(q.sends()), "");
	EXPECT_EQ(q.done(), "9:5");
	q.post(PIB_WR_SEND, 8);
	EXPECT_EQ(str(q.sends()), "SEND@1000+1");
	EXPECT_EQ(q.done(), "3:0");
}

} // namespace
