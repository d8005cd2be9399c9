// SPDX-License-Identifier: GPL-2.0
#include "objects/decode.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "netlink/answer.h"
#include "netlink/attributes.h"
#include "objects/behavior.h"
#include "model/words/counter_names.h"

namespace pib::ctl {
namespace {

bool intact(const Attributes &attributes, std::initializer_list<std::uint16_t> nests)
{
	const auto whole = [&](std::uint16_t type) {
		return std::ranges::all_of(attributes.nests(type), &Attributes::intact);
	};
	return attributes.intact() && std::ranges::all_of(nests, whole);
}

std::optional<Endpoint> decode_endpoint(const std::optional<Attributes> &attributes)
{
	if (!attributes)
		return std::nullopt;
	Endpoint endpoint;
	const Attribute *v4 = attributes->find(PIB_EP_ADDR4);
	const Attribute *v6 = attributes->find(PIB_EP_ADDR6);
	endpoint.v6 = v6 != nullptr;
	const Attribute *address = v6 ? v6 : v4;
	if (!address || address->payload.size() != (v6 ? 16U : 4U))
		return std::nullopt;
	std::ranges::copy(address->payload, endpoint.address.begin());
	endpoint.port = attributes->number<std::uint16_t>(PIB_EP_PORT).value_or(0);
	return endpoint;
}

std::optional<End> decode_end(const std::optional<Attributes> &attributes)
{
	if (!attributes)
		return std::nullopt;
	const auto node = attributes->text(PIB_END_NODE);
	const auto port = attributes->number<std::uint32_t>(PIB_END_PORT);
	if (!node || !port)
		return std::nullopt;
	return End{*node, *port};
}

Counters decode_counters(const std::optional<Attributes> &attributes,
			 std::span<const CounterName> names)
{
	Counters counters;
	if (!attributes)
		return counters;
	for (const CounterName &known : names)
		if (const auto value = attributes->number<std::uint64_t>(known.attribute))
			counters.push_back({known.name, *value});
	return counters;
}

std::optional<Port> decode_port(const Attributes &attributes)
{
	const auto number = attributes.number<std::uint32_t>(PIB_P_NUM);
	if (!number || !intact(attributes, {PIB_P_COUNTERS}))
		return std::nullopt;
	Port port;
	port.number = *number;
	port.guid = attributes.number<std::uint64_t>(PIB_P_GUID);
	port.state = attributes.number<std::uint8_t>(PIB_P_STATE);
	port.physical_state = attributes.number<std::uint8_t>(PIB_P_PHYS_STATE);
	port.lid = attributes.number<std::uint16_t>(PIB_P_LID);
	port.lmc = attributes.number<std::uint8_t>(PIB_P_LMC);
	port.sm_lid = attributes.number<std::uint16_t>(PIB_P_SM_LID);
	port.mtu = attributes.number<std::uint32_t>(PIB_P_MTU);
	port.width = attributes.number<std::uint8_t>(PIB_P_WIDTH);
	port.speed = attributes.number<std::uint16_t>(PIB_P_SPEED);
	port.netdev = attributes.text(PIB_P_NETDEV);
	port.counters = decode_counters(attributes.nest(PIB_P_COUNTERS), port_counter_names());
	return port;
}

Result<std::vector<Port>> decode_ports(const Attributes &attributes)
{
	std::vector<Port> ports;
	for (const Attributes &nest : attributes.nests(PIB_A_PORT)) {
		auto port = decode_port(nest);
		if (!port)
			return malformed_answer("a port without a number");
		ports.push_back(std::move(*port));
	}
	return ports;
}

Product decode_product(const Attributes &attributes)
{
	return {attributes.number<std::uint64_t>(PIB_A_SYS_IMAGE_GUID),
		attributes.number<std::uint32_t>(PIB_A_VENDOR_ID),
		attributes.number<std::uint16_t>(PIB_A_DEVICE_ID)};
}

Result<Hca> decode_one(const Attributes &attributes, const Hca *)
{
	Hca hca;
	const auto name = attributes.text(PIB_A_HCA_NAME);
	if (!name)
		return malformed_answer("an HCA without a name");
	hca.name = *name;
	hca.description = attributes.text(PIB_A_DESCRIPTION);
	hca.node_guid = attributes.number<std::uint64_t>(PIB_A_NODE_GUID);
	hca.netdev = attributes.text(PIB_A_NETDEV);
	hca.ifindex = attributes.number<std::uint32_t>(PIB_A_IFINDEX);
	hca.ibdev_index = attributes.number<std::uint32_t>(PIB_A_IBDEV_INDEX);
	hca.fabric = attributes.number<std::uint32_t>(PIB_A_FABRIC);
	hca.udp_port = attributes.number<std::uint16_t>(PIB_A_UDP_PORT);
	hca.num_ports = attributes.number<std::uint32_t>(PIB_A_NUM_PORTS);
	hca.product = decode_product(attributes);
	hca.standalone = attributes.has(PIB_A_STANDALONE);
	if (const auto behaviors = attributes.number<std::uint32_t>(PIB_A_BEHAVIOR))
		hca.behavior = behavior_list(*behaviors);
	hca.behavior_seed = attributes.number<std::uint64_t>(PIB_A_BEHAVIOR_SEED);
	for (const Attributes &nest : attributes.nests(PIB_A_PEER))
		if (const auto peer = decode_endpoint(nest))
			hca.peers.push_back(*peer);
	return hca;
}

Result<Switch> decode_one(const Attributes &attributes, const Switch *)
{
	Switch node;
	const auto name = attributes.text(PIB_A_SWITCH_NAME);
	if (!name)
		return malformed_answer("a switch without a name");
	node.name = *name;
	node.description = attributes.text(PIB_A_DESCRIPTION);
	node.node_guid = attributes.number<std::uint64_t>(PIB_A_NODE_GUID);
	node.num_ports = attributes.number<std::uint32_t>(PIB_A_NUM_PORTS);
	node.product = decode_product(attributes);
	node.enhanced_port0 = attributes.has(PIB_A_ENHANCED_PORT0);
	node.automatic = attributes.has(PIB_A_AUTO);
	return node;
}

template <typename Node>
Status append_node(const Attributes &attributes, std::vector<Node> &nodes)
{
	auto node = decode_one(attributes, static_cast<const Node *>(nullptr));
	if (!node)
		return node.error();
	auto ports = decode_ports(attributes);
	if (!ports)
		return ports.error();
	if (nodes.empty() || nodes.back().name != node->name)
		nodes.push_back(std::move(*node));
	std::ranges::move(*ports, std::back_inserter(nodes.back().ports));
	return success();
}

template <typename Node>
Result<std::vector<Node>> decode_nodes(const std::vector<Answer> &answers)
{
	std::vector<Node> nodes;
	for (const Answer &answer : answers) {
		const Attributes attributes(answer.attributes);
		if (!attributes.intact())
			return malformed_answer("an attribute is cut short");
		if (auto added = append_node(attributes, nodes); !added)
			return added.error();
	}
	return nodes;
}

VlWindow decode_vl_window(const Attributes &attributes)
{
	return {.vl = attributes.number<std::uint8_t>(PIB_VW_VL).value_or(0),
		.window = attributes.number<std::uint32_t>(PIB_VW_WINDOW).value_or(0),
		.on_way = attributes.number<std::uint32_t>(PIB_VW_ON_WAY).value_or(0),
		.waits = attributes.has(PIB_VW_WAITS),
		.unbounded = attributes.has(PIB_VW_UNBOUNDED)};
}

std::optional<UdpLink> decode_udp_link(const std::optional<Attributes> &attributes)
{
	if (!attributes)
		return std::nullopt;
	UdpLink link;
	link.netdev = attributes->text(PIB_UL_NETDEV);
	link.peer = decode_endpoint(attributes->nest(PIB_UL_PEER));
	link.local_id = attributes->number<std::uint32_t>(PIB_UL_LOCAL_ID);
	link.remote_id = attributes->number<std::uint32_t>(PIB_UL_REMOTE_ID);
	link.up = attributes->number<std::uint8_t>(PIB_UL_UP).value_or(0) != 0;
	link.peer_node_guid = attributes->number<std::uint64_t>(PIB_UL_PEER_NODE_GUID);
	link.peer_port = attributes->number<std::uint32_t>(PIB_UL_PEER_PORT_NUM);
	link.peer_description = attributes->text(PIB_UL_PEER_DESC);
	link.last_heard_ms = attributes->number<std::uint32_t>(PIB_UL_LAST_HEARD_MS);
	link.restarts = attributes->number<std::uint32_t>(PIB_UL_RESTARTS);
	link.refusal = attributes->text(PIB_UL_REFUSAL);
	link.second_key = attributes->has(PIB_UL_BY_SECOND_KEY);
	link.flows = attributes->has(PIB_UL_BY_FLOW);
	link.path_mtu = attributes->number<std::uint32_t>(PIB_UL_PATH_MTU);
	if (const auto own = attributes->nest(PIB_UL_OWN))
		link.own = decode_endpoint(own);
	link.moves = attributes->number<std::uint32_t>(PIB_UL_MOVES);
	if (const auto windows = attributes->number<std::uint8_t>(PIB_UL_WINDOWS))
		link.windows = *windows != 0;
	for (const Attributes &each : attributes->nests(PIB_UL_VL_WINDOW))
		link.vl_windows.push_back(decode_vl_window(each));
	return link;
}

std::optional<FaultCounts> decode_fault_counts(const Attributes &attributes)
{
	const auto to = decode_end(attributes.nest(PIB_FC_TO));
	if (!to)
		return std::nullopt;
	const auto count = [&](std::uint16_t type) {
		return attributes.number<std::uint64_t>(type).value_or(0);
	};
	return FaultCounts{*to,
			   count(PIB_FC_PACKETS),
			   count(PIB_FC_LOST),
			   count(PIB_FC_DAMAGED),
			   count(PIB_FC_DUPLICATED),
			   count(PIB_FC_REORDERED)};
}

std::optional<Faults> decode_faults(const std::optional<Attributes> &attributes)
{
	if (!attributes)
		return std::nullopt;
	const auto wide = [&](std::uint16_t type) {
		return attributes->number<std::uint64_t>(type).value_or(0);
	};
	const auto narrow = [&](std::uint16_t type) {
		return attributes->number<std::uint32_t>(type).value_or(0);
	};
	Faults faults;
	faults.seed = wide(PIB_F_SEED);
	faults.loss = narrow(PIB_F_LOSS);
	faults.duplicate = narrow(PIB_F_DUPLICATE);
	faults.reorder = narrow(PIB_F_REORDER);
	faults.bit_errors = wide(PIB_F_BIT_ERRORS);
	faults.latency = wide(PIB_F_LATENCY);
	faults.rate = wide(PIB_F_RATE);
	faults.buffer = narrow(PIB_F_BUFFER);
	faults.flap_up = narrow(PIB_F_FLAP_UP);
	faults.flap_down = narrow(PIB_F_FLAP_DOWN);
	for (const Attributes &nest : attributes->nests(PIB_F_COUNTS))
		if (const auto counts = decode_fault_counts(nest))
			faults.counts.push_back(*counts);
	return faults;
}

Result<Link> decode_link(const Attributes &attributes)
{
	if (!intact(attributes, {PIB_A_LINK_A, PIB_A_LINK_B, PIB_A_UDP_LINK, PIB_A_LINK_FAULT}))
		return malformed_answer("an attribute is cut short");
	const auto a = decode_end(attributes.nest(PIB_A_LINK_A));
	Link link;
	link.b = decode_end(attributes.nest(PIB_A_LINK_B));
	link.udp = decode_udp_link(attributes.nest(PIB_A_UDP_LINK));
	if (!a || !(link.b || link.udp))
		return malformed_answer("a link without its two ends");
	link.a = *a;
	if (const auto state = attributes.number<std::uint8_t>(PIB_A_LINK_STATE))
		link.plugged = *state != 0;
	link.faults = decode_faults(attributes.nest(PIB_A_LINK_FAULT));
	link.automatic = attributes.has(PIB_A_AUTO);
	return link;
}

std::optional<DscpTable> decode_dscp(const Attribute *attribute)
{
	DscpTable dscp{};
	if (!attribute || attribute->payload.size() != dscp.size())
		return std::nullopt;
	std::ranges::copy(attribute->payload, dscp.begin());
	return dscp;
}

Result<Uplink> decode_uplink(const Attributes &attributes)
{
	if (!intact(attributes, {PIB_A_STATS}))
		return malformed_answer("an attribute is cut short");
	const auto netdev = attributes.text(PIB_A_NETDEV);
	if (!netdev)
		return malformed_answer("an uplink without a netdev");
	Uplink uplink;
	uplink.netdev = *netdev;
	uplink.ifindex = attributes.number<std::uint32_t>(PIB_A_IFINDEX);
	uplink.fabric = attributes.number<std::uint32_t>(PIB_A_FABRIC);
	uplink.udp_port = attributes.number<std::uint16_t>(PIB_A_UDP_PORT);
	uplink.switch_name = attributes.text(PIB_A_SWITCH_NAME);
	uplink.keys = attributes.number<std::uint8_t>(PIB_A_NUM_KEYS);
	uplink.accept = attributes.number<std::uint8_t>(PIB_A_ACCEPT);
	if (const auto ecn = attributes.number<std::uint8_t>(PIB_A_ECN))
		uplink.ecn = *ecn != 0;
	uplink.dscp = decode_dscp(attributes.find(PIB_A_DSCP));
	if (const auto flow_ports = attributes.number<std::uint8_t>(PIB_A_FLOW_PORTS))
		uplink.flow_ports = *flow_ports != 0;
	if (const auto windows = attributes.number<std::uint8_t>(PIB_A_WINDOWS))
		uplink.windows = *windows != 0;
	uplink.counters = decode_counters(attributes.nest(PIB_A_STATS), uplink_counter_names());
	return uplink;
}

std::optional<EventLink> decode_event_link(const Attributes &attributes)
{
	const auto a = decode_end(attributes.nest(PIB_A_LINK_A));
	if (!a)
		return std::nullopt;
	return EventLink{*a, decode_end(attributes.nest(PIB_A_LINK_B)),
			 decode_udp_link(attributes.nest(PIB_A_UDP_LINK))};
}

template <typename T>
Result<std::vector<T>> decode_each(const std::vector<Answer> &answers,
				   Result<T> (*decode)(const Attributes &))
{
	std::vector<T> all;
	for (const Answer &answer : answers) {
		auto one = decode(Attributes(answer.attributes));
		if (!one)
			return one.error();
		all.push_back(std::move(*one));
	}
	return all;
}

} // namespace

Result<std::vector<Hca>> decode_hcas(const std::vector<Answer> &answers)
{
	return decode_nodes<Hca>(answers);
}

Result<std::vector<Switch>> decode_switches(const std::vector<Answer> &answers)
{
	return decode_nodes<Switch>(answers);
}

Result<std::vector<Link>> decode_links(const std::vector<Answer> &answers)
{
	return decode_each<Link>(answers, decode_link);
}

Result<std::vector<Uplink>> decode_uplinks(const std::vector<Answer> &answers)
{
	return decode_each<Uplink>(answers, decode_uplink);
}

Result<Event> decode_event(View stream)
{
	const Attributes attributes(stream);
	if (!intact(attributes, {PIB_A_LINK_A, PIB_A_LINK_B, PIB_A_UDP_LINK, PIB_A_PORT}))
		return malformed_answer("an attribute is cut short");
	const auto kind = attributes.number<std::uint8_t>(PIB_A_EVENT);
	if (!kind)
		return malformed_answer("an event that does not say what has happened");
	Event event;
	event.kind = *kind;
	event.time = attributes.number<std::uint64_t>(PIB_A_TIME).value_or(0);
	event.is_switch = attributes.has(PIB_A_SWITCH_NAME);
	event.node =
		attributes.text(event.is_switch ? PIB_A_SWITCH_NAME : PIB_A_HCA_NAME).value_or("");
	event.node_guid = attributes.number<std::uint64_t>(PIB_A_NODE_GUID);
	event.automatic = attributes.has(PIB_A_AUTO);
	if (const auto nest = attributes.nest(PIB_A_PORT))
		event.port = decode_port(*nest);
	event.link = decode_event_link(attributes);
	if (event.kind <= PIB_EVENT_KIND_MAX && event.node.empty() && !event.link)
		return malformed_answer("an event without an object");
	if (const auto state = attributes.number<std::uint8_t>(PIB_A_LINK_STATE))
		event.plugged = *state != 0;
	event.ib_event = attributes.number<std::uint32_t>(PIB_A_IB_EVENT);
	event.keys = attributes.number<std::uint8_t>(PIB_A_NUM_KEYS);
	event.old_name = attributes.text(PIB_A_OLD_NAME);
	event.trap = attributes.number<std::uint16_t>(PIB_A_TRAP);
	return event;
}

Result<int> decode_capture(const std::vector<Answer> &answers)
{
	for (const Answer &answer : answers)
		if (const auto capture = Attributes(answer.attributes).nest(PIB_A_CAPTURE))
			if (const auto fd = capture->number<std::uint32_t>(PIB_CA_FD))
				return static_cast<int>(*fd);
	return Error{"the kernel's answer lacks the file descriptor of the capture", EBADMSG};
}

std::optional<std::uint32_t> decode_injection_id(const std::vector<Answer> &answers)
{
	for (const Answer &answer : answers)
		if (const auto inject = Attributes(answer.attributes).nest(PIB_A_INJECT))
			return inject->number<std::uint32_t>(PIB_IN_ID);
	return std::nullopt;
}

Result<std::vector<Injection>> decode_injections(const std::vector<Answer> &answers)
{
	std::vector<Injection> all;
	for (const Answer &answer : answers) {
		const Attributes attributes(answer.attributes);
		const auto hca = attributes.text(PIB_A_HCA_NAME);
		const auto node = hca ? hca : attributes.text(PIB_A_SWITCH_NAME);
		const auto rule = attributes.nest(PIB_A_INJECT);
		const auto id = rule ? rule->number<std::uint32_t>(PIB_IN_ID) : std::nullopt;
		if (!node || !id || !intact(attributes, {PIB_A_INJECT}))
			return malformed_answer("an injection without node or number");
		Injection one;
		one.node = *node;
		one.is_switch = !hca;
		one.id = *id;
		one.kind = rule->number<std::uint8_t>(PIB_IN_KIND).value_or(0);
		one.object = rule->number<std::uint32_t>(PIB_IN_OBJECT);
		one.port = rule->number<std::uint32_t>(PIB_IN_PORT);
		one.mgmt_class = rule->number<std::uint8_t>(PIB_IN_MGMT_CLASS);
		one.mad_attribute = rule->number<std::uint16_t>(PIB_IN_MAD_ATTRIBUTE);
		one.value = rule->number<std::uint64_t>(PIB_IN_VALUE);
		one.verb = rule->text(PIB_IN_VERB).value_or("");
		one.pid = rule->number<std::uint32_t>(PIB_IN_PID);
		one.arg = rule->number<std::uint32_t>(PIB_IN_ARG).value_or(0);
		one.delay = rule->number<std::uint64_t>(PIB_IN_DELAY).value_or(0);
		one.after = rule->number<std::uint32_t>(PIB_IN_AFTER);
		one.every = rule->number<std::uint32_t>(PIB_IN_EVERY);
		one.count = rule->number<std::uint32_t>(PIB_IN_COUNT);
		one.probability = rule->number<std::uint32_t>(PIB_IN_PROBABILITY);
		one.seed = rule->number<std::uint64_t>(PIB_IN_SEED);
		one.seen = rule->number<std::uint64_t>(PIB_IN_SEEN).value_or(0);
		one.done = rule->number<std::uint64_t>(PIB_IN_DONE).value_or(0);
		all.push_back(std::move(one));
	}
	return all;
}

std::optional<std::string> decode_module_version(const std::vector<Answer> &answers)
{
	for (const Answer &answer : answers)
		if (auto version = Attributes(answer.attributes).text(PIB_A_MODULE_VERSION))
			return version;
	return std::nullopt;
}

} // namespace pib::ctl
