// SPDX-License-Identifier: GPL-2.0
#include "trace/filter.h"

#include <fmt/format.h>

#include <algorithm>

namespace pib::ctl {
namespace {

constexpr std::string_view kPrefix = "pib_";
/// IBV_WC_RECV, as completions have it.
constexpr int kReceived = 128;

bool has(const std::vector<std::string> &fields, std::string_view name)
{
	return std::ranges::find(fields, name) != fields.end();
}

/// Any of the fields that an event has may be the queue pair's number.
std::string qpn_filter(std::uint32_t qpn, const std::vector<std::string> &fields)
{
	std::string text;
	for (const std::string_view field : {"qpn", "src_qpn"})
		if (has(fields, field))
			text += fmt::format("{}{} == {}", text.empty() ? "" : " || ", field, qpn);
	return text;
}

/// " || ...": of other queue pairs, what names this one as the sender, and all completions of receives, which name none.
std::string receivers_filter(std::uint32_t qpn, const std::vector<std::string> &fields)
{
	std::string text;
	for (const std::string_view field : {"far_qpn", "src_qpn"})
		if (has(fields, field))
			text += fmt::format(" || {} == {}", field, qpn);
	if (has(fields, "cqn") && has(fields, "status"))
		text += fmt::format(" || opcode == {}", kReceived);
	return text;
}

std::string joined(const std::vector<std::string> &words)
{
	std::string text;
	for (const std::string &word : words)
		text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
	return text;
}

} // namespace

std::vector<std::string> parse_event_fields(std::string_view format)
{
	std::vector<std::string> fields;
	for (auto at = format.find("field:"); at != format.npos; at = format.find("field:", at)) {
		const auto end = format.find(';', at);
		auto declaration = format.substr(at, end - at);
		declaration = declaration.substr(0, declaration.find('['));
		fields.emplace_back(declaration.substr(declaration.find_last_of(" \t") + 1));
		at = end == format.npos ? format.size() : end;
	}
	return fields;
}

std::string lacking_words(const TraceRequest &request, const std::vector<std::string> &fields)
{
	std::vector<std::string> words;
	if (request.device && !has(fields, "device"))
		words.emplace_back("NAME");
	if (request.port && !has(fields, "port"))
		words.emplace_back("/PORT");
	if (request.qpn && qpn_filter(*request.qpn, fields).empty())
		words.emplace_back("'qp'");
	if (request.pid && !has(fields, "pid"))
		words.emplace_back("'pid'");
	return joined(words);
}

std::optional<std::string> event_filter(const TraceRequest &request,
					const std::vector<std::string> &fields)
{
	if (!lacking_words(request, fields).empty())
		return std::nullopt;
	std::vector<std::string> terms;
	if (request.device)
		terms.push_back(
			fmt::format("device == \"{}\"", request.device->substr(0, kTracedName)));
	if (request.port)
		terms.push_back(fmt::format("port == {}", *request.port));
	if (request.qpn)
		terms.push_back(fmt::format("({})", qpn_filter(*request.qpn, fields)));
	if (request.pid)
		terms.push_back(fmt::format("pid == {}", *request.pid));
	std::string text;
	for (const std::string &term : terms)
		text += fmt::format("{}{}", text.empty() ? "" : " && ", term);
	if (request.receivers && request.qpn)
		if (const auto others = receivers_filter(*request.qpn, fields); !others.empty())
			return fmt::format("({}){}", text, others);
	if (request.far_qpn)
		return fmt::format("({}) || {}", text, qpn_filter(*request.far_qpn, fields));
	return text;
}

Result<std::vector<std::string>> choose_events(const std::vector<std::string> &asked,
					       const std::vector<std::string> &known)
{
	std::vector<std::string> chosen;
	for (const std::string &word : asked) {
		const auto name = word.starts_with(kPrefix) ? word.substr(kPrefix.size()) : word;
		if (!has(known, name))
			return usage_error(fmt::format("there is no event '{}'; there are: {}",
						       word, joined(known)));
		if (!has(chosen, name))
			chosen.push_back(name);
	}
	return asked.empty() ? known : chosen;
}

} // namespace pib::ctl
