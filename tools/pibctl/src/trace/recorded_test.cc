// SPDX-License-Identifier: GPL-2.0
#include "trace/recorded.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <tuple>

#include "trace/follow.h"

namespace pib::ctl {
namespace {

TEST(Recorded, WhatWasPrintedIsReadAgain)
{
	for (const auto *line :
	     {"               x-1       [001] ..... 5.250001: pib_completion: device=7 port=1 "
	      "qpn=17 pid=9 wr_id=0x1 status=SUCCESS",
	      "               x-1       [001] ..... 5.250001: pib_mark: device=pib0 pid=9 text=7",
	      "               x-1       [001] ..... 5.250001: tracing_mark_write: here",
	      "CPU:1 [LOST 23 EVENTS]"}) {
		const auto record = parse_trace_line(line);
		ASSERT_TRUE(record) << line;
		const auto again = parse_trace_json(trace_json(*record));
		ASSERT_TRUE(again) << line;
		EXPECT_EQ(again->kind, record->kind);
		EXPECT_EQ(trace_json(*again), trace_json(*record));
		EXPECT_EQ(trace_text(*again), trace_text(*record));
	}
}

TEST(Recorded, OtherLinesAreNone)
{
	for (const auto *line :
	     {"", "{}", "[]", "7", R"({"event":7})", "{\"event\":", "message 1 +0 us"})
		EXPECT_FALSE(parse_trace_json(line)) << line;
	std::istringstream file("{\"event\":\"lost\",\"cpu\":1,\"count\":2}\nx\n");
	ConnectionFilter filter("pib0", 17);
	const auto read = read_records(file, "here.json", filter);
	ASSERT_FALSE(read);
	EXPECT_EQ(read.error().text, "here.json: line 2 is no event of 'pibctl -j trace'");
}

TEST(Recorded, OddValuesDoNoHarm)
{
	const auto record = parse_trace_json(
		R"({"event":"retry","time":"x","cpu":-1,"comm":7,"tid":1e300,"device":null,"qpn":-1})");
	ASSERT_TRUE(record);
	EXPECT_EQ(record->tid, 0U);
	EXPECT_EQ(*record->field("qpn"), "-1");
	EXPECT_FALSE(parse_trace_json(R"({"event":"retry","qpn":[1]})"));
	EXPECT_FALSE(parse_trace_json(R"({"event":"x","y":)" + std::string(1 << 20, '[')));
}

TEST(Recorded, NothingOfAFileIsATerminalsCommand)
{
	const auto record = parse_trace_json(
		R"({"event":"a\u001b]0;b","time":1,"x\n":"\u001b]0;c\u0007","file":"other"})");
	ASSERT_TRUE(record);
	const auto text = trace_text(*record);
	EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 127; })) << text;
	EXPECT_FALSE(record->field("file"));
}

TEST(Recorded, AnEventWithoutADeviceIsNobodys)
{
	std::istringstream stream(
		"{\"event\":\"a\",\"time\":1,\"device\":\"pib0\",\"qpn\":17,\"far_qpn\":18}\n"
		"{\"event\":\"a\",\"time\":1,\"qpn\":18,\"far_qpn\":17}\n");
	ConnectionFilter filter("pib0", 17);
	const auto records = read_records(stream, "x.json", filter);
	ASSERT_TRUE(records);
	MessageFollower follower("pib0", 17, 18);
	for (const auto &record : *records)
		follower.follow(record);
}

/// A machine's trace of its queue pair, which is number 17 of "pib0" on both.
class Machine {
public:
	Machine(std::string file, double clock) : file_(std::move(file)), clock_(clock) {}

