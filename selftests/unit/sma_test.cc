// SPDX-License-Identifier: GPL-2.0
// The subnet management agent: every attribute, Get and Set, and what is refused.
#include <gtest/gtest.h>
#include "fabric.h"

using namespace fabric;

namespace {

class Sma : public ::testing::Test {
protected:
	static std::optional<Mad> ask(pib_port &p, const Mad &in, uint64_t now = kSecond)
	{
		Mad out;

		result = pib_sma_process(&p, in.data(), out.data(), now, false);
		if (result != PIB_MAD_REPLY)
			return std::nullopt;
		EXPECT_EQ(out.method(),
			  in.method() == PIB_METHOD_SET ? PIB_METHOD_GET_RESP : in.method() | 0x80);
		EXPECT_EQ(out.tid(), in.tid());
		EXPECT_EQ(out.attr(), in.attr());
		return out;
	}

	static uint16_t status(pib_port &p, const Mad &in)
	{
		auto r = ask(p, in);

		return r ? r->status() : 0xFFFF;
	}

	static Data filled(uint8_t first)
	{
		Data d;

		for (size_t i = 0; i < d.size(); i++)
			d[i] = first + i;
		return d;
	}

	static inline pib_mad_result result;
	Node ca{PIB_NODE_CA, 2, 0x1122334455667700};
	Node sw{PIB_NODE_SWITCH, 36, 0xAABBCCDDEEFF0000};
};

TEST_F(Sma, NodeInfoOfHca)
{
	auto r = ask(ca.port(2), get(PIB_SM_NODE_INFO));
	ASSERT_TRUE(r);
	const uint8_t *d = r->attribute();

	EXPECT_EQ(d[0], 1);
	EXPECT_EQ(d[1], 1);
	EXPECT_EQ(d[2], PIB_NODE_CA);
	EXPECT_EQ(d[3], 2);
	EXPECT_EQ(pib_get64(d + 4), ca.n.guid);
	EXPECT_EQ(pib_get64(d + 12), ca.n.guid);
	EXPECT_EQ(pib_get64(d + 20), ca.n.guid + 2);
	EXPECT_EQ(pib_get16(d + 28), PIB_PKEYS);
	EXPECT_EQ(d[36], 2) << "LocalPortNum is the arrival port";
	EXPECT_EQ(pib_get32(d + 36) & 0xFFFFFF, ca.n.vendor_id);
}

TEST_F(Sma, NodeInfoOfSwitchNamesTheArrivalPort)
{
	auto r = ask(sw.port(17), get(PIB_SM_NODE_INFO));
	ASSERT_TRUE(r);

	EXPECT_EQ(r->attribute()[2], PIB_NODE_SWITCH);
	EXPECT_EQ(r->attribute()[3], 36);
	EXPECT_EQ(pib_get64(r->attribute() + 20), sw.n.guid);
	EXPECT_EQ(r->attribute()[36], 17);
}

TEST_F(Sma, NodeDescription)
{
	pib_node_set_desc(&ca.n, "host7 pib0", kSecond);
	auto r = ask(ca.port(1), get(PIB_SM_NODE_DESC));
	ASSERT_TRUE(r);

	EXPECT_STREQ(reinterpret_cast<const char *>(r->attribute()), "host7 pib0");
	EXPECT_EQ(r->attribute()[63], 0);
	EXPECT_TRUE(ca.n.events & PIB_EV_NODE_DESC);
	EXPECT_EQ(status(ca.port(1), set(PIB_SM_NODE_DESC, 0, {})), PIB_STATUS_BAD_ATTR);
}

TEST_F(Sma, SwitchInfo)
{
	auto r = ask(sw.port(1), get(PIB_SM_SWITCH_INFO));
	ASSERT_TRUE(r);
	Data d = r->payload();

	EXPECT_EQ(pib_get16(&d[0]), PIB_LFT_SIZE);
	EXPECT_EQ(pib_get16(&d[2]), 0) << "no random table";
	EXPECT_EQ(pib_get16(&d[4]), PIB_MFT_SIZE);
	EXPECT_EQ(d[11] & 0x7, 0);
	EXPECT_EQ(pib_get16(&d[14]), PIB_SWITCH_PKEYS);
	EXPECT_EQ(d[16], 0xC0);

	pib_put16(&d[6], 0x123);
	d[8] = 1, d[9] = 2, d[10] = 3;
	d[11] = 20 << 3;
	pib_put16(&d[18], 0xC0FF);
	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_SWITCH_INFO, 0, d))->payload(), d);
	EXPECT_EQ(sw.n.lft_top, 0x123);
	EXPECT_EQ(sw.n.life_time, 20);

	pib_put16(&d[6], PIB_LFT_SIZE);
	EXPECT_EQ(status(sw.port(1), set(PIB_SM_SWITCH_INFO, 0, d)), PIB_STATUS_INVALID);
	EXPECT_EQ(sw.n.lft_top, 0x123);
	EXPECT_EQ(status(ca.port(1), get(PIB_SM_SWITCH_INFO)), PIB_STATUS_BAD_ATTR);
}

