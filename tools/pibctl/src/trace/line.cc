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

/// CPU:1 [LOST 23 EVENTS]
std::optional<TraceRecord> parse_lost(std::string_view line)
{
	if (!line.starts_with("CPU:"))
		return std::nullopt;
	line.remove_prefix(4);
	const auto cpu = take(line, " [LOST ");
	const auto lost = take(line, " EVENTS]");
	if (!cpu || !lost)
		return std::nullopt;
	TraceRecord record;
	record.kind = TraceRecord::Kind::kLost;
	record.event = "lost";
	record.cpu = number<std::uint32_t>(*cpu).value_or(0);
	record.lost = number<std::uint64_t>(*lost).value_or(0);
	return record;
}

bool is_key(std::string_view word)
{
	return !word.empty() && std::ranges::all_of(word, [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
	});
}

/// Where the next " key=" begins, from there on; npos: nowhere. A device's name may have blanks.
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
		const auto end = next_key(text);
		record.fields.emplace_back(*key, text.substr(0, end));
		text.remove_prefix(end == text.npos ? text.size() : end + 1);
	}
	return true;
}

/// "COMM-TID   [CPU" and "FLAGS SECONDS": do they say that?
bool read_context(std::string_view before, std::string_view after, TraceRecord &record)
{
	const auto open = before.rfind('[');
	if (open == before.npos)
		return false;
	const auto thread = trimmed(before.substr(0, open));
	const auto dash = thread.rfind('-');
	if (dash == thread.npos)
		return false;
	const auto cpu = number<std::uint32_t>(before.substr(open + 1));
	const auto tid = number<std::uint32_t>(thread.substr(dash + 1));
	const auto time = trimmed(after.substr(after.rfind(' ') + 1));
	if (!cpu || !tid || !number<double>(time))
		return false;
	record.comm = thread.substr(0, dash);
	record.tid = *tid;
	record.cpu = *cpu;
	record.time = time;
	return true;
}

/// "  COMM-TID   [CPU] FLAGS SECONDS: ", taken from the line. Names of threads may look like that, too.
bool parse_context(std::string_view &line, TraceRecord &record)
{
	for (auto end = line.find("] "); end != line.npos; end = line.find("] ", end + 1)) {
		auto rest = line.substr(end + 2);
		const auto when = take(rest, ": ");
		if (!when || !read_context(line.substr(0, end), *when, record))
			continue;
		line = rest;
		return true;
	}
	return false;
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
	if (record.kind == TraceRecord::Kind::kLost) {
		object["cpu"] = record.cpu;
		object["count"] = record.lost;
		return object;
	}
	object["time"] = number<double>(record.time).value_or(0);
	object["cpu"] = record.cpu;
	object["comm"] = record.comm;
	object["tid"] = record.tid;
	for (const auto &[key, value] : record.fields)
		object[key] = key == "device" ? nlohmann::ordered_json(value) : json_value(value);
	if (record.kind == TraceRecord::Kind::kMark)
		object["text"] = record.text;
	return object;
}

/// Where, what, and the rest.
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
	return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
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
	line = line.substr(0, line.find('\n'));
	if (auto lost = parse_lost(line))
		return lost;
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
	if (record.kind == TraceRecord::Kind::kLost)
		return fmt::format("{} events were lost on CPU {}", record.lost, record.cpu);
	if (record.kind == TraceRecord::Kind::kMark)
		return fmt::format("{} mark: {}", record.time, record.text);
	return fmt::format("{} {}", record.time, text_of(record));
}

std::string trace_text(const TraceRecord &record, std::uint64_t message, double seconds)
{
	return fmt::format("message {} +{:.0f} us {}", message, seconds * 1e6, text_of(record));
}

} // namespace pib::ctl
