// SPDX-License-Identifier: GPL-2.0
#include "util/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

namespace pib::netd {
namespace {

using Json = nlohmann::ordered_json;

std::string_view level_name(LogLevel level)
{
	switch (level) {
	case LogLevel::error: return "error";
	case LogLevel::warning: return "warning";
	case LogLevel::info: return "info";
	case LogLevel::debug: return "debug";
	}
	return "";
}

std::string text_of(const std::string &value)
{
	const bool plain = !value.empty() && value.find_first_of(" \"=\\\t\n") == std::string::npos;
	if (plain)
		return value;
	return Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string text_of(std::uint64_t value)
{
	return std::to_string(value);
}

} // namespace

void Log::write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields)
{
	if (level > most_)
		return;
	std::string line;
	if (format_ == LogFormat::json) {
		const auto now = std::chrono::floor<std::chrono::milliseconds>(
			std::chrono::system_clock::now());
		Json object;
		object["time"] =
			fmt::format("{:%Y-%m-%dT%H:%M:%S}Z",
				    fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
		object["level"] = level_name(level);
		object["event"] = event;
		for (const auto &[key, value] : fields)
			std::visit([&, name = std::string(key)](
					   const auto &held) { object[name] = held; },
				   value);
		line = object.dump(-1, ' ', false, Json::error_handler_t::replace);
	} else {
		if (format_ == LogFormat::journal)
			line = fmt::format("<{}>", static_cast<int>(level));
		line += fmt::format("{}: {}", level_name(level), event);
		for (const auto &[key, value] : fields)
			line += std::visit(
				[name = key](const auto &held) {
					return fmt::format(" {}={}", name, text_of(held));
				},
				value);
	}
	const std::lock_guard guard(mutex_);
	out_ << line << '\n';
	out_.flush();
}

} // namespace pib::netd
