// SPDX-License-Identifier: GPL-2.0
// The table of commands: what each is called, takes, teaches and does.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>
#include <vector>

#include "commands/arguments.h"
#include "objects/client.h"
#include "model/show/output.h"

namespace pib::ctl {

struct Context {
	Client &client;
	Output &out;
	/// For a command that prints a document of its own.
	std::ostream &text;
	/// For what a user should know of a command that succeeds.
	std::ostream &notes;
	/// For progress; null if it is not shown.
	std::ostream *terminal;
	/// A document of its own shall be JSON.
	bool json = false;
};

struct Example {
	std::string_view command;
	std::string_view meaning;
};

struct Command {
	/// "switch" in "switch add"; empty for a command that stands alone.
	std::string_view group;
	/// Empty for what the group does if no command of it is named.
	std::string_view name;
	std::string_view summary;
	std::string_view description;
	std::vector<Place> places;
	std::vector<Keyword> keywords;
	std::vector<Example> examples;
	Status (*run)(const Context &context, const Arguments &arguments);
};

/// A word that stands before several commands.
struct Group {
	std::string_view name;
	std::string_view summary;
};

std::span<const Group> command_groups();
/// Every command, in the order of the help.
std::vector<const Command *> all_commands();

// By file.
std::span<const Command> hca_commands();
std::span<const Command> show_commands();
std::span<const Command> switch_commands();
std::span<const Command> link_commands();
std::span<const Command> fabric_commands();
std::span<const Command> capture_commands();
std::span<const Command> explain_commands();
std::span<const Command> trace_commands();
std::span<const Command> ring_commands();
std::span<const Command> inject_commands();
std::span<const Command> script_commands();
std::span<const Command> manners_commands();
std::span<const Command> top_commands();
std::span<const Command> monitor_commands();

} // namespace pib::ctl
