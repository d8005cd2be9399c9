// SPDX-License-Identifier: GPL-2.0
#include "commands/list_links.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/words/parse.h"
#include "model/show/show.h"

namespace pib::ctl {
namespace {

/// Links selected by the optional word NAME[/PORT].
struct Selection {
	std::string node;
	std::optional<std::uint32_t> port;

	bool has(const End &end) const
	{
		return node.empty() || (node == end.node && (!port || *port == end.port));
	}
	bool has(const Link &link) const { return has(link.a) || (link.b && has(*link.b)); }
};

Result<Selection> read_selection(const Arguments &arguments)
{
	const auto word = arguments.maybe("NAME[/PORT]");
	if (!word)
		return Selection{};
	if (word->find('/') == std::string::npos) {
		const auto name = parse_name(*word);
		if (!name)
			return name.error();
		return Selection{*name, std::nullopt};
	}
	const auto end = parse_end(*word);
	if (!end)
		return end.error();
	return Selection{end->node, end->port};
}

Status list(const Context &context, const Arguments &arguments,
	    void (*show)(Output &, const std::vector<Link> &))
{
	const auto selection = read_selection(arguments);
	if (!selection)
		return selection.error();
	auto links = context.client.links();
	if (!links)
		return links.error();
	std::erase_if(*links, [&](const Link &link) { return !selection->has(link); });
	show(context.out, *links);
	return success();
}

template <typename Node>
void select_ports(const std::vector<Node> &nodes, const Selection &selection,
		  std::vector<CountedPort> &selected)
{
	for (const Node &node : nodes)
		for (const Port &port : node.ports)
			if (const End end{node.name, port.number}; selection.has(end))
				selected.push_back({end, &port});
}

} // namespace

Status list_links(const Context &context, const Arguments &arguments)
{
	return list(context, arguments, show_links);
}

Status list_peers(const Context &context, const Arguments &arguments)
{
	return list(context, arguments, show_peers);
}

Status list_counters(const Context &context, const Arguments &arguments)
{
	const auto selection = read_selection(arguments);
	if (!selection)
		return selection.error();
	const auto hcas = context.client.hcas();
	if (!hcas)
		return hcas.error();
	const auto switches = context.client.switches();
	if (!switches)
		return switches.error();

	std::vector<CountedPort> selected;
	select_ports(*hcas, *selection, selected);
	select_ports(*switches, *selection, selected);
	if (selected.empty() && !selection->node.empty())
		return Error{fmt::format(
			"no such port in this network namespace ('pibctl show' lists them)")};
	show_counters(context.out, selected);
	return success();
}

} // namespace pib::ctl
