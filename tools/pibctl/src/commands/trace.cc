// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>

#include "commands/live_output.h"
#include "commands/numbers.h"
#include "commands/trace_request.h"
#include "explain/queue_pair.h"
#include "model/words/parse.h"
#include "netlink/mnl_transport.h"
#include "netlink/rdma_netlink.h"
#include "trace/follow.h"
#include "trace/instance.h"
#include "trace/line.h"
#include "trace/recorded.h"

namespace pib::ctl {
namespace {

constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;
/// Bytes of a mark that tracefs keeps for certain.
constexpr std::size_t kMaxMark = 900;

Result<std::uint64_t> read_count(const Arguments &arguments)
{
	const auto word = arguments.maybe("-c");
	return word ? parse_number("-c", *word, 1, kNoLimit) : Result<std::uint64_t>(kNoLimit);
}

/// Prints a line of trace_pipe.
class Printer {
public:
	Printer(const Context &context, std::uint64_t most) : context_(context), left_(most) {}

	/// False: that was all.
	bool print(std::string_view line)
	{
		for (const TraceRecord &record : lines_.take(line))
			if (!put(record))
				return false;
		return true;
	}

private:
	bool put(const TraceRecord &record)
	{
		print_record(context_, record);
		if (record.kind == TraceRecord::Kind::kLost ||
		    record.kind == TraceRecord::Kind::kUnread)
			return true;
		return --left_ && context_.text.good();
	}

	TraceLines lines_;
	const Context &context_;
	std::uint64_t left_;
};

/// Prints by the printer what is traced, until it has enough or is interrupted.
template <typename Printing>
Status run_instance(LiveOutput &output, const TraceRequest &request, Printing printer)
{
	const auto tracefs = find_tracefs();
	if (!tracefs)
		return tracefs.error();
	const auto instance = TraceInstance::create(*tracefs);
	if (!instance)
		return instance.error();
	if (auto started = (*instance)->start(request); !started)
		return started;
	const auto done =
		(*instance)->read([&](std::string_view line) { return printer.print(line); },
				  [&] { return output.goes_on(); });
	const auto written = output.finish();
	return done ? written : done;
}

Status run_trace(const Context &context, const Arguments &arguments)
{
	const auto request = read_trace_request(arguments);
	if (!request)
		return request.error();
	const auto count = read_count(arguments);
	if (!count)
		return count.error();
	LiveOutput output(context);
	return run_instance(output, *request, Printer(output.context(), *count));
}

/// Prints what belongs to messages, and ends after so many.
class Story {
public:
	Story(const Context &context, MessageFollower follower, std::uint64_t most) :
		context_(context), follower_(std::move(follower)), left_(most)
	{
	}

	bool print(std::string_view line)
	{
		for (const TraceRecord &record : lines_.take(line))
			if (!tell(record))
				return false;
		return true;
	}

	bool tell(const TraceRecord &record)
	{
		const auto event = follower_.follow(record);
		if (record.kind != TraceRecord::Kind::kEvent)
			return put(context_.json ? trace_json(record) : trace_text(record));
		if (!event)
			return true;
		if (event->left_out)
			return put(context_.json ? trace_json(*event->left_out)
						 : trace_text(*event->left_out));
		for (const FinishedMessage &finished : event->before)
			if (!end(context_.json ? trace_json(finished) : trace_text(finished)))
				return false;
		left_ -= event->is_end;
		return put(context_.json ? trace_json(record, event->message, event->seconds)
					 : trace_text(record, event->message, event->seconds));
	}

private:
	bool end(const std::string &text)
	{
		--left_;
		return put(text);
	}
	bool put(const std::string &text)
	{
		context_.text << text << '\n';
		return left_ && context_.text.good();
	}

