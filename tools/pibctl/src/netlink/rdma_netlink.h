// SPDX-License-Identifier: GPL-2.0
// RDMA netlink, of which iproute2's "rdma" is the usual user: what ib_core tells of objects.
#pragma once

#include <string>
#include <vector>

#include "netlink/transport.h"

namespace pib::ctl {

/// Attributes of each queue pair of that number: numbers 0 and 1 are those of each port. code of the
/// error: ENODEV: no such device in this network namespace, ENOENT: no such queue pair.
Result<std::vector<Bytes>> ask_queue_pairs(Transport &transport, const std::string &device,
					   std::uint32_t qpn);

} // namespace pib::ctl