TEST_F(Sma, NodeInfoSaysWhoMadeIt)
{
	Data d = ask(sw.port(1), get(PIB_SM_NODE_INFO))->payload();

	EXPECT_EQ(pib_get64(&d[4]), sw.n.guid);
	EXPECT_EQ(pib_get16(&d[30]), 2);
	EXPECT_EQ(pib_get32(&d[36]), 0x01025049u);
	sw.n.sys_guid = 0x77;
	sw.n.vendor_id = 0x2c9;
	sw.n.device_id = 0xd2f0;
	d = ask(sw.port(1), get(PIB_SM_NODE_INFO))->payload();
	EXPECT_EQ(pib_get64(&d[4]), 0x77u);
	EXPECT_EQ(pib_get16(&d[30]), 0xd2f0);
	EXPECT_EQ(pib_get32(&d[36]), 0x010002c9u);
}

/* A vendor's attribute: pib's own nodes do not have it, those of devices that do have no FDR10. */
TEST_F(Sma, MlnxExtPortInfo)
{
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_MLNX_EXT_PORT_INFO, 1)), PIB_STATUS_BAD_ATTR);
	EXPECT_EQ(status(ca.port(1), get(PIB_SM_MLNX_EXT_PORT_INFO, 1)), PIB_STATUS_BAD_ATTR);
	for (uint16_t device : {0xc738, 0xd2f0, 0x1003, 0x101b, 0xa2d2}) {
		sw.n.device_id = device;
		EXPECT_EQ(status(sw.port(1), get(PIB_SM_MLNX_EXT_PORT_INFO, 2)), PIB_STATUS_OK);
		EXPECT_EQ(ask(sw.port(1), set(PIB_SM_MLNX_EXT_PORT_INFO, 2, Data{}))->payload(),
			  Data{});
	}
	for (uint16_t device : {0xc737, 0xc73c, 0x1002, 0x101c, 0xb924}) {
		sw.n.device_id = device;
		EXPECT_EQ(status(sw.port(1), get(PIB_SM_MLNX_EXT_PORT_INFO, 2)),
			  PIB_STATUS_BAD_ATTR);
	}
}

/* PortInfoExtended.CapMask says that there is no FEC, in which case nothing else in it means anything. */
TEST_F(Sma, PortInfoExtendedHasNoFec)
{
	EXPECT_TRUE(ca.port(1).cap_mask2 & PIB_CAPM2_PORT_INFO_EXT);
	EXPECT_EQ(ask(ca.port(1), get(PIB_SM_PORT_INFO_EXT, 1))->payload(), Data{});
	EXPECT_EQ(status(ca.port(1), set(PIB_SM_PORT_INFO_EXT, 1, Data{})), PIB_STATUS_OK);
}

TEST_F(Sma, EnhancedPort0IsAnnounced)
{
	Node e(PIB_NODE_SWITCH, 4, 1, true);

	EXPECT_EQ(ask(e.port(1), get(PIB_SM_SWITCH_INFO))->attribute()[16], 0xC8);
	EXPECT_EQ(e.port(0).state, PIB_PORT_INIT);
	EXPECT_EQ(sw.port(0).state, PIB_PORT_ACTIVE);
}

TEST_F(Sma, PortStateChangeIsClearedByWritingOne)
{
	pib_port_link_up(&sw.port(3), 5);
	Data d = ask(sw.port(1), get(PIB_SM_SWITCH_INFO))->payload();
	EXPECT_EQ(d[11] & 4, 4);
	Data keep = d;
	keep[11] &= ~4;
	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_SWITCH_INFO, 0, keep))->attribute()[11] & 4, 4);
	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_SWITCH_INFO, 0, d))->attribute()[11] & 4, 0);
}

