// SPDX-License-Identifier: GPL-2.0
// Spellings of InfiniBand tools for the numbers in PortInfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pib::inline model {

/// As "rdma link" spells them: DOWN, INIT, ARMED, ACTIVE.
std::string state_name(std::uint8_t state);
/// As "rdma link" spells them: POLLING, LINK_UP and so on.
std::string physical_state_name(std::uint8_t state);
/// "4X"; nothing for a code that has no meaning.
std::optional<std::string> width_name(std::uint8_t width);
std::optional<std::string> speed_name(std::uint16_t speed);
/// Signalling rate of the whole port in Gb/s, as ibstat's "Rate" counts it.
std::optional<double> rate(std::uint8_t width, std::uint16_t speed);

} // namespace pib::inline model
