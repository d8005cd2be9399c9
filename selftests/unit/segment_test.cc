// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

extern "C" {
#include "../../kernel/proto/segment.h"
}

namespace {

struct Segment {
	pib_segment s{.flags = 1,
		      .tag = 0x1234,
		      .link_id = 0x89ABCDEF,
		      .frame = 0xFEDC,
		      .index = 1,
		      .total = 3,
		      .size = 1400,
		      .first = 17};
	uint8_t bytes[PIB_SEG_HDR_LEN];

	bool parses(uint32_t payload)
	{
		pib_segment out;

		pib_segment_build(&s, bytes);
		return pib_segment_parse(&out, bytes, PIB_SEG_HDR_LEN + payload);
	}
};

TEST(Segment, RoundTrip)
{
	Segment t;
	pib_segment out{};

	pib_segment_build(&t.s, t.bytes);
	EXPECT_EQ(t.bytes[0], PIB_DG_VERSION << 4 | PIB_DG_SEGMENT);
	ASSERT_TRUE(pib_segment_parse(&out, t.bytes, PIB_SEG_HDR_LEN + 1400));
	EXPECT_EQ(out.flags, 1);
	EXPECT_EQ(out.tag, 0x1234);
	EXPECT_EQ(out.link_id, 0x89ABCDEFu);
	EXPECT_EQ(out.frame, 0xFEDC);
	EXPECT_EQ(out.index, 1);
	EXPECT_EQ(out.total, 3);
	EXPECT_EQ(out.size, 1400);
	EXPECT_EQ(out.first, 17);
}

// All but the last are as long as the header says; the last is no longer, and none is empty.
TEST(Segment, Lengths)
{
	Segment t;

	EXPECT_FALSE(t.parses(1399));
	EXPECT_FALSE(t.parses(1401));
	EXPECT_FALSE(t.parses(0));
	t.s.index = 2;
	EXPECT_TRUE(t.parses(1));
	EXPECT_TRUE(t.parses(1400));
	EXPECT_FALSE(t.parses(1401));
	EXPECT_FALSE(t.parses(0));
}

TEST(Segment, Counts)
{
	Segment t;

	t.s.index = 3;
	EXPECT_FALSE(t.parses(1400));
	t.s.index = t.s.total = 0;
	EXPECT_FALSE(t.parses(1400));
	t.s.total = 65;
	t.s.size = 256;
	EXPECT_FALSE(t.parses(256));
	t.s.total = 64;
	EXPECT_TRUE(t.parses(256));
}

// Nobody cuts a frame into crumbs, each of which costs more than it brings.
TEST(Segment, SmallSize)
{
	Segment t;

	t.s.size = 255;
	EXPECT_FALSE(t.parses(255));
	t.s.index = 2;
	EXPECT_FALSE(t.parses(255));
	t.s.index = 0;
	t.s.total = 1;
	EXPECT_TRUE(t.parses(255));
	EXPECT_TRUE(t.parses(1));
}

// A frame is shorter than 64 KiB.
TEST(Segment, FrameSize)
{
	Segment t;

	t.s.total = 64;
	t.s.size = 1024;
	EXPECT_FALSE(t.parses(1024));
	t.s.size = 1023;
	EXPECT_TRUE(t.parses(1023));
}

} // namespace