TEST_F(Sma, PKeyTable)
{
	EXPECT_EQ(pib_get16(ask(ca.port(1), get(PIB_SM_PKEY_TABLE))->attribute()), 0xFFFF);
	Data d = filled(0x30);
	EXPECT_EQ(ask(ca.port(1), set(PIB_SM_PKEY_TABLE, 0, d))->payload(), d);
	EXPECT_EQ(ca.port(1).pkey[1], 0x3233);
	EXPECT_TRUE(ca.port(1).events & PIB_EV_PKEY_CHANGE);
	EXPECT_EQ(ca.port(2).pkey[0], 0xFFFF);

	ca.port(1).events = 0;
	ask(ca.port(1), set(PIB_SM_PKEY_TABLE, 0, d));
	EXPECT_FALSE(ca.port(1).events) << "nothing changed";
	EXPECT_EQ(ask(ca.port(1), set(PIB_SM_PKEY_TABLE, 3, d))->payload(), d);
	EXPECT_EQ(ca.port(1).pkey[127], pib_get16(&d[62]));
	EXPECT_EQ(pib_port_pkey_match(&ca.port(1), 0x8000 | pib_get16(&d[62])), 31);
	EXPECT_EQ(status(ca.port(1), get(PIB_SM_PKEY_TABLE, 4)), PIB_STATUS_INVALID);
}

TEST_F(Sma, PKeyTableOfSwitchPorts)
{
	Data d = filled(1);

	ask(sw.port(1), set(PIB_SM_PKEY_TABLE, 20u << 16, d));
	EXPECT_EQ(sw.port(20).pkey[0], 0x0102);
	EXPECT_EQ(sw.port(1).pkey[0], 0xFFFF);
	EXPECT_EQ(ask(sw.port(5), get(PIB_SM_PKEY_TABLE, 20u << 16))->payload(), d);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_PKEY_TABLE, 37u << 16)), PIB_STATUS_INVALID);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_PKEY_TABLE, 20u << 16 | 1)), PIB_STATUS_INVALID);
	EXPECT_EQ(pib_get16(ask(sw.port(1), get(PIB_SM_NODE_INFO))->attribute() + 28),
		  PIB_SWITCH_PKEYS);
}

TEST_F(Sma, GuidInfo)
{
	Data d = filled(0x40);
	Data r = ask(ca.port(2), set(PIB_SM_GUID_INFO, 0, d))->payload();

	EXPECT_EQ(pib_get64(&r[0]), ca.port(2).guid) << "entry 0 is read-only";
	EXPECT_EQ(pib_get64(&r[8]), pib_get64(&d[8]));
	EXPECT_TRUE(ca.port(2).events & PIB_EV_GID_CHANGE);
	ask(ca.port(2), set(PIB_SM_GUID_INFO, 1, d));
	EXPECT_EQ(ca.port(2).guids[8], pib_get64(&d[0]));
	EXPECT_EQ(status(ca.port(2), get(PIB_SM_GUID_INFO, 2)), PIB_STATUS_INVALID);
	EXPECT_EQ(status(ca.port(2), get(PIB_SM_GUID_INFO, 0x20000000)), PIB_STATUS_INVALID);
	EXPECT_EQ(pib_get64(ask(sw.port(9), get(PIB_SM_GUID_INFO))->attribute()), sw.n.guid);
	r = ask(sw.port(9), set(PIB_SM_GUID_INFO, 0, d))->payload();
	EXPECT_EQ(pib_get64(&r[8]), 0u) << "a switch has no aliases";
	EXPECT_EQ(status(sw.port(9), get(PIB_SM_GUID_INFO, 1)), PIB_STATUS_INVALID);
}

