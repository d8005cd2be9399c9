// SPDX-License-Identifier: GPL-2.0
#include "capture/filter.h"

#include <fmt/format.h>
#include <linux/pib_capture.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>

namespace pib::ctl {
namespace {

struct Named {
	std::string_view name;
	std::uint32_t value;
	std::uint32_t mask;
};

/// Transport services stand in the upper three bits of an opcode.
constexpr Named kOpcodes[] = {
	{"rc", 0x00, 0xe0},  {"uc", 0x20, 0xe0},  {"ud", 0x60, 0xe0},
	{"cnp", 0x80, 0xe0}, {"xrc", 0xa0, 0xe0}, {"rc-ack", 0x11, 0xff},
};

/// Directed routes have a class of their own.
constexpr Named kClasses[] = {
	{"sm", 0x01, 0x7f}, {"sa", 0x03, 0xff}, {"perf", 0x04, 0xff},
	{"cm", 0x07, 0xff}, {"cc", 0x21, 0xff},
};

struct Field {
	std::string_view name;
	std::uint8_t number;
	std::uint32_t most;
	/// Bits that count if no mask is given.
	std::uint32_t mask;
	std::span<const Named> names;
};

/// Bit 15 of a P_Key says how much of a member its owner is, not of which partition.
constexpr Field kFields[] = {
	{"qp", PIB_CAPTURE_QP, 0xffffff, 0xffffff, {}},
	{"lid", PIB_CAPTURE_LID, 0xffff, 0xffff, {}},
	{"opcode", PIB_CAPTURE_OPCODE, 0xff, 0xff, kOpcodes},
	{"class", PIB_CAPTURE_CLASS, 0xff, 0xff, kClasses},
	{"pkey", PIB_CAPTURE_PKEY, 0xffff, 0x7fff, {}},
	{"vl", PIB_CAPTURE_VL, 15, 15, {}},
};

std::optional<std::uint32_t> read_number(std::string_view word, std::uint32_t most)
{
	int base = 10;
	if (word.starts_with("0x") || word.starts_with("0X")) {
		base = 16;
		word.remove_prefix(2);
	}
	std::uint32_t value = 0;
	const auto [end, error] =
		std::from_chars(word.data(), word.data() + word.size(), value, base);
	if (error != std::errc{} || end != word.data() + word.size() || value > most)
		return std::nullopt;
	return value;
}

std::string accepted(const Field &field)
{
	std::string text = fmt::format("a number up to {:#x}, or NUMBER/MASK", field.most);
	for (const Named &named : field.names)
		text += fmt::format(", {}", named.name);
	return text;
}

} // namespace

Result<CaptureMatch> parse_match(std::string_view name, std::string_view word)
{
	const auto found = std::ranges::find(kFields, name, &Field::name);
	if (found == std::end(kFields))
		return usage_error(fmt::format("there is no field '{}'", name));
	const Field &field = *found;
	const auto named = std::ranges::find(field.names, word, &Named::name);
	if (named != field.names.end())
		return CaptureMatch{field.number, named->value, named->mask};
	const auto slash = word.find('/');
	const auto value = read_number(word.substr(0, slash), field.most);
	std::optional<std::uint32_t> mask = field.mask;
	if (slash != word.npos)
		mask = read_number(word.substr(slash + 1), field.most);
	if (!value || !mask)
		return usage_error(
			fmt::format("{} must be {}, not '{}'", name, accepted(field), word));
	return CaptureMatch{field.number, *value & *mask, *mask};
}

} // namespace pib::ctl
