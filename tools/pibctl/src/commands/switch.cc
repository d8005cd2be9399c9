// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>
#include <linux/pib.h>

#include "commands/commands.h"
#include "model/words/parse.h"
#include "model/show/show.h"

namespace pib::ctl {
namespace {

Result<SwitchRequest> read_switch(const Arguments &arguments)
{
	SwitchRequest node;
	const auto name = parse_new_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	const auto ports = parse_number("ports", arguments.one("ports"), 1, PIB_PORTS_MAX);
	if (!ports)
		return ports.error();
	node.name = *name;
	node.num_ports = static_cast<std::uint32_t>(*ports);
	if (const auto word = arguments.maybe("guid")) {
		const auto guid = parse_guid(*word);
		if (!guid)
			return guid.error();
		node.node_guid = *guid;
	}
	node.enhanced_port0 = arguments.has("enhanced");
	return node;
}

Status add(const Context &context, const Arguments &arguments)
{
	const auto node = read_switch(arguments);
	if (!node)
		return node.error();
	return context.client.add_switch(*node);
}

Status remove(const Context &context, const Arguments &arguments)
{
	const auto name = parse_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	return context.client.remove_switch(*name);
}

Status show_one(const Context &context, const std::string &word)
{
	const auto name = parse_name(word);
	if (!name)
		return name.error();
	const auto found = context.client.find_switch(*name);
	if (!found)
		return found.error();
	if (!*found)
		return Error{fmt::format(
			"no switch '{}' in this network namespace ('pibctl switch show' lists "
			"them)",
			*name)};
	show_whole_switch(context.out, **found);
	return success();
}

Status show(const Context &context, const Arguments &arguments)
{
	if (const auto word = arguments.maybe("NAME"))
		return show_one(context, *word);
	const auto switches = context.client.switches();
	if (!switches)
		return switches.error();
	show_switches(context.out, *switches);
	return success();
}

const Command kCommands[] = {
	{"switch",
	 "add",
	 "add a switch",
	 "Makes an InfiniBand switch in this kernel. Its ports are Down until cables are plugged\n"
	 "('pibctl link add'); a subnet manager finds it like any switch.",
	 {{"NAME", "name of the switch"}},
	 {{"ports", "N", "number of external ports, 1 to 254", true},
	  {"guid", "GUID",
	   "its node GUID, which no other node or port has; one is chosen by default"},
	  {"enhanced", "",
	   "port 0 is an enhanced one, as in switches with a processor of their own"}},
	 {{"pibctl switch add sw0 ports 36", "a switch of 36 ports"},
	  {"pibctl link add sw0/1 pib0/1", "a cable from its port 1 to the HCA pib0"}},
	 add},
	{"switch",
	 "del",
	 "delete a switch",
	 "Deletes a switch and pulls its cables.",
	 {{"NAME", "name of the switch"}},
	 {},
	 {{"pibctl switch del sw0", "the switch sw0 goes away"}},
	 remove},
	{"switch",
	 "show",
	 "show switches and their ports",
	 "Shows one switch with its ports, or all with those that have a cable. Those marked 'auto' are the host switches that\n"
	 "'pibctl add' makes.",
	 {{"NAME", "only this switch", false}},
	 {},
	 {{"pibctl switch show", "all switches"}, {"pibctl -j switch show sw0", "one, as JSON"}},
	 show},
};

} // namespace

std::span<const Command> switch_commands()
{
	return kCommands;
}

} // namespace pib::ctl
