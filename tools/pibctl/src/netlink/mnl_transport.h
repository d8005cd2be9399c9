// SPDX-License-Identifier: GPL-2.0
// The kernel's generic netlink and RDMA netlink, through libmnl.
#pragma once

#include "netlink/transport.h"

namespace pib::ctl {

Result<std::unique_ptr<Transport>> open_mnl_transport();
Result<std::unique_ptr<Transport>> open_rdma_transport();

} // namespace pib::ctl
