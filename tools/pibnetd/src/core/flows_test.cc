// SPDX-License-Identifier: GPL-2.0
// Data of a peer that comes from any port, and what the peer is told of that.
#include <gtest/gtest.h>

#include "core/fake_fabric.h"

namespace pib::netd {
namespace {

using namespace fake;

class Flows : public Fabric {
protected:
	void SetUp() override
	{
		start();
		join();
	}

	/// Of a, by another port than its own.
	const Address flow = address(1, 50000);
};

TEST_F(Flows, DataMayComeFromAnyPortOfThePeer)
{
	EXPECT_TRUE(a.session.peer_caps & PIB_CAP_FLOWS);
	w.deliver(flow, a.data(make_packet({.slid = 2, .dlid = 3})));
	w.carry();
	EXPECT_EQ(b.packets.size(), 1u);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 0u);
}

// A firewall or a NAT may let nothing but the links' own port through, and may change its mind.
TEST_F(Flows, APeerIsToldWhetherItsFlowsComeIn)
{
	const auto told = [&] { return (a.session.peer_caps & PIB_CAP_FLOWS_COME) != 0; };
	w.run(PIB_KEEPALIVE_MS);
	EXPECT_FALSE(told());
	w.deliver(flow, a.probe());
	w.carry();
	EXPECT_TRUE(told()) << "at once";
	EXPECT_EQ(w.port_of(a)->link->path.remote, a.at);
	EXPECT_FALSE(b.session.peer_caps & PIB_CAP_FLOWS_COME);
	w.run(PIB_FLOW_PATIENCE_MS / 2);
	w.deliver(flow, a.probe());
	w.run(PIB_FLOW_PATIENCE_MS - PIB_KEEPALIVE_MS);
	EXPECT_TRUE(told());
	w.run(2 * PIB_KEEPALIVE_MS);
	EXPECT_FALSE(told()) << "none has come for long";
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 0u);
}

TEST_F(Flows, ProbesCountForTheirSessionOnly)
{
	const auto probe = [&] {
		w.deliver(flow, a.probe());
		w.carry();
		EXPECT_TRUE(a.told_flows);
		a.told_flows = false;
	};
	probe();
	a.restart();
	w.run(PIB_FLOW_PATIENCE_MS / 2);
	ASSERT_TRUE(w.port_of(a)->link->established());
	EXPECT_FALSE(a.told_flows) << "restarted";
	Port &port = *w.port_of(a);
	w.core.plug(port, false, w.now);
	w.run(PIB_KEEPALIVE_MS);
	probe();
	w.core.plug(port, true, w.now);
	w.run(PIB_FLOW_PATIENCE_MS / 2);
	ASSERT_TRUE(port.link->established());
	EXPECT_FALSE(a.told_flows) << "unplugged meanwhile";
	probe();
}

TEST_F(Flows, AProbeThatIsNotThePeersCountsForNothing)
{
	w.deliver(address(9), a.probe());
	a.session.nonce++;
	const Bytes earlier = a.probe();
	a.session.nonce--;
	w.deliver(flow, earlier);
	Bytes hello = a.probe();
	hello[0] = PIB_DG_VERSION << 4 | PIB_DG_HELLO;
	w.deliver(flow, hello);
	w.deliver(a.at, a.probe());
	const Bytes recorded = a.probe();
	w.run((PIB_PROBE_LAG + 2) * PIB_KEEPALIVE_MS);
	w.deliver(flow, recorded);
	w.run(2 * PIB_KEEPALIVE_MS);
	EXPECT_FALSE(a.session.peer_caps & PIB_CAP_FLOWS_COME);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 5u);
	EXPECT_EQ(w.port_of(a)->link->path.remote, a.at);
}

} // namespace
} // namespace pib::netd
