// SPDX-License-Identifier: GPL-2.0
// "pibctl inject run": what a script says, when it says so.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>

#include "commands/commands.h"
#include "host/interruption.h"
#include "inject/script.h"

namespace pib::ctl {
namespace {

using Clock = std::chrono::steady_clock;

/// A step with the command that it is.
struct Ready {
	const ScriptStep *step;
	const Command *command;
	Arguments arguments;
};

Status run_script(const Context &context, const Arguments &arguments);

/// Commands that change something and come to an end.
std::vector<const Command *> allowed_commands()
{
	std::vector<const Command *> all;
	for (const auto table : {hca_commands(), switch_commands(), link_commands(),
				 inject_commands(), script_commands()})
		for (const Command &command : table)
			if (command.name != "show")
				all.push_back(&command);
	return all;
}

/// Number of words that name the command; 0: they name another one.
std::size_t named_by(const Command &command, const std::vector<std::string> &words)
{
	if (command.group.empty())
		return words[0] == command.name;
	if (words[0] != command.group)
		return 0;
	if (command.name.empty())
		return 1;
	return words.size() > 1 && words[1] == command.name ? 2 : 0;
}

Error step_error(const std::string &file, const ScriptStep &step, const Error &error)
{
	Error told = error;
	told.text = fmt::format("{}: line {}: {}", file, step.line, error.text);
	return told;
}

Result<Ready> prepare_step(const ScriptStep &step)
{
	Ready ready{&step, nullptr, {}};
	std::size_t most = 0;
	for (const Command *command : allowed_commands())
		if (const auto named = named_by(*command, step.words); named > most) {
			ready.command = command;
			most = named;
		}
	if (!ready.command || ready.command->run == run_script)
		return usage_error(
			fmt::format("'{}' is no command for a script: add, del, set, switch, "
				    "link and inject are",
				    step.words[0]));
	auto arguments = read_arguments(
		ready.command->places, ready.command->keywords,
		{step.words.begin() + static_cast<std::ptrdiff_t>(most), step.words.end()});
	if (!arguments)
		return arguments.error();
	ready.arguments = std::move(*arguments);
	return ready;
}

/// Commands and words that there are not are found before anything has happened.
Result<std::vector<Ready>> prepare(const std::string &file, const std::vector<ScriptStep> &steps)
{
	std::vector<Ready> all;
	for (const ScriptStep &step : steps) {
		auto ready = prepare_step(step);
		if (!ready)
			return step_error(file, step, ready.error());
		all.push_back(std::move(*ready));
	}
	return all;
}

Result<ScriptWords> read_given(const Arguments &arguments)
{
	ScriptWords given;
	for (const auto &word : arguments.all("with")) {
		const auto equals = word.find('=');
		if (equals == word.npos || !equals)
			return usage_error(fmt::format("with NAME=WORD, not '{}'", word));
		given[word.substr(0, equals)] = word.substr(equals + 1);
	}
	return given;
}

Result<std::vector<ScriptStep>> read_script(const std::string &file, const ScriptWords &given)
{
	std::ifstream opened;
	if (file != "-") {
		opened.open(file);
		if (!opened)
			return errno_error("cannot read {}", file);
	}
	std::istream &in = file == "-" ? std::cin : opened;
	auto steps = parse_script(in, given);
	if (!steps) {
		Error error = steps.error();
		error.text = fmt::format("{}: {}", file, error.text);
		return error;
	}
	if (in.bad())
		return Error{fmt::format("cannot read {}", file), EIO};
	return steps;
}

Status wait_until(const Interruption &interruption, Clock::time_point when)
{
	for (;;) {
		if (auto go_on = interruption.check(); !go_on)
			return go_on;
		const auto left =
			std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
		if (left <= 0)
			return success();
		interruption.poll(nullptr, 0,
				  static_cast<int>(std::min<std::int64_t>(left, 60'000)));
	}
}

void tell_step(const Context &context, const ScriptStep &step)
{
	const double seconds = static_cast<double>(step.at) / 1e9;
	const auto command = fmt::format("{}", fmt::join(step.words, " "));
	if (context.json)
		context.text << fmt::format("{{\"at\":{:g},\"line\":{}}}\n", seconds, step.line);
	else
		context.text << fmt::format("{:g}s {}\n", seconds, command);
	context.text.flush();
}

Status run_steps(const Context &context, const std::string &file, const std::vector<Ready> &steps)
{
	const Interruption interruption;
	const auto start = Clock::now();
	for (const Ready &ready : steps) {
		const auto when = start + std::chrono::nanoseconds(ready.step->at);
		if (auto waited = wait_until(interruption, when); !waited)
			return waited;
		tell_step(context, *ready.step);
		if (auto done = ready.command->run(context, ready.arguments); !done)
			return step_error(file, *ready.step, done.error());
	}
	return success();
}

Status run_script(const Context &context, const Arguments &arguments)
{
	const auto &file = arguments.one("FILE");
	const auto given = read_given(arguments);
	if (!given)
		return given.error();
	const auto steps = read_script(file, *given);
	if (!steps)
		return steps.error();
	const auto ready = prepare(file, *steps);
	if (!ready)
		return ready.error();
	return run_steps(context, file, *ready);
}

const Command kCommands[] = {
	{"inject",
	 "run",
	 "run a script of things that go wrong",
	 "Runs the commands of a file, each at its time: lines 'TIME COMMAND', where TIME counts from the\n"
	 "start, or with a plus, as in '+500ms', from the line before; '#' begins a comment. COMMAND is one\n"
	 "of pibctl: add, del, set, and those of switch, link and inject. '$NAME' stands for a word that\n"
	 "'with' gives. Times, commands and words that there are not are found before the first command\n"
	 "runs; the first one that is refused ends the script. Rules stay behind unless the script deletes them.",
	 {{"FILE", "the script, '-' for standard input"}},
	 {{"with", "NAME=WORD", "$NAME is WORD", false, true}},
	 {{"pibctl inject run bug.pib with qp=17", "what bug.pib says, for queue pair 17"}},
	 run_script},
};

} // namespace

std::span<const Command> script_commands()
{
	return kCommands;
}

} // namespace pib::ctl
