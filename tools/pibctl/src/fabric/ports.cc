// SPDX-License-Identifier: GPL-2.0
#include "fabric/ports.h"

#include <algorithm>

#include "model/words/parse.h"

namespace pib::ctl {

PortTable::PortTable(const FabricSnapshot &snapshot)
{
	for (const Hca &node : snapshot.hcas)
		add(node.name, node.ports);
	for (const Switch &node : snapshot.switches)
		add(node.name, node.ports);
}

const Port *PortTable::find(const End &end) const
{
	const auto found = ports_.find(format_end(end));
	return found == ports_.end() ? nullptr : found->second;
}

const Port &PortTable::at(const End &end) const
{
	static const Port kNothing;
	const Port *found = find(end);
	return found ? *found : kNothing;
}

void PortTable::add(const std::string &name, const std::vector<Port> &ports)
{
	for (const Port &port : ports)
		ports_.emplace(format_end({name, port.number}), &port);
}

std::uint64_t counter_of(const Counters &counters, std::string_view name)
{
	const auto found = std::ranges::find_if(
		counters, [&](const Counter &counter) { return counter.name == name; });
	return found == counters.end() ? 0 : found->value;
}

} // namespace pib::ctl
