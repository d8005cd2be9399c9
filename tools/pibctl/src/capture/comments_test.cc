// SPDX-License-Identifier: GPL-2.0
#include "capture/comments.h"

#include <gtest/gtest.h>
#include <linux/pib_capture.h>

#include "capture/records.h"

namespace pib::ctl {
namespace {

/// LRH and BTH of a packet to QP 5.
Bytes packet(std::uint8_t opcode, std::uint32_t psn)
{
	Bytes bytes(20);
	bytes[1] = 2;
	bytes[8] = opcode;
	bytes[15] = 5;
	bytes[17] = static_cast<std::uint8_t>(psn >> 16);
	bytes[18] = static_cast<std::uint8_t>(psn >> 8);
	bytes[19] = static_cast<std::uint8_t>(psn);
	return bytes;
}

class Comments : public testing::Test {
protected:
	std::string on(std::uint8_t opcode, std::uint32_t psn, std::uint8_t flags = 0,
		       std::uint8_t reason = 0)
	{
		const Bytes bytes = packet(opcode, psn);
		return comment_on({0, 1, 24, bytes, flags, reason}, seen_);
	}
	Retransmissions seen_;
};

TEST_F(Comments, ReasonsAreTold)
{
	EXPECT_EQ(on(4, 1, PIB_CAPTURE_FAILED, PIB_CAPTURE_LOST),
		  "did not pass: lost in the cable");
	EXPECT_EQ(on(4, 2, 0, PIB_CAPTURE_NO_ROUTE), "dropped: no route to its DLID");
	EXPECT_EQ(on(4, 3, 0, PIB_CAPTURE_REORDERED), "overtaken in the cable");
	EXPECT_NE(on(4, 4, 0, 255), "");
}

TEST_F(Comments, EveryReasonHasAText)
{
	for (std::uint8_t reason = 1; reason < __PIB_CAPTURE_REASONS; ++reason)
		EXPECT_GT(on(0x11, 0, PIB_CAPTURE_FAILED, reason).size(), sizeof("did not pass: "));
}

TEST_F(Comments, WhatComesAgainIsARetransmission)
{
	EXPECT_EQ(on(4, 0xfffffe), "");
	EXPECT_EQ(on(4, 0xffffff), "");
	EXPECT_EQ(on(4, 0), "");
	EXPECT_EQ(on(4, 0xffffff), "retransmission");
	EXPECT_EQ(on(4, 1), "");
}

TEST_F(Comments, ThatWhichWasOvertakenIsNone)
{
	EXPECT_EQ(on(4, 10), "");
	EXPECT_EQ(on(4, 12), "");
	EXPECT_EQ(on(4, 11), "");
	EXPECT_EQ(on(4, 11), "retransmission");
}

TEST_F(Comments, NorAreAnswersAndDatagrams)
{
	for (const std::uint8_t opcode :
	     {std::uint8_t{0x11}, std::uint8_t{0x0f}, std::uint8_t{0x64}}) {
		EXPECT_EQ(on(opcode, 7), "");
		EXPECT_EQ(on(opcode, 7), "");
	}
}

TEST_F(Comments, ACopyIsNoRetransmission)
{
	EXPECT_EQ(on(4, 7), "");
	EXPECT_EQ(on(4, 7, PIB_CAPTURE_COPY), "copy");
	EXPECT_EQ(on(4, 7), "retransmission");
	EXPECT_EQ(on(4, 8, PIB_CAPTURE_COPY, PIB_CAPTURE_DUPLICATED), "duplicated by the cable");
	EXPECT_EQ(on(4, 9, PIB_CAPTURE_COPY, PIB_CAPTURE_NO_ROUTE),
		  "dropped: no route to its DLID; copy");
	// datagrams and answers have copies, too
	EXPECT_EQ(on(0x64, 7, PIB_CAPTURE_COPY), "copy");
}

// It stands in the capture a second time, and has not come a second time.
TEST_F(Comments, WhatAQueuePairDropsHasItsReasonOnly)
{
	EXPECT_EQ(on(4, 7), "");
	EXPECT_EQ(on(4, 7, PIB_CAPTURE_JUDGED, PIB_CAPTURE_OUT_OF_SEQUENCE),
		  "dropped by its queue pair: one before it is missing");
	EXPECT_EQ(on(4, 8, PIB_CAPTURE_JUDGED | PIB_CAPTURE_COPY, PIB_CAPTURE_OLD_REQUEST),
		  "dropped by its queue pair: a request that has come before");
	EXPECT_EQ(on(4, 8), "");
}

TEST_F(Comments, UcSendsNothingAgain)
{
	EXPECT_EQ(on(0x24, 7), "");
	EXPECT_EQ(on(0x24, 7), "copy");
	EXPECT_EQ(on(0xa4, 9), "");
	EXPECT_EQ(on(0xa4, 9), "retransmission");
}

TEST_F(Comments, DirectionsAreApart)
{
	EXPECT_EQ(on(4, 7), "");
	EXPECT_EQ(on(4, 7, PIB_CAPTURE_OUT), "");
}

TEST(Records, MalformedOnesAreRefused)
{
	Bytes bytes(sizeof(pib_capture_packet) + 8);
	auto *head = reinterpret_cast<pib_capture_packet *>(bytes.data());
	head->size = static_cast<std::uint32_t>(bytes.size());
	head->captured = 8;
	ASSERT_TRUE(split_records(bytes));
	EXPECT_EQ(split_records(bytes)->front().data.size(), 8U);
	head->captured = 9;
	EXPECT_FALSE(split_records(bytes));
	head->captured = 8;
	head->size = 0;
	EXPECT_FALSE(split_records(bytes));
	EXPECT_FALSE(split_records(View(bytes).first(3)));
}

TEST(Erf, ThePacketIsWhole)
{
	const Bytes bytes = packet(4, 1);
	Bytes record;
	make_erf({1500000000, 1, 24, bytes, 0, 0}, record);
	ASSERT_EQ(record.size(), erf_length(24));
	// One and a half seconds, then the type of InfiniBand.
	EXPECT_EQ(record[3], 0x80);
	EXPECT_EQ(record[4], 1);
	EXPECT_EQ(record[8], 21);
	EXPECT_EQ(record[11], 16 + 24 + 2);
}

TEST(Erf, WhatWasCutShortHasNoCrc)
{
	const Bytes bytes = packet(4, 1);
	Bytes record;
	make_erf({0, 1, 100, bytes, 0, 0}, record);
	EXPECT_EQ(record.size(), 16U + bytes.size());
	EXPECT_EQ(record[15], 102);
}

} // namespace
} // namespace pib::ctl