TEST_F(Sma, Sl2Vl)
{
	Data d = ask(ca.port(1), get(PIB_SM_SL2VL))->payload();
	EXPECT_EQ(d[0], 0x01);
	EXPECT_EQ(d[3], 0x67);
	EXPECT_EQ(d[4], 0x01) << "SL8 maps to VL0";
	EXPECT_EQ(status(ca.port(1), get(PIB_SM_SL2VL, 0x100)), PIB_STATUS_INVALID);

	d[0] = 0x35;
	ask(sw.port(1), set(PIB_SM_SL2VL, 7 << 8 | 9, d));
	EXPECT_EQ(pib_port_vl(&sw.port(9), 7, 0), 3);
	EXPECT_EQ(pib_port_vl(&sw.port(9), 7, 1), 5);
	EXPECT_EQ(pib_port_vl(&sw.port(9), 6, 0), 0);
	EXPECT_EQ(ask(sw.port(1), get(PIB_SM_SL2VL, 7 << 8 | 9))->payload(), d);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_SL2VL, 37 << 8 | 1)), PIB_STATUS_INVALID);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_SL2VL, 1 << 16)), PIB_STATUS_INVALID);
}

TEST_F(Sma, VlsBeyondTheOperationalOnesDiscard)
{
	ca.port(1).op_vls = 2; // VL0, VL1
	EXPECT_EQ(pib_port_vl(&ca.port(1), 0, 1), 1);
	EXPECT_EQ(pib_port_vl(&ca.port(1), 0, 2), 0xF);
	ca.port(1).sl2vl = nullptr;
	EXPECT_EQ(pib_port_vl(&ca.port(1), 0, 9), 1);
	EXPECT_EQ(status(ca.port(1), set(PIB_SM_SL2VL, 0, {})), PIB_STATUS_BAD_ATTR);
}

TEST_F(Sma, VlArbitration)
{
	Data d = filled(0);

	for (uint32_t block = 1; block <= 4; block++) {
		d[1] = block;
		EXPECT_EQ(status(sw.port(1), set(PIB_SM_VLARB, block << 16 | 12, d)), 0);
		EXPECT_EQ(sw.port(12).vlarb[block - 1][0][1], block);
	}
	EXPECT_EQ(ask(sw.port(1), get(PIB_SM_VLARB, 2 << 16 | 12))->attribute()[1], 2);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_VLARB, 12)), PIB_STATUS_INVALID);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_VLARB, 5 << 16 | 12)), PIB_STATUS_INVALID);
	EXPECT_EQ(status(ca.port(1), get(PIB_SM_VLARB, 1 << 16)), 0);
}

TEST_F(Sma, LinearForwardingTable)
{
	Data d = filled(0);

	EXPECT_EQ(ask(sw.port(1), get(PIB_SM_LFT))->attribute()[5], PIB_LFT_DROP);
	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_LFT, 3, d))->payload(), d);
	EXPECT_EQ(sw.lft[3 * 64 + 10], 10);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_LFT, PIB_LFT_SIZE / 64 - 1)), 0);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_LFT, PIB_LFT_SIZE / 64)), PIB_STATUS_INVALID);
	EXPECT_EQ(status(sw.port(1), set(PIB_SM_LFT, 0xFFFFFFFF, d)), PIB_STATUS_INVALID);
	EXPECT_EQ(status(ca.port(1), get(PIB_SM_LFT)), PIB_STATUS_BAD_ATTR);
}

TEST_F(Sma, MulticastForwardingTable)
{
	Data d{};

	pib_put16(&d[0], 0x8002); // MLID 0xC020: ports 1 and 15
	EXPECT_EQ(status(sw.port(1), set(PIB_SM_MFT, 1, d)), 0);
	pib_put16(&d[0], 0x0010); // position 2: port 36
	EXPECT_EQ(status(sw.port(1), set(PIB_SM_MFT, 2u << 28 | 1, d)), 0);
	pib_put16(&d[0], 0x0001); // position 1: port 16
	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_MFT, 1u << 28 | 1, d))->payload(), d);
	EXPECT_EQ(sw.mft[32][0], 0x00018002u);
	EXPECT_EQ(sw.mft[32][1], 0x10u);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_MFT, 3u << 28)), PIB_STATUS_INVALID);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_MFT, PIB_MFT_SIZE / 32)), PIB_STATUS_INVALID);
}

TEST_F(Sma, LedInfo)
{
	Data d{0x80};

	EXPECT_EQ(ask(sw.port(1), set(PIB_SM_LED_INFO, 5, d))->payload(), d);
	EXPECT_TRUE(sw.port(5).led);
	EXPECT_EQ(ask(sw.port(1), get(PIB_SM_LED_INFO, 6))->attribute()[0], 0);
}

