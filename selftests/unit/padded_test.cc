// SPDX-License-Identifier: GPL-2.0
// Padded probes as the module sends them (kernel/udp/pmtu.c, the very file): those that are not sent are counted, and traced.
#include <gtest/gtest.h>

#include "padded/world.h"

namespace {

TEST(Padded, OneIsAsLargeAsItSays)
{
	for (const bool v6 : {false, true}) {
		padded_world w{};

		w.v6 = v6;
		w.mtu = 1500;
		EXPECT_TRUE(padded_send_probe(&w, 1500));
		EXPECT_EQ(w.sent, v6 ? 1452u : 1472u);
		EXPECT_EQ(w.errors, 0u);
		EXPECT_EQ(w.traced, 0u);
		EXPECT_EQ(w.refs, 0);
	}
}

TEST(Padded, OneThatIsNotSentIsCountedAndTraced)
{
	for (bool padded_world::*const cause :
	     {&padded_world::no_path, &padded_world::moved, &padded_world::no_route,
	      &padded_world::no_memory}) {
		padded_world w{};

		w.mtu = 1500;
		w.*cause = true;
		EXPECT_FALSE(padded_send_probe(&w, 1500));
		EXPECT_EQ(w.sent, 0u);
		EXPECT_EQ(w.errors, 1u);
		EXPECT_EQ(w.traced, 1u);
		EXPECT_EQ(w.refs, 0);
	}
}

// In fragments it would show nothing.
TEST(Padded, NoneIsLargerThanTheRoutesMtu)
{
	padded_world w{};

	w.mtu = 1499;
	EXPECT_FALSE(padded_send_probe(&w, 1500));
	EXPECT_EQ(w.sent, 0u);
	EXPECT_EQ(w.errors, 1u);
	EXPECT_EQ(w.traced, 1u);
	EXPECT_EQ(w.refs, 0);
}

} // namespace
