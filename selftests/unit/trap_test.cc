// SPDX-License-Identifier: GPL-2.0
// Notices: their bytes, when they are sent, repeated, repressed and held back.
#include <gtest/gtest.h>
#include "fabric.h"

using namespace fabric;

namespace {

class Trap : public ::testing::Test {
protected:
	Trap()
	{
		sw.port(0).lid = 0x10;
		sw.port(0).sm_lid = 1;
		for (int i = 1; i <= 2; i++) {
			ca.port(i).lid = 0x20 + i;
			ca.port(i).sm_lid = 1;
			pib_port_link_up(&ca.port(i), 5);
		}
	}
	std::optional<Mad> next(Node &n)
	{
		Mad m;

		if (!pib_trap_next(&n.n, now, m.data(), &from))
			return std::nullopt;
		return m;
	}
	void repress(Node &n, const Mad &trap)
	{
		Mad m = trap, out;

		m[PIB_MAD_METHOD] = PIB_METHOD_TRAP_REPRESS;
		EXPECT_EQ(pib_sma_process(&n.port(1), m.data(), out.data(), now, false),
			  PIB_MAD_NONE);
	}
	static uint16_t number(const Mad &m) { return pib_get16(m.attribute() + 4); }
	static const uint8_t *details(const Mad &m) { return m.attribute() + 10; }
	static uint64_t interval() { return 4096ULL << 18; }

	uint64_t now = kSecond;
	pib_port *from = nullptr;
	Node ca{PIB_NODE_CA, 2, 0x100};
	Node sw{PIB_NODE_SWITCH, 4, 0x200};
};

TEST_F(Trap, LinkIntegrityIsLostToMoreErrorsThanGoodPackets)
{
	pib_port *p = &sw.port(2);

	p->local_phy_err = 3;
	for (int i = 0; i < 100; i++) {
		EXPECT_FALSE(pib_port_integrity(p, true));
		EXPECT_FALSE(pib_port_integrity(p, false));
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			EXPECT_FALSE(pib_port_integrity(p, true));
		EXPECT_TRUE(pib_port_integrity(p, true)) << "beyond LocalPhyErrors";
	}
	pib_trap_threshold(p, 129, now);
	auto m = next(sw);
	ASSERT_TRUE(m);
	EXPECT_EQ(number(*m), 129);
	EXPECT_EQ(pib_get16(details(*m) + 2), 0x10);
	EXPECT_EQ(details(*m)[4], 2);
}

TEST_F(Trap, OverrunsOfManyUpdatePeriodsOnEndAreExcessive)
{
	constexpr uint64_t period = 1 << 18;
	pib_port *p = &sw.port(2);

	p->overrun_err = 3;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++) {
			EXPECT_FALSE(pib_port_overrun_noted(p, now));
			EXPECT_EQ(pib_port_overrun(p, now), i == 2) << i;
			EXPECT_TRUE(pib_port_overrun_noted(p, now));
			EXPECT_FALSE(pib_port_overrun(p, now)) << "counted once in a period";
			now += period;
		}
	}
	for (int i = 0; i < 10; i++, now += 2 * period)
		EXPECT_FALSE(pib_port_overrun(p, now)) << "with pauses";
}

TEST_F(Trap, LinkStateChangeOfASwitch)
{
	pib_port_link_up(&sw.port(3), 5);
	EXPECT_TRUE(sw.n.events & PIB_EV_TRAP);
	auto m = next(sw);
	ASSERT_TRUE(m);
	EXPECT_EQ(from, &sw.port(0));
	EXPECT_EQ((*m)[PIB_MAD_CLASS], PIB_CLASS_SM_LID);
	EXPECT_EQ(m->method(), PIB_METHOD_TRAP);
	EXPECT_EQ(m->attr(), PIB_SM_NOTICE);
	EXPECT_EQ(m->attribute()[0], 0x81) << "generic, urgent";
	EXPECT_EQ(pib_get32(m->attribute()) & 0xFFFFFF, unsigned(PIB_NODE_SWITCH));
	EXPECT_EQ(number(*m), 128);
	EXPECT_EQ(pib_get16(m->attribute() + 6), 0x10) << "issuer";
	EXPECT_EQ(pib_get16(details(*m)), 0x10);
	EXPECT_FALSE(next(sw));
}

