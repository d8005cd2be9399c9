// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include <limits>

#include "commands/commands.h"
#include "commands/list_links.h"
#include "commands/numbers.h"
#include "model/words/fault_words.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

Result<LinkRequest> read_local(LinkRequest link, const std::string &word)
{
	const auto b = parse_end(word);
	if (!b)
		return b.error();
	if (*b == link.a)
		return usage_error("a cable has two different ends");
	link.b = *b;
	return link;
}

Result<LinkRequest> read_udp(LinkRequest link, const Arguments &arguments)
{
	if (!arguments.has("udp") || !arguments.has("peer"))
		return usage_error("a link needs a second end: B/P, or 'udp DEV peer ADDR'");
	const auto netdev = parse_netdev(arguments.one("udp"));
	if (!netdev)
		return netdev.error();
	const auto peer = parse_endpoint(arguments.one("peer"));
	if (!peer)
		return peer.error();
	if (!peer->scope.empty() && peer->scope != *netdev)
		return usage_error(fmt::format("peer '{}' is not on netdev '{}'",
					       arguments.one("peer"), *netdev));
	link.netdev = *netdev;
	link.peer = *peer;
	if (auto read = read_fabric(arguments, link.fabric); !read)
		return read.error();
	if (auto read = read_udp_port(arguments, link.udp_port); !read)
		return read.error();
	if (auto read = read_key(arguments, "key-file", link.key); !read)
		return read.error();
	return link;
}

Result<LinkRequest> read_link(const Arguments &arguments)
{
	LinkRequest link;
	const auto a = parse_end(arguments.one("A/P"));
	if (!a)
		return a.error();
	link.a = *a;
	if (!arguments.has("B/P"))
		return read_udp(link, arguments);
	for (const auto keyword : {"udp", "peer", "fabric", "udp-port", "key-file"})
		if (arguments.has(keyword))
			return usage_error(
				"a link has one second end: B/P, or 'udp DEV peer ADDR', not both");
	return read_local(link, arguments.one("B/P"));
}

Status add(const Context &context, const Arguments &arguments)
{
	const auto link = read_link(arguments);
	if (!link)
		return link.error();
	return context.client.add_link(*link);
}

Status remove(const Context &context, const Arguments &arguments)
{
	const auto end = parse_end(arguments.one("A/P"));
	if (!end)
		return end.error();
	return context.client.remove_link(*end);
}

/// Reads the value of a keyword, if it is there, into where it belongs.
template <typename To, typename Parse>
Status take(const Arguments &arguments, std::string_view keyword, std::optional<To> &to,
	    Parse parse)
{
	const auto word = arguments.maybe(keyword);
	if (!word)
		return success();
	const auto value = parse(*word);
	if (!value)
		return value.error();
	to = static_cast<To>(*value);
	return success();
}

auto share(std::string_view what, double scale, double most = 1)
{
	return [=](std::string_view word) { return parse_probability(what, word, scale, most); };
}

