// SPDX-License-Identifier: GPL-2.0
// Keywords with numbers that several commands take.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "commands/arguments.h"
#include "model/words/parse.h"

namespace pib::ctl {

/// Leaves the number alone if the keyword is not there.
template <typename T>
Status read_optional(const Arguments &arguments, std::string_view keyword, std::uint64_t least,
		     std::uint64_t most, std::optional<T> &number)
{
	const auto word = arguments.maybe(keyword);
	if (!word)
		return success();
	const auto value = parse_number(keyword, *word, least, most);
	if (!value)
		return value.error();
	number = static_cast<T>(*value);
	return success();
}

inline Status read_fabric(const Arguments &arguments, std::optional<std::uint32_t> &fabric)
{
	return read_optional(arguments, "fabric", 0, std::numeric_limits<std::uint32_t>::max(),
			     fabric);
}

inline Status read_udp_port(const Arguments &arguments, std::optional<std::uint16_t> &port)
{
	return read_optional(arguments, "udp-port", 1, std::numeric_limits<std::uint16_t>::max(),
			     port);
}

} // namespace pib::ctl
