// SPDX-License-Identifier: GPL-2.0
#include "tables/tables.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tables/path.h"
#include "watch/fake_looks.h"

namespace pib::ctl {
namespace {

using Ports = std::vector<std::uint8_t>;

TEST(Path, TheShortestFromEachHca)
{
	const fake::Fabric fabric;
	const auto paths = find_paths(fabric.fabric, "sw0");
	ASSERT_EQ(paths.size(), 2U);
	EXPECT_EQ(paths[0].hca, "pib0");
	EXPECT_EQ(paths[0].ports, (Ports{1}));
	EXPECT_EQ(paths[1].hca, "pib1");
	EXPECT_EQ(paths[1].ports, (Ports{1, 3}));
	EXPECT_EQ(find_paths(fabric.fabric, "sw1").front().hca, "pib1");
	EXPECT_TRUE(find_paths(fabric.fabric, "pib1").empty());
	EXPECT_TRUE(find_paths(fabric.fabric, "nowhere").empty());
}

TEST(Path, NotThroughACableThatIsPulled)
{
	fake::Fabric fabric;
	fabric.link({"sw1", 1}).plugged = false;
	const auto paths = find_paths(fabric.fabric, "sw1");
	ASSERT_EQ(paths.size(), 1U);
	EXPECT_EQ(paths[0].hca, "pib0");
	EXPECT_EQ(paths[0].ports, (Ports{1, 3}));
	fabric.link({"sw0", 3}).plugged = false;
	EXPECT_TRUE(find_paths(fabric.fabric, "sw1").empty());
}

TEST(Path, NotThroughACableOfWhichAnEndIsDown)
{
	fake::Fabric fabric;
	fabric.port({"pib1", 1}).state = 1;
	const auto paths = find_paths(fabric.fabric, "sw1");
	ASSERT_EQ(paths.size(), 1U);
	EXPECT_EQ(paths[0].hca, "pib0");
	fabric.port({"sw0", 3}).state = 1;
	EXPECT_TRUE(find_paths(fabric.fabric, "sw1").empty());
}

TEST(Smp, IsAsTheIbaSays)
{
	const Mad mad = make_smp_get({1, 3}, PIB_SM_LFT, 2, 0x01020304);
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

TEST(Smp, AnAnswerToAnotherQuestionIsNone)
{
	const Mad asked = make_smp_get({1}, PIB_SM_NODE_INFO, 0, 7);
	Mad answer = asked;
	// The upper half is the kernel's.
	answer[8] = 0x55;
	EXPECT_TRUE(same_transaction(answer, asked));
	EXPECT_FALSE(same_transaction(make_smp_get({1}, PIB_SM_NODE_INFO, 0, 6), asked));
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
Result<SmpData> answer(pib_sm_attr attribute, std::uint32_t modifier)
{
	SmpData data{};
	switch (attribute) {
	case PIB_SM_NODE_INFO:
		data[18] = 2;
		data[19] = 3;
		break;
	case PIB_SM_SWITCH_INFO:
		data[5] = 64;
		data[7] = 70;
		data[18] = 0xC0;
		data[19] = 0x01;
		break;
	case PIB_SM_LFT:
		data.fill(0xFF);
		if (modifier == 0)
			data[1] = data[2] = data[3] = 5;
		if (modifier == 1)
			data[6] = data[7] = 6;
		break;
	case PIB_SM_MFT:
		if (modifier == 0)
			data[3] = 1 << 2;
		if (modifier == 1u << 28)
			data[3] = 1 << 1;
		break;
	default: ADD_FAILURE() << "no question about attribute " << attribute;
	}
	return data;
}

TEST(Tables, AreReadBlockByBlock)
{
	std::size_t asked = 0;
	const auto tables = read_tables(
		[&](pib_sm_attr attribute, std::uint32_t modifier) {
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
	// Entries beyond the top do not count.
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
		[&](pib_sm_attr, std::uint32_t) -> Result<SmpData> {
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
	EXPECT_EQ(plan_tables(fabric.fabric, "pib0").error().code, ENOENT);
}

TEST(Tables, TheSwitchIsKnownByItsGuid)
{
	const fake::Fabric fabric;
	auto question = plan_tables(fabric.fabric, "sw0");
	ASSERT_TRUE(question);
	EXPECT_EQ(question->guid, 0x203U);
	EXPECT_TRUE(read_tables_of(*question, answer));
	question = plan_tables(fabric.fabric, "sw1");
	EXPECT_EQ(read_tables_of(*question, answer).error().code, EAGAIN);
}

TEST(Tables, ARecablingMeanwhileIsSeen)
{
	const auto question = plan_tables(fake::Fabric().fabric, "sw0");
	bool recabled = false;
	const auto tables =
		read_tables_of(*question, [&](pib_sm_attr attribute, std::uint32_t modifier) {
			auto data = answer(attribute, modifier);
			if (attribute == PIB_SM_NODE_INFO && recabled)
				(*data)[19] = 9;
			recabled |= attribute == PIB_SM_MFT;
			return data;
		});
	ASSERT_FALSE(tables);
	EXPECT_EQ(tables.error().code, EAGAIN);
}

TEST(Tables, AQuestionHasAnEnd)
{
	using Clock = std::chrono::steady_clock;
	std::stop_source stop;
	EXPECT_TRUE(read_tables(ask_until(answer, Clock::time_point::max(), stop.get_token()), 20));
	const auto late =
		read_tables(ask_until(answer, Clock::time_point::min(), stop.get_token()), 20);
	EXPECT_EQ(late.error().code, ETIMEDOUT);
	stop.request_stop();
	const auto stopped =
		read_tables(ask_until(answer, Clock::time_point::max(), stop.get_token()), 20);
	EXPECT_EQ(stopped.error().code, EINTR);
}

} // namespace
} // namespace pib::ctl
