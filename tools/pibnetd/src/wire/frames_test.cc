// SPDX-License-Identifier: GPL-2.0
#include "wire/frames.h"

#include <gtest/gtest.h>

#include <memory>

namespace pib::netd {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// One segment of a frame of this many, each of 1023 bytes.
std::optional<Frame> add(Frames &frames, std::uint16_t number, unsigned index, unsigned total,
			 std::size_t length, std::uint64_t now)
{
	const pib_segment s{.flags = 0,
			    .tag = 1,
			    .link_id = 2,
			    .frame = number,
			    .index = static_cast<std::uint8_t>(index),
			    .total = static_cast<std::uint8_t>(total),
			    .size = 1023,
			    .first = 0};
	return frames.add(s, Bytes(length, static_cast<std::uint8_t>(index)), false, now);
}

TEST(Frames, AreWholeInWhateverOrderTheyCome)
{
	const std::vector<std::vector<unsigned>> orders = {
		{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}, {0, 3, 1, 2}};
	for (const auto &order : orders) {
		Frames frames;
		std::optional<Frame> done;
		for (const unsigned i : order) {
			EXPECT_FALSE(done);
			done = add(frames, 1, i, 4, i == 3 ? 10 : 1023, 5);
		}
		ASSERT_TRUE(done && done->whole());
		ASSERT_EQ(done->runs.size(), 1u);
		const Bytes &bytes = done->runs[0].bytes;
		ASSERT_EQ(bytes.size(), 3 * 1023u + 10);
		for (std::size_t at = 0; at < bytes.size(); at++)
			ASSERT_EQ(bytes[at], at / 1023);
		EXPECT_EQ(frames.held(), 0u);
	}
}

TEST(Frames, CostWhatHasComeOfThem)
{
	Frames frames;
	std::vector<Frame> out;
	for (std::uint16_t n = 0; n < 1000; n++)
		if (auto done = add(frames, n, 63, 64, 1, n))
			out.push_back(std::move(*done));
	EXPECT_EQ(out.size(), 1000 - Frames::kPlaces);
	EXPECT_EQ(frames.held(), Frames::kPlaces);
	std::size_t capacity = 0;
	for (const Frame &frame : out)
		for (const auto &run : frame.runs)
			capacity += run.bytes.capacity();
	EXPECT_LE(capacity, 4 * out.size());
}

// A slow link takes its time, above all where it is fair to many flows.
TEST(Frames, AreForgottenWhereNothingComesAnyMore)
{
	Frames frames;
	const std::uint64_t ms = PIB_NSEC_PER_MSEC;
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_FALSE(add(frames, 1, i, 4, 1023, 60 * ms * i));
		EXPECT_EQ(frames.expire(60 * ms * i + 59 * ms), 0u);
	}
	EXPECT_TRUE(add(frames, 1, 3, 4, 10, 180 * ms));
	EXPECT_FALSE(add(frames, 2, 0, 2, 1023, 200 * ms));
	EXPECT_FALSE(add(frames, 2, 1, 2, 10, 300 * ms)) << "of another frame";
	EXPECT_EQ(frames.expire(399 * ms), 1u);
	EXPECT_EQ(frames.expire(400 * ms), 1u);
	EXPECT_EQ(frames.held(), 0u);
}

TEST(Frames, OfALinkAreLimited)
{
	Frames frames;
	std::size_t out = 0;
	for (std::uint16_t n = 0; n < Frames::kPlaces + 4; n++)
		for (unsigned i = 0; i < 63; i++) {
			if (const auto done = add(frames, n, i, 64, 1023, 7)) {
				EXPECT_EQ(done->number, out++);
				EXPECT_FALSE(done->whole());
			}
			EXPECT_LE(frames.held(), Frames::kOfLink);
		}
	EXPECT_EQ(out, 4u);
}

TEST(Frames, AWholeOneIsGivenOutAtOnceAlsoWhenRoomIsMadeForIt)
{
	FrameMemory all{.held = Frames::kOfAll};
	Frames frames;
	frames.share(all);
	for (unsigned i = 0; i < 32; i++)
		EXPECT_FALSE(add(frames, 1, i, 64, 1023, 7));
	for (unsigned i = 0; i < 32; i++)
		EXPECT_FALSE(add(frames, 2, i, 33, 1023, 7));
	const auto done = add(frames, 2, 32, 33, 1023, 7);
	ASSERT_TRUE(done);
	EXPECT_EQ(done->number, 2);
	EXPECT_TRUE(done->whole());
	EXPECT_EQ(frames.held(), 0u);
	all.held = 0;
}

TEST(Frames, OneOfASegmentThrowsNoOtherOut)
{
	Frames frames;
	for (std::uint16_t n = 0; n < Frames::kPlaces; n++)
		EXPECT_FALSE(add(frames, n, 0, 2, 1023, 5));
	const auto done = add(frames, 1000, 0, 1, 700, 5);
	ASSERT_TRUE(done && done->whole());
	EXPECT_EQ(done->runs[0].bytes, Bytes(700));
	EXPECT_EQ(frames.held(), Frames::kPlaces * 1023);
	for (std::uint16_t n = 0; n < Frames::kPlaces; n++)
		EXPECT_TRUE(add(frames, n, 1, 2, 10, 5)) << n;
}

TEST(Frames, ThoseThatAreLostForWantOfRoomAreCounted)
{
	Frames frames;
	for (std::uint16_t n = 0; n < Frames::kPlaces; n++)
		add(frames, n, 0, 2, 1023, 5);
	constexpr std::uint64_t kLater = 5 + 200 * PIB_NSEC_PER_MSEC;
	EXPECT_FALSE(add(frames, 1000, 0, 2, 1023, kLater)) << "the oldest is stale";
	EXPECT_EQ(frames.expire(5), 1u);
	EXPECT_EQ(frames.expire(5), 0u);
	EXPECT_EQ(frames.expire(kLater), Frames::kPlaces - 1);
}

TEST(Frames, OfAllLinksAreLimitedButForOneOfEach)
{
	FrameMemory all;
	std::vector<std::unique_ptr<Frames>> links;
	for (unsigned link = 0; link < 100; link++) {
		links.push_back(std::make_unique<Frames>());
		links.back()->share(all);
		for (std::uint16_t n = 0; n < 3; n++)
			for (unsigned i = 0; i < 63; i++)
				add(*links.back(), n, i, 64, 1023, 7);
		EXPECT_GE(links.back()->held(), 63 * 1023u);
	}
	EXPECT_LE(all.held, Frames::kOfAll + 100 * 0xFFFF);
	for (auto &link : links)
		EXPECT_LE(link->expire(7 + 100 * PIB_NSEC_PER_MSEC), 3u);
	EXPECT_EQ(all.held, 0u);
	add(*links[0], 9, 0, 64, 1023, 7);
	EXPECT_EQ(all.held, 1023u);
	links.clear();
	EXPECT_EQ(all.held, 0u);
}

} // namespace
} // namespace pib::netd
