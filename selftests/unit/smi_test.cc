// SPDX-License-Identifier: GPL-2.0
// Directed routes through switches: pure, and with LID-routed parts before and after.
#include <gtest/gtest.h>
#include "subnet.h"

using namespace fabric;

namespace {

//	a --1- s1 -2--1- s2 -2--1- s3 -2-- b
//	          -3-- c
class Smi : public ::testing::Test {
protected:
	Smi()
	{
		f.connect(a, 1, s1, 1);
		f.connect(s1, 2, s2, 1);
		f.connect(s2, 2, s3, 1);
		f.connect(s3, 2, b, 1);
		f.connect(s1, 3, c, 1);
	}

	static uint64_t guid(const std::optional<Mad> &r)
	{
		return r ? pib_get64(r->attribute() + 12) : 0;
	}

	// One step at s1, from port 1.
	pib_mad_result step(Mad m, int port = 1)
	{
		m[PIB_MAD_CLASS] = PIB_CLASS_SM_DR;
		return pib_smi_rx(&s1.n, port, m.data(), out.data(), &out_port, f.now);
	}

	static Mad hop(uint8_t ptr, uint8_t cnt, bool home = false)
	{
		Mad m = get(PIB_SM_NODE_INFO);

		m[PIB_MAD_HOP_PTR] = ptr;
		m[PIB_MAD_HOP_CNT] = cnt;
		if (home) {
			pib_put16(m.data() + PIB_MAD_STATUS, PIB_SMP_DIRECTION);
			m[PIB_MAD_METHOD] = PIB_METHOD_GET_RESP;
		}
		return m;
	}

