// SPDX-License-Identifier: GPL-2.0
// pibnetd(8), pibping(8), the completions and --help have the options of the programs, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test_text.h"

namespace pib::netd {
namespace {

/// Options as they are typed.
Words options_in(const std::string &text)
{
	return found(text, "(?:^|[^-\\w])(--?\\w[-\\w]*)");
}

struct Program {
	std::string source;
	std::string page;
	std::string completion;
};

const Program kPrograms[] = {
	{"tools/pibnetd/src/main.cc", "tools/pibnetd/man/pibnetd.8",
	 "tools/pibnetd/completion/pibnetd"},
	{"tools/pibnetd/src/ping/pibping.cc", "tools/pibnetd/man/pibping.8",
	 "tools/pibnetd/completion/pibping"},
};

/// Those that the parser is told of; macro: "flag", those without a value, or "option".
Words taken(const Program &program, const std::string &macro)
{
	Words options;
	for (const auto &names :
	     found(content(program.source), "add_" + macro + "\\(\"(-[^\"]*)\""))
		options.merge(options_in(names));
	return options;
}

Words all_taken(const Program &program)
{
	auto options = taken(program, "flag");
	options.merge(taken(program, "option"));
	EXPECT_GT(options.size(), 10U);
	return options;
}

Words long_ones(const Words &options)
{
	Words those;
	for (const auto &option : options)
		if (option.starts_with("--"))
			those.insert(option);
	return those;
}

/// ".It Fl l , -listen Ar address" describes -l and --listen.
Words described(const std::string &page)
{
	Words options;
	for (const auto &names : found(page, "\n\\.It Fl (\\w , -[-\\w]+|-[-\\w]+)"))
		for (const auto &name : found(names, "(-?\\w[-\\w]*)"))
			options.insert("-" + name);
	return options;
}

TEST(ManPage, HasTheOptionsOfTheProgram)
{
	for (const auto &program : kPrograms)
		EXPECT_EQ(described(content(program.page)), all_taken(program)) << program.page;
}

/// "Fl tv" is -t and -v.
Words synopsis(const std::string &page)
{
	const auto text = between(page, ".Sh SYNOPSIS", ".Sh DESCRIPTION");
	Words options;
	for (const auto &name : found(text, "Fl (-[-\\w]+)"))
		options.insert("-" + name);
	for (const auto &letters : found(text, "Fl (\\w+)"))
		for (const char letter : letters)
			options.insert(std::string{'-', letter});
	return options;
}

TEST(ManPage, HasOneSpellingOfEachInItsSynopsis)
{
	for (const auto &program : kPrograms) {
		const auto there = synopsis(content(program.page));
		for (const auto &names :
		     found(content(program.source), "add_\\w+\\(\"(-[^\"]*)\"")) {
			const auto spellings = options_in(names);
			EXPECT_TRUE(
				std::any_of(spellings.begin(), spellings.end(),
					    [&](const auto &each) { return there.contains(each); }))
				<< names << " is not in the synopsis of " << program.page;
		}
	}
}

TEST(Help, HasTheOptionsOfTheProgram)
{
	for (const auto &program : kPrograms) {
		const auto usage = between(content(program.source), "R\"(", ")\"");
		EXPECT_EQ(options_in(usage), all_taken(program)) << program.source;
	}
}

TEST(Completion, HasTheOptionsOfTheProgram)
{
	for (const auto &program : kPrograms) {
		const auto script = content(program.completion);
		const auto offered = found(script, "\"(--[^\"]*)\"");
		ASSERT_EQ(offered.size(), 1U) << program.completion;
		EXPECT_EQ(options_in(*offered.begin()), long_ones(all_taken(program)))
			<< program.completion;
	}
}

/// Behind an option with a value the completion offers no options.
TEST(Completion, KnowsWhichHaveValues)
{
	for (const auto &program : kPrograms) {
		Words known;
		for (const auto &patterns : found(content(program.completion), "\n\t(-[^)\n]*)\\)"))
			known.merge(options_in(patterns));
		EXPECT_EQ(known, taken(program, "option")) << program.completion;
	}
}

} // namespace
} // namespace pib::netd
