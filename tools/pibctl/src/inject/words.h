// SPDX-License-Identifier: GPL-2.0
// What can be made to go wrong on purpose, as words and as numbers of linux/pib.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/result.h"

namespace pib::ctl {

/// What a word after the kind is.
enum class InjectValue { kNone, kCount, kTime, kNak, kStatus };

struct InjectKind {
	std::uint8_t kind;
	/// What the object is called; empty: the HCA itself.
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
std::string nak_word(std::uint32_t code);
std::string status_word(std::uint32_t status);

} // namespace pib::ctl
