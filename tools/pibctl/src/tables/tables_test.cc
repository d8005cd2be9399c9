// SPDX-License-Identifier: GPL-2.0
#include "tables/tables.h"

#include <gtest/gtest.h>

#include "tables/path.h"
#include "watch/fake_looks.h"

namespace pib::ctl {
namespace {

using Ports = std::vector<std::uint8_t>;

TEST(Path, TheShortestFromAnHca)
{
	const fake::Fabric fabric;
	EXPECT_EQ(find_path(fabric.fabric, "sw0")->hca, "pib0");
	EXPECT_EQ(find_path(fabric.fabric, "sw0")->ports, (Ports{1}));
	EXPECT_EQ(find_path(fabric.fabric, "sw1")->hca, "pib1");
	EXPECT_FALSE(find_path(fabric.fabric, "pib1"));
	EXPECT_FALSE(find_path(fabric.fabric, "nowhere"));
}

TEST(Path, NotThroughACableThatIsPulled)
{
	fake::Fabric fabric;
	fabric.link({"sw1", 1}).plugged = false;
	EXPECT_EQ(find_path(fabric.fabric, "sw1")->hca, "pib0");
	EXPECT_EQ(find_path(fabric.fabric, "sw1")->ports, (Ports{1, 3}));
	fabric.link({"sw0", 3}).plugged = false;
	EXPECT_FALSE(find_path(fabric.fabric, "sw1"));
}

TEST(Smp, IsAsTheIbaSays)
{
	const Mad mad = make_smp_get({1, 3}, SmpAttribute::kLinearForwarding, 2, 0x01020304);
	EXPECT_EQ(mad[1], 0x81);
	EXPECT_EQ(mad[3], 1);
	EXPECT_EQ(mad[7], 2);
	EXPECT_EQ(mad[12], 1);
	EXPECT_EQ(mad[15], 4);
	EXPECT_EQ(mad[17], 0x19);
	EXPECT_EQ(mad[23], 2);
	EXPECT_EQ(mad[32] & mad[33] & mad[34] & mad[35], 0xFF);
	EXPECT_EQ(mad[129], 1);
	EXPECT_EQ(mad[130], 3);
}

TEST(Smp, AStatusIsARefusal)
{
	Mad mad{};
	mad[4] = 0x80;
	mad[64] = 7;
	ASSERT_TRUE(read_smp(mad));
	EXPECT_EQ((*read_smp(mad))[0], 7);
	mad[5] = 0x0C;
	EXPECT_NE(read_smp(mad).error().text.find("0xc"), std::string::npos);
}

/// A switch of 20 ports: LIDs 1 to 3 by port 5, LID 70 by port 6, a group to ports 2 and 17.
Result<SmpData> answer(SmpAttribute attribute, std::uint32_t modifier)
{
	SmpData data{};
	switch (attribute) {
	case SmpAttribute::kSwitchInfo:
		data[5] = 64;
		data[7] = 70;
		data[18] = 0xC0;
		data[19] = 0x01;
		break;
	case SmpAttribute::kLinearForwarding:
		data.fill(0xFF);
		if (modifier == 0)
			data[1] = data[2] = data[3] = 5;
		if (modifier == 1)
			data[6] = data[7] = 6;
		break;
	case SmpAttribute::kMulticastForwarding:
		if (modifier == 0)
			data[3] = 1 << 2;
		if (modifier == 1u << 28)
			data[3] = 1 << 1;
		break;
	}
	return data;
}

TEST(Tables, AreReadBlockByBlock)
{
	std::size_t asked = 0;
	const auto tables = read_tables(
		[&](SmpAttribute attribute, std::uint32_t modifier) {
			++asked;
			return answer(attribute, modifier);
		},
		20);
	ASSERT_TRUE(tables);
	EXPECT_EQ(asked, 1U + 2 + 2);
	ASSERT_EQ(tables->routes.size(), 2U);
	EXPECT_EQ(tables->routes[0].first, 1);
	EXPECT_EQ(tables->routes[0].last, 3);
	EXPECT_EQ(tables->routes[0].port, 5);
	// What is beyond the top counts for nothing.
	EXPECT_EQ(tables->routes[1].first, 70);
	EXPECT_EQ(tables->routes[1].last, 70);
	ASSERT_EQ(tables->groups.size(), 1U);
	EXPECT_EQ(tables->groups[0].lid, 0xC001);
	EXPECT_EQ(tables->groups[0].ports, (std::vector<unsigned int>{2, 17}));
}

TEST(Tables, TheFirstRefusalIsTheLast)
{
	std::size_t asked = 0;
	const auto tables = read_tables(
		[&](SmpAttribute, std::uint32_t) -> Result<SmpData> {
			++asked;
			return Error{"no"};
		},
		20);
	EXPECT_FALSE(tables);
	EXPECT_EQ(asked, 1U);
}

TEST(Tables, NoSwitchOfThisName)
{
	const fake::Fabric fabric;
	EXPECT_EQ(ask_tables(fabric.fabric, "pib0").error().code, ENOENT);
}

} // namespace
} // namespace pib::ctl
