// SPDX-License-Identifier: GPL-2.0
#include "fabric/load.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>

#include "model/words/parse.h"

namespace pib::ctl {
namespace {

using Kind = TopologyNode::Kind;

/// "pib" and a number, as this program itself names HCAs.
bool is_hca_name(const std::string &id)
{
	return id.size() > 3 && id.size() < 10 && id.starts_with("pib") &&
	       std::ranges::all_of(id.substr(3), [](char c) { return c >= '0' && c <= '9'; });
}

/// An id as a name: characters that no name has become '_'.
std::string name_from(const std::string &id)
{
	std::string name = id;
	for (char &c : name)
		if (!parse_new_name(std::string(1, c)) && c != '.' && c != '-')
			c = '_';
	return name;
}

class Planner {
public:
	Planner(const Topology &topology, const std::unordered_set<std::string> &taken) :
		topology_(topology), taken_(taken)
	{
	}

	LoadPlan plan()
	{
		// Names that stand in the file come before those that are chosen.
		for (const TopologyNode &node : topology_.nodes)
			keep_name(node);
		for (const TopologyNode &node : topology_.nodes)
			choose_name(node);
		for (const Kind kind : {Kind::kSwitch, Kind::kHca})
			for (const TopologyNode &node : topology_.nodes)
				if (node.kind == kind)
					add(node);
		for (const TopologyCable &cable : topology_.cables)
			add(cable);
		return std::move(plan_);
	}

private:
	void keep_name(const TopologyNode &node)
	{
		const bool is_switch = node.kind == Kind::kSwitch;
		const std::string name = is_switch ? name_from(node.id) : node.id;
		if (!(is_switch ? static_cast<bool>(parse_new_name(name)) : is_hca_name(name)))
			return;
		if (taken_.insert(name).second)
			plan_.names.emplace(node.id, name);
	}

	void choose_name(const TopologyNode &node)
	{
		if (plan_.names.contains(node.id))
			return;
		const bool is_switch = node.kind == Kind::kSwitch;
		unsigned int &next = is_switch ? next_switch_ : next_hca_;
		std::string name;
		do
			name = fmt::format("{}{}", is_switch ? "sw" : "pib", next++);
		while (!taken_.insert(name).second);
		plan_.names.emplace(node.id, name);
	}

	void add(const TopologyNode &node)
	{
		const std::string &name = plan_.names.at(node.id);
		if (node.kind == Kind::kSwitch) {
			plan_.changes.emplace_back(SwitchRequest{name, node.num_ports, node.guid,
								 node.description, node.product,
								 node.enhanced_port0});
			return;
		}
		HcaRequest hca;
		hca.name = name;
		hca.num_ports = node.num_ports;
		hca.node_guid = node.guid;
		hca.description = node.description;
		hca.product = node.product;
		for (const auto &[number, port] : node.ports)
			if (port.guid)
				hca.port_guids.emplace(number, port.guid);
		plan_.changes.emplace_back(std::move(hca));
		plan_.hcas.push_back(name);
	}

	void add(const TopologyCable &cable)
	{
		LinkRequest link;
		link.a = {plan_.names.at(cable.a.node), cable.a.port};
		link.b = End{plan_.names.at(cable.b.node), cable.b.port};
		plan_.changes.emplace_back(std::move(link));
	}

	const Topology &topology_;
	std::unordered_set<std::string> taken_;
	LoadPlan plan_;
	unsigned int next_switch_ = 0;
	unsigned int next_hca_ = 0;
};

/// The changes that undo those that were made, last first; cables go with their nodes.
std::vector<Change> undo_of(const std::vector<Change> &changes, const std::vector<bool> &made)
{
	std::vector<Change> undo;
	for (std::size_t i = changes.size(); i-- > 0;) {
		if (!made[i])
			continue;
		if (const auto *hca = std::get_if<HcaRequest>(&changes[i]))
			undo.emplace_back(Removal{Removal::Kind::kHca, hca->name});
		else if (const auto *node = std::get_if<SwitchRequest>(&changes[i]))
			undo.emplace_back(Removal{Removal::Kind::kSwitch, node->name});
	}
	return undo;
}

} // namespace

LoadPlan plan_load(const Topology &topology, const std::unordered_set<std::string> &taken)
{
	return Planner(topology, taken).plan();
}

std::vector<Change> undo_load(const LoadPlan &plan)
{
	return undo_of(plan.changes, std::vector<bool>(plan.changes.size(), true));
}

Status execute_load(Client &client, const LoadPlan &plan, const Client::Step &step,
		    const Client::Step &back)
{
	const auto applied = client.apply(plan.changes, step);
	if (applied.status)
		return applied.status;
	const auto undone = client.apply(undo_of(plan.changes, applied.made), back);
	if (undone.status) {
		client.forget_notes();
		return applied.status;
	}
	Error error = applied.status.error();
	error.text +=
		fmt::format("; and what was made before is left: {}", undone.status.error().text);
	return error;
}

Status clear_fabric(Client &client, std::vector<std::string> &names)
{
	std::vector<Change> removals;
	const auto hcas = client.hcas();
	if (!hcas)
		return hcas.error();
	for (const Hca &hca : *hcas) {
		names.push_back(hca.name);
		removals.emplace_back(Removal{Removal::Kind::kHca, hca.name});
	}
	if (auto removed = client.apply(removals); !removed.status)
		return removed.status;
	// Host switches went with the HCAs on their netdevs.
	const auto switches = client.switches();
	if (!switches)
		return switches.error();
	removals.clear();
	for (const Switch &node : *switches)
		if (!node.automatic)
			removals.emplace_back(Removal{Removal::Kind::kSwitch, node.name});
	return client.apply(removals).status;
}

} // namespace pib::ctl
