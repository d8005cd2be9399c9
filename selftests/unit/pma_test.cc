// SPDX-License-Identifier: GPL-2.0
// Performance management: where each counter lies, saturation, clearing, port selection.
#include <gtest/gtest.h>
#include "fabric.h"

using namespace fabric;

namespace {

using Attr = std::array<uint8_t, 192>;

class Pma : public ::testing::Test {
protected:
	Mad ask(Node &n, int port, const Mad &in)
	{
		Mad out;

		result = pib_gsa_process(&n.port(port), in.data(), out.data(), now);
		return out;
	}
	Mad perf(Node &n, int at, uint8_t method, uint16_t attr, uint8_t select,
		 uint16_t counters = 0, uint32_t counters2 = 0)
	{
		Mad m = make_mad(PIB_CLASS_PERF, method, attr);

		m.attribute()[1] = select;
		pib_put16(m.attribute() + 2, counters);
		if (attr == PIB_PERF_COUNTERS)
			m.attribute()[18] = counters2;
		else
			pib_put32(m.attribute() + 4, counters2);
		return ask(n, at, m);
	}
	Mad counters(Node &n, int at, uint8_t select)
	{
		return perf(n, at, PIB_METHOD_GET, PIB_PERF_COUNTERS, select);
	}

	uint64_t now = kSecond;
	pib_mad_result result = PIB_MAD_NONE;
	Node ca{PIB_NODE_CA, 2, 0x100};
	Node sw{PIB_NODE_SWITCH, 4, 0x200};
};

TEST_F(Pma, ClassPortInfo)
{
	Mad r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_CLASS_PORT_INFO, 0);

	EXPECT_EQ(result, PIB_MAD_REPLY);
	EXPECT_EQ(r.method(), PIB_METHOD_GET_RESP);
	EXPECT_EQ(r.attribute()[0], 1);
	EXPECT_EQ(r.attribute()[1], 1);
	EXPECT_EQ(pib_get16(r.attribute() + 2), 0x9300);
	EXPECT_EQ(pib_get32(r.attribute() + 4) >> 5, 2u);
}

TEST_F(Pma, CountersEachInItsPlace)
{
	ca.counts[1] = {
		.xmit_bytes = 4000,
		.rcv_bytes = 8003,
		.xmit_pkts = 3,
		.rcv_pkts = 4,
		.ucast_xmit = 1,
		.ucast_rcv = 2,
		.mcast_xmit = 5,
		.mcast_rcv = 6,
		.symbol_err = 11,
		.link_recovery = 12,
		.link_downed = 13,
		.rcv_err = 14,
		.rcv_remphys_err = 15,
		.rcv_switch_relay_err = 16,
		.xmit_discard = 17,
		.xmit_constraint_err = 18,
		.rcv_constraint_err = 19,
		.local_integrity_err = 5,
		.buffer_overrun = 6,
		.vl15_dropped = 20,
		.xmit_wait = 21,
		.qp1_dropped = 22,
		.discard_inactive = 1,
		.discard_mtu = 2,
		.discard_life = 3,
		.discard_hoq = 4,
		.rcv_physical = 31,
		.rcv_overrun = 32,
		.relay_dlid = 33,
		.relay_vl = 34,
		.relay_loop = 35,
		.xmit_flow_pkts = 100000,
		.rcv_flow_pkts = 70000,
		.rcv_fecn = 0,
		.rcv_becn = 0,
		.sl_rcv_fecn = {},
		.sl_rcv_becn = {},
		.sl_xmit_bytes = {},
		.sl_rcv_bytes = {},
		.vl_xmit_pkts = {},
		.vl_xmit_bytes = {},
		.vl_xmit_wait = {},
	};
	Mad r = counters(ca, 1, 1);
	const uint8_t *d = r.attribute();

	EXPECT_EQ(r.status(), 0);
	EXPECT_EQ(d[1], 1);
	EXPECT_EQ(pib_get16(d + 4), 11);
	EXPECT_EQ(d[6], 12);
	EXPECT_EQ(d[7], 13);
	EXPECT_EQ(pib_get16(d + 8), 14);
	EXPECT_EQ(pib_get16(d + 10), 15);
	EXPECT_EQ(pib_get16(d + 12), 16);
	EXPECT_EQ(pib_get16(d + 14), 17);
	EXPECT_EQ(d[16], 18);
	EXPECT_EQ(d[17], 19);
	EXPECT_EQ(d[19], 0x56);
	EXPECT_EQ(pib_get16(d + 20), 22);
	EXPECT_EQ(pib_get16(d + 22), 20);
	EXPECT_EQ(pib_get32(d + 24), 1000u) << "words of 4 bytes";
	EXPECT_EQ(pib_get32(d + 28), 2000u);
	EXPECT_EQ(pib_get32(d + 32), 3u);
	EXPECT_EQ(pib_get32(d + 36), 4u);
	EXPECT_EQ(pib_get32(d + 40), 21u);

	r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_COUNTERS_EXT, 1);
	d = r.attribute();
	const uint64_t expected[] = {1000, 2000, 3,  4,	 1,  2,	 5, 6, 11, 12, 13,
				     14,   15,	 16, 17, 18, 19, 5, 6, 20, 21, 22};
	for (size_t i = 0; i < std::size(expected); i++)
		EXPECT_EQ(pib_get64(d + 8 + 8 * i), expected[i]) << i;

	r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_RCV_ERR_DETAILS, 1);
	const unsigned details[] = {31, 0, 32, 33, 34, 35};
	for (size_t i = 0; i < std::size(details); i++)
		EXPECT_EQ(pib_get16(r.attribute() + 4 + 2 * i), details[i]) << i;
	r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_XMIT_DISCARD_DETAILS, 1);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(pib_get16(r.attribute() + 4 + 2 * i), i + 1) << i;
	r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_FLOW_CTL, 1);
	EXPECT_EQ(pib_get32(r.attribute() + 4), 100000U);
	EXPECT_EQ(pib_get32(r.attribute() + 8), 70000U);
}

