// SPDX-License-Identifier: GPL-2.0
#include "model/words/fault_words.h"

#include <gtest/gtest.h>

namespace pib::inline model {
namespace {

TEST(FaultWords, Probability)
{
	const auto loss = [](std::string_view word) {
		return parse_probability("loss", word, 1e9);
	};
	EXPECT_EQ(*loss("1%"), 10'000'000U);
	EXPECT_EQ(*loss("0.01"), 10'000'000U);
	EXPECT_EQ(*loss("1e-9"), 1U);
	EXPECT_EQ(*loss("100%"), 1'000'000'000U);
	EXPECT_EQ(*loss("0"), 0U);
	for (const auto word : {"", "%", "1.5", "101%", "-1", "nan", "inf", "1 %", "1e-12", "a"})
		EXPECT_FALSE(loss(word)) << word;
	EXPECT_EQ(*parse_probability("bit-errors", "1e-12", 1e15, 0.01), 1000U);
	EXPECT_FALSE(parse_probability("bit-errors", "0.02", 1e15, 0.01));
}

TEST(FaultWords, Duration)
{
	const auto latency = [](std::string_view word) {
		return parse_duration("latency", word, 10'000'000'000);
	};
	EXPECT_EQ(*latency("500ns"), 500U);
	EXPECT_EQ(*latency("10us"), 10'000U);
	EXPECT_EQ(*latency("1.5ms"), 1'500'000U);
	EXPECT_EQ(*latency("10s"), 10'000'000'000U);
	EXPECT_EQ(*latency("0"), 0U);
	for (const auto word : {"", "10", "11s", "-1us", "s", "1m", "1 us"})
		EXPECT_FALSE(latency(word)) << word;
}

TEST(FaultWords, Rate)
{
	EXPECT_EQ(*parse_rate("2.5G"), 2'500'000'000U);
	EXPECT_EQ(*parse_rate("100M"), 100'000'000U);
	EXPECT_EQ(*parse_rate("64000"), 64'000U);
	EXPECT_EQ(*parse_rate("none"), 0U);
	for (const auto word : {"", "0", "fast", "1g", "-1G", "2P", "100001G"})
		EXPECT_FALSE(parse_rate(word)) << word;
}

TEST(FaultWords, Buffer)
{
	EXPECT_EQ(*parse_buffer("16k"), 16384U);
	EXPECT_EQ(*parse_buffer("4352"), 4352U);
	EXPECT_EQ(*parse_buffer("none"), 0U);
	for (const auto word : {"", "0", "4k", "129k", "-8k", "1M", "big"})
		EXPECT_FALSE(parse_buffer(word)) << word;
}

TEST(FaultWords, Flap)
{
	EXPECT_EQ(*parse_flap("10s/500ms"), std::pair(10'000U, 500U));
	EXPECT_EQ(*parse_flap("none"), std::pair(0U, 0U));
	for (const auto word : {"", "10s", "0/1s", "1s/0", "1us/1s", "2h/1s", "1s/1s/1s"})
		EXPECT_FALSE(parse_flap(word)) << word;
}

TEST(FaultWords, WidthAndSpeed)
{
	EXPECT_EQ(*parse_width("4x"), 2);
	EXPECT_EQ(*parse_width("12X"), 8);
	EXPECT_EQ(*parse_width("2x"), 16);
	EXPECT_EQ(*parse_speed("SDR"), 1);
	EXPECT_EQ(*parse_speed("xdr"), 256);
	for (const auto word : {"", "3x", "4"})
		EXPECT_FALSE(parse_width(word)) << word;
	for (const auto word : {"", "fdr10", "25"})
		EXPECT_FALSE(parse_speed(word)) << word;
}

} // namespace
} // namespace pib::inline model
