// SPDX-License-Identifier: GPL-2.0
// Keywords and options with numbers, or a key, that several commands take.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "commands/arguments.h"
#include "model/words/key_file.h"
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

/// Leaves the key alone if the keyword, which names a file, is not there.
inline Status read_key(const Arguments &arguments, std::string_view keyword,
		       std::optional<Bytes> &key)
{
	const auto path = arguments.maybe(keyword);
	if (!path)
		return success();
	auto read = read_key_file(*path);
	if (!read)
		return read.error();
	key = std::move(*read);
	return success();
}

/// 10, 10k, 10M or 10G
inline Result<std::uint64_t> parse_bytes(std::string_view what, std::string_view word,
					 std::uint64_t least, std::uint64_t most)
{
	constexpr std::string_view kUnits = "kMG";
	std::uint64_t unit = 1;
	if (const auto at = word.empty() ? kUnits.npos : kUnits.find(word.back());
	    at != kUnits.npos) {
		unit = std::uint64_t{1024} << 10 * at;
		word.remove_suffix(1);
	}
	const auto number = parse_number(what, word, (least + unit - 1) / unit, most / unit);
	if (!number)
		return number.error();
	return *number * unit;
}

/// Leaves the number alone if the option is not there.
template <typename T>
Status read_bytes(const Arguments &arguments, std::string_view name, std::uint64_t least,
		  std::uint64_t most, T &value)
{
	const auto word = arguments.maybe(name);
	if (!word)
		return success();
	const auto number = parse_bytes(name, *word, least, most);
	if (!number)
		return number.error();
	value = static_cast<T>(*number);
	return success();
}

} // namespace pib::ctl
