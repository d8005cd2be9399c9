// SPDX-License-Identifier: GPL-2.0
#include "config/config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <tuple>

namespace pib::netd {
namespace {

TEST(Config, EmptyMeansOneSwitchForEverybody)
{
	auto config = parse_config("{}");
	ASSERT_TRUE(config);
	complete_config(*config);
	ASSERT_EQ(config->switches.size(), 1u);
	EXPECT_EQ(config->switches[0].name, "sw0");
	EXPECT_EQ(config->switches[0].ports, 36);
	EXPECT_EQ(config->switches[0].accept, PIB_HELLO_ANYBODY);
	EXPECT_EQ(config->switches[0].guid >> 56, 2u);
	ASSERT_EQ(config->listen.size(), 2u);
	EXPECT_EQ(format_address(config->listen[0]), "0.0.0.0:18514");
	EXPECT_EQ(format_address(config->listen[1]), "[::]:18514");
	EXPECT_GE(config->threads, 1u);
	EXPECT_EQ(config->data_class.dscp, model::DscpTable{});
	EXPECT_FALSE(config->data_class.ecn);
	EXPECT_FALSE(config->windows);
	EXPECT_FALSE(config->icrc);
}

TEST(Config, Everything)
{
	const auto config = parse_config(R"({
    // a comment
    "listen": ["192.0.2.1:5", "[::]:7"], "control": "/run/x", "state": "/var/y", "threads": 3,
    "dscp": "3=46", "ecn": true, "windows": true, "icrc": true,
    "switches": [
      {"name": "a", "ports": 254, "fabric": 4294967295, "guid": "0x00000000000000a1",
       "description": "the first", "accept": false},
      {"name": "b", "ports": 1}],
    "cables": [["a/254", "b/1"], ["a/1", "udp:[2001:db8::1]:9"]]})");
	ASSERT_TRUE(config) << config.error().text;
	EXPECT_EQ(config->threads, 3u);
	EXPECT_EQ(config->data_class.dscp[3], 46);
	EXPECT_EQ(config->data_class.dscp[0], 0);
	EXPECT_TRUE(config->data_class.ecn);
	EXPECT_TRUE(config->windows);
	EXPECT_TRUE(config->icrc);
	EXPECT_EQ(config->listen[0].port, 5);
	EXPECT_EQ(config->listen[1].family, AF_INET6);
	EXPECT_EQ(config->switches[0].ports, 254);
	EXPECT_EQ(config->switches[0].fabric, 4294967295u);
	EXPECT_EQ(config->switches[0].guid, 0xa1u);
	EXPECT_EQ(config->switches[0].accept, PIB_HELLO_NOBODY);
	EXPECT_EQ(parse_config(R"({"switches": [{"name": "a", "accept": "link"}]})")
			  ->switches[0]
			  .accept,
		  PIB_HELLO_LINK);
	EXPECT_EQ(config->cables[0].b->node, "b");
	EXPECT_EQ(config->cables[1].peer->port, 9);
}

TEST(Config, TheSameMachineGivesTheSameGuids)
{
	auto one = *parse_config(R"({"switches": [{"name": "a"}, {"name": "b"}]})");
	auto two = one;
	complete_config(one);
	complete_config(two);
	EXPECT_EQ(one.switches[0].guid, two.switches[0].guid);
	EXPECT_NE(one.switches[0].guid, one.switches[1].guid);
}

std::string write_file(const std::string &name, const std::string &text)
{
	const std::string path = ::testing::TempDir() + name;
	std::ofstream(path) << text;
	return path;
}

TEST(Config, ATopologyFileMakesSwitchesCablesAndPlaces)
{
	const std::string file = write_file("pibnetd_test.net", "Switch 8 \"leaf\"\n"
								"[1] \"Hca1\"[2]\n"
								"[8] \"spine-1\"[4]\n"
								"Switch 4 \"spine-1\"\n"
								"[4] \"leaf\"[8]\n"
								"Hca 2 \"Hca1\"\n"
								"[2] \"leaf\"[1]\n");
	const auto config =
		parse_config(R"({"switches": [{"name": "own"}], "topology": {"file": ")" + file +
			     R"(", "fabric": 7}})");
	ASSERT_TRUE(config) << config.error().text;
	ASSERT_EQ(config->switches.size(), 3u);
	EXPECT_EQ(config->switches[1].name, "leaf");
	EXPECT_EQ(config->switches[1].ports, 8);
	EXPECT_EQ(config->switches[1].fabric, 7u);
	EXPECT_TRUE(config->switches[1].places_only);
	EXPECT_NE(config->switches[1].guid, 0u);
	EXPECT_FALSE(config->switches[0].places_only);
	ASSERT_EQ(config->cables.size(), 1u);
	EXPECT_EQ(config->cables[0].a.node, "leaf");
	EXPECT_EQ(config->cables[0].b->node, "spine-1");
	ASSERT_EQ(config->places.size(), 1u);
	EXPECT_EQ(config->places[0].at.port, 1u);
	EXPECT_EQ(config->places[0].peer_port, 2);
	EXPECT_NE(config->places[0].guid, 0u);
}