	Fabric f;
	Node &a = f.hca(), &b = f.hca(), &c = f.hca();
	Node &s1 = f.sw(4), &s2 = f.sw(4), &s3 = f.sw(4);
	Mad out;
	uint8_t out_port = 0;
};

TEST_F(Smi, PureDirectedRoutes)
{
	EXPECT_EQ(guid(f.directed(a, {}, get(PIB_SM_NODE_INFO))), a.n.guid);
	EXPECT_EQ(guid(f.directed(a, {1}, get(PIB_SM_NODE_INFO))), s1.n.guid);
	EXPECT_EQ(guid(f.directed(a, {1, 2}, get(PIB_SM_NODE_INFO))), s2.n.guid);
	EXPECT_EQ(guid(f.directed(a, {1, 2, 2, 2}, get(PIB_SM_NODE_INFO))), b.n.guid);
	EXPECT_EQ(guid(f.directed(a, {1, 3}, get(PIB_SM_NODE_INFO))), c.n.guid);
}

TEST_F(Smi, AnswerNamesTheWay)
{
	auto r = f.directed(a, {1, 2, 2, 2}, get(PIB_SM_NODE_INFO));
	ASSERT_TRUE(r);
	EXPECT_TRUE(r->homeward());
	EXPECT_EQ((*r)[PIB_MAD_HOP_PTR], 0);
	EXPECT_EQ((*r)[PIB_MAD_HOP_CNT], 4);
	const uint8_t *way = r->data() + PIB_MAD_RETURN_PATH;
	EXPECT_EQ(std::vector(way + 1, way + 5), (std::vector<uint8_t>{1, 1, 1, 1}));
	EXPECT_EQ(r->attribute()[36], 1);
}

TEST_F(Smi, BackAndForthOverTheSameCable)
{
	EXPECT_EQ(guid(f.directed(a, {1, 2, 1, 2, 1, 3}, get(PIB_SM_NODE_INFO))), c.n.guid);
	std::vector<uint8_t> far{1};
	for (int i = 0; i < 31; i++) {
		far.push_back(2);
		far.push_back(1);
	}
	ASSERT_EQ(far.size(), 63u);
	EXPECT_EQ(guid(f.directed(a, far, get(PIB_SM_NODE_INFO))), s1.n.guid);
	far.push_back(2);
	EXPECT_FALSE(f.directed(a, far, get(PIB_SM_NODE_INFO)));
}

TEST_F(Smi, PathsToNowhere)
{
	EXPECT_FALSE(f.directed(a, {1, 4}, get(PIB_SM_NODE_INFO))) << "no cable";
	EXPECT_FALSE(f.directed(a, {1, 0}, get(PIB_SM_NODE_INFO))) << "port 0";
	EXPECT_FALSE(f.directed(a, {1, 200}, get(PIB_SM_NODE_INFO)));
	EXPECT_FALSE(f.directed(a, {1, 3, 1}, get(PIB_SM_NODE_INFO))) << "through an HCA";
}

TEST_F(Smi, DisabledPortSendsNoAnswer)
{
	Data d = f.directed(a, {1}, get(PIB_SM_PORT_INFO, 1))->payload();

	d[32] = (d[32] & 0xF0) | PIB_PORT_DOWN;
	d[33] = (d[33] & 0x0F) | PIB_PHYS_DISABLED << 4;
	EXPECT_FALSE(f.directed(a, {1}, set(PIB_SM_PORT_INFO, 1, d)));
	EXPECT_EQ(s1.port(1).phys, PIB_PHYS_DISABLED);
}

TEST_F(Smi, DisablingAnotherPortIsAnswered)
{
	Data d = f.directed(a, {1}, get(PIB_SM_PORT_INFO, 2))->payload();

	d[32] = (d[32] & 0xF0) | PIB_PORT_DOWN;
	d[33] = (d[33] & 0x0F) | PIB_PHYS_DISABLED << 4;
	auto r = f.directed(a, {1}, set(PIB_SM_PORT_INFO, 2, d));
	ASSERT_TRUE(r);
	EXPECT_EQ(r->attribute()[33] >> 4, PIB_PHYS_DISABLED);
	f.settle();
	EXPECT_FALSE(f.directed(a, {1, 2}, get(PIB_SM_NODE_INFO)));
}

TEST_F(Smi, LidThenDirected)
{
	Subnet sm(f, a);
	ASSERT_EQ(sm.sweep(), 6u);
	uint16_t lid2 = sm.by_guid(s2.n.guid)->lid;

	EXPECT_EQ(guid(f.lid_then_directed(a, 1, lid2, {2}, get(PIB_SM_NODE_INFO))), s3.n.guid);
	EXPECT_EQ(guid(f.lid_then_directed(a, 1, lid2, {2, 2}, get(PIB_SM_NODE_INFO))), b.n.guid);
	EXPECT_EQ(guid(f.lid_then_directed(a, 1, lid2, {1, 3}, get(PIB_SM_NODE_INFO))), c.n.guid);
	EXPECT_EQ(guid(f.lid_then_directed(a, 1, lid2, {}, get(PIB_SM_NODE_INFO))), s2.n.guid);
}

TEST_F(Smi, DirectedThenLid)
{
	Subnet sm(f, a);
	ASSERT_EQ(sm.sweep(), 6u);
	uint16_t lid_b = sm.by_guid(b.n.guid)->lid, lid2 = sm.by_guid(s2.n.guid)->lid;

	EXPECT_EQ(guid(f.directed(a, {1, 2}, get(PIB_SM_NODE_INFO), lid_b)), b.n.guid);
	EXPECT_EQ(guid(f.directed(a, {1}, get(PIB_SM_NODE_INFO), lid2)), s2.n.guid);
	EXPECT_EQ(guid(f.directed(a, {1, 2}, get(PIB_SM_NODE_INFO), lid2)), s2.n.guid)
		<< "DrDLID is the last switch itself";
	EXPECT_FALSE(f.directed(a, {1, 2}, get(PIB_SM_NODE_INFO), 0x99)) << "no such LID";
}

TEST_F(Smi, LidRouted)
{
	Subnet sm(f, a);
	ASSERT_EQ(sm.sweep(), 6u);

	for (auto &s : sm.found) {
		if (s.guid == a.n.guid)
			continue;
		EXPECT_EQ(guid(f.by_lid(a, 1, s.lid, get(PIB_SM_NODE_INFO))), s.guid);
	}
}

TEST_F(Smi, HopPointerRules)
{
	EXPECT_EQ(step(hop(0, 2)), PIB_MAD_NONE) << "a neighbour has moved it on already";
	EXPECT_EQ(step(hop(4, 2)), PIB_MAD_NONE);
	EXPECT_EQ(step(hop(1, 64)), PIB_MAD_NONE);
	EXPECT_EQ(step(hop(255, 255)), PIB_MAD_NONE);
	EXPECT_EQ(step(hop(0, 3, true)), PIB_MAD_NONE) << "no SM here";
	EXPECT_EQ(step(hop(1, 3, true)), PIB_MAD_NONE);
	EXPECT_EQ(step(hop(5, 3, true)), PIB_MAD_NONE);
	EXPECT_EQ(step(hop(1, 1)), PIB_MAD_REPLY);
	EXPECT_EQ(out_port, 1);
	EXPECT_EQ(out[PIB_MAD_HOP_PTR], 1);
}

TEST_F(Smi, ForwardingStep)
{
	Mad m = hop(1, 2);
	uint16_t slid, dlid;
	pib_hdrs asked{};

	m[PIB_MAD_INITIAL_PATH + 2] = 3;
	EXPECT_EQ(step(m), PIB_MAD_FORWARD);
	EXPECT_EQ(out_port, 3);
	EXPECT_EQ(out[PIB_MAD_HOP_PTR], 2);
	EXPECT_EQ(out[PIB_MAD_RETURN_PATH + 1], 1);
	asked.slid = 5;
	pib_smi_lids(&s1.n, out.data(), PIB_MAD_FORWARD, &asked, &slid, &dlid);
	EXPECT_EQ(slid, PIB_LID_PERMISSIVE);
	EXPECT_EQ(dlid, PIB_LID_PERMISSIVE);
}

TEST_F(Smi, AnswersFromTheLidThatWasAsked)
{
	Node e(PIB_NODE_SWITCH, 2, 0x5, true);
	Mad reply = get(PIB_SM_NODE_INFO);
	uint16_t slid, dlid;
	pib_hdrs asked{};

	e.port(0).lid = 8;
	e.port(0).lmc = 1;
	asked.slid = 5;
	for (uint16_t lid : {8, 9}) {
		asked.dlid = lid;
		pib_smi_lids(&e.n, reply.data(), PIB_MAD_REPLY, &asked, &slid, &dlid);
		EXPECT_EQ(slid, lid);
		EXPECT_EQ(dlid, 5);
		EXPECT_EQ(pib_node_slid(&e.n, &asked), lid);
	}
	asked.dlid = PIB_LID_PERMISSIVE;
	EXPECT_EQ(pib_node_slid(&e.n, &asked), 8);
}

TEST_F(Smi, PathMayStartAtTheSwitchItself)
{
	Mad m = hop(0, 1);

	m[PIB_MAD_INITIAL_PATH + 1] = 2;
	EXPECT_EQ(step(m, 0), PIB_MAD_FORWARD);
	EXPECT_EQ(out_port, 2);
	EXPECT_EQ(out[PIB_MAD_HOP_PTR], 1);
}

TEST_F(Smi, ArrivalByAPortThatIsDown)
{
	EXPECT_EQ(step(hop(1, 1), 4), PIB_MAD_NONE);
}

TEST_F(Smi, MKeyGuardsTheTargetNotTheWay)
{
	s1.port(0).m_key = 5;
	s1.port(0).m_key_prot = 2;
	EXPECT_FALSE(f.directed(a, {1}, get(PIB_SM_NODE_INFO)));
	EXPECT_TRUE(f.directed(a, {1, 2}, get(PIB_SM_NODE_INFO)));
	EXPECT_TRUE(f.directed(a, {1}, with_key(get(PIB_SM_NODE_INFO), 5)));
}

} // namespace
