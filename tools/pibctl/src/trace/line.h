// SPDX-License-Identifier: GPL-2.0
// A line of trace_pipe, read and told again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pib::ctl {

struct TraceRecord {
	enum class Kind { kEvent, kMark, kLost, kUnread };
	Kind kind = Kind::kEvent;
	/// Without "pib_"; of kMark "mark", of kLost "lost", of kUnread "unread".
	std::string event;
	/// Seconds of the clock that the instance has, as text, so that nothing is rounded.
	std::string time;
	std::uint32_t cpu = 0;
	/// The thread that ran there: its name and number.
	std::string comm;
	std::uint32_t tid = 0;
	/// In the order of the line.
	std::vector<std::pair<std::string, std::string>> fields;
	/// kMark
	std::string text;
	/// The file from which it was read, if it was.
	std::string source;
	/// kLost: how many events, 0: the kernel does not say; kUnread: how many lines
	std::uint64_t count = 0;

	const std::string *field(std::string_view name) const;
};

/// The time of a record as a number.
double trace_seconds(std::string_view time);

/// Nothing: the line is none of those that the module or a mark makes.
std::optional<TraceRecord> parse_trace_line(std::string_view line);

/// Makes records of lines, in their order. A thread's name may have line ends: such a record is put
/// together. A line that cannot be read is a record, too.
class TraceLines {
public:
	/// Records that are complete with this line.
	std::vector<TraceRecord> take(std::string_view line);

private:
	std::optional<TraceRecord> join(std::string_view line);
	/// Lines that may be the beginning of a record, broken within a thread's name.
	std::optional<std::string> held_;
};

/// One object, without a line's end. Decimal values are numbers, all others strings.
std::string trace_json(const TraceRecord &record);
/// For people, without a line's end.
std::string trace_text(const TraceRecord &record);

/// The message of a queue pair to which an event belongs, and seconds since it was posted.
std::string trace_json(const TraceRecord &record, std::uint64_t message, double seconds);
std::string trace_text(const TraceRecord &record, std::uint64_t message, double seconds);

} // namespace pib::ctl
