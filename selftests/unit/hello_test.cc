// SPDX-License-Identifier: GPL-2.0
// Control datagrams: the layout that docs/wire-format.md promises, and what is refused.
#include <gtest/gtest.h>
#include <array>
#include <cstring>
#include <functional>

extern "C" {
#include "../../kernel/proto/session.h"
}

namespace {

using Bytes = std::array<uint8_t, PIB_HELLO_WIRE_LEN>;

pib_hello sample()
{
	pib_hello h{};

	h.fabric = 0x01020304;
	h.link_id = 0x11121314;
	h.nonce = 0x2122232425262728;
	h.peer_nonce = 0x3132333435363738;
	h.node_guid = 0x4142434445464748;
	h.port_guid = 0x5152535455565758;
	h.port_num = 7;
	h.role = PIB_ROLE_HCA;
	h.mtu_cap = 5;
	h.down = 1;
	h.caps = 0x61626364;
	h.keepalive_ms = 500;
	h.num_lids = 2;
	h.lids[0] = 0x0102;
	h.lids[1] = 0xBFFF;
	h.width_en = 0x13;
	h.speed_en = 0x07;
	h.ext_speed_en = 0x03;
	h.seq = 0x71727374;
	h.ack = 0x81828384;
	strcpy(h.desc, "host7 pib0");
	return h;
}

Bytes build(const pib_hello &h, uint8_t type = PIB_DG_HELLO, uint32_t to = 0x91929394)
{
	Bytes b;

	b.fill(0xEE);
	EXPECT_EQ(pib_hello_build(&h, type, to, b.data()), b.size());
	return b;
}

int parse(const Bytes &b, pib_hello *h = nullptr, size_t len = PIB_HELLO_WIRE_LEN)
{
	pib_hello out;
	uint8_t type;
	uint32_t to;

	return pib_hello_parse(h ? h : &out, &type, &to, b.data(), len);
}

TEST(Hello, Layout)
{
	const uint8_t head[] = {
		0x22, 0,    0,	  0,	0x91, 0x92, 0x93, 0x94, 1,    2,    3,	  4,	0x11,
		0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x31, 0x32,
		0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47,
		0x48, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 7,    2,	  5,	1,
		0x61, 0x62, 0x63, 0x64, 0x01, 0xF4, 2,	  0x13, 0x71, 0x72, 0x73, 0x74, 0x81,
		0x82, 0x83, 0x84, 0x07, 0x03, 0,    0,	  1,	2,    0xBF, 0xFF, 0,	0,
		0,    0,    0,	  0,	0,    0,    0,	  0,	0,    0,    'h',  'o',	's',
		't',  '7',  ' ',  'p',	'i',  'b',  '0',  0,
	};
	Bytes b = build(sample(), PIB_DG_HELLO_ACK);

	for (size_t i = 0; i < sizeof(head); i++)
		EXPECT_EQ(b[i], head[i]) << i;
	for (size_t i = sizeof(head); i < b.size(); i++)
		EXPECT_EQ(b[i], 0) << i;
	EXPECT_EQ(PIB_HELLO_MAC_OFF, 160);
}

TEST(Hello, RoundTrip)
{
	pib_hello in = sample(), out;
	uint8_t type;
	uint32_t to;
	Bytes b = build(in, PIB_DG_BYE);

	ASSERT_EQ(pib_hello_parse(&out, &type, &to, b.data(), b.size()), 0);
	EXPECT_EQ(type, PIB_DG_BYE);
	EXPECT_EQ(to, 0x91929394u);
	EXPECT_EQ(build(out, PIB_DG_BYE), b);
}

TEST(Hello, WhatCameAndAPaddedProbe)
{
	pib_hello in = sample(), out;
	std::array<uint8_t, 1400> padded{};
	uint8_t type;
	uint32_t to;

	in.came = 0x9394;
	const Bytes answer = build(in);
	EXPECT_EQ(answer[156], 0x93);
	EXPECT_EQ(answer[157], 0x94);
	ASSERT_EQ(parse(answer, &out), 0);
	EXPECT_EQ(out.came, 0x9394);

	in.padded = padded.size();
	in.probe = 0xA1A2;
	const Bytes head = build(in, PIB_DG_KEEPALIVE);
	EXPECT_EQ(head[152] << 8 | head[153], 1400);
	EXPECT_EQ(head[154] << 8 | head[155], 0xA1A2);
	std::copy(head.begin(), head.end(), padded.begin());
	ASSERT_EQ(pib_hello_parse(&out, &type, &to, padded.data(), padded.size()), 0);
	EXPECT_EQ(type, PIB_DG_KEEPALIVE);
	EXPECT_EQ(out.padded, 1400);
	EXPECT_EQ(out.probe, 0xA1A2);
	EXPECT_EQ(build(out, PIB_DG_KEEPALIVE), head);
	// A part of it, or more than it, is none.
	for (size_t len : {size_t{PIB_HELLO_WIRE_LEN}, padded.size() - 1})
		EXPECT_EQ(pib_hello_parse(&out, &type, &to, padded.data(), len), -1) << len;
	EXPECT_EQ(pib_hello_parse(&out, &type, &to, padded.data(), padded.size() + 1), -1);
	for (uint8_t other : {PIB_DG_HELLO, PIB_DG_HELLO_ACK, PIB_DG_BYE}) {
		padded[0] = PIB_DG_VERSION << 4 | other;
		EXPECT_EQ(pib_hello_parse(&out, &type, &to, padded.data(), padded.size()), -1);
	}
	padded[0] = PIB_DG_VERSION << 4 | PIB_DG_KEEPALIVE;
	padded[154] = padded[155] = 0;
	EXPECT_EQ(pib_hello_parse(&out, &type, &to, padded.data(), padded.size()), -1);
	padded[152] = padded[153] = 0;
	EXPECT_EQ(pib_hello_parse(&out, &type, &to, padded.data(), padded.size()), -1);
}

TEST(Hello, Refused)
{
	const std::pair<const char *, std::function<void(pib_hello &)>> bad[] = {
		{"no session", [](pib_hello &h) { h.nonce = 0; }},
		{"no role", [](pib_hello &h) { h.role = 0; }},
		{"unknown role", [](pib_hello &h) { h.role = 3; }},
		{"MTU 0", [](pib_hello &h) { h.mtu_cap = 0; }},
		{"MTU 6", [](pib_hello &h) { h.mtu_cap = 6; }},
		{"down", [](pib_hello &h) { h.down = 2; }},
		{"too many LIDs", [](pib_hello &h) { h.num_lids = PIB_HELLO_LIDS + 1; }},
		{"LID 0", [](pib_hello &h) { h.lids[1] = 0; }},
		{"multicast LID", [](pib_hello &h) { h.lids[0] = 0xC000; }},
		{"keepalive", [](pib_hello &h) { h.keepalive_ms = 60000; }},
		{"port", [](pib_hello &h) { h.port_num = 255; }},
		{"a trunk of an HCA", [](pib_hello &h) { h.caps |= PIB_CAP_AUTO; }},
	};

	for (auto &[why, spoil] : bad) {
		pib_hello h = sample();

		spoil(h);
		EXPECT_EQ(parse(build(h)), -1) << why;
	}
}

TEST(Hello, ATrunkIsOfASwitch)
{
	pib_hello h = sample(), out;

	EXPECT_FALSE(pib_hello_is_trunk(&h));
	h.caps |= PIB_CAP_AUTO;
	h.role = PIB_ROLE_SWITCH;
	ASSERT_EQ(parse(build(h), &out), 0);
	EXPECT_TRUE(pib_hello_is_trunk(&out));
}

TEST(Hello, VersionTypeAndLength)
{
	Bytes b = build(sample());

	EXPECT_EQ(parse(b), 0);
	for (size_t len : {size_t(0), size_t(1), size_t(8), b.size() - 1})
		EXPECT_EQ(parse(b, nullptr, len), -1) << len;
	for (int first : {0x01, 0x11, 0x20, 0x25, 0x2F}) {
		b[0] = first;
		EXPECT_EQ(parse(b), -1) << first;
	}
}

TEST(Hello, DescriptionIsTamed)
{
	Bytes b = build(sample());
	pib_hello h;

	memset(&b[88], 'x', 64);
	b[89] = '\n';
	b[90] = 0x1B;
	b[91] = 0xC3; // UTF-8 stays
	ASSERT_EQ(parse(b, &h), 0);
	EXPECT_EQ(strlen(h.desc), 63u);
	EXPECT_EQ(h.desc[1], '?');
	EXPECT_EQ(h.desc[2], '?');
	EXPECT_EQ(uint8_t(h.desc[3]), 0xC3);
}

TEST(Hello, RefusalTravelsAndHasAText)
{
	pib_hello h = sample(), out;

	h.refusal = PIB_REFUSED_KEY;
	Bytes b = build(h, PIB_DG_BYE);
	EXPECT_EQ(b[70], PIB_REFUSED_KEY);
	ASSERT_EQ(parse(b, &out), 0);
	EXPECT_EQ(out.refusal, PIB_REFUSED_KEY);
	EXPECT_STREQ(pib_hello_refusal_text(PIB_REFUSED_KEY), "the fabric's key is another one");
	EXPECT_STREQ(pib_hello_refusal_text(255), pib_hello_refusal_text(PIB_REFUSED_NOT));
}

// A host of the version before is to know why it gets no link.
TEST(Hello, OnlyAHelloOfTheVersionBeforeThatWantsALinkIsRefused)
{
	pib_hello h{}, out{};
	uint8_t b[PIB_HELLO_WIRE_LEN];

	h.role = PIB_ROLE_HCA;
	h.mtu_cap = 5;
	h.nonce = 7;
	h.fabric = 3;
	const auto refused = [&](uint8_t type, uint32_t link_id, size_t len = sizeof(b)) {
		h.link_id = link_id;
		pib_hello_build(&h, type, 0, b);
		pib_hello_make_former(b);
		return pib_hello_parse_former(&out, b, len);
	};
	EXPECT_TRUE(refused(PIB_DG_HELLO, 9));
	EXPECT_EQ(b[0], PIB_DG_FORMER << 4 | PIB_DG_HELLO);
	EXPECT_EQ(out.link_id, 9u);
	EXPECT_EQ(out.nonce, 7u);
	EXPECT_EQ(out.fabric, 3u);
	EXPECT_FALSE(refused(PIB_DG_HELLO, 0)) << "discovery";
	EXPECT_FALSE(refused(PIB_DG_HELLO, 9, sizeof(b) - 1));
	for (const uint8_t type : {PIB_DG_HELLO_ACK, PIB_DG_KEEPALIVE, PIB_DG_BYE})
		EXPECT_FALSE(refused(type, 9)) << "nor is an answer answered";
	pib_hello_build(&h, PIB_DG_HELLO, 0, b);
	EXPECT_FALSE(pib_hello_parse_former(&out, b, sizeof(b))) << "of this version";
}

// To the group and from the link, or it is no discovery; a trunk's first hello goes to one host.
TEST(Hello, DiscoveryIsOfTheLink)
{
	pib_hello h = sample();

	h.link_id = 0;
	h.caps = PIB_CAP_AUTO;
	pib_hello_way good{255, true, false};
	EXPECT_TRUE(pib_hello_admits(PIB_HELLO_ANYBODY, &h, &good));
	for (pib_hello_way way : {pib_hello_way{254, true, false},
				  {64, true, true},
				  {1, true, false},
				  {255, false, true}})
		EXPECT_FALSE(pib_hello_admits(PIB_HELLO_ANYBODY, &h, &way)) << int(way.hop_limit);
	h.link_id = 5;
	pib_hello_way near{255, false, false}, far{254, false, true};
	EXPECT_TRUE(pib_hello_admits(PIB_HELLO_ANYBODY, &h, &near));
	EXPECT_FALSE(pib_hello_admits(PIB_HELLO_ANYBODY, &h, &far));
}

TEST(Hello, WhoIsAdmitted)
{
	struct {
		pib_hello_way way;
		bool peers, link, anybody;
	} const cases[] = {
		{{255, false, false}, false, true, true},
		{{254, false, false}, false, false, true},
		{{64, false, true}, true, true, true},
		{{255, false, true}, true, true, true},
	};
	pib_hello h = sample();

	h.caps = 0;
	for (const auto &c : cases) {
		EXPECT_FALSE(pib_hello_admits(PIB_HELLO_NOBODY, &h, &c.way));
		EXPECT_EQ(pib_hello_admits(PIB_HELLO_PEERS, &h, &c.way), c.peers);
		EXPECT_EQ(pib_hello_admits(PIB_HELLO_LINK, &h, &c.way), c.link);
		EXPECT_EQ(pib_hello_admits(PIB_HELLO_ANYBODY, &h, &c.way), c.anybody);
	}
}

TEST(Hello, WhomALinkFollows)
{
	const pib_hello_way near{255, false, false}, far{254, false, false}, named{64, false, true};
	pib_hello h = sample();

	for (uint32_t caps : {0u, uint32_t(PIB_CAP_AUTO)}) {
		h.caps = caps; // a trunk's datagram is found by its link id, whatever it says
		for (int accept = PIB_HELLO_NOBODY; accept <= PIB_HELLO_ANYBODY; accept++) {
			EXPECT_TRUE(pib_hello_follows(accept, true, &h, &near)) << accept;
			EXPECT_FALSE(pib_hello_follows(accept, true, &h, &far)) << accept;
			EXPECT_FALSE(pib_hello_follows(accept, true, &h, &named)) << accept;
		}
	}
	h.caps = 0;
	EXPECT_FALSE(pib_hello_follows(PIB_HELLO_NOBODY, false, &h, &near));
	EXPECT_FALSE(pib_hello_follows(PIB_HELLO_PEERS, false, &h, &near));
	EXPECT_TRUE(pib_hello_follows(PIB_HELLO_PEERS, false, &h, &named));
	EXPECT_TRUE(pib_hello_follows(PIB_HELLO_LINK, false, &h, &near));
	EXPECT_FALSE(pib_hello_follows(PIB_HELLO_LINK, false, &h, &far));
	EXPECT_TRUE(pib_hello_follows(PIB_HELLO_ANYBODY, false, &h, &far));
	h.link_id = 0;
	EXPECT_FALSE(pib_hello_follows(PIB_HELLO_ANYBODY, true, &h, &near)) << "it names no link";
}

TEST(Hello, AProbeToEverybodyIsOfTheLink)
{
	const pib_hello_way near{255, true, false}, far{254, true, true}, alone{64, false, false};

	EXPECT_TRUE(pib_hello_may_probe(&near));
	EXPECT_FALSE(pib_hello_may_probe(&far));
	EXPECT_TRUE(pib_hello_may_probe(&alone)) << "it asks one host";
}

TEST(Hello, Tag)
{
	EXPECT_EQ(pib_session_tag(0x123456789ABCDEF0), 0xDEF0);
}

} // namespace
