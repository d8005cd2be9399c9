// SPDX-License-Identifier: GPL-2.0
// The kernel's generic netlink, through libmnl.
#pragma once

#include "netlink/transport.h"

namespace pibctl {

Result<std::unique_ptr<Transport>> open_mnl_transport();

}  // namespace pibctl
