// SPDX-License-Identifier: GPL-2.0
// Keyed fabrics: the same sums as kernel/auth.c makes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wire/proto.h"

namespace pib::netd {

/// A pre-shared key; empty: the fabric has none.
using Key = std::vector<std::uint8_t>;

/// Puts the authentication into a control datagram of PIB_HELLO_WIRE_LEN bytes.
void auth_seal(const Key &key, std::span<std::uint8_t> hello);
/// Both ends have a key, the same, or neither has one.
bool auth_check(const Key &key, const pib_hello &parsed, std::span<const std::uint8_t> hello);
/// The tag of DATA to the session to from the session from.
std::uint16_t auth_tag(const Key &key, std::uint64_t to, std::uint64_t from);

} // namespace pib::netd
