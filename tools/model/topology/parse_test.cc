// SPDX-License-Identifier: GPL-2.0
#include "model/topology/parse.h"

#include <gtest/gtest.h>

#include <map>

#include "model/topology/write.h"

namespace pib::inline model {
namespace {

using Kind = TopologyNode::Kind;

class TopologyParse : public testing::Test {
protected:
	Result<Topology> parse(const std::string &text)
	{
		files["net"] = text;
		return parse_topology("net",
				      [this](const std::string &path) -> Result<std::string> {
					      const auto found = files.find(path);
					      if (found == files.end())
						      return Error{"cannot read " + path};
					      return found->second;
				      });
	}

	Topology good(const std::string &text)
	{
		auto topology = parse(text);
		EXPECT_TRUE(topology) << (topology ? "" : topology.error().text);
		return topology ? *topology : Topology{};
	}

	std::string bad(const std::string &text)
	{
		const auto topology = parse(text);
		EXPECT_FALSE(topology) << text;
		return topology ? "" : topology.error().text;
	}

	std::map<std::string, std::string> files;
};

constexpr const char *kSimple = "# ibsim's grammar\n"
				"Switch\t8 \"S\"\n"
				"[1]\t\"A\"[1]\n"
				"# a comment ends no record\n"
				"[4]\t\"B\"[2]\tw=1 s=4\n"
				"\n"
				"Hca\t2 \"A\"\t# \"node a\"\n"
				"[1]\t\"S\"\n"
				"\n"
				"Hca 2 \"B\"\n"
				"[2] \"S\"[4]";

TEST_F(TopologyParse, ReadsNodesAndCables)
{
	const Topology net = good(kSimple);
	ASSERT_EQ(net.nodes.size(), 3U);
	EXPECT_EQ(net.nodes[0].kind, Kind::kSwitch);
	EXPECT_EQ(net.nodes[0].num_ports, 8U);
	EXPECT_EQ(net.nodes[1].id, "A");
	EXPECT_EQ(net.nodes[1].description, "node a");
	EXPECT_EQ(net.nodes[2].description, "B");
	ASSERT_EQ(net.cables.size(), 2U);
	EXPECT_EQ(net.cables[1].a, (End{"S", 4}));
	EXPECT_EQ(net.cables[1].b, (End{"B", 2}));
}

TEST_F(TopologyParse, NumbersGuidsAsIbsimDoes)
{
	const Topology net = good(kSimple);
	EXPECT_EQ(net.nodes[0].guid, 0x200000U);
	EXPECT_EQ(net.nodes[1].guid, 0x100000U);
	EXPECT_EQ(net.nodes[2].guid, 0x100003U);
	EXPECT_EQ(port_guid(net.nodes[2], 2), 0x100005U);
	const Topology based =
		good("switchguid=0xabc00\nSwitch 1 \"a\"\n\nswitchguid+16\nSwitch 1 \"b\"\n\n"
		     "Switch 1 \"c\"\n");
	EXPECT_EQ(based.nodes[0].guid, 0xabc00U);
	EXPECT_EQ(based.nodes[1].guid, 0xabc10U);
	EXPECT_EQ(based.nodes[2].guid, 0xabc11U);
}

constexpr const char *kDiscovered =
	"#\n# Topology file: generated on Sat Nov 21 19:00:00 2026\n#\n"
	"# Initiated from node 0002c90200420d58 port 0002c90200420d59\n\n"
	"vendid=0x2c9\ndevid=0xb924\nsysimgguid=0x8f10400410015\nswitchguid=0x8f10400410015(8f10400410015)\n"
	"Switch\t24 \"S-0008f10400410015\"\t\t# \"a \"quoted\" switch\" base port 0 lid 2 lmc 0\n"
	"[5]\t\"H-0002c90200420d58\"[1](2c90200420d5f) \t\t# \"host HCA-1\" lid 3 4xSDR\n"
	"[6]\t\"H-0002c90200420e00\"[2](2c90200420e02) \t\t# \"other\" lid 4 4xSDR\n"
	"\nvendid=0x2c9\ndevid=0x5a44\nsysimgguid=0x2c90200420d5b\ncaguid=0x2c90200420d58\n"
	"Ca\t2 \"H-0002c90200420d58\"\t\t# \"host HCA-1\"\n"
	"[1](2c90200420d5f) \t\"S-0008f10400410015\"[5]\t\t# lid 3 lmc 0 \"a\" lid 2 4xSDR\n"
	"\nvendid=0x2c9\ndevid=0x5a44\nsysimgguid=0x2c90200420e03\ncaguid=0x2c90200420e00\n"
	"Ca\t2 \"H-0002c90200420e00\"\t\t# \"other\"\n"
	"[2](2c90200420e02) \t\"S-0008f10400410015\"[6]\t\t# lid 4 lmc 0 \"a\" lid 2 4xSDR\n";

TEST_F(TopologyParse, ReadsWhatIbnetdiscoverPrints)
{
	const Topology net = good(kDiscovered);
	ASSERT_EQ(net.nodes.size(), 3U);
	EXPECT_EQ(net.nodes[0].guid, 0x8f10400410015U);
	EXPECT_EQ(net.nodes[0].description, "a \"quoted\" switch");
	EXPECT_EQ(net.nodes[1].guid, 0x2c90200420d58U);
	EXPECT_EQ(port_guid(net.nodes[1], 1), 0x2c90200420d5fU);
	EXPECT_EQ(net.cables.size(), 2U);
}

TEST_F(TopologyParse, ReadsWhoMadeANode)
{
	const Topology net = good(kDiscovered);
	EXPECT_EQ(net.nodes[0].product, (Product{0x8f10400410015U, 0x2c9U, std::uint16_t{0xb924}}));
	EXPECT_EQ(net.nodes[1].product, (Product{0x2c90200420d5bU, 0x2c9U, std::uint16_t{0x5a44}}));
	const Topology some = good(
		"vendid=0x8f1 # a comment\nSwitch 1 \"a\"\n\nvendid=0x0\ndevid=7\nsysimgguid=0\nSwitch 1 \"b\"\n\n"
		"Hca 1 \"c\"\n");
	EXPECT_EQ(some.nodes[0].product, (Product{{}, 0x8f1U, {}}));
	EXPECT_EQ(some.nodes[1].product, (Product{{}, {}, std::uint16_t{7}}));
	EXPECT_EQ(some.nodes[2].product, Product{});
}

TEST_F(TopologyParse, KnowsEnhancedPort0)
{
	const Topology net =
		good("Switch 1 \"a\" # \"MF0;sw:MQM8700/U1\" enhanced port 0 lid 3 lmc 0\n\n"
		     "Switch 1 \"b\" # \"an enhanced port 0\" base port 0 lid 4 lmc 0\n\n"
		     "Switch 1 \"c\" # bare words enhanced port 0 lid 5 lmc 1\n\nSwitch 1 \"d\"\n\n"
		     "Ca 1 \"e\" # \"x\" enhanced port 0\n");
	ASSERT_EQ(net.nodes.size(), 5U);
	EXPECT_TRUE(net.nodes[0].enhanced_port0);
	EXPECT_FALSE(net.nodes[1].enhanced_port0);
	EXPECT_TRUE(net.nodes[2].enhanced_port0);
	EXPECT_EQ(net.nodes[2].description, "bare words");
	EXPECT_FALSE(net.nodes[3].enhanced_port0);
	EXPECT_FALSE(net.nodes[4].enhanced_port0);
}

constexpr const char *kEnhanced =
	"vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x7\nSwitch 2 \"S\" # \"s\" enhanced port 0 lid 1 lmc 0\n";

TEST_F(TopologyParse, WhatIsWrittenIsReadAgain)
{
	for (const char *text : {kSimple, kDiscovered, kEnhanced}) {
		const Topology net = good(text);
		const std::string written = format_topology(net);
		const Topology again = good(written);
		EXPECT_EQ(format_topology(again), written);
		ASSERT_EQ(again.nodes.size(), net.nodes.size());
		ASSERT_EQ(again.cables.size(), net.cables.size());
		for (std::size_t i = 0; i < net.nodes.size(); ++i) {
			EXPECT_EQ(again.nodes[i].id, net.nodes[i].id);
			EXPECT_EQ(again.nodes[i].guid, net.nodes[i].guid);
			EXPECT_EQ(again.nodes[i].num_ports, net.nodes[i].num_ports);
			EXPECT_EQ(again.nodes[i].enhanced_port0, net.nodes[i].enhanced_port0);
			EXPECT_EQ(again.nodes[i].product.vendor_id, net.nodes[i].product.vendor_id);
			EXPECT_EQ(again.nodes[i].product.device_id, net.nodes[i].product.device_id);
			// The default is written out.
			EXPECT_EQ(again.nodes[i].product.sys_image_guid,
				  net.nodes[i].product.sys_image_guid.value_or(net.nodes[i].guid));
		}
	}
}

TEST_F(TopologyParse, NothingIsAFabricToo)
{
	EXPECT_TRUE(good("").nodes.empty());
	EXPECT_TRUE(good("\r\n# only\r\n").nodes.empty());
}

TEST_F(TopologyParse, ModulesAndAliases)
{
	files["leaf"] = "Switch 4 \"leaf\"\n"
			"[1] \"hca\"[1]\n"
			"@[4] \"up\"\n"
			"\n"
			"Hca 1 \"hca\"\n"
			"[1] \"leaf\"[1]\n";
	const Topology net = good(
		"module=\"m1\"\ninclude \"leaf\"\nmodule=\"m2\"\ninclude \"leaf\"\nmodule=\"\"\n"
		"Switch 2 \"spine\"\n[1] \"m1@up\"\n[2] \"m2@up\"\n");
	ASSERT_EQ(net.nodes.size(), 5U);
	EXPECT_EQ(net.nodes[0].id, "m1#leaf");
	EXPECT_EQ(net.nodes[2].id, "m2#leaf");
	ASSERT_EQ(net.cables.size(), 4U);
	EXPECT_EQ(net.cables[3].a, (End{"spine", 2}));
	EXPECT_EQ(net.cables[3].b, (End{"m2#leaf", 4}));
}

TEST_F(TopologyParse, ErrorsNameFileAndLine)
{
	const std::vector<std::pair<std::string, std::string>> cases = {
		{"Swich 8 \"S\"\n", "net:1: 'Swich 8 \"S\"' is not known"},
		{"Switch \"S\"\n", "net:1: the number of ports is missing"},
		{"Switch 255 \"S\"\n", "net:1: a node has 1 to 254 ports"},
		{"Switch 0 \"S\"\n", "net:1: a node has 1 to 254 ports"},
		{"Switch 8 S\n", "net:1: the node's id in quotes is missing"},
		{"Switch 8 \"S\n", "net:1: the node's id in quotes is missing"},
		{"Switch 8 \"a@b\"\n", "net:1: bad node id"},
		{"Switch 8 \"S\" x\n", "net:1: 'x' is unexpected"},
		{"Rt 2 \"R\"\n", "net:1: routers cannot be built"},
		{"\n[1] \"S\"[1]\n", "net:2: a port without a node"},
		{"Switch 8 \"S\"\n\n[1] \"S\"[2]\n", "net:3: a port without a node"},
		{"Switch 8 \"S\"\n[9] \"S\"[2]\n", "net:2: \"S\" has 8 ports, not 9"},
		{"Switch 8 \"S\"\n[0] \"S\"[2]\n", "net:2: port 0 is out of range"},
		{"Switch 8 \"S\"\n[x] \"S\"[2]\n", "net:2: a port is written [NUMBER]"},
		{"Switch 8 \"S\"\n[1] S[2]\n", "net:2: the id of the node at the other end"},
		{"Switch 8 \"S\"\n[1](xyz) \"S\"[2]\n", "net:2: a port's GUID"},
		{"Switch 8 \"S\"\n[1] \"S\"[2] q=1\n", "net:2: 'q' is unexpected"},
		{"Switch 8 \"S\"\n[1] \"S\"[2] w=99\n", "net:2: w= is a number from 1 to 31"},
		{"Switch 8 \"S\"\n[1] \"T\"[2]\n", "net:2: there is no node \"T\""},
		{"Switch 8 \"S\"\n[1] \"S\"[1]\n", "net:2: a cable has two different ends"},
		{"Switch 8 \"S\"\n[1] \"S\"[2]\n",
		 "net:2: port 2 of \"S\" does not list this cable"},
		{"Switch 8 \"S\"\n[1] \"S\"[2]\n[2] \"S\"[3]\n[3] \"S\"[2]\n",
		 "net:2: port 2 of \"S\" is cabled to \"S\"[3] in line 3"},
		{"Switch 8 \"S\"\n[1] \"S\"[2]\n[1] \"S\"[3]\n",
		 "net:3: port 1 of \"S\" is listed twice"},
		{"Switch 8 \"S\"\n\nSwitch 8 \"S\"\n", "net:3: there are two nodes \"S\""},
		{"Switch 1 \"S\"\n\nswitchguid=0x200000\nSwitch 1 \"T\"\n",
		 "net:4: GUID 0x0000000000200000"},
		{"switchguid=zero\n", "net:1: a GUID is given as =NUMBER"},
		{"vendid=0x1000000\n", "net:1: this is given as =NUMBER, up to 0xffffff"},
		{"devid=65536\n", "net:1: this is given as =NUMBER, up to 0xffff"},
		{"sysimgguid 7\n", "net:1: this is given as =NUMBER, up to 0xffffffffffffffff"},
		{"vendid=2c9\n", "net:1: this is given as =NUMBER"},
		{"switchguid=0\nSwitch 1 \"S\"\n", "net:2: a GUID is not 0"},
		{"include \"gone\"\n", "net:1: cannot read gone"},
		{"include gone\n", "net:1: include is followed by"},
		{"include \"net\"\n", "net:1: files include each other"},
		{"module=x\n", "net:1: a module is written"},
		{"Switch 1 \"S\"\n[1] \"@up\"\n", "net:2: there is no alias \"@up\""},
		{std::string("\x7f"
			     "ELF\0\1",
			     6),
		 "net:1: this is no text"},
	};
	for (const auto &[text, words] : cases) {
		const std::string complaint = bad(text);
		EXPECT_EQ(complaint.substr(0, words.size()), words) << complaint;
	}
}

TEST_F(TopologyParse, AFileThatIsNotThereIsNamed)
{
	const auto none =
		parse_topology("gone", [](const std::string &path) -> Result<std::string> {
			return Error{"cannot read " + path};
		});
	ASSERT_FALSE(none);
	EXPECT_EQ(none.error().text, "cannot read gone");
}

TEST_F(TopologyParse, AnyTruncationIsReadOrRefused)
{
	const std::string whole = kDiscovered;
	for (std::size_t size = 0; size < whole.size(); ++size) {
		const auto topology = parse(whole.substr(0, size));
		if (!topology) {
			EXPECT_EQ(topology.error().text.substr(0, 4), "net:");
		}
	}
}

} // namespace
} // namespace pib::inline model
