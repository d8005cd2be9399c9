// SPDX-License-Identifier: GPL-2.0
// A fabric as topology files describe it: nodes with ports, and the cables between them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/objects.h"

namespace pib::inline model {

/// Properties of a port besides its number. 0 and "" stand for those that the file does not give.
struct TopologyPort {
	std::uint64_t guid = 0;
	// Set by a subnet manager; only written.
	std::uint16_t lid = 0;
	std::uint8_t lmc = 0;
	/// As ibnetdiscover spells it: "4xEDR".
	std::string rate;
};

struct TopologyNode {
	enum class Kind { kSwitch, kHca };
	Kind kind = Kind::kSwitch;
	/// Unique in the topology.
	std::string id;
	std::string description;
	std::uint32_t num_ports = 0;
	std::uint64_t guid = 0;
	Product product{};
	/// A switch's; its port 0 is a base one otherwise.
	bool enhanced_port0 = false;
	/// By number; only those of which something is said.
	std::map<std::uint32_t, TopologyPort> ports;
};

/// Between two ports, the nodes of which are named by their ids.
struct TopologyCable {
	End a;
	End b;
};

struct Topology {
	std::vector<TopologyNode> nodes;
	std::vector<TopologyCable> cables;
};

/// A port GUID as ibsim counts: that of the node for a switch, else the node's plus the port's
/// number.
inline std::uint64_t port_guid(const TopologyNode &node, std::uint32_t port)
{
	const auto found = node.ports.find(port);
	if (found != node.ports.end() && found->second.guid)
		return found->second.guid;
	return node.kind == TopologyNode::Kind::kSwitch ? node.guid : node.guid + port;
}

} // namespace pib::inline model
