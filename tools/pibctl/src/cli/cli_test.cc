// SPDX-License-Identifier: GPL-2.0
#include "cli/cli.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/pib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/fake_shell.h"
#include "commands/commands.h"
#include "host/netdev_state.h"
#include "objects/fake_objects.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::json;

class Cli : public fake::Shell {
protected:
	bool complains(std::string_view about) const
	{
		return complained.find(about) != std::string::npos;
	}
};

TEST_F(Cli, AddIsSilentWhenItWorks)
{
	EXPECT_EQ(pibctl({"add", "pib0", "netdev", "nonesuch", "standalone"}), 0);
	EXPECT_EQ(printed + complained, "");
	ASSERT_EQ(kernel.requests.size(), 1U);
	EXPECT_EQ(kernel.requests[0].command, PIB_CMD_HCA_NEW);
}

TEST_F(Cli, WhatTheModuleSaysOfASuccessIsShownOnce)
{
	kernel.refuse({0, "the HCA is elsewhere"});
	EXPECT_EQ(pibctl({"add", "pib0", "netdev", "eth0"}), 0);
	EXPECT_EQ(printed, "");
	EXPECT_EQ(complained, "pibctl: the HCA is elsewhere\n");
}

TEST_F(Cli, ExplainSaysWhatIsWrong)
{
	EXPECT_EQ(pibctl({"explain", "pib0"}), 2);
	EXPECT_TRUE(complains("'qp N' is missing"));
	EXPECT_EQ(pibctl({"explain", "pib0", "qp", "16777216"}), 2);
	EXPECT_TRUE(complains("qp must be"));
	EXPECT_TRUE(kernel.requests.empty());
}

TEST_F(Cli, CaptureSaysWhatIsWrong)
{
	EXPECT_EQ(pibctl({"capture", "pib0"}), 2);
	EXPECT_TRUE(complains("'-w FILE' is missing"));
	EXPECT_EQ(pibctl({"capture", "pib0", "-w", "f", "qp", "x"}), 2);
	EXPECT_TRUE(complains("qp must be a number"));
	EXPECT_EQ(pibctl({"capture", "pib0", "-w", "f", "in", "out"}), 2);
	EXPECT_EQ(pibctl({"capture", "pib0", "-w", "f", "-W", "3"}), 2);
	EXPECT_TRUE(complains("'-C'"));
	EXPECT_EQ(pibctl({"capture", "pib0", "-w", "-", "-C", "1M"}), 2);
	EXPECT_EQ(pibctl({"capture", "pib0", "-w", "f", "-s", "0"}), 2);
	EXPECT_EQ(pibctl({"add", "pib0", "-w", "f"}), 2);
	EXPECT_TRUE(kernel.requests.empty());
}

TEST_F(Cli, InjectSaysWhatIsWrong)
{
	EXPECT_EQ(pibctl({"inject", "pib0"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3"}), 2);
	EXPECT_TRUE(complains("what is to happen to the qp is missing"));
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3", "drop", "0"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3", "drop", "1", "count", "2"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3", "drop", "1", "rnr", "2"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3", "drop", "1", "overrun"}), 2);
	EXPECT_TRUE(complains("'overrun' is nothing that happens to qp"));
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3", "cq", "4", "drop", "1"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "cq", "3", "overrun", "event", "fatal"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3", "delay", "11s"}), 2);
	EXPECT_EQ(pibctl({"inject", "del", "pib0", "0"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "0", "lie", "node-guid"}), 2);
	EXPECT_TRUE(complains("what is told instead of the truth is missing"));
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "0", "drop", "1", "value", "0x1"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "0", "lie", "port-state", "value", "0x1"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "0", "port", "255", "drop", "1"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "0", "drop", "1", "class", "x"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3", "drop", "1", "pid", "1"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "qp", "3", "verb", "reg_mr", "errno", "ENOMEM"}), 2);
	EXPECT_TRUE(complains("'qp' and 'verb': one object at a time"));
	EXPECT_EQ(pibctl({"inject", "pib0", "verb", "reg_mr", "errno", "NONE"}), 2);
	EXPECT_EQ(pibctl({"inject", "pib0", "verb", "reg_mr", "drop", "1"}), 2);
	EXPECT_TRUE(kernel.requests.empty());
}

