// SPDX-License-Identifier: GPL-2.0
#include "model/words/dscp.h"

#include <gtest/gtest.h>

namespace pib::inline model {
namespace {

TEST(Dscp, WhatIsNotNamedIsZero)
{
	const auto dscp = parse_dscp("3=46,15=8,0=63");
	ASSERT_TRUE(dscp);
	EXPECT_EQ(*dscp, (DscpTable{63, 0, 0, 46, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8}));
	EXPECT_EQ(format_dscp(*dscp), "0=63,3=46,15=8");
}

TEST(Dscp, NoneIsAllZero)
{
	const auto dscp = parse_dscp("none");
	ASSERT_TRUE(dscp);
	EXPECT_EQ(*dscp, DscpTable{});
	EXPECT_EQ(format_dscp(*dscp), "none");
}

TEST(Dscp, RefusesWhatIsNoTable)
{
	for (const char *list : {"", "3", "=", "3=", "=46", "16=1", "3=64", "3=46,", ",3=46",
				 "3=46,3=46", "-1=3", "3=46;4=1", "none,3=46"})
		EXPECT_FALSE(parse_dscp(list)) << list;
}

} // namespace
} // namespace pib::inline model
