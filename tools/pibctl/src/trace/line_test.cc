// SPDX-License-Identifier: GPL-2.0
#include "trace/line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pib::ctl {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSent =
	" ibv_rc_pingpong-4711    [001] d.s2.   123.456789: pib_qp_sent: device=pib0 port=1 qpn=17 "
	"pid=4711 far_qpn=18 service=RC opcode=SEND psn=100 packets=2 bytes=1500 slid=1 dlid=1\n";

Json json_of(std::string_view line)
{
	const auto record = parse_trace_line(line);
	return record ? Json::parse(trace_json(*record)) : Json();
}

TEST(TraceLine, EventAsJson)
{
	EXPECT_EQ(json_of(kSent), Json::parse(R"({"event": "qp_sent", "time": 123.456789, "cpu": 1,
		"comm": "ibv_rc_pingpong", "tid": 4711, "device": "pib0", "port": 1, "qpn": 17,
		"pid": 4711, "far_qpn": 18, "service": "RC", "opcode": "SEND", "psn": 100,
		"packets": 2, "bytes": 1500, "slid": 1, "dlid": 1})"));
}

TEST(TraceLine, EventAsText)
{
	EXPECT_EQ(trace_text(*parse_trace_line(kSent)),
		  "123.456789 pib0/1 qp 17 qp_sent pid 4711 far_qpn 18 service RC opcode SEND "
		  "psn 100 packets 2 bytes 1500 slid 1 dlid 1");
}

TEST(TraceLine, EventOfAMessage)
{
	const auto record = parse_trace_line(
		"               x-1       [000] ..... 1.5: pib_ack_sent: device=a port=2 qpn=3");
	EXPECT_EQ(trace_text(*record, 7, 12e-6), "message 7 +12 us a/2 qp 3 ack_sent");
	const Json json = Json::parse(trace_json(*record, 7, 12e-6));
	EXPECT_EQ(json.at("message"), 7);
	EXPECT_EQ(json.at("since_post_us"), 12);
}

TEST(TraceLine, EventWithoutADevice)
{
	EXPECT_EQ(
		trace_text(*parse_trace_line(
			"               x-1       [000] ..s.. 1.5: pib_datagram_dropped: ifindex=2 "
			"reason=rx_short")),
		"1.5 datagram_dropped ifindex 2 reason rx_short");
}

TEST(TraceLine, HexadecimalStaysText)
{
	const Json json =
		json_of("           <...>-5       [000] ..... 1.000001: pib_wr_posted: device=pib0 "
			"port=1 qpn=17 pid=0 wr_id=0xffffffffffffffff opcode=SEND flags=0x2 "
			"bytes=64");
	EXPECT_EQ(json.at("wr_id"), "0xffffffffffffffff");
	EXPECT_EQ(json.at("bytes"), 64);
	EXPECT_EQ(json.at("comm"), "<...>");
}

TEST(TraceLine, JsonSteersNoTerminal)
{
	// C1 of Unicode, which begins a sequence for a terminal, and DEL: a process names itself.
	const auto record = parse_trace_line("          \xc2\x9b"
					     "31m\x7f-12      [003] d..1.   7.5: pib_port_state: "
					     "device=pib0 port=1 from=INIT to=ARMED");
	ASSERT_TRUE(record);
	EXPECT_NE(trace_json(*record).find(R"("comm":"\u009b31m\u007f")"), std::string::npos);
}

TEST(TraceLine, NamesMayHaveAnything)
{
	const Json json = json_of("    a-b [1] c: d-12      [003] d..1.   7.5: pib_port_state: "
				  "device=my pib 7 port=1 from=INIT to=ARMED");
	EXPECT_EQ(json.at("device"), "my pib 7");
	EXPECT_EQ(json.at("cpu"), 3);
	EXPECT_EQ(json.at("to"), "ARMED");
	EXPECT_EQ(
		json_of("               x-1       [000] ..... 1.0: pib_link: device=7 port=1 state=UP")
			.at("device"),
		"7");
}

TEST(TraceLine, ANameCannotHideAnEvent)
{
	const Json json = json_of("  x-1 [0] 1: a: -4242    [001] ..... 12.3: pib_wr_posted: "
				  "device=pib0 port=1 qpn=17");
	ASSERT_FALSE(json.is_null());
	EXPECT_EQ(json.at("event"), "wr_posted");
	EXPECT_EQ(json.at("comm"), "x-1 [0] 1: a: ");
	EXPECT_EQ(json.at("tid"), 4242);
}

TEST(TraceLine, Lost)
{
	EXPECT_EQ(json_of("CPU:1 [LOST 23 EVENTS]\n"),
		  Json::parse(R"({"event": "lost", "cpu": 1, "count": 23})"));
	EXPECT_EQ(trace_text(*parse_trace_line("CPU:1 [LOST 23 EVENTS]")),
		  "23 events were lost on CPU 1");
}

TEST(TraceLine, LostWithoutACount)
{
	EXPECT_EQ(trace_text(*parse_trace_line("CPU:1 [LOST EVENTS]")),
		  "some events were lost on CPU 1");
}

