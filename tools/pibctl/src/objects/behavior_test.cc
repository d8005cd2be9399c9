// SPDX-License-Identifier: GPL-2.0
#include "objects/behavior.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <set>

namespace pib::ctl {
namespace {

TEST(Behavior, EachBitHasAName)
{
	std::uint32_t all = 0;
	for (const BehaviorName &name : behavior_names()) {
		EXPECT_EQ(all & name.bit, 0U) << name.word;
		EXPECT_EQ(*parse_behaviors(name.word), name.bit);
		EXPECT_EQ(behavior_list(name.bit), name.word);
		all |= name.bit;
	}
	EXPECT_EQ(all, std::uint32_t{PIB_BEHAVIOR_MASK});
	EXPECT_EQ(*parse_behaviors(behavior_list(all)), all);
}

TEST(Behavior, Lists)
{
	EXPECT_EQ(*parse_behaviors("none"), 0U);
	EXPECT_EQ(behavior_list(0), "none");
	EXPECT_EQ(*parse_behaviors("exact-cq,reuse-qpn"),
		  std::uint32_t{PIB_BEHAVIOR_EXACT_CQ | PIB_BEHAVIOR_REUSE_QPN});
	EXPECT_EQ(behavior_list(PIB_BEHAVIOR_EXACT_CQ | PIB_BEHAVIOR_REUSE_QPN),
		  "reuse-qpn,exact-cq");
	EXPECT_EQ(behavior_list(PIB_BEHAVIOR_EXACT_CQ | 1U << 31), "exact-cq,0x80000000");
	for (const auto *wrong : {"", "exact", "exact-cq,", ",exact-cq", "exact-cq,,reuse-qpn",
				  "none,exact-cq", "EXACT-CQ"})
		EXPECT_FALSE(parse_behaviors(wrong)) << wrong;
}

TEST(Behavior, TheSameSeedPicksTheSame)
{
	std::set<std::uint32_t> picked;
	std::uint32_t ever = 0;
	std::uint32_t always = PIB_BEHAVIOR_MASK;
	for (std::uint64_t seed = 0; seed < 100; ++seed) {
		const auto behaviors = pick_behaviors(seed);
		EXPECT_EQ(pick_behaviors(seed), behaviors);
		picked.insert(behaviors);
		ever |= behaviors;
		always &= behaviors;
	}
	EXPECT_EQ(ever, std::uint32_t{PIB_BEHAVIOR_MASK});
	EXPECT_EQ(always, 0U);
	EXPECT_GT(picked.size(), 80U);
}

} // namespace
} // namespace pib::ctl
