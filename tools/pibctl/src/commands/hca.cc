// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>
#include <linux/pib.h>

#include <limits>
#include <ostream>
#include <random>

#include "commands/commands.h"
#include "model/words/accept.h"
#include "model/words/dscp.h"
#include "model/words/key_file.h"
#include "host/netdev_state.h"
#include "commands/numbers.h"
#include "objects/behavior.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

Status read_numbers(const Arguments &arguments, HcaRequest &hca)
{
	if (auto read = read_fabric(arguments, hca.fabric); !read)
		return read;
	if (auto read = read_udp_port(arguments, hca.udp_port); !read)
		return read;
	return read_optional(arguments, "ports", 1, PIB_PORTS_MAX, hca.num_ports);
}

Status read_peers(const Arguments &arguments, HcaRequest &hca)
{
	for (const std::string &word : arguments.all("peer")) {
		const auto peer = parse_endpoint(word);
		if (!peer)
			return peer.error();
		if (!peer->scope.empty() && peer->scope != hca.netdev)
			return usage_error(
				fmt::format("peer '{}' is not on netdev '{}'", word, hca.netdev));
		hca.peers.push_back(*peer);
	}
	return success();
}

Status read_name(const Arguments &arguments, HcaRequest &hca)
{
	const auto name = parse_new_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	hca.name = *name;
	return success();
}

/// Reads the netdev. Without one, words about packets on the network make no sense.
Status read_netdev(const Arguments &arguments, HcaRequest &hca)
{
	if (arguments.has("netdev")) {
		const auto netdev = parse_netdev(arguments.one("netdev"));
		if (!netdev)
			return netdev.error();
		hca.netdev = *netdev;
		return success();
	}
	for (const char *word :
	     {"standalone", "peer", "fabric", "udp-port", "key-file", "second-key-file", "accept",
	      "ecn", "dscp", "flow-ports", "windows"})
		if (arguments.has(word))
			return usage_error(fmt::format("'{}' needs 'netdev DEV'", word));
	return success();
}

Status read_keys(const Arguments &arguments, HcaRequest &hca)
{
	if (arguments.has("second-key-file") && !arguments.has("key-file"))
		return usage_error("'second-key-file' needs 'key-file'");
	if (auto read = read_key(arguments, "key-file", hca.key); !read)
		return read;
	return read_key(arguments, "second-key-file", hca.second_key);
}

/// Picks "random" behaviors here, so that the user is shown which ones they are.
Result<std::uint32_t> read_list(const std::string &list, std::uint64_t seed)
{
	if (list == "random")
		return pick_behaviors(seed);
	return parse_behaviors(list);
}

/// Leaves both alone if there is no "behavior".
Status read_behavior(const Arguments &arguments, std::optional<std::uint32_t> &behaviors,
		     std::optional<std::uint64_t> &seed)
{
	const auto list = arguments.maybe("behavior");
	if (!list && arguments.has("seed"))
		return usage_error("'seed' needs 'behavior'");
	if (!list)
		return success();
	seed = std::random_device{}();
	if (auto read = read_optional(arguments, "seed", 0,
				      std::numeric_limits<std::uint64_t>::max(), seed);
	    !read)
		return read;
	const auto read = read_list(*list, *seed);
	if (!read)
		return read.error();
	behaviors = *read;
	return success();
}

Status read_hca_behavior(const Arguments &arguments, HcaRequest &hca)
{
	return read_behavior(arguments, hca.behaviors, hca.behavior_seed);
}

template <typename R>
Status read_accept(const Arguments &arguments, R &request)
{
	const auto word = arguments.maybe("accept");
	if (!word)
		return success();
	const auto accept = parse_accept(*word);
	if (!accept)
		return accept.error();
	request.accept = *accept;
	return success();
}

/// Reads a keyword that is on or off.
Status read_switch(const Arguments &arguments, const char *keyword, std::optional<bool> &on)
{
	const auto word = arguments.maybe(keyword);
	if (!word)
		return success();
	if (*word != "on" && *word != "off")
		return usage_error(fmt::format("'{}' is on or off, not '{}'", keyword, *word));
	on = *word == "on";
	return success();
}

template <typename R>
Status read_ecn(const Arguments &arguments, R &request)
{
	return read_switch(arguments, "ecn", request.ecn);
}

template <typename R>
Status read_flow_ports(const Arguments &arguments, R &request)
{
	return read_switch(arguments, "flow-ports", request.flow_ports);
}

template <typename R>
Status read_windows(const Arguments &arguments, R &request)
{
	return read_switch(arguments, "windows", request.windows);
}

template <typename R>
Status read_dscp(const Arguments &arguments, R &request)
{
	const auto list = arguments.maybe("dscp");
	if (!list)
		return success();
	const auto dscp = parse_dscp(*list);
	if (!dscp)
		return dscp.error();
	request.dscp = *dscp;
	return success();
}

/// "pibctl add eth0" is easily typed for "pibctl add pib0 netdev eth0".
void note_namesake(const Context &context, const std::string &name)
{
	if (netdev_flags(name))
		context.notes << fmt::format(
			"pibctl: HCA {0} is added, but has no cable: 'pibctl add pib0 netdev {0}' adds one on the netdev {0}\n",
			name);
}

