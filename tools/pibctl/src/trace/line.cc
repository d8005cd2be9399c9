// SPDX-License-Identifier: GPL-2.0
#include "trace/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace pib::ctl {
namespace {

constexpr std::string_view kPrefix = "pib_";
constexpr std::string_view kMarker = "tracing_mark_write";
/// The last field of an event, of which anything may be part: a program has written it.
constexpr std::string_view kRest = "text";
/// A thread's name is right-aligned in so many columns, and always shorter.
constexpr std::size_t kCommColumns = 16;

template <typename T>
std::optional<T> number(std::string_view word)
{
	T value = 0;
	const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
	if (word.empty() || error != std::errc{} || end != word.data() + word.size())
		return std::nullopt;
	return value;
}

std::string_view trimmed(std::string_view text)
{
	const auto first = text.find_first_not_of(' ');
	if (first == text.npos)
		return {};
	return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

/// Takes what stands before the mark, and the mark, away from text.
std::optional<std::string_view> take(std::string_view &text, std::string_view mark)
{
	const auto at = text.find(mark);
	if (at == text.npos)
		return std::nullopt;
	const auto taken = text.substr(0, at);
	text.remove_prefix(at + mark.size());
	return taken;
}

/// CPU:1 [LOST 23 EVENTS], or CPU:1 [LOST EVENTS]
std::optional<TraceRecord> parse_lost(std::string_view line)
{
	if (!line.starts_with("CPU:"))
		return std::nullopt;
	line.remove_prefix(4);
	const auto cpu = take(line, " [LOST ");
	const auto lost = take(line, "EVENTS]");
	if (!cpu || !lost)
		return std::nullopt;
	TraceRecord record;
	record.kind = TraceRecord::Kind::kLost;
	record.event = "lost";
	record.cpu = number<std::uint32_t>(*cpu).value_or(0);
	record.count = number<std::uint64_t>(trimmed(*lost)).value_or(0);
	return record;
}

bool is_key(std::string_view word)
{
	return !word.empty() && std::ranges::all_of(word, [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
	});
}

/// Position of the next " key=" in the text; npos: none. A device's name may have blanks.
std::size_t next_key(std::string_view text)
{
	for (auto blank = text.find(' '); blank != text.npos; blank = text.find(' ', blank + 1)) {
		const auto equals = text.find('=', blank);
		if (equals == text.npos)
			return text.npos;
		if (is_key(text.substr(blank + 1, equals - blank - 1)))
			return blank;
	}
	return text.npos;
}

bool parse_fields(std::string_view text, TraceRecord &record)
{
	while (!text.empty()) {
		const auto key = take(text, "=");
		if (!key || !is_key(*key))
			return false;
		const auto end = *key == kRest ? text.npos : next_key(text);
		record.fields.emplace_back(*key, text.substr(0, end));
		text.remove_prefix(end == text.npos ? text.size() : end + 1);
	}
	return true;
}

/// The name's columns, taken from the line. It may have anything in it, so it is never searched.
std::optional<std::string_view> take_comm(std::string_view &line)
{
	if (line.size() <= kCommColumns || line[kCommColumns] != '-')
		return std::nullopt;
	const auto columns = line.substr(0, kCommColumns);
	line.remove_prefix(kCommColumns + 1);
	return columns.substr(std::min(columns.find_first_not_of(' '), kCommColumns));
}

/// "TID     (TGID)": of tracefs's option record-tgid is what is in brackets.
std::optional<std::uint32_t> read_tid(std::string_view text)
{
	return number<std::uint32_t>(trimmed(text.substr(0, text.find('('))));
}

/// "  COMM-TID   [CPU] FLAGS SECONDS: ", taken from the line.
bool parse_context(std::string_view &line, TraceRecord &record)
{
	const auto comm = take_comm(line);
	const auto thread = take(line, "[");
	const auto place = take(line, "] ");
	const auto when = take(line, ": ");
	if (!comm || !thread || !place || !when)
		return false;
	const auto tid = read_tid(*thread);
	const auto cpu = number<std::uint32_t>(*place);
	const auto time = when->substr(when->rfind(' ') + 1);
	if (!tid || !cpu || !number<double>(time))
		return false;
	record.comm = *comm;
	record.tid = *tid;
	record.cpu = *cpu;
	record.time = time;
	return true;
}

bool is_decimal(std::string_view word)
{
	return !word.empty() && word.find_first_not_of("0123456789") == word.npos &&
	       (word.size() == 1 || word.front() != '0');
}

nlohmann::ordered_json json_value(const std::string &word)
{
	if (const auto value = number<std::uint64_t>(word); value && is_decimal(word))
		return *value;
	return word;
}

nlohmann::ordered_json json_of(const TraceRecord &record)
{
	nlohmann::ordered_json object;
	object["event"] = record.event;
	if (!record.source.empty())
		object["file"] = record.source;
	if (record.kind == TraceRecord::Kind::kLost) {
		object["cpu"] = record.cpu;
		object["count"] = record.count;
		return object;
	}
	if (record.kind == TraceRecord::Kind::kUnread) {
		object["count"] = record.count;
		return object;
	}
	object["time"] = number<double>(record.time).value_or(0);
	object["cpu"] = record.cpu;
	object["comm"] = record.comm;
	object["tid"] = record.tid;
	for (const auto &[key, value] : record.fields)
		object[key] = key == "device" || key == kRest ? nlohmann::ordered_json(value)
							      : json_value(value);
	if (record.kind == TraceRecord::Kind::kMark)
		object["text"] = record.text;
	return object;
}

/// The record as text: place, event, and the rest.
std::string text_of(const TraceRecord &record)
{
	const auto *device = record.field("device");
	const auto *port = record.field("port");
	const auto *qpn = record.field("qpn");
	std::string text = device ? *device : "";
	if (device && port && *port != "0")
		text += fmt::format("/{}", *port);
	if (device && qpn)
		text += fmt::format(" qp {}", *qpn);
	text += fmt::format("{}{}", text.empty() ? "" : " ", record.event);
	for (const auto &[key, value] : record.fields)
		if (key != "device" && key != "port" && key != "qpn")
			text += fmt::format(" {} {}", key, value);
	return text;
}

std::string dump(const nlohmann::ordered_json &object)
{
	return object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

/// Nothing of the line is repeated: it may have anything in it.
TraceRecord unread()
{
	TraceRecord record;
	record.kind = TraceRecord::Kind::kUnread;
	record.event = "unread";
	record.count = 1;
	return record;
}

/// An event or a mark.
std::optional<TraceRecord> parse_entry(std::string_view line)
{
	TraceRecord record;
	if (!parse_context(line, record))
		return std::nullopt;
	const auto event = take(line, ": ");
	if (!event)
		return std::nullopt;
	if (*event == kMarker) {
		record.kind = TraceRecord::Kind::kMark;
		record.event = "mark";
		record.text = line;
		return record;
	}
	if (!event->starts_with(kPrefix) || !parse_fields(trimmed(line), record))
		return std::nullopt;
	record.event = event->substr(kPrefix.size());
	return record;
}

} // namespace

const std::string *TraceRecord::field(std::string_view name) const
{
	const auto found = std::ranges::find(
		fields, name, [](const auto &field) -> std::string_view { return field.first; });
	return found == fields.end() ? nullptr : &found->second;
}

std::optional<TraceRecord> parse_trace_line(std::string_view line)
{
	if (line.ends_with('\n'))
		line.remove_suffix(1);
	auto lost = parse_lost(line);
	return lost ? lost : parse_entry(line);
}

/// Joins the held text and this line, if they are a record or the beginning of one.
std::optional<TraceRecord> TraceLines::join(std::string_view line)
{
	auto joined = fmt::format("{}\n{}", *held_, line);
	held_.reset();
	auto record = parse_entry(joined);
	if (!record && joined.size() < kCommColumns)
		held_ = std::move(joined);
	return record;
}

std::vector<TraceRecord> TraceLines::take(std::string_view line)
{
	std::vector<TraceRecord> records;
	if (held_) {
		if (auto record = join(line)) {
			records.push_back(*std::move(record));
			return records;
		}
		if (held_)
			return records;
		records.push_back(unread());
	}
	if (auto record = parse_trace_line(line))
		records.push_back(*std::move(record));
	else if (line.size() < kCommColumns)
		held_ = line;
	else
		records.push_back(unread());
	return records;
}

double trace_seconds(std::string_view time)
{
	double value = 0;
	std::from_chars(time.data(), time.data() + time.size(), value);
	return value;
}

std::string trace_json(const TraceRecord &record)
{
	return dump(json_of(record));
}

std::string trace_json(const TraceRecord &record, std::uint64_t message, double seconds)
{
	auto object = json_of(record);
	object["message"] = message;
	object["since_post_us"] = std::round(seconds * 1e6);
	return dump(object);
}

std::string trace_text(const TraceRecord &record)
{
	const auto source = record.source.empty() ? "" : record.source + ": ";
	if (record.kind == TraceRecord::Kind::kLost)
		return fmt::format("{}{} events were lost on CPU {}", source,
				   record.count ? std::to_string(record.count) : "some",
				   record.cpu);
	if (record.kind == TraceRecord::Kind::kUnread)
		return fmt::format("{}{} line of the trace could not be read", source,
				   record.count);
	if (record.kind == TraceRecord::Kind::kMark)
		return fmt::format("{} {}mark: {}", record.time, source, record.text);
	return fmt::format("{} {}", record.time, text_of(record));
}

std::string trace_text(const TraceRecord &record, std::uint64_t message, double seconds)
{
	const auto source = record.source.empty() ? "" : record.source + ": ";
	return fmt::format("message {} +{:.0f} us {}{}", message, seconds * 1e6, source,
			   text_of(record));
}

} // namespace pib::ctl