TEST_F(Trap, RepeatedUpToTheLimit)
{
	pib_port_link_up(&sw.port(3), 5);
	auto first = next(sw);
	ASSERT_TRUE(first);
	for (int i = 1; i < PIB_TRAP_REPEATS; i++) {
		EXPECT_EQ(pib_node_deadline(&sw.n), now + interval());
		now += interval() - 1;
		EXPECT_FALSE(next(sw));
		now++;
		auto again = next(sw);
		ASSERT_TRUE(again) << i;
		EXPECT_EQ(again->tid(), first->tid());
	}
	EXPECT_EQ(pib_node_deadline(&sw.n), 0u);
	now += 10 * interval();
	EXPECT_FALSE(next(sw));
}

TEST_F(Trap, RepressedByItsTransactionId)
{
	pib_port_link_up(&sw.port(3), 5);
	auto m = next(sw);
	ASSERT_TRUE(m);
	Mad other = *m;
	pib_put64(other.data() + PIB_MAD_TID, m->tid() + 1);
	repress(sw, other);
	EXPECT_NE(pib_node_deadline(&sw.n), 0u);
	repress(sw, *m);
	EXPECT_EQ(pib_node_deadline(&sw.n), 0u);
}

TEST_F(Trap, SameNoticeWaitsForTheIntervalAndTakesANewTid)
{
	pib_port_link_up(&sw.port(3), 5);
	auto m = next(sw);
	repress(sw, *m);
	for (int i = 0; i < 100; i++) { // a flapping cable
		pib_port_link_down(&sw.port(3));
		pib_port_link_up(&sw.port(3), 5);
	}
	EXPECT_FALSE(next(sw));
	repress(sw, *m); // late: for the one before
	EXPECT_EQ(pib_node_deadline(&sw.n), now + interval());
	now += interval();
	auto again = next(sw);
	ASSERT_TRUE(again);
	EXPECT_NE(again->tid(), m->tid());
	EXPECT_FALSE(next(sw));
}

TEST_F(Trap, NoneWithoutAnSm)
{
	sw.port(0).sm_lid = 0;
	pib_port_link_up(&sw.port(3), 5);
	EXPECT_FALSE(next(sw));
	EXPECT_EQ(pib_node_deadline(&sw.n), 0u);
	EXPECT_TRUE(sw.n.port_state_change) << "the sweep sees this";
}

// The SM reads SwitchInfo, then the ports; one changes behind its back, and the bit that says so is cleared by the
// SM, which has seen it for another change.
TEST_F(Trap, ChangeDuringTheFirstSweepIsToldWhenItCanBe)
{
	auto ask = [&](const Mad &m) {
		Mad out;

		EXPECT_EQ(pib_sma_process(&sw.port(0), m.data(), out.data(), now, false),
			  PIB_MAD_REPLY);
		return out.payload();
	};
	auto sweep = [&](bool late) {
		sw.port(0).lid = sw.port(0).sm_lid = 0;
		pib_port_link_down(&sw.port(3));
		pib_port_link_up(&sw.port(3), 5);
		Data info = ask(get(PIB_SM_SWITCH_INFO));
		EXPECT_TRUE(info[11] & 4);
		if (late)
			pib_port_link_up(&sw.port(4), 5);
		Data port = ask(get(PIB_SM_PORT_INFO));
		pib_put16(&port[16], 0x10);
		pib_put16(&port[18], 1);
		ask(set(PIB_SM_PORT_INFO, 0, port));
		EXPECT_FALSE(ask(set(PIB_SM_SWITCH_INFO, 0, info))[11] & 4);
	};

	sweep(false);
	EXPECT_FALSE(next(sw)) << "it has seen all there is";
	sweep(true);
	auto m = next(sw);
	ASSERT_TRUE(m);
	EXPECT_EQ(number(*m), 128);
	EXPECT_EQ(pib_get16(details(*m)), 0x10);
}

