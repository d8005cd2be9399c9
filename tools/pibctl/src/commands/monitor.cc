// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <linux/genetlink.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <optional>

#include "commands/commands.h"
#include "commands/numbers.h"
#include "host/interruption.h"
#include "host/outlet.h"
#include "monitor/run.h"
#include "netlink/mnl_transport.h"

namespace pib::ctl {
namespace {

Status monitor(const Context &context, const Arguments &arguments)
{
	std::optional<std::uint64_t> count;
	if (auto read = read_optional(arguments, "-c", 1, std::uint64_t{1} << 62, count); !read)
		return read;
	// A socket would take its place.
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return Outlet::no_reader();
	const Interruption interruption;
	std::signal(SIGPIPE, SIG_IGN);
	const auto source = context.client.events();
	if (!source)
		return source.error();
	const auto listener = listen_to({source->group, GENL_ID_CTRL});
	if (!listener)
		return listener.error();
	const auto family_now = [&]() -> Result<std::uint16_t> {
		const auto events = context.client.events();
		return events ? Result(events->family) : events.error();
	};
	return run_monitor(**listener, STDOUT_FILENO, interruption,
			   {context.json, source->family, count, family_now});
}

const Command kCommands[] = {
	{"",
	 "monitor",
	 "print what changes, as it happens",
	 "Prints a line for each HCA, switch and cable that is made or goes, each port whose state or LID\n"
	 "changes, each session over UDP that begins or ends, and each asynchronous event of an HCA and\n"
	 "its ports, until it is interrupted. With -j each line is a JSON object.",
	 {},
	 {{"-c", "N", "end after so many events"}},
	 {{"pibctl monitor", "until Ctrl-C"},
	  {"pibctl -j monitor -c 3", "three lines of JSON for a script"}},
	 monitor},
};

} // namespace

std::span<const Command> monitor_commands()
{
	return kCommands;
}

} // namespace pib::ctl
