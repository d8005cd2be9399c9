// SPDX-License-Identifier: GPL-2.0
#include "host/netdev_state.h"

#include <gtest/gtest.h>
#include <net/if.h>

namespace pib::ctl {
namespace {

TEST(NetdevState, SaysWhatIsWrong)
{
	EXPECT_EQ(netdev_trouble("eth0", IFF_UP | IFF_RUNNING), "");
	EXPECT_NE(netdev_trouble("eth0", 0).find("netdev eth0 is down"), std::string::npos);
	EXPECT_NE(netdev_trouble("eth0", IFF_UP).find("netdev eth0 has no carrier"),
		  std::string::npos);
}

TEST(NetdevState, IsNamedAsIpNamesIt)
{
	EXPECT_EQ(netdev_state(IFF_UP | IFF_RUNNING), "UP");
	EXPECT_EQ(netdev_state(IFF_UP), "NO-CARRIER");
	EXPECT_EQ(netdev_state(0), "DOWN");
	EXPECT_EQ(netdev_state(IFF_RUNNING), "DOWN");
}

TEST(NetdevState, OfThisMachine)
{
	EXPECT_TRUE(netdev_flags("lo"));
	EXPECT_FALSE(netdev_flags("nonesuch"));
	EXPECT_FALSE(netdev_flags("a-name-that-is-too-long"));
}

} // namespace
} // namespace pib::ctl
