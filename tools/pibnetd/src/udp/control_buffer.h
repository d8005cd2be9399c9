// SPDX-License-Identifier: GPL-2.0
// Room for what the kernel says of a datagram beside its bytes, or is told: address, hop limit,
// size of segments, marks.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

namespace pib::netd {

struct ControlBuffer {
	alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(in6_pktinfo)) + 3 * CMSG_SPACE(sizeof(int)) +
				    32];
};

} // namespace pib::netd
