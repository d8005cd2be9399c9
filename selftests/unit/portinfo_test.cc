// SPDX-License-Identifier: GPL-2.0
// PortInfo: power-on values, the state machine on both ends of a cable, and each field.
#include <gtest/gtest.h>
#include "fabric.h"

using namespace fabric;

namespace {

constexpr uint32_t kExtSpeeds = 1u << 31;

class PortInfo : public ::testing::Test {
protected:
	PortInfo() { f.connect(a, 1, sw, 1); }

	Mad ask(pib_port &p, const Mad &in)
	{
		Mad out;

		EXPECT_EQ(pib_sma_process(&p, in.data(), out.data(), f.now, false), PIB_MAD_REPLY);
		return out;
	}
	Data info(pib_port &p, uint32_t am) { return ask(p, get(PIB_SM_PORT_INFO, am)).payload(); }

	// PortInfo as read, with nothing that would change the state.
	Data idle(pib_port &p, uint32_t am)
	{
		Data d = info(p, am);

		d[32] &= 0xF0;
		d[33] &= 0x0F;
		return d;
	}
	uint16_t state(pib_port &p, uint32_t am, uint8_t logical, uint8_t phys = 0)
	{
		Data d = idle(p, am);

		d[32] |= logical;
		d[33] |= phys << 4;
		return ask(p, set(PIB_SM_PORT_INFO, am, d)).status();
	}
	void activate(pib_port &p, uint32_t am)
	{
		ASSERT_EQ(state(p, am, PIB_PORT_ARMED), 0);
		ASSERT_EQ(state(p, am, PIB_PORT_ACTIVE), 0);
	}

	Fabric f;
	Node &a = f.hca(2);
	Node &sw = f.sw(4);
};

TEST_F(PortInfo, PowerOn)
{
	Node fresh(PIB_NODE_CA, 1, 0x99);
	Data d = info(fresh.port(1), 1);

	EXPECT_EQ(pib_get64(&d[0]), 0u);
	EXPECT_EQ(pib_get64(&d[8]), 0xFE80000000000000u);
	EXPECT_EQ(pib_get32(&d[16]), 0u) << "LID and master SM LID";
	uint32_t caps = pib_get32(&d[20]);
	for (int bit : {2, 3, 5, 6, 11, 14, 15, 22, 25, 26})
		EXPECT_TRUE(caps >> bit & 1) << bit;
	for (int bit : {1, 10, 16, 19, 20, 23, 30})
		EXPECT_FALSE(caps >> bit & 1) << bit;
	EXPECT_EQ(d[28], 1);
	EXPECT_EQ(d[29], d[30]);
	EXPECT_EQ(d[32], 0x70 | PIB_PORT_DOWN);
	EXPECT_EQ(d[33], PIB_PHYS_POLLING << 4 | PIB_PHYS_POLLING);
	EXPECT_EQ(d[37] >> 4, 4) << "VL0-7";
	EXPECT_EQ(d[41] & 0xF, 5) << "MTUCap 4096";
	EXPECT_EQ(d[43] >> 4, 4);
	EXPECT_EQ(d[50], PIB_GUIDS);
	EXPECT_EQ(pib_get16(&d[60]) & 0x10, 0x10) << "2X";
	EXPECT_EQ(d[62], 0x03) << "FDR and EDR supported, none active";
}

TEST_F(PortInfo, SwitchPort0)
{
	Data d = info(sw.port(1), 0);

	EXPECT_EQ(d[32] & 0xF, PIB_PORT_ACTIVE);
	EXPECT_EQ(d[33] >> 4, PIB_PHYS_LINKUP);
	EXPECT_TRUE(pib_get32(&d[20]) >> 30 & 1) << "MulticastFDBTop";
	EXPECT_EQ(d[50], 1) << "GUIDCap";
	d = info(sw.port(1), 2);
	EXPECT_EQ(pib_get32(&d[20]), 0u) << "the tools read port 0's";
	EXPECT_EQ(d[50], 0);
}

TEST_F(PortInfo, CableGivesInit)
{
	Data d = info(a.port(1), 1);

	EXPECT_EQ(d[32] & 0xF, PIB_PORT_INIT);
	EXPECT_EQ(d[33] >> 4, PIB_PHYS_LINKUP);
	EXPECT_EQ(d[31], 2) << "4X";
	EXPECT_EQ(d[35] >> 4, 4) << "QDR";
	EXPECT_EQ(d[62] >> 4, 2) << "EDR";
	EXPECT_EQ(d[36] >> 4, 5);
	EXPECT_TRUE(sw.n.port_state_change);
}

TEST_F(PortInfo, LocalPortNumIsTheArrivalPort)
{
	EXPECT_EQ(info(sw.port(3), 1)[28], 3);
	EXPECT_EQ(info(a.port(1), 2)[28], 1);
	EXPECT_EQ(info(a.port(2), 0)[28], 2) << "AM 0: arrival port";
}

TEST_F(PortInfo, ModifierBit31IsEchoedAndMasked)
{
	Mad r = ask(sw.port(1), get(PIB_SM_PORT_INFO, kExtSpeeds | 2));

	EXPECT_EQ(pib_get32(r.data() + PIB_MAD_ATTR_MOD), kExtSpeeds | 2);
	EXPECT_EQ(r.status(), 0);
	EXPECT_EQ(ask(sw.port(1), get(PIB_SM_PORT_INFO, 5)).status(), PIB_STATUS_INVALID);
}

TEST_F(PortInfo, InitArmedActiveInThisOrderOnly)
{
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_ACTIVE), PIB_STATUS_INVALID);
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_INIT), PIB_STATUS_INVALID);
	EXPECT_EQ(a.port(1).state, PIB_PORT_INIT);
	activate(a.port(1), 1);
	EXPECT_TRUE(a.port(1).events & PIB_EV_PORT_ACTIVE);
	a.port(1).events = 0;
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_ACTIVE), 0) << "again: no change";
	EXPECT_FALSE(a.port(1).events & PIB_EV_PORT_ACTIVE);
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_ARMED), PIB_STATUS_INVALID);
	EXPECT_EQ(state(a.port(1), 1, 7), PIB_STATUS_INVALID);
}

