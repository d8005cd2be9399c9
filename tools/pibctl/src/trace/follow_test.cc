// SPDX-License-Identifier: GPL-2.0
#include "trace/follow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pib::ctl {
namespace {

class Follow : public testing::Test {
protected:
	/// The message that the event belongs to, 0: none. Each is a microsecond after the one before.
	std::uint64_t message(std::string_view event, std::string_view device, int qpn,
			      std::string_view fields)
	{
		const auto record = parse_trace_line(fmt::format(
			"               x-1       [000] ..... 5.{:06}: pib_{}: device={} port=1 qpn={} {}",
			++now_, event, device, qpn, fields));
		last_ = follower_.follow(*record);
		return last_ ? last_->message : 0;
	}
	std::uint64_t near(std::string_view event, std::string_view fields)
	{
		return message(event, "pib0", 17, fields);
	}
	std::uint64_t far(std::string_view event, std::string_view fields)
	{
		return message(event, "pib1", 18, fields);
	}
	void post(int index, int bytes, std::string_view opcode = "SEND",
		  std::string_view flags = "0x2")
	{
		near("wr_posted", fmt::format("index={} wr_id=0x0 opcode={} flags={} bytes={}",
					      index, opcode, flags, bytes));
	}
	void post_unsignaled(int index) { post(index, 8, "SEND", "0x0"); }
	/// A message of one packet, whose PSN is 100 more than its index.
	std::uint64_t sent(int index)
	{
		return near("qp_sent",
			    fmt::format("far_qpn=18 index={} opcode=SEND psn={} packets=1 bytes=8",
					index, 100 + index));
	}
	std::uint64_t received(int index)
	{
		return far("qp_received",
			   fmt::format("far_qpn=17 opcode=SEND psn={} packets=1", 100 + index));
	}
	std::uint64_t taken() { return far("completion", "wr_id=0x9 opcode=RECV status=SUCCESS"); }
	std::uint64_t acknowledged(int index)
	{
		return near("ack_received",
			    fmt::format("far_qpn=18 answer=ACK psn={}", 100 + index));
	}
	void lose() { follower_.follow(*parse_trace_line("CPU:0 [LOST 2 EVENTS]")); }
	std::uint64_t completed(int index, std::string_view fields)
	{
		return near("completion", fmt::format("index={} wr_id=0x0 {}", index, fields));
	}