/// The HCA is there and waits, as one whose cable leads nowhere. Nobody would see why.
void note_trouble(const Context &context, const HcaRequest &hca)
{
	if (hca.netdev.empty()) {
		note_namesake(context, hca.name);
		return;
	}
	const auto flags = netdev_flags(hca.netdev);
	if (!flags)
		return;
	if (const auto trouble = netdev_trouble(hca.netdev, *flags); !trouble.empty())
		context.notes << fmt::format("pibctl: HCA {} is added, but {}\n", hca.name,
					     trouble);
}

Status add(const Context &context, const Arguments &arguments)
{
	HcaRequest hca;
	for (const auto read :
	     {read_name, read_netdev, read_peers, read_numbers, read_keys, read_hca_behavior,
	      read_accept<HcaRequest>, read_ecn<HcaRequest>, read_dscp<HcaRequest>,
	      read_flow_ports<HcaRequest>, read_windows<HcaRequest>})
		if (auto done = read(arguments, hca); !done)
			return done;
	hca.standalone = arguments.has("standalone");
	if (auto added = context.client.add_hca(hca); !added)
		return added;
	note_trouble(context, hca);
	return success();
}

Status set_behavior(const Context &context, const Arguments &arguments, const std::string &name)
{
	for (const char *word : {"key-file", "second-key-file", "no-second-key", "force", "accept",
				 "ecn", "dscp", "flow-ports", "windows"})
		if (arguments.has(word))
			return usage_error(
				fmt::format("'behavior' and '{}' exclude each other", word));
	std::optional<std::uint32_t> behaviors;
	BehaviorRequest behavior{name, 0, {}};
	if (auto read = read_behavior(arguments, behaviors, behavior.seed); !read)
		return read;
	behavior.behaviors = behaviors.value_or(0);
	return context.client.set_behavior(behavior);
}

Status set(const Context &context, const Arguments &arguments)
{
	KeysRequest keys;
	const auto name = parse_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	if (arguments.has("behavior") || arguments.has("seed"))
		return set_behavior(context, arguments, *name);
	keys.hca = *name;
	keys.no_second_key = arguments.has("no-second-key");
	keys.force = arguments.has("force");
	if (keys.no_second_key && arguments.has("second-key-file"))
		return usage_error("'second-key-file' and 'no-second-key' exclude each other");
	if (auto read = read_key(arguments, "key-file", keys.key); !read)
		return read;
	if (auto read = read_key(arguments, "second-key-file", keys.second_key); !read)
		return read;
	if (auto read = read_accept(arguments, keys); !read)
		return read;
	if (auto read = read_ecn(arguments, keys); !read)
		return read;
	if (auto read = read_dscp(arguments, keys); !read)
		return read;
	if (auto read = read_flow_ports(arguments, keys); !read)
		return read;
	if (auto read = read_windows(arguments, keys); !read)
		return read;
	if (!keys.key && !keys.second_key && !keys.no_second_key && !keys.accept && !keys.ecn &&
	    !keys.dscp && !keys.flow_ports && !keys.windows)
		return usage_error("nothing is to change: give 'key-file', 'second-key-file', "
				   "'no-second-key', 'accept', 'ecn', 'dscp', 'flow-ports', "
				   "'windows' or 'behavior'");
	return context.client.set_keys(keys);
}

Status remove(const Context &context, const Arguments &arguments)
{
	const auto name = parse_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	return context.client.remove(*name);
}