TEST_F(PortInfo, DownPortsCannotBeRaised)
{
	EXPECT_EQ(state(a.port(1), 2, PIB_PORT_ARMED), PIB_STATUS_INVALID);
	EXPECT_EQ(state(a.port(1), 2, PIB_PORT_NOP), 0);
	EXPECT_EQ(state(a.port(1), 2, PIB_PORT_DOWN), 0);
}

TEST_F(PortInfo, DownRetrainsBothEnds)
{
	activate(a.port(1), 1);
	activate(sw.port(1), 1);
	a.port(1).events = 0;
	sw.n.port_state_change = false;
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_DOWN), 0);
	EXPECT_EQ(a.port(1).state, PIB_PORT_DOWN);
	EXPECT_TRUE(a.port(1).events & PIB_EV_PORT_ERR);
	f.settle();
	EXPECT_EQ(a.port(1).state, PIB_PORT_INIT);
	EXPECT_EQ(sw.port(1).state, PIB_PORT_INIT);
	EXPECT_TRUE(sw.n.port_state_change) << "the SM did not set this end";
}

TEST_F(PortInfo, DisableAndEnable)
{
	activate(sw.port(1), 1);
	EXPECT_EQ(state(sw.port(2), 1, PIB_PORT_DOWN, PIB_PHYS_DISABLED), 0);
	f.settle();
	EXPECT_EQ(sw.port(1).phys, PIB_PHYS_DISABLED);
	EXPECT_EQ(a.port(1).state, PIB_PORT_DOWN);
	EXPECT_EQ(a.port(1).phys, PIB_PHYS_POLLING);
	EXPECT_EQ(state(sw.port(2), 1, PIB_PORT_DOWN), 0) << "Down does not enable";
	EXPECT_EQ(sw.port(1).phys, PIB_PHYS_DISABLED);
	EXPECT_EQ(state(sw.port(2), 1, PIB_PORT_NOP, PIB_PHYS_POLLING), 0);
	f.settle();
	EXPECT_EQ(sw.port(1).state, PIB_PORT_INIT);
	EXPECT_EQ(a.port(1).state, PIB_PORT_INIT);
}