TEST_F(Cli, RunsAScript)
{
	const std::string file = testing::TempDir() + "script.pib";
	const auto say = [&](const char *text) { std::ofstream(file) << text; };
	say("0 add $name netdev nonesuch standalone\n+1ms inject $name fatal\n");
	EXPECT_EQ(pibctl({"inject", "run", file.c_str(), "with", "name=pib0"}), 0);
	EXPECT_EQ(printed, "0s add pib0 netdev nonesuch standalone\n0.001s inject pib0 fatal\n");
	ASSERT_EQ(kernel.requests.size(), 2U);
	EXPECT_EQ(kernel.requests[0].command, PIB_CMD_HCA_NEW);
	EXPECT_EQ(kernel.requests[1].command, PIB_CMD_INJECT_NEW);
	kernel.requests.clear();
	for (const char *text : {"0 add pib0 netdev nonesuch standalone\n0 monitor\n",
				 "0 add pib0 netdev nonesuch standalone\n0 inject run other\n",
				 "0 add pib0 netdev nonesuch standalone\n0 del\n"}) {
		say(text);
		EXPECT_EQ(pibctl({"inject", "run", file.c_str()}), 2) << text;
		EXPECT_TRUE(complains("script.pib: line 2: ")) << complained;
	}
	EXPECT_EQ(pibctl({"inject", "run", file.c_str(), "with", "name"}), 2);
	EXPECT_TRUE(kernel.requests.empty());
	say("0 add pib0 netdev nonesuch standalone\n0 inject pib0 qp 1\n+9s add pib1\n");
	EXPECT_EQ(pibctl({"inject", "run", file.c_str()}), 2);
	EXPECT_TRUE(complains("script.pib: line 2: what is to happen")) << complained;
	EXPECT_EQ(kernel.requests.size(), 1U);
	std::filesystem::remove(file);
	EXPECT_EQ(pibctl({"inject", "run", file.c_str()}), 1);
	EXPECT_TRUE(complains("cannot read"));
}

TEST_F(Cli, TraceSaysWhatIsWrong)
{
	const std::vector<std::pair<std::vector<const char *>, const char *>> cases = {
		{{"trace", "pib0", "qp", "16777216"}, "qp must be"},
		{{"trace", "pid", "0"}, "pid must be"},
		{{"trace", "pib0/x"}, "must be a number"},
		{{"trace", "a\"b"}, "quotes"},
		{{"trace", "-c", "0"}, "-c must be"},
		{{"trace", "pib0", "event"}, "event"},
		{{"trace", "follow", "pib0"}, "'qp N' is missing"},
		{{"trace", "follow", "pib0", "qp", "1"}, "qp must be"},
		{{"trace", "mark"}, "TEXT"},
		{{"trace", "mark", "two\nlines"}, "control characters"},
		{{"trace", "mark", "two", "words"}, "words"},
	};
	for (const auto &[words, about] : cases) {
		EXPECT_EQ(pibctl(words), 2) << words.back();
		EXPECT_TRUE(complains(about)) << complained;
	}
	EXPECT_TRUE(kernel.requests.empty());
}

/// Another HCA may have a queue pair of datagrams with the same number.
TEST_F(Cli, TraceFollowsTheConnectionOfTheHcaThatIsNamed)
{
	const std::string file = testing::TempDir() + "trace.json";
	const auto line = [](const char *event, const char *device, int qpn, const char *fields) {
		return fmt::format(
			R"({{"event":"{}","time":1.5,"device":"{}","port":1,"qpn":{},{}}})"
			"\n",
			event, device, qpn, fields);
	};
	std::ofstream(file)
		<< line("qp_sent", "pib1", 17,
			R"("far_qpn":30,"index":0,"service":"UD","opcode":"SEND","psn":5,"packets":1)")
		<< line("wr_posted", "pib0", 17, R"("index":0,"opcode":"SEND","bytes":8)")
		<< line("qp_sent", "pib0", 17,
			R"("far_qpn":18,"index":0,"service":"RC","opcode":"SEND","psn":7,"packets":1)")
		<< line("qp_received", "pib1", 18,
			R"("far_qpn":17,"service":"RC","opcode":"SEND","psn":7,"packets":1)")
		<< line("ack_sent", "pib1", 18, R"("far_qpn":17,"answer":"ACK","psn":7)");
	EXPECT_EQ(pibctl({"trace", "follow", "pib0", "qp", "17", "from", file.c_str()}), 0)
		<< complained;
	EXPECT_NE(printed.find("qp 18 ack_sent"), std::string::npos) << printed;
	std::filesystem::remove(file);
}

TEST_F(Cli, MannersSaysWhatIsWrong)
{
	EXPECT_EQ(pibctl({"manners"}), 2);
	EXPECT_TRUE(complains("PID|COMMAND... is missing"));
	EXPECT_EQ(pibctl({"manners", "--error"}), 2);
	EXPECT_TRUE(complains("PID|COMMAND... is missing"));
	EXPECT_EQ(pibctl({"manners", "--bad", "1"}), 2);
	EXPECT_TRUE(complains("there is no option '--bad'"));
	EXPECT_TRUE(kernel.requests.empty());
}

