// SPDX-License-Identifier: GPL-2.0
#include "proto.h"

#include <algorithm>
#include <cstdio>

namespace sim {

Burst part(const Burst &b, uint32_t i, uint32_t n, uint32_t mtu)
{
	Burst out;
	size_t from = std::min<size_t>(b.data.size(), size_t(i) * mtu);
	size_t to = std::min<size_t>(b.data.size(), size_t(i + n) * mtu);

	pib_hdrs_part(&b.h, b.npkts, i, n, &out.h);
	out.npkts = n;
	out.data.assign(b.data.begin() + from, b.data.begin() + to);
	return out;
}

static Bytes to_wire(const Burst &b)
{
	Bytes raw(PIB_HDRS_MAX);
	size_t hdr_len = pib_hdrs_build(&b.h, b.data.size(), raw.data());
	size_t body;
	uint32_t crc;

	expect(hdr_len > 0, "a packet that has no opcode");
	raw.resize(hdr_len);
	raw.insert(raw.end(), b.data.begin(), b.data.end());
	raw.resize(raw.size() + pib_hdrs_pad(b.data.size()));
	body = raw.size();
	crc = pib_icrc_headers(raw.data(), hdr_len);
	crc = pib_icrc_update(crc, raw.data() + hdr_len, body - hdr_len);
	raw.resize(body + PIB_ICRC_LEN);
	pib_icrc_store(crc, raw.data() + body);
	expect(raw.size() == pib_opcode_wire_len(&b.h, b.data.size()),
	       "pib_opcode_wire_len() is wrong");
	return raw;
}

static bool icrc_ok(const Bytes &raw, size_t hdr_len)
{
	size_t body = raw.size() - PIB_ICRC_LEN;
	uint32_t crc = pib_icrc_headers(raw.data(), hdr_len);

	crc = pib_icrc_update(crc, raw.data() + hdr_len, body - hdr_len);
	return pib_icrc_match(crc, raw.data() + body);
}

bool over_wire(Burst &b, int64_t flip)
{
	Bytes raw = to_wire(b);
	size_t hdr_len, len;
	Burst in;

	if (flip >= 0)
		raw[(flip / 8) % raw.size()] ^= 1 << flip % 8;
	if (pib_hdrs_parse(&in.h, raw.data(), raw.size(), raw.size(), &hdr_len, &len)) {
		expect(flip >= 0, "a packet that was built cannot be parsed");
		return false;
	}
	if (!icrc_ok(raw, hdr_len)) {
		expect(flip >= 0, "a packet that was built has a wrong ICRC");
		return false;
	}
	in.data.assign(raw.begin() + hdr_len, raw.begin() + hdr_len + len);
	if (flip < 0)
		expect(in.data == b.data, "payload changed by building and parsing");
	in.h.flags &= ~(PIB_H_FECN | PIB_H_BECN); // variant: may have been flipped
	b = std::move(in);
	return true;
}

std::string describe(const Burst &b)
{
	static const char *const ops[] = {"SEND",  "WRITE",	   "READ",     "READ_RESP",
					  "ACK",   "ATOMIC_ACK",   "CAS",      "FAA",
					  "FLUSH", "ATOMIC_WRITE", "RESERVED", "CNP"};
	char s[256];

	std::snprintf(
		s, sizeof(s), "%s psn %06x +%u%s%s%s%s%s len %zu syn %02x msn %u dma %u va %llx",
		ops[b.h.op], b.h.psn, b.npkts, b.h.flags & PIB_H_FIRST ? " FIRST" : "",
		b.h.flags & PIB_H_LAST ? " LAST" : "", b.h.flags & PIB_H_IMM ? " IMM" : "",
		b.h.flags & PIB_H_INV ? " INV" : "", b.h.flags & PIB_H_ACKREQ ? " AckReq" : "",
		b.data.size(), b.h.syndrome, b.h.msn, b.h.dmalen, (unsigned long long)b.h.va);
	return s;
}

} // namespace sim