TEST_F(PortInfo, PhysicalStateNeedsDownOrNoChange)
{
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_ARMED, PIB_PHYS_POLLING), PIB_STATUS_INVALID);
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_NOP, PIB_PHYS_TRAINING), PIB_STATUS_INVALID);
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_DOWN, PIB_PHYS_LINKUP), PIB_STATUS_INVALID);
}

TEST_F(PortInfo, CablePulledAndReplaced)
{
	activate(a.port(1), 1);
	a.port(1).lid = 7;
	f.unplug(a, 1);
	EXPECT_EQ(a.port(1).state, PIB_PORT_DOWN);
	EXPECT_TRUE(a.port(1).events & PIB_EV_PORT_ERR);
	f.connect(a, 1, sw, 1);
	EXPECT_EQ(a.port(1).state, PIB_PORT_INIT);
	EXPECT_EQ(a.port(1).lid, 7) << "survives";
}

TEST_F(PortInfo, RefusedSetChangesNothing)
{
	Data d = idle(a.port(1), 1);
	Data before = info(a.port(1), 1);

	pib_put16(&d[16], 99);
	d[29] = 0x08; // 12X, not supported
	Mad r = ask(a.port(1), set(PIB_SM_PORT_INFO, 1, d));
	EXPECT_EQ(r.status(), PIB_STATUS_INVALID);
	EXPECT_EQ(r.payload(), before);
	EXPECT_EQ(a.port(1).lid, 0);
	EXPECT_EQ(a.port(1).events, 0u);
}

TEST_F(PortInfo, WidthAndSpeedTakeEffectWhenTheLinkTrains)
{
	Data d = idle(a.port(1), 1);

	d[29] = 1;		    // 1X
	d[35] = (d[35] & 0xF0) | 3; // SDR, DDR
	d[63] = 30;		    // no extended speeds
	EXPECT_EQ(ask(a.port(1), set(PIB_SM_PORT_INFO, kExtSpeeds | 1, d)).status(), 0);
	EXPECT_EQ(a.port(1).width_act, 2);
	EXPECT_EQ(info(a.port(1), 1)[63], 30);
	EXPECT_EQ(state(a.port(1), 1, PIB_PORT_DOWN), 0);
	f.settle();
	for (pib_port *p : {&a.port(1), &sw.port(1)}) {
		EXPECT_EQ(p->width_act, 1);
		EXPECT_EQ(p->speed_act, 2);
		EXPECT_EQ(p->ext_speed_act, 0);
		EXPECT_EQ(p->state, PIB_PORT_INIT);
	}
}

TEST_F(PortInfo, AnArmedPortSendsNoDataToItselfEither)
{
	pib_port &p = a.port(1);
	pib_hdrs smp{}, data{};

	p.lid = 8, p.lmc = 1;
	smp.dlid = data.dlid = 9;
	data.dqpn = 1;
	for (uint8_t state : {PIB_PORT_DOWN, PIB_PORT_INIT, PIB_PORT_ARMED, PIB_PORT_ACTIVE}) {
		p.state = state;
		EXPECT_EQ(pib_port_loops_back(&p, &smp), state >= PIB_PORT_INIT) << int(state);
		EXPECT_EQ(pib_port_loops_back(&p, &data), state == PIB_PORT_ACTIVE) << int(state);
	}
	for (uint16_t dlid : {0, 7, 10, 0xC000, PIB_LID_PERMISSIVE}) {
		data.dlid = dlid;
		EXPECT_FALSE(pib_port_loops_back(&p, &data)) << dlid;
	}
}

