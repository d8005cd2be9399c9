// SPDX-License-Identifier: GPL-2.0
#include "wire/ping.h"

#include <gtest/gtest.h>

namespace pib::netd {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Ping, KeysAndLengths)
{
	const Key key(32, 1), other(32, 2);
	Ping ping;
	ping.sequence = 5;
	ping.fabric = 3;
	const auto asked = build_ping(ping, 200, key);
	const auto responder = [](std::optional<Key> has) {
		return PingResponder{PingSoftware::pibping, [has](std::uint32_t) { return has; }};
	};
	const auto flags = [&](std::optional<Key> has) {
		const auto answer = answer_ping(asked, responder(has));
		EXPECT_EQ(answer.size(), asked.size());
		return parse_ping(answer)->flags;
	};
	EXPECT_EQ(flags(key), kPingKeyed | kPingAuthentic | kPingFabric);
	EXPECT_EQ(flags(other), kPingKeyed | kPingFabric);
	EXPECT_EQ(flags(Key{}), kPingFabric);
	EXPECT_EQ(flags({}), 0);
	EXPECT_TRUE(ping_is_authentic(answer_ping(asked, responder(key)), key));
	EXPECT_FALSE(ping_is_authentic(answer_ping(asked, responder(other)), key));
	EXPECT_TRUE(answer_ping(Bytes(47, 0x1E), responder(key)).empty());
}

TEST(Ping, IsAnsweredAtLengthOnlyToThoseWhoMayAsk)
{
	const Key key(32, 1), other(32, 2);
	Ping ping;
	const auto length = [&](const Key &by, std::optional<Key> has, std::size_t asked) {
		const PingResponder responder{PingSoftware::pibping,
					      [has](std::uint32_t) { return has; }};
		const Bytes question = build_ping(ping, asked, by);
		const Bytes answer = answer_ping(question, responder);
		EXPECT_TRUE(std::equal(answer.begin() + kPingLeast, answer.end(),
				       question.begin() + kPingLeast));
		return answer.size();
	};
	EXPECT_EQ(length(key, key, 60000), 60000u);
	EXPECT_EQ(length({}, Key{}, 60000), 60000u);
	EXPECT_EQ(length(key, Key{}, 60000), 60000u);
	EXPECT_EQ(length({}, key, 60000), kPongSmall);
	EXPECT_EQ(length(other, key, 60000), kPongSmall);
	EXPECT_EQ(length({}, {}, 60000), kPongSmall) << "the fabric is not served";
	EXPECT_EQ(length({}, key, kPongSmall + 1), kPongSmall);
	EXPECT_EQ(length({}, key, kPongSmall - 1), kPongSmall - 1);
	EXPECT_EQ(length({}, key, kPingLeast), kPingLeast);
}

} // namespace
} // namespace pib::netd