TEST_F(Sma, PortInfoExtendedIsAnsweredEmpty)
{
	EXPECT_EQ(ask(ca.port(1), get(PIB_SM_PORT_INFO_EXT))->payload(), Data{});
	EXPECT_EQ(ask(ca.port(1), set(PIB_SM_PORT_INFO_EXT, 1, filled(1)))->payload(), Data{});
}

TEST_F(Sma, SmInfoGoesUpWhereAnSmIs)
{
	EXPECT_EQ(status(ca.port(1), get(PIB_SM_SM_INFO)), PIB_STATUS_BAD_ATTR);
	pib_port_set_caps(&ca.port(1), ca.port(1).cap_mask | PIB_CAPM_SM, kSecond);
	EXPECT_FALSE(ask(ca.port(1), get(PIB_SM_SM_INFO)));
	EXPECT_EQ(result, PIB_MAD_LOCAL);
	EXPECT_FALSE(ask(ca.port(1), set(PIB_SM_SM_INFO, 1, {})));
	EXPECT_EQ(result, PIB_MAD_LOCAL);
	EXPECT_EQ(status(ca.port(2), get(PIB_SM_SM_INFO)), PIB_STATUS_BAD_ATTR);
	EXPECT_EQ(status(sw.port(1), get(PIB_SM_SM_INFO)), PIB_STATUS_BAD_ATTR);
}

TEST_F(Sma, UnknownAttributesAreRefusedNotIgnored)
{
	for (uint16_t attr : {0x001A, 0x001C, 0x0030, 0xFF90, 0xFF00, 0x0000}) {
		EXPECT_EQ(status(ca.port(1), get(attr)), PIB_STATUS_BAD_ATTR) << attr;
		EXPECT_EQ(status(sw.port(1), set(attr, 0, {})), PIB_STATUS_BAD_ATTR) << attr;
	}
	EXPECT_EQ(status(ca.port(1), set(PIB_SM_NODE_INFO, 0, {})), PIB_STATUS_BAD_ATTR);
}

TEST_F(Sma, MethodsAndVersions)
{
	Mad m = get(PIB_SM_NODE_INFO);

	m[PIB_MAD_METHOD] = 0x12;
	EXPECT_EQ(status(ca.port(1), m), PIB_STATUS_BAD_METHOD);
	m = get(PIB_SM_NODE_INFO);
	m[PIB_MAD_BASE_VERSION] = 2;
	EXPECT_EQ(status(ca.port(1), m), PIB_STATUS_BAD_VERSION);
	m = get(PIB_SM_NODE_INFO);
	m[PIB_MAD_CLASS_VERSION] = 3;
	EXPECT_EQ(status(sw.port(1), m), PIB_STATUS_BAD_VERSION);
}

TEST_F(Sma, AnswersAndTrapsGoUpAtHcasAndNowhereAtSwitches)
{
	for (uint8_t method : {0x81, 0x05, 0x03, 0x06, 0x87}) {
		Mad m = get(PIB_SM_NODE_INFO);

		m[PIB_MAD_METHOD] = method;
		EXPECT_FALSE(ask(ca.port(1), m));
		EXPECT_EQ(result, PIB_MAD_LOCAL);
		EXPECT_FALSE(ask(sw.port(1), m));
		EXPECT_EQ(result, PIB_MAD_NONE);
	}
}

TEST_F(Sma, DirectedRouteAnswersCarryTheDirectionBit)
{
	Mad m = get(0xFF90);

	m[PIB_MAD_CLASS] = PIB_CLASS_SM_DR;
	auto r = ask(ca.port(1), m);
	ASSERT_TRUE(r);
	EXPECT_TRUE(r->homeward());
	EXPECT_EQ(r->status(), PIB_STATUS_BAD_ATTR);
}

// ---- M_Key (14.2.4) ----

class MKey : public Sma {
protected:
	static constexpr uint64_t kKey = 0x123456789ABCDEF0;

	void protect(pib_port &p, uint8_t level, uint16_t lease = 0)
	{
		p.m_key = kKey;
		p.m_key_prot = level;
		p.m_key_lease = lease;
	}
	Data info(pib_port &p) { return ask(p, with_key(get(PIB_SM_PORT_INFO), kKey))->payload(); }
};