TEST_F(PortInfo, SpeedAsOneNumberAndInMegabits)
{
	const struct {
		uint8_t width, speed, ext;
		uint16_t number;
		uint32_t mbps;
	} rates[] = {
		{1, 1, 0, 1, 2500},	   {2, 2, 0, 2, 20000},	     {8, 4, 0, 4, 120000},
		{2, 4, 1, 16, 56000},	   {2, 4, 2, 32, 100000},    {4, 4, 4, 64, 400000},
		{0x10, 4, 8, 128, 200000}, {8, 4, 16, 256, 2400000}, {2, 0, 0, 1, 10000},
	};
	pib_port &p = a.port(1);

	for (const auto &r : rates) {
		p.width_act = r.width, p.speed_act = r.speed, p.ext_speed_act = r.ext;
		EXPECT_EQ(pib_port_speed(&p), r.number);
		EXPECT_EQ(pib_port_mbps(&p), r.mbps);
	}
}

TEST_F(PortInfo, ZeroIsNoChangeAndAllOnesIsEverything)
{
	Data d = idle(a.port(1), 1);
	pib_port &p = a.port(1);

	p.width_en = 1, p.speed_en = 1, p.ext_speed_en = 1;
	d[29] = 0, d[35] = 0, d[63] = 0;
	EXPECT_EQ(ask(p, set(PIB_SM_PORT_INFO, kExtSpeeds | 1, d)).status(), 0);
	EXPECT_EQ(p.width_en, 1);
	EXPECT_EQ(p.speed_en, 1);
	EXPECT_EQ(p.ext_speed_en, 1);
	d[29] = 0xFF, d[35] = 0xF, d[63] = 31;
	EXPECT_EQ(ask(p, set(PIB_SM_PORT_INFO, kExtSpeeds | 1, d)).status(), 0);
	EXPECT_EQ(p.width_en, p.width_sup);
	EXPECT_EQ(p.speed_en, p.speed_sup);
	EXPECT_EQ(p.ext_speed_en, p.ext_speed_sup);
}

TEST_F(PortInfo, ExtendedSpeedsNeedBit31)
{
	Data d = idle(a.port(1), 1);

	d[63] = 1;
	EXPECT_EQ(ask(a.port(1), set(PIB_SM_PORT_INFO, 1, d)).status(), 0);
	EXPECT_EQ(a.port(1).ext_speed_en, 3);
	EXPECT_EQ(ask(a.port(1), set(PIB_SM_PORT_INFO, kExtSpeeds | 1, d)).status(), 0);
	EXPECT_EQ(a.port(1).ext_speed_en, 1);
	d[63] = 8; // NDR, not supported
	EXPECT_EQ(ask(a.port(1), set(PIB_SM_PORT_INFO, kExtSpeeds | 1, d)).status(),
		  PIB_STATUS_INVALID);
}

TEST_F(PortInfo, Xdr)
{
	pib_port_set_link_caps(&a.port(2), 0x1F, 7, 0x1F);
	pib_port_set_link_caps(&sw.port(2), 0x1F, 7, 0x1F);
	f.connect(a, 2, sw, 2);
	Data d = info(a.port(1), 2);

	EXPECT_EQ(d[31], 8) << "12X";
	EXPECT_EQ(d[56], 1 << 5 | 1 << 3 | 1) << "XDR active, supported, enabled";
	EXPECT_EQ(d[62], 0x0F);
	EXPECT_EQ(pib_get16(&d[60]), 0x1432);
}

TEST_F(PortInfo, XdrHasItsOwnEnable)
{
	pib_port &p = a.port(2);

	pib_port_set_link_caps(&p, 0x1F, 7, 0x1F);
	for (auto [value, enabled] :
	     {std::pair(6, 0x0F), {0, 0x0F}, {7, 0x1F}, {0, 0x1F}, {6, 0x0F}, {1, 0x1F}}) {
		Data d = idle(a.port(1), 2);

		d[56] = value;
		EXPECT_EQ(ask(a.port(1), set(PIB_SM_PORT_INFO, kExtSpeeds | 2, d)).status(), 0);
		EXPECT_EQ(p.ext_speed_en, enabled) << value;
	}
	Data d = idle(a.port(1), 2);
	d[56] = 2;
	EXPECT_EQ(ask(a.port(1), set(PIB_SM_PORT_INFO, kExtSpeeds | 2, d)).status(),
		  PIB_STATUS_INVALID);
}

