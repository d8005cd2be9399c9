// SPDX-License-Identifier: GPL-2.0
// Packets become datagrams: those that fit what the path carries are a datagram each, a run of equal
// ones a super-packet; larger ones are put end to end into frames, and these are cut into
// segments (docs/wire-format.md).
#include <algorithm>
#include <bit>
#include <cstring>

#include "switch/egress.h"

namespace pib::netd {
namespace {

constexpr std::size_t kBytesMax = Egress::kBytesMax;
/// A path that leaves less than this for a segment is left to IP's fragments.
constexpr std::size_t kSegmentRoom = PIB_SEG_HDR_LEN + PIB_SEG_MIN;

using Packets = std::span<OutPacket>;

/// Number of packets that go into one super-packet, a datagram each: all but the last of one size,
/// and all of one class.
std::size_t count_equal(Packets packets, std::size_t seal)
{
	const std::size_t size = PIB_DG_HDR_LEN + seal + packets[0].size();
	std::size_t n = 1, bytes = size;
	for (; n < packets.size() && n < PIB_SEG_MAX; n++) {
		const std::size_t next = PIB_DG_HDR_LEN + seal + packets[n].size();
		if (next > size || bytes + next > kBytesMax || packets[n].step ||
		    packets[n].tos != packets[0].tos)
			break;
		bytes += next;
		if (next < size)
			return n + 1;
	}
	return n;
}

std::size_t count_frame(Packets packets, std::size_t room, std::size_t seal, std::size_t &bytes)
{
	const std::size_t most =
		std::min<std::size_t>(PIB_SEG_MAX, kBytesMax / (room + seal + PIB_SEG_HDR_LEN)) *
		room;
	std::size_t n = 1;
	bytes = packets[0].size();
	for (; n < packets.size() && bytes + packets[n].size() <= most && !packets[n].step &&
	       packets[n].tos == packets[0].tos && packets[n].noicrc == packets[0].noicrc;
	     n++)
		bytes += packets[n].size();
	return n;
}

std::uint8_t flags_of(const Link &link, const OutPacket &packet)
{
	return static_cast<std::uint8_t>((link.seal ? PIB_DG_SEALED : 0) |
					 (packet.noicrc ? PIB_DG_NOICRC : 0));
}

struct Choice {
	unsigned vl;
	/// The arbiter has made it, and is to hear what was sent.
	bool charged;
};

/// The VL that sends next: that of management first, then as the port's tables say, and last what
/// is in none of them. The arbiter is asked for one alone, too: what it has sent counts later on.
Choice choose(pib_vl_arb &arbiter, const pib_port &port, std::uint32_t ready)
{
	if (ready >> PIB_VL_MGMT & 1)
		return {PIB_VL_MGMT, false};
	const int vl = pib_vl_arb_next(&arbiter, &port, ready);
	if (vl < 0)
		return {static_cast<unsigned>(std::countr_zero(ready)), false};
	return {static_cast<unsigned>(vl), true};
}

std::uint32_t wire_bytes(Packets packets)
{
	std::size_t bytes = 0;
	for (const OutPacket &packet : packets)
		bytes += packet.size();
	return static_cast<std::uint32_t>(bytes);
}

/// The bytes of the parts, one after the other, a piece at a time.
class Reader {
public:
	explicit Reader(std::span<const iovec> parts) : parts_(parts) {}

