// SPDX-License-Identifier: GPL-2.0
#include "manners/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pib::ctl {
namespace {

using Json = nlohmann::json;

MannerFinding finding(Manner manner, std::uint64_t count, bool is_reaping)
{
	MannerFinding finding;
	finding.manner = manner;
	finding.count = count;
	finding.first = {"pib0",    "qp", 17,	  4711,
			 "program", 4712, "5.25", "modify_qp sq_psn 16777216",
			 {},	    {}};
	finding.is_reaping = is_reaping;
	return finding;
}

TEST(MannersReport, Text)
{
	MannersReport report;
	report.has_seen = true;
	report.has_library = true;
	report.findings = {finding(Manner::kWidePsn, 1, false),
			   finding(Manner::kLeftBehind, 2, true)};
	report.missed = 1;
	EXPECT_EQ(
		manners_text(report),
		"wide-psn: 1 time\n"
		"    A PSN has 24 bits. What is above them is cut off by one HCA, and refused by another.\n"
		"    pib0 qp 17: modify_qp sq_psn 16777216, by program (pid 4711, thread 4712) at 5.25\n"
		"left-behind qp: 2 times\n"
		"    Objects were left to the kernel, which has destroyed them as the device was closed or the\n"
		"    process ended. What is made again and again and never destroyed, as address handles, fills\n"
		"    the HCA.\n"
		"    first: pib0 qp 17: modify_qp sq_psn 16777216, by program (pid 4711, thread 4712) at "
		"5.25\n"
		"1 event was lost: there may be more\n");
}

TEST(MannersReport, NothingToSay)
{
	MannersReport report;
	EXPECT_EQ(manners_text(report), "no verbs of pib's devices were seen\n");
	report.has_seen = true;
	report.has_library = true;
	EXPECT_EQ(manners_text(report), "nothing was found\n");
}

TEST(MannersReport, WhatWasNotLookedForIsSaid)
{
	MannersReport report;
	report.has_seen = true;
	EXPECT_EQ(manners_text(report),
		  "nothing was found of what a trace shows\n"
		  "not looked for, as libpibmanners.so was not heard of in the process: wide-psn, "
		  "unacked-event, fork-unsafe, unarmed-wait, armed-late, buffer-changed, "
		  "reserved-bits, lone-flag, empty-field, large-mtu, path-ignored\n");
	EXPECT_EQ(Json::parse(manners_json(report)).at("library"), false);
	report.has_library = true;
	EXPECT_EQ(Json::parse(manners_json(report)).at("library"), true);
}

TEST(MannersReport, WhatTheLibraryCouldNotTellIsCounted)
{
	MannersReport report;
	report.has_seen = true;
	report.has_library = true;
	EXPECT_FALSE(report.has_found());
	EXPECT_EQ(Json::parse(manners_json(report)).at("unheard"), 0);
	report.unheard = 1;
	EXPECT_EQ(manners_text(report),
		  "1 message of the preloaded library was lost: counts are too low, or kinds are "
		  "missing\n");
	report.unheard = 7;
	EXPECT_TRUE(report.has_found());
	EXPECT_EQ(Json::parse(manners_json(report)).at("unheard"), 7);
	EXPECT_EQ(manners_text(report),
		  "7 messages of the preloaded library were lost: counts are too low, or kinds are "
		  "missing\n");
}

TEST(MannersReport, AsJson)
{
	MannersReport report;
	report.has_seen = true;
	report.findings = {finding(Manner::kWidePsn, 2, false)};
	const Json json = Json::parse(manners_json(report));
	EXPECT_EQ(json.at("seen"), true);
	EXPECT_EQ(json.at("lost"), 0);
	const Json &first = json.at("findings").at(0);
	EXPECT_EQ(first.at("manner"), "wide-psn");
	EXPECT_EQ(first.at("count"), 2);
	EXPECT_EQ(first.at("number"), 17);
	EXPECT_EQ(first.at("time"), 5.25);
	EXPECT_EQ(first.at("what"), "modify_qp sq_psn 16777216");
	EXPECT_EQ(first.at("explanation"), manner_text(Manner::kWidePsn));
}

TEST(MannersReport, NamesTheCallsAsFarAsMain)
{
	MannersReport report;
	report.has_seen = true;
	report.has_library = true;
	report.findings = {finding(Manner::kWidePsn, 1, false)};
	report.findings[0].first.stack = {{"/tmp/a", 0x10, ""},
					  {"/lib/b.so", 0x20, ""},
					  {"/tmp/a", 0x30, ""},
					  {"/lib/c.so", 0x40, ""}};
	name_stacks(report, [](const std::string &file, std::uint64_t offset) -> std::string {
		return file != "/tmp/a" ? "" : offset == 0x30 ? "main" : "connect_side";
	});
	EXPECT_TRUE(manners_text(report).ends_with(" at 5.25\n"
						   "        connect_side (/tmp/a+0x10)\n"
						   "        /lib/b.so+0x20\n"
						   "        main (/tmp/a+0x30)\n"))
		<< manners_text(report);
	const auto stack = Json::parse(manners_json(report)).at("findings").at(0).at("stack");
	ASSERT_EQ(stack.size(), 3U);
	EXPECT_EQ(stack.at(0), Json::parse(R"({"function": "connect_side", "file": "/tmp/a",
					       "offset": "0x10"})"));
}

TEST(MannersReport, WhoWasKilledHasLeftNothingOnPurpose)
{
	MannersWatcher watcher;
	for (const auto *args : {"verb=destroy_ah object=ah number=1 result=OK left_behind=1",
				 "verb=modify_qp object=qp number=1 result=OK timeout=32"})
		watcher.take(*parse_trace_line(
			std::string(
				"         program-4712    [001] .....   5.1: pib_verb: device=pib0 ") +
			args));
	EXPECT_EQ(make_report(watcher, false).findings.size(), 2U);
	const auto report = make_report(watcher, true);
	ASSERT_EQ(report.findings.size(), 1U);
	EXPECT_EQ(report.findings.front().manner, Manner::kWideField);
}

TEST(MannersReport, AProcessNamesItselfAndSteersNoTerminal)
{
	MannersWatcher watcher;
	watcher.take(*parse_trace_line("          \xc2\x9b"
				       "31m\x1b-4712    [001] .....   5.1: pib_verb: device=pib0 "
				       "verb=modify_qp object=qp number=1 result=OK timeout=32"));
	const auto report = make_report(watcher, false);
	EXPECT_NE(manners_text(report).find(R"(by \xc2\x9b31m\x1b (pid)"), std::string::npos)
		<< manners_text(report);
	EXPECT_NE(manners_json(report).find(R"("comm":"\u009b31m\u001b")"), std::string::npos);
}

TEST(MannersReport, EachKindHasANameAndAnExplanation)
{
	for (std::size_t i = 0; i < kManners; ++i) {
		EXPECT_FALSE(manner_name(static_cast<Manner>(i)).empty());
		EXPECT_FALSE(manner_text(static_cast<Manner>(i)).empty());
	}
}

} // namespace
} // namespace pib::ctl
