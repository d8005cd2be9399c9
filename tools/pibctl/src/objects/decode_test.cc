// SPDX-License-Identifier: GPL-2.0
#include "objects/decode.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <random>

#include "model/words/parse.h"
#include "netlink/fake_kernel.h"
#include "objects/fake_objects.h"

namespace pib::ctl {
namespace {

using fake::join;

std::vector<Answer> answers(std::initializer_list<Bytes> streams)
{
	std::vector<Answer> all;
	for (const Bytes &stream : streams)
		all.push_back({0, stream});
	return all;
}

TEST(Decode, Hca)
{
	const auto hcas = decode_hcas(answers({fake::hca_answer()}));
	ASSERT_TRUE(hcas);
	ASSERT_EQ(hcas->size(), 1U);
	const Hca &hca = hcas->front();
	EXPECT_EQ(hca.name, "pib0");
	EXPECT_EQ(hca.node_guid, 0x0250c2fffe000001U);
	EXPECT_EQ(hca.netdev, "eth0");
	EXPECT_EQ(hca.udp_port, 18514);
	EXPECT_FALSE(hca.standalone);
	ASSERT_EQ(hca.ports.size(), 1U);
	const Port &port = hca.ports.front();
	EXPECT_EQ(port.lid, 3);
	EXPECT_EQ(port.state, 4);
	EXPECT_EQ(port.mtu, 2048U);
	ASSERT_EQ(port.counters.size(), 2U);
	EXPECT_STREQ(port.counters[0].name, "port_xmit_bytes");
	EXPECT_EQ(port.counters[0].value, 1ULL << 40);
}

TEST(Decode, Behavior)
{
	const auto hcas = decode_hcas(answers(
		{join({fake::hca_answer(),
		       fake::u32(PIB_A_BEHAVIOR, PIB_BEHAVIOR_EXACT_CQ | PIB_BEHAVIOR_REUSE_QPN),
		       fake::u64(PIB_A_BEHAVIOR_SEED, 7)})}));
	ASSERT_TRUE(hcas);
	EXPECT_EQ(hcas->front().behavior, "reuse-qpn,exact-cq");
	EXPECT_EQ(hcas->front().behavior_seed, 7U);
	// An older module.
	EXPECT_FALSE(decode_hcas(answers({fake::hca_answer()}))->front().behavior);
}

TEST(Decode, InjectionsOfBoth)
{
	const Bytes rule = fake::nest(PIB_A_INJECT, {fake::u32(PIB_IN_ID, 3),
						     fake::u8(PIB_IN_KIND, PIB_INJECT_KIND_DROP)});
	const auto rules =
		decode_injections(answers({join({fake::text(PIB_A_HCA_NAME, "pib0"), rule}),
					   join({fake::text(PIB_A_SWITCH_NAME, "sw0"), rule})}));
	ASSERT_TRUE(rules);
	ASSERT_EQ(rules->size(), 2U);
	EXPECT_EQ(rules->front().node, "pib0");
	EXPECT_FALSE(rules->front().is_switch);
	EXPECT_EQ(rules->back().node, "sw0");
	EXPECT_TRUE(rules->back().is_switch);
	EXPECT_FALSE(decode_injections(answers({rule})));
}

TEST(Decode, EventOfAPort)
{
	const auto event = decode_event(join(
		{fake::u8(PIB_A_EVENT, PIB_EVENT_KIND_PORT_STATE),
		 fake::u64(PIB_A_TIME, 1700000000123456789), fake::text(PIB_A_SWITCH_NAME, "sw0"),
		 fake::nest(PIB_A_PORT, {fake::u32(PIB_P_NUM, 0), fake::u8(PIB_P_STATE, 4),
					 fake::u8(PIB_P_PHYS_STATE, 5), fake::u16(PIB_P_LID, 3),
					 fake::u16(PIB_P_SM_LID, 1)})}));
	ASSERT_TRUE(event);
	EXPECT_EQ(event->kind, PIB_EVENT_KIND_PORT_STATE);
	EXPECT_EQ(event->time, 1700000000123456789U);
	EXPECT_EQ(event->node, "sw0");
	EXPECT_TRUE(event->is_switch);
	ASSERT_TRUE(event->port);
	EXPECT_EQ(event->port->number, 0U);
	EXPECT_EQ(event->port->state, 4);
	EXPECT_EQ(event->port->lid, 3);
	EXPECT_FALSE(event->link);
	EXPECT_FALSE(event->plugged);
}

TEST(Decode, EventOfACable)
{
	const Bytes end = fake::nest(
		PIB_A_LINK_A, {fake::text(PIB_END_NODE, "pib0"), fake::u32(PIB_END_PORT, 1)});
	const auto pulled = decode_event(join({fake::u8(PIB_A_EVENT, PIB_EVENT_KIND_LINK_PLUGGED),
					       end, fake::u8(PIB_A_LINK_STATE, 0)}));
	ASSERT_TRUE(pulled);
	ASSERT_TRUE(pulled->link);
	EXPECT_EQ(pulled->link->a, (End{"pib0", 1}));
	EXPECT_FALSE(pulled->link->b);
	EXPECT_EQ(pulled->plugged, false);
	const auto session = decode_event(join(
		{fake::u8(PIB_A_EVENT, PIB_EVENT_KIND_SESSION_UP), end,
		 fake::nest(PIB_A_UDP_LINK, {fake::text(PIB_UL_NETDEV, "eth0"),
					     fake::u8(PIB_UL_UP, 1), fake::u32(PIB_UL_RESTARTS, 2),
					     fake::text(PIB_UL_PEER_DESC, "a host")})}));
	ASSERT_TRUE(session);
	ASSERT_TRUE(session->link && session->link->udp);
	EXPECT_TRUE(session->link->udp->up);
	EXPECT_EQ(session->link->udp->restarts, 2U);
	EXPECT_EQ(session->link->udp->peer_description, "a host");
}

TEST(Decode, EventOfATrap)
{
	const auto event = decode_event(join(
		{fake::u8(PIB_A_EVENT, PIB_EVENT_KIND_TRAP), fake::text(PIB_A_HCA_NAME, "pib0"),
		 fake::nest(PIB_A_PORT, {fake::u32(PIB_P_NUM, 1), fake::u16(PIB_P_LID, 3)}),
		 fake::u16(PIB_A_TRAP, 257)}));
	ASSERT_TRUE(event && event->port);
	EXPECT_EQ(event->trap, 257);
	EXPECT_EQ(event->port->lid, 3);
}

// A newer module may tell of things that this program knows nothing of.
TEST(Decode, EventOfAKindThatIsNotKnown)
{
	const auto event = decode_event(
		join({fake::u8(PIB_A_EVENT, PIB_EVENT_KIND_MAX + 1), fake::u64(PIB_A_TIME, 7)}));
	ASSERT_TRUE(event);
	EXPECT_EQ(event->kind, PIB_EVENT_KIND_MAX + 1);
	EXPECT_EQ(event->time, 7U);
}

TEST(Decode, EventsThatSayTooLittle)
{
	EXPECT_FALSE(decode_event({}));
	EXPECT_FALSE(decode_event(fake::text(PIB_A_HCA_NAME, "pib0")));
	EXPECT_FALSE(decode_event(fake::u8(PIB_A_EVENT, PIB_EVENT_KIND_HCA_NEW)));
	Bytes cut = join({fake::u8(PIB_A_EVENT, PIB_EVENT_KIND_HCA_NEW),
			  fake::text(PIB_A_HCA_NAME, "pib0")});
	cut.resize(cut.size() - 6);
	EXPECT_FALSE(decode_event(cut));
}

TEST(Decode, SwitchInSeveralMessagesIsOne)
{
	const Bytes more = join({fake::text(PIB_A_SWITCH_NAME, "eth0"),
				 fake::nest(PIB_A_PORT, {fake::u32(PIB_P_NUM, 2)})});
	const Bytes other = fake::text(PIB_A_SWITCH_NAME, "sw1");
	const auto switches = decode_switches(answers({fake::switch_answer(), more, other}));
	ASSERT_TRUE(switches);
	ASSERT_EQ(switches->size(), 2U);
	EXPECT_TRUE(switches->front().automatic);
	EXPECT_EQ(switches->front().ports.size(), 3U);
	EXPECT_TRUE(switches->back().ports.empty());
}

TEST(Decode, TheAddressAtWhichThePeerReachesThisEnd)
{
	const auto links = decode_links(answers({join(
		{fake::nest(PIB_A_LINK_A,
			    {fake::text(PIB_END_NODE, "eth0"), fake::u32(PIB_END_PORT, 2)}),
		 fake::nest(PIB_A_UDP_LINK,
			    {fake::nest(PIB_UL_OWN, {fake::binary(PIB_EP_ADDR4, {192, 0, 2, 22}),
						     fake::u16(PIB_EP_PORT, 18514)}),
			     fake::u32(PIB_UL_MOVES, 3)})})}));
	ASSERT_TRUE(links);
	const UdpLink &udp = *links->front().udp;
	ASSERT_TRUE(udp.own);
	EXPECT_EQ(format_endpoint(*udp.own), "192.0.2.22:18514");
	EXPECT_EQ(udp.moves, 3U);
}

TEST(Decode, WindowsOfALink)
{
	const auto window = [](std::uint8_t vl, std::uint32_t on_way) {
		return fake::nest(PIB_UL_VL_WINDOW,
				  {fake::u8(PIB_VW_VL, vl), fake::u32(PIB_VW_WINDOW, 262144),
				   fake::u32(PIB_VW_ON_WAY, on_way),
				   fake::flag(vl ? PIB_VW_WAITS : PIB_VW_UNBOUNDED)});
	};
	const auto links = decode_links(answers(
		{join({fake::nest(PIB_A_LINK_A,
				  {fake::text(PIB_END_NODE, "eth0"), fake::u32(PIB_END_PORT, 2)}),
		       fake::nest(PIB_A_UDP_LINK, {fake::u8(PIB_UL_WINDOWS, 1), window(0, 0),
						   window(3, 300000)})})}));
	ASSERT_TRUE(links);
	const UdpLink &udp = *links->front().udp;
	EXPECT_EQ(udp.windows, true);
	ASSERT_EQ(udp.vl_windows.size(), 2U);
	EXPECT_EQ(udp.vl_windows[0].window, 262144U);
	EXPECT_FALSE(udp.vl_windows[0].waits);
	EXPECT_TRUE(udp.vl_windows[0].unbounded);
	EXPECT_EQ(udp.vl_windows[1].vl, 3U);
	EXPECT_EQ(udp.vl_windows[1].on_way, 300000U);
	EXPECT_TRUE(udp.vl_windows[1].waits);
	EXPECT_FALSE(udp.vl_windows[1].unbounded);
}

TEST(Decode, Links)
{
	const auto links =
		decode_links(answers({fake::local_link_answer(), fake::udp_link_answer()}));
	ASSERT_TRUE(links);
	ASSERT_EQ(links->size(), 2U);
	EXPECT_EQ(links->at(0).b, (End{"eth0", 1}));
	EXPECT_TRUE(links->at(0).automatic);
	EXPECT_EQ(links->at(0).plugged, true);
	ASSERT_TRUE(links->at(1).udp);
	const UdpLink &udp = *links->at(1).udp;
	EXPECT_TRUE(udp.up);
	EXPECT_EQ(udp.peer->address[3], 7);
	EXPECT_EQ(udp.peer->port, 18514);
	EXPECT_EQ(udp.restarts, 1U);
	EXPECT_FALSE(udp.second_key);
	EXPECT_FALSE(udp.flows);
	EXPECT_FALSE(udp.path_mtu);
	EXPECT_FALSE(udp.own);
	EXPECT_FALSE(udp.moves);
}

TEST(Decode, Uplinks)
{
	const auto uplinks = decode_uplinks(answers({fake::uplink_answer()}));
	ASSERT_TRUE(uplinks);
	EXPECT_EQ(uplinks->front().switch_name, "eth0");
	ASSERT_EQ(uplinks->front().counters.size(), 2U);
	EXPECT_STREQ(uplinks->front().counters[1].name, "rx_reassembly");
}

TEST(Decode, HowManyKeysAndWhoUsesTheSecond)
{
	const auto uplinks =
		decode_uplinks(answers({join({fake::uplink_answer(), fake::u8(PIB_A_NUM_KEYS, 2),
					      fake::u8(PIB_A_ACCEPT, PIB_ACCEPT_LINK)})}));
	ASSERT_TRUE(uplinks);
	EXPECT_FALSE(uplinks->front().ecn);
	EXPECT_FALSE(uplinks->front().flow_ports);
	EXPECT_FALSE(uplinks->front().windows);
	EXPECT_EQ(uplinks->front().accept, PIB_ACCEPT_LINK);
	EXPECT_EQ(uplinks->front().keys, 2U);
	const auto links = decode_links(answers(
		{join({fake::nest(PIB_A_LINK_A,
				  {fake::text(PIB_END_NODE, "eth0"), fake::u32(PIB_END_PORT, 2)}),
		       fake::nest(PIB_A_UDP_LINK,
				  {fake::flag(PIB_UL_BY_SECOND_KEY), fake::flag(PIB_UL_BY_FLOW),
				   fake::u32(PIB_UL_PATH_MTU, 1280)})})}));
	ASSERT_TRUE(links);
	EXPECT_FALSE(links->front().udp->windows);
	EXPECT_TRUE(links->front().udp->second_key);
	EXPECT_TRUE(links->front().udp->flows);
	EXPECT_EQ(links->front().udp->path_mtu, 1280U);
}

TEST(Decode, WhatDataSaysToTheNetwork)
{
	const auto uplinks = decode_uplinks(answers(
		{join({fake::uplink_answer(), fake::u8(PIB_A_ECN, 1),
		       fake::binary(PIB_A_DSCP, {0, 46, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
		       fake::u8(PIB_A_FLOW_PORTS, 0), fake::u8(PIB_A_WINDOWS, 1)})}));
	ASSERT_TRUE(uplinks);
	EXPECT_EQ(uplinks->front().windows, true);
	EXPECT_EQ(uplinks->front().ecn, true);
	EXPECT_EQ(uplinks->front().flow_ports, false);
	EXPECT_EQ(uplinks->front().dscp, (DscpTable{0, 46}));
}

TEST(Decode, ModuleVersion)
{
	EXPECT_EQ(decode_module_version(answers({fake::hca_answer()})), "0.1.0");
	EXPECT_FALSE(decode_module_version(answers({fake::local_link_answer()})));
}

TEST(Decode, UnknownAttributesAreNoTrouble)
{
	const auto hcas = decode_hcas(answers({join({fake::hca_answer(), fake::u32(999, 1)})}));
	EXPECT_TRUE(hcas);
}

TEST(Decode, ObjectsWithoutNamesAreErrors)
{
	EXPECT_FALSE(decode_hcas(answers({Bytes{}})));
	EXPECT_FALSE(decode_switches(answers({fake::hca_answer()})));
	EXPECT_FALSE(decode_links(answers({fake::hca_answer()})));
	EXPECT_FALSE(decode_uplinks(answers({Bytes{}})));
	const Bytes one_end = fake::nest(
		PIB_A_LINK_A, {fake::text(PIB_END_NODE, "a"), fake::u32(PIB_END_PORT, 1)});
	EXPECT_FALSE(decode_links(answers({one_end})));
	const Bytes no_number = join({fake::text(PIB_A_HCA_NAME, "a"), fake::nest(PIB_A_PORT, {})});
	EXPECT_FALSE(decode_hcas(answers({no_number})));
}

TEST(Decode, AddressesOfWrongLengthAreNone)
{
	const Bytes end = fake::nest(PIB_A_LINK_A,
				     {fake::text(PIB_END_NODE, "a"), fake::u32(PIB_END_PORT, 1)});
	const auto with_peer = [&](const Bytes &address) {
		return decode_links(answers({join(
			{end, fake::nest(PIB_A_UDP_LINK, {fake::nest(PIB_UL_PEER, {address})})})}));
	};
	EXPECT_FALSE(with_peer(fake::binary(PIB_EP_ADDR4, {1, 2, 3}))->front().udp->peer);
	EXPECT_FALSE(with_peer(fake::binary(PIB_EP_ADDR6, {1, 2, 3, 4}))->front().udp->peer);
	EXPECT_FALSE(with_peer(Bytes{})->front().udp->peer);
}

// Every answer, cut at every length and damaged at every byte: errors, no more.
TEST(Decode, SurvivesDamage)
{
	for (const Bytes &whole :
	     {fake::hca_answer(), fake::switch_answer(), fake::local_link_answer(),
	      fake::udp_link_answer(), fake::uplink_answer()}) {
		const auto decode_all = [](const Bytes &stream) {
			(void)decode_hcas(answers({stream}));
			(void)decode_switches(answers({stream}));
			(void)decode_links(answers({stream}));
			(void)decode_uplinks(answers({stream}));
			(void)decode_module_version(answers({stream}));
		};
		for (std::size_t size = 0; size < whole.size(); ++size)
			decode_all(Bytes(whole.begin(),
					 whole.begin() + static_cast<std::ptrdiff_t>(size)));
		for (std::size_t at = 0; at < whole.size(); ++at)
			for (const std::uint8_t value : Bytes{0, 1, 3, 4, 5, 64, 255}) {
				Bytes damaged = whole;
				damaged[at] = value;
				decode_all(damaged);
			}
	}
}

} // namespace
} // namespace pib::ctl
