// SPDX-License-Identifier: GPL-2.0
#include "inject/script.h"

#include <gtest/gtest.h>

#include <sstream>

namespace pib::ctl {
namespace {

Result<std::vector<ScriptStep>> parse(const std::string &text, const ScriptWords &given = {})
{
	std::istringstream in(text);
	return parse_script(in, given);
}

std::string refusal(const std::string &text, const ScriptWords &given = {})
{
	const auto steps = parse(text, given);
	return steps ? "" : steps.error().text;
}

TEST(Script, TimesAndWords)
{
	const auto steps =
		parse("# a bug\n\n0 inject pib0 qp 17 drop 3 # three\n"
		      "+500ms\tlink set pib0/1 loss 1%\n+1s inject del pib0 all\n2s add pib1\n");
	ASSERT_TRUE(steps);
	ASSERT_EQ(steps->size(), 4u);
	EXPECT_EQ((*steps)[0].line, 3u);
	EXPECT_EQ((*steps)[0].at, 0u);
	EXPECT_EQ((*steps)[0].words,
		  (std::vector<std::string>{"inject", "pib0", "qp", "17", "drop", "3"}));
	EXPECT_EQ((*steps)[1].at, 500'000'000u);
	EXPECT_EQ((*steps)[2].at, 1'500'000'000u);
	EXPECT_EQ((*steps)[3].at, 2'000'000'000u);
	EXPECT_TRUE(parse("")->empty());
}

TEST(Script, GivenWords)
{
	const auto steps = parse("0 inject $hca qp $qp drop 1\n0 link set $hca/1 loss 0",
				 {{"hca", "pib0"}, {"qp", "17"}});
	ASSERT_TRUE(steps);
	EXPECT_EQ((*steps)[0].words[1], "pib0");
	EXPECT_EQ((*steps)[0].words[3], "17");
	EXPECT_EQ((*steps)[1].words[2], "pib0/1");
	EXPECT_EQ(refusal("0 inject $hca qp 1 drop 1"),
		  "line 1: '$hca' is not given: with hca=WORD says what it is");
	EXPECT_EQ(refusal("0 add pib0", {{"qp", "17"}}), "nothing in the script is '$qp'");
}

TEST(Script, Mistakes)
{
	EXPECT_NE(refusal("inject pib0 fatal").find("line 1: the time must be"), std::string::npos);
	EXPECT_NE(refusal("1d add pib0").find("line 1"), std::string::npos);
	EXPECT_NE(refusal("-1s add pib0").find("line 1"), std::string::npos);
	EXPECT_EQ(refusal("0 add pib0\n1s\n"), "line 2: a command is missing behind the time");
	EXPECT_EQ(refusal("2s add pib0\n1s add pib1\n"), "line 2: the line before is later");
	EXPECT_EQ(refusal("0 add $\n").find("line 1: '$' is not given"), 0u);
}

} // namespace
} // namespace pib::ctl
