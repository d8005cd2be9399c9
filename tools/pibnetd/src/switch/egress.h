// SPDX-License-Identifier: GPL-2.0
// Packets become datagrams.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <vector>

#include "switch/link.h"

namespace pib::netd {

/// Memory to which queued datagrams refer; it must stay until they are sent.
struct Batch {
	std::vector<std::vector<OutPacket>> packets;
	/// Some that a lane had held.
	std::deque<std::vector<OutPacket>> taken;
	std::deque<std::array<std::uint8_t, PIB_SEG_HDR_LEN>> headers;
	/// Bytes of packets that have no other place.
	std::deque<std::vector<std::uint8_t>> kept;
	std::deque<std::vector<std::uint8_t>> sealed;
};

class Egress {
public:
	Egress(Wire &wire, Stats &stats) : wire_(wire), stats_(stats) {}

	/// Of a super-packet.
	static constexpr std::size_t kBytesMax = 65000;

	/// How many of the packets that have come are not sent, by VL.
	using Left = std::array<std::size_t, Lanes::kVls>;

	/// Gives the wire what waits on the link, in super-packets as large as may be, of which the
	/// port's arbiter says the order. The last packets of a lane are left where its window has
	/// no room for them. The packets, headers(), sealed() and taken() must stay as they are
	/// until the wire is flushed.
	Left send_lanes(Link &link, std::uint64_t now);
	/// Bytes of a datagram that leaves by the link, seal included.
	std::size_t room(const Link &link) { return std::min(wire_.room(link.path), link.room()); }
	/// Packets that lanes had held.
	std::deque<std::vector<OutPacket>> &taken() { return taken_; }
	std::deque<std::array<std::uint8_t, PIB_SEG_HDR_LEN>> &headers() { return headers_; }
	std::deque<std::vector<std::uint8_t>> &sealed() { return sealed_; }

private:
	/// Packets of a lane that are sent next.
	struct Turn {
		std::span<OutPacket> packets;
		/// It is the last: what has come. Before it goes what was held, some at a time.
		bool is_last = false;
	};

	static bool has_more(const Turn &turn, const Lanes &lanes, unsigned vl);
	void refill(Turn &turn, Lanes &lanes, unsigned vl);
	void datagrams(Link &link, std::span<OutPacket> packets);
	void whole_frame(Link &link, const OutPacket &frame);
	void frame(Link &link, std::span<OutPacket> packets, std::size_t bytes, std::size_t room);
	void segment_header(pib_segment &segment, std::size_t left, bool at_start);
	void send(Link &link, std::size_t segment, std::size_t count, const OutPacket &first);
	std::size_t send_next(Link &link, std::span<OutPacket> packets, std::size_t room);
	bool may_send(Link &link, unsigned vl, std::uint64_t now);
	/// Whether what is sent has waited until the window of its VL was open.
	enum class Waits { for_window, never };
	std::size_t send_from(Link &link, unsigned vl, std::span<OutPacket> packets,
			      std::size_t room, std::uint64_t now, Waits waits);
	Left leave(Link &link, std::array<Turn, Lanes::kVls> &turns, std::size_t room,
		   std::uint64_t now);
	std::size_t send_ahead(Link &link, unsigned vl, std::span<OutPacket> packets,
			       std::size_t room, std::uint64_t now);

	Wire &wire_;
	Stats &stats_;
	std::vector<iovec> parts_;
	std::deque<std::array<std::uint8_t, PIB_SEG_HDR_LEN>> headers_;
	std::deque<std::vector<std::uint8_t>> sealed_;
	std::deque<std::vector<OutPacket>> taken_;
};

} // namespace pib::netd