TEST_F(Pma, ByVlAndSl)
{
	struct {
		uint16_t attr;
		int bits;
		bool data;
		uint64_t (pib_counts::*first)[16];
	} const rows[] = {
		{PIB_PERF_VL_OP_PACKETS, 16, false, &pib_counts::vl_xmit_pkts},
		{PIB_PERF_VL_OP_DATA, 32, true, &pib_counts::vl_xmit_bytes},
		{PIB_PERF_VL_XMIT_WAIT, 16, false, &pib_counts::vl_xmit_wait},
		{PIB_PERF_SL_RCV_FECN, 32, false, &pib_counts::sl_rcv_fecn},
		{PIB_PERF_SL_RCV_BECN, 32, false, &pib_counts::sl_rcv_becn},
		{PIB_PERF_XMIT_DATA_SL, 32, true, &pib_counts::sl_xmit_bytes},
		{PIB_PERF_RCV_DATA_SL, 32, true, &pib_counts::sl_rcv_bytes},
	};
	const auto value = [](const Mad &r, int bits, int i) {
		const uint8_t *d = r.attribute() + 4 + i * bits / 8;
		return bits == 16 ? pib_get16(d) : pib_get32(d);
	};

	for (const auto &row : rows) {
		for (int i = 0; i < 16; i++)
			(ca.counts[1].*row.first)[i] = 400 + 4 * i;
		Mad r = perf(ca, 1, PIB_METHOD_GET, row.attr, 1);
		for (int i = 0; i < 16; i++)
			EXPECT_EQ(value(r, row.bits, i), row.data ? 100u + i : 400u + 4 * i)
				<< row.attr;
		r = perf(ca, 1, PIB_METHOD_SET, row.attr, 1, 1 << 5);
		EXPECT_EQ(value(r, row.bits, 5), 0u) << row.attr << ": selected";
		EXPECT_NE(value(r, row.bits, 6), 0u) << row.attr << ": not selected";
	}
	ca.counts[1].rcv_fecn = 7;
	ca.counts[1].rcv_becn = 8;
	Mad r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_RCV_CON_CTRL, 1);
	EXPECT_EQ(pib_get32(r.attribute() + 4), 7u);
	EXPECT_EQ(pib_get32(r.attribute() + 8), 8u);
}

