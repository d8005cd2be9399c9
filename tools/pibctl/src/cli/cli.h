// SPDX-License-Identifier: GPL-2.0
// The command line: options and commands, their dispatch, and exit status.
#pragma once

#include <iosfwd>

#include "netlink/transport.h"

namespace pib::ctl {

/// Runs one command line. Returns the exit status: 0, 1 refused, 2 wrong usage. Progress is shown
/// on a terminal only.
int run(int argc, const char *const *argv, TransportFactory open, std::ostream &out,
	std::ostream &err, bool err_is_terminal = false);

} // namespace pib::ctl