/// There is no pib to be traced here, but the command line is read.
TEST_F(Cli, OptionsBehindAProgramAreItsOwn)
{
	EXPECT_EQ(pibctl({"manners", "true", "-d", "pib0", "--error", "trace", "--help"}), 1);
	EXPECT_EQ(pibctl({"-j", "manners", "--error", "true", "-x"}), 1);
	EXPECT_EQ(pibctl({"manners", "--", "true", "-x"}), 1);
	EXPECT_EQ(printed, "");
}

TEST_F(Cli, TopSaysWhatIsWrong)
{
	const std::vector<std::pair<std::vector<const char *>, const char *>> cases = {
		{{"top", "--once", "--interval", "0"}, "--interval must be"},
		{{"top", "--once", "--interval", "1x"}, "--interval must be"},
		{{"top", "--once", "--interval", "nan"}, "--interval must be"},
		{{"top", "--once", "sort", "size"}, "'size' is nothing to sort by"},
		{{"top", "--once", "kind", "mr"}, "'mr' is no kind"},
		{{"top", "--once", "pid", "0"}, "pid must be"},
		{{"top", "--once", "qp", "16777216"}, "qp must be"},
		{{"top", "--once", "pib0/x"}, "must be a number"},
		{{"top", "-c", "0"}, "-c must be"},
		{{"monitor", "-c", "0"}, "-c must be"},
	};
	for (const auto &[words, about] : cases) {
		EXPECT_EQ(pibctl(words), 2) << words.back();
		EXPECT_TRUE(complains(about)) << complained;
	}
	EXPECT_TRUE(kernel.requests.empty());
}

TEST_F(Cli, ServeSaysWhatIsWrong)
{
	const std::vector<std::pair<std::vector<const char *>, const char *>> cases = {
		{{"fabric", "serve", "--port", "65536"}, "--port must be"},
		{{"fabric", "serve", "--listen", "localhost"}, "localhost"},
		{{"fabric", "serve", "--listen", "127.0.0.1:80"}, "--port"},
		{{"fabric", "serve", "pib0"}, "pib0"},
	};
	for (const auto &[words, about] : cases) {
		EXPECT_EQ(pibctl(words), 2) << words.back();
		EXPECT_TRUE(complains(about)) << complained;
	}
	EXPECT_TRUE(kernel.requests.empty());
}

TEST_F(Cli, TopComparesTwoLooks)
{
	for (int look = 0; look < 2; ++look) {
		kernel.answer({fake::hca_answer()});
		kernel.answer({fake::switch_answer()});
		kernel.answer({fake::local_link_answer()});
		kernel.answer({fake::queue_pair_answer(), fake::attachment_answer()});
	}
	EXPECT_EQ(pibctl({"-j", "top", "--once", "--interval", "0.05"}), 0) << complained;
	const Json rates = Json::parse(printed);
	EXPECT_EQ(rates.at("qps").size(), 1U);
	EXPECT_EQ(rates.at("qps").at(0).at("qpn"), 17);
	EXPECT_EQ(rates.at("cables").size(), 1U);
	EXPECT_FALSE(rates.at("ports").empty());
	EXPECT_GE(rates.at("seconds"), 0.05);
}

TEST_F(Cli, EveryChangeIsOneRequest)
{
	const std::vector<std::pair<std::vector<const char *>, int>> cases = {
		{{"add", "show", "netdev", "add", "peer", "192.0.2.1"}, PIB_CMD_HCA_NEW},
		{{"add", "pib0"}, PIB_CMD_HCA_NEW},
		{{"add", "pib0", "ports", "2"}, PIB_CMD_HCA_NEW},
		{{"del", "pib0"}, PIB_CMD_HCA_DEL},
		{{"switch", "add", "add", "ports", "4"}, PIB_CMD_SWITCH_NEW},
		{{"switch", "del", "sw0"}, PIB_CMD_SWITCH_DEL},
		{{"link", "add", "sw0/1", "sw1/1"}, PIB_CMD_LINK_NEW},
		{{"link", "add", "sw0/1", "udp", "eth0", "peer", "[fe80::1%eth0]:5"},
		 PIB_CMD_LINK_NEW},
		{{"link", "del", "sw0/1"}, PIB_CMD_LINK_DEL},
		{{"set", "pib0", "accept", "peers"}, PIB_CMD_HCA_SET},
		{{"set", "pib0", "ecn", "off"}, PIB_CMD_HCA_SET},
		{{"set", "pib0", "dscp", "3=46,15=8"}, PIB_CMD_HCA_SET},
		{{"set", "pib0", "dscp", "none", "ecn", "on"}, PIB_CMD_HCA_SET},
		{{"add", "pib0", "netdev", "lo", "dscp", "0=1"}, PIB_CMD_HCA_NEW},
		{{"add", "pib0", "netdev", "lo", "flow-ports", "off"}, PIB_CMD_HCA_NEW},
		{{"add", "pib0", "netdev", "lo", "windows", "on"}, PIB_CMD_HCA_NEW},
		{{"set", "pib0", "flow-ports", "on"}, PIB_CMD_HCA_SET},
		{{"set", "pib0", "windows", "on"}, PIB_CMD_HCA_SET},
		{{"add", "pib0", "netdev", "lo", "ecn", "on"}, PIB_CMD_HCA_NEW},
		{{"add", "pib0", "netdev", "lo", "accept", "nobody"}, PIB_CMD_HCA_NEW},
		{{"link", "set", "sw0/1", "down"}, PIB_CMD_LINK_SET},
		{{"link", "set", "sw0/1", "loss", "1%", "seed", "7"}, PIB_CMD_LINK_SET},
		{{"add", "pib0", "behavior", "exact-cq"}, PIB_CMD_HCA_NEW},
		{{"set", "pib0", "behavior", "random"}, PIB_CMD_HCA_SET},
		{{"set", "pib0", "behavior", "none", "seed", "7"}, PIB_CMD_HCA_SET},
	};
	for (const auto &[words, command] : cases) {
		kernel.requests.clear();
		EXPECT_EQ(pibctl(words), 0) << complained;
		ASSERT_EQ(kernel.requests.size(), 1U);
		EXPECT_EQ(kernel.requests[0].command, command);
	}
}

