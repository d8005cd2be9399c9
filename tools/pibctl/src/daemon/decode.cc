// SPDX-License-Identifier: GPL-2.0
#include "daemon/decode.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "model/words/counter_names.h"
#include "model/words/dscp.h"
#include "model/words/ib_names.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::json;

const Json &child(const Json &object, const char *key)
{
	static const Json nothing;
	if (!object.is_object())
		return nothing;
	const auto found = object.find(key);
	return found == object.end() ? nothing : *found;
}

const Json &list(const Json &object, const char *key)
{
	static const Json empty = Json::array();
	const Json &found = child(object, key);
	return found.is_array() ? found : empty;
}

std::optional<std::string> text(const Json &object, const char *key)
{
	const Json &found = child(object, key);
	if (!found.is_string())
		return std::nullopt;
	return found.get<std::string>();
}

template <typename To>
std::optional<To> number(const Json &object, const char *key)
{
	const Json &found = child(object, key);
	if (!found.is_number_unsigned())
		return std::nullopt;
	return static_cast<To>(found.get<std::uint64_t>());
}

bool flag(const Json &object, const char *key)
{
	const Json &found = child(object, key);
	return found.is_boolean() && found.get<bool>();
}

std::optional<std::uint64_t> guid(const Json &object, const char *key)
{
	const auto word = text(object, key);
	if (!word)
		return std::nullopt;
	const auto parsed = parse_guid(*word);
	return parsed ? std::optional(*parsed) : std::nullopt;
}

/// The code for which a name stands.
template <typename Code>
std::optional<Code> code_of(const std::optional<std::string> &name, unsigned most, auto name_of)
{
	for (unsigned code = 0; name && code <= most; ++code)
		if (name_of(static_cast<Code>(code)) == *name)
			return static_cast<Code>(code);
	return std::nullopt;
}

End end(const Json &object)
{
	return {text(object, "node").value_or("?"),
		number<std::uint32_t>(object, "port").value_or(0)};
}

Port port(const Json &object)
{
	Port port;
	port.number = number<std::uint32_t>(object, "port").value_or(0);
	port.guid = guid(object, "port_guid");
	port.state = code_of<std::uint8_t>(text(object, "state"), 5, state_name);
	port.physical_state =
		code_of<std::uint8_t>(text(object, "physical_state"), 7, physical_state_name);
	port.lid = number<std::uint16_t>(object, "lid");
	port.lmc = number<std::uint8_t>(object, "lmc");
	port.sm_lid = number<std::uint16_t>(object, "sm_lid");
	port.mtu = number<std::uint32_t>(object, "mtu");
	port.width = code_of<std::uint8_t>(text(object, "width"), 16, width_name);
	port.speed = code_of<std::uint16_t>(text(object, "speed"), 256, speed_name);
	return port;
}

Counters counters(const Json &object, std::span<const CounterName> names)
{
	Counters counters;
	for (const CounterName &name : names)
		if (const auto value = number<std::uint64_t>(object, name.name))
			counters.push_back({name.name, *value});
	return counters;
}

/// Adds what the list of peers says of the link.
void add_session(const Json &answer, Link &link)
{
	for (const Json &peer : list(answer, "peers")) {
		if (!(end(child(peer, "link")) == link.a))
			continue;
		link.udp->last_heard_ms = number<std::uint32_t>(peer, "last_heard_ms");
		link.udp->restarts = number<std::uint32_t>(peer, "restarts");
		link.udp->moves = number<std::uint32_t>(peer, "moves");
		link.udp->refusal = text(peer, "refusal");
		link.udp->second_key = peer.value("second_key", false);
		link.udp->local_id = number<std::uint32_t>(peer, "local_id");
		link.udp->remote_id = number<std::uint32_t>(peer, "remote_id");
	}
}

template <typename Count>
Count share(const Json &object, const char *key, double scale)
{
	const Json &found = child(object, key);
	return found.is_number() ? static_cast<Count>(std::llround(found.get<double>() * scale))
				 : Count{0};
}

FaultCounts arrivals(const Json &object)
{
	FaultCounts counts;
	counts.to = end(object);
	for (const auto &[key, value] :
	     {std::pair{"packets", &counts.packets}, std::pair{"lost", &counts.lost},
	      std::pair{"damaged", &counts.damaged}, std::pair{"duplicated", &counts.duplicated},
	      std::pair{"reordered", &counts.reordered}})
		*value = number<std::uint64_t>(object, key).value_or(0);
	return counts;
}