	/// Microseconds of the time that both have in common.
	void at(int micros, std::string_view event, std::string_view fields, int qpn = 17)
	{
		text_ += fmt::format(
			R"({{"event":"{}","time":{:.6f},"cpu":0,"comm":"x","tid":1,"device":"pib0","port":1,"qpn":{},{}}})"
			"\n",
			event, clock_ + micros * 1e-6, qpn, fields);
	}
	void line(std::string_view text) { text_ += fmt::format("{}\n", text); }
	std::vector<TraceRecord> records() const
	{
		ConnectionFilter filter("pib0", 17);
		return records(filter);
	}
	std::vector<TraceRecord> records(ConnectionFilter &filter) const
	{
		std::istringstream stream(text_);
		return *read_records(stream, file_, filter);
	}
	/// Of all queue pairs.
	std::vector<TraceRecord> all_records() const
	{
		std::istringstream stream(text_);
		std::vector<TraceRecord> records;
		for (std::string line; std::getline(stream, line);) {
			records.push_back(*parse_trace_json(line));
			records.back().source = file_;
		}
		return records;
	}

private:
	std::string file_;
	double clock_;
	std::string text_;
};

class TwoMachines : public testing::Test {
protected:
	void message(int begin, int psn)
	{
		const auto packet = fmt::format(
			R"("far_qpn":17,"opcode":"SEND","psn":{},"packets":1,"bytes":8)", psn);
		const auto answer = fmt::format(R"("far_qpn":17,"answer":"ACK","psn":{})", psn);
		here.at(begin, "wr_posted",
			R"("wr_id":"0x1","opcode":"SEND","flags":"0x2","bytes":8)");
		here.at(begin + 1, "qp_sent", packet);
		there.at(begin + 11, "qp_received", packet);
		there.at(begin + 12, "completion",
			 R"("wr_id":"0x9","opcode":"RECV","status":"SUCCESS")");
		there.at(begin + 13, "ack_sent", answer);
		here.at(begin + 23, "ack_received", answer);
		here.at(begin + 24, "completion",
			R"("wr_id":"0x1","opcode":"SEND","status":"SUCCESS")");
	}

	/// Others talk on both machines meanwhile.
	void others(int begin)
	{
		for (int i = 0; i < 50; ++i) {
			const auto packet = fmt::format(
				R"("far_qpn":21,"opcode":"SEND","psn":{},"packets":1,"bytes":8)",
				i);
			here.at(begin + i, "qp_sent", packet, 20);
			there.at(begin + i, "qp_received", packet, 20);
		}
	}

	Machine here{"here.json", 100};
	Machine there{"there.json", 7000.5};
};

/// All that is told of messages, and of what is no event.
std::string story(const std::vector<TraceRecord> &records)
{
	MessageFollower follower("pib0", 17, 17, "here.json");
	std::string told;
	for (const TraceRecord &record : records)
		if (const auto event = follower.follow(record))
			told += trace_text(record, event->message, event->seconds) + "\n";
		else if (record.kind != TraceRecord::Kind::kEvent)
			told += trace_text(record) + "\n";
	return told;
}

TEST_F(TwoMachines, OthersAreNotKeptAndTheStoryIsTheSame)
{
	others(-100);
	there.at(-20, "verb", R"("verb":"modify_qp","far_qpn":0)");
	message(0, 5);
	here.line(R"({"event":"mark","time":100.00005,"cpu":0,"comm":"x","tid":1,"text":"here"})");
	others(100);
	there.line(R"({"event":"lost","cpu":1,"count":2})");
	message(200, 6);
	others(300);
	const auto kept = merge_records(here.records(), there.records(), 6900.5);
	const auto all = merge_records(here.all_records(), there.all_records(), 6900.5);
	EXPECT_EQ(all.size(), kept.size() + 300);
	EXPECT_EQ(story(kept), story(all));
	EXPECT_NE(story(kept).find("message 2 +11 us there.json: "), std::string::npos)
		<< story(kept);
	EXPECT_EQ(clock_offset(here.records(), there.records(), {17, 17}),
		  clock_offset(here.all_records(), there.all_records(), {17, 17}));
}