TEST_F(PortInfo, NoCommonSpeedIsNoLink)
{
	a.port(2).width_en = 1;
	sw.port(2).width_en = 2;
	f.connect(a, 2, sw, 2);
	EXPECT_EQ(a.port(2).state, PIB_PORT_DOWN);
	EXPECT_EQ(sw.port(2).phys, PIB_PHYS_POLLING);
}

TEST_F(PortInfo, Addresses)
{
	Data d = idle(a.port(1), 1);

	pib_put64(&d[8], 0xFE80000000001234);
	pib_put16(&d[16], 0x10);
	pib_put16(&d[18], 0x20);
	d[34] = 3;		    // LMC
	d[36] = (d[36] & 0xF0) | 5; // MasterSMSL
	d[51] = 0x80 | 17;
	Mad r = ask(a.port(1), set(PIB_SM_PORT_INFO, 1, d));
	EXPECT_EQ(r.attribute()[51], 0x80 | 17) << "ClientReregister is echoed";
	EXPECT_EQ(info(a.port(1), 1)[51], 17);
	pib_port &p = a.port(1);
	EXPECT_EQ(p.lid, 0x10);
	EXPECT_EQ(p.lmc, 3);
	EXPECT_EQ(p.sm_lid, 0x20);
	EXPECT_EQ(p.sm_sl, 5);
	EXPECT_EQ(p.subnet_timeout, 17);
	EXPECT_EQ(p.events, PIB_EV_LID_CHANGE | PIB_EV_SM_CHANGE | PIB_EV_GID_CHANGE |
				    PIB_EV_CLIENT_REREGISTER | PIB_EV_SL2VL);
	p.events = 0;
	d[51] = 17;
	ask(p, set(PIB_SM_PORT_INFO, 1, d));
	EXPECT_EQ(p.events & ~PIB_EV_SL2VL, 0u) << "nothing new";

	pib_put16(&d[16], 0xC000);
	EXPECT_EQ(ask(p, set(PIB_SM_PORT_INFO, 1, d)).status(), PIB_STATUS_INVALID);
}

TEST_F(PortInfo, LinkParameters)
{
	Data d = idle(sw.port(1), 1);

	d[36] = 4 << 4;	      // NeighborMTU 2048
	d[38] = 11;	      // VLHighLimit
	d[42] = 3 << 5 | 9;   // VLStallCount, HOQLife
	d[43] = 2 << 4 | 0xC; // OperationalVLs, partition enforcement
	d[53] = 0x21;
	Data r = ask(sw.port(1), set(PIB_SM_PORT_INFO, 1, d)).payload();
	EXPECT_EQ(r[36] >> 4, 4);
	EXPECT_EQ(r[38], 11);
	EXPECT_EQ(r[42], 3 << 5 | 9);
	EXPECT_EQ(r[43], 2 << 4 | 0xC);
	EXPECT_EQ(r[53], 0x21);
	d[43] = 5 << 4; // more VLs than VLCap
	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_PORT_INFO, 1, d)).status(), PIB_STATUS_INVALID);
	d[43] = 0; // no change
	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_PORT_INFO, 1, d)).attribute()[43] >> 4, 2);
	d[36] = 6 << 4;
	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_PORT_INFO, 1, d)).status(), PIB_STATUS_INVALID);
}

TEST_F(PortInfo, StallCountAndHoqLifeAreReservedAtHcas)
{
	Data d = idle(a.port(1), 1);

	EXPECT_EQ(d[42], 0);
	d[42] = 3 << 5 | 9;
	EXPECT_EQ(ask(a.port(1), set(PIB_SM_PORT_INFO, 1, d)).attribute()[42], 0);
}