TEST(TraceLine, ProcessesMayBeThereToo)
{
	const auto record = parse_trace_line(
		"               x-12      (     11) [000] ..... 1.0: pib_link: device=a");
	ASSERT_TRUE(record);
	EXPECT_EQ(record->tid, 12U);
}

TEST(TraceLine, Mark)
{
	const Json json = json_of(
		"          pibctl-99      [000] .....   5.250000: tracing_mark_write: a: \"b\" c=d");
	EXPECT_EQ(json.at("event"), "mark");
	EXPECT_EQ(json.at("text"), "a: \"b\" c=d");
	EXPECT_EQ(trace_text(*parse_trace_line(
			  "               p-9       [000] ..... 5.25: tracing_mark_write: x")),
		  "5.25 mark: x");
}

TEST(TraceLine, AMarkOfAProgramIsTheRestOfTheLine)
{
	const auto *line = "               p-9       [000] ..... 5.25: pib_mark: device=pib0 pid=9 "
			   "text=round 3 qpn=17 text=x ";
	const Json json = json_of(line);
	EXPECT_EQ(json.at("event"), "mark");
	EXPECT_EQ(json.at("pid"), 9);
	EXPECT_EQ(json.at("text"), "round 3 qpn=17 text=x");
	EXPECT_FALSE(json.contains("qpn"));
	EXPECT_EQ(trace_text(*parse_trace_line(line)),
		  "5.25 pib0 mark pid 9 text round 3 qpn=17 text=x");
	EXPECT_EQ(json_of("               p-9       [000] ..... 5.25: pib_mark: device=pib0 pid=9 "
			  "text=7")
			  .at("text"),
		  "7");
}

TEST(TraceLine, VerbsWithAndWithoutArguments)
{
	const Json with =
		json_of("               p-9       [000] ..... 5.25: pib_verb: device=pib0 "
			"port=1 pid=9 verb=modify_qp object=qp number=17 result=OK "
			"took_ns=1200 mask=0x1 from=RESET to=INIT");
	EXPECT_EQ(with.at("number"), 17);
	EXPECT_EQ(with.at("to"), "INIT");
	const Json without =
		json_of("               p-9       [000] ..... 5.25: pib_verb: device=pib0 port=0 "
			"pid=9 verb=alloc_pd object=pd number=0 result=ENOMEM took_ns=800  ");
	EXPECT_EQ(without.at("result"), "ENOMEM");
	EXPECT_EQ(without.at("took_ns"), 800);
}

TEST(TraceLine, BytesThatAreNoTextDoNoHarm)
{
	const auto record = parse_trace_line(
		"               \xff-1       [000] ..... 1.0: pib_link: device=\xfe port=1");
	ASSERT_TRUE(record);
	EXPECT_TRUE(Json::accept(trace_json(*record)));
}

TEST(TraceLine, OtherLinesAreNone)
{
	for (const auto *line :
	     {"", "\n", "# tracer: nop", "x",
	      "               x-1       [000] ..... 1.0: sched_switch: prev=1",
	      "               x-1       [000] ..... 1.0: pib_link: device",
	      "               x-1       [000] ..... now: pib_link: device=a",
	      "               x [000] ..... 1.0: pib_link: device=a",
	      "               x-1       [z] ..... 1.0: pib_link: device=a",
	      "               x-1       [000] ..... 1.0 pib_link device=a", "] [", "CPU:1 [LOST"})
		EXPECT_FALSE(parse_trace_line(line)) << line;
}

std::string read_lines(const std::vector<std::string_view> &lines)
{
	TraceLines reader;
	std::string text;
	for (const auto line : lines)
		for (const TraceRecord &record : reader.take(line))
			text += record.event + "(" + record.comm + ")";
	return text;
}

constexpr std::string_view kLink = "               x-1       [000] ..... 1.0: pib_link: device=a";

TEST(TraceLines, OfANameWithLineEnds)
{
	EXPECT_EQ(read_lines({"            a", "-b-1       [000] ..... 1.0: pib_link: device=a"}),
		  "link(a\n-b)");
	EXPECT_EQ(read_lines({"            ", "", "CPU:1 [LOST 3 EVENTS]", kLink}),
		  "unread()lost()link(x)");
	EXPECT_EQ(read_lines({" ", "", "",
			      "CPU:1 [LOST 9-1       [000] ..... 1.0: pib_link: "
			      "device=a",
			      kLink}),
		  "unread()unread()link(x)");
	EXPECT_EQ(read_lines({"", "", "CPU:1 [LOST 9 -1       [000] ..... 1.0: pib_link: device=a",
			      kLink}),
		  "link(\n\nCPU:1 [LOST 9 )link(x)");
}

TEST(TraceLines, WhatCannotBeReadIsSaid)
{
	EXPECT_EQ(read_lines({"               x-1       [000] ..... 1.0: sched_switch: prev=1",
			      "[LINE TOO BIG]", kLink}),
		  "unread()unread()link(x)");
	TraceLines reader;
	const auto records = reader.take("something of 16 or more columns");
	ASSERT_EQ(records.size(), 1U);
	EXPECT_EQ(trace_text(records[0]), "1 line of the trace could not be read");
	EXPECT_EQ(Json::parse(trace_json(records[0])),
		  Json::parse(R"({"event": "unread", "count": 1})"));
}

} // namespace
} // namespace pib::ctl
