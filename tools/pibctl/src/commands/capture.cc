// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>
#include <linux/pib.h>

#include <cerrno>
#include <csignal>
#include <ostream>

#include "capture/filter.h"
#include "capture/recorder.h"
#include "commands/commands.h"
#include "commands/numbers.h"
#include "host/interruption.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;
constexpr std::string_view kFields[] = {"qp", "lid", "opcode", "class", "pkey", "vl"};

Status read_where(const std::string &word, CaptureRequest &capture)
{
	if (word.find('/') != word.npos) {
		const auto end = parse_end(word);
		if (!end)
			return end.error();
		capture.node = end->node;
		capture.port = end->port;
		return success();
	}
	const auto name = parse_name(word);
	if (!name)
		return name.error();
	capture.node = *name;
	return success();
}

Status read_filter(const Arguments &arguments, CaptureRequest &capture)
{
	if (arguments.has("in") && arguments.has("out"))
		return usage_error("'in' and 'out' together are what is captured without them");
	if (arguments.has("in"))
		capture.direction = 1;
	if (arguments.has("out"))
		capture.direction = 2;
	if (arguments.has("drops"))
		capture.direction |= 4;
	for (const auto field : kFields) {
		const auto word = arguments.maybe(field);
		if (!word)
			continue;
		const auto match = parse_match(field, *word);
		if (!match)
			return match.error();
		capture.matches.push_back(*match);
	}
	return success();
}

Result<CaptureRequest> read_capture(const Arguments &arguments)
{
	CaptureRequest capture;
	if (auto where = read_where(arguments.one("NAME[/PORT]"), capture); !where)
		return where.error();
	if (auto filter = read_filter(arguments, capture); !filter)
		return filter.error();
	if (auto read = read_bytes(arguments, "-s", 1, 65535, capture.snap_len); !read)
		return read.error();
	if (auto read = read_bytes(arguments, "-B", 256 << 10, 256 << 20, capture.buffer); !read)
		return read.error();
	return capture;
}

Result<FilesRequest> read_files(const Arguments &arguments)
{
	FilesRequest files{arguments.one("-w")};
	if (auto read = read_bytes(arguments, "-C", 1024, kNoLimit, files.size); !read)
		return read.error();
	if (auto read = read_bytes(arguments, "-W", 1, 1000000, files.count); !read)
		return read.error();
	if (files.count && !files.size)
		return usage_error("'-W' counts the files that '-C' makes");
	if (files.path == "-" && files.size)
		return usage_error("'-C' needs a file");
	return files;
}

std::string filter_text(const Arguments &arguments)
{
	std::string text;
	const auto append = [&](const std::string &word) {
		text += fmt::format("{}{}", text.empty() ? "" : " ", word);
	};
	for (const std::string word : {"in", "out", "drops"})
		if (arguments.has(word))
			append(word);
	for (const auto field : kFields)
		if (const auto word = arguments.maybe(field))
			append(fmt::format("{} {}", field, *word));
	return text;
}

struct Node {
	std::uint32_t num_ports = 0;
	std::vector<Port> ports;
};

Result<Node> find_node(Client &client, const std::string &name)
{
	const auto hca = client.hca(name);
	if (!hca)
		return hca.error();
	if (*hca)
		return Node{(*hca)->num_ports.value_or(1), (*hca)->ports};
	const auto node = client.find_switch(name);
	if (!node)
		return node.error();
	if (*node)
		return Node{(*node)->num_ports.value_or(1), (*node)->ports};
	return Error{fmt::format("no HCA or switch '{}' in this network namespace ('pibctl show' "
				 "lists them)",
				 name),
		     ENODEV};
}

/// All ports of a switch have that of its port 0. 0: there is none yet.
std::uint16_t lid_of(const Node &node, std::uint32_t number)
{
	std::uint16_t lid = 0;
	for (const Port &port : node.ports)
		if (port.lid && *port.lid && (port.number == number || port.number == 0))
			lid = *port.lid;
	return lid;
}

std::string describe(const Node &node, std::uint32_t number)
{
	std::string text = "InfiniBand port of pib";
	for (const Port &port : node.ports)
		if (port.number == number && port.guid)
			text += fmt::format(", GUID {}", format_guid(*port.guid));
	if (const auto lid = lid_of(node, number))
		text += fmt::format(", LID {}", lid);
	return text;
}

