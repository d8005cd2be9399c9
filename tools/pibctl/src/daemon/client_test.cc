// SPDX-License-Identifier: GPL-2.0
#include "daemon/client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli.h"
#include "model/show/show.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::json;

/// A daemon that says what it was told to say.
struct Daemon {
	LineExchange exchange()
	{
		return [this](const std::string &line) -> Result<std::string> {
			requests.push_back(Json::parse(line));
			const auto found =
				answers.find(requests.back().at("command").get<std::string>());
			return found == answers.end() ? R"({"ok":false,"error":"no such thing"})"
						      : found->second;
		};
	}
	std::map<std::string, std::string> answers;
	std::vector<Json> requests;
};

Switch a_switch()
{
	Switch node;
	node.name = "sw0";
	node.description = "sw0 hub";
	node.node_guid = 0x0200000000000001;
	node.num_ports = 1;
	Port port;
	port.number = 1;
	port.guid = node.node_guid;
	port.state = 4;
	port.physical_state = 5;
	port.lid = 0;
	port.lmc = 0;
	port.sm_lid = 3;
	port.mtu = 4096;
	port.width = 2;
	port.speed = 32;
	node.ports.push_back(port);
	return node;
}

std::string printed(const auto &show)
{
	const auto out = make_json_output(false);
	show(*out);
	return out->str();
}

std::string ok_with(std::string json)
{
	Json answer = Json::parse(json);
	answer["ok"] = true;
	return answer.dump();
}

TEST(DaemonClient, ReadsWhatPibctlPrints)
{
	Daemon daemon;
	const auto shown = printed([](Output &out) { show_switches(out, {a_switch()}); });
	daemon.answers["show"] = ok_with(shown);
	daemon.answers["counters"] = ok_with(
		R"({"counters":[{"node":"sw0","port":1,"counters":{"port_xmit_bytes":7,"bogus":8}}]})");
	DaemonClient client(daemon.exchange());
	const auto switches = client.switches();
	ASSERT_TRUE(switches) << switches.error().text;
	EXPECT_EQ(printed([&](Output &out) { show_switches(out, *switches); }), shown);
	ASSERT_EQ((*switches)[0].ports[0].counters.size(), 1U);
	EXPECT_EQ((*switches)[0].ports[0].counters[0].value, 7U);
	EXPECT_TRUE(*client.find_switch("sw0"));
	EXPECT_FALSE(*client.find_switch("sw1"));
	EXPECT_TRUE(client.hcas()->empty());
}

TEST(DaemonClient, ReadsLinksAndPeers)
{
	Link udp;
	udp.a = {"sw0", 1};
	udp.plugged = true;
	udp.automatic = true;
	udp.udp = UdpLink{};
	udp.udp->netdev = "udp";
	udp.udp->peer = Endpoint{.v6 = false, .address = {10, 0, 0, 1}, .port = 18514, .scope = {}};
	udp.udp->up = true;
	udp.udp->flows = true;
	udp.udp->path_mtu = 1280;
	udp.udp->own = Endpoint{.v6 = false, .address = {10, 0, 0, 2}, .port = 18514, .scope = {}};
	udp.udp->moves = 4;
	udp.udp->windows = true;
	udp.udp->vl_windows = {{.vl = 1, .window = 2, .on_way = 3, .waits = true},
			       {.vl = 2, .window = 2, .on_way = 4, .unbounded = true}};
	udp.udp->peer_node_guid = 0xA0;
	udp.udp->peer_port = 1;
	udp.udp->peer_description = "host1 pib0";
	udp.udp->last_heard_ms = 12;
	udp.udp->restarts = 2;
	udp.udp->refusal = "every port is taken";
	udp.udp->local_id = 5;
	udp.udp->remote_id = 6;
	Link cable;
	cable.a = {"sw0", 2};
	cable.b = End{"sw1", 1};
	cable.plugged = false;
	cable.faults = Faults{.seed = 7,
			      .loss = 10'000'000,
			      .bit_errors = 3,
			      .latency = 10'000,
			      .flap_up = 4,
			      .flap_down = 5,
			      .counts = {{.to = {"sw0", 2}, .packets = 9, .lost = 1}}};
	const std::vector<Link> links = {udp, cable};
	const auto shown = printed([&](Output &out) {
		show_links(out, links);
		show_peers(out, links);
	});
	Daemon daemon;
	daemon.answers["links"] = ok_with(shown);
	const auto read = DaemonClient(daemon.exchange()).links();
	ASSERT_TRUE(read) << read.error().text;
	EXPECT_EQ(printed([&](Output &out) {
			  show_links(out, *read);
			  show_peers(out, *read);
		  }),
		  shown);
}