Result<std::uint64_t> read_latency(std::string_view word)
{
	return parse_duration("latency", word, 10'000'000'000);
}

Result<std::uint64_t> read_seed(std::string_view word)
{
	return parse_number("seed", word, 0, std::numeric_limits<std::uint64_t>::max());
}

Status read_faults(const Arguments &arguments, LinkChange &change)
{
	change.healthy = arguments.has("healthy");
	const Status all[] = {
		take(arguments, "seed", change.seed, read_seed),
		take(arguments, "loss", change.loss, share("loss", 1e9)),
		take(arguments, "duplicate", change.duplicate, share("duplicate", 1e9)),
		take(arguments, "reorder", change.reorder, share("reorder", 1e9)),
		take(arguments, "bit-errors", change.bit_errors, share("bit-errors", 1e15, 0.01)),
		take(arguments, "latency", change.latency, read_latency),
		take(arguments, "rate", change.rate, parse_rate),
		take(arguments, "buffer", change.buffer, parse_buffer),
		take(arguments, "width", change.width, parse_width),
		take(arguments, "speed", change.speed, parse_speed),
	};
	for (const Status &one : all)
		if (!one)
			return one.error();
	if (const auto word = arguments.maybe("flap")) {
		const auto flap = parse_flap(*word);
		if (!flap)
			return flap.error();
		change.flap = *flap;
	}
	return success();
}

bool is_empty(const LinkChange &change)
{
	return !change.plugged && !change.width && !change.speed && !change.healthy &&
	       !change.seed && !change.loss && !change.duplicate && !change.reorder &&
	       !change.bit_errors && !change.latency && !change.rate && !change.buffer &&
	       !change.flap;
}

Status set(const Context &context, const Arguments &arguments)
{
	LinkChange change;
	const auto end = parse_end(arguments.one("A/P"));
	if (!end)
		return end.error();
	change.end = *end;
	if (auto read = take(arguments, "up|down", change.plugged, parse_plugged); !read)
		return read.error();
	if (auto read = read_faults(arguments, change); !read)
		return read.error();
	if (is_empty(change))
		return usage_error("nothing is to be set: 'up', 'down' or a property is missing");
	return context.client.change_link(change);
}

const Command kCommands[] = {
	{"link",
	 "add",
	 "plug a cable between two ports",
	 "Plugs a cable between two ports of this host's HCAs and switches, or from one of them to a\n"
	 "port of another host over UDP. Ports are written NAME/PORT, as in pib0/1.",
	 {{"A/P", "one end"}, {"B/P", "the other end, if it is on this host", false}},
	 {{"udp", "DEV", "the other end is across this netdev"},
	  {"peer", "ADDR[:PORT]", "and on this host; an IPv6 address with a port stands in []"},
	  {"fabric", "N", "fabric number of a link over UDP, 0 by default"},
	  {"udp-port", "N", "UDP port of this host, 18514 by default"},
	  {"key-file", "FILE", "key of the fabric, if the uplink is new or has this one"}},
	 {{"pibctl link add sw0/1 sw1/1", "two switches of this host"},
	  {"pibctl link add sw0/2 udp eth0 peer 192.0.2.7", "a trunk to another host"}},
	 add},
	{"link",
	 "del",
	 "take a cable away",
	 "Takes away the cable that is plugged into a port.",
	 {{"A/P", "either end"}},
	 {},
	 {{"pibctl link del sw0/1", "port 1 of sw0 has no cable any more"}},
	 remove},
	{"link",
	 "set",
	 "pull a cable, put it back, or change what it is like",
	 "'down' pulls the cable out of both ports and leaves it in its place, 'up' puts it back.\n"
	 "Width and speed are the greatest that the link may have. The others make a bad cable; what\n"
	 "is not named stays as it is. Chances are written as in 1% or 1e-9. Every random choice comes\n"
	 "from the seed, and each change begins anew with it. A link over UDP does this to what\n"
	 "arrives at this end.",
	 {{"A/P", "either end"}, {"up|down", "put back or pull", false}},
	 {{"width", "N", "1x, 2x, 4x, 8x or 12x"},
	  {"speed", "NAME", "sdr, ddr, qdr, fdr, edr, hdr, ndr or xdr"},
	  {"loss", "P", "packets that are lost"},
	  {"bit-errors", "P", "bits that are damaged, up to 0.01"},
	  {"duplicate", "P", "packets that come twice"},
	  {"reorder", "P", "packets that up to three others overtake"},
	  {"latency", "TIME", "as in 500ns, 10us, 2ms, up to 10s"},
	  {"rate", "R", "bits per second, as in 2.5G, or 'none'"},
	  {"buffer", "SIZE", "room for packets of each VL at the far end, as in 16k, or 'none'"},
	  {"flap", "IN/OUT", "the cable comes loose again and again, as in 10s/500ms, or 'none'"},
	  {"seed", "N", "of all random choices"},
	  {"healthy", "", "a good cable, but for what else is named"}},
	 {{"pibctl link set sw0/1 down", "the ports at both ends go Down"},
	  {"pibctl link set sw0/1 up", "and come up again"},
	  {"pibctl link set sw0/1 loss 1% latency 10us seed 7", "a bad cable"},
	  {"pibctl link set sw0/1 healthy", "a good one again"}},
	 set},
	{"link",
	 "show",
	 "show cables",
	 "Shows all cables, those of one HCA or switch, or that of one port.",
	 {{"NAME[/PORT]", "only cables of this HCA, switch or port", false}},
	 {},
	 {{"pibctl link show", "all cables"}, {"pibctl link show sw0", "those of sw0"}},
	 list_links},
};

} // namespace

std::span<const Command> link_commands()
{
	return kCommands;
}

} // namespace pib::ctl
