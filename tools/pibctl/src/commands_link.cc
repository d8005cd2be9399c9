// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include "commands.h"
#include "list_links.h"
#include "numbers.h"
#include "parse.h"

namespace pibctl {
namespace {

Result<LinkRequest> read_local(LinkRequest link, const std::string& word) {
  const auto b = parse_end(word);
  if (!b) return b.error();
  if (*b == link.a) return usage_error("a cable has two different ends");
  link.b = *b;
  return link;
}

Result<LinkRequest> read_udp(LinkRequest link, const Arguments& arguments) {
  if (!arguments.has("udp") || !arguments.has("peer"))
    return usage_error("a link needs a second end: B/P, or 'udp DEV peer ADDR'");
  const auto netdev = parse_netdev(arguments.one("udp"));
  if (!netdev) return netdev.error();
  const auto peer = parse_endpoint(arguments.one("peer"));
  if (!peer) return peer.error();
  if (!peer->scope.empty() && peer->scope != *netdev)
    return usage_error(
        fmt::format("peer '{}' is not on netdev '{}'", arguments.one("peer"), *netdev));
  link.netdev = *netdev;
  link.peer = *peer;
  if (auto read = read_fabric(arguments, link.fabric); !read) return read.error();
  if (auto read = read_udp_port(arguments, link.udp_port); !read) return read.error();
  return link;
}

Result<LinkRequest> read_link(const Arguments& arguments) {
  LinkRequest link;
  const auto a = parse_end(arguments.one("A/P"));
  if (!a) return a.error();
  link.a = *a;
  if (!arguments.has("B/P")) return read_udp(link, arguments);
  for (const auto keyword : {"udp", "peer", "fabric", "udp-port"})
    if (arguments.has(keyword))
      return usage_error("a link has one second end: B/P, or 'udp DEV peer ADDR', not both");
  return read_local(link, arguments.one("B/P"));
}

Status add(const Context& context, const Arguments& arguments) {
  const auto link = read_link(arguments);
  if (!link) return link.error();
  return context.client.add_link(*link);
}

Status remove(const Context& context, const Arguments& arguments) {
  const auto end = parse_end(arguments.one("A/P"));
  if (!end) return end.error();
  return context.client.remove_link(*end);
}

Status set(const Context& context, const Arguments& arguments) {
  const auto end = parse_end(arguments.one("A/P"));
  if (!end) return end.error();
  const auto plugged = parse_plugged(arguments.one("up|down"));
  if (!plugged) return plugged.error();
  return context.client.plug_link(*end, *plugged);
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
      {"udp-port", "N", "UDP port of this host, 18514 by default"}},
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
     "pull a cable or put it back",
     "'down' pulls the cable out of both ports and leaves it in its place, 'up' puts it back.",
     {{"A/P", "either end"}, {"up|down", "put back or pull"}},
     {},
     {{"pibctl link set sw0/1 down", "the ports at both ends go Down"},
      {"pibctl link set sw0/1 up", "and come up again"}},
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

}  // namespace

std::span<const Command> link_commands() { return kCommands; }

}  // namespace pibctl
