// SPDX-License-Identifier: GPL-2.0
#include "capture/pcapng.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pib::ctl::pcapng {
namespace {

std::uint32_t word_at(const Bytes &bytes, std::size_t at)
{
	std::uint32_t value = 0;
	std::memcpy(&value, bytes.data() + at, sizeof(value));
	return value;
}

bool is_block(const Bytes &bytes, std::uint32_t type)
{
	return bytes.size() >= 12 && bytes.size() % 4 == 0 && word_at(bytes, 0) == type &&
	       word_at(bytes, 4) == bytes.size() &&
	       word_at(bytes, bytes.size() - 4) == bytes.size();
}

bool holds(const Bytes &bytes, std::string_view text)
{
	return std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size())
		       .find(text) != std::string_view::npos;
}

TEST(Pcapng, SectionSaysTheByteOrder)
{
	Bytes bytes;
	put_section(bytes, "abcde");
	EXPECT_TRUE(is_block(bytes, 0x0a0d0d0a));
	EXPECT_EQ(word_at(bytes, 8), 0x1a2b3c4dU);
	EXPECT_TRUE(holds(bytes, "abcde"));
}

TEST(Pcapng, InterfaceIsErfInNanoseconds)
{
	Bytes bytes;
	put_interface(bytes, {"pib0/1", "a port", "in qp 5", 80});
	EXPECT_TRUE(is_block(bytes, 1));
	EXPECT_EQ(word_at(bytes, 8), 197U);
	EXPECT_EQ(word_at(bytes, 12), 80U);
	EXPECT_TRUE(holds(bytes, "pib0/1"));
	EXPECT_TRUE(holds(bytes, std::string_view("\0in qp 5", 8)));
	EXPECT_TRUE(holds(bytes, std::string_view("\x09\0\x01\0\x09\0\0\0", 8)));
}

TEST(Pcapng, PacketIsPaddedAndHasItsLengths)
{
	const Bytes data = {1, 2, 3, 4, 5};
	Bytes bytes;
	put_packet(bytes, {7, 0x100000002, 99, data, true, ""});
	EXPECT_TRUE(is_block(bytes, 6));
	EXPECT_EQ(word_at(bytes, 8), 7U);
	EXPECT_EQ(word_at(bytes, 12), 1U);
	EXPECT_EQ(word_at(bytes, 16), 2U);
	EXPECT_EQ(word_at(bytes, 20), 5U);
	EXPECT_EQ(word_at(bytes, 24), 99U);
	// 5 bytes and 3 of pad, flags (8), end of options (4), length
	EXPECT_EQ(bytes.size(), 28U + 8 + 8 + 4 + 4);
	EXPECT_EQ(word_at(bytes, 36), 2U | 4U << 16);
	EXPECT_EQ(word_at(bytes, 40), 2U);
}

TEST(Pcapng, CommentsStandBehindTheData)
{
	Bytes bytes;
	put_packet(bytes, {0, 0, 0, {}, false, "lost"});
	EXPECT_TRUE(is_block(bytes, 6));
	EXPECT_TRUE(holds(bytes, std::string_view("\x01\0\x04\0lost", 8)));
}

TEST(Pcapng, StatisticsCountWhatWasLostAsReceived)
{
	Bytes bytes;
	put_statistics(bytes, {1, 0, 10, 3});
	EXPECT_TRUE(is_block(bytes, 5));
	EXPECT_EQ(word_at(bytes, 24), 13U);
	EXPECT_EQ(word_at(bytes, 36), 3U);
}

} // namespace
} // namespace pib::ctl::pcapng
