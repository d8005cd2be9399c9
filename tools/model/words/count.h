// SPDX-License-Identifier: GPL-2.0
// Numbers of things, for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pib::inline model {

/// "1 packet", "2 packets". one: a word whose plural has an "s".
std::string format_count(std::uint64_t count, std::string_view one);

} // namespace pib::inline model
