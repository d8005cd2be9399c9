// SPDX-License-Identifier: GPL-2.0
#include "objects/decode.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <random>

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
	const auto uplinks = decode_uplinks(
		answers({join({fake::uplink_answer(), fake::u8(PIB_A_NUM_KEYS, 2)})}));
	ASSERT_TRUE(uplinks);
	EXPECT_EQ(uplinks->front().keys, 2U);
	const auto links = decode_links(
		answers({join({fake::nest(PIB_A_LINK_A, {fake::text(PIB_END_NODE, "eth0"),
							 fake::u32(PIB_END_PORT, 2)}),
			       fake::nest(PIB_A_UDP_LINK, {fake::flag(PIB_UL_BY_SECOND_KEY)})})}));
	ASSERT_TRUE(links);
	EXPECT_TRUE(links->front().udp->second_key);
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