std::vector<CapturedPort> ports_of(const CaptureRequest &capture, const Node &node,
				   const std::string &filter)
{
	std::vector<CapturedPort> ports;
	const std::uint32_t first = capture.port ? capture.port : 1;
	const std::uint32_t last = capture.port ? capture.port : node.num_ports;
	for (std::uint32_t number = first; number <= last; ++number)
		ports.push_back({number,
				 {format_end({capture.node, number}), describe(node, number),
				  filter, capture.snap_len ? erf_length(*capture.snap_len) : 0}});
	return ports;
}

void tell(const Context &context, const Recorder &recorder)
{
	std::uint64_t captured = 0;
	std::uint64_t lost = 0;
	for (const CapturedPort &port : recorder.ports()) {
		captured += port.captured;
		lost += port.lost;
		if (port.lost)
			context.notes << fmt::format("{}: {} packets captured, {} lost\n",
						     port.interface.name, port.captured, port.lost);
	}
	context.notes << fmt::format("{} packets captured, {} lost\n", captured, lost);
}

/// True if the reader of the standard output has gone, which is no error.
bool is_end(const Status &recorded)
{
	return !recorded && recorded.error().code == EPIPE;
}

Status capture(const Context &context, const Arguments &arguments)
{
	const auto request = read_capture(arguments);
	if (!request)
		return request.error();
	const auto files = read_files(arguments);
	if (!files)
		return files.error();
	std::uint64_t most = 0;
	if (auto read = read_bytes(arguments, "-c", 1, kNoLimit, most); !read)
		return read;
	const auto node = find_node(context.client, request->node);
	if (!node)
		return node.error();
	const Interruption interruption;
	std::signal(SIGPIPE, SIG_IGN);
	const auto fd = context.client.capture(*request);
	if (!fd)
		return fd.error();
	KernelCapture source(*fd);
	Recorder recorder(source, ports_of(*request, *node, filter_text(arguments)), *files,
			  interruption);
	const auto recorded =
		recorder.record(most, [&] { return static_cast<bool>(interruption.check()); });
	if (!recorded && !is_end(recorded))
		return recorded;
	if (recorded)
		tell(context, recorder);
	return success();
}

const Command kCommands[] = {
	{"",
	 "capture",
	 "write the packets that pass a port to a file",
	 "Writes every packet that passes the ports of an HCA or switch as pcapng, which tshark and\n"
	 "Wireshark read, until it is interrupted or the HCA or switch is gone. Words choose packets:\n"
	 "all must hold. A number may be followed by /MASK.",
	 {{"NAME[/PORT]", "an HCA or a switch, or one of its ports"}},
	 {{"in", "", "only what comes in by the port"},
	  {"out", "", "only what leaves by it"},
	  {"drops", "", "and once more what a queue pair drops, with the reason"},
	  {"qp", "N", "to this QP, and datagrams from it"},
	  {"lid", "N", "to or from this LID"},
	  {"opcode", "N", "BTH opcode, or rc, uc, ud, xrc, cnp, rc-ack"},
	  {"class", "N", "MADs of this class, or sm, sa, perf, cm, cc"},
	  {"pkey", "N", "of this partition; bit 15 counts with /0xffff only"},
	  {"vl", "N", "on this virtual lane"},
	  {"-w", "FILE", "where to; - is the standard output", true},
	  {"-s", "BYTES", "so much of a packet at most"},
	  {"-c", "N", "end after so many packets"},
	  {"-C", "BYTES", "begin a new file, FILE0, FILE1 ..., after so much"},
	  {"-W", "N", "files that are kept; then the oldest is written again"},
	  {"-B", "BYTES", "so much may wait to be written, 256k to 256M; default 16M"}},
	 {{"pibctl capture pib0 -w all.pcapng", "all packets of the HCA, until Ctrl-C"},
	  {"pibctl capture sw0/1 class sm -w -", "SMPs at a port, for a pipe into 'tshark -r -'"}},
	 capture},
};

} // namespace

std::span<const Command> capture_commands()
{
	return kCommands;
}

} // namespace pib::ctl
