// SPDX-License-Identifier: GPL-2.0
// Notifications to a service manager: sd_notify's protocol, without its library.
#pragma once

#include <cstdint>
#include <string_view>

namespace pib::netd {

/// To the socket that $NOTIFY_SOCKET names; does nothing if there is none.
void notify_manager(std::string_view state);
/// Interval at which the manager wants to hear WATCHDOG=1, ns; 0: never.
std::uint64_t watchdog_interval();

} // namespace pib::netd