TEST(Config, SwitchesOfOneFabricHaveTheSameKeys)
{
	const auto file = [](const std::string &name, const std::string &text) {
		const std::string path = write_file("pibnetd_keys_" + name, text);
		EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
		return path;
	};
	const std::string key = R"("key_file": ")" + file("one", std::string(32, 'k')) + '"';
	const std::string padded =
		R"("key_file": ")" + file("same", std::string(32, 'k') + '\0') + '"';
	const std::string other = R"("key_file": ")" + file("two", std::string(32, 'o')) + '"';
	const std::string second = R"(, "second_)" + other.substr(1);
	const auto with = [](const std::string &a, const std::string &b) {
		return parse_config(R"({"switches": [{"name": "a", )" + a + R"(}, {"name": "b", )" +
				    b + "}]}");
	};
	EXPECT_TRUE(with(key, key));
	EXPECT_TRUE(with(key, padded)) << "it is the same key";
	EXPECT_TRUE(with(key, R"("fabric": 1, )" + other));
	EXPECT_TRUE(with(key + second, key + second));
	for (const auto &[a, b, setting] : {
		     std::tuple{key, other, "key_file"},
		     std::tuple{key, std::string(R"("ports": 4)"), "key_file"},
		     std::tuple{key + second, key, "second_key_file"},
	     }) {
		const auto refused = with(a, b);
		ASSERT_FALSE(refused) << a << b;
		EXPECT_EQ(refused.error().text,
			  std::string("switches[1]: ") + setting +
				  ": switch 'a' is of the same fabric, 0, and must have the same");
	}
}

TEST(Config, RefusalsNameThePlace)
{
	const std::pair<const char *, const char *> cases[] = {
		{"", "is not JSON"},
		{"[]", "must be an object"},
		{R"({"swiches": []})", "there is no setting 'swiches'"},
		{R"({"listen": "x"})", "listen: must be a list"},
		{R"({"listen": ["nonsense"]})", "nonsense"},
		{R"({"listen": ["0.0.0.0:99999"]})", "port"},
		{R"({"listen": [1]})", "listen[0]"},
		{R"({"threads": 0})", "configuration.threads: must be a number from 1 to 64"},
		{R"({"dscp": 46})", "configuration.dscp: must be a string"},
		{R"({"dscp": "16=1"})", "configuration.dscp: "},
		{R"({"ecn": "on"})", "configuration.ecn: must be true or false"},
		{R"({"windows": 1})", "configuration.windows: must be true or false"},
		{R"({"icrc": "on"})", "configuration.icrc: must be true or false"},
		{R"({"switches": [{}]})", "switches[0].name"},
		{R"({"switches": [{"name": "a b"}]})", "switches[0].name"},
		{R"({"switches": [{"name": "a", "ports": 255}]})",
		 "switches[0].ports: must be a number from 1 to 254"},
		{R"({"switches": [{"name": "a", "ports": 0}]})", "switches[0].ports"},
		{R"({"switches": [{"name": "a", "ports": "4"}]})", "switches[0].ports"},
		{R"({"switches": [{"name": "a", "ports": -4}]})", "switches[0].ports"},
		{R"({"switches": [{"name": "a", "guid": "0xz"}]})", "switches[0].guid"},
		{R"({"switches": [{"name": "a", "accept": 1}]})", "switches[0].accept"},
		{R"({"switches": [{"name": "a", "accept": "all"}]})", "switches[0].accept"},
		{R"({"switches": [{"name": "a", "second_key_file": "/nonexistent"}]})",
		 "switches[0].second_key_file"},
		{R"({"switches": [{"name": "a", "key_file": "/nonexistent"}]})",
		 "switches[0].key_file"},
		{R"({"switches": [{"name": "a"}, {"name": "a"}]})", "switches[1].name: is taken"},
		{R"({"switches": [{"name": "a", "guid": "0x1"}, {"name": "b", "guid": "0x1"}]})",
		 "guid"},
		{R"({"switches": [{"name": "a"}], "cables": [["a/1"]]})",
		 "cables[0]: must be two strings"},
		{R"({"switches": [{"name": "a"}], "cables": [["a/1", "b/1"]]})",
		 "there is no switch 'b'"},
		{R"({"switches": [{"name": "a"}], "cables": [["a/37", "a/1"]]})",
		 "has ports 1 to 36"},
		{R"({"switches": [{"name": "a"}], "cables": [["a/1", "a/1"]]})",
		 "has a cable already"},
		{R"({"switches": [{"name": "a"}], "cables": [["a/1", "udp:x"]]})", "cables[0]"},
		{R"({"topology": "x"})", "topology: must be an object"},
		{R"({"topology": {}})", "'file' is missing"},
		{R"({"topology": {"file": "/nonexistent"}})", "/nonexistent"},
	};
	for (const auto &[text, expected] : cases) {
		const auto config = parse_config(text);
		ASSERT_FALSE(config) << text;
		EXPECT_NE(config.error().text.find(expected), std::string::npos)
			<< text << ": " << config.error().text;
	}
}

} // namespace
} // namespace pib::netd
