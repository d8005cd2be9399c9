// SPDX-License-Identifier: GPL-2.0
// Bytes without a meaning yet: a buffer that owns them, and a view of others'.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pib::inline model {

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

} // namespace pib::inline model
