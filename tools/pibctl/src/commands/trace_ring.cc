// SPDX-License-Identifier: GPL-2.0
#include <csignal>
#include <ostream>

#include "commands/numbers.h"
#include "commands/trace_request.h"
#include "trace/instance.h"
#include "trace/ring.h"

namespace pib::ctl {
namespace {

/// Of the ring, for each CPU, bytes.
constexpr std::uint64_t kLeastRing = 64 << 10;
constexpr std::uint64_t kMostRing = 256 << 20;
constexpr std::uint64_t kUsualRing = 1 << 20;

Status run_start(const Context &, const Arguments &arguments)
{
	auto request = read_trace_request(arguments);
	if (!request)
		return request.error();
	auto bytes = kUsualRing;
	if (auto read = read_bytes(arguments, "-B", kLeastRing, kMostRing, bytes); !read)
		return read;
	request->ring_kib = static_cast<std::uint32_t>(bytes >> 10);
	const auto tracefs = find_tracefs();
	return tracefs ? start_ring(*tracefs, *request) : tracefs.error();
}

Status run_show(const Context &context, const Arguments &)
{
	const auto tracefs = find_tracefs();
	if (!tracefs)
		return tracefs.error();
	std::signal(SIGPIPE, SIG_IGN);
	return show_ring(*tracefs, [&](const TraceRecord &record) {
		print_record(context, record);
		return context.text.good();
	});
}

Status run_stop(const Context &, const Arguments &)
{
	const auto tracefs = find_tracefs();
	return tracefs ? stop_ring(*tracefs) : tracefs.error();
}

const Command kCommands[] = {
	{"trace",
	 "start",
	 "have the kernel keep events in a ring",
	 "Begins a ring, into which the kernel writes what 'pibctl trace' would print, while no pibctl\n"
	 "runs. The oldest events are overwritten. There is one ring.",
	 {{"NAME[/PORT]", "an HCA or a switch, or one of its ports; default: all", false}},
	 {{"qp", "N", "of this queue pair, and packets to it"},
	  {"pid", "N", "of queue pairs that this process has made"},
	  {"event", "EVENT", "only these events", false, true},
	  {"-B", "BYTES", "size for each CPU, 64k to 256M; default: 1M"}},
	 {{"pibctl trace start pib0 -B 16M", "the latest events of an HCA are kept"}},
	 run_start},
	{"trace",
	 "show",
	 "print what is in the ring",
	 "Prints the events that are in the ring of 'pibctl trace start', which stay there. With -j each\n"
	 "line is a JSON object.",
	 {},
	 {},
	 {{"pibctl trace show", "what was kept until now"}},
	 run_show},
	{"trace",
	 "stop",
	 "end the ring",
	 "Takes away the ring of 'pibctl trace start' with all that is in it.",
	 {},
	 {},
	 {},
	 run_stop},
};

} // namespace

std::span<const Command> ring_commands()
{
	return kCommands;
}

} // namespace pib::ctl