/// As one kernel traces both ends: the far one, queue pair 18 of "pib1", has sent first.
TEST(Recorded, TheFarDeviceIsKnownByWhatItSentBeforeThePeerWas)
{
	constexpr auto kLine =
		R"({{"event":"{}","time":{},"cpu":0,"comm":"x","tid":1,"device":"{}","port":1,"qpn":{},{}}})"
		"\n";
	const auto text =
		fmt::format(kLine, "qp_sent", 1, "pib1", 18, R"("far_qpn":17,"psn":3)") +
		fmt::format(kLine, "qp_sent", 2, "pib1", 18, R"("far_qpn":23,"psn":3)") +
		fmt::format(kLine, "wr_posted", 3, "pib0", 17,
			    R"("wr_id":"0x1","opcode":"SEND","flags":"0x2","bytes":8)") +
		fmt::format(kLine, "qp_sent", 4, "pib0", 17,
			    R"("far_qpn":18,"opcode":"SEND","psn":5,"packets":1,"bytes":8)") +
		fmt::format(kLine, "dropped", 5, "sw0", 18, R"("psn":5)") +
		fmt::format(kLine, "dropped", 6, "sw0", 19, R"("psn":5)");
	std::istringstream stream(text);
	ConnectionFilter filter("pib0", 17);
	const auto records = read_records(stream, "x.json", filter);
	ASSERT_TRUE(records);
	std::string times;
	for (const TraceRecord &record : *records)
		times += record.time.substr(0, 1);
	EXPECT_EQ(times, "1345");
	ASSERT_TRUE(filter.connection());
	EXPECT_EQ(filter.connection()->far_qpn, 18U);
}

TEST_F(TwoMachines, ClocksAreComparedByTheQuickestPackets)
{
	message(0, 5);
	// what was sent again says nothing, whichever came
	const auto *again = R"("far_qpn":17,"opcode":"SEND","psn":6,"packets":1,"bytes":8)";
	here.at(50, "qp_sent", again);
	here.at(900, "qp_sent", again);
	there.at(60, "qp_received", again);
	const auto offset = clock_offset(here.records(), there.records(), {17, 17});
	ASSERT_TRUE(offset);
	EXPECT_NEAR(*offset, 6900.5, 1e-6);
}

TEST_F(TwoMachines, WithoutPacketsInEachDirectionThereIsNothingToCompare)
{
	message(0, 5);
	EXPECT_FALSE(clock_offset(here.records(), {}, {17, 17}));
	EXPECT_FALSE(clock_offset(here.records(), there.records(), {17, 18}));
}

TEST_F(TwoMachines, ThePeerIsWhatTheQueuePairNames)
{
	message(0, 5);
	for (const auto &[device, qpn, is_there] :
	     {std::tuple("pib0", 17, true), {"pib1", 17, false}, {"pib0", 18, false}}) {
		ConnectionFilter filter(device, static_cast<std::uint32_t>(qpn));
		here.records(filter);
		ASSERT_EQ(filter.connection().has_value(), is_there) << device << " " << qpn;
		if (is_there)
			EXPECT_EQ(filter.connection()->far_qpn, 17U);
	}
}

TEST_F(TwoMachines, TellTheLifeOfAMessageTogether)
{
	message(0, 5);
	message(100, 6);
	const auto all = merge_records(here.records(), there.records(), 6900.5);
	MessageFollower follower("pib0", 17, 17, "here.json");
	std::string told;
	for (const TraceRecord &record : all)
		if (const auto event = follower.follow(record); event && event->message == 2)
			told += fmt::format("+{:.0f} {} {}\n", event->seconds * 1e6, record.source,
					    record.event);
	EXPECT_EQ(told, "+0 here.json wr_posted\n"
			"+1 here.json qp_sent\n"
			"+11 there.json qp_received\n"
			"+12 there.json completion\n"
			"+13 there.json ack_sent\n"
			"+23 here.json ack_received\n"
			"+24 here.json completion\n");
}

TEST_F(TwoMachines, AreNamedByTheirFiles)
{
	message(0, 5);
	const auto record = there.records().front();
	EXPECT_TRUE(
		trace_text(record, 1, 11e-6)
			.starts_with(
				"message 1 +11 us there.json: pib0/1 qp 17 qp_received far_qpn 17"))
		<< trace_text(record, 1, 11e-6);
	EXPECT_NE(trace_json(record, 1, 11e-6).find(R"("file":"there.json")"), std::string::npos);
}

} // namespace
} // namespace pib::ctl
