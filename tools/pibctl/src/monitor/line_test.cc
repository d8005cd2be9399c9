// SPDX-License-Identifier: GPL-2.0
#include "monitor/line.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <cstdlib>
#include <ctime>

namespace pib::ctl {
namespace {

class Line : public testing::Test {
protected:
	void SetUp() override
	{
		setenv("TZ", "UTC", 1);
		tzset();
	}

	static Event port()
	{
		Event event;
		event.kind = PIB_EVENT_KIND_PORT_STATE;
		event.time = 1700000000123456789;
		event.node = "pib0";
		event.port.emplace();
		event.port->number = 1;
		event.port->state = 4;
		event.port->physical_state = 5;
		event.port->lid = 3;
		event.port->sm_lid = 1;
		return event;
	}

	static Event session()
	{
		Event event;
		event.kind = PIB_EVENT_KIND_SESSION_UP;
		UdpLink udp;
		udp.netdev = "eth0";
		udp.peer = Endpoint{false, {192, 0, 2, 7}, 18514, ""};
		udp.up = true;
		udp.restarts = 2;
		udp.peer_node_guid = 0x0250c2fffe000001;
		udp.peer_port = 1;
		udp.peer_description = "a \"host\"\n\xff";
		event.link = EventLink{{"pib0", 1}, std::nullopt, udp};
		return event;
	}
};

TEST_F(Line, Port)
{
	EXPECT_EQ(event_text(port()), "2023-11-14 22:13:20.123456 port pib0/1 state ACTIVE "
				      "physical_state LINK_UP lid 3 sm_lid 1");
	EXPECT_EQ(event_json(port()),
		  R"({"time":1700000000.123456,"event":"port_state","node":"pib0","port":1,)"
		  R"("state":"ACTIVE","physical_state":"LINK_UP","lid":3,"sm_lid":1})");
}

TEST_F(Line, Nodes)
{
	Event event;
	event.kind = PIB_EVENT_KIND_SWITCH_NEW;
	event.node = "eth0";
	event.is_switch = true;
	event.automatic = true;
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 switch eth0 added auto yes");
	EXPECT_EQ(event_json(event),
		  R"({"time":0.0,"event":"switch_new","node":"eth0","auto":true})");
	event = {};
	event.kind = PIB_EVENT_KIND_HCA_DEL;
	event.node = "pib0";
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 hca pib0 deleted");
	event.kind = PIB_EVENT_KIND_KEYS;
	event.keys = 2;
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 hca pib0 keys 2");
	EXPECT_EQ(event_json(event), R"({"time":0.0,"event":"keys","node":"pib0","keys":2})");
}

TEST_F(Line, Cables)
{
	Event event;
	event.kind = PIB_EVENT_KIND_LINK_PLUGGED;
	event.link = EventLink{{"pib0", 1}, End{"sw0", 2}, std::nullopt};
	event.plugged = false;
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 link pib0/1 sw0/2 plugged no");
	EXPECT_EQ(event_json(event),
		  R"({"time":0.0,"event":"link_plugged","a":{"node":"pib0","port":1},)"
		  R"("b":{"node":"sw0","port":2},"plugged":false})");
	// The far end of a cable that leads elsewhere need not be told.
	event.link->b.reset();
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 link pib0/1 plugged no");
}

TEST_F(Line, WhatAPeerSaysSteersNoTerminal)
{
	EXPECT_EQ(event_text(session()),
		  "1970-01-01 00:00:00.000000 link pib0/1 udp eth0 peer 192.0.2.7:18514 session up "
		  "restarts 2 peer_node_guid 0x0250c2fffe000001 peer_port 1 "
		  R"(peer_description "a \"host\"\x0a\xff")");
	std::string json = event_json(session());
	EXPECT_EQ(json.find('\n'), json.npos);
	EXPECT_NE(json.find(R"("peer_description":"a \"host\"\n)"), json.npos) << json;
	// C1 of Unicode, which begins a sequence for a terminal, and DEL.
	Event steering = session();
	steering.link->udp->peer_description = "\xc2\x9b"
					       "31m\x7f";
	json = event_json(steering);
	EXPECT_NE(json.find(R"("peer_description":"\u009b31m\u007f")"), json.npos) << json;
}

TEST_F(Line, AsynchronousEvents)
{
	Event event;
	event.kind = PIB_EVENT_KIND_ASYNC;
	event.node = "pib0";
	event.ib_event = 8;
	EXPECT_EQ(event_text(event),
		  "1970-01-01 00:00:00.000000 hca pib0 async_event DEVICE_FATAL");
	event.port.emplace();
	event.port->number = 2;
	event.ib_event = 18;
	EXPECT_EQ(event_text(event),
		  "1970-01-01 00:00:00.000000 port pib0/2 async_event GID_CHANGE");
	event.ib_event = 99;
	EXPECT_EQ(event_json(event),
		  R"({"time":0.0,"event":"async","node":"pib0","port":2,"async_event":"99"})");
}

TEST_F(Line, Traps)
{
	Event event;
	event.kind = PIB_EVENT_KIND_TRAP;
	event.node = "pib0";
	event.port.emplace();
	event.port->number = 1;
	event.port->lid = 3;
	event.trap = 257;
	EXPECT_EQ(event_text(event),
		  "1970-01-01 00:00:00.000000 port pib0/1 lid 3 trap 257 about \"bad P_Key\"");
	EXPECT_EQ(event_json(event), R"({"time":0.0,"event":"trap","node":"pib0","port":1,)"
				     R"("lid":3,"trap":257,"about":"bad P_Key"})");
	event.trap = 1000;
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 port pib0/1 lid 3 trap 1000");
}

TEST_F(Line, AnotherNameAndAnotherAddress)
{
	Event event;
	event.kind = PIB_EVENT_KIND_HCA_RENAMED;
	event.node = "other";
	event.old_name = "pib0";
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 hca other renamed old_name pib0");
	EXPECT_EQ(event_json(event),
		  R"({"time":0.0,"event":"hca_renamed","node":"other","old_name":"pib0"})");
	Event moved = session();
	moved.kind = PIB_EVENT_KIND_SESSION_MOVED;
	EXPECT_NE(event_text(moved).find("peer 192.0.2.7:18514 session moved restarts 2"),
		  std::string::npos);
}

TEST_F(Line, OfANewerModule)
{
	Event event;
	event.kind = 200;
	event.node = "pib0";
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 hca pib0 event 200");
	EXPECT_EQ(event_json(event), R"({"time":0.0,"event":"200","node":"pib0"})");
	// It may be about something that has no name here.
	event.node.clear();
	EXPECT_EQ(event_text(event), "1970-01-01 00:00:00.000000 event 200");
	EXPECT_EQ(event_json(event), R"({"time":0.0,"event":"200"})");
}

TEST_F(Line, Lost)
{
	EXPECT_EQ(lost_text(1000), "1970-01-01 00:00:00.000001 some events were lost: more came "
				   "than were read");
	EXPECT_EQ(lost_json(1500000000), R"({"time":1.5,"event":"lost"})");
}

} // namespace
} // namespace pib::ctl
