// SPDX-License-Identifier: GPL-2.0
#include "netlink/answer.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <random>

#include "netlink/fake_kernel.h"

namespace pib::ctl {
namespace {

using fake::join;

Bytes code(std::int32_t value)
{
	Bytes bytes(sizeof(value));
	std::memcpy(bytes.data(), &value, sizeof(value));
	return bytes;
}

Bytes refused_header(std::uint32_t length = 16)
{
	Bytes header = fake::message(0x23, 0, 1, {});
	std::memcpy(header.data(), &length, sizeof(length));
	return header;
}

TEST(SplitDatagram, FindsEachMessage)
{
	const Bytes datagram =
		join({fake::message(1, 2, 3, {1, 2, 3}), fake::message(4, 5, 6, {})});
	const auto messages = split_datagram(datagram);
	ASSERT_TRUE(messages);
	ASSERT_EQ(messages->size(), 2U);
	EXPECT_EQ((*messages)[0].payload.size(), 3U);
	EXPECT_EQ((*messages)[1].type, 4);
	EXPECT_EQ((*messages)[1].sequence, 6U);
}

TEST(SplitDatagram, RefusesWhatIsCutShort)
{
	const Bytes whole = fake::message(1, 0, 0, {1, 2, 3, 4});
	for (std::size_t size = 1; size < whole.size(); ++size)
		EXPECT_FALSE(split_datagram(View(whole).first(size))) << size;
}

TEST(SplitDatagram, RefusesLengthsThatLie)
{
	for (const std::uint8_t length : Bytes{0, 15, 21}) {
		Bytes datagram = fake::message(1, 0, 0, {1, 2, 3, 4});
		datagram[0] = length;
		EXPECT_FALSE(split_datagram(datagram)) << int{length};
	}
}

TEST(ReadVerdict, TakesSuccess)
{
	const Bytes payload = join({code(0), refused_header(40)});
	const auto verdict = read_verdict({NLMSG_ERROR, NLM_F_CAPPED, 1, payload});
	ASSERT_TRUE(verdict);
	EXPECT_EQ(verdict->code, 0);
}

TEST(ReadVerdict, TakesEverythingTheKernelSays)
{
	const Bytes policy =
		fake::nest(NLMSGERR_ATTR_POLICY, {fake::u64(NL_POLICY_TYPE_ATTR_MIN_VALUE_U, 1),
						  fake::u64(NL_POLICY_TYPE_ATTR_MAX_VALUE_U, 254)});
	const Bytes payload =
		join({code(-EINVAL), refused_header(),
		      fake::text(NLMSGERR_ATTR_MSG, "integer out of range"),
		      fake::u32(NLMSGERR_ATTR_OFFS, 28), fake::u32(NLMSGERR_ATTR_MISS_TYPE, 5),
		      fake::u32(NLMSGERR_ATTR_MISS_NEST, 20), policy});
	const auto verdict = read_verdict({NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS, 1, payload});
	ASSERT_TRUE(verdict);
	EXPECT_EQ(verdict->code, EINVAL);
	EXPECT_EQ(verdict->text, "integer out of range");
	EXPECT_EQ(verdict->bad_offset, 28U);
	EXPECT_EQ(verdict->missing_type, 5U);
	EXPECT_EQ(verdict->missing_nest, 20U);
	ASSERT_TRUE(verdict->range);
	EXPECT_EQ(verdict->range->second, 254U);
}

TEST(ReadVerdict, SkipsAnEchoedRequest)
{
	const Bytes payload = join({code(-ENODEV), refused_header(24), Bytes(8, 0xff),
				    fake::text(NLMSGERR_ATTR_MSG, "no such netdev")});
	const auto verdict = read_verdict({NLMSG_ERROR, NLM_F_ACK_TLVS, 1, payload});
	ASSERT_TRUE(verdict);
	EXPECT_EQ(verdict->text, "no such netdev");
}

TEST(ReadVerdict, EchoLongerThanTheMessageGivesNoText)
{
	const Bytes payload = join({code(-ENODEV), refused_header(0xfffffff0)});
	const auto verdict = read_verdict({NLMSG_ERROR, NLM_F_ACK_TLVS, 1, payload});
	ASSERT_TRUE(verdict);
	EXPECT_EQ(verdict->code, ENODEV);
	EXPECT_EQ(verdict->text, "");
}

TEST(ReadVerdict, TakesTheEndOfADump)
{
	const Bytes payload = join({code(-EPERM), fake::text(NLMSGERR_ATTR_MSG, "no")});
	const auto verdict = read_verdict({NLMSG_DONE, NLM_F_ACK_TLVS, 1, payload});
	ASSERT_TRUE(verdict);
	EXPECT_EQ(verdict->code, EPERM);
	EXPECT_EQ(verdict->text, "no");
	EXPECT_EQ(read_verdict({NLMSG_DONE, 0, 1, {}})->code, 0);
}

TEST(ReadVerdict, RefusesWhatIsCutShort)
{
	const Bytes whole = join({code(-EINVAL), refused_header()});
	for (std::size_t size = 0; size < whole.size(); ++size)
		EXPECT_FALSE(read_verdict({NLMSG_ERROR, 0, 1, View(whole).first(size)})) << size;
	EXPECT_FALSE(read_verdict({NLMSG_DONE, 0, 1, View(whole).first(2)}));
	EXPECT_FALSE(
		read_verdict({NLMSG_DONE, 0, 1, code(std::numeric_limits<std::int32_t>::min())}));
}

TEST(ReadVerdict, SurvivesNoise)
{
	std::mt19937 random(2);
	for (int round = 0; round < 20000; ++round) {
		Bytes payload(random() % 80);
		for (auto &byte : payload)
			byte = static_cast<std::uint8_t>(random() % (round % 2 ? 24 : 256));
		(void)split_datagram(payload);
		const auto flags = static_cast<std::uint16_t>(random());
		(void)read_verdict({NLMSG_ERROR, flags, 1, payload});
		(void)read_verdict({NLMSG_DONE, flags, 1, payload});
	}
}

} // namespace
} // namespace pib::ctl
