// SPDX-License-Identifier: GPL-2.0
// Kinds of injections, as words and as numbers of linux/pib.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/result.h"

namespace pib::ctl {

/// Meaning of a word after the kind.
enum class InjectValue { kNone, kCount, kTime, kNak, kStatus, kMadStatus, kLie, kError };

struct InjectKind {
	std::uint8_t kind;
	/// Word for the kind of object; empty: the HCA itself.
	std::string_view object;
	std::string_view word;
	InjectValue value;
};

std::span<const InjectKind> inject_kinds();
/// Null for a kind of a newer module.
const InjectKind *find_inject_kind(std::uint8_t kind);
const InjectKind *find_inject_kind(std::string_view object, std::string_view word);
/// Codes of NAKs as "remote-access", statuses as "retry-exc", reasons as "fatal".
Result<std::uint32_t> parse_nak(std::string_view word);
Result<std::uint32_t> parse_status(std::string_view word);
Result<std::uint32_t> parse_inject_event(std::string_view word);
/// A management class as "sm", the field of a lie as "node-guid", an error as "ENOMEM".
Result<std::uint32_t> parse_mgmt_class(std::string_view word);
Result<std::uint32_t> parse_lie(std::string_view word);
Result<std::uint32_t> parse_errno(const std::string &word);
/// Value of a lie: a GUID, or the state of a port.
Result<std::uint64_t> parse_lie_value(std::uint32_t lie, const std::string &word);
/// Decimal or, with 0x, hexadecimal.
Result<std::uint32_t> parse_any_base(std::string_view what, std::string_view word,
				     std::uint32_t least, std::uint32_t most);
std::string mgmt_class_word(std::uint32_t mgmt_class);
std::string lie_word(std::uint32_t lie);
std::string lie_value_word(std::uint32_t lie, std::uint64_t value);
std::string errno_word(std::uint32_t error);
std::string nak_word(std::uint32_t code);
std::string status_word(std::uint32_t status);

} // namespace pib::ctl
