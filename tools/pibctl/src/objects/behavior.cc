// SPDX-License-Identifier: GPL-2.0
#include "objects/behavior.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>
#include <bit>
#include <iterator>

extern "C" {
#include "kernel/proto/splitmix.h"
}

namespace pib::ctl {
namespace {

#include "netlink/behavior_names.inc"

Error unknown(std::string_view word)
{
	std::string list;
	for (const BehaviorName &name : kBehaviorNames)
		list += fmt::format("{}, ", name.word);
	return usage_error(
		fmt::format("'{}' is no behavior: accepted are {}none and random", word, list));
}

} // namespace

std::span<const BehaviorName> behavior_names()
{
	return kBehaviorNames;
}

Result<std::uint32_t> parse_behaviors(std::string_view list)
{
	if (list == "none")
		return std::uint32_t{0};
	std::uint32_t behaviors = 0;
	for (std::size_t at = 0; at <= list.size();) {
		const auto end = std::min(list.find(',', at), list.size());
		const auto word = list.substr(at, end - at);
		const auto found = std::ranges::find(kBehaviorNames, word, &BehaviorName::word);
		if (found == std::end(kBehaviorNames))
			return unknown(word);
		behaviors |= found->bit;
		at = end + 1;
	}
	return behaviors;
}

std::string behavior_list(std::uint32_t behaviors)
{
	std::string list;
	const auto add = [&](std::string_view word) {
		list += fmt::format("{}{}", list.empty() ? "" : ",", word);
	};
	for (const BehaviorName &name : kBehaviorNames)
		if (behaviors & name.bit)
			add(name.word);
	if (const auto rest = behaviors & ~std::uint32_t{PIB_BEHAVIOR_MASK})
		add(fmt::format("{:#x}", rest));
	return list.empty() ? "none" : list;
}

/// The bit of a behavior is that of the mixed seed: new ones change nothing of the others.
std::uint32_t pick_behaviors(std::uint64_t seed)
{
	const std::uint64_t drawn = pib_splitmix(seed + PIB_SPLITMIX_STEP);
	std::uint32_t behaviors = 0;
	for (const BehaviorName &name : kBehaviorNames)
		if (drawn >> std::countr_zero(name.bit) & 1)
			behaviors |= name.bit;
	return behaviors;
}

} // namespace pib::ctl
