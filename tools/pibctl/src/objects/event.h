// SPDX-License-Identifier: GPL-2.0
// Something that has happened in the module, as a notification tells it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/objects.h"

namespace pib::ctl {

/// A cable; of one that leads elsewhere the far end may not be told.
struct EventLink {
	End a;
	std::optional<End> b;
	std::optional<UdpLink> udp;
};

struct Event {
	/// enum pib_event_kind, or one that this pibctl does not know.
	std::uint8_t kind = 0;
	/// Nanoseconds since 1970.
	std::uint64_t time = 0;
	/// An HCA or a switch, unless it is about a cable; empty: a kind that this pibctl does not know
	/// is about neither.
	std::string node;
	bool is_switch = false;
	std::optional<std::uint64_t> node_guid;
	bool automatic = false;
	std::optional<Port> port;
	std::optional<EventLink> link;
	std::optional<bool> plugged;
	/// enum ib_event_type
	std::optional<std::uint32_t> ib_event;
	/// Former name of an HCA.
	std::optional<std::string> old_name;
	/// Number of keys that the fabric has.
	std::optional<std::uint32_t> keys;
	/// Number of a trap.
	std::optional<std::uint16_t> trap;
};

/// Source of events: numbers of generic netlink.
struct EventSource {
	std::uint16_t family = 0;
	std::uint32_t group = 0;
};

} // namespace pib::ctl
