// SPDX-License-Identifier: GPL-2.0
// Congestion control: the agent's tables, its key, and what marks, indices and waits come to.
#include <gtest/gtest.h>
#include "fabric.h"

using namespace fabric;

namespace {

enum { kInfo = 0x11, kKeyInfo, kLog, kSwitch, kSwitchPort, kCa, kTable, kTimestamp };

class Cc : public ::testing::Test {
protected:
	Mad ask(Node &n, uint8_t method, uint16_t attr, uint32_t am = 0,
		const std::vector<uint8_t> &data = {}, uint64_t key = 0)
	{
		Mad in = make_mad(PIB_CLASS_CC, method, attr), out;

		in[PIB_MAD_CLASS_VERSION] = 2;
		pib_put32(in.data() + PIB_MAD_ATTR_MOD, am);
		pib_put64(in.data() + PIB_MAD_M_KEY, key);
		std::copy(data.begin(), data.end(), in.attribute());
		result =
			pib_gsa_process(&n.port(n.is_switch() ? 0 : 1), in.data(), out.data(), now);
		return out;
	}
	Mad get(Node &n, uint16_t attr, uint32_t am = 0, uint64_t key = 0)
	{
		return ask(n, PIB_METHOD_GET, attr, am, {}, key);
	}
	void set_key(Node &n, uint64_t key, bool protect, uint16_t lease)
	{
		std::vector<uint8_t> d(14);

		pib_put64(d.data(), key);
		d[8] = protect << 7;
		pib_put16(d.data() + 10, lease);
		ask(n, PIB_METHOD_SET, kKeyInfo, 0, d);
		ASSERT_EQ(result, PIB_MAD_REPLY);
	}
	// CACongestionSetting of SL 3 and a table in which entry i is i.
	void slow_down(uint16_t timer, uint8_t increase, uint8_t threshold, uint8_t min,
		       uint16_t limit)
	{
		std::vector<uint8_t> d(192);

		pib_put16(d.data() + 2, 1 << 3);
		uint8_t *e = d.data() + 4 + 3 * 8;
		pib_put16(e, timer);
		e[2] = increase;
		e[3] = threshold;
		e[4] = min;
		EXPECT_EQ(ask(ca, PIB_METHOD_SET, kCa, 0, d).status(), 0);
		for (int block = 0; block < 2; block++) {
			std::vector<uint8_t> t(132);

			pib_put16(t.data(), limit);
			for (int i = 0; i < 64; i++)
				pib_put16(t.data() + 4 + 2 * i, block * 64 + i);
			EXPECT_EQ(ask(ca, PIB_METHOD_SET, kTable, block, t).status(), 0);
		}
	}

