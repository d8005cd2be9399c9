// SPDX-License-Identifier: GPL-2.0
// Ability of a netdev to carry packets at the moment.
#pragma once

#include <optional>
#include <string>

namespace pib::ctl {

/// IFF_ flags of a netdev of this network namespace; nothing if they cannot be had.
std::optional<unsigned int> netdev_flags(const std::string &netdev);

/// The state of a netdev with these flags, as ip(8) spells it: UP, NO-CARRIER or DOWN.
std::string netdev_state(unsigned int flags);

/// The reason, for a user, why a netdev with these flags carries no packets; empty if it does.
std::string netdev_trouble(const std::string &netdev, unsigned int flags);

} // namespace pib::ctl