TEST_F(Pma, SaturationAndWrap)
{
	for (size_t i = 0; i < PIB_COUNTS; i++)
		reinterpret_cast<uint64_t *>(&ca.counts[1])[i] = UINT64_MAX - 3;
	Mad r = counters(ca, 1, 1);
	const uint8_t *d = r.attribute();

	EXPECT_EQ(pib_get16(d + 4), 0xFFFF);
	EXPECT_EQ(d[6], 0xFF);
	EXPECT_EQ(d[19], 0xFF) << "4 bits each";
	EXPECT_EQ(pib_get32(d + 24), 0xFFFFFFFFu);
	EXPECT_EQ(d[18], 0);
	r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_COUNTERS_EXT, 1);
	EXPECT_EQ(pib_get64(r.attribute() + 24), UINT64_MAX - 3);
}

TEST_F(Pma, SetClearsWhatIsSelected)
{
	ca.counts[1].symbol_err = 9;
	ca.counts[1].xmit_pkts = 70000;
	ca.counts[1].xmit_wait = 5;
	Mad r = perf(ca, 1, PIB_METHOD_SET, PIB_PERF_COUNTERS, 1, 1 << 0, 0x01);

	EXPECT_EQ(r.method(), PIB_METHOD_GET_RESP);
	EXPECT_EQ(pib_get16(r.attribute() + 4), 0);
	EXPECT_EQ(pib_get32(r.attribute() + 32), 70000u) << "not selected";
	EXPECT_EQ(pib_get32(r.attribute() + 40), 0u);
	ca.counts[1].symbol_err += 2;
	EXPECT_EQ(pib_get16(counters(ca, 1, 1).attribute() + 4), 2);

	r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_COUNTERS_EXT, 1);
	EXPECT_EQ(pib_get64(r.attribute() + 72), 11u) << "another attribute, another base";
	r = perf(ca, 1, PIB_METHOD_SET, PIB_PERF_COUNTERS_EXT, 1, 1 << 2, 1 << 0);
	EXPECT_EQ(pib_get64(r.attribute() + 72), 0u);
	EXPECT_EQ(pib_get64(r.attribute() + 24), 0u);
	EXPECT_EQ(pib_get64(r.attribute() + 168), 5u);
}

TEST_F(Pma, SetWritesTheValueGiven)
{
	Mad m = make_mad(PIB_CLASS_PERF, PIB_METHOD_SET, PIB_PERF_COUNTERS);

	ca.counts[1].rcv_bytes = 123456;
	m.attribute()[1] = 1;
	pib_put16(m.attribute() + 2, 1 << 13);
	pib_put32(m.attribute() + 28, 77);
	EXPECT_EQ(pib_get32(ask(ca, 1, m).attribute() + 28), 77u);
	ca.counts[1].rcv_bytes += 40;
	EXPECT_EQ(pib_get32(counters(ca, 1, 1).attribute() + 28), 87u);
}

TEST_F(Pma, PortSelection)
{
	for (int i = 0; i <= 4; i++)
		sw.counts[i].rcv_pkts = 10 + i;
	for (int i = 0; i <= 4; i++)
		EXPECT_EQ(pib_get32(counters(sw, 0, i).attribute() + 36), 10u + i);
	EXPECT_EQ(counters(sw, 0, 5).status(), PIB_STATUS_INVALID);
	EXPECT_EQ(counters(ca, 1, 0).status(), PIB_STATUS_INVALID) << "HCAs have no port 0";
	EXPECT_EQ(counters(ca, 1, 2).status(), 0);
	EXPECT_EQ(counters(ca, 1, 3).status(), PIB_STATUS_INVALID);
}

TEST_F(Pma, AllPorts)
{
	for (int i = 0; i <= 4; i++)
		sw.counts[i].rcv_pkts = 10 + i;
	Mad r = counters(sw, 0, 0xFF);
	EXPECT_EQ(r.attribute()[1], 0xFF);
	EXPECT_EQ(pib_get32(r.attribute() + 36), 11u + 12 + 13 + 14);
	r = perf(sw, 0, PIB_METHOD_SET, PIB_PERF_COUNTERS, 0xFF, 0xFFFF);
	EXPECT_EQ(pib_get32(r.attribute() + 36), 0u);
	for (int i = 1; i <= 4; i++)
		EXPECT_EQ(pib_get32(counters(sw, 0, i).attribute() + 36), 0u);
}

TEST_F(Pma, AllPortsSaturatesTheSum)
{
	for (int i = 1; i <= 4; i++)
		sw.counts[i].symbol_err = 0x8000;
	EXPECT_EQ(pib_get16(counters(sw, 0, 0xFF).attribute() + 4), 0xFFFF);
}