	uint64_t now = 1000 * kSecond;
	pib_mad_result result = PIB_MAD_NONE;
	Node ca{PIB_NODE_CA, 1, 0x100};
	Node sw{PIB_NODE_SWITCH, 60, 0x200};
};

TEST_F(Cc, EachNodeHasItsAttributes)
{
	for (uint16_t attr : {0x01, 0x11, 0x12, 0x13, 0x18}) {
		EXPECT_EQ(get(ca, attr).status(), 0) << attr;
		EXPECT_EQ(get(sw, attr).status(), 0) << attr;
	}
	for (uint16_t attr : {kCa, kTable}) {
		EXPECT_EQ(get(ca, attr).status(), 0) << attr;
		EXPECT_EQ(get(sw, attr).status(), PIB_STATUS_BAD_ATTR) << attr;
	}
	for (uint16_t attr : {kSwitch, kSwitchPort}) {
		EXPECT_EQ(get(sw, attr).status(), 0) << attr;
		EXPECT_EQ(get(ca, attr).status(), PIB_STATUS_BAD_ATTR) << attr;
	}
	EXPECT_EQ(get(ca, 0x19).status(), PIB_STATUS_BAD_ATTR);
	EXPECT_EQ(ask(ca, PIB_METHOD_SET, kTimestamp).status(), PIB_STATUS_BAD_ATTR);
	EXPECT_EQ(ask(ca, 0x15, kInfo).status(), PIB_STATUS_BAD_METHOD);
	EXPECT_EQ(get(ca, 0x01).attribute()[1], 2) << "ClassVersion";
	EXPECT_EQ(get(ca, kInfo).attribute()[2], 2) << "ControlTableCap";
}

TEST_F(Cc, ClassVersionOneIsRefused)
{
	Mad in = make_mad(PIB_CLASS_CC, PIB_METHOD_GET, kInfo), out;

	in[PIB_MAD_CLASS_VERSION] = 1;
	EXPECT_EQ(pib_gsa_process(&ca.port(1), in.data(), out.data(), now), PIB_MAD_REPLY);
	EXPECT_EQ(out.status(), PIB_STATUS_BAD_VERSION);
}

TEST_F(Cc, SwitchSettingIsKept)
{
	std::vector<uint8_t> d(76);

	for (size_t i = 0; i < d.size(); i++)
		d[i] = static_cast<uint8_t>(i * 7 + 1);
	Mad r = ask(sw, PIB_METHOD_SET, kSwitch, 0, d);
	EXPECT_EQ(r.status(), 0);
	d[68] &= 0xF0;
	d[70] &= 0xF0;
	d[71] = 0;
	EXPECT_TRUE(std::equal(d.begin(), d.end(), get(sw, kSwitch).attribute()));
}

TEST_F(Cc, SwitchPortsInBlocksOf32)
{
	std::vector<uint8_t> d(192);

	pib_put32(d.data() + 4 * 18,
		  0x8F0A0003); // port 50: valid, threshold 15, packet size 10, rate 3
	EXPECT_EQ(ask(sw, PIB_METHOD_SET, kSwitchPort, 1, d).status(), 0);
	EXPECT_EQ(pib_get32(get(sw, kSwitchPort, 1).attribute() + 4 * 18), 0x8F0A0003u);
	EXPECT_EQ(pib_get32(get(sw, kSwitchPort, 0).attribute() + 8), 0u);
	EXPECT_TRUE(sw.port(50).cc_sw.valid);
	EXPECT_EQ(sw.port(50).cc_sw.marking_rate, 3);
	EXPECT_EQ(get(sw, kSwitchPort, 2).status(), PIB_STATUS_INVALID);
}

// The bytes behind the 32 ports of a block are reserved. The ports behind them are the next block's
// to set.
TEST_F(Cc, ABlockOfSwitchPortsLeavesTheNextOneAlone)
{
	std::vector<uint8_t> d(192);

	for (int i = 0; i < 48; i++)
		pib_put32(d.data() + 4 * i, 0x8F0A0003);
	EXPECT_EQ(ask(sw, PIB_METHOD_SET, kSwitchPort, 0, d).status(), 0);
	EXPECT_TRUE(sw.port(31).cc_sw.valid);
	EXPECT_FALSE(sw.port(32).cc_sw.valid);
	EXPECT_FALSE(sw.port(40).cc_sw.valid);
	EXPECT_EQ(pib_get32(get(sw, kSwitchPort, 0).attribute() + 4 * 31), 0x8F0A0003u);
	EXPECT_EQ(pib_get32(get(sw, kSwitchPort, 0).attribute() + 4 * 32), 0u);
}

TEST_F(Cc, TableInBlocksOf64)
{
	slow_down(1, 1, 0, 0, 100);
	EXPECT_EQ(pib_get16(get(ca, kTable, 1).attribute()), 100);
	EXPECT_EQ(pib_get16(get(ca, kTable, 1).attribute() + 4), 64);
	EXPECT_EQ(pib_get16(get(ca, kTable, 0).attribute() + 4 + 2 * 63), 63);
	EXPECT_EQ(get(ca, kTable, 2).status(), PIB_STATUS_INVALID);
	std::vector<uint8_t> d(132);
	pib_put16(d.data(), 128);
	EXPECT_EQ(ask(ca, PIB_METHOD_SET, kTable, 0, d).status(), PIB_STATUS_INVALID);
	EXPECT_EQ(pib_get16(get(ca, kTable, 0).attribute()), 100);
}

TEST_F(Cc, KeyGuardsWrites)
{
	set_key(ca, 0x1234, true, 10);
	EXPECT_EQ(pib_get64(get(ca, kKeyInfo, 0, 0x1234).attribute()), 0x1234u);
	EXPECT_EQ(pib_get64(get(ca, kKeyInfo, 0, 0x9999).attribute()), 0u) << "protected";
	EXPECT_EQ(pib_get16(get(ca, kKeyInfo).attribute() + 12), 0);
	ask(ca, PIB_METHOD_SET, kCa, 0, std::vector<uint8_t>(192), 0x9999);
	EXPECT_EQ(result, PIB_MAD_NONE);
	EXPECT_EQ(pib_get16(get(ca, kKeyInfo).attribute() + 12), 1) << "violations";
	EXPECT_EQ(ask(ca, PIB_METHOD_SET, kCa, 0, std::vector<uint8_t>(192), 0x1234).status(), 0);
	EXPECT_EQ(result, PIB_MAD_REPLY);
}

TEST_F(Cc, LeaseRunsOut)
{
	set_key(ca, 0x1234, true, 10);
	ask(ca, PIB_METHOD_SET, kCa, 0, std::vector<uint8_t>(192), 0x9999);
	EXPECT_EQ(result, PIB_MAD_NONE);
	now += 9 * kSecond;
	ask(ca, PIB_METHOD_SET, kCa, 0, std::vector<uint8_t>(192), 0x9999);
	EXPECT_EQ(result, PIB_MAD_NONE);
	EXPECT_EQ(pib_get64(get(ca, kKeyInfo, 0, 0x9999).attribute()), 0u);
	now += 2 * kSecond;
	EXPECT_EQ(pib_get64(get(ca, kKeyInfo, 0, 0x9999).attribute()), 0x1234u)
		<< "not protected any more";
	ask(ca, PIB_METHOD_SET, kCa, 0, std::vector<uint8_t>(192), 0x9999);
	EXPECT_EQ(result, PIB_MAD_NONE) << "but it is still the key";
	ask(ca, PIB_METHOD_SET, kCa, 0, std::vector<uint8_t>(192), 0x1234);
	EXPECT_EQ(result, PIB_MAD_REPLY);
}

TEST_F(Cc, MarksByThresholdSizeAndRate)
{
	pib_port *p = &sw.port(3);

	EXPECT_FALSE(pib_cc_marks(p, 256, 4096, 1)) << "nothing is set";
	p->cc_sw = {.valid = true,
		    .control_type = 0,
		    .threshold = 8,
		    .packet_size = 4,
		    .marking_rate = 0,
		    .unmarked = 0};
	EXPECT_FALSE(pib_cc_marks(p, 127, 4096, 1));
	EXPECT_TRUE(pib_cc_marks(p, 128, 4096, 1));
	EXPECT_FALSE(pib_cc_marks(p, 128, 255, 1)) << "too small";
	p->cc_sw.threshold = 15;
	EXPECT_TRUE(pib_cc_marks(p, 16, 4096, 1));
	p->cc_sw.marking_rate = 2;
	int marked = 0;
	for (int i = 0; i < 30; i++)
		marked += pib_cc_marks(p, 256, 4096, 1);
	EXPECT_EQ(marked, 10);
	EXPECT_EQ(pib_cc_marks(p, 256, 4096, 2), 0u) << "packets are counted";
	EXPECT_EQ(pib_cc_marks(p, 256, 4096, 16), 6u);
	EXPECT_TRUE(pib_cc_picks(p));
	p->cc_sw.marking_rate = 0;
	EXPECT_EQ(pib_cc_marks(p, 256, 4096, 16), 16u);
	EXPECT_FALSE(pib_cc_picks(p)) << "it marks all of them";
	p->cc_sw.control_type = 1;
	EXPECT_FALSE(pib_cc_marks(p, 256, 4096, 1)) << "the threshold is one of credit starvation";
	p->cc_sw.control_type = 0;
	p->cc_sw.threshold = 0;
	EXPECT_FALSE(pib_cc_marks(p, 256, 4096, 1));
}

TEST_F(Cc, SwitchWideSettingGoesByTheControlMap)
{
	sw.n.cc.threshold = 15;
	EXPECT_FALSE(pib_cc_marks(&sw.port(3), 256, 4096, 1));
	sw.n.cc.control_map = 0x4;
	EXPECT_TRUE(pib_cc_marks(&sw.port(3), 256, 4096, 1));

	sw.n.cc.packet_size = 8;
	sw.n.cc.marking_rate = 10;
	EXPECT_FALSE(pib_cc_marks(&sw.port(3), 256, 64, 1))
		<< "the threshold's bit is Packet_Size's as well";
	EXPECT_EQ(pib_cc_marks(&sw.port(3), 256, 4096, 22), 22u);
	sw.n.cc.control_map = 0x14;
	EXPECT_EQ(pib_cc_marks(&sw.port(3), 256, 64, 22), 0u);
	EXPECT_EQ(pib_cc_marks(&sw.port(3), 256, 4096, 22), 2u);
}

TEST_F(Cc, SwitchLogTellsOnce)
{
	pib_hdrs h{};

	h.slid = 5;
	h.dlid = 6;
	h.sl = 3;
	for (int i = 0; i < 20; i++)
		pib_cc_marked(&sw.port(9), &h, now);
	Mad r = get(sw, kLog);
	const uint8_t *d = r.data() + 32;
	EXPECT_EQ(d[0], 1);
	EXPECT_EQ(pib_get16(d + 2), 20);
	EXPECT_EQ(d[8 + 30], 1 << 1) << "port 9 in the map";
	EXPECT_EQ(pib_get16(d + 40), 5);
	EXPECT_EQ(pib_get16(d + 42), 6);
	EXPECT_EQ(d[44], 3 << 4);
	r = get(sw, kLog);
	EXPECT_EQ(pib_get16(r.data() + 32 + 2), 0);
}

TEST_F(Cc, IndexRisesToTheLimitAndFalls)
{
	pib_cc_flow f{};

	slow_down(10, 4, 6, 1, 9);
	EXPECT_FALSE(pib_cc_becn(&ca.port(1), &f, 2, now)) << "another SL";
	EXPECT_EQ(f.index, 0);
	EXPECT_FALSE(pib_cc_becn(&ca.port(1), &f, 3, now));
	EXPECT_EQ(f.index, 4);
	EXPECT_TRUE(pib_cc_becn(&ca.port(1), &f, 3, now)) << "past the trigger threshold";
	EXPECT_EQ(f.index, 8);
	EXPECT_FALSE(pib_cc_becn(&ca.port(1), &f, 3, now));
	EXPECT_EQ(f.index, 9);
	pib_cc_sent(&ca.port(1), &f, 3, 1000, 8000, now + 3 * 10 * 1024);
	EXPECT_EQ(f.index, 6) << "three steps of its timer";
	pib_cc_sent(&ca.port(1), &f, 3, 1000, 8000, now + kSecond);
	EXPECT_EQ(f.index, 1) << "CCTI_Min";
}

TEST_F(Cc, OneIndexForTheServiceLevel)
{
	std::vector<uint8_t> d(192);

	slow_down(10, 4, 6, 0, 9);
	EXPECT_EQ(pib_cc_sl_flow(&ca.port(1), 3), nullptr);
	std::copy_n(get(ca, kCa).attribute(), d.size(), d.begin());
	d[1] = 1; // Port_Control
	EXPECT_EQ(ask(ca, PIB_METHOD_SET, kCa, 0, d).status(), 0);
	pib_cc_flow *f = pib_cc_sl_flow(&ca.port(1), 3);
	ASSERT_NE(f, nullptr);
	EXPECT_NE(f, pib_cc_sl_flow(&ca.port(1), 4));
	EXPECT_EQ(ca.port(1).cc_slow, 0);
	pib_cc_becn(&ca.port(1), f, 3, now);
	EXPECT_EQ(ca.port(1).cc_slow, 1 << 3) << "whoever sends at it must look";
	pib_cc_sent(&ca.port(1), f, 3, 1000, 8000, now + kSecond);
	EXPECT_EQ(f->index, 0);
	EXPECT_EQ(ca.port(1).cc_slow, 0);
}

TEST_F(Cc, WaitsAsTheTableSays)
{
	pib_cc_flow f{};

	slow_down(0, 5, 0, 0, 100);
	pib_cc_sent(&ca.port(1), &f, 3, 1000, 8000, now);
	EXPECT_EQ(f.next, 0u) << "entry 0 is 0";
	pib_cc_becn(&ca.port(1), &f, 3, now);
	pib_cc_sent(&ca.port(1), &f, 3, 1000, 8000, now);
	EXPECT_EQ(f.next, now + 5 * 1000) << "a packet takes 1 us";
	ca.port(1).cc_ca->table[5] = 0x8000 | 40;
	pib_cc_sent(&ca.port(1), &f, 3, 1000, 8000, now);
	EXPECT_EQ(f.next, now + 5 * 1000 + 10 * 1000) << "40 / 2^2";
}

TEST_F(Cc, CaLogNamesTheFlow)
{
	slow_down(0, 5, 1, 0, 100);
	pib_cc_triggered(&ca.port(1), 3, 0x123456, 0x654321, 77, now);
	Mad r = get(ca, kLog);
	const uint8_t *d = r.data() + 32;
	EXPECT_EQ(d[0], 2);
	EXPECT_EQ(pib_get16(d + 2), 1);
	EXPECT_EQ(pib_get16(d + 4), 1 << 3);
	EXPECT_EQ(pib_get32(d + 12), 0x12345630u);
	EXPECT_EQ(pib_get32(d + 16), 0x65432100u);
	EXPECT_EQ(pib_get16(d + 22), 77);
}

} // namespace
