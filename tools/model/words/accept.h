// SPDX-License-Identifier: GPL-2.0
// Words for enum pib_accept: which hosts that say hello get a port of a switch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/result.h"

namespace pib::inline model {

/// Nothing for a number that has no meaning.
std::optional<std::string> accept_name(std::uint8_t accept);
Result<std::uint8_t> parse_accept(std::string_view word);

} // namespace pib::inline model
