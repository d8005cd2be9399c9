// SPDX-License-Identifier: GPL-2.0
// Privileges of the daemon.
#pragma once

namespace pib::netd {

/// Gives up, for good, the capabilities that a service manager has given. Root's stay, since root
/// has asked for a daemon that runs as root.
void drop_capabilities();

} // namespace pib::netd
