// SPDX-License-Identifier: GPL-2.0
#include "cli/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <ostream>

#include "commands/commands.h"
#include "daemon/client.h"
#include "cli/help.h"
#include "cli/version.h"

namespace pib::ctl {
namespace {

using Words = std::vector<std::string>;

struct Options {
	bool json = false;
	bool pretty = false;
	bool help = false;
	bool version = false;
	std::string daemon;
};

/// The choice of the command line: a command with its words, or an unknown word.
struct Choice {
	const Command *command = nullptr;
	const Group *group = nullptr;
	Words words;
	/// Words before the name of the command, where none belong.
	Words stray;
};

bool takes_rest(const Command &command)
{
	return !command.places.empty() && command.places.back().is_rest;
}

bool is_option(std::string_view word)
{
	return word.starts_with('-');
}

/// If a command starts a program, all words behind the program's first one belong to the program,
/// options included: "--" before it says so.
std::vector<const char *> set_apart(int argc, const char *const *argv)
{
	std::vector<const char *> words(argv, argv + argc);
	const auto name = std::find_if_not(words.begin() + 1, words.end(), is_option);
	const auto begins = [&](const Command *command) {
		return name != words.end() && takes_rest(*command) && command->name == *name;
	};
	const auto all = all_commands();
	if (std::ranges::none_of(all, begins))
		return words;
	const auto first = std::find_if_not(name + 1, words.end(), is_option);
	if (first != words.end() && std::string_view(*(first - 1)) != "--")
		words.insert(first, "--");
	return words;
}

class CommandLine {
public:
	CommandLine() : root_("", "pibctl")
	{
		prepare(root_);
		root_.add_flag("-j,--json", options.json);
		root_.add_flag("-p,--pretty", options.pretty);
		root_.add_flag("-h,--help", options.help);
		root_.add_flag("-V,--version", options.version);
		root_.add_option("--daemon", options.daemon);
		for (const Group &group : command_groups())
			groups_[add(root_, group.name)] = &group;
		for (const Command *command : all_commands())
			add_command(*command);
	}

	Status parse(int argc, const char *const *argv)
	{
		const auto words = set_apart(argc, argv);
		try {
			root_.parse(static_cast<int>(words.size()), words.data());
		} catch (const CLI::ExtrasError &) {
			return usage_error(fmt::format("there is no option '{}'",
						       root_.remaining(true).front()));
		} catch (const CLI::ParseError &error) {
			return usage_error(error.what());
		}
		return success();
	}

	/// Options of commands count as keywords.
	Choice choice() const
	{
		Choice choice;
		const CLI::App *app = &root_;
		for (;;) {
			if (const auto group = groups_.find(app); group != groups_.end())
				choice.group = group->second;
			if (const auto command = commands_.find(app); command != commands_.end())
				choice.command = command->second;
			choice.words = words_of(app, choice.command);
			const auto next = app->get_subcommands();
			if (next.empty())
				return choice;
			choice.stray.insert(choice.stray.end(), choice.words.begin(),
					    choice.words.end());
			choice.command = nullptr;
			app = next.front();
		}
	}

	Options options;

private:
	Words words_of(const CLI::App *app, const Command *command) const
	{
		Words words = words_.at(app);
		Words with_options;
		append_options(app, with_options);
		words.insert(command && takes_rest(*command) ? words.begin() : words.end(),
			     with_options.begin(), with_options.end());
		return words;
	}

	void prepare(CLI::App &app)
	{
		app.set_help_flag();
		app.require_subcommand(0, 1);
		app.fallthrough();
		app.add_option("words", words_[&app]);
	}

	CLI::App *add(CLI::App &parent, std::string_view name)
	{
		CLI::App *app = parent.add_subcommand(std::string(name));
		prepare(*app);
		return app;
	}

	CLI::App *group_app(std::string_view name)
	{
		return name.empty() ? &root_ : root_.get_subcommand(std::string(name));
	}

	void add_command(const Command &command)
	{
		CLI::App *parent = group_app(command.group);
		CLI::App *app = command.name.empty() ? parent : add(*parent, command.name);
		commands_[app] = &command;
		for (const Keyword &keyword : command.keywords)
			if (keyword.name.starts_with('-'))
				add_option(*app, keyword);
	}

	void add_option(CLI::App &app, const Keyword &keyword)
	{
		const std::string name(keyword.name);
		std::string &value = values_[&app][name];
		if (keyword.value.empty())
			app.add_flag(name);
		else
			app.add_option(name, value);
	}