TEST_F(Trap, CutOffInTheMeantime)
{
	pib_port_set_caps(&ca.port(1), ca.port(1).cap_mask | PIB_CAPM_SM, now);
	pib_port_link_down(&ca.port(1));
	EXPECT_FALSE(next(ca));
	EXPECT_EQ(pib_node_deadline(&ca.n), 0u);
}

TEST_F(Trap, CapabilityMask)
{
	pib_port_set_caps(&ca.port(2), ca.port(2).cap_mask | PIB_CAPM_SM, now);
	auto m = next(ca);
	ASSERT_TRUE(m);
	EXPECT_EQ(from, &ca.port(2));
	EXPECT_EQ(number(*m), 144);
	EXPECT_EQ(m->attribute()[0], 0x84);
	EXPECT_EQ(pib_get16(details(*m) + 2), 0x22);
	EXPECT_EQ(details(*m)[5], 0);
	EXPECT_EQ(pib_get32(details(*m) + 6), ca.port(2).cap_mask);
	EXPECT_TRUE(ca.port(2).cap_mask & PIB_CAPM_SM);
	pib_port_set_caps(&ca.port(2), ca.port(2).cap_mask | PIB_CAPM_SM, now);
	EXPECT_FALSE(next(ca)) << "no change";
}

TEST_F(Trap, NodeDescription)
{
	pib_node_set_desc(&ca.n, "new", now);
	for (int i = 1; i <= 2; i++) {
		auto m = next(ca);
		ASSERT_TRUE(m);
		EXPECT_EQ(number(*m), 144);
		EXPECT_EQ(from, &ca.port(i));
		EXPECT_EQ(details(*m)[5], 1) << "OtherLocalChanges";
		EXPECT_EQ(pib_get16(details(*m) + 10), 1);
	}
	EXPECT_FALSE(next(ca));
}

TEST_F(Trap, SystemImageGuid)
{
	pib_node_set_sys_guid(&sw.n, 0xABCD, now);
	auto m = next(sw);
	ASSERT_TRUE(m);
	EXPECT_EQ(number(*m), 145);
	EXPECT_EQ(pib_get16(details(*m) + 2), 0x10);
	EXPECT_EQ(pib_get64(details(*m) + 6), 0xABCDu);
}

TEST_F(Trap, Thresholds)
{
	pib_trap_threshold(&sw.port(2), 130, now);
	auto m = next(sw);
	ASSERT_TRUE(m);
	EXPECT_EQ(number(*m), 130);
	EXPECT_EQ(pib_get16(details(*m) + 2), 0x10);
	EXPECT_EQ(details(*m)[4], 2);
}

TEST_F(Trap, BadMKey)
{
	Mad in = with_key(set(PIB_SM_PORT_INFO, 0x12345678, {}), 0xBAD), out;

	in[PIB_MAD_CLASS] = PIB_CLASS_SM_DR;
	in[PIB_MAD_HOP_CNT] = 40;
	for (int i = 0; i < 64; i++)
		in[PIB_MAD_RETURN_PATH + i] = 100 + i;
	pib_put16(in.data() + PIB_MAD_DR_SLID, 0x77);
	sw.port(0).m_key = 1;
	EXPECT_EQ(pib_sma_process(&sw.port(3), in.data(), out.data(), now, false), PIB_MAD_NONE);
	auto m = next(sw);
	ASSERT_TRUE(m);
	const uint8_t *d = details(*m);
	EXPECT_EQ(number(*m), 256);
	EXPECT_EQ(m->attribute()[0], 0x82) << "security";
	EXPECT_EQ(pib_get16(d + 2), 0x10);
	EXPECT_EQ(pib_get16(d + 4), 0x77);
	EXPECT_EQ(d[6], PIB_METHOD_SET);
	EXPECT_EQ(pib_get16(d + 8), PIB_SM_PORT_INFO);
	EXPECT_EQ(pib_get32(d + 10), 0x12345678u);
	EXPECT_EQ(pib_get64(d + 14), 0xBADu);
	EXPECT_EQ(d[23], 0x80 | 0x40 | 30) << "directed, truncated";
	EXPECT_EQ(d[24], 100);
	EXPECT_EQ(d[53], 129);
}