TEST_F(Cli, AnHcaThatHasTheNameOfANetdevIsAddedWithANote)
{
	EXPECT_EQ(pibctl({"add", "pib0"}), 0) << complained;
	EXPECT_EQ(complained, "");
	EXPECT_EQ(pibctl({"add", "lo"}), 0);
	EXPECT_TRUE(complains("'pibctl add pib0 netdev lo'")) << complained;
}

TEST_F(Cli, WrongUsageIsStatusTwoAndReachesNoKernel)
{
	const std::vector<std::vector<const char *>> cases = {
		{},
		{"shwo"},
		{"--bogus"},
		{"add", "pib0", "--bogus"},
		{"add"},
		{"add", "pib0", "standalone"},
		{"add", "pib0", "peer", "192.0.2.1"},
		{"add", "pib0", "fabric", "7"},
		{"add", "pib0", "udp-port", "7"},
		{"add", "pib0", "key-file", "/dev/null"},
		{"add", "pib0", "netdev", "eth0", "ports", "0"},
		{"add", "pib0", "netdev", "eth0", "udp-port", "65536"},
		{"add", "pib0", "netdev", "eth0", "fabric", "4294967296"},
		{"add", "pib0", "netdev", "eth0", "peer", "fe80::1%eth1"},
		{"add", "links", "netdev", "eth0"},
		{"add", "pib0", "netdev", "eth0", "second-key-file", "/dev/null"},
		{"set", "pib0"},
		{"set", "pib0", "second-key-file", "/dev/null", "no-second-key"},
		{"set", "pib0", "force"},
		{"set", "pib0", "behavior"},
		{"set", "pib0", "behavior", "bogus"},
		{"set", "pib0", "behavior", "exact-cq", "no-second-key"},
		{"set", "pib0", "behavior", "exact-cq", "seed", "x"},
		{"set", "pib0", "seed", "7"},
		{"add", "pib0", "seed", "7"},
		{"add", "pib0", "behavior", "exact-cq,"},
		{"set", "pib0", "accept", "all"},
		{"set", "pib0", "ecn", "yes"},
		{"set", "pib0", "flow-ports", "8"},
		{"set", "pib0", "windows", "8"},
		{"set", "pib0", "windows", "on", "behavior", "none"},
		{"add", "pib0", "windows", "on"},
		{"set", "pib0", "flow-ports", "on", "behavior", "none"},
		{"add", "pib0", "flow-ports", "on"},
		{"set", "pib0", "ecn", "on", "behavior", "none"},
		{"add", "pib0", "ecn", "on"},
		{"add", "pib0", "dscp", "1=1"},
		{"set", "pib0", "dscp", "46"},
		{"set", "pib0", "dscp", "16=46"},
		{"set", "pib0", "dscp", "1=64"},
		{"set", "pib0", "dscp", "1=2,1=3"},
		{"set", "pib0", "dscp", "1=2,"},
		{"add", "pib0", "accept", "link"},
		{"add", "pib0", "netdev", "eth0", "accept", "strangers"},
		{"set"},
		{"del"},
		{"del", "pib0", "pib1"},
		{"switch"},
		{"switch", "add", "sw0"},
		{"switch", "add", "sw0", "ports", "255"},
		{"link", "add", "sw0/1"},
		{"link", "add", "sw0/1", "sw0/1"},
		{"link", "add", "sw0/1", "sw1/1", "udp", "eth0"},
		{"link", "add", "sw0/1", "udp", "eth0"},
		{"link", "add", "sw0/1", "sw1/1", "fabric", "1"},
		{"link", "add", "sw0/1", "sw1/1", "key-file", "/dev/null"},
		{"link", "add", "sw0/1", "udp", "eth0", "peer", "192.0.2.1", "udp-port", "0"},
		{"link", "set", "sw0/1", "sideways"},
		{"link", "set", "sw0/1"},
		{"link", "set", "sw0/1", "loss", "101%"},
		{"link", "set", "sw0/1", "flap", "1s"},
		{"show", "pib0", "links"},
		{"show", "links", "pib0/0"},
	};
	for (const auto &words : cases) {
		EXPECT_EQ(pibctl(words), 2) << (words.empty() ? "" : words.back());
		EXPECT_EQ(printed, "");
		EXPECT_NE(complained, "");
	}
	EXPECT_TRUE(kernel.requests.empty());
}

