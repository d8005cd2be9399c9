// SPDX-License-Identifier: GPL-2.0
#include "commands/arguments.h"

#include <gtest/gtest.h>

namespace pib::ctl {
namespace {

const std::vector<Place> kPlaces = {{"NAME", ""}, {"OTHER", "", false}};
const std::vector<Keyword> kKeywords = {
	{"netdev", "DEV", "", true}, {"flag", "", ""}, {"peer", "ADDR", "", false, true}};

Result<Arguments> read(const std::vector<std::string> &words)
{
	return read_arguments(kPlaces, kKeywords, words);
}

TEST(Arguments, TakesPlacesThenKeywordsInAnyOrder)
{
	const auto arguments = read({"a", "b", "flag", "peer", "1", "netdev", "eth0", "peer", "2"});
	ASSERT_TRUE(arguments);
	EXPECT_EQ(arguments->one("NAME"), "a");
	EXPECT_EQ(arguments->maybe("OTHER"), "b");
	EXPECT_TRUE(arguments->has("flag"));
	EXPECT_EQ(arguments->all("peer"), (std::vector<std::string>{"1", "2"}));
}

TEST(Arguments, OptionalPlacesGiveWayToKeywords)
{
	const auto arguments = read({"a", "netdev", "eth0"});
	ASSERT_TRUE(arguments);
	EXPECT_FALSE(arguments->has("OTHER"));
}

TEST(Arguments, RequiredPlacesTakeAnyWord)
{
	const auto arguments = read({"netdev", "netdev", "peer"});
	ASSERT_TRUE(arguments);
	EXPECT_EQ(arguments->one("NAME"), "netdev");
	EXPECT_EQ(arguments->one("netdev"), "peer");
}

TEST(Arguments, RestTakesAllBehindOptions)
{
	const std::vector<Place> places = {{"WORDS", "", true, true}};
	const std::vector<Keyword> options = {{"-e", "", ""}};
	const auto arguments = read_arguments(places, options, {"-e", "a", "-e", "b"});
	ASSERT_TRUE(arguments);
	EXPECT_TRUE(arguments->has("-e"));
	EXPECT_EQ(arguments->all("WORDS"), (std::vector<std::string>{"a", "-e", "b"}));
	EXPECT_FALSE(read_arguments(places, options, {"a"})->has("-e"));
	EXPECT_EQ(read_arguments(places, options, {"-e"}).error().text, "WORDS is missing");
	EXPECT_EQ(read_arguments(places, options, {"-e", "-e", "a"}).error().text,
		  "'-e' is given twice");
}

TEST(Arguments, RefusalsSayWhy)
{
	EXPECT_EQ(read({}).error().text, "NAME is missing");
	EXPECT_EQ(read({"a"}).error().text, "'netdev DEV' is missing");
	EXPECT_EQ(read({"a", "netdev"}).error().text, "'netdev' must be followed by DEV");
	EXPECT_EQ(read({"a", "netdev", "x", "netdev", "y"}).error().text,
		  "'netdev' is given twice");
	EXPECT_EQ(read({"a", "b", "c"}).error().text,
		  "'c' is not known here; accepted: netdev, flag, peer");
	EXPECT_EQ(read_arguments({}, {}, {"c"}).error().text, "'c' is one word too many");
}

} // namespace
} // namespace pib::ctl
