// SPDX-License-Identifier: GPL-2.0
// One end of a link over UDP: its session and what waits to be sent on it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

/// A packet on its way out: headers that are this link's own, then bytes that lie elsewhere.
struct OutPacket {
	/// Link header, and the LRH with the VL that the packet leaves on.
	std::array<std::uint8_t, PIB_DG_HDR_LEN + kLrh> head;
	const std::uint8_t *rest;
	std::size_t rest_length;
	/// TOS (IPv4) or Traffic Class (IPv6) of its datagrams.
	std::uint8_t tos;

	std::size_t size() const { return kLrh + rest_length; }
	Rank rank() const
	{
		return head[PIB_DG_HDR_LEN] >> 4 == PIB_VL_MGMT ? Rank::management : Rank::data;
	}
};

/// The packets that wait on a link, by VL.
struct Lanes {
	static constexpr unsigned kVls = 16;

	std::array<std::vector<OutPacket>, kVls> packets;
	/// Bit per VL that has any.
	std::uint32_t ready = 0;
	pib_vl_arb arbiter{};
};

struct Link {
	LinkKind kind = LinkKind::accepted;
	Port *port = nullptr;
	Path path;
	pib_session fsm{};
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
	/// The peer has told why it takes no link, see enum pib_hello_refusal, and when it last
	/// did.
	std::uint8_t refused = 0;
	std::uint64_t refused_at = 0;
	/// Time of the last hello in the peer's name by another key since the link was up; 0: there
	/// was none.
	std::uint64_t claimed_at = 0;

	std::uint32_t id() const { return fsm.local_id; }
	bool established() const { return fsm.state == PIB_SESSION_UP; }
	/// Bytes of a datagram's payload of which nothing says that they get lost on the way.
	std::size_t room() const { return fsm.pmtu.limit - path.remote.headers(); }
	/// Accepted links: true if the hello is from the peer.
	bool is_peer(const pib_hello &h) const
	{
		return peer_guid == h.node_guid && peer_port == h.port_num;
	}
	/// The reason why there is no session, as the peer or somebody in its name says; nullptr:
	/// none, or it is too old.
	const char *refusal(std::uint64_t now) const
	{
		if (pib_session_key_unknown(&fsm))
			return "the peer does not know this switch's key, but the second one";
		if (refused && now <= refused_at + kRefusedNs)
			return pib_hello_refusal_text(refused);
		return claimed_at && now <= claimed_at + kRefusedNs ? kClaimed : nullptr;
	}
};

} // namespace pib::netd