TEST_F(Cli, RefusalsAreStatusOneOnStderr)
{
	kernel.refuse({ENODEV, "no netdev of that name", fake::u32(NLMSGERR_ATTR_OFFS, 32)});
	EXPECT_EQ(pibctl({"add", "pib0", "netdev", "eth9"}), 1);
	EXPECT_EQ(printed, "");
	EXPECT_EQ(
		complained,
		"pibctl: cannot add HCA pib0 on netdev eth9: no netdev of that name (attribute netdev)\n");
}

TEST_F(Cli, RefusalsWithoutWordsStillSayWhy)
{
	kernel.capped = false;
	const std::vector<std::pair<int, const char *>> cases = {
		{ENODEV, "no netdev 'eth9' in this network namespace"},
		{EEXIST, "the name is taken"},
		{EPERM, "CAP_NET_ADMIN"},
		{EADDRINUSE, "udp-port"},
		{EOPNOTSUPP, "one release"},
	};
	for (const auto &[code, words] : cases) {
		kernel.refuse({code, ""});
		EXPECT_EQ(pibctl({"add", "pib0", "netdev", "eth9"}), 1);
		EXPECT_TRUE(complains(words)) << complained;
	}
}

TEST_F(Cli, SaysThatTheModuleIsMissing)
{
	kernel.loaded = false;
	EXPECT_EQ(pibctl({"show"}), 1);
	EXPECT_TRUE(complains("modprobe pib"));
	EXPECT_EQ(pibctl({"del", "pib0"}), 1);
	EXPECT_TRUE(complains("modprobe pib"));
}

TEST_F(Cli, DelFallsBackToTheSwitch)
{
	kernel.refuse({ENOENT, "no such HCA"});
	EXPECT_EQ(pibctl({"del", "sw0"}), 0);
	ASSERT_EQ(kernel.requests.size(), 2U);
	EXPECT_EQ(kernel.requests[1].command, PIB_CMD_SWITCH_DEL);
}

TEST_F(Cli, DelOfNothingNamesBothKinds)
{
	kernel.refuse({ENODEV, ""});
	kernel.refuse({ENOENT, "no such switch"});
	EXPECT_EQ(pibctl({"del", "x"}), 1);
	EXPECT_TRUE(complains("cannot delete x: no such HCA or switch")) << complained;
}

TEST_F(Cli, DelThatIsRefusedStopsThere)
{
	kernel.refuse({EPERM, ""});
	EXPECT_EQ(pibctl({"del", "pib0"}), 1);
	EXPECT_EQ(kernel.requests.size(), 1U);
}

TEST_F(Cli, ShowsAsText)
{
	kernel.answer({fake::hca_answer()});
	kernel.answer({fake::switch_answer()});
	EXPECT_EQ(pibctl({"show"}), 0);
	EXPECT_EQ(
		printed,
		"hca pib0 netdev eth0 fabric 0 udp_port 18514 description \"host1 pib0\"\n"
		"    node_guid 0x0250c2fffe000001 num_ports 1\n"
		"  port pib0/1 state ACTIVE physical_state LINK_UP lid 3 sm_lid 1 lmc 0 netdev eth0\n"
		"      port_guid 0x0250c2fffe000002 link_layer InfiniBand mtu 2048 rate 10 Gb/sec (4X "
		"SDR)\n"
		"switch eth0 auto yes\n"
		"    node_guid 0x0250c2fffe000003 num_ports 2 enhanced_port0 yes sys_image_guid 0x0250c2fffe000009 "
		"vendor_id 0x2c9 device_id 0xd2f0\n"
		"  port eth0/0 lid 2\n"
		"  and 1 more in state DOWN, POLLING\n");
}

