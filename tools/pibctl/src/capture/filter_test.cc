// SPDX-License-Identifier: GPL-2.0
#include "capture/filter.h"

#include <gtest/gtest.h>
#include <linux/pib_capture.h>

namespace pib::ctl {
namespace {

TEST(CaptureFilter, NumbersInBothBases)
{
	EXPECT_EQ(*parse_match("qp", "18"), (CaptureMatch{PIB_CAPTURE_QP, 18, 0xffffff}));
	EXPECT_EQ(*parse_match("lid", "0xc000"), (CaptureMatch{PIB_CAPTURE_LID, 0xc000, 0xffff}));
	EXPECT_EQ(*parse_match("vl", "15"), (CaptureMatch{PIB_CAPTURE_VL, 15, 15}));
}

TEST(CaptureFilter, Masks)
{
	EXPECT_EQ(*parse_match("opcode", "0x64/0xe0"),
		  (CaptureMatch{PIB_CAPTURE_OPCODE, 0x60, 0xe0}));
}

TEST(CaptureFilter, Names)
{
	EXPECT_EQ(*parse_match("opcode", "rc-ack"), (CaptureMatch{PIB_CAPTURE_OPCODE, 0x11, 0xff}));
	EXPECT_EQ(*parse_match("class", "sm"), (CaptureMatch{PIB_CAPTURE_CLASS, 1, 0x7f}));
	EXPECT_FALSE(parse_match("qp", "sm"));
}

TEST(CaptureFilter, MembershipDoesNotCount)
{
	EXPECT_EQ(*parse_match("pkey", "0xffff"), (CaptureMatch{PIB_CAPTURE_PKEY, 0x7fff, 0x7fff}));
	EXPECT_EQ(*parse_match("pkey", "0xffff/0xffff"),
		  (CaptureMatch{PIB_CAPTURE_PKEY, 0xffff, 0xffff}));
}

TEST(CaptureFilter, WhatIsNoNumberIsRefused)
{
	for (const auto *word : {"", "x", "0x", "-1", "16777216", "1/", "/1", "1/2/3", "1 "}) {
		const auto match = parse_match("qp", word);
		ASSERT_FALSE(match) << word;
		EXPECT_TRUE(match.error().usage);
	}
	EXPECT_NE(parse_match("opcode", "nonesuch").error().text.find("rc-ack"), std::string::npos);
}

} // namespace
} // namespace pib::ctl
