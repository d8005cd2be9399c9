// SPDX-License-Identifier: GPL-2.0
// Structured logs: an event and its fields, a line each.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pib::netd {

using LogValue = std::variant<std::string, std::uint64_t>;
using LogField = std::pair<std::string_view, LogValue>;

enum class LogLevel { error = 3, warning = 4, info = 6, debug = 7 };
enum class LogFormat {
	/// event key=value ...
	text,
	/// As text, with a syslog priority before it, for journald.
	journal,
	json,
};

class Log {
public:
	Log(std::ostream &out, LogFormat format, LogLevel most) :
		out_(out), format_(format), most_(most)
	{
	}

	/// Any thread.
	void write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);
	void error(std::string_view event, std::initializer_list<LogField> fields = {})
	{
		write(LogLevel::error, event, fields);
	}
	void warning(std::string_view event, std::initializer_list<LogField> fields = {})
	{
		write(LogLevel::warning, event, fields);
	}
	void info(std::string_view event, std::initializer_list<LogField> fields = {})
	{
		write(LogLevel::info, event, fields);
	}
	void debug(std::string_view event, std::initializer_list<LogField> fields = {})
	{
		write(LogLevel::debug, event, fields);
	}

private:
	std::mutex mutex_;
	std::ostream &out_;
	LogFormat format_;
	LogLevel most_;
};

} // namespace pib::netd
