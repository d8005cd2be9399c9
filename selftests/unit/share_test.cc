// SPDX-License-Identifier: GPL-2.0
// Work that others may have done for them: bursts of it, and in the long run a quarter of the time.
#include <gtest/gtest.h>

extern "C" {
#include "../../kernel/proto/share.h"
}

namespace {

constexpr uint64_t kMs = 1000000;

// Does things of @cost ns, one after another for @span ns; how many, and how many more were refused.
struct Done {
	uint64_t done = 0;
	uint64_t refused = 0;
};

Done busy(pib_share &s, uint64_t from, uint64_t span, uint64_t cost, uint64_t pause)
{
	Done d;

	for (uint64_t now = from; now < from + span; now += pause) {
		if (!pib_share_left(&s, now)) {
			d.refused++;
			continue;
		}
		pib_share_spend(&s, now, now + cost);
		now += cost;
		d.done++;
	}
	return d;
}

TEST(Share, FloodsGetAQuarter)
{
	pib_share s{};
	Done d = busy(s, 1, 60000 * kMs, 5 * kMs, 10000);

	EXPECT_GT(d.refused, 0u);
	EXPECT_GE(d.done * 5, 60000u / PIB_SHARE_OF);
	EXPECT_LE(d.done * 5, 60000u / PIB_SHARE_OF + 260)
		<< "a quarter of the time, and the burst";
}

TEST(Share, BurstsAndWhatIsCheapAreNotRefused)
{
	pib_share s{};

	// A sweep over 512 ports, 300 us each as on a slow machine, on end.
	EXPECT_EQ(busy(s, 1, 512 * 300000, 300000, 1).refused, 0u);
	// For ever, every ms one that takes 100 us.
	EXPECT_EQ(busy(s, 1000 * kMs, 60000 * kMs, 100000, 900000).refused, 0u);
}

TEST(Share, OneThatIsHeldUpIsNotCharged)
{
	pib_share s{};

	pib_share_spend(&s, 1, 10000 * kMs);
	EXPECT_TRUE(pib_share_left(&s, 10000 * kMs));
}

TEST(Share, WhatIsNotUsedIsNotSaved)
{
	pib_share s{};

	EXPECT_LE(busy(s, 3600000 * kMs, 1000 * kMs, 5 * kMs, 10000).done * 5, 505u);
}

} // namespace
