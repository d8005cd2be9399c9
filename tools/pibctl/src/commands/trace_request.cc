// SPDX-License-Identifier: GPL-2.0
#include "commands/trace_request.h"

#include <ostream>

#include "commands/numbers.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

constexpr std::uint64_t kMaxPid = 1 << 22;

} // namespace

Status read_traced(const std::string &word, TraceRequest &request)
{
	if (word.find('/') == word.npos) {
		const auto name = parse_name(word);
		if (!name)
			return name.error();
		request.device = *name;
	} else {
		const auto end = parse_end(word);
		if (!end)
			return end.error();
		request.device = end->node;
		request.port = end->port;
	}
	if (request.device->find_first_of("\"\\") != std::string::npos)
		return usage_error("names with quotes and backslashes cannot be asked for");
	return success();
}

Result<TraceRequest> read_trace_request(const Arguments &arguments)
{
	TraceRequest request;
	if (const auto word = arguments.maybe("NAME[/PORT]"))
		if (auto where = read_traced(*word, request); !where)
			return where.error();
	if (auto read = read_optional(arguments, "qp", 0, kMaxQpn, request.qpn); !read)
		return read.error();
	if (auto read = read_optional(arguments, "pid", 1, kMaxPid, request.pid); !read)
		return read.error();
	request.events = arguments.all("event");
	return request;
}

void print_record(const Context &context, const TraceRecord &record)
{
	context.text << (context.json ? trace_json(record) : trace_text(record)) << '\n';
}

} // namespace pib::ctl