pib_hdrs offender()
{
	pib_hdrs h{};

	h.tp = PIB_TP_UD;
	h.slid = 0x31;
	h.dlid = 0x32;
	h.sl = 5;
	h.pkey = 0x1234;
	h.qkey = 0x80010000;
	h.sqpn = 0x111;
	h.dqpn = 0x222;
	h.flags = PIB_H_GRH;
	h.sgid[15] = 1;
	h.dgid[15] = 2;
	return h;
}

TEST_F(Trap, BadPKeyAndQKey)
{
	pib_hdrs h = offender();

	for (uint16_t num : {257, 258}) {
		pib_trap_bad_key(&ca.port(1), num, 1, &h, now);
		auto m = next(ca);
		ASSERT_TRUE(m);
		const uint8_t *d = details(*m);
		EXPECT_EQ(number(*m), num);
		EXPECT_EQ(pib_get16(d + 2), 0x31);
		EXPECT_EQ(pib_get16(d + 4), 0x32);
		EXPECT_EQ(pib_get32(d + 6), num == 257 ? 0x1234u : 0x80010000u);
		EXPECT_EQ(pib_get32(d + 10), 0x50000111u);
		EXPECT_EQ(pib_get32(d + 14), 0x222u);
		EXPECT_EQ(d[18 + 15], 1);
		EXPECT_EQ(d[34 + 15], 2);
	}
	EXPECT_EQ(ca.port(1).pkey_viol, 1);
	EXPECT_EQ(ca.port(1).qkey_viol, 1);
	ca.port(1).pkey_viol = 0xFFFF;
	pib_trap_bad_key(&ca.port(1), 257, 1, &h, now);
	EXPECT_EQ(ca.port(1).pkey_viol, 0xFFFF);
}

// A notice that waits needs nobody to be woken once more, however often its reason comes.
TEST_F(Trap, OneEventForANoticeThatWaits)
{
	pib_hdrs h = offender();

	pib_trap_bad_key(&ca.port(1), 258, 1, &h, now);
	EXPECT_TRUE(ca.n.events & PIB_EV_TRAP);
	ASSERT_TRUE(next(ca));
	ca.n.events = 0;
	for (int i = 0; i < 1000; i++)
		pib_trap_bad_key(&ca.port(1), 258, 1, &h, ++now);
	EXPECT_FALSE(ca.n.events & PIB_EV_TRAP);
	now = pib_node_deadline(&ca.n);
	EXPECT_TRUE(next(ca));
}

TEST_F(Trap, SwitchPKey)
{
	pib_hdrs h = offender();

	pib_trap_switch_pkey(&sw.port(4), 1, &h, now);
	auto m = next(sw);
	ASSERT_TRUE(m);
	const uint8_t *d = details(*m);
	EXPECT_EQ(number(*m), 259);
	EXPECT_EQ(pib_get16(d), 0x00FF);
	EXPECT_EQ(pib_get16(d + 2), 0x31);
	EXPECT_EQ(pib_get16(d + 6), 0x1234);
	EXPECT_EQ(pib_get32(d + 8), 0x50000111u);
	EXPECT_EQ(pib_get16(d + 48), 0x10);
	EXPECT_EQ(d[50], 4);
}

