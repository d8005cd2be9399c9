// SPDX-License-Identifier: GPL-2.0
// Whole fabrics, swept by a small SM: every node answers, the tables carry traffic.
#include <gtest/gtest.h>
#include "subnet.h"

using namespace fabric;

namespace {

// Two spines, three leaves, two HCAs on each leaf.
class FatTree : public ::testing::Test {
protected:
	FatTree()
	{
		for (int i = 0; i < 2; i++)
			spines.push_back(&f.sw(3));
		for (int i = 0; i < 3; i++) {
			leaves.push_back(&f.sw(4));
			for (int s = 0; s < 2; s++)
				f.connect(*leaves[i], 1 + s, *spines[s], 1 + i);
			for (int h = 0; h < 2; h++) {
				hcas.push_back(&f.hca());
				f.connect(*leaves[i], 3 + h, *hcas.back(), 1);
			}
		}
	}
	std::vector<End> send(Node &from, uint16_t dlid)
	{
		pib_hdrs h{};

		h.dlid = dlid;
		h.dqpn = 0x123;
		h.pkey = 0xFFFF;
		return f.deliver(from, 1, h);
	}
	void expect_all_pairs()
	{
		for (Node *from : hcas)
			for (Node *to : hcas) {
				if (from == to)
					continue;
				EXPECT_EQ(send(*from, to->port(1).lid),
					  (std::vector<End>{{to, 1}}));
			}
	}

	Fabric f;
	std::vector<Node *> spines, leaves, hcas;
};

TEST_F(FatTree, SweepFindsAllAndTrafficFlows)
{
	Subnet sm(f, *hcas[0]);

	EXPECT_EQ(sm.sweep(), 11u);
	for (Node *h : hcas)
		EXPECT_EQ(h->port(1).state, PIB_PORT_ACTIVE);
	expect_all_pairs();
	EXPECT_TRUE(f.drops.empty());
	for (Node *s : spines)
		EXPECT_FALSE(s->n.port_state_change) << "the SM's own Sets do not count";
}

TEST_F(FatTree, NoTrafficBeforeTheSweep)
{
	EXPECT_TRUE(send(*hcas[0], 5).empty());
}

TEST_F(FatTree, LostCableIsReportedAndRepaired)
{
	Subnet sm(f, *hcas[0]);
	sm.sweep();
	f.unplug(*leaves[0], 1);
	EXPECT_TRUE(leaves[0]->n.port_state_change);
	EXPECT_EQ(f.send_traps(*leaves[0]), 1);
	ASSERT_EQ(f.traps.size(), 1u);
	EXPECT_EQ(pib_get16(f.traps[0].attribute() + 4), 128);
	EXPECT_EQ(sm.sweep(), 11u) << "by the other spine";
	expect_all_pairs();
}

TEST_F(FatTree, MulticastTree)
{
	Subnet sm(f, *hcas[0]);
	sm.sweep();
	auto join = [](Node &sw, std::initializer_list<int> ports) {
		for (int p : ports)
			sw.mft[0][0] |= 1u << p;
	};
	join(*spines[0], {1, 2, 3});
	for (Node *leaf : leaves)
		join(*leaf, {1, 3, 4});
	for (Node *from : hcas)
		EXPECT_EQ(send(*from, 0xC000).size(), hcas.size() - 1);
}

TEST_F(FatTree, PmaOfAllNodesByLid)
{
	Subnet sm(f, *hcas[0]);
	sm.sweep();
	for (auto &s : sm.found) {
		if (s.guid == hcas[0]->n.guid)
			continue;
		Mad m = make_mad(PIB_CLASS_PERF, PIB_METHOD_GET, PIB_PERF_CLASS_PORT_INFO);
		auto r = f.by_lid(*hcas[0], 1, s.lid, m);
		ASSERT_TRUE(r) << s.lid;
		EXPECT_EQ(r->status(), 0);
	}
}

TEST_F(FatTree, LoopInTheTablesIsDroppedAtTheTurn)
{
	Subnet sm(f, *hcas[0]);
	sm.sweep();
	uint16_t lid = hcas[5]->port(1).lid;
	leaves[2]->lft[lid] = spines[0]->lft[lid] == 3 ? 1 : 2;
	leaves[0]->lft[lid] = leaves[2]->lft[lid];
	spines[0]->lft[lid] = spines[1]->lft[lid] = 3;
	EXPECT_TRUE(send(*hcas[0], lid).empty());
	EXPECT_EQ(f.drops[PIB_ROUTE_DROP_LOOP], 1);
}

TEST(Subnet, RingOfEightSwitches)
{
	Fabric f;
	std::vector<Node *> ring, hcas;

	for (int i = 0; i < 8; i++) {
		ring.push_back(&f.sw(3));
		hcas.push_back(&f.hca());
		f.connect(*ring[i], 3, *hcas[i], 1);
	}
	for (int i = 0; i < 8; i++)
		f.connect(*ring[i], 1, *ring[(i + 1) % 8], 2);
	Subnet sm(f, *hcas[3]);
	EXPECT_EQ(sm.sweep(), 16u);
	pib_hdrs h{};
	h.pkey = 0xFFFF;
	h.dqpn = 9;
	for (Node *to : hcas) {
		if (to == hcas[0])
			continue;
		h.dlid = to->port(1).lid;
		EXPECT_EQ(f.deliver(*hcas[0], 1, h), (std::vector<End>{{to, 1}}));
	}
}

TEST(Subnet, LargestSwitch)
{
	Fabric f;
	Node &sw = f.sw(254), &a = f.hca(), &b = f.hca();

	f.connect(a, 1, sw, 1);
	f.connect(b, 1, sw, 254);
	Subnet sm(f, a);
	EXPECT_EQ(sm.sweep(), 3u);
	pib_hdrs h{};
	h.pkey = 0xFFFF;
	h.dqpn = 9;
	h.dlid = b.port(1).lid;
	EXPECT_EQ(f.deliver(a, 1, h), (std::vector<End>{{&b, 1}}));
	sw.mft[7][254 / 32] |= 1u << 254 % 32;
	h.dlid = 0xC007;
	EXPECT_EQ(f.deliver(a, 1, h), (std::vector<End>{{&b, 1}}));
}

} // namespace
