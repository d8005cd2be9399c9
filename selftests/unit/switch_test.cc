// SPDX-License-Identifier: GPL-2.0
// Forwarding: what pib_node_route() says for each reason to forward or to drop.
#include <gtest/gtest.h>
#include "fabric.h"

using namespace fabric;

namespace {

class Route : public ::testing::Test {
protected:
	Route()
	{
		for (int i = 1; i <= 40; i++)
			raise(i);
		sw.port(0).lid = 0x10;
		sw.n.lft_top = 0x100;
		sw.lft[0x20] = 2;
		sw.lft[0x21] = 40;
		sw.lft[0x22] = 0;
		sw.lft[0x23] = 41;
	}
	void raise(int i, uint8_t state = PIB_PORT_ACTIVE)
	{
		pib_port_link_up(&sw.port(i), 5);
		sw.port(i).state = state;
	}
	uint8_t route(uint16_t dlid, uint32_t dqpn = 2, int in = 1, uint16_t pkey = 0xFFFF)
	{
		pib_hdrs h{};

		h.dlid = dlid;
		h.dqpn = dqpn;
		h.pkey = pkey;
		pib_node_route(&sw.n, in, &h, &rt);
		return rt.kind;
	}
	void expect_drop(uint8_t reason)
	{
		EXPECT_EQ(rt.kind, PIB_ROUTE_DROP);
		EXPECT_EQ(rt.reason, reason);
	}
	std::vector<int> members() const
	{
		std::vector<int> m;

		for (int i = 0; i < 256; i++)
			if (pib_route_has(&rt, i))
				m.push_back(i);
		return m;
	}
	void join(uint16_t mlid, std::initializer_list<int> ports)
	{
		for (int p : ports)
			sw.mft[mlid - 0xC000][p / 32] |= 1u << p % 32;
	}