TEST_F(Cli, ShowOfOneSwitchLeavesNothingOut)
{
	for (const auto &words :
	     {std::vector<const char *>{"switch", "show", "eth0"}, {"show", "eth0"}}) {
		if (words.size() == 2)
			kernel.refuse({ENODEV, ""});
		kernel.answer({fake::switch_answer()});
		EXPECT_EQ(pibctl(words), 0);
		EXPECT_EQ(
			printed,
			"switch eth0 auto yes\n"
			"    node_guid 0x0250c2fffe000003 num_ports 2 enhanced_port0 yes sys_image_guid 0x0250c2fffe000009 "
			"vendor_id 0x2c9 device_id 0xd2f0\n"
			"  port eth0/0 lid 2\n"
			"  port eth0/1 state DOWN physical_state POLLING\n");
	}
}

TEST_F(Cli, NothingUnsaidLeavesNoEmptyLine)
{
	const Bytes end = fake::nest(PIB_A_LINK_A,
				     {fake::text(PIB_END_NODE, "a"), fake::u32(PIB_END_PORT, 1)});
	kernel.answer(
		{fake::join({end, fake::nest(PIB_A_UDP_LINK, {fake::text(PIB_UL_NETDEV, "e")})})});
	EXPECT_EQ(pibctl({"show", "links"}), 0);
	EXPECT_EQ(printed, "link a/1 udp e peer ? up no\n");
}

TEST_F(Cli, TellsWhyAPeerRefusesALink)
{
	const Bytes end = fake::nest(PIB_A_LINK_A,
				     {fake::text(PIB_END_NODE, "a"), fake::u32(PIB_END_PORT, 1)});
	const Bytes link = fake::join(
		{end, fake::nest(PIB_A_UDP_LINK, {fake::text(PIB_UL_NETDEV, "e"),
						  fake::text(PIB_UL_REFUSAL, "no room")})});
	kernel.answer({link});
	EXPECT_EQ(pibctl({"show", "peers"}), 0);
	EXPECT_EQ(printed, "peer ? netdev e link a/1 up no refusal \"no room\"\n");
	kernel.answer({link});
	EXPECT_EQ(pibctl({"-j", "show", "peers"}), 0);
	EXPECT_EQ(Json::parse(printed).at("peers").at(0).at("refusal"), "no room");
}

TEST_F(Cli, ShowsAsJson)
{
	kernel.answer({fake::hca_answer()});
	kernel.answer({fake::switch_answer()});
	EXPECT_EQ(pibctl({"show", "-j"}), 0);
	EXPECT_EQ(printed.find('\n'), printed.size() - 1);
	const Json all = Json::parse(printed);
	const Json &hca = all.at("hcas").at(0);
	EXPECT_EQ(hca.at("name"), "pib0");
	EXPECT_EQ(hca.at("node_guid"), "0x0250c2fffe000001");
	EXPECT_EQ(hca.at("standalone"), false);
	const Json &port = hca.at("ports").at(0);
	EXPECT_EQ(port, Json::parse(R"({"port": 1, "state": "ACTIVE", "physical_state": "LINK_UP",
      "lid": 3, "sm_lid": 1, "lmc": 0, "port_guid": "0x0250c2fffe000002", "rate": 10.0,
      "width": "4X", "speed": "SDR", "mtu": 2048, "link_layer": "InfiniBand", "netdev": "eth0"})"));
	EXPECT_FALSE(hca.contains("vendor_id"));
	EXPECT_EQ(all.at("switches").at(0).at("auto"), true);
	EXPECT_EQ(all.at("switches").at(0).at("vendor_id"), "0x2c9");
	EXPECT_EQ(all.at("switches").at(0).at("device_id"), "0xd2f0");
	EXPECT_EQ(all.at("switches").at(0).at("sys_image_guid"), "0x0250c2fffe000009");
	EXPECT_EQ(all.at("switches").at(0).at("enhanced_port0"), true);
	EXPECT_EQ(all.at("switches").at(0).at("ports").size(), 2U);
}

TEST_F(Cli, PrettyJsonIsTheSameJson)
{
	kernel.answer({fake::uplink_answer()});
	EXPECT_EQ(pibctl({"-j", "show", "uplinks"}), 0);
	const Json plain = Json::parse(printed);
	kernel.answer({fake::uplink_answer()});
	EXPECT_EQ(pibctl({"-jp", "show", "uplinks"}), 0);
	EXPECT_EQ(Json::parse(printed), plain);
	EXPECT_NE(printed.find("\n    "), std::string::npos);
	EXPECT_EQ(plain.at("uplinks").at(0).at("counters").at("tx_datagrams"), 10);
}

