// SPDX-License-Identifier: GPL-2.0
#include "objects/encode.h"

#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/pib.h>

#include "netlink/fake_kernel.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

using fake::join;

Bytes attributes_of(const Request &request)
{
	const View attributes = request.bytes().subspan(NLMSG_HDRLEN + GENL_HDRLEN);
	return Bytes(attributes.begin(), attributes.end());
}

int command_of(const Request &request)
{
	return request.bytes()[NLMSG_HDRLEN];
}

TEST(Encode, AddHcaWithNamesOnly)
{
	HcaRequest hca;
	hca.name = "pib0";
	hca.netdev = "eth0";
	const Request request = encode_add_hca(hca);
	EXPECT_EQ(command_of(request), PIB_CMD_HCA_NEW);
	EXPECT_EQ(attributes_of(request),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::text(PIB_A_NETDEV, "eth0")}));
}

TEST(Encode, AddHcaWithEverything)
{
	HcaRequest hca;
	hca.name = "pib0";
	hca.netdev = "eth0";
	hca.peers = {*parse_endpoint("192.0.2.1"), *parse_endpoint("[2001:db8::1]:77")};
	hca.standalone = true;
	hca.fabric = 7;
	hca.udp_port = 99;
	hca.num_ports = 2;
	hca.key = Bytes(16, 0xab);
	const Bytes peer4 = fake::nest(PIB_A_PEER, {fake::binary(PIB_EP_ADDR4, {192, 0, 2, 1})});
	const Bytes peer6 =
		fake::nest(PIB_A_PEER, {fake::binary(PIB_EP_ADDR6, {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0,
								    0, 0, 0, 0, 0, 0, 0, 0, 1}),
					fake::u16(PIB_EP_PORT, 77)});
	EXPECT_EQ(attributes_of(encode_add_hca(hca)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::text(PIB_A_NETDEV, "eth0"), peer4,
			peer6, fake::flag(PIB_A_STANDALONE), fake::u32(PIB_A_FABRIC, 7),
			fake::u16(PIB_A_UDP_PORT, 99), fake::u32(PIB_A_NUM_PORTS, 2),
			fake::attribute(PIB_A_KEY, Bytes(16, 0xab))}));
}

TEST(Encode, AddHcaWithTwoKeys)
{
	HcaRequest hca;
	hca.name = "pib0";
	hca.key = Bytes(16, 1);
	hca.second_key = Bytes(64, 2);
	EXPECT_EQ(
		attributes_of(encode_add_hca(hca)),
		join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::attribute(PIB_A_KEY, Bytes(16, 1)),
		      fake::attribute(PIB_A_SECOND_KEY, Bytes(64, 2))}));
}

TEST(Encode, SetKeys)
{
	KeysRequest keys;
	keys.hca = "pib0";
	keys.key = Bytes(16, 1);
	EXPECT_EQ(command_of(encode_set_keys(keys)), PIB_CMD_HCA_SET);
	EXPECT_EQ(attributes_of(encode_set_keys(keys)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"),
			fake::attribute(PIB_A_KEY, Bytes(16, 1))}));
	keys.key.reset();
	keys.second_key = Bytes(16, 2);
	EXPECT_EQ(attributes_of(encode_set_keys(keys)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"),
			fake::attribute(PIB_A_SECOND_KEY, Bytes(16, 2))}));
	keys.second_key.reset();
	keys.no_second_key = true;
	EXPECT_EQ(attributes_of(encode_set_keys(keys)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::flag(PIB_A_NO_SECOND_KEY)}));
	keys.force = true;
	EXPECT_EQ(attributes_of(encode_set_keys(keys)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::flag(PIB_A_NO_SECOND_KEY),
			fake::flag(PIB_A_FORCE)}));
}

TEST(Encode, Behavior)
{
	HcaRequest hca;
	hca.name = "pib0";
	hca.behaviors = PIB_BEHAVIOR_EXACT_CQ;
	hca.behavior_seed = 7;
	EXPECT_EQ(attributes_of(encode_add_hca(hca)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"),
			fake::u32(PIB_A_BEHAVIOR, PIB_BEHAVIOR_EXACT_CQ),
			fake::u64(PIB_A_BEHAVIOR_SEED, 7)}));
	const Request request = encode_set_behavior({"pib0", 0, {}});
	EXPECT_EQ(command_of(request), PIB_CMD_HCA_SET);
	EXPECT_EQ(attributes_of(request),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::u32(PIB_A_BEHAVIOR, 0)}));
}

