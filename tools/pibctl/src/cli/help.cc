// SPDX-License-Identifier: GPL-2.0
#include "cli/help.h"

#include <fmt/format.h>

namespace pib::ctl {
namespace {

constexpr std::string_view kOptions =
	"Options:\n"
	"  -j, --json            print JSON\n"
	"  -p, --pretty          indent the JSON\n"
	"      --daemon SOCKET   speak to the pibnetd that has this control socket\n"
	"  -h, --help            print this help; every command has its own\n"
	"  -V, --version         print the versions of pibctl and of the loaded module\n";

constexpr std::string_view kStart =
	"A first session, on each of two hosts that share a network:\n"
	"  pibctl add pib0 netdev eth0     make an HCA; the hosts find each other\n"
	"  opensm -B                       on one of them: start the subnet manager\n"
	"  pibctl show                     the port is ACTIVE\n";

std::string words_of(const Command &command)
{
	std::string words = "pibctl";
	for (const auto word : {command.group, command.name})
		if (!word.empty())
			words += fmt::format(" {}", word);
	return words;
}

std::string row(std::string_view what, std::string_view help)
{
	return fmt::format("  {:<20}  {}\n", what, help);
}

std::string keyword_words(const Keyword &keyword)
{
	return keyword.value.empty() ? std::string(keyword.name)
				     : fmt::format("{} {}", keyword.name, keyword.value);
}

std::string arguments_section(const Command &command)
{
	std::string text;
	for (const Place &place : command.places)
		text += row(place.name, place.help);
	for (const Keyword &keyword : command.keywords)
		text += row(keyword_words(keyword), keyword.help);
	return text.empty() ? text : "\nArguments:\n" + text;
}

std::string examples_section(const Command &command)
{
	std::string text = "\nExamples:\n";
	for (const Example &example : command.examples)
		text += fmt::format("  {}\n      {}\n", example.command, example.meaning);
	return text;
}

std::string summary_row(const Command &command)
{
	return row(words_of(command).substr(sizeof("pibctl")), command.summary);
}

} // namespace

std::string usage_of(const Command &command)
{
	std::string usage = words_of(command);
	for (const Place &place : command.places)
		usage += place.required ? fmt::format(" {}", place.name)
					: fmt::format(" [{}]", place.name);
	for (const Keyword &keyword : command.keywords) {
		const auto words = keyword_words(keyword);
		usage += keyword.required ? fmt::format(" {}", words) : fmt::format(" [{}]", words);
		if (keyword.repeats)
			usage += "...";
	}
	return usage;
}

std::string help_for_all()
{
	std::string text =
		"Usage: pibctl [OPTIONS] COMMAND ...\n\n"
		"Gives this host InfiniBand ports in software, and cables them.\n\nCommands:\n";
	for (const Command *command : all_commands())
		if (command->group.empty())
			text += summary_row(*command);
	for (const Group &group : command_groups())
		text += row(group.name, group.summary);
	return fmt::format(
		"{}\n{}\n{}\n'pibctl COMMAND --help' explains a command. See also pibctl(8), "
		"pib(7).\n",
		text, kOptions, kStart);
}

std::string help_for(const Group &group)
{
	std::string usage;
	std::string rows;
	std::string rest;
	for (const Command *command : all_commands()) {
		if (command->group != group.name)
			continue;
		usage += fmt::format("{} {}\n", usage.empty() ? "Usage:" : "      ",
				     usage_of(*command));
		rows += summary_row(*command);
		rest += command->name.empty() ? examples_section(*command) : "";
	}
	return fmt::format("{}\nCommands:\n{}{}\n{}", usage, rows, rest, kOptions);
}

std::string help_for(const Command &command)
{
	return fmt::format("Usage: {}\n\n{}\n{}{}\n{}", usage_of(command), command.description,
			   arguments_section(command), examples_section(command), kOptions);
}

} // namespace pib::ctl
