// SPDX-License-Identifier: GPL-2.0
// The invariant CRC: published packets, and an independent implementation.
#include <gtest/gtest.h>

#include "sim/proto.h"
#include "sim/rng.h"

using sim::Bytes;

namespace {

// CRC-32 of IEEE 802.3 as its definition reads: bit by bit, over the whole message at once.
uint32_t reference_crc(const Bytes &msg)
{
	uint32_t reg = 0xFFFFFFFF, out = 0;

	for (uint8_t byte : msg)
		for (int bit = 0; bit < 8; bit++) {
			uint32_t top = reg >> 31 ^ (byte >> bit & 1);

			reg = reg << 1 ^ (top ? 0x04C11DB7 : 0);
		}
	for (int bit = 0; bit < 32; bit++) // complemented, sent highest coefficient first
		out |= (~reg >> (31 - bit) & 1) << bit;
	return out;
}

// 7.8.1: LRH.VL and BTH.resv8a read as ones; with a GRH all of the LRH, and GRH.TClass, GRH.FlowLabel
// and GRH.HopLmt.
Bytes masked(Bytes p)
{
	bool grh = (p[1] & 3) == 3;

	p[0] |= 0xF0;
	if (grh) {
		std::fill_n(p.begin(), 8, 0xFF);
		p[8] |= 0x0F;
		p[9] = p[10] = p[11] = 0xFF;
		p[15] = 0xFF;
	}
	p[(grh ? 48 : 8) + 4] = 0xFF;
	return p;
}

Bytes icrc(const Bytes &packet, size_t hdr_len)
{
	uint32_t crc = pib_icrc_headers(packet.data(), hdr_len);
	Bytes out(4);

	crc = pib_icrc_update(crc, packet.data() + hdr_len, packet.size() - hdr_len);
	pib_icrc_store(crc, out.data());
	EXPECT_TRUE(pib_icrc_match(crc, out.data()));
	out[3] ^= 1;
	EXPECT_FALSE(pib_icrc_match(crc, out.data()));
	out[3] ^= 1;
	return out;
}

TEST(Icrc, SamplePacketOfTheSpecification)
{
	// IBA volume 1, the worked example with figure 57 and table 29: RC RDMA WRITE ONLY, 14
	// bytes. Byte 52 of the packet, where the ICRC begins, is 0x96.
	const Bytes p = {
		0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 0x0A, 0x20, 0x24, 0x87, 0x00,
		0x87, 0xB1, 0xB3, 0x00, 0x0D, 0xEC, 0x2A, 0x01, 0x71, 0x0A, 0x1C, 0x01, 0x5D,
		0x40, 0x02, 0x38, 0xF2, 0x7A, 0x05, 0x00, 0x00, 0x00, 0x0E, 0xBB, 0x88, 0x4D,
		0x85, 0xFD, 0x5C, 0xFB, 0xA4, 0x72, 0x8B, 0xC0, 0x69, 0x0E, 0xD4, 0x00, 0x00,
	};

	EXPECT_EQ(icrc(p, 36), (Bytes{0x96, 0x25, 0xB7, 0x5A}));
}

// A RoCE v2 packet as the invariant CRC sees it: eight bytes of ones for the LRH, then IP and UDP
// with their variant fields as ones (A17.3.3).
Bytes roce(Bytes ip_udp, const Bytes &rest)
{
	Bytes p(8, 0xFF);

	ip_udp[1] = 0xFF;		// TOS
	ip_udp[8] = 0xFF;		// TTL
	ip_udp[10] = ip_udp[11] = 0xFF; // header checksum
	ip_udp[26] = ip_udp[27] = 0xFF; // UDP checksum
	p.insert(p.end(), ip_udp.begin(), ip_udp.end());
	p.insert(p.end(), rest.begin(), rest.end());
	p[8 + 28 + 4] = 0xFF; // BTH.resv8a
	return p;
}

Bytes roce_icrc(const Bytes &p)
{
	Bytes out(4);

	pib_icrc_store(pib_icrc_update(~0u, p.data(), p.size()), out.data());
	return out;
}

TEST(Icrc, RoceUcSendOfScapy)
{
	// Data of test/contrib/roce.uts in Scapy.
	const Bytes ip_udp = {
		0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xB4, 0xD5, 0xC0, 0xA8,
		0x00, 0x07, 0xC0, 0xA8, 0x00, 0x07, 0xC0, 0x00, 0x12, 0xB7, 0x00, 0x2C, 0xAC, 0xA2,
	};
	const Bytes bth_on = {
		0x24, 0x60, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0xD3, 0x00, 0xCF, 0x17,
		0x10, 'F',  '0',  0x81, 0x8B, 0xE2, 0x89, '5',	0xD9, 0x0E, 0x9A,
		0x95, 'P',  'T',  0x01, 0xBE, 0x88, '^',  'P',	0x00, 0x00,
	};

	EXPECT_EQ(roce_icrc(roce(ip_udp, bth_on)), (Bytes{0x78, 0xF3, 0x53, 0xF3}));
}

TEST(Icrc, RoceCnpOfConnectX4)
{
	// Captured on a ConnectX-4 Lx; data of test/contrib/roce.uts in Scapy.
	const Bytes ip_udp = {
		0x45, 0xC2, 0x00, 0x3C, 0x71, 0x8C, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0A, 0x00,
		0x11, 0x01, 0x0A, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xB7, 0x00, 0x28, 0x00, 0x00,
	};
	Bytes bth_on = {0x81, 0x00, 0xFF, 0xFF, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00};

	bth_on.resize(12 + 16);
	EXPECT_EQ(roce_icrc(roce(ip_udp, bth_on)), (Bytes{0x82, 0xFD, 0x00, 0x2A}));
}

TEST(Icrc, EqualsAnIndependentImplementation)
{
	sim::Rng g(7);

	for (int i = 0; i < 500; i++) {
		bool grh = g.percent(50);
		size_t hdr_len = (grh ? 60 : 20) + 4 * g.below(8);
		Bytes p = g.bytes(hdr_len + g.below(300));
		uint32_t want;

		p[1] = (p[1] & ~3) | (grh ? 3 : 2);
		want = reference_crc(masked(p));
		EXPECT_EQ(icrc(p, hdr_len), (Bytes{uint8_t(want), uint8_t(want >> 8),
						   uint8_t(want >> 16), uint8_t(want >> 24)}));
	}
}

TEST(Icrc, OnlyVariantFieldsMayChange)
{
	sim::Rng g(8);
	Bytes p = g.bytes(100), variant(100), before;

	p[1] = (p[1] & ~3) | 3;
	before = icrc(p, 60);
	std::fill_n(variant.begin(), 8, 0xFF);
	variant[8] = 0x0F;
	variant[9] = variant[10] = variant[11] = variant[15] = variant[52] = 0xFF;
	for (size_t bit = 0; bit < 800; bit++) {
		bool may = variant[bit / 8] >> bit % 8 & 1;

		if (bit / 8 == 1)
			continue; // LNH: says whether there is a GRH
		p[bit / 8] ^= 1 << bit % 8;
		EXPECT_EQ(icrc(p, 60) == before, may) << "bit " << bit;
		p[bit / 8] ^= 1 << bit % 8;
	}
}

TEST(Icrc, PiecesMakeTheWhole)
{
	sim::Rng g(9);
	Bytes p = g.bytes(1000);
	uint32_t whole = pib_icrc_update(~0u, p.data(), p.size()), crc = ~0u;

	for (size_t at = 0, n; at < p.size(); at += n) {
		n = std::min<size_t>(g.range(1, 40), p.size() - at);
		crc = pib_icrc_update(crc, p.data() + at, n);
	}
	EXPECT_EQ(crc, whole);
}

} // namespace
