// SPDX-License-Identifier: GPL-2.0
#include "watch/rates.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <algorithm>

#include "model/words/parse.h"
#include "watch/fake_looks.h"

namespace pib::ctl {
namespace {

PortFlow flow_of(const Rates &rates, const End &end)
{
	const auto found = std::ranges::find(rates.ports, end, &PortRates::end);
	EXPECT_NE(found, rates.ports.end()) << format_end(end);
	return found == rates.ports.end() ? PortFlow{} : found->flow;
}

CableRates cable_of(const Rates &rates, const End &a)
{
	const auto found = std::ranges::find(rates.cables, a, &CableRates::a);
	EXPECT_NE(found, rates.cables.end()) << format_end(a);
	return found == rates.cables.end() ? CableRates{} : *found;
}

TEST(Rates, ACounterThatWasClearedStartsFromNothing)
{
	EXPECT_EQ(counted(5, 12), 7U);
	EXPECT_EQ(counted(12, 5), 5U);
}

TEST(Rates, ANumberOfFewBitsBeginsAgain)
{
	EXPECT_EQ(moved(0xFFFFFE, 3, 24), 5U);
	EXPECT_EQ(moved(3, 3, 24), 0U);
	EXPECT_EQ(moved(0xFFFFFFFF, 0, 32), 1U);
}

TEST(Rates, OfPortsAreBySecond)
{
	fake::Fabric fabric;
	const End end{"sw0", 1};
	fabric.count(end, "port_xmit_bytes", 1000);
	fabric.count(end, "port_xmit_discards", 1);
	const Look before = fabric.look(0);
	fabric.count(end, "port_xmit_bytes", 2000);
	fabric.count(end, "port_rcv_bytes", 500);
	fabric.count(end, "port_xmit_packets", 20);
	fabric.count(end, "port_rcv_packets", 10);
	fabric.count(end, "port_xmit_wait", 6);
	fabric.count(end, "port_xmit_discards", 2);
	fabric.count(end, "VL15_dropped", 1);
	fabric.count(end, "port_rcv_errors", 4);
	const Rates rates = compare(before, fabric.look(2000));
	EXPECT_EQ(rates.seconds, 2);
	EXPECT_EQ(rates.ports.size(), 12U);
	const PortFlow flow = flow_of(rates, end);
	EXPECT_EQ(flow.xmit_bytes, 500);
	EXPECT_EQ(flow.rcv_bytes, 250);
	EXPECT_EQ(flow.xmit_packets, 10);
	EXPECT_EQ(flow.rcv_packets, 5);
	EXPECT_EQ(flow.waits, 3);
	EXPECT_EQ(flow.discards, 1);
	EXPECT_EQ(flow.errors, 2);
	EXPECT_EQ(flow_of(rates, {"pib0", 1}).xmit_bytes, 0);
}

TEST(Rates, NothingHasMovedInNoTime)
{
	fake::Fabric fabric;
	fabric.count({"sw0", 1}, "port_xmit_bytes", 1000);
	const Rates rates = compare(fabric.look(7), fabric.look(7));
	EXPECT_EQ(flow_of(rates, {"sw0", 1}).xmit_bytes, 0);
	EXPECT_EQ(cable_of(rates, {"pib0", 1}).bytes_in, 0);
	EXPECT_EQ(cable_of(rates, {"pib0", 1}).lost, 0);
}

TEST(Rates, OfCablesAreWhatBothEndsSend)
{
	fake::Fabric fabric;
	const Look before = fabric.look(0);
	fabric.count({"sw0", 3}, "port_xmit_bytes", 700);
	fabric.count({"sw0", 3}, "port_rcv_bytes", 1);
	fabric.count({"sw1", 3}, "port_xmit_bytes", 300);
	fabric.count({"sw1", 3}, "port_xmit_packets", 3);
	fabric.count({"sw1", 3}, "port_xmit_wait", 9);
	fabric.port({"sw1", 3}).state = 2;
	const CableRates cable = cable_of(compare(before, fabric.look(1000)), {"sw0", 3});
	EXPECT_EQ(cable.bytes_out, 700);
	EXPECT_EQ(cable.bytes_in, 300);
	EXPECT_EQ(cable.packets_in, 3);
	EXPECT_EQ(cable.waits, 9);
	EXPECT_EQ(cable.state, "INIT");
	EXPECT_EQ(cable.far, "sw1/3");
	EXPECT_TRUE(cable.plugged);
	EXPECT_FALSE(cable.faulty);
}

TEST(Rates, OfCablesOverUdpAreThoseOfTheOneEnd)
{
	fake::Fabric fabric;
	const Look before = fabric.look(0);
	fabric.count({"sw1", 4}, "port_xmit_bytes", 10);
	fabric.count({"sw1", 4}, "port_rcv_bytes", 20);
	const CableRates cable = cable_of(compare(before, fabric.look(1000)), {"sw1", 4});
	EXPECT_FALSE(cable.b);
	EXPECT_EQ(cable.far.substr(0, 9), "192.0.2.7");
	EXPECT_EQ(cable.bytes_out, 10);
	EXPECT_EQ(cable.bytes_in, 20);
}

TEST(Rates, WhatABadCableLoses)
{
	fake::Fabric fabric;
	Link &link = fabric.link({"sw0", 3});
	link.faults = Faults{};
	link.faults->loss = 1;
	link.faults->counts = {{{"sw0", 3}, 100, 4, 1, 0, 0}, {{"sw1", 3}, 100, 0, 0, 50, 50}};
	const Look before = fabric.look(0);
	link.faults->counts[0].lost = 10;
	link.faults->counts[1].damaged = 2;
	const CableRates cable = cable_of(compare(before, fabric.look(2000)), {"sw0", 3});
	EXPECT_TRUE(cable.faulty);
	EXPECT_EQ(cable.lost, 4);
}

TEST(Rates, ACableThatIsOnlySlowIsNotBad)
{
	fake::Fabric fabric;
	fabric.link({"sw0", 3}).faults = Faults{};
	fabric.link({"sw0", 3}).faults->latency = 1000;
	EXPECT_FALSE(cable_of(compare(fabric.look(0), fabric.look(1)), {"sw0", 3}).faulty);
}

QueuePairRates queue_pair(std::initializer_list<VerbsObject::Fact> before,
			  std::initializer_list<VerbsObject::Fact> now)
{
	fake::Fabric fabric;
	fabric.add_queue_pair(1, before);
	const Look earlier = fabric.look(0);
	fabric.queue_pairs.clear();
	fabric.add_queue_pair(1, now);
	const Rates rates = compare(earlier, fabric.look(2000));
	EXPECT_EQ(rates.queue_pairs.size(), 1U);
	return rates.queue_pairs.front();
}

TEST(Rates, OfQueuePairs)
{
	const QueuePairRates qp = queue_pair({{PIB_O_STATE, 3},
					      {PIB_O_SQ_DONE, 0xFFFFFFFF},
					      {PIB_O_RQ_INDEX, 2},
					      {PIB_O_UNA_PSN, 0xFFFFFE},
					      {PIB_O_NEXT_PSN, 0},
					      {PIB_O_EXPECTED_PSN, 7},
					      {PIB_O_RETRANSMITS, 4},
					      {PIB_O_TIMEOUTS, 1}},
					     {{PIB_O_QPN, 17},
					      {PIB_O_TYPE, 2},
					      {PIB_O_STATE, 3},
					      {PIB_O_PORT, 1},
					      {PIB_O_SQ_DONE, 5},
					      {PIB_O_SQ_POSTED, 3},
					      {PIB_O_SQ_UNREAD, 1},
					      {PIB_O_RQ_INDEX, 4},
					      {PIB_O_UNA_PSN, 2},
					      {PIB_O_NEXT_PSN, 4},
					      {PIB_O_EXPECTED_PSN, 7},
					      {PIB_O_RETRANSMITS, 8},
					      {PIB_O_TIMEOUTS, 3},
					      {PIB_O_ACK_USEC, 5}});
	EXPECT_EQ(qp.qpn, 17U);
	EXPECT_EQ(qp.type, "RC");
	EXPECT_EQ(qp.state, "RTS");
	EXPECT_EQ(qp.owner, "ib_send_bw");
	EXPECT_EQ(qp.sends, 3);
	EXPECT_EQ(qp.receives, 1);
	EXPECT_EQ(qp.packets_out, 2);
	EXPECT_EQ(qp.packets_in, 0);
	EXPECT_EQ(qp.retransmits, 2);
	EXPECT_EQ(qp.timeouts, 1);
	EXPECT_EQ(qp.posted, 4U);
	EXPECT_EQ(qp.waits_for, "acknowledgement");
}

TEST(Rates, ADatagramQueuePairHasSentWhatItSendsNext)
{
	EXPECT_EQ(queue_pair({{PIB_O_STATE, 3}, {PIB_O_NEXT_PSN, 2}},
			     {{PIB_O_STATE, 3}, {PIB_O_NEXT_PSN, 8}})
			  .packets_out,
		  3);
}

TEST(Rates, PsnsOfAnotherStateAreNotCompared)
{
	EXPECT_EQ(queue_pair({{PIB_O_STATE, 1}, {PIB_O_NEXT_PSN, 0}},
			     {{PIB_O_STATE, 3}, {PIB_O_NEXT_PSN, 0x777777}})
			  .packets_out,
		  0);
}

TEST(Rates, ANewQueuePairIsNoneOfTheOldOnes)
{
	fake::Fabric fabric;
	fabric.add_queue_pair(1, {{PIB_O_STATE, 3}, {PIB_O_SQ_DONE, 1}});
	const Look before = fabric.look(0);
	fabric.queue_pairs.clear();
	fabric.add_queue_pair(2, {{PIB_O_STATE, 3}, {PIB_O_SQ_DONE, 100}, {PIB_O_TIMEOUTS, 3}});
	const Rates rates = compare(before, fabric.look(1000));
	ASSERT_EQ(rates.queue_pairs.size(), 1U);
	EXPECT_EQ(rates.queue_pairs[0].sends, 0);
	EXPECT_EQ(rates.queue_pairs[0].timeouts, 3);
}

} // namespace
} // namespace pib::ctl
