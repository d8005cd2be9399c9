// SPDX-License-Identifier: GPL-2.0
#include "model/words/ib_names.h"

#include <gtest/gtest.h>

namespace pib::inline model {
namespace {

TEST(IbNames, SpellsStatesAsRdmaDoes)
{
	EXPECT_EQ(state_name(1), "DOWN");
	EXPECT_EQ(state_name(2), "INIT");
	EXPECT_EQ(state_name(3), "ARMED");
	EXPECT_EQ(state_name(4), "ACTIVE");
	EXPECT_EQ(state_name(200), "UNKNOWN");
	EXPECT_EQ(physical_state_name(2), "POLLING");
	EXPECT_EQ(physical_state_name(5), "LINK_UP");
	EXPECT_EQ(physical_state_name(200), "UNKNOWN");
}

TEST(IbNames, RatesAreThoseOfTheWholePort)
{
	EXPECT_EQ(rate(2, 1), 10.0);
	EXPECT_EQ(rate(2, 16), 56.0);
	EXPECT_EQ(rate(2, 32), 100.0);
	EXPECT_EQ(rate(1, 1), 2.5);
	EXPECT_EQ(width_name(8), "12X");
	EXPECT_EQ(speed_name(128), "NDR");
}

TEST(IbNames, CodesWithoutMeaningHaveNone)
{
	EXPECT_FALSE(rate(0, 1));
	EXPECT_FALSE(rate(2, 0));
	EXPECT_FALSE(width_name(3));
	EXPECT_FALSE(speed_name(3));
}

} // namespace
} // namespace pib::inline model
