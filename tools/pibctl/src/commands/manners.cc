// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <optional>
#include <ostream>
#include <utility>

#include "commands/commands.h"
#include "host/child.h"
#include "host/interruption.h"
#include "host/preload.h"
#include "host/symbols.h"
#include "manners/report.h"
#include "manners/watcher.h"
#include "model/words/parse.h"
#include "trace/instance.h"
#include "trace/line.h"

namespace pib::ctl {
namespace {

constexpr std::string_view kWhat = "PID|COMMAND...";
constexpr std::uint64_t kMaxPid = 1 << 22;
/// A program posts faster than lines are read.
constexpr std::uint32_t kRingKib = 16384;

bool is_pid(const std::vector<std::string> &words)
{
	return words.size() == 1 &&
	       words.front().find_first_not_of("0123456789") == std::string::npos;
}

/// Gives the watcher what is traced of a process, until go_on() says no.
Status watch(TraceInstance &instance, MannersWatcher &watcher, const std::function<bool()> &go_on)
{
	TraceLines lines;
	const auto take = [&](std::string_view line) {
		for (const TraceRecord &record : lines.take(line))
			watcher.take(record);
		return true;
	};
	return instance.read(take, go_on);
}

Status start_trace(TraceInstance &instance, pid_t pid)
{
	TraceRequest request;
	request.pid = static_cast<std::uint32_t>(pid);
	request.events = {"verb", "wr_posted", "completion"};
	request.ring_kib = kRingKib;
	return instance.start(request);
}

/// Tells what was found. An error: --error was given, and there is something.
Status tell(const Context &context, MannersReport report, bool is_error)
{
	name_stacks(report, function_at);
	context.text << (context.json ? manners_json(report) : manners_text(report));
	context.text.flush();
	if (is_error && report.has_found())
		return Error{"bad manners were found"};
	return success();
}

Status watch_process(const Context &context, TraceInstance &instance, const std::string &word,
		     bool is_error)
{
	const auto number = parse_number("PID", word, 1, kMaxPid);
	if (!number)
		return number.error();
	const auto pid = static_cast<pid_t>(*number);
	const auto process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
	if (process < 0)
		return errno_error("process {}", pid);
	const Interruption interruption;
	MannersWatcher watcher;
	auto done = start_trace(instance, pid);
	if (done)
		done = watch(instance, watcher, [&] {
			pollfd ended{process, POLLIN, 0};
			return !interruption.number() && poll(&ended, 1, 0) == 0;
		});
	close(process);
	return done ? tell(context, make_report(watcher, false), is_error) : done;
}

/// A terminal interrupts the program, too; what ends this one ends that.
void pass_on(const Interruption &interruption, const Child &child)
{
	if (const int number = interruption.number(); number && number != SIGINT)
		kill(child.pid(), SIGTERM);
}

Status ended_well(const std::string &program, int status)
{
	if (WIFSIGNALED(status))
		return Error{fmt::format("{} was ended by SIG{}", program,
					 sigabbrev_np(WTERMSIG(status)))};
	if (WEXITSTATUS(status))
		return Error{fmt::format("{} has exit status {}", program, WEXITSTATUS(status))};
	return success();
}

Status watch_command(const Context &context, TraceInstance &instance,
		     const std::vector<std::string> &words, bool is_error)
{
	const Interruption interruption;
	MannersWatcher watcher;
	auto preload = Preload::arm();
	auto child = Child::start(words, context.json);
	if (!child)
		return child.error();
	if (auto started = start_trace(instance, child->pid()); !started)
		return started;
	if (auto runs = child->go(); !runs)
		return Error{fmt::format("{}: {}", words.front(), runs.error().text),
			     runs.error().code};
	/// There is not room for all that is told until the end.
	const auto hear = [&] {
		if (preload)
			for (const std::string &message : preload->read())
				watcher.take_told(message);
	};
	const auto done = watch(instance, watcher, [&] {
		pass_on(interruption, *child);
		hear();
		return !child->status();
	});
	if (!done)
		return done;
	hear();
	const int status = *child->status();
	auto report = make_report(watcher, WIFSIGNALED(status));
	report.unheard = preload ? preload->unheard() : 0;
	const auto told = tell(context, std::move(report), is_error);
	return told ? ended_well(words.front(), status) : told;
}

Status manners(const Context &context, const Arguments &arguments)
{
	const auto words = arguments.all(kWhat);
	const bool is_error = arguments.has("--error");
	const auto tracefs = find_tracefs();
	if (!tracefs)
		return tracefs.error();
	std::signal(SIGPIPE, SIG_IGN);
	const auto instance = TraceInstance::create(*tracefs);
	if (!instance)
		return instance.error();
	return is_pid(words) ? watch_process(context, **instance, words.front(), is_error)
			     : watch_command(context, **instance, words, is_error);
}

const Command kCommands[] = {
	{"",
	 "manners",
	 "say what a verbs program relies on that it must not",
	 "Runs COMMAND, or looks at a process until that ends or Ctrl-C, and then prints what it has done\n"
	 "with pib's HCAs that other HCAs do not forgive: each kind with an explanation, how often, and\n"
	 "where it came up first. With -j the report is a JSON object, and what COMMAND prints goes to\n"
	 "standard error. Of what COMMAND itself starts less is seen.",
	 {{kWhat, "a process, or a program with its arguments", true, true}},
	 {{"--error", "", "exit status 1 if something was found"}},
	 {{"pibctl manners ibv_rc_pingpong -d pib0", "a program from its start to its end"},
	  {"pibctl manners --error 4711", "a process, from now on"}},
	 manners},
};

} // namespace

std::span<const Command> manners_commands()
{
	return kCommands;
}

} // namespace pib::ctl
