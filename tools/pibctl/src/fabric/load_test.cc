// SPDX-License-Identifier: GPL-2.0
#include "fabric/load.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "cli/fake_shell.h"
#include "netlink/fake_kernel.h"
#include "objects/fake_objects.h"
#include "fabric/picture.h"
#include "model/topology/parse.h"

namespace pib::ctl {
namespace {

constexpr const char *kNet =
	"Switch 8 \"spine 1\"\n[1] \"leaf\"[8]\n[2] \"leaf\"[7]\n\n"
	"Switch 8 \"leaf\"\n[1] \"A\"[1]\n[7] \"spine 1\"[2]\n[8] \"spine 1\"[1]\n[2] \"pib1\"[1]\n\n"
	"Hca 1 \"A\" # \"node a\"\n[1](abc) \"leaf\"[1]\n\n"
	"Hca 1 \"pib1\"\n[1] \"leaf\"[2]\n";

Topology topology()
{
	const auto parsed = parse_topology("net", [](const std::string &) -> Result<std::string> {
		return std::string(kNet);
	});
	EXPECT_TRUE(parsed);
	return *parsed;
}

std::vector<int> commands(const fake::Kernel &kernel)
{
	std::vector<int> all;
	for (const auto &sent : kernel.requests)
		all.push_back(sent.command);
	return all;
}

TEST(FabricLoad, NamesNodes)
{
	const LoadPlan plan = plan_load(topology(), {"leaf", "pib0"});
	EXPECT_EQ(plan.names.at("spine 1"), "spine_1");
	EXPECT_EQ(plan.names.at("leaf"), "sw0");
	EXPECT_EQ(plan.names.at("pib1"), "pib1");
	EXPECT_EQ(plan.names.at("A"), "pib2");
	EXPECT_EQ(plan.hcas, (std::vector<std::string>{"pib2", "pib1"}));
}

TEST(FabricLoad, SwitchesThenHcasThenCables)
{
	const LoadPlan plan = plan_load(topology(), {});
	ASSERT_EQ(plan.changes.size(), 8U);
	const auto &spine = std::get<SwitchRequest>(plan.changes[0]);
	EXPECT_EQ(spine.num_ports, 8U);
	EXPECT_EQ(spine.description, "spine 1");
	const auto &hca = std::get<HcaRequest>(plan.changes[2]);
	EXPECT_EQ(hca.name, "pib0");
	EXPECT_EQ(hca.netdev, "");
	EXPECT_EQ(hca.description, "node a");
	EXPECT_EQ(hca.port_guids.at(1), 0xabcU);
	const auto &link = std::get<LinkRequest>(plan.changes[4]);
	EXPECT_EQ(link.a, (End{"spine_1", 1}));
	EXPECT_EQ(link.b, (End{"leaf", 8}));
}

TEST(FabricLoad, CarriesWhoMadeTheNodes)
{
	const auto net = parse_topology("net", [](const std::string &) -> Result<std::string> {
		return std::string(
			"vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x77\nSwitch 8 \"s\" # \"x\" enhanced port 0\n\n"
			"vendid=0x2c9\ndevid=0x1017\nsysimgguid=0x78\nCa 1 \"h\"\n");
	});
	ASSERT_TRUE(net);
	const LoadPlan plan = plan_load(*net, {});
	const auto &node = std::get<SwitchRequest>(plan.changes[0]);
	EXPECT_EQ(node.product, (Product{0x77U, 0x2c9U, std::uint16_t{0xd2f0}}));
	EXPECT_TRUE(node.enhanced_port0);
	EXPECT_EQ(std::get<HcaRequest>(plan.changes[1]).product,
		  (Product{0x78U, 0x2c9U, std::uint16_t{0x1017}}));
}

TEST(FabricLoad, OneMessageForAll)
{
	fake::Kernel kernel;
	Client client(kernel.factory());
	EXPECT_TRUE(execute_load(client, plan_load(topology(), {})));
	EXPECT_EQ(commands(kernel),
		  (std::vector<int>{PIB_CMD_SWITCH_NEW, PIB_CMD_SWITCH_NEW, PIB_CMD_HCA_NEW,
				    PIB_CMD_HCA_NEW, PIB_CMD_LINK_NEW, PIB_CMD_LINK_NEW,
				    PIB_CMD_LINK_NEW, PIB_CMD_LINK_NEW}));
}

TEST(FabricLoad, WhatWasMadeIsDeletedAfterARefusal)
{
	fake::Kernel kernel;
	Client client(kernel.factory());
	kernel.answer({});
	kernel.answer({});
	kernel.refuse({0, "the HCA is in the initial network namespace"});
	kernel.refuse({EEXIST, "the GUID is taken"});
	kernel.refuse({ENODEV, "no HCA or switch"});
	const auto loaded = execute_load(client, plan_load(topology(), {}));
	ASSERT_FALSE(loaded);
	EXPECT_EQ(loaded.error().text, "cannot add HCA pib1: the GUID is taken");
	const auto sent = commands(kernel);
	EXPECT_EQ(std::vector<int>(sent.begin() + 8, sent.end()),
		  (std::vector<int>{PIB_CMD_HCA_DEL, PIB_CMD_SWITCH_DEL, PIB_CMD_SWITCH_DEL}));
	EXPECT_TRUE(client.notes().empty()) << "they are about what is gone";
}

TEST(FabricLoad, WhatWasMadeIsDeletedWhenItIsInterrupted)
{
	fake::Kernel kernel;
	Client client(kernel.factory());
	LoadPlan plan;
	for (int i = 0; i < 100; ++i)
		plan.changes.emplace_back(SwitchRequest{"s", 1, {}, {}});
	std::size_t made = 0;
	std::size_t left = 0;
	const auto loaded = execute_load(
		client, plan,
		[&](std::size_t done, std::size_t all) -> Status {
			EXPECT_EQ(all, 100U);
			made = done;
			if (done > 20)
				return Error{"interrupted"};
			return success();
		},
		[&](std::size_t, std::size_t all) {
			left = all;
			return success();
		});
	ASSERT_FALSE(loaded);
	EXPECT_EQ(loaded.error().text, "interrupted");
	EXPECT_LT(made, 100U);
	EXPECT_EQ(left, made);
	const auto sent = commands(kernel);
	EXPECT_EQ(std::ranges::count(sent, PIB_CMD_SWITCH_NEW), made);
	EXPECT_EQ(std::ranges::count(sent, PIB_CMD_SWITCH_DEL), made);
}

TEST(FabricLoad, NothingMoreIsSentAfterARefusal)
{
	fake::Kernel kernel;
	Client client(kernel.factory());
	kernel.refuse({EPERM, ""});
	std::vector<Change> changes(200, SwitchRequest{"s", 1, {}, {}});
	const auto applied = client.apply(changes);
	EXPECT_FALSE(applied.status);
	EXPECT_LT(kernel.requests.size(), 200U);
	EXPECT_EQ(applied.made.size(), 200U);
	EXPECT_FALSE(applied.made.front());
	EXPECT_FALSE(applied.made.back());
}

class FabricCommands : public fake::Shell {
protected:
	void answer_all()
	{
		kernel.answer({fake::hca_answer()});
		kernel.answer({fake::switch_answer()});
		kernel.answer({fake::local_link_answer(), fake::udp_link_answer()});
	}
};

TEST_F(FabricCommands, SavesWhatLoadReads)
{
	answer_all();
	EXPECT_EQ(pibctl({"fabric", "save"}), 0) << complained;
	const std::string saved = printed;
	const auto again = parse_topology(
		"saved", [&](const std::string &) -> Result<std::string> { return saved; });
	ASSERT_TRUE(again) << again.error().text << saved;
	ASSERT_EQ(again->nodes.size(), 2U);
	EXPECT_EQ(again->nodes[1].id, "pib0");
	EXPECT_EQ(again->nodes[1].guid, 0x0250c2fffe000001U);
	EXPECT_EQ(port_guid(again->nodes[1], 1), 0x0250c2fffe000002U);
	EXPECT_EQ(again->cables.size(), 1U);
	EXPECT_EQ(again->nodes[0].product,
		  (Product{0x0250c2fffe000009U, 0x2c9U, std::uint16_t{0xd2f0}}));
	EXPECT_TRUE(again->nodes[0].enhanced_port0);
}

TEST_F(FabricCommands, DrawsStatesLidsAndLoad)
{
	answer_all();
	EXPECT_EQ(pibctl({"fabric", "draw"}), 0) << complained;
	EXPECT_EQ(printed.substr(0, 4), "<svg");
	EXPECT_NE(printed.find("lid 3"), std::string::npos);
	EXPECT_NE(printed.find("pib0/1 - eth0/1 DOWN"), std::string::npos) << printed;
	EXPECT_NE(printed.find("1.1 TB"), std::string::npos);
	answer_all();
	EXPECT_EQ(pibctl({"fabric", "draw", "format", "dot"}), 0) << complained;
	EXPECT_NE(printed.find("\"pib0\" -- \"eth0\""), std::string::npos) << printed;
}

TEST_F(FabricCommands, PicturesHoldNoMarkupFromDescriptions)
{
	FabricSnapshot snapshot;
	Switch node;
	node.name = "a";
	node.description = "<script>\"&\\";
	snapshot.switches.push_back(node);
	const Picture picture = draw(snapshot);
	EXPECT_EQ(format_svg(picture).find("<script>"), std::string::npos);
	EXPECT_NE(format_svg(picture).find("&lt;script&gt;&quot;&amp;"), std::string::npos);
	EXPECT_EQ(format_dot(picture).find("<script>\""), std::string::npos);
}

TEST_F(FabricCommands, LoadBetweenTwoLooks)
{
	const auto snapshot = [](std::uint64_t bytes) {
		FabricSnapshot now;
		for (const char *name : {"a", "b"}) {
			Hca node;
			node.name = name;
			Port port;
			port.number = 1;
			port.counters = {{"port_xmit_bytes", bytes}};
			node.ports.push_back(port);
			now.hcas.push_back(node);
		}
		Link link;
		link.a = {"a", 1};
		link.b = End{"b", 1};
		now.links.push_back(link);
		return now;
	};
	const Picture picture = draw_between(snapshot(100), snapshot(2100), 2);
	ASSERT_EQ(picture.cables.size(), 1U);
	EXPECT_EQ(picture.cables[0].load, 2000);
	EXPECT_EQ(format_load(picture.cables[0].load, picture.load_is_rate), "2.0 kB/s");
}

TEST_F(FabricCommands, ClearDeletesAllButHostSwitches)
{
	kernel.answer({fake::hca_answer()});
	kernel.answer({});
	kernel.answer({fake::switch_answer()});
	EXPECT_EQ(pibctl({"fabric", "clear"}), 0) << complained;
	EXPECT_EQ(commands(kernel),
		  (std::vector<int>{PIB_CMD_HCA_GET, PIB_CMD_HCA_DEL, PIB_CMD_SWITCH_GET}));
}

TEST_F(FabricCommands, FilesThatCannotBeReadOrWritten)
{
	EXPECT_EQ(pibctl({"fabric", "load", "/nonexistent/net"}), 1);
	EXPECT_NE(complained.find("cannot read /nonexistent/net: No such file"), std::string::npos)
		<< complained;
	EXPECT_EQ(pibctl({"fabric", "load", "/"}), 1);
	EXPECT_EQ(pibctl({"fabric", "save", "/nonexistent/net"}), 1);
	EXPECT_NE(complained.find("cannot write /nonexistent/net"), std::string::npos)
		<< complained;
	EXPECT_EQ(pibctl({"fabric", "draw", "format", "png"}), 2);
	EXPECT_EQ(pibctl({"fabric", "draw", "seconds", "0"}), 2);
	EXPECT_EQ(pibctl({"fabric", "load"}), 2);
}

} // namespace
} // namespace pib::ctl
