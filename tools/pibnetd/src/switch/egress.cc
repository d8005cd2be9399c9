// SPDX-License-Identifier: GPL-2.0
// Packets become datagrams: those that fit the path's MTU are a datagram each, a run of equal
// ones a super-packet; larger ones are put end to end into frames, and these are cut into
// segments (docs/wire-format.md).
#include <algorithm>

#include "switch/egress.h"

namespace pib::netd {
namespace {

constexpr std::size_t kBytesMax = 65000;
/// A path that leaves less than this for a segment is left to IP's fragments.
constexpr std::size_t kSegmentRoom = PIB_SEG_HDR_LEN + PIB_SEG_MIN;

using Packets = std::span<OutPacket>;

/// How many of the packets go into one super-packet, a datagram each: all but the last of one size.
std::size_t count_equal(Packets packets)
{
	const std::size_t size = PIB_DG_HDR_LEN + packets[0].size();
	std::size_t n = 1, bytes = size;
	for (; n < packets.size() && n < PIB_SEG_MAX; n++) {
		const std::size_t next = PIB_DG_HDR_LEN + packets[n].size();
		if (next > size || bytes + next > kBytesMax)
			break;
		bytes += next;
		if (next < size)
			return n + 1;
	}
	return n;
}

std::size_t count_frame(Packets packets, std::size_t room, std::size_t &bytes)
{
	const std::size_t most =
		std::min<std::size_t>(PIB_SEG_MAX, kBytesMax / (room + PIB_SEG_HDR_LEN)) * room;
	std::size_t n = 1;
	bytes = packets[0].size();
	for (; n < packets.size() && bytes + packets[n].size() <= most; n++)
		bytes += packets[n].size();
	return n;
}

} // namespace

void Egress::datagrams(Link &link, Packets packets)
{
	for (OutPacket &packet : packets) {
		const pib_dg header{.version = PIB_DG_VERSION,
				    .type = PIB_DG_DATA,
				    .flags = 0,
				    .tag = link.tx_tag,
				    .link_id = link.fsm.remote_id};
		pib_dg_build(&header, packet.head.data());
		parts_.push_back({packet.head.data(), packet.head.size()});
		if (packet.rest_length)
			parts_.push_back(
				{const_cast<std::uint8_t *>(packet.rest), packet.rest_length});
	}
	const bool several = packets.size() > 1;
	send(link, several ? PIB_DG_HDR_LEN + packets[0].size() : 0, packets.size());
}

void Egress::send(Link &link, std::size_t segment, std::size_t count)
{
	wire_.send(link.path, parts_, segment);
	parts_.clear();
	stats_.add(PIB_US_TX_DATAGRAMS, count);
}

/// left: bytes of the present packet that are still to come.
void Egress::segment_header(pib_segment &segment, std::size_t left, bool at_start)
{
	if (at_start)
		segment.first = 0;
	else
		segment.first =
			left < segment.size ? static_cast<std::uint16_t>(left) : PIB_SEG_NO_FIRST;
	headers_.emplace_back();
	pib_segment_build(&segment, headers_.back().data());
	parts_.push_back({headers_.back().data(), PIB_SEG_HDR_LEN});
	segment.index++;
}

void Egress::frame(Link &link, Packets packets, std::size_t bytes, std::size_t room)
{
	pib_segment segment{.flags = 0,
			    .tag = link.tx_tag,
			    .link_id = link.fsm.remote_id,
			    .frame = ++link.frame,
			    .index = 0,
			    .total = static_cast<std::uint8_t>((bytes + room - 1) / room),
			    .size = static_cast<std::uint16_t>(room),
			    .first = 0};
	std::size_t free = 0;
	for (OutPacket &packet : packets) {
		std::size_t left = packet.size();
		const auto put = [&](const std::uint8_t *from, std::size_t length) {
			while (length) {
				if (!free) {
					segment_header(segment, left, left == packet.size());
					free = room;
				}
				const std::size_t n = std::min(length, free);
				parts_.push_back({const_cast<std::uint8_t *>(from), n});
				from += n;
				length -= n;
				left -= n;
				free -= n;
			}
		};
		put(packet.head.data() + PIB_DG_HDR_LEN, kLrh);
		put(packet.rest, packet.rest_length);
	}
	send(link, segment.total > 1 ? room + PIB_SEG_HDR_LEN : 0, segment.total);
}

void Egress::send_queue(Link &link)
{
	const std::size_t room = wire_.room(link.path);
	const bool segments = link.fsm.peer_caps & PIB_CAP_SEGMENTS && room >= kSegmentRoom;
	Packets rest = link.queue;
	while (!rest.empty()) {
		std::size_t n = 1;
		if (rest[0].size() + PIB_DG_HDR_LEN <= room) {
			n = count_equal(rest);
			datagrams(link, rest.first(n));
		} else if (segments) {
			std::size_t bytes = 0;
			const std::size_t share = (room - PIB_SEG_HDR_LEN) & ~std::size_t{7};
			n = count_frame(rest, share, bytes);
			frame(link, rest.first(n), bytes, share);
		} else {
			datagrams(link, rest.first(1));
		}
		rest = rest.subspan(n);
	}
}

} // namespace pib::netd
