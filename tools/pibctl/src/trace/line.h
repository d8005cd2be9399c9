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
	enum class Kind { kEvent, kMark, kLost };
	Kind kind = Kind::kEvent;
	/// Without "pib_"; of kMark "mark", of kLost "lost".
	std::string event;
	/// Seconds of the clock that the instance has, as text, so that nothing is rounded.
	std::string time;
	std::uint32_t cpu = 0;
	/// What ran there: name and number of the thread.
	std::string comm;
	std::uint32_t tid = 0;
	/// In the order of the line.
	std::vector<std::pair<std::string, std::string>> fields;
	/// kMark
	std::string text;
	/// kLost: how many events
	std::uint64_t lost = 0;

	const std::string *field(std::string_view name) const;
};

/// Nothing: the line is none of those that the module or a mark makes.
std::optional<TraceRecord> parse_trace_line(std::string_view line);

/// One object, without a line's end. Decimal values are numbers, all others strings.
std::string trace_json(const TraceRecord &record);
/// For people, without a line's end.
std::string trace_text(const TraceRecord &record);

/// The message of a queue pair to which an event belongs, and seconds since it was posted.
std::string trace_json(const TraceRecord &record, std::uint64_t message, double seconds);
std::string trace_text(const TraceRecord &record, std::uint64_t message, double seconds);

} // namespace pib::ctl
