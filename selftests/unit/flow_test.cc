// SPDX-License-Identifier: GPL-2.0
// Flows: one for what keeps an order, spread for what does not.
#include <gtest/gtest.h>
#include <map>
#include <set>

extern "C" {
#include "../../kernel/proto/flow.h"
}

namespace {

pib_hdrs connected(uint32_t dqpn)
{
	pib_hdrs h{};

	h.tp = PIB_TP_RC;
	h.slid = 1;
	h.dlid = 2;
	h.dqpn = dqpn;
	return h;
}

// As the module chooses one of its ports.
unsigned port_of(const pib_hdrs &h)
{
	return static_cast<unsigned>(uint64_t{pib_flow_hash(&h)} * PIB_FLOW_PORTS >> 32);
}

TEST(Flow, EverythingToAQpIsOneFlow)
{
	const pib_hdrs first = connected(0x123456);
	pib_hdrs other = first;

	other.op = 1;
	other.psn = 77;
	other.flags = PIB_H_ACKREQ | PIB_H_FECN;
	other.sl = 3;
	other.vl = 1;
	other.pkey = 0xFFFF;
	other.sqpn = 0x99; // which a switch on the way does not know
	EXPECT_EQ(pib_flow_hash(&first), pib_flow_hash(&other));
}

// QPs that are made one after the other have neighbouring numbers, and some programs use each second or fourth only.
TEST(Flow, NeighboursAreSpread)
{
	for (const uint32_t step : {1u, 2u, 3u, 4u, 8u, 64u, 256u}) {
		std::map<unsigned, unsigned> qps;

		for (uint32_t qpn = 16; qpn < 16 + 256 * step; qpn += step)
			qps[port_of(connected(qpn))]++;
		EXPECT_EQ(qps.size(), size_t{PIB_FLOW_PORTS}) << step;
		for (const auto &[port, n] : qps)
			EXPECT_LE(n, 2 * 256 / PIB_FLOW_PORTS) << step;
	}
}

TEST(Flow, LabelsAreSpreadMoreThanPorts)
{
	constexpr uint64_t kSecret[2] = {1, 2}, kOther[2] = {1, 3};
	std::set<uint32_t> seen;
	unsigned other = 0;

	for (uint32_t qpn = 16; qpn < 16 + 256; qpn++) {
		const pib_hdrs h = connected(qpn);
		const uint32_t label = pib_flow_label(kSecret, pib_flow_hash(&h));
		other += label == pib_flow_label(kOther, pib_flow_hash(&h));
		EXPECT_GT(label, 0u);
		EXPECT_LT(label, 1u << PIB_FLOW_LABEL_BITS);
		seen.insert(label);
	}
	EXPECT_GE(seen.size(), 250u);
	EXPECT_LE(other, 2u) << "they depend on the secret";
}

TEST(Flow, PeersAreSpread)
{
	std::set<unsigned> seen;

	for (uint16_t lid = 1; lid <= 256; lid++) {
		pib_hdrs h = connected(1);
		h.slid = lid;
		seen.insert(port_of(h));
	}
	EXPECT_EQ(seen.size(), size_t{PIB_FLOW_PORTS});
}

TEST(Flow, BothLidsTheQpAndTheSenderOfADatagramCount)
{
	pib_hdrs h = connected(17);
	std::set<uint32_t> seen = {pib_flow_hash(&h)};

	h.dqpn++;
	seen.insert(pib_flow_hash(&h));
	h.slid = 7;
	seen.insert(pib_flow_hash(&h));
	h.dlid = 8;
	seen.insert(pib_flow_hash(&h));
	h.tp = PIB_TP_UD;
	h.sqpn = 1;
	seen.insert(pib_flow_hash(&h));
	h.sqpn = 2;
	seen.insert(pib_flow_hash(&h));
	EXPECT_EQ(seen.size(), 6u);
}

} // namespace
