// SPDX-License-Identifier: GPL-2.0
#include "manners/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "model/show/output.h"
#include "model/words/count.h"

namespace pib::ctl {
namespace {

/// A line of the terminal for an explanation.
constexpr std::size_t kColumns = 90;

std::string wrapped(std::string_view text)
{
	std::string lines;
	while (!text.empty()) {
		auto end = text.size();
		if (end > kColumns)
			end = text.rfind(' ', kColumns);
		lines += fmt::format("    {}\n", text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return lines;
}

std::string place_text(const MannerPlace &place)
{
	const auto comm = printable(place.comm);
	if (place.device.empty())
		return fmt::format("{}, by {} (pid {}, thread {}) at {}", place.what, comm,
				   place.pid, place.tid, place.time);
	return fmt::format("{} {} {}: {}, by {} (pid {}, thread {}) at {}", place.device,
			   place.object, place.number, place.what, comm, place.pid, place.tid,
			   place.time);
}

std::string call_text(const MannerCall &call)
{
	const auto place = fmt::format("{}+{:#x}", printable(call.file), call.offset);
	if (call.function.empty())
		return fmt::format("        {}\n", place);
	return fmt::format("        {} ({})\n", printable(call.function), place);
}

std::string stack_text(const std::vector<MannerCall> &stack)
{
	std::string text;
	for (const MannerCall &call : stack)
		text += call_text(call);
	return text;
}

nlohmann::ordered_json stack_json(const std::vector<MannerCall> &stack)
{
	auto calls = nlohmann::ordered_json::array();
	for (const MannerCall &call : stack)
		calls.push_back({{"function", call.function},
				 {"file", call.file},
				 {"offset", fmt::format("{:#x}", call.offset)}});
	return calls;
}

std::string finding_text(const MannerFinding &finding)
{
	const auto &place = finding.first;
	const bool is_left = finding.manner == Manner::kLeftBehind;
	return fmt::format("{}{}: {}\n{}    {}{}\n{}", manner_name(finding.manner),
			   is_left ? " " + place.object : "", format_count(finding.count, "time"),
			   wrapped(manner_text(finding.manner)),
			   finding.count == 1 ? "" : "first: ", place_text(place),
			   stack_text(place.stack));
}

nlohmann::ordered_json finding_json(const MannerFinding &finding)
{
	const auto &place = finding.first;
	return {{"manner", manner_name(finding.manner)},
		{"count", finding.count},
		{"explanation", manner_text(finding.manner)},
		{"device", place.device},
		{"object", place.object},
		{"number", place.number},
		{"what", place.what},
		{"pid", place.pid},
		{"comm", place.comm},
		{"tid", place.tid},
		{"time", trace_seconds(place.time)},
		{"stack", stack_json(place.stack)}};
}

std::string_view were(std::uint64_t count)
{
	return count == 1 ? "was" : "were";
}

/// Kinds that only the preloaded library sees.
std::string unseen_text()
{
	std::string names;
	for (const Manner manner :
	     {Manner::kWidePsn, Manner::kUnackedEvent, Manner::kForkUnsafe, Manner::kUnarmedWait,
	      Manner::kArmedLate, Manner::kBufferChanged, Manner::kReservedBits, Manner::kLoneFlag,
	      Manner::kEmptyField, Manner::kLargeMtu, Manner::kPathIgnored})
		names += fmt::format("{}{}", names.empty() ? "" : ", ", manner_name(manner));
	return fmt::format("not looked for, as libpibmanners.so was not heard of in the process: "
			   "{}\n",
			   names);
}

} // namespace

MannersReport make_report(const MannersWatcher &watcher, bool was_killed)
{
	MannersReport report;
	std::ranges::copy_if(
		watcher.findings(), std::back_inserter(report.findings),
		[&](const MannerFinding &finding) { return !was_killed || !finding.is_reaping; });
	report.missed = watcher.missed();
	report.has_seen = watcher.has_seen();
	report.has_library = watcher.has_library();
	return report;
}

void name_stacks(MannersReport &report, const FunctionNames &name)
{
	for (MannerFinding &finding : report.findings) {
		auto &stack = finding.first.stack;
		for (MannerCall &call : stack)
			call.function = name(call.file, call.offset);
		/// The callers of main() are the same for every program.
		const auto last = std::ranges::find(stack, "main", &MannerCall::function);
		if (last != stack.end())
			stack.erase(last + 1, stack.end());
	}
}

std::string manners_text(const MannersReport &report)
{
	std::string text;
	for (const MannerFinding &finding : report.findings)
		text += finding_text(finding);
	if (!report.has_seen)
		text += "no verbs of pib's devices were seen\n";
	else if (!report.has_found())
		text += report.has_library ? "nothing was found\n"
					   : "nothing was found of what a trace shows\n";
	if (report.has_seen && !report.has_library)
		text += unseen_text();
	if (report.missed)
		text += fmt::format("{} {} lost: there may be more\n",
				    format_count(report.missed, "event"), were(report.missed));
	if (report.unheard)
		text += fmt::format("{} of the preloaded library {} lost: counts are too low, or "
				    "kinds are missing\n",
				    format_count(report.unheard, "message"), were(report.unheard));
	return text;
}

std::string manners_json(const MannersReport &report)
{
	nlohmann::ordered_json object;
	object["findings"] = nlohmann::ordered_json::array();
	for (const MannerFinding &finding : report.findings)
		object["findings"].push_back(finding_json(finding));
	object["seen"] = report.has_seen;
	object["library"] = report.has_library;
	object["lost"] = report.missed;
	object["unheard"] = report.unheard;
	return object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace pib::ctl
