// SPDX-License-Identifier: GPL-2.0
#include "trace/filter.h"

#include <gtest/gtest.h>

namespace pib::ctl {
namespace {

using Words = std::vector<std::string>;

const Words kQpFields = {"device", "port", "qpn", "pid"};
const Words kPortFields = {"device", "port", "qpn", "src_qpn"};

TEST(TraceFilter, FieldsOfAFormat)
{
	EXPECT_EQ(parse_event_fields(
			  "name: pib_link\nID: 7\nformat:\n"
			  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
			  "\tfield:char device[32];\toffset:8;\tsize:32;\tsigned:0;\n"
			  "\tfield:u64 peer_guid;\toffset:40;\tsize:8;\tsigned:0;\n\n"
			  "print fmt: \"device=%s\", REC->device\n"),
		  (Words{"common_type", "device", "peer_guid"}));
	EXPECT_TRUE(parse_event_fields("").empty());
	EXPECT_EQ(parse_event_fields("field:u8 x"), Words{"x"});
}

TEST(TraceFilter, NothingIsAskedFor)
{
	EXPECT_EQ(event_filter({}, kQpFields), "");
}

TEST(TraceFilter, AllMustHold)
{
	TraceRequest request;
	request.device = "pib0";
	request.port = 1;
	request.qpn = 17;
	request.pid = 4711;
	EXPECT_EQ(event_filter(request, kQpFields),
		  "device == \"pib0\" && port == 1 && (qpn == 17) && pid == 4711");
	EXPECT_FALSE(event_filter(request, kPortFields));
}

TEST(TraceFilter, WhatAnEventDoesNotSay)
{
	TraceRequest request;
	EXPECT_EQ(lacking_words(request, {}), "");
	request.device = "pib0";
	EXPECT_EQ(lacking_words(request, {"ifindex"}), "NAME");
	EXPECT_EQ(lacking_words(request, {"device"}), "");
	request.port = 1;
	request.qpn = 17;
	request.pid = 4711;
	EXPECT_EQ(lacking_words(request, {"ifindex"}), "NAME, /PORT, 'qp', 'pid'");
	EXPECT_EQ(lacking_words(request, kPortFields), "'pid'");
	EXPECT_EQ(lacking_words(request, kQpFields), "");
}

TEST(TraceFilter, DatagramsFromAQueuePairAreItsOwn)
{
	TraceRequest request;
	request.qpn = 17;
	EXPECT_EQ(event_filter(request, kPortFields), "(qpn == 17 || src_qpn == 17)");
	EXPECT_FALSE(event_filter(request, {"device", "port"}));
}

TEST(TraceFilter, BothEndsOfAConnection)
{
	TraceRequest request;
	request.device = "pib0";
	request.qpn = 17;
	request.far_qpn = 18;
	EXPECT_EQ(event_filter(request, kQpFields),
		  "(device == \"pib0\" && (qpn == 17)) || qpn == 18");
}

TEST(TraceFilter, LongNamesAreCutAsTheModuleCutsThem)
{
	TraceRequest request;
	request.device = std::string(40, 'x');
	EXPECT_EQ(event_filter(request, kQpFields), "device == \"" + std::string(31, 'x') + "\"");
}

TEST(TraceFilter, EventsByEitherName)
{
	const Words known = {"dropped", "retry"};
	EXPECT_EQ(*choose_events({}, known), known);
	EXPECT_EQ(*choose_events({"pib_retry", "retry"}, known), Words{"retry"});
	const auto unknown = choose_events({"retyr"}, known);
	ASSERT_FALSE(unknown);
	EXPECT_TRUE(unknown.error().usage);
	EXPECT_EQ(unknown.error().text, "there is no event 'retyr'; there are: dropped, retry");
}

TEST(TraceFilter, WhoGetsDatagrams)
{
	TraceRequest request;
	request.device = "pib0";
	request.qpn = 17;
	request.receivers = true;
	EXPECT_EQ(event_filter(request, {"device", "qpn", "far_qpn", "psn"}),
		  R"((device == "pib0" && (qpn == 17)) || far_qpn == 17)");
	EXPECT_EQ(event_filter(request, {"device", "qpn", "src_qpn"}),
		  R"((device == "pib0" && (qpn == 17 || src_qpn == 17)) || src_qpn == 17)");
	EXPECT_EQ(event_filter(request, {"device", "qpn", "cqn", "opcode", "status"}),
		  R"((device == "pib0" && (qpn == 17)) || opcode == 128)");
	EXPECT_EQ(event_filter(request, {"device", "qpn", "from", "to"}),
		  R"(device == "pib0" && (qpn == 17))");
}

} // namespace
} // namespace pib::ctl
