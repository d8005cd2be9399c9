// SPDX-License-Identifier: GPL-2.0
#include "trace/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "model/show/output.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::ordered_json;

/// Keys of what is no field of the event.
constexpr std::string_view kContext[] = {"event", "time", "cpu",     "comm",
					 "tid",	  "file", "message", "since_post_us"};

std::uint32_t number_at(const Json &object, const char *key)
{
	const auto found = object.find(key);
	return found != object.end() && found->is_number_unsigned() ? found->get<std::uint32_t>()
								    : 0;
}

/// As it may go to a terminal: the file comes from another machine.
std::string word_of(const Json &value)
{
	return printable(value.is_string() ? value.get<std::string>() : value.dump());
}

/// Values of an event are words and numbers.
bool is_flat(const Json &object)
{
	return std::ranges::none_of(object,
				    [](const Json &value) { return value.is_structured(); });
}

std::string word_at(const Json &object, const char *key)
{
	const auto found = object.find(key);
	return found != object.end() ? word_of(*found) : "";
}

TraceRecord::Kind kind_of(const Json &object, std::string_view event)
{
	if (event == "lost")
		return TraceRecord::Kind::kLost;
	if (event == "unread")
		return TraceRecord::Kind::kUnread;
	/// That of a program has a device.
	if (event == "mark" && !object.contains("device"))
		return TraceRecord::Kind::kMark;
	return TraceRecord::Kind::kEvent;
}

std::string time_text(double seconds)
{
	return fmt::format("{:.6f}", seconds);
}

std::string_view field_of(const TraceRecord &record, std::string_view name)
{
	const auto *field = record.field(name);
	return field ? std::string_view(*field) : std::string_view();
}

/// 0: it is no number.
std::uint32_t number_of(std::string_view word)
{
	std::uint32_t number = 0;
	std::from_chars(word.data(), word.data() + word.size(), number);
	return number;
}

bool is_between(const TraceRecord &record, std::uint32_t qpn, std::uint32_t far_qpn)
{
	return field_of(record, "qpn") == std::to_string(qpn) &&
	       field_of(record, "far_qpn") == std::to_string(far_qpn);
}

/// When each packet passed a queue pair, by what it is. A packet that has passed more than once was
/// sent again: it has no time, as nobody knows which of them came.
using Passages = std::map<std::string, std::optional<double>>;

Passages passages(const std::vector<TraceRecord> &records, std::uint32_t qpn, std::uint32_t far_qpn,
		  std::string_view how)
{
	Passages found;
	for (const TraceRecord &record : records) {
		const bool is_packet = record.event == fmt::format("qp_{}", how);
		if ((!is_packet && record.event != fmt::format("ack_{}", how)) ||
		    !is_between(record, qpn, far_qpn))
			continue;
		const auto name =
			fmt::format("{} {}", field_of(record, is_packet ? "opcode" : "answer"),
				    field_of(record, "psn"));
		const auto [place, is_first] = found.emplace(name, trace_seconds(record.time));
		if (!is_first)
			place->second.reset();
	}
	return found;
}

/// Of the quickest packet from one to the other, by the clocks of both.
std::optional<double> least_delay(const Passages &sent, const Passages &received)
{
	std::optional<double> least;
	for (const auto &[name, time] : sent) {
		const auto arrival = received.find(name);
		if (!time || arrival == received.end() || !arrival->second)
			continue;
		const double delay = *arrival->second - *time;
		least = std::min(least.value_or(delay), delay);
	}
	return least;
}

bool is_earlier(const TraceRecord &one, const TraceRecord &other)
{
	return trace_seconds(one.time) < trace_seconds(other.time);
}

} // namespace

std::optional<TraceRecord> parse_trace_json(std::string_view line)
{
	const Json object = Json::parse(line, nullptr, false);
	if (!object.is_object() || !is_flat(object) || !object.contains("event") ||
	    !object["event"].is_string())
		return std::nullopt;
	TraceRecord record;
	record.event = word_of(object["event"]);
	record.kind = kind_of(object, record.event);
	if (object.contains("time") && object["time"].is_number())
		record.time = time_text(object["time"].get<double>());
	record.cpu = number_at(object, "cpu");
	record.tid = number_at(object, "tid");
	record.comm = word_at(object, "comm");
	if (record.kind != TraceRecord::Kind::kEvent) {
		record.text = word_at(object, "text");
		record.count = number_at(object, "count");
		return record;
	}
	for (const auto &[key, value] : object.items())
		if (std::ranges::find(kContext, key) == std::end(kContext))
			record.fields.emplace_back(printable(key), word_of(value));
	return record;
}

/// Before the peer is known no message has been sent, so what the far end has done belongs to none.
/// But its events may already say by "far_qpn" which device it is.
bool ConnectionFilter::needs(const TraceRecord &record)
{
	if (record.kind != TraceRecord::Kind::kEvent)
		return true;
	const auto near_qpn = std::to_string(ends_.near_qpn);
	const auto qpn = field_of(record, "qpn");
	if (!ends_.far_qpn && qpn == near_qpn && field_of(record, "device") == device_)
		ends_.far_qpn = number_of(field_of(record, "far_qpn"));
	return qpn == near_qpn || (ends_.far_qpn ? qpn == std::to_string(ends_.far_qpn)
						 : field_of(record, "far_qpn") == near_qpn);
}

std::optional<Connection> ConnectionFilter::connection() const
{
	return ends_.far_qpn ? std::optional(ends_) : std::nullopt;
}

Result<std::vector<TraceRecord>> read_records(std::istream &stream, const std::string &file,
					      ConnectionFilter &filter)
{
	std::vector<TraceRecord> records;
	std::string line;
	/// A loss has no time: it stays behind the event before it, be that kept or not.
	std::string latest;
	for (std::size_t number = 1; std::getline(stream, line); ++number) {
		auto record = parse_trace_json(line);
		if (!record)
			return Error{fmt::format("{}: line {} is no event of 'pibctl -j trace'",
						 file, number)};
		if (record->time.empty())
			record->time = latest;
		latest = record->time;
		if (!filter.needs(*record))
			continue;
		record->source = file;
		records.push_back(*std::move(record));
	}
	if (stream.bad())
		return Error{fmt::format("{}: it cannot be read to its end", file)};
	return records;
}

std::optional<double> clock_offset(const std::vector<TraceRecord> &near,
				   const std::vector<TraceRecord> &far,
				   const Connection &connection)
{
	const auto [near_qpn, far_qpn] = connection;
	const auto there = least_delay(passages(near, near_qpn, far_qpn, "sent"),
				       passages(far, far_qpn, near_qpn, "received"));
	const auto back = least_delay(passages(far, far_qpn, near_qpn, "sent"),
				      passages(near, near_qpn, far_qpn, "received"));
	if (!there || !back)
		return std::nullopt;
	return (*there - *back) / 2;
}

std::vector<TraceRecord> merge_records(std::vector<TraceRecord> near, std::vector<TraceRecord> far,
				       double offset)
{
	for (TraceRecord &record : far)
		if (!record.time.empty())
			record.time = time_text(trace_seconds(record.time) - offset);
	std::vector<TraceRecord> all;
	all.reserve(near.size() + far.size());
	std::merge(std::move_iterator(near.begin()), std::move_iterator(near.end()),
		   std::move_iterator(far.begin()), std::move_iterator(far.end()),
		   std::back_inserter(all), is_earlier);
	return all;
}

} // namespace pib::ctl
