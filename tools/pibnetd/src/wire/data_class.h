// SPDX-License-Identifier: GPL-2.0
// The class of data, for the network to see: docs/wire-format.md, "What the network is told and tells".
#pragma once

#include "model/objects.h"
#include "wire/proto.h"

namespace pib::netd {

struct DataClass {
	/// DSCP, by service level.
	model::DscpTable dscp{};
	/// Routers may mark the datagrams (RFC 3168).
	bool ecn = false;

	/// TOS (IPv4) or Traffic Class (IPv6) of a datagram with this packet. peer_tells: the peer
	/// makes FECN of marks.
	std::uint8_t tos(const pib_hdrs &h, bool peer_tells) const
	{
		constexpr std::uint8_t ect0 = 2;
		const bool may_mark = ecn && peer_tells && pib_hdrs_sender_is_told(&h);
		return static_cast<std::uint8_t>(dscp[h.sl & 0xF] << 2 | (may_mark ? ect0 : 0));
	}
};

} // namespace pib::netd