// As many violations as packets, and one notice.
TEST_F(Trap, SwitchPKeyOfABurst)
{
	pib_hdrs h = offender();

	pib_trap_switch_pkey(&sw.port(4), 5, &h, now);
	EXPECT_EQ(sw.port(0).pkey_viol, 5);
	EXPECT_TRUE(next(sw));
	EXPECT_FALSE(next(sw));
	pib_trap_switch_pkey(&sw.port(4), 0x10000, &h, now);
	EXPECT_EQ(sw.port(0).pkey_viol, 0xFFFF);
}

// Only datagrams say which QP has sent them.
TEST_F(Trap, SwitchPKeyOfAConnection)
{
	for (uint8_t tp : {PIB_TP_RC, PIB_TP_UC, PIB_TP_XRC, PIB_TP_CNP}) {
		pib_hdrs h = offender();

		h.tp = tp;
		h.dqpn = 0x300 + tp;
		pib_trap_switch_pkey(&sw.port(4), 1, &h, now);
		auto m = next(sw);
		ASSERT_TRUE(m);
		const uint8_t *d = details(*m);
		EXPECT_EQ(pib_get16(d), 0x00EF) << "QP1 is not valid";
		EXPECT_EQ(pib_get32(d + 8), 0x50000000u);
		EXPECT_EQ(pib_get32(d + 12), h.dqpn);
	}
}

TEST_F(Trap, MoreThanFitTakeTheOldestOnesPlace)
{
	for (int i = 0; i < PIB_TRAPS + 3; i++)
		pib_trap_threshold(&sw.port(1 + i % 4), i < 4 ? 129 : i < 8 ? 130 : 131, now);
	int sent = 0;
	while (next(sw))
		sent++;
	EXPECT_EQ(sent, PIB_TRAPS);
}

// An attacker who guesses keys makes a few notices, and none that is about something else goes for
// them.
TEST_F(Trap, AsManyKeysAsThereAreMakeAFewNotices)
{
	pib_hdrs h = offender();

	pib_trap_threshold(&sw.port(1), 129, now);
	pib_trap_threshold(&sw.port(2), 129, now);
	for (int round = 0; round < 3; round++) {
		int others = 0, keys = 0;

		for (int i = 0; i < 1000; i++) {
			h.qkey++;
			pib_trap_bad_key(&sw.port(0), 258, 1, &h, now);
		}
		while (auto m = next(sw)) {
			if (number(*m) != 258)
				others++;
			else if (pib_get32(details(*m) + 6) > h.qkey - 1000)
				keys++;
		}
		EXPECT_EQ(others, 2) << round;
		EXPECT_EQ(keys, PIB_TRAPS_SECURITY) << round;
		now += interval();
	}
	EXPECT_EQ(sw.port(0).qkey_viol, 3000);
}

TEST_F(Trap, NoticeCanBeRead)
{
	Mad in = get(PIB_SM_NOTICE), out;

	pib_sma_process(&sw.port(1), in.data(), out.data(), now, false);
	EXPECT_EQ(out.payload(), Data{});
	pib_port_link_up(&sw.port(3), 5);
	pib_sma_process(&sw.port(1), in.data(), out.data(), now, false);
	EXPECT_EQ(number(out), 128);
}

// 13.4.9: who has read the oldest takes it out of the queue by Set.
TEST_F(Trap, NoticeCanBeTakenOut)
{
	Mad in = get(PIB_SM_NOTICE), take = set(PIB_SM_NOTICE, 0, {}), out;

	pib_port_link_up(&sw.port(3), 5);
	pib_sma_process(&sw.port(1), take.data(), out.data(), now, false);
	pib_sma_process(&sw.port(1), in.data(), out.data(), now, false);
	EXPECT_EQ(out.payload(), Data{});
	EXPECT_FALSE(next(sw));
	EXPECT_TRUE(sw.port(1).cap_mask & PIB_CAPM_NOTICE);
	EXPECT_FALSE(sw.port(1).cap_mask & PIB_CAPM_AUTO_MIGRATION);
	EXPECT_TRUE(ca.port(1).cap_mask & PIB_CAPM_AUTO_MIGRATION);
}

} // namespace
