// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>
#include <linux/pib.h>

#include <ostream>

#include "commands/commands.h"
#include "model/words/key_file.h"
#include "host/netdev_state.h"
#include "commands/numbers.h"
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

/// What says how packets travel makes no sense where none do.
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
	     {"standalone", "peer", "fabric", "udp-port", "key-file", "second-key-file"})
		if (arguments.has(word))
			return usage_error(fmt::format("'{}' needs 'netdev DEV'", word));
	return success();
}

Status read_key(const Arguments &arguments, std::string_view keyword, std::optional<Bytes> &out)
{
	const auto path = arguments.maybe(keyword);
	if (!path)
		return success();
	auto key = read_key_file(*path);
	if (!key)
		return key.error();
	out = std::move(*key);
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

/// The HCA is there and waits, as one whose cable leads nowhere. Nobody would see why.
void note_trouble(const Context &context, const HcaRequest &hca)
{
	if (hca.netdev.empty())
		return;
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
	for (const auto read : {read_name, read_netdev, read_peers, read_numbers, read_keys})
		if (auto done = read(arguments, hca); !done)
			return done;
	hca.standalone = arguments.has("standalone");
	if (auto added = context.client.add_hca(hca); !added)
		return added;
	note_trouble(context, hca);
	return success();
}

Status set(const Context &context, const Arguments &arguments)
{
	KeysRequest keys;
	const auto name = parse_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	keys.hca = *name;
	keys.no_second_key = arguments.has("no-second-key");
	keys.force = arguments.has("force");
	if (keys.no_second_key && arguments.has("second-key-file"))
		return usage_error("'second-key-file' and 'no-second-key' exclude each other");
	if (auto read = read_key(arguments, "key-file", keys.key); !read)
		return read;
	if (auto read = read_key(arguments, "second-key-file", keys.second_key); !read)
		return read;
	if (!keys.key && !keys.second_key && !keys.no_second_key)
		return usage_error("nothing is to change: give 'key-file', 'second-key-file' or "
				   "'no-second-key'");
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
	   "another key by which hosts may join, while keys are exchanged"}},
	 {{"pibctl add pib0 netdev eth0", "the usual form, on each host"},
	  {"pibctl add pib0 netdev eth0 standalone", "a first look, without subnet manager"},
	  {"pibctl add pib0 netdev eth0 peer 192.0.2.7", "a cable to one host or to a pibnetd"},
	  {"pibctl add pib0 netdev eth0 peer [2001:db8::7]:18514", "the same over IPv6"},
	  {"pibctl add pib1 netdev eth0 fabric 7 ports 2", "two ports in another fabric"},
	  {"pibctl add pib2 ports 2", "two ports without cables"}},
	 add},
	{"",
	 "set",
	 "exchange the key of a fabric",
	 "Changes the keys of the fabric on the HCA's netdev while traffic goes on. On one host after\n"
	 "the other: let all accept the new key as their second one; then make it the key of each, by\n"
	 "which the former one becomes the second; then drop that. A link begins a new session when\n"
	 "one of its ends changes its key. A key by which the peer of a link speaks is not dropped\n"
	 "but by force. Whether all others accept the new key is not known here: see that they do.",
	 {{"NAME", "name of an HCA"}},
	 {{"key-file", "FILE", "the key: the second one of before, which takes its place"},
	  {"second-key-file", "FILE", "another key by which hosts may join, 16 to 64 bytes"},
	  {"no-second-key", "", "drop the second key"},
	  {"force", "", "drop a key though links are up by it: these go down"}},
	 {{"pibctl set pib0 second-key-file new.key", "first, on each host"},
	  {"pibctl set pib0 key-file new.key",
	   "then, when all hosts have the first step behind them"},
	  {"pibctl set pib0 no-second-key", "at last; 'pibctl show peers' tells who is not ready"},
	  {"pibctl set pib0 no-second-key force", "the key was stolen: who uses it is cut off"}},
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