const Command kCommands[] = {
	{"",
	 "add",
	 "add an HCA, as a rule on a netdev",
	 "Makes an InfiniBand HCA whose packets travel in UDP over a netdev. The first HCA on a netdev\n"
	 "also makes a host switch, into which it is plugged; the switches of other hosts on that\n"
	 "netdev are found by themselves and cabled to it. Then start a subnet manager, as opensm, on\n"
	 "any one host: the ports become ACTIVE. Without a netdev the HCA has ports for 'link add'.",
	 {{"NAME", "name of the HCA, as in 'rdma dev'"}},
	 {{"netdev", "DEV", "the netdev that carries its packets"},
	  {"standalone", "",
	   "no subnet manager: the port gives itself a LID and is ACTIVE at once"},
	  {"peer", "ADDR[:PORT]",
	   "cable straight to this host, no discovery; an IPv6 address with a "
	   "port stands in []",
	   false, true},
	  {"fabric", "N", "fabric number, 0 by default; different fabrics on a netdev do not meet"},
	  {"udp-port", "N", "UDP port, 18514 by default; the same on all hosts"},
	  {"ports", "N", "number of InfiniBand ports; one, or one for each peer, by default"},
	  {"key-file", "FILE", "key of the fabric, 16 to 64 bytes, the same on all hosts"},
	  {"second-key-file", "FILE",
	   "another key by which hosts may join, while keys are exchanged"},
	  {"behavior", "LIST", "what it does other than by default; see 'pibctl set'"},
	  {"seed", "N", "of what behaviors leave to chance"},
	  {"accept", "WHO",
	   "who gets a port that says hello: nobody, peers, link or anybody (the default)"},
	  {"ecn", "on|off", "the network may mark its data instead of dropping it; off by default"},
	  {"dscp", "LIST", "DSCP of its data by service level, as 3=46,4=34; 0 by default"},
	  {"flow-ports", "on|off",
	   "UDP source ports tell the data of queue pairs apart; on by default"},
	  {"windows", "on|off",
	   "a virtual lane does not hold up the others, if the peer wants that, too; off by "
	   "default"}},
	 {{"pibctl add pib0 netdev eth0", "the usual form, on each host"},
	  {"pibctl add pib0 netdev eth0 standalone", "a first look, without subnet manager"},
	  {"pibctl add pib0 netdev eth0 peer 192.0.2.7", "a cable to one host or to a pibnetd"},
	  {"pibctl add pib0 netdev eth0 peer [2001:db8::7]:18514", "the same over IPv6"},
	  {"pibctl add pib1 netdev eth0 fabric 7 ports 2", "two ports in another fabric"},
	  {"pibctl add pib2 ports 2", "two ports without cables"}},
	 add},
	{"",
	 "set",
	 "change what an HCA does, the key of a fabric, who gets a port, how data is marked",
	 "Has an HCA do what the IBA allows, other than pib does by default: a comma-separated list of\n"
	 "error-wc-noise, srq-any-order, reuse-qpn, write-imm-receive, long-message-error,\n"
	 "sge-zero-2gib, late-completions, rnr-timer-long, exact-cq, data-out-of-order,\n"
	 "early-invalidate, ah-pd-at-post and ack-each; 'none'; or 'random', which picks among them by\n"
	 "the seed. What is not named is as by default. behaviors.md in /usr/share/doc/pib tells of\n"
	 "each.\n\n"
	 "Or changes the keys of the fabric on the HCA's netdev while traffic goes on. On one host after\n"
	 "the other: let all accept the new key as their second one; then make it the key of each, by\n"
	 "which the former one becomes the second; then drop that. A link begins a new session when\n"
	 "one of its ends changes its key. A key by which the peer of a link speaks is not dropped\n"
	 "but by force. Whether all others accept the new key is not known here: see that they do.\n"
	 "'accept' says who gets a port of the host switch that says hello from now on. Links that\n"
	 "are there stay. 'ecn', 'dscp', 'flow-ports' and 'windows' say how data leaves from now on.",
	 {{"NAME", "name of an HCA"}},
	 {{"key-file", "FILE", "the key: the second one of before, which takes its place"},
	  {"second-key-file", "FILE", "another key by which hosts may join, 16 to 64 bytes"},
	  {"no-second-key", "", "drop the second key"},
	  {"force", "", "drop a key though links are up by it: these go down"},
	  {"behavior", "LIST", "all that it is to do other than by default, 'none' or 'random'"},
	  {"seed", "N", "of what behaviors leave to chance; the same seed, the same choices"},
	  {"accept", "WHO",
	   "nobody, peers (who are named by 'peer'), link (and who is on it) or anybody"},
	  {"ecn", "on|off", "the network may mark data on the netdev where a queue fills"},
	  {"dscp", "LIST",
	   "service levels with the DSCP of their data, as 3=46,4=34, the others 0; 'none'"},
	  {"flow-ports", "on|off",
	   "UDP source ports tell the data of queue pairs apart, that of peers, too"},
	  {"windows", "on|off",
	   "a virtual lane does not hold up the others, if the peer wants that, too"}},
	 {{"pibctl set pib0 behavior srq-any-order,reuse-qpn seed 7", "two behaviors"},
	  {"pibctl set pib0 behavior random seed 7", "some; 'pibctl show pib0' tells which"},
	  {"pibctl set pib0 behavior none", "as it was"},
	  {"pibctl set pib0 second-key-file new.key", "first, on each host"},
	  {"pibctl set pib0 key-file new.key",
	   "then, when all hosts have the first step behind them"},
	  {"pibctl set pib0 no-second-key", "at last; 'pibctl show peers' tells who is not ready"},
	  {"pibctl set pib0 no-second-key force", "the key was stolen: who uses it is cut off"},
	  {"pibctl set pib0 accept link", "nobody from behind a router gets a port"},
	  {"pibctl set pib0 ecn on", "a router may mark data (FECN) instead of dropping it"},
	  {"pibctl set pib0 dscp 3=46,4=34", "service levels 3 and 4 have classes of their own"}},
	 set},
	{"",
	 "del",
	 "delete an HCA or a switch",
	 "Deletes the HCA or switch of this name and pulls its cables. Applications that have the HCA\n"
	 "open see a device that is gone; nothing need be stopped before.",
	 {{"NAME", "name of an HCA or switch"}},
	 {},
	 {{"pibctl del pib0", "the HCA pib0 goes away"}},
	 remove},
};

} // namespace

std::span<const Command> hca_commands()
{
	return kCommands;
}

} // namespace pib::ctl