	MessageFollower follower_{"pib0", 17, 18};
	std::optional<MessageEvent> last_;
	int now_ = 0;
};

TEST_F(Follow, FromThePostToBothCompletions)
{
	EXPECT_EQ(near("wr_posted", "index=1 wr_id=0x1 opcode=SEND flags=0x2 bytes=100"), 1U);
	EXPECT_EQ(near("qp_sent", "far_qpn=18 opcode=SEND psn=7 packets=1 bytes=100"), 1U);
	EXPECT_EQ(far("qp_received", "far_qpn=17 opcode=SEND psn=7 packets=1 bytes=100"), 1U);
	EXPECT_EQ(far("completion", "wr_id=0x9 opcode=RECV status=SUCCESS"), 1U);
	EXPECT_EQ(far("ack_sent", "far_qpn=17 psn=7"), 1U);
	EXPECT_EQ(near("ack_received", "far_qpn=18 psn=7"), 1U);
	EXPECT_FALSE(last_->is_end);
	EXPECT_EQ(near("completion", "index=1 wr_id=0x1 opcode=SEND status=SUCCESS"), 1U);
	EXPECT_TRUE(last_->is_end);
	EXPECT_NEAR(last_->seconds, 6e-6, 1e-9);
}

TEST_F(Follow, OfUcToTheReceiverAfterTheCompletion)
{
	post(1, 8);
	near("qp_sent",
	     "far_qpn=18 index=1 service=UC opcode=SEND psn=101 packets=1 bytes=8 slid=1");
	EXPECT_EQ(completed(1, "opcode=SEND"), 1U);
	EXPECT_TRUE(last_->is_end);
	post(2, 8);
	EXPECT_EQ(received(1), 1U);
	EXPECT_EQ(taken(), 1U);
	EXPECT_FALSE(last_->is_end);
	EXPECT_EQ(message("dropped", "sw0", 18, "src_qpn=0 reason=lost psn=101 slid=1"), 1U);
	EXPECT_EQ(message("dropped", "pib7", 18, "src_qpn=0 reason=lost psn=101 slid=9"), 0U);
}

TEST_F(Follow, PacketsOfSeveralMessages)
{
	post(1, 3000);
	post(2, 10);
	EXPECT_EQ(near("qp_sent", "opcode=SEND psn=16777214 packets=2 bytes=2048"), 1U);
	EXPECT_EQ(near("qp_sent", "opcode=SEND psn=0 packets=1 bytes=952"), 1U);
	EXPECT_EQ(near("qp_sent", "opcode=SEND psn=1 packets=1 bytes=10"), 2U);
	// sent again
	EXPECT_EQ(near("retry", "cause=timeout psn=0"), 1U);
	EXPECT_EQ(near("qp_sent", "opcode=SEND psn=0 packets=1 bytes=952"), 1U);
	EXPECT_EQ(near("qp_sent", "opcode=SEND psn=1 packets=1 bytes=10"), 2U);
	// one acknowledgement for both
	EXPECT_EQ(near("ack_received", "psn=1"), 2U);
	EXPECT_EQ(completed(1, "opcode=SEND"), 1U);
	EXPECT_EQ(completed(2, "opcode=SEND"), 2U);
}

TEST_F(Follow, ReadsAreAnswered)
{
	post(1, 4096, "RDMA_READ");
	post(2, 8);
	EXPECT_EQ(near("qp_sent", "far_qpn=18 opcode=RDMA_READ_REQUEST psn=5 packets=1 bytes=0"),
		  1U);
	EXPECT_EQ(near("qp_sent", "far_qpn=18 opcode=SEND psn=9 packets=1 bytes=8"), 2U);
	EXPECT_EQ(far("qp_received", "far_qpn=17 opcode=RDMA_READ_REQUEST psn=5"), 1U);
	EXPECT_EQ(far("qp_sent", "far_qpn=17 opcode=RDMA_READ_RESPONSE psn=5 packets=4"), 1U);
	EXPECT_EQ(near("qp_received", "far_qpn=18 opcode=RDMA_READ_RESPONSE psn=8"), 1U);
}

TEST_F(Follow, WhatTheFarEndSendsIsAnotherStory)
{
	post(1, 8);
	near("qp_sent", "far_qpn=18 opcode=SEND psn=5 packets=1 bytes=8");
	EXPECT_EQ(far("qp_sent", "far_qpn=17 opcode=SEND psn=5 packets=1 bytes=8"), 0U);
	EXPECT_EQ(near("qp_received", "far_qpn=18 opcode=SEND psn=5"), 0U);
	EXPECT_EQ(near("ack_sent", "far_qpn=18 psn=5"), 0U);
	EXPECT_EQ(far("completion", "wr_id=0x1 opcode=SEND"), 0U);
}

TEST_F(Follow, AQueuePairOfTheSameNumberElsewhere)
{
	post(1, 8);
	near("qp_sent", "far_qpn=18 opcode=SEND psn=5 packets=1 bytes=8");
	EXPECT_EQ(message("ack_sent", "pib7", 18, "far_qpn=3 psn=5"), 0U);
	EXPECT_EQ(far("qp_received", "far_qpn=17 opcode=SEND psn=5"), 1U);
	EXPECT_EQ(message("completion", "pib7", 18, "wr_id=0x1 opcode=RECV"), 0U);
}

TEST_F(Follow, DropsOnTheWay)
{
	post(1, 8);
	near("qp_sent", "far_qpn=18 opcode=SEND psn=5 packets=1 bytes=8");
	EXPECT_EQ(message("dropped", "sw0", 18, "reason=lost psn=5"), 1U);
}

TEST_F(Follow, WhatWasPostedBeforeIsUnknown)
{
	EXPECT_EQ(near("qp_sent", "far_qpn=18 opcode=SEND psn=5 packets=1 bytes=8"), 0U);
	EXPECT_EQ(completed(1, "opcode=SEND"), 0U);
	EXPECT_EQ(far("completion", "wr_id=0x1 opcode=RECV"), 0U);
}

TEST_F(Follow, ReceivesEndNoMessage)
{
	post(1, 8);
	EXPECT_EQ(near("completion", "wr_id=0x1 opcode=RECV status=SUCCESS"), 0U);
	EXPECT_EQ(near("completion", "wr_id=0x1 opcode=RECV_RDMA_WITH_IMM status=SUCCESS"), 0U);
	EXPECT_EQ(near("completion", "wr_id=0x1 opcode=RECV status=WR_FLUSH_ERR"), 0U);
	EXPECT_EQ(completed(1, "opcode=SEND status=SUCCESS"), 1U);
}

TEST_F(Follow, CompletionsOfWhatWasPostedBeforeAreOfNoMessage)
{
	post(7, 8);
	post(8, 8);
	near("qp_sent", "far_qpn=18 opcode=SEND psn=5 packets=1 bytes=8");
	near("qp_sent", "far_qpn=18 opcode=SEND psn=6 packets=1 bytes=8");
	near("ack_received", "far_qpn=18 answer=ACK psn=6");
	EXPECT_EQ(completed(5, "opcode=SEND status=SUCCESS"), 0U);
	EXPECT_EQ(completed(6, "opcode=SEND status=SUCCESS"), 0U);
	EXPECT_EQ(completed(7, "opcode=SEND status=SUCCESS"), 1U);
	EXPECT_EQ(completed(8, "opcode=SEND status=SUCCESS"), 2U);
	EXPECT_EQ(completed(9, "opcode=SEND status=SUCCESS"), 0U);
}

TEST_F(Follow, FinishedIsWhatAskedForNoneToo)
{
	post_unsignaled(1);
	post(2, 8);
	post(3, 8);
	completed(3, "opcode=SEND status=SUCCESS");
	ASSERT_TRUE(last_);
	ASSERT_EQ(last_->before.size(), 2U);
	EXPECT_EQ(last_->before[0].message, 1U);
	EXPECT_FALSE(last_->before[0].is_signaled);
	EXPECT_EQ(last_->before[1].message, 2U);
	EXPECT_TRUE(last_->before[1].is_signaled);
	EXPECT_EQ(trace_text(last_->before[0]), "message 1 no completion asked for");
	EXPECT_EQ(trace_text(last_->before[1]), "message 2 completion not seen");
	EXPECT_EQ(trace_json(last_->before[0]),
		  R"({"event":"finished","message":1,"completion":"not asked for"})");
	EXPECT_EQ(trace_json(last_->before[1]),
		  R"({"event":"finished","message":2,"completion":"not seen"})");
}

TEST_F(Follow, ErrorsAreToldOfWhatAskedForNoneToo)
{
	post_unsignaled(1);
	post_unsignaled(2);
	post(3, 8);
	EXPECT_EQ(completed(2, "opcode=SEND status=RETRY_EXC_ERR"), 2U);
	EXPECT_EQ(last_->before.size(), 1U);
	EXPECT_EQ(completed(3, "opcode=SEND status=WR_FLUSH_ERR"), 3U);
}

TEST_F(Follow, AReadAskedForAgainInItsMiddle)
{
	post(1, 4096, "RDMA_READ");
	post(2, 4096, "RDMA_READ");
	EXPECT_EQ(near("qp_sent", "opcode=RDMA_READ_REQUEST psn=5 packets=1 bytes=0"), 1U);
	EXPECT_EQ(near("qp_received", "opcode=RDMA_READ_RESPONSE psn=5 packets=2 bytes=2048"), 1U);
	EXPECT_EQ(near("retry", "cause=timeout psn=7"), 1U);
	EXPECT_EQ(near("qp_sent", "opcode=RDMA_READ_REQUEST psn=7 packets=1 bytes=0"), 1U);
	EXPECT_EQ(near("qp_sent", "opcode=RDMA_READ_REQUEST psn=9 packets=1 bytes=0"), 2U);
	// the last packet of the second
	EXPECT_EQ(near("qp_sent", "opcode=RDMA_READ_REQUEST psn=12 packets=1 bytes=0"), 2U);
}

TEST_F(Follow, AReadWhoseFirstPacketCameAlone)
{
	post(1, 3000, "RDMA_READ");
	post(2, 4096, "RDMA_READ");
	near("qp_sent", "opcode=RDMA_READ_REQUEST psn=16777215 packets=1 bytes=0");
	near("qp_received", "opcode=RDMA_READ_RESPONSE psn=16777215 packets=1 bytes=1024");
	EXPECT_EQ(near("qp_sent", "opcode=RDMA_READ_REQUEST psn=0 packets=1 bytes=0"), 1U);
	EXPECT_EQ(near("qp_sent", "opcode=RDMA_READ_REQUEST psn=2 packets=1 bytes=0"), 2U);
}

TEST_F(Follow, UnsignaledMessagesAreForgotten)
{
	post(1, 8);
	post(2, 8);
	near("qp_sent", "far_qpn=18 opcode=SEND psn=5 packets=1 bytes=8");
	near("qp_sent", "far_qpn=18 opcode=SEND psn=6 packets=1 bytes=8");
	EXPECT_EQ(completed(2, "opcode=SEND"), 2U);
	EXPECT_EQ(completed(1, "opcode=SEND"), 0U);
}

/// Work requests wait for the window, so the first packets of a trace are of older ones.
TEST_F(Follow, PacketsOfWhatWasPostedBeforeAreOfNoMessage)
{
	constexpr int kAhead = 4;
	for (int index = 4; index < 40; ++index) {
		const auto message = index < 4 + kAhead ? 0U : index - 4U - kAhead + 1U;
		post(index + kAhead, 8);
		EXPECT_EQ(sent(index), message);
		EXPECT_EQ(received(index), message);
		EXPECT_EQ(taken(), message);
		EXPECT_EQ(acknowledged(index), message);
		EXPECT_EQ(completed(index, "opcode=SEND status=SUCCESS"), message);
	}
}

TEST_F(Follow, WhatIsLostMakesNoOtherMessageOfAPacket)
{
	post(0, 8);
	EXPECT_EQ(sent(0), 1U);
	lose();
	post(2, 8);
	// its post is lost
	EXPECT_EQ(sent(1), 0U);
	EXPECT_EQ(received(1), 0U);
	EXPECT_EQ(taken(), 0U);
	EXPECT_EQ(sent(2), 2U);
	EXPECT_EQ(acknowledged(1), 0U);
	EXPECT_EQ(acknowledged(2), 2U);
	EXPECT_EQ(completed(1, "opcode=SEND status=SUCCESS"), 0U);
	EXPECT_EQ(completed(2, "opcode=SEND status=SUCCESS"), 2U);
}

TEST_F(Follow, AMessageWhosePacketsWereNotSeenToBeSentHasNone)
{
	post(0, 8);
	post(1, 8);
	EXPECT_EQ(sent(0), 1U);
	EXPECT_EQ(received(0), 1U);
	lose();
	EXPECT_EQ(taken(), 0U);
	EXPECT_EQ(received(1), 0U);
	EXPECT_EQ(acknowledged(1), 0U);
	EXPECT_EQ(completed(1, "opcode=SEND status=SUCCESS"), 2U);
}

TEST_F(Follow, TheRestOfAMessageAfterALoss)
{
	post(0, 3000);
	EXPECT_EQ(near("qp_sent", "index=0 opcode=SEND psn=100 packets=1 bytes=1024"), 1U);
	lose();
	EXPECT_EQ(received(1), 0U);
	EXPECT_EQ(near("qp_sent", "index=0 opcode=SEND psn=102 packets=1 bytes=952"), 1U);
	EXPECT_EQ(received(1), 1U);
	EXPECT_EQ(received(2), 1U);
	EXPECT_EQ(received(3), 0U);
	// again, from its beginning
	EXPECT_EQ(near("qp_sent", "index=0 opcode=SEND psn=100 packets=3 bytes=3000"), 1U);
}

TEST_F(Follow, AReadAskedForAgainIsKnownByItsIndex)
{
	post(1, 4096, "RDMA_READ");
	post(2, 4096, "RDMA_READ");
	EXPECT_EQ(near("qp_sent", "index=1 opcode=RDMA_READ_REQUEST psn=5 packets=1 bytes=0"), 1U);
	EXPECT_EQ(near("qp_sent", "index=1 opcode=RDMA_READ_REQUEST psn=7 packets=1 bytes=0"), 1U);
	EXPECT_EQ(near("qp_sent", "index=2 opcode=RDMA_READ_REQUEST psn=9 packets=1 bytes=0"), 2U);
	EXPECT_EQ(far("qp_sent", "far_qpn=17 index=0 opcode=RDMA_READ_RESPONSE psn=5 packets=4"),
		  1U);
	EXPECT_EQ(near("qp_received", "opcode=RDMA_READ_RESPONSE psn=12 packets=1 bytes=1024"), 2U);
}

TEST_F(Follow, IndicesBeginAgain)
{
	near("wr_posted", "index=4294967295 wr_id=0x0 opcode=SEND flags=0x0 bytes=8");
	post(0, 8);
	EXPECT_EQ(near("qp_sent", "index=4294967294 opcode=SEND psn=98 packets=1 bytes=8"), 0U);
	EXPECT_EQ(near("qp_sent", "index=4294967295 opcode=SEND psn=99 packets=1 bytes=8"), 1U);
	EXPECT_EQ(sent(0), 2U);
	EXPECT_EQ(completed(0, "opcode=SEND status=SUCCESS"), 2U);
	ASSERT_EQ(last_->before.size(), 1U);
	EXPECT_EQ(last_->before[0].message, 1U);
}

/// A queue pair of datagrams; each is sent to queue pair 18 or a group, and finished when it was sent.
class FollowDatagrams : public Follow {
protected:
	FollowDatagrams() { follower_ = MessageFollower("pib0", 17, 0); }
	std::uint64_t sent_to(int qpn, int index)
	{
		return near("qp_sent",
			    fmt::format("far_qpn={} index={} service=UD opcode=SEND psn={} "
					"packets=1 bytes=8 slid=1",
					qpn, index, 100 + index));
	}
	std::uint64_t received_by(std::string_view device, int qpn, int index, int slid = 1)
	{
		return message("qp_received", device, qpn,
			       fmt::format("far_qpn=17 service=UD opcode=SEND psn={} packets=1 "
					   "slid={}",
					   100 + index, slid));
	}
	/// The datagram of this index and those behind it, in one burst.
	std::uint64_t burst_received(int index, int packets)
	{
		return far("qp_received", fmt::format("far_qpn=17 service=UD opcode=SEND psn={} "
						      "packets={} slid=1",
						      100 + index, packets));
	}
	std::uint64_t dropped_at(std::string_view device, int qpn, int index, int packets = 1)
	{
		return message("dropped", device, qpn,
			       fmt::format("src_qpn=17 reason=no_receive psn={} packets={} slid=1",
					   100 + index, packets));
	}
	std::uint64_t taken_by(std::string_view device, int qpn,
			       std::string_view status = "SUCCESS")
	{
		return message("completion", device, qpn,
			       fmt::format("wr_id=0x9 opcode=RECV status={}", status));
	}
	void send_to(int qpn, int first, int last)
	{
		for (int index = first; index <= last; ++index) {
			post(index, 8);
			sent_to(qpn, index);
			completed(index, "opcode=SEND");
		}
	}
};

TEST_F(FollowDatagrams, ToTheReceiverAfterTheirCompletion)
{
	post(1, 8);
	EXPECT_EQ(sent_to(18, 1), 1U);
	EXPECT_EQ(completed(1, "opcode=SEND"), 1U);
	EXPECT_TRUE(last_->is_end);
	post(2, 8);
	EXPECT_EQ(sent_to(19, 2), 2U);
	EXPECT_EQ(received_by("pib1", 18, 1), 1U);
	EXPECT_EQ(received_by("pib1", 19, 2), 2U);
	EXPECT_EQ(taken_by("pib1", 19), 2U);
	EXPECT_EQ(taken_by("pib1", 18), 1U);
	EXPECT_FALSE(last_->is_end);
	EXPECT_EQ(taken_by("pib1", 18), 0U);
	EXPECT_EQ(completed(2, "opcode=SEND"), 2U);
	EXPECT_TRUE(last_->before.empty());
}

TEST_F(FollowDatagrams, OthersAreNoneOfIts)
{
	post(1, 8);
	sent_to(18, 1);
	completed(1, "opcode=SEND");
	EXPECT_EQ(received_by("pib1", 19, 1), 0U);
	EXPECT_EQ(received_by("pib1", 18, 2), 0U);
	// a sender of the same number elsewhere
	EXPECT_EQ(received_by("pib1", 18, 1, 7), 0U);
	EXPECT_EQ(taken_by("pib1", 18), 0U);
}

TEST_F(FollowDatagrams, OfAGroupEachHasACopy)
{
	post(1, 8);
	sent_to(0xFFFFFF, 1);
	completed(1, "opcode=SEND");
	EXPECT_EQ(received_by("pib1", 18, 1), 1U);
	EXPECT_EQ(received_by("pib2", 18, 1), 1U);
	EXPECT_EQ(taken_by("pib2", 18), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 1U);
}

TEST_F(FollowDatagrams, DropsOnTheWay)
{
	post(1, 8);
	sent_to(18, 1);
	completed(1, "opcode=SEND");
	EXPECT_EQ(message("dropped", "sw0", 18, "src_qpn=17 reason=lost psn=101 slid=1"), 1U);
	EXPECT_EQ(message("dropped", "sw0", 18, "src_qpn=5 reason=lost psn=101 slid=1"), 0U);
}

TEST_F(FollowDatagrams, UnsignaledOnesAreFinishedOnce)
{
	post_unsignaled(1);
	post(2, 8);
	completed(2, "opcode=SEND");
	ASSERT_EQ(last_->before.size(), 1U);
	EXPECT_EQ(last_->before[0].message, 1U);
	post(3, 8);
	completed(3, "opcode=SEND");
	EXPECT_TRUE(last_->before.empty());
}

TEST_F(FollowDatagrams, OfABurstEachHasItsCompletion)
{
	send_to(18, 1, 4);
	EXPECT_EQ(burst_received(1, 3), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 2U);
	EXPECT_EQ(taken_by("pib1", 18), 3U);
	EXPECT_EQ(taken_by("pib1", 18), 0U);
}

TEST_F(FollowDatagrams, OfABurstThoseThatAreDroppedHaveNone)
{
	send_to(18, 1, 4);
	burst_received(1, 4);
	EXPECT_EQ(dropped_at("pib1", 18, 1), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 2U);
	EXPECT_EQ(dropped_at("pib1", 18, 3), 3U);
	EXPECT_EQ(taken_by("pib1", 18), 4U);
	EXPECT_EQ(taken_by("pib1", 18), 0U);
	burst_received(1, 4);
	EXPECT_EQ(dropped_at("pib1", 18, 1, 4), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 0U);
}

TEST_F(FollowDatagrams, OneOfSeveralPackets)
{
	post(1, 20);
	near("qp_sent",
	     "far_qpn=18 index=1 service=UD opcode=SEND psn=101 packets=3 bytes=20 slid=1");
	completed(1, "opcode=SEND");
	EXPECT_EQ(burst_received(1, 2), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 1U);
	EXPECT_EQ(dropped_at("pib1", 18, 3), 1U);
	EXPECT_EQ(dropped_at("pib1", 18, 4), 0U);
}

TEST_F(FollowDatagrams, WhatWasDroppedHasNoCompletion)
{
	send_to(18, 1, 1);
	EXPECT_EQ(received_by("pib1", 18, 1), 1U);
	EXPECT_EQ(dropped_at("pib1", 18, 1), 1U);
	// another sender's
	EXPECT_EQ(taken_by("pib1", 18), 0U);
}

TEST_F(FollowDatagrams, ADropElsewhereIsNoneOfThePlace)
{
	send_to(0xFFFFFF, 1, 1);
	EXPECT_EQ(received_by("pib1", 18, 1), 1U);
	EXPECT_EQ(dropped_at("sw0", 18, 1), 1U);
	EXPECT_EQ(dropped_at("pib1", 19, 1), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 1U);
}

/// Drops of a multicast have the group's number. The queue pair is the one that has looked at it last.
TEST_F(FollowDatagrams, OfAGroupTheCopyThatWasDroppedHasNoCompletion)
{
	send_to(0xFFFFFF, 1, 1);
	received_by("pib1", 18, 1);
	received_by("pib1", 19, 1);
	received_by("pib2", 18, 1);
	EXPECT_EQ(dropped_at("pib1", 0xFFFFFF, 1), 1U);
	EXPECT_EQ(taken_by("pib1", 19), 0U);
	EXPECT_EQ(taken_by("pib1", 18), 1U);
	EXPECT_EQ(taken_by("pib2", 18), 1U);
}

TEST_F(FollowDatagrams, AnotherSendersCompletionIsNotTold)
{
	send_to(18, 1, 1);
	received_by("pib1", 18, 1);
	message("qp_received", "pib1", 18,
		"far_qpn=5 service=UD opcode=SEND psn=3 packets=1 slid=4");
	EXPECT_EQ(taken_by("pib1", 18), 0U);
}

/// It is dropped, and has a completion in error, which ends the queue pair.
TEST_F(FollowDatagrams, OneThatIsTooLongForItsReceive)
{
	send_to(18, 1, 3);
	burst_received(1, 3);
	EXPECT_EQ(taken_by("pib1", 18), 1U);
	EXPECT_EQ(dropped_at("pib1", 18, 2), 2U);
	EXPECT_EQ(taken_by("pib1", 18, "LOC_LEN_ERR"), 2U);
	EXPECT_EQ(taken_by("pib1", 18, "WR_FLUSH_ERR"), 0U);
}

TEST_F(FollowDatagrams, AnErrorAtTheReceiverEndsTheBurst)
{
	send_to(18, 1, 3);
	burst_received(1, 3);
	EXPECT_EQ(taken_by("pib1", 18, "LOC_PROT_ERR"), 1U);
	EXPECT_EQ(taken_by("pib1", 18), 0U);
	received_by("pib1", 18, 3);
	EXPECT_EQ(taken_by("pib1", 18, "WR_FLUSH_ERR"), 0U);
	EXPECT_EQ(taken_by("pib1", 18), 0U);
}

TEST_F(FollowDatagrams, PsnsThatComeAgainAreOfTheLatest)
{
	send_to(18, 1, 1);
	post(2, 8);
	near("qp_sent",
	     "far_qpn=18 index=2 service=UD opcode=SEND psn=101 packets=1 bytes=8 slid=1");
	EXPECT_EQ(received_by("pib1", 18, 1), 2U);
	EXPECT_EQ(taken_by("pib1", 18), 2U);
	EXPECT_EQ(dropped_at("sw0", 18, 1), 2U);
}

TEST_F(FollowDatagrams, AnotherQueuePairOfTheSameNumber)
{
	send_to(18, 1, 3);
	post(1, 8);
	EXPECT_EQ(sent_to(18, 1), 4U);
	EXPECT_EQ(completed(1, "opcode=SEND"), 4U);
	EXPECT_TRUE(last_->before.empty());
	EXPECT_EQ(received_by("pib1", 18, 1), 4U);
	// its post is lost
	EXPECT_EQ(sent_to(18, 2), 0U);
	ASSERT_TRUE(last_);
	EXPECT_TRUE(last_->left_out);
}

TEST_F(FollowDatagrams, TheLast1024AreKnown)
{
	send_to(18, 1, 1025);
	EXPECT_EQ(received_by("pib1", 18, 1), 0U);
	EXPECT_EQ(received_by("pib1", 18, 2), 2U);
	EXPECT_EQ(received_by("pib1", 18, 1025), 1025U);
}

TEST_F(FollowDatagrams, TheLast1024AreThoseThatAreFinished)
{
	for (int index = 1; index <= 2000; ++index) {
		post(index, 8);
		sent_to(18, index);
	}
	for (int index = 1; index <= 1025; ++index)
		completed(index, "opcode=SEND");
	EXPECT_EQ(received_by("pib1", 18, 1), 0U);
	EXPECT_EQ(received_by("pib1", 18, 2), 2U);
	EXPECT_EQ(received_by("pib1", 18, 2000), 2000U);
}

TEST_F(FollowDatagrams, OnlySoManyReceiversAreKnown)
{
	send_to(0xFFFFFF, 1, 1);
	for (int qpn = 100; qpn < 100 + 1025; ++qpn)
		received_by("pib1", qpn, 1);
	EXPECT_EQ(taken_by("pib1", 100), 0U);
	EXPECT_EQ(taken_by("pib1", 101), 1U);
	EXPECT_EQ(taken_by("pib1", 1124), 1U);
}

TEST_F(Follow, AnotherQueuePairOfTheSameNumber)
{
	post(1, 8);
	post(2, 8);
	sent(1);
	post(0, 8);
	EXPECT_EQ(completed(0, "opcode=SEND status=SUCCESS"), 3U);
	EXPECT_TRUE(last_->before.empty());
	post(1, 8);
	EXPECT_EQ(sent(1), 4U);
	EXPECT_EQ(completed(1, "opcode=SEND status=SUCCESS"), 4U);
}

/// Those of two CPUs: the time says that the index is none that comes again.
TEST_F(Follow, PostsInTheWrongOrder)
{
	post(1, 8);
	post(3, 8);
	now_ -= 2;
	post(2, 8);
	EXPECT_EQ(sent(1), 1U);
	EXPECT_EQ(sent(3), 2U);
	EXPECT_EQ(sent(2), 3U);
	now_ += 2;
	post(4, 8);
	EXPECT_EQ(sent(1), 1U);
}

TEST_F(Follow, WhatIsLeftOutIsSaidOnce)
{
	post(9, 8);
	sent(7);
	ASSERT_TRUE(last_);
	ASSERT_TRUE(last_->left_out);
	EXPECT_EQ(trace_text(*last_->left_out), "index 7 left out: its post was not seen");
	EXPECT_EQ(trace_json(*last_->left_out), R"({"event":"left_out","index":7})");
	EXPECT_FALSE(last_->is_end);
	sent(7);
	EXPECT_FALSE(last_);
	acknowledged(7);
	EXPECT_FALSE(last_);
	completed(7, "opcode=SEND status=SUCCESS");
	EXPECT_FALSE(last_);
	completed(8, "opcode=SEND status=SUCCESS");
	ASSERT_TRUE(last_ && last_->left_out);
	EXPECT_EQ(last_->left_out->index, 8U);
	sent(9);
	EXPECT_FALSE(last_->left_out);
}

} // namespace
} // namespace pib::ctl
