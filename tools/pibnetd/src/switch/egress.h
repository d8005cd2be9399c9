// SPDX-License-Identifier: GPL-2.0
// Packets become datagrams.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "switch/link.h"

namespace pib::netd {

/// Memory to which queued datagrams refer; it must stay until they are sent.
struct Batch {
	std::vector<std::vector<OutPacket>> packets;
	std::deque<std::array<std::uint8_t, PIB_SEG_HDR_LEN>> headers;
	/// Bytes of packets that have no other place.
	std::deque<std::vector<std::uint8_t>> kept;
	std::deque<std::vector<std::uint8_t>> sealed;
};

class Egress {
public:
	Egress(Wire &wire, Stats &stats) : wire_(wire), stats_(stats) {}

	/// Gives the wire what waits on the link, in super-packets as large as may be, of which the
	/// port's arbiter says the order. The packets and headers() and sealed() must stay as they
	/// are until the wire is flushed.
	void send_lanes(Link &link);
	std::deque<std::array<std::uint8_t, PIB_SEG_HDR_LEN>> &headers() { return headers_; }
	std::deque<std::vector<std::uint8_t>> &sealed() { return sealed_; }

private:
	void datagrams(Link &link, std::span<OutPacket> packets);
	void frame(Link &link, std::span<OutPacket> packets, std::size_t bytes, std::size_t room);
	void segment_header(pib_segment &segment, std::size_t left, bool at_start);
	void send(Link &link, std::size_t segment, std::size_t count, const OutPacket &first);
	std::size_t send_next(Link &link, std::span<OutPacket> packets, std::size_t room);

	Wire &wire_;
	Stats &stats_;
	std::vector<iovec> parts_;
	std::deque<std::array<std::uint8_t, PIB_SEG_HDR_LEN>> headers_;
	std::deque<std::vector<std::uint8_t>> sealed_;
};

} // namespace pib::netd
