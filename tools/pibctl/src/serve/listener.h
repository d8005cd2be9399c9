// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <string>

#include "model/objects.h"
#include "model/result.h"

namespace pib::ctl {

/// A TCP socket that listens there, which is the caller's. Port 0 becomes the one that the kernel
/// has chosen.
Result<int> listen_at(Endpoint &where);

/// An address of this machine, which may be that of all networks. The port stays open.
Result<Endpoint> parse_listen(const std::string &word);

bool is_loopback(const Endpoint &where);

} // namespace pib::ctl