TEST_F(Pma, OptionalAttributesAreValidAndZero)
{
	for (uint16_t attr : {0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1F, 0x30, 0x31, 0x32, 0x33,
			      0x34, 0x35, 0x36, 0x37}) {
		Mad r = perf(sw, 0, PIB_METHOD_GET, attr, 2, 0xFFFF);
		EXPECT_EQ(r.status(), 0) << attr;
		EXPECT_EQ(r.attribute()[1], 2);
		for (int i = 4; i < 192; i++)
			EXPECT_EQ(r.attribute()[i], 0);
		EXPECT_EQ(perf(sw, 0, PIB_METHOD_SET, attr, 9).status(), PIB_STATUS_INVALID);
	}
}

TEST_F(Pma, Samples)
{
	Mad m = make_mad(PIB_CLASS_PERF, PIB_METHOD_SET, PIB_PERF_SAMPLES_CONTROL);
	uint8_t *d = m.attribute();

	d[1] = 1;
	pib_put32(d + 28, 1000); // SampleStart: 1 ms
	pib_put32(d + 32, 2000); // SampleInterval: 2 ms
	pib_put16(d + 36, 0xBEEF);
	pib_put16(d + 38, 3); // PortXmitPkts
	pib_put16(d + 40, 2); // PortRcvData
	ca.counts[1].xmit_pkts = 100;
	EXPECT_EQ(ask(ca, 1, m).attribute()[11], 1) << "waiting";
	now += 1500000;
	Mad result = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_SAMPLES_RESULT, 0);
	EXPECT_EQ(result.attribute()[3], 2) << "running";
	now += 2000000;
	ca.counts[1].xmit_pkts = 142;
	ca.counts[1].rcv_bytes = 400;
	result = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_SAMPLES_RESULT, 0);
	EXPECT_EQ(pib_get16(result.attribute()), 0xBEEF);
	EXPECT_EQ(result.attribute()[3], 0) << "done";
	EXPECT_EQ(pib_get32(result.attribute() + 4), 42u);
	EXPECT_EQ(pib_get32(result.attribute() + 8), 100u);
	ca.counts[1].xmit_pkts = 999;
	result = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_SAMPLES_RESULT, 0);
	EXPECT_EQ(pib_get32(result.attribute() + 4), 42u) << "stays";
	EXPECT_EQ(perf(ca, 1, PIB_METHOD_GET, PIB_PERF_SAMPLES_CONTROL, 0xFF).status(),
		  PIB_STATUS_INVALID);
}

// OptionMask has a bit for each optional counter, SamplesOnlyOptionMask for what is only sampled.
TEST_F(Pma, SamplesControlNamesTheOptionalCounters)
{
	Mad m = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_SAMPLES_CONTROL, 1);
	uint64_t mask = pib_get64(m.attribute() + 12);
	uint64_t want = 0;

	// PortRcvErrorDetails, PortXmitDiscardDetails, PortFlowCtlCounters, packets, data and
	// waiting by VL, FECNs and BECNs (all, by SL), data by SL
	for (int bit :
	     {6, 8, 9, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 23, 49, 50, 51, 52, 55, 56})
		want |= 1ULL << bit;
	EXPECT_EQ(mask, want) << std::hex << mask << " " << want;
	EXPECT_EQ(pib_get64(m.attribute() + 20), 0u) << "VendorMask";
	EXPECT_EQ(pib_get64(m.attribute() + 72), 0u) << "SamplesOnlyOptionMask";
}

TEST_F(Pma, ASampleThatRunsIsNotDisturbed)
{
	Mad m = make_mad(PIB_CLASS_PERF, PIB_METHOD_SET, PIB_PERF_SAMPLES_CONTROL);
	uint8_t *d = m.attribute();

	d[1] = 1;
	pib_put32(d + 32, 2000);
	pib_put16(d + 36, 1);
	pib_put16(d + 38, 4); // PortRcvPkts
	ask(ca, 1, m);
	now += 1000000;
	pib_put16(d + 36, 2);
	Mad r = ask(ca, 1, m);
	EXPECT_EQ(pib_get16(r.attribute() + 36), 1) << "the one that runs";
	EXPECT_EQ(r.attribute()[11], 2);
	now += 1500000;
	ca.counts[1].rcv_pkts = 0x100000001;
	r = perf(ca, 1, PIB_METHOD_GET, PIB_PERF_SAMPLES_RESULT_EXT, 0);
	EXPECT_EQ(pib_get16(r.attribute()), 1);
	EXPECT_EQ(r.attribute()[3], 0);
	EXPECT_EQ(r.attribute()[4], 0x80) << "counters of 64 bits";
	EXPECT_EQ(pib_get64(r.attribute() + 8), 0x100000001u);
	EXPECT_EQ(pib_get16(ask(ca, 1, m).attribute() + 36), 2) << "free again";
}

