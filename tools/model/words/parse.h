// SPDX-License-Identifier: GPL-2.0
// Words of the command line, read into plain data. A refusal says what is accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/objects.h"
#include "model/result.h"

namespace pib::inline model {

/// what names the number in the refusal, as in "ports must be ...".
Result<std::uint64_t> parse_number(std::string_view what, std::string_view word,
				   std::uint64_t least, std::uint64_t most);
/// 16 hexadecimal digits, bare, after 0x, or in groups split by colons.
Result<std::uint64_t> parse_guid(std::string_view word);
/// A name for a new HCA or switch.
Result<std::string> parse_new_name(std::string_view word);
/// A name that something has: whatever the module could have let through.
Result<std::string> parse_name(std::string_view word);
Result<std::string> parse_netdev(std::string_view word);
/// NAME/PORT
Result<End> parse_end(std::string_view word);
/// IPv4[:PORT], IPv6 or [IPv6][:PORT]; IPv6 may carry %NETDEV.
Result<Endpoint> parse_endpoint(std::string_view word);
/// "up" or "down".
Result<bool> parse_plugged(std::string_view word);

std::string format_end(const End &end);
std::string format_endpoint(const Endpoint &endpoint);
/// As ibstat prints it: 0x and 16 digits.
std::string format_guid(std::uint64_t guid);

} // namespace pib::inline model