TEST_F(Cli, UplinkHasTheStateOfItsNetdev)
{
	const auto flags = netdev_flags("lo");
	ASSERT_TRUE(flags);
	kernel.answer(
		{fake::join({fake::text(PIB_A_NETDEV, "lo"), fake::u32(PIB_A_IFINDEX, 1)}),
		 fake::text(PIB_A_NETDEV, "lo"),
		 fake::join({fake::text(PIB_A_NETDEV, "nonesuch"), fake::u32(PIB_A_IFINDEX, 9)})});
	EXPECT_EQ(pibctl({"-j", "show", "uplinks"}), 0);
	const Json uplinks = Json::parse(printed).at("uplinks");
	EXPECT_EQ(uplinks.at(0).at("state"), netdev_state(*flags));
	EXPECT_FALSE(uplinks.at(1).contains("state"));
	EXPECT_FALSE(uplinks.at(2).contains("state"));
}

TEST_F(Cli, ShowOfOneNameFindsHcaOrSwitch)
{
	kernel.answer({fake::hca_answer()});
	EXPECT_EQ(pibctl({"-j", "show", "pib0"}), 0);
	EXPECT_EQ(Json::parse(printed).at("hcas").size(), 1U);
	kernel.refuse({ENOENT, ""});
	kernel.answer({fake::switch_answer()});
	EXPECT_EQ(pibctl({"-j", "show", "eth0"}), 0);
	EXPECT_EQ(Json::parse(printed).at("switches").size(), 1U);
	kernel.refuse({ENOENT, ""});
	kernel.refuse({ENODEV, ""});
	EXPECT_EQ(pibctl({"show", "x"}), 1);
	EXPECT_TRUE(complains("no HCA or switch 'x'"));
}

TEST_F(Cli, ShowsLinksAndSelectsThem)
{
	const auto show = [&](std::vector<const char *> words) {
		kernel.answer({fake::local_link_answer(), fake::udp_link_answer()});
		words.insert(words.begin(), "-j");
		EXPECT_EQ(pibctl(words), 0) << complained;
		return Json::parse(printed).at("links");
	};
	EXPECT_EQ(show({"link", "show"}).size(), 2U);
	EXPECT_EQ(show({"show", "links", "eth0"}).size(), 2U);
	EXPECT_EQ(show({"show", "links", "pib0"}).size(), 1U);
	EXPECT_EQ(show({"show", "links", "eth0/1"}).size(), 1U);
	EXPECT_EQ(show({"link", "show", "eth0/9"}).size(), 0U);
}

TEST_F(Cli, ShowsFaults)
{
	const auto link = [] {
		return fake::join({fake::local_link_answer(), fake::fault_answer()});
	};
	kernel.answer({link()});
	EXPECT_EQ(pibctl({"show", "links"}), 0);
	EXPECT_EQ(printed, "link pib0/1 eth0/1 plugged yes auto yes\n"
			   "    seed                               7\n"
			   "    loss                               0.01\n"
			   "    bit_errors                         1e-12\n"
			   "    latency_ns                         10000\n"
			   "    buffer                             16384\n"
			   "  to pib0/1\n"
			   "      packets 100 lost 1 damaged 2 duplicated 3 reordered 4\n");
	kernel.answer({link()});
	EXPECT_EQ(pibctl({"-j", "show", "links"}), 0);
	const Json shown = Json::parse(printed).at("links").at(0);
	EXPECT_EQ(shown.at("faults").at("latency_ns"), 10000);
	EXPECT_EQ(shown.at("faults").at("flap_up_ms"), 0);
	EXPECT_EQ(shown.at("arrivals").at(0).at("lost"), 1);
}

TEST_F(Cli, LinksAsText)
{
	kernel.answer({fake::local_link_answer(), fake::udp_link_answer()});
	EXPECT_EQ(pibctl({"show", "links"}), 0);
	EXPECT_EQ(printed, "link pib0/1 eth0/1 plugged yes auto yes\n"
			   "link eth0/2 udp eth0 peer 192.0.2.7:18514 up yes\n"
			   "    peer_node_guid 0x0250c2fffe000004 peer_port 3 peer_description "
			   "evil\\x1b[2J\\xff\n");
}

TEST_F(Cli, WhatPeersSayOfThemselvesDoesNoHarm)
{
	kernel.answer({fake::local_link_answer(), fake::udp_link_answer()});
	EXPECT_EQ(pibctl({"show", "peers"}), 0);
	EXPECT_EQ(printed.find('\x1b'), std::string::npos);
	EXPECT_NE(printed.find("evil\\x1b[2J\\xff"), std::string::npos) << printed;
	kernel.answer({fake::udp_link_answer()});
	EXPECT_EQ(pibctl({"-j", "show", "peers"}), 0);
	const Json peer = Json::parse(printed).at("peers").at(0);
	EXPECT_EQ(peer.at("address"), "192.0.2.7:18514");
	EXPECT_EQ(peer.at("up"), true);
	EXPECT_EQ(peer.at("link"), Json::parse(R"({"node": "eth0", "port": 2})"));
}