TEST_F(MKey, Level0ShowsTheKeyAndGuardsSet)
{
	protect(ca.port(1), 0);
	EXPECT_EQ(pib_get64(ask(ca.port(1), get(PIB_SM_PORT_INFO))->attribute()), kKey);
	EXPECT_FALSE(ask(ca.port(1), set(PIB_SM_PORT_INFO, 0, info(ca.port(1)))));
	EXPECT_EQ(result, PIB_MAD_NONE);
	EXPECT_EQ(ca.port(1).m_key_viol, 1);
}

TEST_F(MKey, Level1HidesTheKey)
{
	protect(ca.port(1), 1);
	EXPECT_EQ(pib_get64(ask(ca.port(1), get(PIB_SM_PORT_INFO))->attribute()), 0u);
	EXPECT_EQ(pib_get64(info(ca.port(1)).data()), kKey);
	EXPECT_EQ(ca.port(1).m_key_viol, 0);
}

TEST_F(MKey, Levels2And3GuardGet)
{
	for (uint8_t level : {2, 3}) {
		protect(ca.port(1), level);
		EXPECT_FALSE(ask(ca.port(1), get(PIB_SM_NODE_INFO)));
		EXPECT_TRUE(ask(ca.port(1), with_key(get(PIB_SM_NODE_INFO), kKey)));
	}
	EXPECT_EQ(ca.port(1).m_key_viol, 2);
}

TEST_F(MKey, ViolationStartsTheLeaseAndExpiryUnprotects)
{
	protect(ca.port(1), 3, 2);
	EXPECT_FALSE(ask(ca.port(1), get(PIB_SM_NODE_INFO), 10 * kSecond));
	EXPECT_EQ(pib_node_deadline(&ca.n), 12 * kSecond);
	EXPECT_FALSE(ask(ca.port(1), get(PIB_SM_NODE_INFO), 11 * kSecond));
	pib_node_timer(&ca.n, 12 * kSecond);
	EXPECT_EQ(ca.port(1).m_key_prot, 0);
	EXPECT_EQ(ca.port(1).m_key, kKey);
	EXPECT_TRUE(ask(ca.port(1), get(PIB_SM_NODE_INFO), 12 * kSecond));
}

TEST_F(MKey, ExpiryIsSeenWithoutATimer)
{
	protect(ca.port(1), 2, 1);
	EXPECT_FALSE(ask(ca.port(1), get(PIB_SM_NODE_INFO), 10 * kSecond));
	EXPECT_TRUE(ask(ca.port(1), get(PIB_SM_NODE_INFO), 11 * kSecond));
}

TEST_F(MKey, ValidKeyEndsTheLease)
{
	protect(ca.port(1), 2, 2);
	EXPECT_FALSE(ask(ca.port(1), get(PIB_SM_NODE_INFO), 10 * kSecond));
	EXPECT_TRUE(ask(ca.port(1), with_key(get(PIB_SM_NODE_INFO), kKey), 11 * kSecond));
	EXPECT_EQ(pib_node_deadline(&ca.n), 0u);
	pib_node_timer(&ca.n, 20 * kSecond);
	EXPECT_EQ(ca.port(1).m_key_prot, 2);
}

TEST_F(MKey, Port0SpeaksForAllPortsOfASwitch)
{
	protect(sw.port(0), 2);
	EXPECT_FALSE(ask(sw.port(8), get(PIB_SM_PORT_INFO, 9)));
	EXPECT_EQ(sw.port(0).m_key_viol, 1);
	EXPECT_TRUE(ask(sw.port(8), with_key(get(PIB_SM_PORT_INFO, 9), kKey)));
}

TEST_F(MKey, AnotherPortOfAnHcaHasItsOwn)
{
	protect(ca.port(2), 2);
	EXPECT_TRUE(ask(ca.port(1), get(PIB_SM_PORT_INFO, 1)));
	EXPECT_FALSE(ask(ca.port(1), get(PIB_SM_PORT_INFO, 2)));
	EXPECT_TRUE(ask(ca.port(1), with_key(get(PIB_SM_PORT_INFO, 2), kKey)));
}

TEST_F(MKey, TheNodeItselfNeedsNone)
{
	Mad in = get(PIB_SM_PORT_INFO), out;

	protect(ca.port(1), 3);
	EXPECT_EQ(pib_sma_process(&ca.port(1), in.data(), out.data(), kSecond, true),
		  PIB_MAD_REPLY);
	EXPECT_EQ(ca.port(1).m_key_viol, 0);
}

} // namespace
