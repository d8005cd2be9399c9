// SPDX-License-Identifier: GPL-2.0
#include "inspect/list.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <nlohmann/json.hpp>

#include "inspect/words.h"
#include "objects/fake_objects.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::json;

std::vector<VerbsObject> some()
{
	const auto objects =
		decode_verbs_objects({{PIB_CMD_OBJECT_GET, fake::queue_pair_answer()},
				      {PIB_CMD_OBJECT_GET, fake::attachment_answer()}});
	return objects ? *objects : std::vector<VerbsObject>{};
}

std::string printed(const std::vector<VerbsObject> &objects, bool json)
{
	const auto out = json ? make_json_output(false) : make_text_output();
	show_verbs_objects(*out, objects);
	return out->str();
}

VerbsObject queue_pair(std::initializer_list<VerbsObject::Fact> facts)
{
	VerbsObject qp;
	qp.kind = PIB_OBJECT_KIND_QP;
	qp.facts = facts;
	return qp;
}

TEST(List, Text)
{
	EXPECT_EQ(printed(some(), false),
		  "pib0 qp 5 owner ib_send_bw pid 4711 uid 1000 handle 3 created "
		  "2026-03-01T12:00:00.250163492Z\n"
		  "    qpn 17 type RC state RTS una_psn 0x10 next_psn 0x12 ack_usec 900 waits_for "
		  "acknowledgement\n"
		  "pib0 attachment 1 owner [ib_ipoib] created 1970-01-01T00:00:01.000000000Z\n"
		  "    qpn 18 dlid 0xc000 gid ff12:401b:ffff::1\n");
}

TEST(List, TheNameOfAProcessDoesNotSteerTheTerminal)
{
	VerbsObject pd;
	pd.owner = "evil\x1b[2J";
	pd.uid = 1000;
	EXPECT_EQ(printed({pd}, false).find('\x1b'), std::string::npos);
}

TEST(List, TheNameOfAProcessIsNotTakenForMore)
{
	VerbsObject pd;
	pd.uid = 1000;
	pd.owner = "x\" pid 1";
	EXPECT_NE(printed({pd}, false).find(R"(owner "x\" pid 1" uid 1000)"), std::string::npos);
	pd.owner = "[ib_ipoib]";
	EXPECT_NE(printed({pd}, false).find(R"(owner "[ib_ipoib]" uid 1000)"), std::string::npos);
	pd.owner = "\xc2\x9b"
		   "2J";
	EXPECT_EQ(printed({pd}, true).find("\xc2\x9b"), std::string::npos);
}

TEST(List, Json)
{
	const Json objects = Json::parse(printed(some(), true)).at("objects");
	ASSERT_EQ(objects.size(), 2U);
	EXPECT_EQ(objects.at(0),
		  Json::parse(R"({"hca": "pib0", "kind": "qp", "id": 5, "kernel": false,
		"owner": "ib_send_bw", "pid": 4711, "uid": 1000, "handle": 3,
		"created_ns": 1772366400250163492, "created": "2026-03-01T12:00:00.250163492Z",
		"qpn": 17, "type": "RC", "state": "RTS", "una_psn": "0x10", "next_psn": "0x12",
		"ack_usec": 900, "waits_for": "acknowledgement"})"));
	EXPECT_EQ(objects.at(1).at("owner"), "ib_ipoib");
	EXPECT_EQ(objects.at(1).at("kernel"), true);
	EXPECT_FALSE(objects.at(1).contains("pid"));
}

TEST(List, WhatAQueuePairWaitsFor)
{
	EXPECT_EQ(waits_for(queue_pair({{PIB_O_STATE, 1}})), "program");
	EXPECT_EQ(waits_for(queue_pair({{PIB_O_STATE, 3}})), "");
	EXPECT_EQ(waits_for(queue_pair({{PIB_O_STATE, 6}})), "");
	EXPECT_EQ(waits_for(queue_pair({{PIB_O_STATE, 3}, {PIB_O_PAGE_WAIT, 2}, {PIB_O_CCTI, 4}})),
		  "page,congestion");
	EXPECT_EQ(waits_for(queue_pair({{PIB_O_STATE, 3},
					{PIB_O_UNA_PSN, 1},
					{PIB_O_NEXT_PSN, 2},
					{PIB_O_ACK_USEC, 5},
					{PIB_O_RNR_USEC, 5}})),
		  "receiver");
	EXPECT_EQ(waits_for(queue_pair({{PIB_O_STATE, 3}, {PIB_O_PUSHED_BACK, 1}})), "room");
	VerbsObject other;
	EXPECT_EQ(waits_for(other), "");
}

TEST(List, Words)
{
	VerbsObject mr;
	mr.kind = PIB_OBJECT_KIND_MR;
	EXPECT_EQ(fact_words(mr, {PIB_O_ACCESS, 5}), "LOCAL_WRITE,REMOTE_READ");
	EXPECT_EQ(fact_words(mr, {PIB_O_ACCESS, 0}), "none");
	EXPECT_EQ(fact_words(mr, {PIB_O_TYPE, 1}), "USER");
	EXPECT_EQ(fact_words(mr, {PIB_O_TYPE, 99}), std::nullopt);
	EXPECT_EQ(fact_words(mr, {PIB_O_LENGTH, 1}), std::nullopt);
}

} // namespace
} // namespace pib::ctl
