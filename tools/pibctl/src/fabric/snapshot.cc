// SPDX-License-Identifier: GPL-2.0
#include "fabric/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "model/words/ib_names.h"

namespace pib::ctl {
namespace {

std::string rate_text(const Port &port)
{
	const auto width = width_name(port.width.value_or(0));
	const auto speed = speed_name(port.speed.value_or(0));
	if (!width || !speed)
		return "";
	std::string text = *width + *speed;
	std::ranges::replace(text, 'X', 'x');
	return text;
}

TopologyPort port_text(const Port &port)
{
	return {port.guid.value_or(0), port.lid.value_or(0), port.lmc.value_or(0), rate_text(port)};
}

template <typename Node>
TopologyNode node_of(const Node &node, TopologyNode::Kind kind)
{
	TopologyNode made;
	made.kind = kind;
	made.id = node.name;
	made.description = node.description.value_or(node.name);
	made.num_ports = node.num_ports.value_or(0);
	made.guid = node.node_guid.value_or(0);
	made.product = node.product;
	for (const Port &port : node.ports)
		made.ports.emplace(port.number, port_text(port));
	return made;
}

} // namespace

Result<FabricSnapshot> take_snapshot(Client &client)
{
	auto hcas = client.hcas();
	if (!hcas)
		return hcas.error();
	auto switches = client.switches();
	if (!switches)
		return switches.error();
	auto links = client.links();
	if (!links)
		return links.error();
	return FabricSnapshot{std::move(*hcas), std::move(*switches), std::move(*links)};
}

Topology topology_of(const FabricSnapshot &snapshot)
{
	Topology topology;
	std::unordered_set<std::string> known;
	for (const Switch &node : snapshot.switches) {
		topology.nodes.push_back(node_of(node, TopologyNode::Kind::kSwitch));
		topology.nodes.back().enhanced_port0 = node.enhanced_port0;
	}
	for (const Hca &node : snapshot.hcas)
		topology.nodes.push_back(node_of(node, TopologyNode::Kind::kHca));
	for (const TopologyNode &node : topology.nodes)
		known.insert(node.id);
	// The lists were made one after another: a cable may know a node that they do not.
	for (const Link &link : snapshot.links)
		if (link.b && known.contains(link.a.node) && known.contains(link.b->node))
			topology.cables.push_back({link.a, *link.b});
	return topology;
}

} // namespace pib::ctl
