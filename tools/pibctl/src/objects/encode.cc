// SPDX-License-Identifier: GPL-2.0
#include "objects/encode.h"

#include <linux/netlink.h>
#include <linux/pib.h>

namespace pib::ctl {
namespace {

void put_endpoint(Request &request, std::uint16_t type, const Endpoint &endpoint)
{
	const Request::Nest nest(request, type);
	const View address(endpoint.address);
	if (endpoint.v6)
		request.put_binary(PIB_EP_ADDR6, address);
	else
		request.put_binary(PIB_EP_ADDR4, address.first(4));
	if (endpoint.port)
		request.put_u16(PIB_EP_PORT, endpoint.port);
}

void put_end(Request &request, std::uint16_t type, const End &end)
{
	const Request::Nest nest(request, type);
	request.put_text(PIB_END_NODE, end.node);
	request.put_u32(PIB_END_PORT, end.port);
}

void put_match(Request &request, const CaptureMatch &match)
{
	const Request::Nest nest(request, PIB_CA_MATCH);
	request.put_u8(PIB_CM_FIELD, match.field);
	request.put_u32(PIB_CM_VALUE, match.value);
	request.put_u32(PIB_CM_MASK, match.mask);
}

void put_capture(Request &request, const CaptureRequest &capture)
{
	const Request::Nest nest(request, PIB_A_CAPTURE);
	request.put_text(PIB_CA_NODE, capture.node);
	if (capture.port)
		request.put_u32(PIB_CA_PORT, capture.port);
	request.put_u8(PIB_CA_DIRECTION, capture.direction);
	if (capture.snap_len)
		request.put_u32(PIB_CA_SNAP_LEN, *capture.snap_len);
	if (capture.buffer)
		request.put_u32(PIB_CA_BUFFER, *capture.buffer);
	for (const CaptureMatch &match : capture.matches)
		put_match(request, match);
}

void put_port_guid(Request &request, std::uint32_t number, std::uint64_t guid)
{
	const Request::Nest nest(request, PIB_A_PORT);
	request.put_u32(PIB_P_NUM, number);
	request.put_u64(PIB_P_GUID, guid);
}

void put_product(Request &request, const Product &product)
{
	if (product.sys_image_guid)
		request.put_u64(PIB_A_SYS_IMAGE_GUID, *product.sys_image_guid);
	if (product.vendor_id)
		request.put_u32(PIB_A_VENDOR_ID, *product.vendor_id);
	if (product.device_id)
		request.put_u32(PIB_A_DEVICE_ID, *product.device_id);
}

void put_peer(Request &request, const LinkRequest &link)
{
	const Request::Nest nest(request, PIB_A_UDP_LINK);
	request.put_text(PIB_UL_NETDEV, link.netdev);
	if (link.peer)
		put_endpoint(request, PIB_UL_PEER, *link.peer);
}

void put_udp_link(Request &request, const LinkRequest &link)
{
	put_peer(request, link);
	if (link.fabric)
		request.put_u32(PIB_A_FABRIC, *link.fabric);
	if (link.udp_port)
		request.put_u16(PIB_A_UDP_PORT, *link.udp_port);
	if (link.key)
		request.put_binary(PIB_A_KEY, *link.key);
}

bool changes_faults(const LinkChange &change)
{
	return change.healthy || change.seed || change.loss || change.duplicate || change.reorder ||
	       change.bit_errors || change.latency || change.rate || change.buffer || change.flap;
}

void put_faults(Request &request, const LinkChange &change)
{
	const Request::Nest nest(request, PIB_A_LINK_FAULT);
	if (change.healthy)
		request.put_flag(PIB_F_NONE);
	if (change.seed)
		request.put_u64(PIB_F_SEED, *change.seed);
	if (change.loss)
		request.put_u32(PIB_F_LOSS, *change.loss);
	if (change.duplicate)
		request.put_u32(PIB_F_DUPLICATE, *change.duplicate);
	if (change.reorder)
		request.put_u32(PIB_F_REORDER, *change.reorder);
	if (change.bit_errors)
		request.put_u64(PIB_F_BIT_ERRORS, *change.bit_errors);
	if (change.latency)
		request.put_u64(PIB_F_LATENCY, *change.latency);
	if (change.rate)
		request.put_u64(PIB_F_RATE, *change.rate);
	if (change.buffer)
		request.put_u32(PIB_F_BUFFER, *change.buffer);
	if (!change.flap)
		return;
	request.put_u32(PIB_F_FLAP_UP, change.flap->first);
	request.put_u32(PIB_F_FLAP_DOWN, change.flap->second);
}

struct ChangeEncoder {
	Request operator()(const HcaRequest &hca) const { return encode_add_hca(hca); }
	Request operator()(const SwitchRequest &node) const { return encode_add_switch(node); }
	Request operator()(const LinkRequest &link) const { return encode_add_link(link); }
	Request operator()(const Removal &removal) const
	{
		if (removal.kind == Removal::Kind::kHca)
			return encode_named(PIB_CMD_HCA_DEL, PIB_A_HCA_NAME, removal.name);
		return encode_named(PIB_CMD_SWITCH_DEL, PIB_A_SWITCH_NAME, removal.name);
	}
};

} // namespace

Request encode_add_hca(const HcaRequest &hca)
{
	Request request(PIB_CMD_HCA_NEW, PIB_FAMILY_VERSION);
	request.put_text(PIB_A_HCA_NAME, hca.name);
	if (!hca.netdev.empty())
		request.put_text(PIB_A_NETDEV, hca.netdev);
	for (const Endpoint &peer : hca.peers)
		put_endpoint(request, PIB_A_PEER, peer);
	if (hca.standalone)
		request.put_flag(PIB_A_STANDALONE);
	if (hca.fabric)
		request.put_u32(PIB_A_FABRIC, *hca.fabric);
	if (hca.udp_port)
		request.put_u16(PIB_A_UDP_PORT, *hca.udp_port);
	if (hca.num_ports)
		request.put_u32(PIB_A_NUM_PORTS, *hca.num_ports);
	if (hca.key)
		request.put_binary(PIB_A_KEY, *hca.key);
	if (hca.second_key)
		request.put_binary(PIB_A_SECOND_KEY, *hca.second_key);
	if (hca.accept)
		request.put_u8(PIB_A_ACCEPT, *hca.accept);
	if (hca.ecn)
		request.put_u8(PIB_A_ECN, *hca.ecn);
	if (hca.dscp)
		request.put_binary(PIB_A_DSCP, *hca.dscp);
	if (hca.flow_ports)
		request.put_u8(PIB_A_FLOW_PORTS, *hca.flow_ports);
	if (hca.windows)
		request.put_u8(PIB_A_WINDOWS, *hca.windows);
	if (hca.node_guid)
		request.put_u64(PIB_A_NODE_GUID, *hca.node_guid);
	for (const auto &[number, guid] : hca.port_guids)
		put_port_guid(request, number, guid);
	if (hca.description)
		request.put_text(PIB_A_DESCRIPTION, *hca.description);
	put_product(request, hca.product);
	if (hca.behaviors)
		request.put_u32(PIB_A_BEHAVIOR, *hca.behaviors);
	if (hca.behavior_seed)
		request.put_u64(PIB_A_BEHAVIOR_SEED, *hca.behavior_seed);
	return request;
}

Request encode_set_behavior(const BehaviorRequest &behavior)
{
	Request request(PIB_CMD_HCA_SET, PIB_FAMILY_VERSION);
	request.put_text(PIB_A_HCA_NAME, behavior.hca);
	request.put_u32(PIB_A_BEHAVIOR, behavior.behaviors);
	if (behavior.seed)
		request.put_u64(PIB_A_BEHAVIOR_SEED, *behavior.seed);
	return request;
}

Request encode_set_keys(const KeysRequest &keys)
{
	Request request(PIB_CMD_HCA_SET, PIB_FAMILY_VERSION);
	request.put_text(PIB_A_HCA_NAME, keys.hca);
	if (keys.key)
		request.put_binary(PIB_A_KEY, *keys.key);
	if (keys.second_key)
		request.put_binary(PIB_A_SECOND_KEY, *keys.second_key);
	if (keys.no_second_key)
		request.put_flag(PIB_A_NO_SECOND_KEY);
	if (keys.force)
		request.put_flag(PIB_A_FORCE);
	if (keys.accept)
		request.put_u8(PIB_A_ACCEPT, *keys.accept);
	if (keys.ecn)
		request.put_u8(PIB_A_ECN, *keys.ecn);
	if (keys.dscp)
		request.put_binary(PIB_A_DSCP, *keys.dscp);
	if (keys.flow_ports)
		request.put_u8(PIB_A_FLOW_PORTS, *keys.flow_ports);
	if (keys.windows)
		request.put_u8(PIB_A_WINDOWS, *keys.windows);
	return request;
}

Request encode_add_switch(const SwitchRequest &node)
{
	Request request(PIB_CMD_SWITCH_NEW, PIB_FAMILY_VERSION);
	request.put_text(PIB_A_SWITCH_NAME, node.name);
	request.put_u32(PIB_A_NUM_PORTS, node.num_ports);
	if (node.node_guid)
		request.put_u64(PIB_A_NODE_GUID, *node.node_guid);
	if (node.description)
		request.put_text(PIB_A_DESCRIPTION, *node.description);
	put_product(request, node.product);
	if (node.enhanced_port0)
		request.put_flag(PIB_A_ENHANCED_PORT0);
	return request;
}

Request encode_add_link(const LinkRequest &link)
{
	Request request(PIB_CMD_LINK_NEW, PIB_FAMILY_VERSION);
	put_end(request, PIB_A_LINK_A, link.a);
	if (link.b)
		put_end(request, PIB_A_LINK_B, *link.b);
	else
		put_udp_link(request, link);
	return request;
}

Request encode_named(std::uint8_t command, std::uint16_t name_attribute, std::string_view name)
{
	Request request(command, PIB_FAMILY_VERSION);
	request.put_text(name_attribute, name);
	return request;
}

Request encode_delete_link(const End &end)
{
	Request request(PIB_CMD_LINK_DEL, PIB_FAMILY_VERSION);
	put_end(request, PIB_A_LINK_A, end);
	return request;
}

Request encode_change_link(const LinkChange &change)
{
	Request request(PIB_CMD_LINK_SET, PIB_FAMILY_VERSION);
	put_end(request, PIB_A_LINK_A, change.end);
	if (change.plugged)
		request.put_u8(PIB_A_LINK_STATE, *change.plugged ? 1 : 0);
	if (change.width)
		request.put_u8(PIB_A_LINK_WIDTH, *change.width);
	if (change.speed)
		request.put_u16(PIB_A_LINK_SPEED, *change.speed);
	if (changes_faults(change))
		put_faults(request, change);
	return request;
}

Request encode_change(const Change &change)
{
	return std::visit(ChangeEncoder{}, change);
}

Request encode_capture(const CaptureRequest &capture)
{
	Request request(PIB_CMD_CAPTURE_NEW, PIB_FAMILY_VERSION);
	put_capture(request, capture);
	return request;
}

Request encode_inject(const Injection &injection)
{
	Request request(PIB_CMD_INJECT_NEW, PIB_FAMILY_VERSION);
	request.put_text(injection.is_switch ? PIB_A_SWITCH_NAME : PIB_A_HCA_NAME, injection.node);
	const Request::Nest nest(request, PIB_A_INJECT);
	request.put_u8(PIB_IN_KIND, injection.kind);
	if (injection.object)
		request.put_u32(PIB_IN_OBJECT, *injection.object);
	request.put_u32(PIB_IN_ARG, injection.arg);
	if (injection.delay)
		request.put_u64(PIB_IN_DELAY, injection.delay);
	if (injection.after)
		request.put_u32(PIB_IN_AFTER, *injection.after);
	if (injection.every)
		request.put_u32(PIB_IN_EVERY, *injection.every);
	if (injection.count)
		request.put_u32(PIB_IN_COUNT, *injection.count);
	if (injection.probability)
		request.put_u32(PIB_IN_PROBABILITY, *injection.probability);
	if (injection.seed)
		request.put_u64(PIB_IN_SEED, *injection.seed);
	if (injection.port)
		request.put_u32(PIB_IN_PORT, *injection.port);
	if (injection.mgmt_class)
		request.put_u8(PIB_IN_MGMT_CLASS, *injection.mgmt_class);
	if (injection.mad_attribute)
		request.put_u16(PIB_IN_MAD_ATTRIBUTE, *injection.mad_attribute);
	if (injection.value)
		request.put_u64(PIB_IN_VALUE, *injection.value);
	if (!injection.verb.empty())
		request.put_text(PIB_IN_VERB, injection.verb);
	if (injection.pid)
		request.put_u32(PIB_IN_PID, *injection.pid);
	return request;
}

Request encode_delete_injection(const std::string &node, bool is_switch,
				std::optional<std::uint32_t> id)
{
	Request request(PIB_CMD_INJECT_DEL, PIB_FAMILY_VERSION);
	request.put_text(is_switch ? PIB_A_SWITCH_NAME : PIB_A_HCA_NAME, node);
	if (id) {
		const Request::Nest nest(request, PIB_A_INJECT);
		request.put_u32(PIB_IN_ID, *id);
	}
	return request;
}

Request encode_dump(std::uint8_t command)
{
	return Request(command, PIB_FAMILY_VERSION, NLM_F_DUMP);
}

} // namespace pib::ctl
