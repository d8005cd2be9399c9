// SPDX-License-Identifier: GPL-2.0
// RDMA netlink, of which iproute2's "rdma" is the usual user: what ib_core tells of objects.
#pragma once

#include <string>

#include "netlink/transport.h"

namespace pib::ctl {

/// The attributes of a queue pair's answer to RDMA_NLDEV_CMD_RES_QP_GET. code of the error: ENODEV:
/// no such device in this network namespace, ENOENT: no such queue pair.
Result<Bytes> ask_queue_pair(Transport &transport, const std::string &device, std::uint32_t qpn);

} // namespace pib::ctl