TEST(Encode, WhoGetsAPort)
{
	HcaRequest hca;
	hca.name = "pib0";
	hca.accept = PIB_ACCEPT_LINK;
	EXPECT_EQ(attributes_of(encode_add_hca(hca)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"),
			fake::u8(PIB_A_ACCEPT, PIB_ACCEPT_LINK)}));
	KeysRequest set;
	set.hca = "pib0";
	set.accept = PIB_ACCEPT_NOBODY;
	EXPECT_EQ(attributes_of(encode_set_keys(set)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"),
			fake::u8(PIB_A_ACCEPT, PIB_ACCEPT_NOBODY)}));
}

TEST(Encode, WhatDataSaysToTheNetwork)
{
	HcaRequest hca;
	hca.name = "pib0";
	hca.ecn = true;
	EXPECT_EQ(attributes_of(encode_add_hca(hca)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::u8(PIB_A_ECN, 1)}));
	hca.ecn.reset();
	hca.dscp = DscpTable{0, 46};
	EXPECT_EQ(attributes_of(encode_add_hca(hca)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"),
			fake::binary(PIB_A_DSCP,
				     {0, 46, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}));
	hca.dscp.reset();
	hca.flow_ports = false;
	EXPECT_EQ(attributes_of(encode_add_hca(hca)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::u8(PIB_A_FLOW_PORTS, 0)}));
	hca.flow_ports.reset();
	hca.windows = true;
	EXPECT_EQ(attributes_of(encode_add_hca(hca)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::u8(PIB_A_WINDOWS, 1)}));
	KeysRequest set;
	set.hca = "pib0";
	set.ecn = false;
	set.flow_ports = true;
	set.windows = false;
	EXPECT_EQ(attributes_of(encode_set_keys(set)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), fake::u8(PIB_A_ECN, 0),
			fake::u8(PIB_A_FLOW_PORTS, 1), fake::u8(PIB_A_WINDOWS, 0)}));
}

TEST(Encode, AddSwitch)
{
	const Request request = encode_add_switch({"sw0", 36, 0x0250c2fffe000001, {}});
	EXPECT_EQ(command_of(request), PIB_CMD_SWITCH_NEW);
	EXPECT_EQ(attributes_of(request),
		  join({fake::text(PIB_A_SWITCH_NAME, "sw0"), fake::u32(PIB_A_NUM_PORTS, 36),
			fake::u64(PIB_A_NODE_GUID, 0x0250c2fffe000001)}));
}

TEST(Encode, Capture)
{
	CaptureRequest capture;
	capture.node = "pib0";
	EXPECT_EQ(command_of(encode_capture(capture)), PIB_CMD_CAPTURE_NEW);
	EXPECT_EQ(attributes_of(encode_capture(capture)),
		  fake::nest(PIB_A_CAPTURE,
			     {fake::text(PIB_CA_NODE, "pib0"), fake::u8(PIB_CA_DIRECTION, 3)}));
	capture.port = 2;
	capture.direction = 1;
	capture.snap_len = 64;
	capture.buffer = 1 << 20;
	capture.matches = {{0, 5, 0xffffff}};
	EXPECT_EQ(attributes_of(encode_capture(capture)),
		  fake::nest(PIB_A_CAPTURE,
			     {fake::text(PIB_CA_NODE, "pib0"), fake::u32(PIB_CA_PORT, 2),
			      fake::u8(PIB_CA_DIRECTION, 1), fake::u32(PIB_CA_SNAP_LEN, 64),
			      fake::u32(PIB_CA_BUFFER, 1 << 20),
			      fake::nest(PIB_CA_MATCH,
					 {fake::u8(PIB_CM_FIELD, 0), fake::u32(PIB_CM_VALUE, 5),
					  fake::u32(PIB_CM_MASK, 0xffffff)})}));
}

