// SPDX-License-Identifier: GPL-2.0
// Counters of sealed datagrams: each is taken once, in whatever order.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

extern "C" {
#include "../../kernel/proto/seal.h"
}

namespace {

constexpr uint64_t kWindow = PIB_REPLAY_WINDOW;

TEST(Replay, InOrderEachOnce)
{
	pib_replay r{};

	for (uint64_t i = 1; i <= 3 * kWindow; i++) {
		ASSERT_TRUE(pib_replay_take(&r, i)) << i;
		ASSERT_FALSE(pib_replay_take(&r, i)) << i;
	}
	EXPECT_EQ(r.top, 3 * kWindow);
}

TEST(Replay, ZeroIsNobodys)
{
	pib_replay r{};

	EXPECT_FALSE(pib_replay_take(&r, 0));
	EXPECT_TRUE(pib_replay_take(&r, 1));
	EXPECT_FALSE(pib_replay_take(&r, 0));
}

TEST(Replay, TheWindowEndsWhereItSays)
{
	// The highest counter is each bit of a word in turn.
	for (uint64_t top = 4 * kWindow; top < 4 * kWindow + 64; top++) {
		pib_replay r{};

		ASSERT_TRUE(pib_replay_take(&r, top));
		EXPECT_TRUE(pib_replay_take(&r, top - kWindow + 1));
		EXPECT_FALSE(pib_replay_take(&r, top - kWindow + 1));
		EXPECT_FALSE(pib_replay_take(&r, top - kWindow));
		EXPECT_FALSE(pib_replay_take(&r, top - kWindow - 1));
		EXPECT_FALSE(pib_replay_take(&r, 1));
		for (uint64_t i = top - kWindow + 2; i < top; i++)
			ASSERT_TRUE(pib_replay_take(&r, i)) << top << " " << i;
	}
}

TEST(Replay, AStepOfAnySizeForgetsWhatIsBehind)
{
	for (const uint64_t step :
	     {uint64_t{1}, uint64_t{63}, uint64_t{64}, uint64_t{65}, kWindow - 1, kWindow,
	      kWindow + 1, kWindow + 63, kWindow + 64, kWindow + 65, uint64_t{1} << 40}) {
		pib_replay r{};

		for (uint64_t i = 1; i <= kWindow; i++)
			ASSERT_TRUE(pib_replay_take(&r, i));
		const uint64_t top = kWindow + step;
		ASSERT_TRUE(pib_replay_take(&r, top)) << step;
		for (uint64_t i = top > 2 * kWindow ? top - 2 * kWindow : 1; i < top; i++) {
			const bool inside = top - i < kWindow;

			ASSERT_EQ(pib_replay_take(&r, i), inside && i > kWindow)
				<< step << " " << i;
		}
	}
}

TEST(Replay, TheLastCounterOfAll)
{
	pib_replay r{};

	EXPECT_TRUE(pib_replay_take(&r, ~0ULL));
	EXPECT_FALSE(pib_replay_take(&r, ~0ULL));
	EXPECT_TRUE(pib_replay_take(&r, ~0ULL - kWindow + 1));
	EXPECT_FALSE(pib_replay_take(&r, ~0ULL - kWindow));
}

// Against a set that remembers everything.
TEST(Replay, InDisorderAsASetWould)
{
	std::mt19937_64 random(1);

	for (const uint64_t spread : {uint64_t{100}, kWindow, 3 * kWindow}) {
		pib_replay r{};
		std::set<uint64_t> seen;
		uint64_t base = 1, top = 0;

		for (unsigned i = 0; i < 200000; i++, base += random() % 3) {
			const uint64_t counter = base + random() % spread;
			const bool late = counter < top && top - counter >= kWindow;

			ASSERT_EQ(pib_replay_take(&r, counter), !late && !seen.contains(counter));
			if (!late)
				seen.insert(counter);
			top = std::max(top, counter);
		}
	}
}

TEST(Seal, TheLabelNamesBothSessions)
{
	uint8_t out[PIB_SEAL_LABEL_LEN];

	pib_seal_label(0x0102030405060708, 0x1112131415161718, out);
	EXPECT_EQ(std::string(out, out + 16), "pib sealed data ");
	EXPECT_EQ(out[16], 0x01);
	EXPECT_EQ(out[23], 0x08);
	EXPECT_EQ(out[24], 0x11);
	EXPECT_EQ(out[31], 0x18);
}

} // namespace
