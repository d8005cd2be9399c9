// SPDX-License-Identifier: GPL-2.0
// Requests of pibctl to the module, as plain data: objects to be made or deleted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/bytes.h"
#include "model/objects.h"

namespace pib::ctl {

/// Request of "pibctl add".
struct HcaRequest {
	std::string name;
	/// Empty: none, the HCA has the cables that are plugged into it.
	std::string netdev;
	// Chosen by the module if they are absent; port GUIDs by port number.
	std::optional<std::uint64_t> node_guid;
	std::map<std::uint32_t, std::uint64_t> port_guids;
	std::optional<std::string> description;
	Product product{};
	std::vector<Endpoint> peers;
	bool standalone = false;
	std::optional<std::uint32_t> fabric;
	std::optional<std::uint16_t> udp_port;
	std::optional<std::uint32_t> num_ports;
	std::optional<Bytes> key;
	std::optional<Bytes> second_key;
	/// Bits of enum pib_behavior.
	std::optional<std::uint32_t> behaviors;
	std::optional<std::uint64_t> behavior_seed;
	/// enum pib_accept.
	std::optional<std::uint8_t> accept;
	/// Data may be marked by the network.
	std::optional<bool> ecn;
	/// Of the data of each service level.
	std::optional<DscpTable> dscp;
	/// Flows have UDP source ports of their own.
	std::optional<bool> flow_ports;
	std::optional<bool> windows;
};

/// Request of "pibctl set NAME behavior": all behaviors that the HCA shall have.
struct BehaviorRequest {
	std::string hca;
	std::uint32_t behaviors = 0;
	std::optional<std::uint64_t> seed;
};

/// Request of "pibctl set"; absent members stay as they are.
struct KeysRequest {
	std::string hca;
	std::optional<Bytes> key;
	std::optional<Bytes> second_key;
	bool no_second_key = false;
	/// A key goes though a link is up by it.
	bool force = false;
	/// enum pib_accept.
	std::optional<std::uint8_t> accept;
	/// Data may be marked by the network.
	std::optional<bool> ecn;
	/// Of the data of each service level.
	std::optional<DscpTable> dscp;
	/// Flows have UDP source ports of their own.
	std::optional<bool> flow_ports;
	std::optional<bool> windows;
};

/// Request of "pibctl switch add".
struct SwitchRequest {
	std::string name;
	std::uint32_t num_ports = 0;
	std::optional<std::uint64_t> node_guid;
	std::optional<std::string> description;
	Product product{};
	bool enhanced_port0 = false;
};

/// Request of "pibctl link add": b, or netdev and peer and the members for them.
struct LinkRequest {
	End a;
	std::optional<End> b;
	std::string netdev;
	std::optional<Endpoint> peer;
	std::optional<std::uint32_t> fabric;
	std::optional<std::uint16_t> udp_port;
	std::optional<Bytes> key;
};

/// A field of a packet that has a value; enum pib_capture_field.
struct CaptureMatch {
	std::uint8_t field = 0;
	std::uint32_t value = 0;
	std::uint32_t mask = 0;

	bool operator==(const CaptureMatch &) const = default;
};

/// Request of "pibctl capture".
struct CaptureRequest {
	std::string node;
	/// 0: all ports.
	std::uint32_t port = 0;
	/// 1 in, 2 out, 3 both.
	std::uint8_t direction = 3;
	/// Bytes of a packet; absent: all.
	std::optional<std::uint32_t> snap_len;
	/// Bytes that wait to be read.
	std::optional<std::uint32_t> buffer;
	std::vector<CaptureMatch> matches;
};

/// Request of "pibctl inject", and a rule that it has made.
struct Injection {
	/// The HCA, or the switch.
	std::string node;
	/// Of a rule that there is: the node is a switch.
	bool is_switch = false;
	/// enum pib_inject_kind
	std::uint8_t kind = 0;
	/// Number of the queue pair, CQ, SRQ or port; absent: it is about a call.
	std::optional<std::uint32_t> object = 0;
	/// Of queue pairs 0 and 1: whose port, and which MADs.
	std::optional<std::uint32_t> port;
	std::optional<std::uint8_t> mgmt_class;
	std::optional<std::uint16_t> mad_attribute;
	/// Of a call: which, and whose.
	std::string verb;
	std::optional<std::uint32_t> pid;
	std::uint32_t arg = 0;
	/// Value of a lie.
	std::optional<std::uint64_t> value;
	/// ns
	std::uint64_t delay = 0;
	std::optional<std::uint32_t> after;
	std::optional<std::uint32_t> every;
	/// 0: without end.
	std::optional<std::uint32_t> count;
	/// In 10^9.
	std::optional<std::uint32_t> probability;
	std::optional<std::uint64_t> seed;
	// Of a rule that there is.
	std::uint32_t id = 0;
	std::uint64_t seen = 0;
	std::uint64_t done = 0;
};

struct Removal {
	enum class Kind { kHca, kSwitch };
	Kind kind;
	std::string name;
};

/// Something to be made or deleted.
using Change = std::variant<HcaRequest, SwitchRequest, LinkRequest, Removal>;

} // namespace pib::ctl