TEST_F(PortInfo, WritingZeroClearsViolationCounters)
{
	pib_port &p = a.port(1);

	p.m_key_viol = 3, p.pkey_viol = 4, p.qkey_viol = 5;
	Data d = idle(p, 1);
	pib_put16(&d[46], 0);
	ask(p, set(PIB_SM_PORT_INFO, 1, d));
	EXPECT_EQ(p.m_key_viol, 3);
	EXPECT_EQ(p.pkey_viol, 0);
	EXPECT_EQ(p.qkey_viol, 5);
}

TEST_F(PortInfo, BasePort0IgnoresWhatItHasNot)
{
	Data d = idle(sw.port(1), 0);

	d[32] |= PIB_PORT_DOWN;
	d[33] |= PIB_PHYS_DISABLED << 4;
	d[29] = 0x55;
	d[34] = 0x40 | 7; // protect bits, LMC
	pib_put64(&d[0], 0x77);
	pib_put16(&d[16], 5);
	EXPECT_EQ(ask(sw.port(1), with_key(set(PIB_SM_PORT_INFO, 0, d), 0)).status(), 0);
	pib_port &p = sw.port(0);
	EXPECT_EQ(p.state, PIB_PORT_ACTIVE);
	EXPECT_EQ(p.phys, PIB_PHYS_LINKUP);
	EXPECT_EQ(p.lmc, 0);
	EXPECT_EQ(p.lid, 5);
	EXPECT_EQ(p.m_key, 0x77u);
	EXPECT_EQ(p.m_key_prot, 1);
}

TEST_F(PortInfo, EnhancedPort0HasStatesAndLmc)
{
	Node e(PIB_NODE_SWITCH, 2, 0x5, true);
	Data d = idle(e.port(1), 0);

	d[34] = 2;
	d[32] |= PIB_PORT_ARMED;
	EXPECT_EQ(ask(e.port(1), set(PIB_SM_PORT_INFO, 0, d)).status(), 0);
	EXPECT_EQ(e.port(0).lmc, 2);
	EXPECT_EQ(state(e.port(1), 0, PIB_PORT_ACTIVE), 0);
	EXPECT_EQ(state(e.port(1), 0, PIB_PORT_DOWN), 0);
	EXPECT_EQ(e.port(0).state, PIB_PORT_INIT);
}

TEST_F(PortInfo, GoAlone)
{
	pib_port_set_standalone(&a.port(1), 0x42);
	EXPECT_EQ(a.port(1).state, PIB_PORT_ACTIVE);
	EXPECT_EQ(a.port(1).lid, 0x42);
	EXPECT_EQ(a.port(1).events, PIB_EV_LID_CHANGE | PIB_EV_PORT_ACTIVE);
	pib_port_set_standalone(&a.port(2), 0x43);
	EXPECT_EQ(a.port(2).state, PIB_PORT_DOWN);
}

TEST_F(PortInfo, NeighborMtuIsWhatBothCan)
{
	a.port(2).mtu_cap = 3;
	f.connect(a, 2, sw, 2);
	EXPECT_EQ(a.port(2).nbr_mtu, 3);
	EXPECT_EQ(sw.port(2).nbr_mtu, 3);
	EXPECT_EQ(pib_mtu_bytes(3), 1024u);
}

TEST(PKey, MembershipRule)
{
	Node ca(PIB_NODE_CA, 1, 1);
	pib_port &p = ca.port(1);

	p.pkey[0] = 0x7FFF;
	p.pkey[3] = 0x8001;
	EXPECT_EQ(pib_port_pkey_match(&p, 0xFFFF), 0);
	EXPECT_EQ(pib_port_pkey_match(&p, 0x7FFF), -1) << "limited does not talk to limited";
	EXPECT_EQ(pib_port_pkey_match(&p, 0x0001), 3);
	EXPECT_EQ(pib_port_pkey_match(&p, 0x8000), -1) << "invalid key";
	EXPECT_EQ(pib_port_pkey_match(&p, 0x8002), -1);
}

} // namespace
