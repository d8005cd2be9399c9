// SPDX-License-Identifier: GPL-2.0
// For tests: answers of a module that has one of everything.
#pragma once

#include "netlink/transport.h"

namespace pib::ctl::fake {

Bytes hca_answer();
Bytes switch_answer();
Bytes local_link_answer();
/// The faults of that link, to be added to it.
Bytes fault_answer();
Bytes udp_link_answer();
Bytes uplink_answer();
/// Of verbs: a QP of a process, and an attachment of the kernel.
Bytes queue_pair_answer();
Bytes attachment_answer();

} // namespace pib::ctl::fake