	Node sw{PIB_NODE_SWITCH, 40, 0x1};
	pib_route rt;
};

using Members = std::vector<int>;

TEST_F(Route, Unicast)
{
	EXPECT_EQ(route(0x20), PIB_ROUTE_PORT);
	EXPECT_EQ(rt.port, 2);
	EXPECT_EQ(route(0x21), PIB_ROUTE_PORT);
	EXPECT_EQ(rt.port, 40);
}

TEST_F(Route, NoRoute)
{
	for (uint16_t dlid : {0x0000, 0x0024, 0x0023, 0xBFFF, 0x0101, 0x0022}) {
		route(dlid);
		expect_drop(PIB_ROUTE_DROP_RELAY);
	}
}

TEST_F(Route, TableEndsAtTop)
{
	sw.n.lft_top = 0x1F;
	route(0x20);
	expect_drop(PIB_ROUTE_DROP_RELAY);
}

TEST_F(Route, OwnLidNeedsNoTable)
{
	EXPECT_EQ(route(0x10), PIB_ROUTE_SELF);
	sw.port(0).lmc = 1;
	EXPECT_EQ(route(0x11), PIB_ROUTE_SELF);
	sw.lft[0x12] = 0;
	route(0x12);
	expect_drop(PIB_ROUTE_DROP_RELAY);
	sw.port(0).lid = 0;
	sw.port(0).lmc = 0;
	route(0);
	expect_drop(PIB_ROUTE_DROP_RELAY);
}

TEST_F(Route, PermissiveIsForQp0)
{
	EXPECT_EQ(route(PIB_LID_PERMISSIVE, 0), PIB_ROUTE_SELF);
	route(PIB_LID_PERMISSIVE, 1);
	expect_drop(PIB_ROUTE_DROP_RELAY);
}

TEST_F(Route, NotBackWhereItCameFrom)
{
	route(0x20, 2, 2);
	expect_drop(PIB_ROUTE_DROP_LOOP);
}

TEST_F(Route, PortsInInitAndArmedSendForQp0Only)
{
	for (uint8_t state : {PIB_PORT_INIT, PIB_PORT_ARMED}) {
		sw.port(2).state = state;
		EXPECT_EQ(route(0x20, 0), PIB_ROUTE_PORT);
		route(0x20, 1);
		expect_drop(PIB_ROUTE_DROP_OUT_STATE);
		EXPECT_EQ(rt.port, 2);
	}
}

TEST_F(Route, PortsTakeDataFromArmedOn)
{
	for (uint8_t state : {PIB_PORT_INIT, PIB_PORT_ARMED}) {
		sw.port(1).state = state;
		EXPECT_EQ(route(0x20, 0), PIB_ROUTE_PORT);
	}
	EXPECT_EQ(route(0x20, 2), PIB_ROUTE_PORT);
	sw.port(1).state = PIB_PORT_INIT;
	route(0x20, 2);
	expect_drop(PIB_ROUTE_DROP_IN_STATE);
}

TEST_F(Route, DataMakesAnArmedPortActive)
{
	for (uint8_t state : {PIB_PORT_DOWN, PIB_PORT_INIT, PIB_PORT_ACTIVE}) {
		sw.port(1).state = state;
		pib_port_armed_data(&sw.port(1));
		EXPECT_EQ(sw.port(1).state, state);
		EXPECT_FALSE(sw.port(1).events & PIB_EV_PORT_ACTIVE);
	}
	sw.port(1).state = PIB_PORT_ARMED;
	sw.n.port_state_change = false;
	pib_port_armed_data(&sw.port(1));
	EXPECT_EQ(sw.port(1).state, PIB_PORT_ACTIVE);
	EXPECT_TRUE(sw.port(1).events & PIB_EV_PORT_ACTIVE);
	EXPECT_FALSE(sw.n.port_state_change);
}

TEST_F(Route, NothingLeavesByAPortThatIsDown)
{
	sw.port(2).state = PIB_PORT_DOWN;
	route(0x20, 0);
	expect_drop(PIB_ROUTE_DROP_OUT_STATE);
}

TEST_F(Route, FromPort0)
{
	EXPECT_EQ(route(0x20, 1, 0), PIB_ROUTE_PORT);
}

TEST_F(Route, PartitionEnforcementInbound)
{
	sw.port(1).pkey[0] = 0x7FFF;
	sw.port(1).pkey[5] = 0x8001;
	EXPECT_EQ(route(0x20, 2, 1, 0x0055), PIB_ROUTE_PORT) << "not enforced";
	sw.port(1).part_enforce = 0x8;
	route(0x20, 2, 1, 0x0055);
	expect_drop(PIB_ROUTE_DROP_PKEY_IN);
	EXPECT_EQ(route(0x20, 2, 1, 0x7FFF), PIB_ROUTE_PORT) << "a limited member's own key";
	EXPECT_EQ(route(0x20, 2, 1, 0x0001), PIB_ROUTE_PORT);
	EXPECT_EQ(route(0x20, 0, 1, 0x0055), PIB_ROUTE_PORT) << "QP0 is free";
	route(0x20, 1, 1, 0x0055);
	expect_drop(PIB_ROUTE_DROP_PKEY_IN);
}

TEST_F(Route, PartitionEnforcementOutbound)
{
	sw.port(2).part_enforce = 0x4;
	EXPECT_EQ(route(0x20), PIB_ROUTE_PORT);
	sw.port(2).pkey[0] = 0x8001;
	route(0x20);
	expect_drop(PIB_ROUTE_DROP_PKEY_OUT);
	EXPECT_EQ(rt.port, 2);
	EXPECT_EQ(route(0x21), PIB_ROUTE_PORT);
}

TEST_F(Route, Multicast)
{
	join(0xC001, {1, 2, 31, 32, 40});
	EXPECT_EQ(route(0xC001), PIB_ROUTE_MCAST);
	EXPECT_EQ(members(), (Members{2, 31, 32, 40})) << "not to the sender";
	EXPECT_EQ(route(0xC001, 2, 5), PIB_ROUTE_MCAST);
	EXPECT_EQ(members(), (Members{1, 2, 31, 32, 40}));
}

TEST_F(Route, MulticastSkipsPortsThatAreNotActive)
{
	join(0xC001, {2, 3, 4, 0});
	sw.port(3).state = PIB_PORT_ARMED;
	sw.port(4).part_enforce = 0x4;
	sw.port(4).pkey[0] = 0x8001;
	EXPECT_EQ(route(0xC001), PIB_ROUTE_MCAST);
	EXPECT_EQ(members(), (Members{0, 2}));
}

// Nor is a copy for every port that is left: a port that stops it by its P_Keys has to count that.
TEST_F(Route, MulticastIsStoppedByPKeys)
{
	auto stopped = [&] {
		Members m;

		for (int i = 0; i < 256; i++)
			if (pib_route_stops(&rt, i))
				m.push_back(i);
		return m;
	};

	join(0xC001, {0, 1, 2, 3, 4, 40});
	sw.port(0).part_enforce = 0x4;
	for (int i : {1, 3, 4, 40}) {
		sw.port(i).part_enforce = 0x4;
		sw.port(i).pkey[0] = 0x8001;
	}
	sw.port(3).state = PIB_PORT_ARMED;
	EXPECT_EQ(route(0xC001), PIB_ROUTE_MCAST);
	EXPECT_EQ(members(), (Members{0, 2}));
	EXPECT_EQ(stopped(), (Members{4, 40})) << "not the sender, nor who would not send at all";
	EXPECT_EQ(route(0xC001, 2, 1, 0x8001), PIB_ROUTE_MCAST);
	EXPECT_EQ(members(), (Members{0, 2, 4, 40}));
	EXPECT_EQ(stopped(), Members{});
	join(0xC002, {4});
	EXPECT_EQ(route(0xC002), PIB_ROUTE_MCAST) << "there is something to count";
	EXPECT_EQ(members(), Members{});
	EXPECT_EQ(stopped(), Members{4});
}

TEST_F(Route, MulticastWithNobodyElse)
{
	join(0xC001, {1});
	route(0xC001);
	expect_drop(PIB_ROUTE_DROP_SILENT);
}

TEST_F(Route, MulticastIgnoresBitsBeyondThePorts)
{
	join(0xC001, {2, 41, 255});
	EXPECT_EQ(route(0xC001), PIB_ROUTE_MCAST);
	EXPECT_EQ(members(), (Members{2}));
}

TEST_F(Route, MulticastWithoutEntry)
{
	route(0xC005);
	expect_drop(PIB_ROUTE_DROP_RELAY);
	route(0xFFFE);
	expect_drop(PIB_ROUTE_DROP_RELAY);
	sw.n.default_mcast_primary = 7;
	sw.n.default_mcast_secondary = 8;
	EXPECT_EQ(route(0xC005), PIB_ROUTE_MCAST);
	EXPECT_EQ(members(), (Members{7}));
	EXPECT_EQ(route(0xC005, 2, 7), PIB_ROUTE_MCAST);
	EXPECT_EQ(members(), (Members{8}));
	EXPECT_EQ(route(0xFFFE), PIB_ROUTE_MCAST) << "beyond the table";
}

TEST_F(Route, MulticastTop)
{
	join(0xC001, {2});
	join(0xC021, {3});
	sw.n.mft_top = 0xC01F;
	EXPECT_EQ(route(0xC001), PIB_ROUTE_MCAST);
	route(0xC021);
	expect_drop(PIB_ROUTE_DROP_RELAY);
	sw.n.mft_top = 0xBFFF; // no multicast at all
	route(0xC001);
	expect_drop(PIB_ROUTE_DROP_RELAY);
}

} // namespace