	void append_options(const CLI::App *app, Words &words) const
	{
		const auto found = values_.find(app);
		if (found == values_.end())
			return;
		for (const auto &[name, value] : found->second) {
			if (!app->count(name))
				continue;
			words.push_back(name);
			if (app->get_option(name)->get_expected_max())
				words.push_back(value);
		}
	}

	CLI::App root_;
	std::map<const CLI::App *, Words> words_;
	std::map<const CLI::App *, std::map<std::string, std::string>> values_;
	std::map<const CLI::App *, const Command *> commands_;
	std::map<const CLI::App *, const Group *> groups_;
};

std::string names_in(const Group *group)
{
	std::string names;
	const auto append = [&](std::string_view name) {
		if (!name.empty())
			names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
	};
	for (const Command *command : all_commands())
		if (command->group == (group ? group->name : ""))
			append(command->name);
	if (!group)
		for (const Group &each : command_groups())
			append(each.name);
	return names;
}

bool wants_help(const Choice &choice, const Options &options)
{
	return options.help || (choice.words.size() == 1 && choice.words.front() == "help");
}

std::string help_of(const Choice &choice)
{
	if (choice.command && !choice.command->name.empty())
		return help_for(*choice.command);
	return choice.group ? help_for(*choice.group) : help_for_all();
}

Error no_command(const Choice &choice)
{
	const std::string within = choice.group ? fmt::format(" of '{}'", choice.group->name) : "";
	if (choice.words.empty())
		return usage_error(
			fmt::format("a command{} is missing: {}", within, names_in(choice.group)));
	return usage_error(fmt::format("'{}' is no command{}; commands are: {}",
				       choice.words.front(), within, names_in(choice.group)));
}

std::string see(const Choice &choice)
{
	if (choice.command && !choice.command->name.empty())
		return fmt::format("Usage: {}\n", usage_of(*choice.command));
	return fmt::format("'pibctl{}{} --help' explains the commands.\n", choice.group ? " " : "",
			   choice.group ? choice.group->name : "");
}

Status run_command(const Choice &choice, const Context &context)
{
	if (!choice.stray.empty())
		return usage_error(fmt::format("'{}' does not belong here", choice.stray.front()));
	if (!choice.command)
		return no_command(choice);
	const auto arguments =
		read_arguments(choice.command->places, choice.command->keywords, choice.words);
	if (!arguments)
		return arguments.error();
	return choice.command->run(context, *arguments);
}

/// Only commands that print lists have something to print. "trace show" has printed each event itself.
bool prints(const Choice &choice, bool json)
{
	if (!choice.command || choice.command->group == "trace")
		return false;
	return choice.command->group == "show" || choice.command->name == "show" ||
	       (json && choice.command->name == "explain");
}

int report(const Error &error, const Choice &choice, std::ostream &err)
{
	err << "pibctl: " << error.text << '\n';
	if (!error.usage)
		return 1;
	err << see(choice);
	return 2;
}

std::unique_ptr<Client> make_client(const Options &options, TransportFactory open)
{
	if (options.daemon.empty())
		return std::make_unique<Client>(std::move(open));
	return std::make_unique<DaemonClient>(exchange_lines_at(options.daemon));
}

} // namespace

int run(int argc, const char *const *argv, TransportFactory open, std::ostream &out,
	std::ostream &err, bool err_is_terminal)
{
	CommandLine line;
	const auto parsed = line.parse(argc, argv);
	const Choice choice = line.choice();
	if (!parsed)
		return report(parsed.error(), choice, err);
	if (line.options.version) {
		out << version_text();
		return 0;
	}
	if (wants_help(choice, line.options)) {
		out << help_of(choice);
		return 0;
	}
	const auto client = make_client(line.options, std::move(open));
	const auto output =
		line.options.json ? make_json_output(line.options.pretty) : make_text_output();
	const auto done =
		run_command(choice, {*client, *output, out, err, err_is_terminal ? &err : nullptr,
				     line.options.json});
	for (const std::string &note : client->notes())
		err << "pibctl: " << note << '\n';
	if (!done)
		return report(done.error(), choice, err);
	if (prints(choice, line.options.json))
		out << output->str();
	out.flush();
	if (out.good())
		return 0;
	err << "pibctl: cannot write the output\n";
	return 1;
}

} // namespace pib::ctl
