// SPDX-License-Identifier: GPL-2.0
#include "model/words/parse.h"

#include <gtest/gtest.h>

namespace pib::inline model {
namespace {

TEST(ParseEnd, TakesNameAndPort)
{
	const auto end = parse_end("pib0/1");
	ASSERT_TRUE(end);
	EXPECT_EQ(*end, (End{"pib0", 1}));
	EXPECT_EQ(parse_end("sw-1.x_y/254")->port, 254U);
}

TEST(ParseEnd, SplitsAtTheLastSlash)
{
	EXPECT_EQ(parse_end("a/b/3")->node, "a/b");
}

TEST(ParseEnd, RefusesWithTheAcceptedForm)
{
	for (const char *word : {"pib0", "", "1"}) {
		const auto end = parse_end(word);
		ASSERT_FALSE(end) << word;
		EXPECT_NE(end.error().text.find("NAME/PORT"), std::string::npos);
		EXPECT_TRUE(end.error().usage);
	}
}

TEST(ParseEnd, RefusesPortsThatNoNodeHas)
{
	for (const char *word : {"pib0/", "pib0/0", "pib0/255", "pib0/x", "pib0/-1", "pib0/ 1",
				 "pib0/+1", "pib0/99999999999999999999"})
		EXPECT_FALSE(parse_end(word)) << word;
	EXPECT_NE(parse_end("pib0/255").error().text.find("from 1 to 254"), std::string::npos);
}

TEST(ParseEnd, RefusesNamesThatCannotBe)
{
	EXPECT_FALSE(parse_end("/1"));
	EXPECT_FALSE(parse_end(std::string(32, 'x') + "/1"));
	EXPECT_TRUE(parse_end(std::string(31, 'x') + "/1"));
}

struct EndpointCase {
	const char *word;
	const char *shown;
};

class GoodEndpoint : public testing::TestWithParam<EndpointCase> {};

TEST_P(GoodEndpoint, IsReadAndShown)
{
	const auto endpoint = parse_endpoint(GetParam().word);
	ASSERT_TRUE(endpoint) << endpoint.error().text;
	EXPECT_EQ(format_endpoint(*endpoint), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(Forms, GoodEndpoint,
			 testing::Values(EndpointCase{"192.0.2.1", "192.0.2.1"},
					 EndpointCase{"192.0.2.1:1", "192.0.2.1:1"},
					 EndpointCase{"192.0.2.1:65535", "192.0.2.1:65535"},
					 EndpointCase{"127.0.0.1", "127.0.0.1"},
					 EndpointCase{"::1", "::1"}, EndpointCase{"[::1]", "::1"},
					 EndpointCase{"[::1]:18514", "[::1]:18514"},
					 EndpointCase{"2001:DB8:0::7", "2001:db8::7"},
					 EndpointCase{"fe80::1%eth0", "fe80::1"},
					 EndpointCase{"[fe80::1%eth0]:5", "[fe80::1]:5"}));

class BadEndpoint : public testing::TestWithParam<const char *> {};

TEST_P(BadEndpoint, IsRefused)
{
	const auto endpoint = parse_endpoint(GetParam());
	ASSERT_FALSE(endpoint);
	EXPECT_TRUE(endpoint.error().usage);
}

INSTANTIATE_TEST_SUITE_P(Forms, BadEndpoint,
			 testing::Values("", ":", "host", "1.2.3", "1.2.3.4:", "1.2.3.4:0",
					 "1.2.3.4:65536", "1.2.3.4:x", "1.2.3.4.5", "[1.2.3.4]",
					 "[::1", "[::1]18514", "[::1]:", "::1]", "[]", "[]:1",
					 "0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "ff02::1",
					 "fe80::1%", "fe80::1%a/b", "fe80::1%averyveryverylongname",
					 "2001:db8::1%eth0", "1.2.3.4%eth0", "[fe80::1]%eth0:5"));

TEST(ParseEndpoint, KeepsPartsApart)
{
	const auto v4 = parse_endpoint("10.1.2.3:99");
	EXPECT_FALSE(v4->v6);
	EXPECT_EQ(v4->address[0], 10);
	EXPECT_EQ(v4->address[3], 3);
	EXPECT_EQ(v4->port, 99);
	const auto v6 = parse_endpoint("[fe80::2%wg0]:7");
	EXPECT_TRUE(v6->v6);
	EXPECT_EQ(v6->address[15], 2);
	EXPECT_EQ(v6->scope, "wg0");
	EXPECT_EQ(v6->port, 7);
	EXPECT_EQ(parse_endpoint("fe80::2%wg0")->scope, "wg0");
}

TEST(ParseNewName, TakesWhatDevicesAreCalled)
{
	for (const char *name : {"pib0", "sw-1", "a.b_c", "0", "netdev", "peer"})
		EXPECT_TRUE(parse_new_name(name)) << name;
}

TEST(ParseNewName, RefusesWhatWouldConfuse)
{
	for (const char *name :
	     {"", "-x", ".x", "a/b", "a b", "a%d", "links", "peers", "counters", "uplinks", "help",
	      "caf\xc3\xa9", "12345678901234567890123456789012"})
		EXPECT_FALSE(parse_new_name(name)) << name;
}

TEST(ParseNetdev, FollowsTheKernelsRule)
{
	EXPECT_TRUE(parse_netdev("eth0"));
	EXPECT_TRUE(parse_netdev("br-1234:5.7"));
	EXPECT_TRUE(parse_netdev("123456789012345"));
	for (const char *name : {"", "1234567890123456", "a/b", "a b", "a\tb"})
		EXPECT_FALSE(parse_netdev(name)) << name;
}

TEST(ParseNumber, IsExactAboutItsRange)
{
	EXPECT_EQ(*parse_number("n", "0x10", 0, 16), 16U);
	EXPECT_EQ(*parse_number("n", "16", 0, 16), 16U);
	EXPECT_FALSE(parse_number("n", "17", 0, 16));
	EXPECT_FALSE(parse_number("n", "", 0, 16));
	EXPECT_FALSE(parse_number("n", "0x", 0, 16));
	EXPECT_EQ(parse_number("ports", "0", 1, 254).error().text,
		  "ports must be a number from 1 to 254, not '0'");
}

TEST(ParseGuid, TakesTheUsualSpellings)
{
	constexpr std::uint64_t kGuid = 0x0250c2fffe000001;
	for (const char *word :
	     {"0x0250c2fffe000001", "0250c2fffe000001", "0250:c2ff:fe00:0001", "0250C2FFFE000001"})
		EXPECT_EQ(*parse_guid(word), kGuid) << word;
	for (const char *word : {"", "0x1", "0x0000000000000000", "0x0250c2fffe00000g", "0x"})
		EXPECT_FALSE(parse_guid(word)) << word;
}

TEST(ParsePlugged, KnowsTwoWords)
{
	EXPECT_TRUE(*parse_plugged("up"));
	EXPECT_FALSE(*parse_plugged("down"));
	EXPECT_FALSE(parse_plugged("on"));
}

TEST(Format, SpellsAsIbstat)
{
	EXPECT_EQ(format_guid(0x250c2fffe000001), "0x0250c2fffe000001");
	EXPECT_EQ(format_end({"sw0", 3}), "sw0/3");
}

} // namespace
} // namespace pib::inline model
