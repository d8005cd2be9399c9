// SPDX-License-Identifier: GPL-2.0
// One end of a link over UDP: its session and what waits to be sent on it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "wire/frames.h"
#include "wire/seal.h"
#include "wire/stats.h"
#include "switch/switch.h"
#include "wire/wire.h"

namespace pib::netd {

enum class LinkKind {
	/// A peer has said hello.
	accepted,
	/// The configuration names the peer.
	configured,
};

constexpr std::size_t kLrh = 8;
/// Each hello is refused by itself, so a refusal that is older does not count any more.
constexpr std::uint64_t kRefusedNs = 10 * PIB_NSEC_PER_SEC;

/// Reason shown after a hello by another key in the peer's name, which nothing shows to be the
/// peer's.
constexpr const char *kClaimed = "somebody who claims to be the peer has another key";

/// Memory of the packets that wait for windows, on all lanes of all links together.
class HeldMemory {
public:
	/// Bytes, see pib_credit_bytes(); lanes may hold a little in any case, beyond this.
	static constexpr std::size_t kMost = 128 << 20;

	struct GiveBack {
		HeldMemory *memory = nullptr;
		std::size_t counts = 0;

		void operator()(std::uint8_t *bytes) const
		{
			delete[] bytes;
			memory->held_ -= counts;
		}
	};
	/// Memory of one packet.
	using Own = std::unique_ptr<std::uint8_t[], GiveBack>;

	std::size_t left() const
	{
		const std::size_t held = held_;
		return kMost - std::min(held, kMost);
	}
	Own take(std::size_t bytes, std::size_t counts)
	{
		held_ += counts;
		return {new std::uint8_t[bytes], {this, counts}};
	}

private:
	/// Packets that were sent give theirs back without the lock.
	std::atomic<std::size_t> held_ = 0;
};

/// A packet on its way out: headers that are this link's own, then bytes that lie elsewhere.
struct OutPacket {
	/// Link header, and the LRH with the VL that the packet leaves on.
	std::array<std::uint8_t, PIB_DG_HDR_LEN + kLrh> head;
	const std::uint8_t *rest;
	std::size_t rest_length;
	/// 0: a packet. Else rest is a frame: segments of so many bytes, with room for their headers.
	std::size_t step = 0;
	/// TOS (IPv4) or Traffic Class (IPv6) of its datagrams.
	std::uint8_t tos;
	/// The ICRC is left out.
	bool noicrc;
	/// It waits for no window, which others' data fills: management (from QP0 or QP1 to such),
	/// and what says that the way is congested.
	bool goes_ahead;
	/// Of one that waits: memory of its own, where rest points, and since when.
	HeldMemory::Own own;
	std::uint64_t held_since = 0;

	std::size_t size() const { return step ? rest_length : kLrh + rest_length; }
	Rank rank() const
	{
		return head[PIB_DG_HDR_LEN] >> 4 == PIB_VL_MGMT ? Rank::management : Rank::data;
	}
};

/// Packets that wait for the window of their VL, with memory of their own, the oldest first.
class Held {
public:
	bool empty() const { return packets_.empty(); }
	/// See pib_credit_bytes().
	std::size_t bytes() const { return bytes_; }
	static std::size_t bytes_of(const OutPacket &packet)
	{
		return pib_credit_bytes(static_cast<std::uint32_t>(packet.size()), 1);
	}
	void add(OutPacket packet)
	{
		bytes_ += bytes_of(packet);
		packets_.push_back(std::move(packet));
	}
	/// True if the oldest has waited for too long.
	bool is_stale(std::uint64_t now) const
	{
		return !packets_.empty() && now >= packets_.front().held_since + kHeldFor;
	}
	/// Drops those that have waited for too long, or all. Returns how many.
	std::size_t drop_stale(std::uint64_t now)
	{
		std::size_t n = 0;
		for (; is_stale(now); n++)
			take(1);
		return n;
	}
	std::size_t drop_all()
	{
		const std::size_t n = packets_.size();
		*this = {};
		return n;
	}
	/// The oldest ones, at most that many.
	std::vector<OutPacket> take(std::size_t most)
	{
		std::vector<OutPacket> taken;
		for (; !packets_.empty() && taken.size() < most; packets_.pop_front()) {
			bytes_ -= bytes_of(packets_.front());
			taken.push_back(std::move(packets_.front()));
		}
		return taken;
	}
	/// The last of those that were taken.
	void put_back(std::span<OutPacket> packets)
	{
		for (; !packets.empty(); packets = packets.first(packets.size() - 1)) {
			bytes_ += bytes_of(packets.back());
			packets_.push_front(std::move(packets.back()));
		}
	}

private:
	/// ns; as the longest HOQLife (IBA 14.2.5.6): whom they are for may be another one by then.
	static constexpr std::uint64_t kHeldFor = std::uint64_t{4096} << 19;

