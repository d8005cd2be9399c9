// SPDX-License-Identifier: GPL-2.0
// Deviations of an HCA from its default behavior, as words and as bits of enum pib_behavior.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/result.h"

namespace pib::ctl {

struct BehaviorName {
	std::uint32_t bit;
	std::string_view word;
};

std::span<const BehaviorName> behavior_names();
/// "reuse-qpn,exact-cq", or "none".
Result<std::uint32_t> parse_behaviors(std::string_view list);
/// The list as parse_behaviors() reads it. Bits of a newer module are a number at the end.
std::string behavior_list(std::uint32_t behaviors);
/// Each behavior or not, by chance: the same seed picks the same ones.
std::uint32_t pick_behaviors(std::uint64_t seed);

} // namespace pib::ctl
