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
	const auto record =
		parse_trace_line("x-1 [000] ..... 1.5: pib_ack_sent: device=a port=2 qpn=3");
	EXPECT_EQ(trace_text(*record, 7, 12e-6), "message 7 +12 us a/2 qp 3 ack_sent");
	const Json json = Json::parse(trace_json(*record, 7, 12e-6));
	EXPECT_EQ(json.at("message"), 7);
	EXPECT_EQ(json.at("since_post_us"), 12);
}

TEST(TraceLine, EventWithoutADevice)
{
	EXPECT_EQ(
		trace_text(*parse_trace_line("x-1 [000] ..s.. 1.5: pib_datagram_dropped: ifindex=2 "
					     "reason=rx_short")),
		"1.5 datagram_dropped ifindex 2 reason rx_short");
}

TEST(TraceLine, HexadecimalStaysText)
{
	const Json json =
		json_of("  <...>-5     [000] ..... 1.000001: pib_wr_posted: device=pib0 "
			"port=1 qpn=17 pid=0 wr_id=0xffffffffffffffff opcode=SEND flags=0x2 "
			"bytes=64");
	EXPECT_EQ(json.at("wr_id"), "0xffffffffffffffff");
	EXPECT_EQ(json.at("bytes"), 64);
	EXPECT_EQ(json.at("comm"), "<...>");
}

TEST(TraceLine, NamesMayHaveAnything)
{
	const Json json = json_of("  a-b [1] c: d-12  [003] d..1.   7.5: pib_port_state: "
				  "device=my pib 7 port=1 from=INIT to=ARMED");
	EXPECT_EQ(json.at("device"), "my pib 7");
	EXPECT_EQ(json.at("cpu"), 3);
	EXPECT_EQ(json.at("to"), "ARMED");
	EXPECT_EQ(json_of("x-1 [000] ..... 1.0: pib_link: device=7 port=1 state=UP").at("device"),
		  "7");
}

TEST(TraceLine, Lost)
{
	EXPECT_EQ(json_of("CPU:1 [LOST 23 EVENTS]\n"),
		  Json::parse(R"({"event": "lost", "cpu": 1, "count": 23})"));
	EXPECT_EQ(trace_text(*parse_trace_line("CPU:1 [LOST 23 EVENTS]")),
		  "23 events were lost on CPU 1");
}

TEST(TraceLine, Mark)
{
	const Json json =
		json_of("  pibctl-99   [000] .....   5.250000: tracing_mark_write: a: \"b\" c=d");
	EXPECT_EQ(json.at("event"), "mark");
	EXPECT_EQ(json.at("text"), "a: \"b\" c=d");
	EXPECT_EQ(trace_text(*parse_trace_line("p-9 [000] ..... 5.25: tracing_mark_write: x")),
		  "5.25 mark: x");
}

TEST(TraceLine, BytesThatAreNoTextDoNoHarm)
{
	const auto record =
		parse_trace_line("\xff-1 [000] ..... 1.0: pib_link: device=\xfe port=1");
	ASSERT_TRUE(record);
	EXPECT_TRUE(Json::accept(trace_json(*record)));
}

TEST(TraceLine, OtherLinesAreNone)
{
	for (const auto *line :
	     {"", "\n", "# tracer: nop", "x", "x-1 [000] ..... 1.0: sched_switch: prev=1",
	      "x-1 [000] ..... 1.0: pib_link: device", "x-1 [000] ..... now: pib_link: device=a",
	      "x [000] ..... 1.0: pib_link: device=a", "x-1 [z] ..... 1.0: pib_link: device=a",
	      "x-1 [000] ..... 1.0 pib_link device=a", "] [", "CPU:1 [LOST"})
		EXPECT_FALSE(parse_trace_line(line)) << line;
}

} // namespace
} // namespace pib::ctl
