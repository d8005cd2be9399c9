// SPDX-License-Identifier: GPL-2.0
#include "model/show/show.h"

#include <fmt/format.h>

#include "model/words/accept.h"
#include "model/words/dscp.h"
#include "model/words/ib_names.h"
#include "model/words/parse.h"
#include "model/show/show_faults.h"

namespace pib::inline model {
namespace {

template <typename Number>
void show_number(Output &out, std::string_view key, const std::optional<Number> &number)
{
	if (number)
		out.field(key, std::uint64_t{*number});
}

void show_text(Output &out, std::string_view key, const std::optional<std::string> &text)
{
	if (text)
		out.field(key, *text);
}

void show_guid(Output &out, std::string_view key, const std::optional<std::uint64_t> &guid)
{
	if (guid)
		out.field(key, format_guid(*guid));
}

/// A field that text may leave out.
void put(Output &out, bool in_text, std::string_view key, const Value &value)
{
	if (in_text)
		out.field(key, value);
	else
		out.key_field(key, value);
}

/// A property that text mentions only if it holds.
void show_flag(Output &out, std::string_view key, bool holds)
{
	put(out, holds, key, holds);
}

/// Parts of a port that text shows; JSON has them all. A switch has so many ports that each gets
/// one line.
struct PortText {
	bool lids = true;
	bool identity = true;
	bool rate = true;
};

PortText text_of_switch_port(const Port &port)
{
	constexpr std::uint8_t kDown = 1;
	// Only port 0 has a LID of its own, and all share the GUID of the switch.
	return {port.number == 0, false, port.state != kDown};
}

void show_lids(Output &out, const Port &port, bool in_text)
{
	if (port.lid)
		put(out, in_text, "lid", std::uint64_t{*port.lid});
	if (port.sm_lid)
		put(out, in_text, "sm_lid", std::uint64_t{*port.sm_lid});
	if (port.lmc)
		put(out, in_text, "lmc", std::uint64_t{*port.lmc});
}

void show_identity(Output &out, const Port &port, bool in_text)
{
	if (in_text)
		out.line_break();
	if (port.guid)
		put(out, in_text, "port_guid", format_guid(*port.guid));
	put(out, in_text, "link_layer", std::string("InfiniBand"));
}

void show_rate(Output &out, const Port &port, bool in_text)
{
	if (port.mtu)
		put(out, in_text, "mtu", std::uint64_t{*port.mtu});
	if (!port.width || !port.speed)
		return;
	const auto gigabits = rate(*port.width, *port.speed);
	if (!gigabits)
		return;
	const auto width = *width_name(*port.width);
	const auto speed = *speed_name(*port.speed);
	if (in_text)
		out.field("rate", *gigabits,
			  fmt::format("{:g} Gb/sec ({} {})", *gigabits, width, speed));
	else
		out.key_field("rate", *gigabits);
	out.key_field("width", width);
	out.key_field("speed", speed);
}

void show_port_fields(Output &out, const Port &port, const PortText &text)
{
	out.key_field("port", std::uint64_t{port.number});
	if (port.state)
		out.field("state", state_name(*port.state));
	if (port.physical_state)
		out.field("physical_state", physical_state_name(*port.physical_state));
	show_lids(out, port, text.lids);
	show_text(out, "netdev", port.netdev);
	show_identity(out, port, text.identity);
	show_rate(out, port, text.rate);
}

std::string port_heading(std::string_view node, const Port &port)
{
	return fmt::format("port {}/{}", node, port.number);
}

void show_hca_ports(Output &out, const Hca &hca)
{
	out.begin_list("ports");
	for (const Port &port : hca.ports) {
		out.begin_item(port_heading(hca.name, port));
		show_port_fields(out, port, {});
		out.end_item();
	}
	out.end_list();
}

/// A switch port that most likely has no cable.
bool is_idle(const Port &port)
{
	constexpr std::uint8_t kPolling = 2;
	return port.number != 0 && port.physical_state == kPolling && !port.netdev;
}

void show_switch_ports(Output &out, const Switch &node, bool idle_too)
{
	std::size_t idle = 0;
	out.begin_list("ports");
	for (const Port &port : node.ports) {
		const bool hidden = !idle_too && is_idle(port);
		idle += hidden;
		if (hidden)
			out.begin_hidden_item();
		else
			out.begin_item(port_heading(node.name, port));
		show_port_fields(out, port, text_of_switch_port(port));
		out.end_item();
	}
	if (idle)
		out.remark(fmt::format("and {} more in state DOWN, POLLING", idle));
	out.end_list();
}

void show_hca_peers(Output &out, const Hca &hca)
{
	if (hca.peers.empty())
		return;
	out.begin_list("peers");
	for (const Endpoint &peer : hca.peers) {
		out.begin_item(fmt::format("peer {}", format_endpoint(peer)));
		out.key_field("address", format_endpoint(peer));
		out.end_item();
	}
	out.end_list();
}

/// Text mentions what pib's own nodes would not say.
void show_product(Output &out, const Product &product,
		  const std::optional<std::uint64_t> &node_guid, std::uint32_t own_device)
{
	constexpr std::uint32_t kOwnVendor = 0x25049;
	const bool foreign = product.vendor_id.value_or(kOwnVendor) != kOwnVendor ||
			     product.device_id.value_or(own_device) != own_device;
	if (product.sys_image_guid)
		put(out, product.sys_image_guid != node_guid, "sys_image_guid",
		    format_guid(*product.sys_image_guid));
	if (product.vendor_id)
		put(out, foreign, "vendor_id", fmt::format("{:#x}", *product.vendor_id));
	if (product.device_id)
		put(out, foreign, "device_id", fmt::format("{:#x}", *product.device_id));
}

/// Text mentions it only where there is something.
void show_behavior(Output &out, const Hca &hca)
{
	if (!hca.behavior)
		return;
	const bool in_text = *hca.behavior != "none";
	if (in_text)
		out.line_break();
	put(out, in_text, "behavior", *hca.behavior);
	if (hca.behavior_seed)
		put(out, in_text, "behavior_seed", *hca.behavior_seed);
}

void show_hca(Output &out, const Hca &hca)
{
	out.begin_item(fmt::format("hca {}", hca.name));
	out.key_field("name", hca.name);
	if (hca.ibdev_index)
		out.key_field("ibdev_index", std::uint64_t{*hca.ibdev_index});
	show_text(out, "netdev", hca.netdev);
	if (hca.ifindex)
		out.key_field("ifindex", std::uint64_t{*hca.ifindex});
	show_number(out, "fabric", hca.fabric);
	show_number(out, "udp_port", hca.udp_port);
	show_flag(out, "standalone", hca.standalone);
	show_text(out, "description", hca.description);
	out.line_break();
	show_guid(out, "node_guid", hca.node_guid);
	show_number(out, "num_ports", hca.num_ports);
	show_product(out, hca.product, hca.node_guid, 1);
	show_behavior(out, hca);
	show_hca_peers(out, hca);
	show_hca_ports(out, hca);
	out.end_item();
}

void show_switch(Output &out, const Switch &node, bool idle_too)
{
	out.begin_item(fmt::format("switch {}", node.name));
	out.key_field("name", node.name);
	show_flag(out, "auto", node.automatic);
	show_text(out, "description", node.description);
	out.line_break();
	show_guid(out, "node_guid", node.node_guid);
	show_number(out, "num_ports", node.num_ports);
	show_flag(out, "enhanced_port0", node.enhanced_port0);
	show_product(out, node.product, node.node_guid, 2);
	show_switch_ports(out, node, idle_too);
	out.end_item();
}

void show_end(Output &out, std::string_view key, const End &end)
{
	out.begin_group(key);
	out.key_field("node", end.node);
	out.key_field("port", std::uint64_t{end.port});
	out.end_group();
}

std::string far_end(const UdpLink &udp)
{
	return fmt::format("udp {} peer {}", udp.netdev.value_or("?"),
			   udp.peer ? format_endpoint(*udp.peer) : "?");
}

std::string link_heading(const Link &link)
{
	return fmt::format("link {} {}", format_end(link.a),
			   link.b ? format_end(*link.b) : far_end(*link.udp));
}

void show_vl_windows(Output &out, const UdpLink &udp)
{
	if (!udp.windows)
		return;
	show_flag(out, "windows", *udp.windows);
	if (!*udp.windows)
		return;
	out.begin_list("vls");
	for (const VlWindow &each : udp.vl_windows) {
		out.begin_item(fmt::format("vl {}", each.vl));
		out.key_field("vl", std::uint64_t{each.vl});
		out.field("window", std::uint64_t{each.window});
		out.field("on_way", std::uint64_t{each.on_way});
		show_flag(out, "waits", each.waits);
		show_flag(out, "unbounded", each.unbounded);
		out.end_item();
	}
	out.end_list();
}

void show_session(Output &out, const UdpLink &udp)
{
	out.field("up", udp.up);
	show_text(out, "refusal", udp.refusal);
	show_flag(out, "second_key", udp.second_key);
	show_flag(out, "flows", udp.flows);
	show_number(out, "path_mtu", udp.path_mtu);
	if (udp.own)
		out.field("own_address", format_endpoint(*udp.own));
	out.line_break();
	show_guid(out, "peer_node_guid", udp.peer_node_guid);
	show_number(out, "peer_port", udp.peer_port);
	show_text(out, "peer_description", udp.peer_description);
}

/// Fields for JSON alone: in text the heading of a UDP link has them already.
void show_endpoint(Output &out, const UdpLink &udp)
{
	if (udp.netdev)
		out.key_field("netdev", *udp.netdev);
	if (udp.peer)
		out.key_field("address", format_endpoint(*udp.peer));
}

void show_link(Output &out, const Link &link)
{
	out.begin_item(link_heading(link));
	show_end(out, "a", link.a);
	if (link.b)
		show_end(out, "b", *link.b);
	if (link.plugged)
		out.field("plugged", *link.plugged);
	show_flag(out, "auto", link.automatic);
	if (link.udp) {
		show_endpoint(out, *link.udp);
		show_session(out, *link.udp);
		show_vl_windows(out, *link.udp);
	}
	if (link.faults)
		show_faults(out, *link.faults);
	out.end_item();
}

void show_peer(Output &out, const Link &link)
{
	const UdpLink &udp = *link.udp;
	out.begin_item(fmt::format("peer {} netdev {} link {}",
				   udp.peer ? format_endpoint(*udp.peer) : "?",
				   udp.netdev.value_or("?"), format_end(link.a)));
	show_endpoint(out, udp);
	show_end(out, "link", link.a);
	show_session(out, udp);
	show_number(out, "last_heard_ms", udp.last_heard_ms);
	show_number(out, "restarts", udp.restarts);
	show_number(out, "moves", udp.moves);
	show_number(out, "local_id", udp.local_id);
	show_number(out, "remote_id", udp.remote_id);
	out.end_item();
}

void show_counter_group(Output &out, const Counters &counters)
{
	out.begin_group("counters");
	for (const Counter &counter : counters)
		out.field(counter.name, counter.value);
	out.end_group();
}

void show_uplink(Output &out, const Uplink &uplink)
{
	out.begin_item(fmt::format("uplink {}", uplink.netdev));
	out.key_field("netdev", uplink.netdev);
	if (uplink.ifindex)
		out.key_field("ifindex", std::uint64_t{*uplink.ifindex});
	show_text(out, "state", uplink.state);
	show_number(out, "fabric", uplink.fabric);
	show_number(out, "udp_port", uplink.udp_port);
	show_text(out, "switch", uplink.switch_name);
	show_number(out, "keys", uplink.keys);
	if (uplink.accept)
		show_text(out, "accept", accept_name(*uplink.accept));
	if (uplink.ecn)
		show_flag(out, "ecn", *uplink.ecn);
	if (uplink.dscp)
		out.field("dscp", format_dscp(*uplink.dscp));
	if (uplink.flow_ports)
		show_flag(out, "flow_ports", *uplink.flow_ports);
	if (uplink.windows)
		show_flag(out, "windows", *uplink.windows);
	show_counter_group(out, uplink.counters);
	out.end_item();
}

} // namespace

void show_hcas(Output &out, const std::vector<Hca> &hcas)
{
	out.begin_list("hcas");
	for (const Hca &hca : hcas)
		show_hca(out, hca);
	out.end_list();
}

void show_switches(Output &out, const std::vector<Switch> &switches)
{
	out.begin_list("switches");
	for (const Switch &node : switches)
		show_switch(out, node, false);
	out.end_list();
}

void show_whole_switch(Output &out, const Switch &node)
{
	out.begin_list("switches");
	show_switch(out, node, true);
	out.end_list();
}

void show_links(Output &out, const std::vector<Link> &links)
{
	out.begin_list("links");
	for (const Link &link : links)
		show_link(out, link);
	out.end_list();
}

void show_peers(Output &out, const std::vector<Link> &links)
{
	out.begin_list("peers");
	for (const Link &link : links)
		if (link.udp)
			show_peer(out, link);
	out.end_list();
}

void show_uplinks(Output &out, const std::vector<Uplink> &uplinks)
{
	out.begin_list("uplinks");
	for (const Uplink &uplink : uplinks)
		show_uplink(out, uplink);
	out.end_list();
}

void show_counters(Output &out, const std::vector<CountedPort> &ports)
{
	out.begin_list("counters");
	for (const CountedPort &counted : ports) {
		out.begin_item(fmt::format("port {}", format_end(counted.end)));
		out.key_field("node", counted.end.node);
		out.key_field("port", std::uint64_t{counted.end.port});
		show_counter_group(out, counted.port->counters);
		out.end_item();
	}
	out.end_list();
}

} // namespace pib::inline model