TEST_F(Pma, SamplesOfEachCounterAtASwitchPort)
{
	Mad m = make_mad(PIB_CLASS_PERF, PIB_METHOD_SET, PIB_PERF_SAMPLES_CONTROL);

	m.attribute()[1] = 3;
	for (int i = 0; i < 6; i++)
		pib_put16(m.attribute() + 38 + 2 * i, i);
	pib_put32(m.attribute() + 32, 10);
	EXPECT_EQ(ask(sw, 0, m).attribute()[11], 2) << "running at once";
	sw.counts[3] = {.xmit_bytes = 40,
			.rcv_bytes = 80,
			.xmit_pkts = 3,
			.rcv_pkts = 4,
			.ucast_xmit = 0,
			.ucast_rcv = 0,
			.mcast_xmit = 0,
			.mcast_rcv = 0,
			.symbol_err = 0,
			.link_recovery = 0,
			.link_downed = 0,
			.rcv_err = 0,
			.rcv_remphys_err = 0,
			.rcv_switch_relay_err = 0,
			.xmit_discard = 0,
			.xmit_constraint_err = 0,
			.rcv_constraint_err = 0,
			.local_integrity_err = 0,
			.buffer_overrun = 0,
			.vl15_dropped = 0,
			.xmit_wait = 5,
			.qp1_dropped = 0,
			.discard_inactive = 0,
			.discard_mtu = 0,
			.discard_life = 0,
			.discard_hoq = 0,
			.rcv_physical = 0,
			.rcv_overrun = 0,
			.relay_dlid = 0,
			.relay_vl = 0,
			.relay_loop = 0,
			.xmit_flow_pkts = 0,
			.rcv_flow_pkts = 0,
			.rcv_fecn = 0,
			.rcv_becn = 0,
			.sl_rcv_fecn = {},
			.sl_rcv_becn = {},
			.sl_xmit_bytes = {},
			.sl_rcv_bytes = {},
			.vl_xmit_pkts = {},
			.vl_xmit_bytes = {},
			.vl_xmit_wait = {}};
	now += 10000;
	Mad r = ask(sw, 0, make_mad(PIB_CLASS_PERF, PIB_METHOD_GET, PIB_PERF_SAMPLES_RESULT, 3));
	const uint32_t expected[] = {0, 10, 20, 3, 4, 5};
	for (int i = 0; i < 6; i++)
		EXPECT_EQ(pib_get32(r.attribute() + 4 + 4 * i), expected[i]) << i;
	m = make_mad(PIB_CLASS_PERF, PIB_METHOD_SET, PIB_PERF_SAMPLES_RESULT, 3);
	EXPECT_EQ(ask(sw, 0, m).status(), PIB_STATUS_BAD_ATTR);
}

TEST_F(Pma, Refusals)
{
	EXPECT_EQ(perf(ca, 1, PIB_METHOD_GET, 0x1234, 1).status(), PIB_STATUS_BAD_ATTR);
	EXPECT_EQ(perf(ca, 1, PIB_METHOD_SET, PIB_PERF_CLASS_PORT_INFO, 1).status(),
		  PIB_STATUS_BAD_ATTR);
	Mad m = make_mad(PIB_CLASS_PERF, 0x12, PIB_PERF_COUNTERS);
	EXPECT_EQ(ask(ca, 1, m).status(), PIB_STATUS_BAD_METHOD);
	m = make_mad(PIB_CLASS_PERF, PIB_METHOD_GET, PIB_PERF_COUNTERS);
	m[PIB_MAD_CLASS_VERSION] = 2;
	EXPECT_EQ(ask(sw, 0, m).status(), PIB_STATUS_BAD_VERSION);
}