	std::size_t read(std::span<std::uint8_t> to)
	{
		std::size_t done = 0;
		while (done < to.size() && !parts_.empty()) {
			const iovec &part = parts_.front();
			const std::size_t n = std::min(part.iov_len - at_, to.size() - done);
			std::memcpy(&to[done], static_cast<std::uint8_t *>(part.iov_base) + at_, n);
			done += n;
			at_ += n;
			if (at_ == part.iov_len) {
				parts_ = parts_.subspan(1);
				at_ = 0;
			}
		}
		return done;
	}

private:
	std::span<const iovec> parts_;
	std::size_t at_ = 0;
};

/// A copy of datagrams of step bytes each, the last may be shorter, sealed.
std::vector<std::uint8_t> seal_all(Seal &seal, std::span<const iovec> parts, std::size_t step)
{
	std::size_t left = 0;
	for (const iovec &part : parts)
		left += part.iov_len;
	if (!step)
		step = left;
	std::vector<std::uint8_t> bytes(left + (left + step - 1) / step * PIB_SEAL_LEN);
	std::span<std::uint8_t> rest = bytes;
	for (Reader reader(parts); left; left -= std::min(step, left)) {
		const auto one = rest.first(std::min(step, left) + PIB_SEAL_LEN);
		reader.read(one.first(PIB_DG_HDR_LEN));
		reader.read(
			one.subspan(PIB_SEAL_HEAD_LEN, one.size() - PIB_DG_HDR_LEN - PIB_SEAL_LEN));
		seal.close(one);
		rest = rest.subspan(one.size());
	}
	return bytes;
}

} // namespace

void Egress::datagrams(Link &link, Packets packets)
{
	for (OutPacket &packet : packets) {
		const pib_dg header{.version = PIB_DG_VERSION,
				    .type = PIB_DG_DATA,
				    .flags = flags_of(link, packet),
				    .tag = link.tx_tag,
				    .link_id = link.session.remote_id};
		pib_dg_build(&header, packet.head.data());
		parts_.push_back({packet.head.data(), packet.head.size()});
		if (packet.rest_length)
			parts_.push_back(
				{const_cast<std::uint8_t *>(packet.rest), packet.rest_length});
	}
	const bool several = packets.size() > 1;
	send(link, several ? PIB_DG_HDR_LEN + packets[0].size() : 0, packets.size(), packets[0]);
}

/// Sends the parts. They are of one class and lane, that of the first packet.
void Egress::send(Link &link, std::size_t segment, std::size_t count, const OutPacket &first)
{
	if (link.seal) {
		auto &bytes = sealed_.emplace_back(seal_all(*link.seal, parts_, segment));
		const iovec part = {bytes.data(), bytes.size()};
		wire_.send(link.path, {&part, 1}, segment ? segment + PIB_SEAL_LEN : 0, first.tos,
			   first.rank());
	} else {
		wire_.send(link.path, parts_, segment, first.tos, first.rank());
	}
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

/// Sends a frame as it came, but for what names the link: its bytes are the daemon's own.
void Egress::whole_frame(Link &link, const OutPacket &frame)
{
	const std::span bytes(const_cast<std::uint8_t *>(frame.rest), frame.rest_length);
	const pib_dg header{.version = PIB_DG_VERSION,
			    .type = PIB_DG_SEGMENT,
			    .flags = flags_of(link, frame),
			    .tag = link.tx_tag,
			    .link_id = link.session.remote_id};
	link.frame++;
	std::size_t count = 0;
	for (std::size_t at = 0; at < bytes.size(); at += frame.step, count++) {
		pib_dg_build(&header, &bytes[at]);
		pib_put16(&bytes[at + PIB_DG_HDR_LEN], link.frame);
	}
	parts_.push_back({bytes.data(), bytes.size()});
	send(link, frame.step, count, frame);
}

void Egress::frame(Link &link, Packets packets, std::size_t bytes, std::size_t room)
{
	pib_segment segment{.flags = flags_of(link, packets[0]),
			    .tag = link.tx_tag,
			    .link_id = link.session.remote_id,
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
	send(link, segment.total > 1 ? room + PIB_SEG_HDR_LEN : 0, segment.total, packets[0]);
}

/// Sends one super-packet of the packets, which are not none. Returns how many of them it holds.
std::size_t Egress::send_next(Link &link, Packets packets, std::size_t room)
{
	const std::size_t seal = link.seal ? PIB_SEAL_LEN : 0;
	std::size_t n = 1, bytes = 0;
	if (packets[0].step) {
		whole_frame(link, packets[0]);
	} else if (packets[0].size() + PIB_DG_HDR_LEN <= room) {
		n = count_equal(packets, seal);
		datagrams(link, packets.first(n));
	} else if (link.session.peer_caps & PIB_CAP_SEGMENTS && room >= kSegmentRoom) {
		const std::size_t share = (room - PIB_SEG_HDR_LEN) & ~std::size_t{7};
		n = count_frame(packets, share, seal, bytes);
		frame(link, packets.first(n), bytes, share);
	} else {
		datagrams(link, packets.first(1));
	}
	return n;
}

/// True if the window of the VL is open. If not, that it waits is noted.
bool Egress::may_send(Link &link, unsigned vl, std::uint64_t now)
{
	const auto lane = static_cast<std::uint8_t>(vl);
	if (!link.windows || pib_credits_open(&link.credits, lane, now))
		return true;
	stats_.add(PIB_US_TX_WAITS, pib_credits_wait(&link.credits, lane, now));
	return false;
}

/// As send_next(), and counts what leaves by the VL.
std::size_t Egress::send_from(Link &link, unsigned vl, Packets packets, std::size_t room,
			      std::uint64_t now, Waits waits)
{
	const std::size_t n = send_next(link, packets, room);
	if (!link.windows)
		return n;
	const auto count = waits == Waits::never ? pib_credits_sent_beside : pib_credits_sent;
	count(&link.credits, static_cast<std::uint8_t>(vl),
	      pib_credit_bytes(wire_bytes(packets.first(n)), static_cast<std::uint32_t>(n)), now);
	link.lanes.tos[vl] = packets[0].tos & 0xFC;
	return n;
}

/// Sends those of the packets, for which the VL has no room, that must not wait. They go before the
/// others, to which no place in the order binds them. Returns how many there were.
std::size_t Egress::send_ahead(Link &link, unsigned vl, Packets packets, std::size_t room,
			       std::uint64_t now)
{
	const auto others =
		std::stable_partition(packets.begin(), packets.end(),
				      [](const OutPacket &packet) { return packet.goes_ahead; });
	const auto n = static_cast<std::size_t>(others - packets.begin());
	for (std::size_t i = 0; i < n;)
		i += send_from(link, vl, packets.subspan(i, n - i), room, now, Waits::never);
	return n;
}

bool Egress::has_more(const Turn &turn, const Lanes &lanes, unsigned vl)
{
	return !turn.packets.empty() || !lanes.held[vl].empty() ||
	       (!turn.is_last && !lanes.packets[vl].empty());
}

/// Has turn.packets be those that the lane sends next.
void Egress::refill(Turn &turn, Lanes &lanes, unsigned vl)
{
	if (!turn.packets.empty())
		return;
	if (!lanes.held[vl].empty()) {
		turn.packets = taken_.emplace_back(lanes.held[vl].take(PIB_SEG_MAX));
		return;
	}
	turn.packets = lanes.packets[vl];
	turn.is_last = true;
}

/// Has the lanes hold what they had held before and is not sent. Some does not wait.
Egress::Left Egress::leave(Link &link, std::array<Turn, Lanes::kVls> &turns, std::size_t room,
			   std::uint64_t now)
{
	Left left;
	for (unsigned vl = 0; vl < Lanes::kVls; vl++) {
		Turn &turn = turns[vl];
		if (!turn.is_last) {
			link.lanes.held[vl].put_back(turn.packets);
			turn.packets = link.lanes.packets[vl];
		}
		left[vl] = turn.packets.size() - send_ahead(link, vl, turn.packets, room, now);
	}
	return left;
}

Egress::Left Egress::send_lanes(Link &link, std::uint64_t now)
{
	const std::size_t seal = link.seal ? PIB_SEAL_LEN : 0;
	const std::size_t all = this->room(link);
	const std::size_t room = all > seal ? all - seal : 0;
	Lanes &lanes = link.lanes;
	std::array<Turn, Lanes::kVls> turns;
	std::uint32_t ready = lanes.ready;
	const auto look = [&](unsigned vl) {
		if (has_more(turns[vl], lanes, vl) && may_send(link, vl, now))
			refill(turns[vl], lanes, vl);
		else
			ready &= ~(1u << vl);
	};
	for (unsigned vl = 0; vl < Lanes::kVls; vl++)
		look(vl);
	while (ready) {
		const Choice choice = choose(lanes.arbiter, link.port->p, ready);
		Packets &lane = turns[choice.vl].packets;
		const std::size_t n =
			send_from(link, choice.vl, lane, room, now, Waits::for_window);
		if (choice.charged)
			pib_vl_arb_sent(&lanes.arbiter, wire_bytes(lane.first(n)));
		lane = lane.subspan(n);
		look(choice.vl);
	}
	return leave(link, turns, room, now);
}

} // namespace pib::netd
