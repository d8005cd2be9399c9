// SPDX-License-Identifier: GPL-2.0
// SHA-256 and HMAC-SHA-256, for keyed fabrics: nettle's.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace pib::netd {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::span<const std::uint8_t> data);
Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> data);

} // namespace pib::netd
