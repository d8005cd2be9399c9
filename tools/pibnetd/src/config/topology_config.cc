// SPDX-License-Identifier: GPL-2.0
#include "config/topology_config.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "model/words/parse.h"

namespace pib::netd {
namespace {

using Kind = model::TopologyNode::Kind;

class Builder {
public:
	Builder(const model::Topology &topology, Config &config) :
		topology_(topology), config_(config)
	{
		for (const SwitchConfig &node : config.switches)
			taken_.insert(node.name);
	}

	Status build(const SwitchConfig &common)
	{
		for (const model::TopologyNode &node : topology_.nodes) {
			nodes_.emplace(node.id, &node);
			if (node.kind != Kind::kSwitch)
				continue;
			if (node.num_ports < 1 || node.num_ports > PIB_MAX_PORTS)
				return Error{fmt::format("switch '{}' must have 1 to {} ports",
							 node.id, PIB_MAX_PORTS)};
			// Ids that are names come before names that are chosen.
			if (model::parse_new_name(node.id) && taken_.insert(node.id).second)
				names_.emplace(node.id, node.id);
		}
		for (const model::TopologyNode &node : topology_.nodes)
			if (node.kind == Kind::kSwitch)
				add(node, common);
		for (const model::TopologyCable &cable : topology_.cables)
			add(cable);
		return success();
	}

private:
	const std::string &name_of(const std::string &id)
	{
		const auto found = names_.find(id);
		if (found != names_.end())
			return found->second;
		std::string name;
		do
			name = fmt::format("sw{}", next_++);
		while (!taken_.insert(name).second);
		return names_.emplace(id, name).first->second;
	}

	void add(const model::TopologyNode &node, const SwitchConfig &common)
	{
		SwitchConfig &made = config_.switches.emplace_back(common);
		made.name = name_of(node.id);
		made.ports = static_cast<std::uint8_t>(node.num_ports);
		made.guid = node.guid;
		made.description =
			(node.description.empty() ? node.id : node.description).substr(0, 63);
		made.places_only = true;
	}

	bool is_switch(const model::End &end) const
	{
		return nodes_.at(end.node)->kind == Kind::kSwitch;
	}
	model::End here(const model::End &end) { return {name_of(end.node), end.port}; }

	/// Adds a cable. Cables between two HCAs do not concern a switch.
	void add(const model::TopologyCable &cable)
	{
		if (is_switch(cable.a) && is_switch(cable.b))
			config_.cables.push_back({here(cable.a), here(cable.b), {}});
		else if (is_switch(cable.a))
			add_place(cable.a, cable.b);
		else if (is_switch(cable.b))
			add_place(cable.b, cable.a);
	}

	void add_place(const model::End &at, const model::End &hca)
	{
		config_.places.push_back(
			{here(at), nodes_.at(hca.node)->guid, static_cast<std::uint8_t>(hca.port)});
	}

	const model::Topology &topology_;
	Config &config_;
	std::map<std::string, const model::TopologyNode *> nodes_;
	std::map<std::string, std::string> names_;
	std::set<std::string> taken_;
	unsigned next_ = 0;
};

} // namespace

Status add_topology(const model::Topology &topology, const SwitchConfig &common, Config &config)
{
	return Builder(topology, config).build(common);
}

} // namespace pib::netd