TEST_F(Cli, ShowsObjectsOfVerbs)
{
	const auto answer = [&] {
		kernel.answer({fake::queue_pair_answer(), fake::attachment_answer()});
	};
	answer();
	EXPECT_EQ(pibctl({"-j", "show", "objects"}), 0);
	EXPECT_EQ(Json::parse(printed).at("objects").size(), 2U);
	answer();
	EXPECT_EQ(pibctl({"-j", "show", "objects", "pib0", "kind", "attachment"}), 0);
	EXPECT_EQ(Json::parse(printed).at("objects").size(), 1U);
	answer();
	EXPECT_EQ(pibctl({"-j", "show", "objects", "pid", "4711", "qp", "17"}), 0);
	EXPECT_EQ(Json::parse(printed).at("objects").size(), 1U);
	answer();
	EXPECT_EQ(pibctl({"show", "objects", "pib1"}), 0);
	EXPECT_EQ(printed, "");
	EXPECT_EQ(pibctl({"show", "objects", "kind", "hca"}), 2);
	kernel.refuse({EOPNOTSUPP, ""});
	EXPECT_EQ(pibctl({"show", "objects"}), 1);
}

TEST_F(Cli, ShowsCountersOfOnePort)
{
	const auto answer = [&] {
		kernel.answer({fake::hca_answer()});
		kernel.answer({fake::switch_answer()});
	};
	answer();
	EXPECT_EQ(pibctl({"show", "counters", "pib0/1"}), 0);
	EXPECT_EQ(printed, "port pib0/1\n"
			   "    port_xmit_bytes                    1099511627776\n"
			   "    port_xmit_wait                     5\n");
	answer();
	EXPECT_EQ(pibctl({"-j", "show", "counters"}), 0);
	EXPECT_EQ(Json::parse(printed).at("counters").size(), 3U);
	answer();
	EXPECT_EQ(pibctl({"show", "counters", "pib0/2"}), 1);
}

TEST_F(Cli, NothingIsShownAsNothing)
{
	EXPECT_EQ(pibctl({"show", "links"}), 0);
	EXPECT_EQ(printed, "");
	EXPECT_EQ(pibctl({"-j", "show"}), 0);
	EXPECT_EQ(Json::parse(printed), Json::parse(R"({"hcas": [], "switches": []})"));
}

TEST_F(Cli, MalformedAnswersAreErrors)
{
	kernel.answer({Bytes{1, 2, 3}});
	EXPECT_EQ(pibctl({"show"}), 1);
	EXPECT_EQ(printed, "");
	EXPECT_TRUE(complains("malformed"));
}

TEST_F(Cli, HelpTeachesAtEveryLevel)
{
	EXPECT_EQ(pibctl({"--help"}), 0);
	EXPECT_NE(printed.find("opensm"), std::string::npos);
	for (const Command *command : all_commands()) {
		std::vector<const char *> words;
		for (const auto word : {command->group, command->name})
			if (!word.empty())
				words.push_back(word.data());
		words.push_back("--help");
		EXPECT_EQ(pibctl(words), 0);
		EXPECT_NE(printed.find("Usage: pibctl "), std::string::npos);
		EXPECT_NE(printed.find("Examples:"), std::string::npos);
		words.back() = "help";
		const std::string by_option = printed;
		EXPECT_EQ(pibctl(words), 0);
		EXPECT_EQ(printed, by_option);
	}
}

TEST_F(Cli, ExamplesOfTheHelpAreAccepted)
{
	// Commands that go on until they are interrupted end before they begin.
	kernel.loaded = false;
	for (const Command *command : all_commands())
		for (const Example &example : command->examples) {
			std::istringstream stream{std::string(example.command)};
			std::vector<std::string> words;
			for (std::string word; stream >> word;)
				words.push_back(word);
			std::vector<const char *> argv;
			for (const std::string &word : words)
				argv.push_back(word.c_str());
			argv.erase(argv.begin());
			EXPECT_NE(pibctl(argv), 2) << example.command << ": " << complained;
		}
}

TEST_F(Cli, VersionNeedsNoModule)
{
	kernel.loaded = false;
	EXPECT_EQ(pibctl({"--version"}), 0);
	EXPECT_EQ(printed.rfind("pibctl ", 0), 0U);
	EXPECT_NE(printed.find("\nmodule pib "), std::string::npos);
}

} // namespace
} // namespace pib::ctl
