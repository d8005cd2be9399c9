// SPDX-License-Identifier: GPL-2.0
// Packet headers: layout, every opcode there and back, and what must be refused.
#include <set>

#include <gtest/gtest.h>

#include "sim/proto.h"
#include "sim/rng.h"

extern "C" {
#include "../../kernel/proto/mad.h"
}

using sim::Bytes;

namespace {

// 9.2.1, A14, A19: all opcodes that are not reserved for good, and the bytes of the headers after BTH.
struct Opcode {
	uint8_t value;
	uint8_t ext;
	bool payload;
};

std::vector<Opcode> all_opcodes()
{
	std::vector<Opcode> v = {
		{0x00, 0, true},   {0x01, 0, true},  {0x02, 0, true},	{0x03, 4, true},
		{0x04, 0, true},   {0x05, 4, true},  {0x06, 16, true},	{0x07, 0, true},
		{0x08, 0, true},   {0x09, 4, true},  {0x0A, 16, true},	{0x0B, 20, true},
		{0x0C, 16, false}, {0x0D, 4, true},  {0x0E, 0, true},	{0x0F, 4, true},
		{0x10, 4, true},   {0x11, 4, false}, {0x12, 12, false}, {0x13, 28, false},
		{0x14, 28, false}, {0x16, 4, true},  {0x17, 4, true},	{0x1C, 20, false},
		{0x1D, 24, false},
	};
	size_t rc = v.size();

	// Reserved: parsed all the same, for there is an answer to them.
	for (uint8_t low : {0x15, 0x18, 0x19, 0x1A, 0x1B, 0x1E, 0x1F}) {
		v.push_back({low, 0, true});
		v.push_back({uint8_t(0xA0 | low), 0, true});
	}
	for (size_t i = 0; i < rc; i++) {
		uint8_t low = v[i].value;
		bool response = low >= 0x0D && low <= 0x12;

		v.push_back({uint8_t(0xA0 | low), uint8_t(v[i].ext + (response ? 0 : 4)),
			     v[i].payload});
		if (low <= 0x0B)
			v.push_back({uint8_t(0x20 | low), v[i].ext, true});
	}
	v.push_back({0x64, 8, true});
	v.push_back({0x65, 12, true});
	v.push_back({0x80, 0, true});
	return v;
}

bool is_middle(uint8_t opcode)
{
	static const std::set<uint8_t> open = {0x00, 0x01, 0x06, 0x07, 0x0D, 0x0E};

	return opcode != 0x80 && open.count(opcode & 0x1F);
}

// A packet of random fields, by hand.
Bytes random_packet(const Opcode &o, bool grh, size_t payload, sim::Rng &g)
{
	size_t bth = grh ? 48 : 8, pad = -payload & 3;
	size_t total = bth + 12 + o.ext + payload + pad + 4;
	Bytes p = g.bytes(total);

	p[0] &= 0xF0;
	p[1] = (p[1] & 0xF0) | (grh ? 3 : 2);
	p[4] = total / 4 >> 8;
	p[5] = total / 4;
	if (grh) {
		p[8] = (p[8] & 0xF) | 0x60;
		p[12] = (total - 48) >> 8;
		p[13] = total - 48;
		p[14] = 0x1B;
	}
	p[bth] = o.value;
	p[bth + 1] = (p[bth + 1] & 0xC0) | pad << 4;
	p[bth + 7] |= 1; // not QP0, and so not VL15
	if (p[0] >> 4 == 15)
		p[0] = 0;
	return p;
}

struct Parsed {
	int err;
	pib_hdrs h;
	size_t hdr_len = 0, payload = 0;
};

Parsed parse(const Bytes &p, size_t avail = ~0ul, size_t len = ~0ul)
{
	Parsed r{};

	r.err = pib_hdrs_parse(&r.h, p.data(), std::min(avail, p.size()), std::min(len, p.size()),
			       &r.hdr_len, &r.payload);
	return r;
}

Bytes some_packet(uint8_t opcode, uint8_t ext, size_t payload = 16, bool grh = false)
{
	sim::Rng g(opcode);

	return random_packet({opcode, ext, true}, grh, payload, g);
}

TEST(Hdrs, ExactlyTheDefinedOpcodesAreAccepted)
{
	std::set<uint8_t> valid;

	for (const auto &o : all_opcodes())
		valid.insert(o.value);
	EXPECT_EQ(valid.size(), 25u + 25 + 12 + 2 + 1 + 2 * 7);
	for (int op = 0; op < 256; op++)
		EXPECT_EQ(pib_opcode_info(op) != nullptr, valid.count(op) == 1) << std::hex << op;
}

TEST(Hdrs, ReservedOpcodesOfAcknowledgedServices)
{
	for (uint8_t service : {0x00, 0xA0}) {
		for (uint8_t low : {0x15, 0x18, 0x19, 0x1A, 0x1B, 0x1E, 0x1F}) {
			Parsed r = parse(some_packet(service | low, 0));

			EXPECT_EQ(r.err, PIB_PARSE_OK);
			EXPECT_EQ(r.h.op, PIB_OP_RESERVED);
			EXPECT_EQ(r.h.ex, low);
			r.h.ex = 0x04;
			EXPECT_LT(pib_opcode_of(&r.h), 0); // one that is not reserved
		}
	}
}

TEST(Hdrs, EveryOpcodeThereAndBack)
{
	sim::Rng g(1);

	for (const auto &o : all_opcodes()) {
		for (bool grh : {false, true}) {
			size_t len = !o.payload		  ? 0
				     : o.value == 0x80	  ? 16
				     : is_middle(o.value) ? 256
							  : g.below(257);
			Bytes p = random_packet(o, grh, len, g), built(PIB_HDRS_MAX);
			Parsed r = parse(p);

			ASSERT_EQ(r.err, PIB_PARSE_OK) << std::hex << int(o.value);
			EXPECT_EQ(r.hdr_len, (grh ? 60u : 20u) + o.ext);
			EXPECT_EQ(r.payload, len);
			EXPECT_EQ(pib_opcode_of(&r.h), o.value);
			EXPECT_EQ(pib_opcode_wire_len(&r.h, len), p.size());
			built.resize(pib_hdrs_build(&r.h, len, built.data()));
			ASSERT_EQ(built.size(), r.hdr_len);
			Parsed again = parse([&] {
				Bytes q = p;
				std::copy(built.begin(), built.end(), q.begin());
				return q;
			}());
			EXPECT_EQ(again.err, PIB_PARSE_OK);
			EXPECT_EQ(0, memcmp(&again.h, &r.h, sizeof(r.h)))
				<< std::hex << int(o.value);
		}
	}
}

TEST(Hdrs, FieldsLieWhereTheSpecificationPutsThem)
{
	// RC RDMA WRITE ONLY with immediate, GRH; fields with bytes that tell their place.
	const Bytes p = {// LRH: VL 3, SL 5, DLID, SLID
			 0x30, 0x53, 0x01, 0x02, 0x00, 0x1A, 0x03, 0x04,
			 // GRH: TClass AB, flow 12345, hop 64, SGID, DGID
			 0x6A, 0xB1, 0x23, 0x45, 0x00, 0x38, 0x1B, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 9,
			 10, 11, 12, 13, 14, 15, 16, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
			 33, 34, 35, 36,
			 // BTH, RETH, immediate data
			 0x0B, 0xF0, 0x80, 0x01, 0xC0, 0x11, 0x22, 0x33, 0x80, 0x44, 0x55, 0x66, 1,
			 2, 3, 4, 5, 6, 7, 8, 0xA, 0xB, 0xC, 0xD, 0, 0, 0, 5, 0xDE, 0xAD, 0xBE,
			 0xEF, 'h', 'e', 'l', 'l', 'o', 0, 0, 0, 0, 0, 0, 0};
	Bytes q = p;
	Parsed r;

	q[5] = q.size() / 4;
	q[13] = q.size() - 48;
	r = parse(q);
	ASSERT_EQ(r.err, PIB_PARSE_OK);
	EXPECT_EQ(r.h.vl, 3);
	EXPECT_EQ(r.h.sl, 5);
	EXPECT_EQ(r.h.dlid, 0x0102);
	EXPECT_EQ(r.h.slid, 0x0304);
	EXPECT_EQ(r.h.tclass, 0xAB);
	EXPECT_EQ(r.h.flow, 0x12345u);
	EXPECT_EQ(r.h.hop, 64);
	EXPECT_EQ(r.h.sgid[15], 16);
	EXPECT_EQ(r.h.dgid[0], 21);
	EXPECT_EQ(r.h.tp, PIB_TP_RC);
	EXPECT_EQ(r.h.op, PIB_OP_WRITE);
	EXPECT_EQ(r.h.flags, PIB_H_GRH | PIB_H_FIRST | PIB_H_LAST | PIB_H_IMM | PIB_H_SE |
				     PIB_H_MIG | PIB_H_FECN | PIB_H_BECN | PIB_H_ACKREQ);
	EXPECT_EQ(r.h.pad, 3);
	EXPECT_EQ(r.h.pkey, 0x8001);
	EXPECT_EQ(r.h.dqpn, 0x112233u);
	EXPECT_EQ(r.h.psn, 0x445566u);
	EXPECT_EQ(r.h.va, 0x0102030405060708u);
	EXPECT_EQ(r.h.rkey, 0x0A0B0C0Du);
	EXPECT_EQ(r.h.dmalen, 5u);
	EXPECT_EQ(0, memcmp(&r.h.ex, "\xDE\xAD\xBE\xEF", 4)); // as it stands on the wire
	EXPECT_EQ(r.payload, 5u);
	EXPECT_EQ(0, memcmp(q.data() + r.hdr_len, "hello", 5));
}

TEST(Hdrs, OneHeadersOrderOfExtensions)
{
	// XRC FLUSH: XRCETH, FETH, RETH (A14, A19)
	Bytes p = some_packet(0xBC, 24, 0);
	const uint8_t ext[] = {0, 0xAA, 0xBB, 0xCC, 0, 0, 0, 0x12, 0, 0, 0, 0,
			       0, 0,	0x10, 0,    0, 0, 0, 7,	   0, 0, 0, 9};
	Parsed r;

	std::copy(std::begin(ext), std::end(ext), p.begin() + 20);
	r = parse(p);
	ASSERT_EQ(r.err, PIB_PARSE_OK);
	EXPECT_EQ(r.h.srqn, 0xAABBCCu);
	EXPECT_EQ(r.h.flush, 0x12);
	EXPECT_EQ(r.h.va, 0x1000u);
	EXPECT_EQ(r.h.rkey, 7u);
	EXPECT_EQ(r.h.dmalen, 9u);
}

TEST(Hdrs, AtomicWriteCarriesItsBytesInMemoryOrder)
{
	Bytes p = some_packet(0x1D, 24, 0);
	Parsed r = parse(p);

	ASSERT_EQ(r.err, PIB_PARSE_OK);
	EXPECT_EQ(0, memcmp(&r.h.swap_add, p.data() + 36, 8));
}

struct Damage {
	const char *what;
	size_t at;
	uint8_t mask, value;
	int err;
};

TEST(Hdrs, DamagedHeadersAreRefused)
{
	static const Damage plain[] = {
		{"LVer", 0, 0x0F, 0x01, PIB_PARSE_LRH},
		{"LNH raw", 1, 0x03, 0x00, PIB_PARSE_LRH},
		{"LNH IPv6", 1, 0x03, 0x01, PIB_PARSE_LRH},
		{"PktLen 0", 5, 0xFF, 0x00, PIB_PARSE_LRH},
		{"PktLen without BTH", 5, 0xFF, 0x05, PIB_PARSE_LRH},
		{"PktLen more than there is", 5, 0xFF, 0xF0, PIB_PARSE_SHORT},
		{"TVer", 9, 0x0F, 0x01, PIB_PARSE_BTH},
		{"reserved opcode of UC", 8, 0xFF, 0x35, PIB_PARSE_BTH},
		{"reserved opcode of UD", 8, 0xFF, 0x75, PIB_PARSE_BTH},
		{"reliable datagram", 8, 0xFF, 0x44, PIB_PARSE_BTH},
		{"pad in a MIDDLE", 9, 0x30, 0x10, PIB_PARSE_LEN},
	};
	static const Damage global[] = {
		{"IPVer", 8, 0xF0, 0x40, PIB_PARSE_GRH},
		{"NxtHdr", 14, 0xFF, 0x1C, PIB_PARSE_GRH},
		{"PayLen", 13, 0xFF, 0x00, PIB_PARSE_GRH},
	};

	for (const auto &d : plain) {
		Bytes p = some_packet(0x01, 0);

		p[d.at] = (p[d.at] & ~d.mask) | d.value;
		EXPECT_EQ(parse(p).err, d.err) << d.what;
	}
	for (const auto &d : global) {
		Bytes p = some_packet(0x01, 0, 16, true);

		p[d.at] = (p[d.at] & ~d.mask) | d.value;
		EXPECT_EQ(parse(p).err, d.err) << d.what;
	}
}

// 9.6.1.2, 9.6.1.3: a GRH where the address vector has one and only there, with the GIDs of both ends.
TEST(Hdrs, GrhFitsTheAddressVector)
{
	const uint64_t prefix = 0xFEC0000000000007ULL, near = 0x250C2FFFE000001ULL,
		       far = 0x250C2FFFE000002ULL;
	const auto gid = [](uint8_t *to, uint64_t subnet, uint64_t guid) {
		pib_put64(to, subnet);
		pib_put64(to + 8, guid);
	};
	const auto fits = [&](bool with, bool av, uint64_t subnet, uint64_t sguid, uint64_t dguid) {
		pib_hdrs h{};
		uint8_t peer[16];

		h.flags = with ? PIB_H_GRH : 0;
		gid(h.sgid, subnet, sguid);
		gid(h.dgid, prefix, dguid);
		gid(peer, prefix, far);
		return pib_grh_fits(&h, av, peer, near);
	};

	EXPECT_TRUE(fits(false, false, prefix, 0, 0));
	EXPECT_TRUE(fits(true, true, prefix, far, near));
	EXPECT_TRUE(fits(true, true, PIB_GID_PREFIX_LOCAL, far, near));
	EXPECT_FALSE(fits(true, false, prefix, far, near)) << "a GRH to a QP without one";
	EXPECT_FALSE(fits(false, true, prefix, far, near)) << "the reverse";
	EXPECT_FALSE(fits(true, true, prefix, far + 1, near)) << "another sender";
	EXPECT_FALSE(fits(true, true, prefix + 1, far, near)) << "another subnet";
	EXPECT_FALSE(fits(true, true, prefix, far, near + 1)) << "another GID of the port";
}

// VL15, QP0 as the destination and QP0 as the source: all or, but for the source, none of them.
TEST(Hdrs, OnlyQp0ReachesQp0)
{
	for (const auto &o : all_opcodes()) {
		for (int i = 0; i < 8; i++) {
			bool vl15 = i & 1, to_qp0 = i & 2, from_qp0 = i & 4,
			     ud = o.value >> 5 == PIB_TP_UD;
			Bytes p = some_packet(o.value, o.ext,
					      is_middle(o.value) ? 256
					      : o.payload	 ? 16
								 : 0);
			int want = vl15 == to_qp0 && (!to_qp0 || (ud && from_qp0)) ? PIB_PARSE_OK
										   : PIB_PARSE_QP0;

			p[0] = vl15 ? 0xF0 : 0x30;
			p[13] = p[14] = 0;
			p[15] = to_qp0 ? 0 : 3;
			if (ud) {
				p[25] = p[26] = 0;
				p[27] = from_qp0 ? 0 : 9;
			}
			EXPECT_EQ(parse(p).err, want) << std::hex << int(o.value) << " " << i;
		}
	}
}

TEST(Hdrs, PayloadMustSuitTheOpcode)
{
	for (const auto &o : all_opcodes()) {
		sim::Rng g(o.value);
		bool none = parse(random_packet(o, false, 0, g)).err == PIB_PARSE_OK;
		bool four = parse(random_packet(o, false, 4, g)).err == PIB_PARSE_OK;
		bool more = parse(random_packet(o, false, 4100, g)).err == PIB_PARSE_OK;

		EXPECT_EQ(none, !is_middle(o.value)) << std::hex << int(o.value);
		EXPECT_EQ(four, o.payload) << std::hex << int(o.value);
		EXPECT_FALSE(more) << std::hex << int(o.value);
	}
}

TEST(Hdrs, EveryTruncationIsRefused)
{
	for (const auto &o : all_opcodes()) {
		sim::Rng g(o.value);
		Bytes p = random_packet(o, true, o.payload ? 16 : 0, g);
		size_t hdr_len = 60 + o.ext;

		for (size_t n = 0; n < p.size(); n++) {
			Bytes cut(p.begin(), p.begin() + n);

			EXPECT_NE(parse(cut).err, PIB_PARSE_OK) << int(o.value) << " " << n;
		}
		// Only the headers at hand, the rest elsewhere.
		for (size_t n = 0; n < p.size(); n++) {
			Bytes cut(p.begin(), p.begin() + n);
			Parsed r{};

			r.err = pib_hdrs_parse(&r.h, cut.data(), n, p.size(), &r.hdr_len,
					       &r.payload);
			EXPECT_EQ(r.err == PIB_PARSE_OK, n >= hdr_len) << std::hex << int(o.value);
		}
	}
}

TEST(Hdrs, BytesBeyondPktLenAreNotThePackets)
{
	Bytes p = some_packet(0x04, 0);
	Parsed r;

	p.resize(p.size() + 2); // a VCRC
	r = parse(p);
	EXPECT_EQ(r.err, PIB_PARSE_OK);
	EXPECT_EQ(r.payload, 16u);
}

TEST(Hdrs, PacketsOfABurst)
{
	pib_hdrs b{}, h;

	b.op = PIB_OP_WRITE;
	b.psn = 0xFFFFFE;
	b.flags = PIB_H_FIRST | PIB_H_LAST | PIB_H_IMM | PIB_H_SE | PIB_H_ACKREQ | PIB_H_MIG;
	pib_hdrs_packet(&b, 4, 0, &h);
	EXPECT_EQ(h.flags, PIB_H_FIRST | PIB_H_MIG);
	EXPECT_EQ(pib_opcode_of(&h), 0x06);
	pib_hdrs_packet(&b, 4, 1, &h);
	EXPECT_EQ(h.flags, PIB_H_MIG);
	EXPECT_EQ(h.psn, 0xFFFFFFu);
	EXPECT_EQ(pib_opcode_of(&h), 0x07);
	pib_hdrs_packet(&b, 4, 3, &h);
	EXPECT_EQ(h.flags, b.flags & ~PIB_H_FIRST);
	EXPECT_EQ(h.psn, 1u);
	EXPECT_EQ(pib_opcode_of(&h), 0x09);
	pib_hdrs_part(&b, 4, 1, 3, &h);
	EXPECT_EQ(h.flags, b.flags & ~PIB_H_FIRST);
	EXPECT_EQ(h.psn, 0xFFFFFFu);
	pib_hdrs_part(&b, 4, 0, 3, &h);
	EXPECT_EQ(h.flags, PIB_H_FIRST | PIB_H_MIG);
}

TEST(Hdrs, DatagramsOfABurstAreMessagesOfTheirOwn)
{
	pib_hdrs b{}, h;

	b.tp = PIB_TP_UD;
	b.op = PIB_OP_SEND;
	b.psn = 0xFFFFFF;
	b.flags = PIB_H_FIRST | PIB_H_LAST | PIB_H_SE;
	for (uint32_t i = 0; i < 3; i++) {
		pib_hdrs_packet(&b, 3, i, &h);
		EXPECT_EQ(h.flags, b.flags);
		EXPECT_EQ(h.psn, (0xFFFFFF + i) & PIB_PSN_MASK);
		EXPECT_EQ(pib_opcode_of(&h), 0x64);
	}
}

TEST(Hdrs, HeadersWithoutAnOpcodeAreNotBuilt)
{
	uint8_t buf[PIB_HDRS_MAX];
	pib_hdrs h{};

	h.op = PIB_OP_READ_REQ; // neither first nor last
	EXPECT_EQ(pib_hdrs_build(&h, 0, buf), 0u);
	h.flags = PIB_H_FIRST | PIB_H_LAST;
	h.tp = PIB_TP_UC; // has no READ
	EXPECT_EQ(pib_hdrs_build(&h, 0, buf), 0u);
	h.op = 200;
	EXPECT_EQ(pib_hdrs_build(&h, 0, buf), 0u);
}

TEST(Hdrs, PsnArithmetic)
{
	EXPECT_EQ(pib_psn_add(0xFFFFFF, 1), 0u);
	EXPECT_EQ(pib_psn_add(0, -1), 0xFFFFFFu);
	EXPECT_EQ(pib_psn_diff(0, 0xFFFFFF), 1);
	EXPECT_EQ(pib_psn_diff(0xFFFFFF, 0), -1);
	EXPECT_EQ(pib_psn_diff(0x7FFFFF, 0), 0x7FFFFF);
	EXPECT_EQ(pib_psn_diff(0x800000, 0), -0x800000);
}

} // namespace
