// SPDX-License-Identifier: GPL-2.0
#include "netlink/attributes.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <random>

#include "netlink/fake_kernel.h"

namespace pib::ctl {
namespace {

using fake::join;

TEST(Attributes, ReadsEachKind)
{
	const Bytes stream = join({fake::u8(1, 7), fake::u16(2, 300), fake::u32(3, 70000),
				   fake::u64(4, 1ULL << 40), fake::text(5, "eth0"), fake::flag(6),
				   fake::nest(7, {fake::u32(1, 9)})});
	const Attributes attributes(stream);
	EXPECT_TRUE(attributes.intact());
	EXPECT_EQ(attributes.number<std::uint8_t>(1), 7);
	EXPECT_EQ(attributes.number<std::uint16_t>(2), 300);
	EXPECT_EQ(attributes.number<std::uint32_t>(3), 70000U);
	EXPECT_EQ(attributes.number<std::uint64_t>(4), 1ULL << 40);
	EXPECT_EQ(attributes.text(5), "eth0");
	EXPECT_TRUE(attributes.has(6));
	EXPECT_EQ(attributes.nest(7)->number<std::uint32_t>(1), 9U);
	EXPECT_FALSE(attributes.has(8));
}

TEST(Attributes, NumbersOfOtherSizesAreTaken)
{
	const Bytes stream = join({fake::u32(1, 5), fake::u32(2, 256)});
	const Attributes attributes(stream);
	EXPECT_EQ(attributes.number<std::uint8_t>(1), 5);
	EXPECT_FALSE(attributes.number<std::uint8_t>(2));
}

TEST(Attributes, NumbersOfOddSizesAreNot)
{
	const Bytes stream = join({fake::binary(1, {1, 2, 3}), fake::flag(2)});
	const Attributes attributes(stream);
	EXPECT_FALSE(attributes.number<std::uint64_t>(1));
	EXPECT_FALSE(attributes.number<std::uint64_t>(2));
}

TEST(Attributes, TextNeedsNoTerminator)
{
	const Bytes stream = fake::binary(1, {'e', 't', 'h'});
	EXPECT_EQ(Attributes(stream).text(1), "eth");
}

TEST(Attributes, RepeatedNestsAreAllFound)
{
	const Bytes stream = join(
		{fake::nest(1, {fake::u8(1, 1)}), fake::u8(2, 0), fake::nest(1, {fake::u8(1, 2)})});
	const auto nests = Attributes(stream).nests(1);
	ASSERT_EQ(nests.size(), 2U);
	EXPECT_EQ(nests[1].number<std::uint8_t>(1), 2);
}

TEST(Attributes, StopsAtAHeaderCutShort)
{
	Bytes stream = fake::u32(1, 5);
	stream.push_back(8);
	const Attributes attributes(stream);
	EXPECT_FALSE(attributes.intact());
	EXPECT_EQ(attributes.number<std::uint32_t>(1), 5U);
}

TEST(Attributes, StopsAtLengthsThatLie)
{
	for (const std::uint8_t length : Bytes{0, 3, 9, 255}) {
		Bytes stream = fake::u32(1, 5);
		stream[0] = length;
		const Attributes attributes(stream);
		EXPECT_FALSE(attributes.intact());
		EXPECT_TRUE(attributes.all().empty());
	}
}

TEST(Attributes, TheLastMayLackItsPadding)
{
	Bytes stream = fake::u8(1, 5);
	stream.resize(5);
	const Attributes attributes(stream);
	EXPECT_TRUE(attributes.intact());
	EXPECT_EQ(attributes.number<std::uint8_t>(1), 5);
}

TEST(Attributes, SurvivesNoise)
{
	std::mt19937 random(1);
	for (int round = 0; round < 20000; ++round) {
		Bytes stream(random() % 64);
		for (auto &byte : stream)
			byte = static_cast<std::uint8_t>(random() % (round % 2 ? 16 : 256));
		const Attributes attributes(stream);
		for (const Attribute &attribute : attributes.all()) {
			(void)attributes.text(attribute.type);
			(void)attributes.number<std::uint64_t>(attribute.type);
			(void)attributes.nests(attribute.type);
		}
	}
}

} // namespace
} // namespace pib::ctl
