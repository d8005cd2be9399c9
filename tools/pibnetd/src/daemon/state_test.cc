// SPDX-License-Identifier: GPL-2.0
#include "daemon/state.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace pib::netd {
namespace {

TEST(State, SurvivesAndTamesNonsense)
{
	const std::string path = testing::TempDir() + "/pibnetd-state";
	std::remove(path.c_str());
	EXPECT_TRUE(read_state(path)->empty());
	const std::vector<Reservation> all = {{"sw0", 0xA0, 1, 3}, {"sw1", 0xB0, 2, 254}};
	ASSERT_TRUE(write_state(path, all));
	EXPECT_EQ(*read_state(path), all);
	const auto holds = [&](const char *text) {
		std::FILE *file = std::fopen(path.c_str(), "w");
		std::fputs(text, file);
		std::fclose(file);
	};
	holds("nonsense");
	EXPECT_FALSE(read_state(path));
	holds(R"({"ports":[7,{"switch":"a"},{"switch":"a","guid":"0x1","peer_port":999,"port":1}]})");
	EXPECT_TRUE(read_state(path)->empty());
	std::remove(path.c_str());
}

} // namespace
} // namespace pib::netd