	std::deque<OutPacket> packets_;
	std::size_t bytes_ = 0;
};

/// The packets that are to leave by a link, by VL.
struct Lanes {
	static constexpr unsigned kVls = 16;

	/// They have come in this turn, and go behind those that are held.
	std::array<std::vector<OutPacket>, kVls> packets;
	std::array<Held, kVls> held;
	/// Bit per VL that has any of either.
	std::uint32_t ready = 0;
	/// The link is among those that are sent to next.
	bool is_dirty = false;
	/// It is among those that wait for their peers.
	bool is_held = false;
	pib_vl_arb arbiter{};
	/// Class of the data that was sent last, without ECN's bits.
	std::array<std::uint8_t, kVls> tos{};

	/// True if something is held that has waited for too long.
	bool is_stale(std::uint64_t now) const
	{
		return std::any_of(held.begin(), held.end(),
				   [&](const Held &each) { return each.is_stale(now); });
	}
};

struct Link {
	LinkKind kind = LinkKind::accepted;
	Port *port = nullptr;
	Path path;
	pib_session session{};
	/// Accepted links: node and port of the peer.
	std::uint64_t peer_guid = 0;
	std::uint8_t peer_port = 0;
	std::uint64_t made_at = 0;
	/// When the link was made, or its peer was last heard while it was up, ns.
	std::uint64_t alive_at = 0;
	/// State of the link as the port was told.
	bool is_up = false;
	/// The session was lost since the port was told.
	bool bounce = false;

	/// Of these sessions, own and peer's; each has one key.
	std::pair<std::uint64_t, std::uint64_t> tags_of;
	std::uint16_t tx_tag = 0;
	std::uint16_t rx_tag = 0;
	/// Keyed fabrics: of the present session or the last one.
	std::optional<Seal> seal;
	std::uint16_t frame = 0;
	Frames frames;
	Lanes lanes;
	pib_credits credits{};
	/// Both ends want VLs to have windows: each says what it has taken in of them.
	bool windows = false;
	/// The peer has told why it takes no link, see enum pib_hello_refusal, and when it last
	/// did.
	std::uint8_t refused = 0;
	std::uint64_t refused_at = 0;
	/// Time of the last hello in the peer's name by another key since the link was up; 0: there
	/// was none.
	std::uint64_t claimed_at = 0;

	std::uint32_t id() const { return session.local_id; }
	bool established() const { return session.state == PIB_SESSION_UP; }
	/// The peer takes packets without ICRC.
	bool takes_no_icrc() const { return session.peer_caps & PIB_CAP_NOICRC; }
	/// Bytes of a datagram's payload of which nothing says that they get lost on the way.
	std::size_t room() const { return session.pmtu.limit - path.remote.headers(); }
	/// Accepted links: true if the hello is from the peer.
	bool is_peer(const pib_hello &h) const
	{
		return peer_guid == h.node_guid && peer_port == h.port_num;
	}
	/// The reason why there is no session, as the peer or somebody in its name says; nullptr:
	/// none, or it is too old.
	const char *refusal(std::uint64_t now) const
	{
		if (pib_session_key_unknown(&session))
			return "the peer does not know this switch's key, but the second one";
		if (refused && now <= refused_at + kRefusedNs)
			return pib_hello_refusal_text(refused);
		return claimed_at && now <= claimed_at + kRefusedNs ? kClaimed : nullptr;
	}
};

} // namespace pib::netd