	const Context &context_;
	TraceLines lines_;
	MessageFollower follower_;
	std::uint64_t left_;
};

/// In place of a peer's number.
constexpr std::uint32_t kDatagrams = 0;

Result<std::uint32_t> far_queue_pair(const std::string &device, std::uint32_t qpn)
{
	const auto transport = open_rdma_transport();
	if (!transport)
		return transport.error();
	const auto found = ask_queue_pairs(**transport, device, qpn);
	if (!found)
		return found.error();
	for (const Bytes &attributes : *found)
		if (const auto qp = read_queue_pair(attributes); qp.type == kQpUd)
			return kDatagrams;
		else if (qp.remote_qpn && *qp.remote_qpn)
			return *qp.remote_qpn;
	return Error{fmt::format(
		"queue pair {} of {} cannot be followed: it is not of UD, nor is a peer known", qpn,
		device)};
}

/// The queue pair whose messages are followed.
struct Followed {
	std::string name;
	std::uint32_t qpn = 0;
	std::uint64_t count = 0;
};

Status follow_live(const Context &context, const Followed &followed, TraceRequest request)
{
	const auto far_qpn = far_queue_pair(followed.name, followed.qpn);
	if (!far_qpn)
		return far_qpn.error();
	if (*far_qpn == kDatagrams)
		request.receivers = true;
	else
		request.far_qpn = *far_qpn;
	LiveOutput output(context);
	return run_instance(output, request,
			    Story(output.context(),
				  MessageFollower(followed.name, followed.qpn, *far_qpn),
				  followed.count));
}

Result<std::vector<TraceRecord>> read_file_records(const std::string &file,
						   ConnectionFilter &filter)
{
	std::ifstream stream(file);
	if (!stream)
		return errno_error("{}", file);
	return read_records(stream, file, filter);
}

/// Events that both machines have traced, by the clock of the first.
Result<std::vector<TraceRecord>> both_records(std::vector<TraceRecord> near,
					      const std::string &far_file, ConnectionFilter &filter)
{
	auto far = read_file_records(far_file, filter);
	if (!far)
		return far.error();
	const Connection connection = *filter.connection();
	const auto offset = clock_offset(near, *far, connection);
	if (!offset)
		return Error{fmt::format("{} and the other file have no packet in common in each "
					 "direction between queue pairs {} and {}",
					 far_file, connection.near_qpn, connection.far_qpn)};
	return merge_records(std::move(near), *std::move(far), *offset);
}

/// True if what the queue pair has sent are datagrams. The file is that of its machine: other devices, and the other
/// machine, may have a queue pair of the same number.
bool sends_datagrams(const std::vector<TraceRecord> &records, const Followed &followed,
		     const std::string &file)
{
	const auto qpn = std::to_string(followed.qpn);
	return std::ranges::any_of(records, [&](const TraceRecord &record) {
		const auto *number = record.field("qpn");
		const auto *device = record.field("device");
		const auto *service = record.field("service");
		return record.event == "qp_sent" && record.source == file && device &&
		       *device == followed.name && number && *number == qpn && service &&
		       *service == "UD";
	});
}

Status follow_files(const Context &context, const Followed &followed,
		    const std::vector<std::string> &files)
{
	ConnectionFilter filter(followed.name, followed.qpn);
	auto records = read_file_records(files.front(), filter);
	if (!records)
		return records.error();
	const auto connection = filter.connection();
	if (!connection)
		return Error{fmt::format("{}: queue pair {} of {} has no peer there", files.front(),
					 followed.qpn, followed.name)};
	if (files.size() > 1)
		records = both_records(*std::move(records), files[1], filter);
	if (!records)
		return records.error();
	const auto far_qpn = sends_datagrams(*records, followed, files.front())
				     ? kDatagrams
				     : connection->far_qpn;
	Story story(context, MessageFollower(followed.name, followed.qpn, far_qpn, files.front()),
		    followed.count);
	for (const TraceRecord &record : *records)
		if (!story.tell(record))
			break;
	return success();
}

Status run_follow(const Context &context, const Arguments &arguments)
{
	const auto name = parse_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	TraceRequest request;
	if (auto where = read_traced(*name, request); !where)
		return where;
	if (auto read = read_optional(arguments, "qp", 2, kMaxQpn, request.qpn); !read)
		return read;
	const auto count = read_count(arguments);
	if (!count)
		return count.error();
	const Followed followed{*name, *request.qpn, *count};
	const auto files = arguments.all("from");
	if (files.size() > 2 || (files.size() == 2 && files[0] == files[1]))
		return usage_error("'from' names a file of each end: two at most");
	return files.empty() ? follow_live(context, followed, request)
			     : follow_files(context, followed, files);
}

Status run_mark(const Context &context, const Arguments &arguments)
{
	const auto &text = arguments.one("TEXT");
	if (text.empty() || text.size() > kMaxMark ||
	    std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 127; }))
		return usage_error(
			fmt::format("TEXT has 1 to {} bytes without control characters", kMaxMark));
	const auto tracefs = find_tracefs();
	if (!tracefs)
		return tracefs.error();
	sweep_instances(*tracefs);
	const auto marked = mark_traces(*tracefs, text);
	if (!marked)
		return marked.error();
	if (!*marked)
		context.notes << "no trace is running ('pibctl trace' is one)\n";
	return success();
}

const Command kCommands[] = {
	{"trace",
	 "",
	 "print events as they happen",
	 "Prints what HCAs, switches, ports and queue pairs do, a line for each event, until it is\n"
	 "interrupted. With -j each line is a JSON object.",
	 {{"NAME[/PORT]", "an HCA or a switch, or one of its ports; default: all", false}},
	 {{"qp", "N", "of this queue pair, and packets to it"},
	  {"pid", "N", "of queue pairs that this process has made"},
	  {"event", "EVENT", "only these events", false, true},
	  {"-c", "N", "end after so many events"}},
	 {{"pibctl trace pib0", "all events of an HCA, until Ctrl-C"},
	  {"pibctl trace event dropped event retry", "what is lost, and sent again"}},
	 run_trace},
	{"trace",
	 "follow",
	 "tell the life of a queue pair's messages",
	 "Prints what happens to each message that a queue pair of RC, UC or UD sends, from the post to\n"
	 "the completion, at this end and, if it is in this kernel, at the far one. Messages are numbered\n"
	 "from the start of the trace on.",
	 {{"NAME", "the HCA"}},
	 {{"qp", "N", "number of the queue pair", true},
	  {"from", "FILE",
	   "not live, but from what 'pibctl -j trace' has written: at this end, and at the far one",
	   false, true},
	  {"-c", "N", "end after so many messages"}},
	 {{"pibctl trace follow pib0 qp 17", "what becomes of each message of queue pair 17"},
	  {"pibctl trace follow pib0 qp 17 from here.json from there.json",
	   "the same, of two machines"}},
	 run_follow},
	{"trace",
	 "mark",
	 "write a bookmark into each trace that runs",
	 "Writes a line that stands in every 'pibctl trace' that is running.",
	 {{"TEXT", "the line"}},
	 {},
	 {{"pibctl trace mark begin", "a line 'mark: begin' in each trace"}},
	 run_mark},
};

} // namespace

std::span<const Command> trace_commands()
{
	return kCommands;
}

} // namespace pib::ctl
