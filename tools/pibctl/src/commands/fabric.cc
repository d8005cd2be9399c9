// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <thread>

#include "commands/commands.h"
#include "commands/serve.h"
#include "fabric/load.h"
#include "host/interruption.h"
#include "host/namespaces.h"
#include "commands/numbers.h"
#include "fabric/picture.h"
#include "commands/progress.h"
#include "model/topology/parse.h"
#include "model/topology/write.h"

namespace pib::ctl {
namespace {

Error file_error(std::string_view doing, const std::string &path)
{
	return errno_error("cannot {} {}", doing, path);
}

Result<std::string> read_file(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);
	std::ostringstream text;
	if (!file || (!(text << file.rdbuf()) && file.bad()) || file.bad() ||
	    std::filesystem::is_directory(path))
		return file_error("read", path);
	return text.str();
}

Status write_document(const Context &context, const Arguments &arguments, const std::string &text)
{
	const auto path = arguments.maybe("FILE");
	if (!path) {
		context.text << text;
		return success();
	}
	std::ofstream file(*path, std::ios::binary | std::ios::trunc);
	file << text;
	file.close();
	if (!file)
		return file_error("write", *path);
	return success();
}

/// Names of RDMA devices are known to the whole kernel.
std::unordered_set<std::string> rdma_devices()
{
	std::unordered_set<std::string> names;
	std::error_code error;
	for (const auto &entry :
	     std::filesystem::directory_iterator("/sys/class/infiniband", error))
		names.insert(entry.path().filename());
	return names;
}

Result<std::unordered_set<std::string>> taken_names(Client &client)
{
	const auto switches = client.switches();
	if (!switches)
		return switches.error();
	auto names = rdma_devices();
	for (const Switch &node : *switches)
		names.insert(node.name);
	return names;
}

/// A step that cannot be interrupted.
Client::Step showing(Progress &progress)
{
	return [&progress](std::size_t done, std::size_t all) {
		progress.show(done, all);
		return success();
	};
}

constexpr const char *kTakingBack = "fabric load: taking back";

/// Nodes and cables, or none.
Status make(const Context &context, const LoadPlan &plan, const Interruption &interruption)
{
	Progress making(context.terminal, "fabric load");
	Progress back(context.terminal, kTakingBack);
	const auto step = [&](std::size_t done, std::size_t all) {
		making.show(done, all);
		return interruption.check();
	};
	return execute_load(context.client, plan, step, showing(back));
}

/// A whole load, when it is refused or interrupted in the end.
Status take_back(const Context &context, const LoadPlan &plan, Error why)
{
	Progress back(context.terminal, kTakingBack);
	const auto undone = context.client.apply(undo_load(plan), showing(back));
	if (undone.status)
		context.client.forget_notes();
	const auto deleted = delete_namespaces(plan.hcas);
	for (const Status &status : {undone.status, deleted})
		if (!status)
			why.text += fmt::format("; and what was made before is left: {}",
						status.error().text);
	return why;
}

Status load(const Context &context, const Arguments &arguments)
{
	const auto topology = parse_topology(arguments.one("FILE"), read_file);
	if (!topology)
		return topology.error();
	const auto taken = taken_names(context.client);
	if (!taken)
		return taken.error();
	const LoadPlan plan = plan_load(*topology, *taken);
	const Interruption interruption;
	if (auto made = make(context, plan, interruption); !made)
		return made;
	if (auto go_on = interruption.check(); !go_on)
		return take_back(context, plan, go_on.error());
	if (!arguments.has("netns"))
		return success();
	auto made = make_namespaces(plan.hcas);
	if (made)
		made = interruption.check();
	return made ? success() : take_back(context, plan, made.error());
}

Status save(const Context &context, const Arguments &arguments)
{
	const auto snapshot = take_snapshot(context.client);
	if (!snapshot)
		return snapshot.error();
	return write_document(context, arguments, format_topology(topology_of(*snapshot)));
}

Status clear(const Context &context, const Arguments &)
{
	std::vector<std::string> hcas;
	const auto cleared = clear_fabric(context.client, hcas);
	const auto deleted = delete_namespaces(hcas);
	return cleared ? deleted : cleared;
}

Result<Picture> take_picture(Client &client, std::optional<std::uint32_t> seconds)
{
	const auto start = std::chrono::steady_clock::now();
	auto snapshot = take_snapshot(client);
	if (!snapshot)
		return snapshot.error();
	if (!seconds)
		return draw(*snapshot);
	std::this_thread::sleep_for(std::chrono::seconds(*seconds));
	const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
	const auto later = take_snapshot(client);
	if (!later)
		return later.error();
	return draw_between(*snapshot, *later, passed.count());
}

Status draw_file(const Context &context, const Arguments &arguments)
{
	constexpr std::uint32_t kLongest = 3600;
	std::optional<std::uint32_t> seconds;
	if (auto read = read_optional(arguments, "seconds", 1, kLongest, seconds); !read)
		return read;
	const auto file = arguments.maybe("FILE").value_or("");
	const auto format = arguments.maybe("format").value_or(
		file.ends_with(".dot") || file.ends_with(".gv") ? "dot" : "svg");
	if (format != "svg" && format != "dot")
		return usage_error(
			fmt::format("a picture is drawn as 'svg' or 'dot', not '{}'", format));
	const auto picture = take_picture(context.client, seconds);
	if (!picture)
		return picture.error();
	return write_document(context, arguments,
			      format == "svg" ? format_svg(*picture) : format_dot(*picture));
}

const Command kCommands[] = {
	{"fabric",
	 "load",
	 "build a whole fabric from a topology file",
	 "Builds every switch, HCA and cable of a topology file in this kernel, or nothing if it cannot\n"
	 "build all or is interrupted. The file is one of ibsim (.net) or what ibnetdiscover printed.\n"
	 "HCAs are called pib0, pib1 and so on in the order of the file, switches as in the file; GUIDs\n"
	 "and descriptions are those of the file.",
	 {{"FILE", "the topology file"}},
	 {{"netns", "",
	   "a network namespace for each HCA, called as the HCA is, with its IPoIB netdevs"}},
	 {{"pibctl fabric load fat-tree.net", "a fabric in this network namespace"},
	  {"pibctl fabric load fat-tree.net netns",
	   "'ip netns exec pib3 ping ...' is a host of it"}},
	 load},
	{"fabric",
	 "save",
	 "write the fabric to a topology file",
	 "Writes the switches, HCAs and local cables of this network namespace as a topology file,\n"
	 "which 'fabric load' and ibsim read.",
	 {{"FILE", "where to; standard output by default", false}},
	 {},
	 {{"pibctl fabric save", "print it"}},
	 save},
	{"fabric",
	 "clear",
	 "delete all HCAs and switches",
	 "Deletes all HCAs, switches and cables of this network namespace, and the network namespaces\n"
	 "that 'fabric load' made.",
	 {},
	 {},
	 {{"pibctl fabric clear", "nothing is left"}},
	 clear},
	{"fabric",
	 "draw",
	 "draw the fabric",
	 "Draws the switches, HCAs and cables of this network namespace, with states and LIDs. The\n"
	 "thickness of a cable is its load: the bytes that went over it so far, or in the seconds\n"
	 "asked for.",
	 {{"FILE", "where to; standard output by default", false}},
	 {{"format", "svg|dot",
	   "SVG, or DOT for graphviz; by default what the name of FILE says, or SVG"},
	  {"seconds", "N", "watch the load for so long"}},
	 {{"pibctl fabric draw", "print an SVG"}, {"pibctl fabric draw format dot", "or DOT"}},
	 draw_file},
	{"fabric",
	 "serve",
	 "show the fabric in a browser, live",
	 "Serves a page that draws the switches, HCAs and cables of this network namespace: cables by\n"
	 "load and state, ports with their counters, switches with their forwarding tables. Nothing can\n"
	 "be changed by it. It is there for this machine alone unless --listen says otherwise.",
	 {},
	 {{"--port", "N", "TCP port; 8514 by default, 0 for one that is free"},
	  {"--listen", "ADDR", "address of this machine; 127.0.0.1 by default"}},
	 {{"pibctl fabric serve", "until Ctrl-C"},
	  {"pibctl fabric serve --listen 192.0.2.7", "for others, too"}},
	 serve_fabric},
};

} // namespace

std::span<const Command> fabric_commands()
{
	return kCommands;
}

} // namespace pib::ctl