Faults faults(const Json &link)
{
	const Json &object = child(link, "faults");
	Faults faults;
	faults.seed = number<std::uint64_t>(object, "seed").value_or(0);
	faults.loss = share<std::uint32_t>(object, "loss", 1e9);
	faults.duplicate = share<std::uint32_t>(object, "duplicate", 1e9);
	faults.reorder = share<std::uint32_t>(object, "reorder", 1e9);
	faults.bit_errors = share<std::uint64_t>(object, "bit_errors", 1e15);
	faults.latency = number<std::uint64_t>(object, "latency_ns").value_or(0);
	faults.rate = number<std::uint64_t>(object, "rate_bps").value_or(0);
	faults.flap_up = number<std::uint32_t>(object, "flap_up_ms").value_or(0);
	faults.flap_down = number<std::uint32_t>(object, "flap_down_ms").value_or(0);
	for (const Json &each : list(link, "arrivals"))
		faults.counts.push_back(arrivals(each));
	return faults;
}

VlWindow vl_window(const Json &object)
{
	return {.vl = number<std::uint32_t>(object, "vl").value_or(0),
		.window = number<std::uint32_t>(object, "window").value_or(0),
		.on_way = number<std::uint32_t>(object, "on_way").value_or(0),
		.waits = flag(object, "waits"),
		.unbounded = flag(object, "unbounded")};
}

UdpLink udp_link(const Json &object)
{
	UdpLink udp;
	udp.netdev = text(object, "netdev");
	if (const auto word = text(object, "address"))
		if (const auto endpoint = parse_endpoint(*word))
			udp.peer = *endpoint;
	udp.up = flag(object, "up");
	udp.peer_node_guid = guid(object, "peer_node_guid");
	udp.peer_port = number<std::uint32_t>(object, "peer_port");
	udp.flows = flag(object, "flows");
	udp.path_mtu = number<std::uint32_t>(object, "path_mtu");
	udp.peer_description = text(object, "peer_description");
	if (const Json &windows = child(object, "windows"); windows.is_boolean())
		udp.windows = windows.get<bool>();
	for (const Json &each : list(object, "vls"))
		udp.vl_windows.push_back(vl_window(each));
	if (const auto word = text(object, "own_address"))
		if (const auto endpoint = parse_endpoint(*word))
			udp.own = *endpoint;
	return udp;
}

} // namespace

std::vector<Switch> decode_json_switches(const Json &answer)
{
	std::vector<Switch> switches;
	for (const Json &object : list(answer, "switches")) {
		Switch &node = switches.emplace_back();
		node.name = text(object, "name").value_or("?");
		node.description = text(object, "description");
		node.node_guid = guid(object, "node_guid");
		node.num_ports = number<std::uint32_t>(object, "num_ports");
		node.automatic = flag(object, "auto");
		for (const Json &each : list(object, "ports"))
			node.ports.push_back(port(each));
	}
	return switches;
}

void decode_json_counters(const Json &answer, std::vector<Switch> &switches)
{
	for (const Json &object : list(answer, "counters")) {
		const End at = end(object);
		for (Switch &node : switches)
			for (Port &each : node.ports)
				if (node.name == at.node && each.number == at.port)
					each.counters = counters(child(object, "counters"),
								 port_counter_names());
	}
}

std::vector<Link> decode_json_links(const Json &answer)
{
	std::vector<Link> links;
	for (const Json &object : list(answer, "links")) {
		Link &link = links.emplace_back();
		link.a = end(child(object, "a"));
		if (child(object, "plugged").is_boolean())
			link.plugged = flag(object, "plugged");
		link.automatic = flag(object, "auto");
		if (child(object, "faults").is_object())
			link.faults = faults(object);
		if (child(object, "b").is_object()) {
			link.b = end(child(object, "b"));
			continue;
		}
		link.udp = udp_link(object);
		add_session(answer, link);
	}
	return links;
}

std::vector<Uplink> decode_json_uplinks(const Json &answer)
{
	std::vector<Uplink> uplinks;
	for (const Json &object : list(answer, "uplinks")) {
		Uplink &uplink = uplinks.emplace_back();
		uplink.netdev = text(object, "netdev").value_or("?");
		uplink.fabric = number<std::uint32_t>(object, "fabric");
		uplink.udp_port = number<std::uint16_t>(object, "udp_port");
		uplink.switch_name = text(object, "switch");
		if (const Json &ecn = child(object, "ecn"); ecn.is_boolean())
			uplink.ecn = ecn.get<bool>();
		if (const Json &windows = child(object, "windows"); windows.is_boolean())
			uplink.windows = windows.get<bool>();
		if (const auto dscp = parse_dscp(text(object, "dscp").value_or("")))
			uplink.dscp = *dscp;
		uplink.counters = counters(child(object, "counters"), uplink_counter_names());
	}
	return uplinks;
}

} // namespace pib::ctl