TEST(Encode, WhoMadeANode)
{
	const Product product = {0x77U, 0x2c9U, std::uint16_t{0xd2f0}};
	const Bytes said =
		join({fake::u64(PIB_A_SYS_IMAGE_GUID, 0x77), fake::u32(PIB_A_VENDOR_ID, 0x2c9),
		      fake::u32(PIB_A_DEVICE_ID, 0xd2f0)});
	SwitchRequest node;
	node.name = "sw0";
	node.num_ports = 36;
	node.product = product;
	node.enhanced_port0 = true;
	EXPECT_EQ(attributes_of(encode_add_switch(node)),
		  join({fake::text(PIB_A_SWITCH_NAME, "sw0"), fake::u32(PIB_A_NUM_PORTS, 36), said,
			fake::flag(PIB_A_ENHANCED_PORT0)}));
	HcaRequest hca;
	hca.name = "pib0";
	hca.product = product;
	EXPECT_EQ(attributes_of(encode_add_hca(hca)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"), said}));
}

TEST(Encode, AddLocalLink)
{
	LinkRequest link;
	link.a = {"sw0", 1};
	link.b = End{"pib0", 2};
	const Request request = encode_add_link(link);
	EXPECT_EQ(command_of(request), PIB_CMD_LINK_NEW);
	EXPECT_EQ(attributes_of(request),
		  join({fake::nest(PIB_A_LINK_A,
				   {fake::text(PIB_END_NODE, "sw0"), fake::u32(PIB_END_PORT, 1)}),
			fake::nest(PIB_A_LINK_B, {fake::text(PIB_END_NODE, "pib0"),
						  fake::u32(PIB_END_PORT, 2)})}));
}

TEST(Encode, AddUdpLink)
{
	LinkRequest link;
	link.a = {"sw0", 1};
	link.netdev = "eth0";
	link.peer = *parse_endpoint("192.0.2.1:5");
	const Bytes peer = fake::nest(PIB_UL_PEER, {fake::binary(PIB_EP_ADDR4, {192, 0, 2, 1}),
						    fake::u16(PIB_EP_PORT, 5)});
	const Bytes whole =
		join({fake::nest(PIB_A_LINK_A,
				 {fake::text(PIB_END_NODE, "sw0"), fake::u32(PIB_END_PORT, 1)}),
		      fake::nest(PIB_A_UDP_LINK, {fake::text(PIB_UL_NETDEV, "eth0"), peer})});
	EXPECT_EQ(attributes_of(encode_add_link(link)), whole);
	link.fabric = 3;
	link.udp_port = 6;
	EXPECT_EQ(attributes_of(encode_add_link(link)),
		  join({whole, fake::u32(PIB_A_FABRIC, 3), fake::u16(PIB_A_UDP_PORT, 6)}));
	link.key = Bytes(16, 7);
	EXPECT_EQ(attributes_of(encode_add_link(link)),
		  join({whole, fake::u32(PIB_A_FABRIC, 3), fake::u16(PIB_A_UDP_PORT, 6),
			fake::attribute(PIB_A_KEY, Bytes(16, 7))}));
}

TEST(Encode, DeleteAndSetLink)
{
	const Bytes end = fake::nest(PIB_A_LINK_A,
				     {fake::text(PIB_END_NODE, "sw0"), fake::u32(PIB_END_PORT, 1)});
	const Request removal = encode_delete_link({"sw0", 1});
	EXPECT_EQ(command_of(removal), PIB_CMD_LINK_DEL);
	EXPECT_EQ(attributes_of(removal), end);
	LinkChange change;
	change.end = {"sw0", 1};
	change.plugged = false;
	const Request unplug = encode_change_link(change);
	EXPECT_EQ(command_of(unplug), PIB_CMD_LINK_SET);
	EXPECT_EQ(attributes_of(unplug), join({end, fake::u8(PIB_A_LINK_STATE, 0)}));
	change.plugged = true;
	EXPECT_EQ(attributes_of(encode_change_link(change)),
		  join({end, fake::u8(PIB_A_LINK_STATE, 1)}));
}

TEST(Encode, ChangeLink)
{
	const Bytes end = fake::nest(PIB_A_LINK_A,
				     {fake::text(PIB_END_NODE, "sw0"), fake::u32(PIB_END_PORT, 1)});
	LinkChange change;
	change.end = {"sw0", 1};
	change.width = 8;
	change.speed = 256;
	EXPECT_EQ(attributes_of(encode_change_link(change)),
		  join({end, fake::u8(PIB_A_LINK_WIDTH, 8), fake::u16(PIB_A_LINK_SPEED, 256)}));
	change.width = {};
	change.speed = {};
	change.healthy = true;
	change.seed = 7;
	change.loss = 10;
	change.buffer = 16384;
	change.flap = {3000, 1000};
	EXPECT_EQ(attributes_of(encode_change_link(change)),
		  join({end, fake::nest(PIB_A_LINK_FAULT,
					{fake::flag(PIB_F_NONE), fake::u64(PIB_F_SEED, 7),
					 fake::u32(PIB_F_LOSS, 10), fake::u32(PIB_F_BUFFER, 16384),
					 fake::u32(PIB_F_FLAP_UP, 3000),
					 fake::u32(PIB_F_FLAP_DOWN, 1000)})}));
}

TEST(Encode, Injections)
{
	Injection drop;
	drop.node = "pib0";
	drop.kind = PIB_INJECT_KIND_DROP;
	drop.object = 17;
	drop.count = 0;
	drop.probability = 10;
	const Request made = encode_inject(drop);
	EXPECT_EQ(command_of(made), PIB_CMD_INJECT_NEW);
	EXPECT_EQ(attributes_of(made),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"),
			fake::nest(PIB_A_INJECT,
				   {fake::u8(PIB_IN_KIND, PIB_INJECT_KIND_DROP),
				    fake::u32(PIB_IN_OBJECT, 17), fake::u32(PIB_IN_ARG, 0),
				    fake::u32(PIB_IN_COUNT, 0),
				    fake::u32(PIB_IN_PROBABILITY, 10)})}));
	const Request all = encode_delete_injection("pib0", false, {});
	EXPECT_EQ(command_of(all), PIB_CMD_INJECT_DEL);
	EXPECT_EQ(attributes_of(all), fake::text(PIB_A_HCA_NAME, "pib0"));
	EXPECT_EQ(attributes_of(encode_delete_injection("pib0", false, 3)),
		  join({fake::text(PIB_A_HCA_NAME, "pib0"),
			fake::nest(PIB_A_INJECT, {fake::u32(PIB_IN_ID, 3)})}));
	EXPECT_EQ(attributes_of(encode_delete_injection("sw0", true, {})),
		  fake::text(PIB_A_SWITCH_NAME, "sw0"));
	Injection vanish;
	vanish.node = "sw0";
	vanish.is_switch = true;
	vanish.kind = PIB_INJECT_KIND_DROP;
	EXPECT_EQ(attributes_of(encode_inject(vanish)),
		  join({fake::text(PIB_A_SWITCH_NAME, "sw0"),
			fake::nest(PIB_A_INJECT,
				   {fake::u8(PIB_IN_KIND, PIB_INJECT_KIND_DROP),
				    fake::u32(PIB_IN_OBJECT, 0), fake::u32(PIB_IN_ARG, 0)})}));
}

TEST(Encode, NamedAndDump)
{
	const Request named = encode_named(PIB_CMD_SWITCH_GET, PIB_A_SWITCH_NAME, "sw0");
	EXPECT_EQ(command_of(named), PIB_CMD_SWITCH_GET);
	EXPECT_EQ(attributes_of(named), fake::text(PIB_A_SWITCH_NAME, "sw0"));
	EXPECT_FALSE(named.is_dump());
	const Request dump = encode_dump(PIB_CMD_LINK_GET);
	EXPECT_TRUE(dump.is_dump());
	EXPECT_TRUE(attributes_of(dump).empty());
}

TEST(Encode, RoomForMorePeersThanPorts)
{
	HcaRequest hca;
	hca.name = std::string(31, 'x');
	hca.netdev = "eth0";
	hca.peers.assign(254, *parse_endpoint("[2001:db8::1]:77"));
	hca.key = Bytes(64, 1);
	EXPECT_FALSE(encode_add_hca(hca).overflowed());
	hca.peers.assign(5000, hca.peers.front());
	EXPECT_TRUE(encode_add_hca(hca).overflowed());
}

} // namespace
} // namespace pib::ctl
