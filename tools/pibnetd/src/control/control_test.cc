// SPDX-License-Identifier: GPL-2.0
#include "control/control.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/fake_net.h"

namespace pib::netd {
namespace {

using Json = nlohmann::json;

class ControlTest : public ::testing::Test {
protected:
	ControlTest()
	{
		EXPECT_TRUE(w.configure(
			R"({"switches": [{"name": "sw0", "ports": 3}, {"name": "sw1", "ports": 2}],
                                "cables": [["sw0/3", "sw1/1"]]})"));
		w.add(peer);
		w.run(500);
		hooks.reload = [this](Drop drop) {
			dropped = drop;
			return Status(Error{"no file"});
		};
		hooks.listen = [] { return std::vector<Address>{fake::address(9)}; };
	}
	Json ask(const std::string &line)
	{
		return Json::parse(control_answer(w.core, hooks, line, w.now));
	}

	fake::World w;
	fake::Peer peer{1, 0xA0};
	ControlHooks hooks;
	Drop dropped = Drop::unused;
};

TEST_F(ControlTest, ShowsWhatThereIs)
{
	const Json shown = ask(R"({"command":"show"})");
	EXPECT_TRUE(shown.at("ok"));
	EXPECT_EQ(shown.at("switches").size(), 2u);
	EXPECT_EQ(shown["switches"][0]["ports"][1]["state"], "INIT");
	const Json links = ask(R"({"command":"links"})");
	EXPECT_EQ(links.at("links").size(), 2u);
	EXPECT_EQ(links.at("peers").size(), 1u);
	EXPECT_EQ(links["peers"][0]["address"], "10.0.0.1:18514");
	const Json counters = ask(R"({"command":"counters"})");
	EXPECT_EQ(counters.at("counters").size(), 7u);
	EXPECT_TRUE(counters["counters"][0]["counters"].contains("port_xmit_bytes"));
	const Json uplinks = ask(R"({"command":"uplinks"})");
	EXPECT_GT(uplinks["uplinks"][0]["counters"]["rx_datagrams"], 0);
	EXPECT_EQ(uplinks["uplinks"][0]["dscp"], "none");
	EXPECT_EQ(uplinks["uplinks"][0]["ecn"], false);
	EXPECT_EQ(uplinks["uplinks"][0]["windows"], false);
}

TEST_F(ControlTest, ChangesCables)
{
	EXPECT_TRUE(ask(R"({"command":"plug","port":"sw0/1","plugged":false})").at("ok"));
	w.run(200);
	EXPECT_FALSE(peer.session.plugged);
	EXPECT_EQ(ask(R"({"command":"links"})")["links"][0]["plugged"], false);
	EXPECT_TRUE(ask(R"({"command":"plug","port":"sw0/1","plugged":true})").at("ok"));
	w.run(200);
	EXPECT_TRUE(peer.session.plugged);
	EXPECT_TRUE(ask(R"({"command":"faults","port":"sw0/1","loss":0.5,"seed":9})").at("ok"));
	EXPECT_TRUE(ask(R"({"command":"faults","port":"sw0/1","latency_ns":70})").at("ok"));
	const Json faults = ask(R"({"command":"links"})")["links"][0]["faults"];
	EXPECT_EQ(faults["loss"], 0.5);
	EXPECT_EQ(faults["seed"], 9);
	EXPECT_EQ(faults["latency_ns"], 70);
	EXPECT_TRUE(ask(R"({"command":"faults","port":"sw0/1","healthy":true})").at("ok"));
	EXPECT_FALSE(ask(R"({"command":"links"})")["links"][0].contains("faults"));
}

TEST_F(ControlTest, AReloadIsForcedIfItSaysSo)
{
	ask(R"({"command":"reload","force":true})");
	EXPECT_EQ(dropped, Drop::forced);
	for (const char *line :
	     {R"({"command":"reload"})", R"({"command":"reload","force":false})"}) {
		ask(line);
		EXPECT_EQ(dropped, Drop::unused) << line;
	}
}

TEST_F(ControlTest, RefusesWithAReason)
{
	for (const auto &[line, reason] : {
		     std::pair{"", "JSON"},
		     {"[1]", "command"},
		     {R"({"command":"dance"})", "no command 'dance'"},
		     {R"({"command":"show","port":1})", "takes no 'port'"},
		     {R"({"command":"plug","port":"sw9/1","plugged":true})", "no switch 'sw9'"},
		     {R"({"command":"plug","port":"sw0/4","plugged":true})", "ports 1 to 3"},
		     {R"({"command":"plug","port":"sw0/2","plugged":true})", "no cable"},
		     {R"({"command":"plug","port":"sw0/1"})", "plugged"},
		     {R"({"command":"faults","port":"sw0/1","loss":2})", "from 0 to 1"},
		     {R"({"command":"faults","port":"sw0/1","bit_errors":0.1})", "from 0 to 0.01"},
		     {R"({"command":"faults","port":"sw0/1","flap_up_ms":5})", "go together"},
		     {R"({"command":"faults","port":"sw0/2","loss":1})", "no cable"},
		     {R"({"command":"reload"})", "no file"},
		     {R"({"command":"reload","force":1})", "'force' must be true or false"},
	     }) {
		const Json answer = ask(line);
		EXPECT_FALSE(answer.at("ok")) << line;
		EXPECT_NE(answer.at("error").get<std::string>().find(reason), std::string::npos)
			<< answer;
	}
}

} // namespace
} // namespace pib::netd
