// SPDX-License-Identifier: GPL-2.0
// pibctl(8) and the completion know every word that the program takes, and the page every key of JSON.
#include <gtest/gtest.h>
#include <linux/pib.h>

#include <map>
#include <regex>
#include <sstream>

#include "commands/commands.h"
#include "inject/words.h"
#include "test_text.h"

namespace pib::ctl {
namespace {

std::string page()
{
	return content("docs/man/pibctl.8");
}

/// From a line that begins so to the next one that begins with the other; empty: there is none.
std::string lines_between(const std::string &text, const std::string &first,
			  const std::string &last)
{
	return between("\n" + text, "\n" + first, "\n" + last);
}

/// Words as they are typed: "Fl -once" is --once.
Words words_in(const std::string &text)
{
	Words words;
	std::istringstream stream(text);
	std::string word;
	for (bool is_flag = false; stream >> word;) {
		words.insert(is_flag ? "-" + word : word);
		is_flag = word == "Fl" || word == ".Fl";
	}
	return words;
}

std::string name_of(const Command &command)
{
	std::string name(command.group);
	if (!name.empty() && !command.name.empty())
		name += ' ';
	return name += command.name;
}

/// The command that a line begins with, behind the macro; empty: none.
std::string named_by(const std::string &line, const std::string &macro)
{
	static const auto commands = all_commands();
	std::string longest;
	for (const Command *command : commands) {
		const auto name = name_of(*command);
		if ((line + " ").starts_with(macro + name + " ") && name.size() > longest.size())
			longest = name;
	}
	return longest;
}

/// The parts of a section by command, each from a line that names it to one that names another.
std::map<std::string, std::string> by_command(const std::string &section, const std::string &macro)
{
	std::map<std::string, std::string> texts;
	std::string line;
	std::string current;
	for (std::istringstream lines(section); std::getline(lines, line);) {
		if (const auto name = named_by(line, macro); !name.empty())
			current = name;
		texts[current] += line + "\n";
	}
	return texts;
}

std::map<std::string, std::string> description()
{
	return by_command(lines_between(page(), ".Sh DESCRIPTION", ".Sh JSON"), ".It Cm ");
}

/// A line for each form, which begins with the command.
std::string synopsis()
{
	const auto text = lines_between(page(), ".Sh SYNOPSIS", ".Sh DESCRIPTION");
	std::string joined =
		std::regex_replace(text, std::regex("\n\\.Nm\n(\\.Op Fl jp?\n)?"), "\n@");
	joined = std::regex_replace(joined, std::regex("\n\\.?(?!@)"), " ");
	return std::regex_replace(joined, std::regex("@\\.?"), "\n");
}

/// Of the list that a refusal ends with.
Words accepted(const std::string &refusal)
{
	const std::string start = "accepted are ";
	EXPECT_NE(refusal.find(start), std::string::npos) << refusal;
	const auto list = refusal.substr(refusal.find(start) + start.size());
	return words_in(std::regex_replace(list, std::regex(","), " "));
}

void expect_all(const Words &wanted, const std::string &text, const std::string &where)
{
	const auto there = words_in(text);
	for (const auto &word : wanted)
		EXPECT_TRUE(there.contains(word)) << "'" << word << "' is not in " << where;
}

TEST(ManPage, HasEveryCommandAndKeyword)
{
	auto forms = by_command(synopsis(), "Cm ");
	auto items = description();
	for (const Command *command : all_commands()) {
		const auto name = name_of(*command);
		EXPECT_TRUE(forms.contains(name)) << name << " is not in the synopsis";
		EXPECT_TRUE(items.contains(name)) << name << " is not described";
		for (const Keyword &keyword : command->keywords)
			expect_all({std::string(keyword.name)}, forms[name] + items[name], name);
	}
}

TEST(ManPage, HasTheWordsOfInjections)
{
	const auto text = description()["inject"];
	for (const auto &error :
	     {parse_nak("?").error(), parse_status("?").error(), parse_inject_event("?").error(),
	      parse_mgmt_class("?").error(), parse_lie("?").error(),
	      parse_lie_value(PIB_INJECT_LIE_PORT_STATE, "?").error()})
		expect_all(accepted(error.text), text, "inject");
}

/// Words in quotes in a source that look like keys.
Words keys_in(const std::string &source)
{
	return found(source, "\"([a-z][a-z0-9_]*)\"");
}

TEST(ManPage, HasEveryKeyThatShowPrints)
{
	const auto json = lines_between(page(), ".Sh JSON", ".Sh EXIT");
	expect_all(keys_in(content("tools/model/show/show.cc")), json, "JSON");
	expect_all(keys_in(content("tools/model/show/show_faults.cc")), json, "JSON");
	const auto source = content("tools/pibctl/src/commands/show.cc");
	expect_all(keys_in(lines_between(source, "void show_subject(", "const Place ")),
		   lines_between(json, ".It Cm show injections", ".It "),
		   "JSON of show injections");
	expect_all(keys_in(lines_between(content("tools/pibctl/src/commands/explain.cc"),
					 "void print_item(", "out.end_item")),
		   lines_between(json, ".It Cm explain", ".It "), "JSON of explain");
}

std::string parted(const std::string &shell)
{
	return std::regex_replace(shell, std::regex("[;)]"), " ");
}

TEST(Completion, KnowsEveryCommandAndKeyword)
{
	const auto script = content("tools/pibctl/completion/pibctl");
	const auto options = lines_between(script, "_pibctl_options() {", "}");
	for (const Command *command : all_commands()) {
		const std::string first(command->group.empty() ? command->name : command->group);
		expect_all({first}, parted(lines_between(script, "_pibctl_words() {", "}")),
			   "the completion");
		const std::string own = "_pibctl_" + first;
		const auto body = lines_between(script, own + "() {", "}") +
				  lines_between(script, own + "_keywords() {", "}");
		const auto dashed = lines_between(options, "\t" + first + ":", "\t");
		if (!command->group.empty() && !command->name.empty())
			expect_all({std::string(command->name)}, parted(body), own);
		for (const Keyword &keyword : command->keywords)
			expect_all({std::string(keyword.name)},
				   parted(keyword.name.starts_with('-') ? dashed : body), own);
	}
}

} // namespace
} // namespace pib::ctl
