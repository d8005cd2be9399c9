// SPDX-License-Identifier: GPL-2.0
// Choice of the port for a peer that says hello. A stranger's hello needs it under the daemon's
// lock, so the time for it must not grow with the number of ports, peers or places.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "switch/switch.h"

namespace pib::netd {

/// A port and the peer that has it, so that a peer that comes back gets the port that it had.
struct Reservation {
	std::string node;
	std::uint64_t guid = 0;
	std::uint8_t peer_port = 0;
	std::uint8_t port = 0;

	bool operator==(const Reservation &) const = default;
};

/// A port of a peer.
struct PeerId {
	std::uint64_t guid = 0;
	std::uint8_t port = 0;

	static PeerId of(const pib_hello &h) { return {h.node_guid, h.port_num}; }
	bool operator==(const PeerId &) const = default;
};

struct PeerHash {
	std::size_t operator()(const PeerId &id) const
	{
		return std::hash<std::uint64_t>()(id.guid * 0x9E3779B97F4A7C15 + id.port);
	}
};

class PortFinder {
public:
	/// After a change of the configuration, before anything else is asked.
	void rebuild(const std::vector<std::unique_ptr<Switch>> &switches,
		     const std::vector<Place> &places);
	/// To be called when the port's cable has changed, or the user has plugged it in or out.
	void update(const Port &port);

	/// A switch of the fabric that takes strangers, or else one that does not; nullptr: none.
	Switch *acceptor(std::uint32_t fabric) const;
	/// True if it matters for some switch of the fabric whether the peer is named.
	bool asks_for_names(std::uint32_t fabric) const;
	bool admits(const pib_hello &h, const pib_hello_way &way) const;
	/// The peer's port by a topology file, or the port that it had, or else one that no peer
	/// has had, or else any free one; of the switches that may give it one.
	Port *find(const pib_hello &h, const pib_hello_way &way) const;

	/// Reserves the port for the peer.
	void reserve(const Port &port, const PeerId &peer);
	std::vector<Reservation> reservations() const;
	void set_reservations(const std::vector<Reservation> &all);
	/// Another number whenever reservations() has changed.
	std::uint64_t reservations_version() const { return version_; }

private:
	static constexpr std::size_t kLevels = PIB_HELLO_ANYBODY + 1;

	/// Switches and ports in their order.
	using Key = std::uint64_t;
	struct Fabric {
		/// It is the rank of the first switch that takes strangers, or of the first one.
		std::size_t acceptor = 0;
		/// By whom their switches accept: are there such, and their free ports.
		std::array<bool, kLevels> accepts{};
		std::array<std::set<Key>, kLevels> fresh, had;
	};
	struct Seat {
		std::string node;
		std::uint8_t port;

		auto operator<=>(const Seat &) const = default;
	};

	static Key key_of(const Switch &node, unsigned port) { return node.rank << 8 | port; }
	static bool admitted(const Switch &node, const pib_hello &h, const pib_hello_way &way);
	bool may_be_any(const Port &port) const;
	Port *own_port(const pib_hello &h, const pib_hello_way &way) const;
	Switch *named(const std::string &name) const;

	std::vector<Switch *> switches_;
	std::unordered_map<std::string, Switch *> names_;
	std::unordered_map<std::uint32_t, Fabric> fabrics_;
	std::unordered_map<PeerId, Port *, PeerHash> places_;
	std::set<const Port *> is_place_;
	/// Each peer has one port, and each port one peer, at most.
	std::unordered_map<PeerId, Seat, PeerHash> seats_;
	std::map<Seat, PeerId> peers_;
	std::uint64_t version_ = 0;
};

} // namespace pib::netd
