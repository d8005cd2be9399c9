// SPDX-License-Identifier: GPL-2.0
#include "commands/commands.h"

namespace pib::ctl {

std::span<const Group> command_groups()
{
	static const Group groups[] = {
		{"show",
		 "show HCAs, switches, links, peers, counters, uplinks, objects, injections"},
		{"switch", "add, delete and show switches"},
		{"link", "add, delete, plug and show the cables between ports"},
		{"fabric", "load, save, draw, serve and clear whole fabrics"},
		{"trace", "print events as they happen, keep them in a ring, and mark them"},
		{"inject", "make things go wrong on purpose"},
	};
	return groups;
}

std::vector<const Command *> all_commands()
{
	std::vector<const Command *> all;
	for (const auto table :
	     {hca_commands(), show_commands(), switch_commands(), link_commands(),
	      fabric_commands(), capture_commands(), explain_commands(), trace_commands(),
	      ring_commands(), inject_commands(), script_commands(), manners_commands(),
	      top_commands(), monitor_commands()})
		for (const Command &command : table)
			all.push_back(&command);
	return all;
}

} // namespace pib::ctl
