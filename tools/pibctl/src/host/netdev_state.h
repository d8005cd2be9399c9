// SPDX-License-Identifier: GPL-2.0
// Whether a netdev can carry anything just now.
#pragma once

#include <optional>
#include <string>

namespace pib::ctl {

/// IFF_ flags of a netdev of this network namespace; nothing if they cannot be had.
std::optional<unsigned int> netdev_flags(const std::string &netdev);

/// What keeps a netdev with these flags from carrying packets, for a user; empty if nothing does.
std::string netdev_trouble(const std::string &netdev, unsigned int flags);

} // namespace pib::ctl