// QP1 of a switch's port 0, as seen by somebody with the P_Key @pkey and the Q_Key @qkey.
class SwitchGsi : public Pma {
protected:
	SwitchGsi()
	{
		sw.port(0).lid = 0x10;
		sw.port(0).sm_lid = 1;
	}
	bool ask_with(uint16_t pkey, uint32_t qkey = 0x80010000)
	{
		pib_hdrs h{};

		h.slid = 7;
		h.dqpn = 1;
		h.pkey = pkey;
		h.qkey = qkey;
		answered_with = 0;
		return pib_node_gsi_ok(&sw.n, &h, &answered_with, now);
	}
	std::optional<uint16_t> trap()
	{
		pib_port *from = nullptr;
		Mad m;

		if (!pib_trap_next(&sw.n, now, m.data(), &from))
			return std::nullopt;
		EXPECT_EQ(from, &sw.port(0));
		return pib_get16(m.attribute() + 4);
	}

	uint16_t answered_with = 0;
};

TEST_F(SwitchGsi, EnhancedPort0AnswersFromArmedOn)
{
	sw.port(0).state = PIB_PORT_INIT;
	EXPECT_FALSE(ask_with(0xFFFF));
	sw.port(0).state = PIB_PORT_ARMED;
	EXPECT_TRUE(ask_with(0xFFFF));
	EXPECT_EQ(trap(), std::nullopt);
}

TEST_F(SwitchGsi, AnswersALimitedMemberWithItsOwnKey)
{
	EXPECT_TRUE(ask_with(0xFFFF));
	EXPECT_EQ(answered_with, 0xFFFF);
	EXPECT_TRUE(ask_with(0x7FFF));
	EXPECT_EQ(answered_with, 0xFFFF) << "two limited keys would not match";
	sw.port(0).pkey[1] = 0x0123;
	EXPECT_TRUE(ask_with(0x8123));
	EXPECT_EQ(answered_with, 0x0123);
	EXPECT_FALSE(trap());
	EXPECT_EQ(sw.port(0).pkey_viol, 0);
}

TEST_F(SwitchGsi, IsClosedToOtherPartitions)
{
	sw.port(0).pkey[1] = 0x0123;
	for (uint16_t pkey : {0x8001, 0x0000, 0x0123})
		EXPECT_FALSE(ask_with(pkey)) << std::hex << pkey;
	EXPECT_EQ(sw.port(0).pkey_viol, 3);
	EXPECT_EQ(trap(), 257);
}

TEST_F(SwitchGsi, WantsTheQKeyOfQp1)
{
	EXPECT_FALSE(ask_with(0xFFFF, 0x11111111));
	EXPECT_EQ(sw.port(0).qkey_viol, 1);
	EXPECT_EQ(trap(), 258);
}

TEST_F(Pma, OtherClasses)
{
	for (uint8_t cls : {0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0F, 0x32, 0x03}) {
		Mad r = ask(sw, 0, make_mad(cls, PIB_METHOD_GET, 1));
		EXPECT_EQ(result, PIB_MAD_REPLY) << int(cls);
		EXPECT_EQ(r.method(), PIB_METHOD_GET_RESP);
		EXPECT_EQ(r.status(), PIB_STATUS_BAD_ATTR);
		ask(ca, 1, make_mad(cls, PIB_METHOD_GET, 1));
		EXPECT_EQ(result, PIB_MAD_LOCAL);
		ask(sw, 0, make_mad(cls, PIB_METHOD_GET_RESP, 1));
		EXPECT_EQ(result, PIB_MAD_NONE);
		ask(sw, 0, make_mad(cls, PIB_METHOD_SEND, 1));
		EXPECT_EQ(result, PIB_MAD_NONE);
	}
	ask(sw, 0, make_mad(PIB_CLASS_SM_DR, PIB_METHOD_GET, PIB_SM_NODE_INFO));
	EXPECT_EQ(result, PIB_MAD_NONE) << "SMPs belong to QP0";
	ask(ca, 1, make_mad(PIB_CLASS_PERF, PIB_METHOD_GET_RESP, PIB_PERF_COUNTERS));
	EXPECT_EQ(result, PIB_MAD_LOCAL) << "perfquery's own answer";
}

} // namespace