TEST(DaemonClient, ReadsTheClassOfData)
{
	Daemon daemon;
	daemon.answers["uplinks"] =
		R"({"ok":true,"uplinks":[{"netdev":"*","ecn":true,"dscp":"0=34"},{"netdev":"*"}]})";
	DaemonClient client(daemon.exchange());
	const auto uplinks = client.uplinks();
	ASSERT_TRUE(uplinks);
	ASSERT_EQ(uplinks->size(), 2U);
	EXPECT_EQ((*uplinks)[0].ecn, true);
	EXPECT_EQ((*uplinks)[0].dscp, DscpTable{34});
	EXPECT_FALSE((*uplinks)[1].ecn);
	EXPECT_FALSE((*uplinks)[1].dscp);
}

TEST(DaemonClient, NonsenseIsTamed)
{
	for (const char *text :
	     {R"({"ok":true})", R"({"ok":true,"switches":7,"links":{},"uplinks":[3]})",
	      R"({"ok":true,"switches":[{"name":5,"ports":[{"port":-1,"lid":"x"}]}]})",
	      R"({"ok":true,"links":[{"a":[]}],"counters":[null]})"}) {
		Daemon daemon;
		for (const char *command : {"show", "links", "counters", "uplinks"})
			daemon.answers[command] = text;
		DaemonClient client(daemon.exchange());
		EXPECT_TRUE(client.switches());
		EXPECT_TRUE(client.links());
		EXPECT_TRUE(client.uplinks());
	}
	for (const char *text : {"", "[]", "{", R"({"ok":1})"}) {
		DaemonClient client([&](const std::string &) -> Result<std::string> {
			return std::string(text);
		});
		EXPECT_FALSE(client.switches());
	}
}

TEST(DaemonClient, WhatTheFileSaysIsRefusedWithTheWayToDoIt)
{
	Daemon daemon;
	DaemonClient client(daemon.exchange());
	for (const Status &refused :
	     {client.add_switch({}), client.add_link({}), client.remove("sw0"),
	      client.remove_switch("sw0"), client.remove_link({})})
		EXPECT_NE(refused.error().text.find("configuration file"), std::string::npos);
	EXPECT_NE(client.add_hca({}).error().text.find("peer"), std::string::npos);
	EXPECT_TRUE(daemon.requests.empty());
	EXPECT_EQ(client.uplinks().error().text, "no such thing");
}

TEST(DaemonClient, FaultsAreAskedForAsFractions)
{
	Daemon daemon;
	daemon.answers["faults"] = daemon.answers["plug"] = R"({"ok":true})";
	DaemonClient client(daemon.exchange());
	LinkChange change;
	change.end = {"sw0", 3};
	change.plugged = true;
	change.loss = 10'000'000;
	change.latency = 500;
	EXPECT_TRUE(client.change_link(change));
	ASSERT_EQ(daemon.requests.size(), 2U);
	EXPECT_EQ(daemon.requests[0]["plugged"], true);
	EXPECT_EQ(
		daemon.requests[1],
		Json::parse(R"({"command":"faults","port":"sw0/3","loss":0.01,"latency_ns":500})"));
	change.width = 1;
	EXPECT_NE(client.change_link(change).error().text.find("subnet manager"),
		  std::string::npos);
}

TEST(DaemonClient, NobodyListens)
{
	std::ostringstream out, err;
	const char *words[] = {"pibctl", "--daemon", "/nonexistent/socket", "show"};
	EXPECT_EQ(run(4, words, nullptr, out, err), 1);
	EXPECT_NE(err.str().find("no pibnetd listens there"), std::string::npos) << err.str();
}

} // namespace
} // namespace pib::ctl
