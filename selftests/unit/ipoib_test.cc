// SPDX-License-Identifier: GPL-2.0
// IP packets in datagrams: where their headers are, the packets of a large send, and checksums.
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "../../kernel/proto/ipoib.h"
}

namespace {

using Bytes = std::vector<uint8_t>;

enum Flag : uint8_t { FIN = 0x01, PSH = 0x08, ACK = 0x10, CWR = 0x80 };

void append16(Bytes &b, unsigned v)
{
	b.push_back(uint8_t(v >> 8));
	b.push_back(uint8_t(v));
}

Bytes data_of(size_t len, unsigned seed)
{
	Bytes d(len);

	for (size_t i = 0; i < len; i++)
		d[i] = uint8_t(i * 7 + seed + i / 251);
	return d;
}

struct Shape {
	const char *name;
	int version;
	int proto;
	int ip_options;
	int tcp_options;
};

// A packet with headers of @s, all checksums 0.
Bytes packet(const Shape &s, const Bytes &data, uint8_t flags = ACK)
{
	unsigned l4 = s.proto == PIB_IPPROTO_TCP ? unsigned(20 + s.tcp_options) : 8u;
	Bytes p;

	append16(p, s.version == 4 ? 0x0800 : 0x86DD);
	append16(p, 0);
	if (s.version == 4) {
		unsigned l3 = unsigned(20 + s.ip_options);

		p.insert(p.end(), {uint8_t(0x40 | l3 / 4), 0});
		append16(p, unsigned(l3 + l4 + data.size()));
		append16(p, 0xFFFE); // id
		append16(p, 0x4000); // don't fragment
		p.insert(p.end(), {64, uint8_t(s.proto), 0, 0, 10, 78, 0, 1, 10, 78, 0, 2});
		p.insert(p.end(), size_t(s.ip_options), 1);
	} else {
		p.insert(p.end(), {0x60, 0, 0, 0});
		append16(p, unsigned(l4 + data.size()));
		p.insert(p.end(), {uint8_t(s.proto), 64});
		for (int i = 0; i < 32; i++)
			p.push_back(uint8_t(0xF0 + i));
	}
	append16(p, 4000);
	append16(p, 5201);
	if (s.proto == PIB_IPPROTO_TCP) {
		p.insert(p.end(), {0xFF, 0xFF, 0xFF, 0, 1, 2, 3, 4, uint8_t(l4 / 4 << 4), flags});
		append16(p, 1024);
		append16(p, 0);
		append16(p, 0);
		p.insert(p.end(), size_t(s.tcp_options), 1);
	} else {
		append16(p, unsigned(l4 + data.size()));
		append16(p, 0);
	}
	p.insert(p.end(), data.begin(), data.end());
	return p;
}

// RFC 1071 by its letter, over the bytes given.
uint16_t reference_sum(const Bytes &b)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < b.size(); i++)
		sum += i % 2 ? b[i] : unsigned(b[i]) << 8;
	while (sum > 0xFFFF)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return uint16_t(sum);
}

// Pseudo header, then all from the TCP or UDP header on.
uint16_t reference_l4(const pib_ipoib &ip, const Bytes &p)
{
	unsigned len = unsigned(p.size()) - ip.l4;
	size_t addrs = ip.version == 4 ? 4 + 12 : 4 + 8, n = ip.version == 4 ? 8 : 32;
	Bytes b(p.begin() + long(addrs), p.begin() + long(addrs + n));

	append16(b, len >> 16);
	append16(b, len);
	append16(b, 0);
	append16(b, ip.proto);
	b.insert(b.end(), p.begin() + ip.l4, p.end());
	return reference_sum(b);
}

const Shape kShapes[] = {
	{"IPv4 TCP", 4, PIB_IPPROTO_TCP, 0, 0},
	{"IPv4 TCP, options", 4, PIB_IPPROTO_TCP, 0, 12},
	{"IPv4 TCP, all options", 4, PIB_IPPROTO_TCP, 40, 40},
	{"IPv4 UDP", 4, PIB_IPPROTO_UDP, 0, 0},
	{"IPv6 TCP", 6, PIB_IPPROTO_TCP, 0, 12},
	{"IPv6 UDP", 6, PIB_IPPROTO_UDP, 0, 0},
};

TEST(Ipoib, FindsTheHeaders)
{
	for (const Shape &s : kShapes) {
		SCOPED_TRACE(s.name);
		Bytes p = packet(s, data_of(5, 1));
		pib_ipoib ip{};

		ASSERT_TRUE(pib_ipoib_parse(&ip, p.data(), uint32_t(p.size())));
		EXPECT_EQ(ip.version, s.version);
		EXPECT_EQ(ip.proto, s.proto);
		EXPECT_EQ(ip.len, p.size() - 5);
		EXPECT_LE(ip.len, PIB_IPOIB_HEAD_MAX);
		EXPECT_TRUE(pib_ipoib_fits(&ip, p.data(), uint32_t(p.size())));
		EXPECT_FALSE(pib_ipoib_fits(&ip, p.data(), uint32_t(p.size() + 1)));
		// One byte less, and it is not all of the headers.
		for (uint32_t n = 0; n < ip.len; n++) {
			pib_ipoib less{};
			Bytes part(p.begin(), p.begin() + n);

			EXPECT_FALSE(pib_ipoib_parse(&less, part.data(), n)) << n;
		}
	}
}

TEST(Ipoib, RefusesWhatIsNoTcpOrUdp)
{
	struct {
		const char *what;
		size_t at;
		uint8_t value;
	} cases[] = {
		{"ARP", 1, 0x06},
		{"IPv5", 4, 0x55},
		{"short IP header", 4, 0x44},
		{"long IP header", 4, 0x4F},
		{"fragment", 11, 1},
		{"more fragments", 10, 0x20},
		{"ICMP", 13, 1},
		{"short TCP header", 36, 0x40},
		{"long TCP header", 36, 0xF0},
	};
	for (const auto &c : cases) {
		Bytes p = packet(kShapes[0], data_of(20, 1));
		pib_ipoib ip{};

		p[c.at] = c.value;
		EXPECT_FALSE(pib_ipoib_parse(&ip, p.data(), uint32_t(p.size()))) << c.what;
	}
	Bytes p = packet(kShapes[4], data_of(4, 1));
	pib_ipoib ip{};

	p[10] = 0; // hop-by-hop options
	EXPECT_FALSE(pib_ipoib_parse(&ip, p.data(), uint32_t(p.size())));
}

TEST(Ipoib, HeadersThatDisagreeAboutLengthDoNotFit)
{
	Bytes p = packet(kShapes[3], data_of(9, 1));
	pib_ipoib ip{};

	ASSERT_TRUE(pib_ipoib_parse(&ip, p.data(), uint32_t(p.size())));
	p[ip.l4 + 5]++; // UDP's own length
	EXPECT_FALSE(pib_ipoib_fits(&ip, p.data(), uint32_t(p.size())));
}

TEST(Ipoib, Checksums)
{
	for (const Shape &s : kShapes) {
		for (size_t len : {0u, 1u, 2u, 1001u, 1460u}) {
			SCOPED_TRACE(std::string(s.name) + " " + std::to_string(len));
			Bytes data = data_of(len, 3), p = packet(s, data);
			pib_ipoib ip{};

			ASSERT_TRUE(pib_ipoib_parse(&ip, p.data(), uint32_t(p.size())));
			EXPECT_FALSE(pib_ipoib_verify(&ip, p.data(), uint32_t(len),
						      reference_sum(data)));
			pib_ipoib_checksum(&ip, p.data(), uint32_t(len), reference_sum(data));
			EXPECT_TRUE(pib_ipoib_verify(&ip, p.data(), uint32_t(len),
						     reference_sum(data)));
			EXPECT_EQ(reference_l4(ip, p), 0xFFFF);
			if (s.version == 4)
				EXPECT_EQ(reference_sum(Bytes(p.begin() + 4, p.begin() + ip.l4)),
					  0xFFFF);
			// A second time it comes to the same.
			Bytes q = p;
			pib_ipoib_checksum(&ip, q.data(), uint32_t(len), reference_sum(data));
			EXPECT_EQ(p, q);
			for (size_t at : {size_t(4), size_t(ip.l4), size_t(ip.l4 + 1)}) {
				q = p;
				q[at] ^= 0x10;
				if (at != 4 || s.version == 4)
					EXPECT_FALSE(pib_ipoib_verify(&ip, q.data(), uint32_t(len),
								      reference_sum(data)));
			}
		}
	}
}

// The example of RFC 1071's readers: 192.168.0.1 to 192.168.0.199, 115 bytes of UDP.
TEST(Ipoib, AKnownHeader)
{
	Bytes p = {0x08, 0x00, 0,    0,	   0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40,
		   0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8,
		   0x00, 0xc7, 0,    1,	   0,	 2,    0,    95,   0,	 0};
	pib_ipoib ip{};

	ASSERT_TRUE(pib_ipoib_parse(&ip, p.data(), uint32_t(p.size())));
	pib_ipoib_checksum(&ip, p.data(), 87, 0);
	EXPECT_EQ(p[14] << 8 | p[15], 0xb861);
}

TEST(Ipoib, AUdpChecksumIsNeverZero)
{
	for (const Shape &s : {kShapes[3], kShapes[5]}) {
		Bytes data = {0, 0}, p = packet(s, data);
		pib_ipoib ip{};
		uint16_t value;

		ASSERT_TRUE(pib_ipoib_parse(&ip, p.data(), uint32_t(p.size())));
		value = uint16_t(~reference_l4(ip, p)); // with these data it would be 0
		data = {uint8_t(value >> 8), uint8_t(value)};
		std::copy(data.begin(), data.end(), p.begin() + ip.len);
		EXPECT_FALSE(
			pib_ipoib_verify(&ip, p.data(), 2, reference_sum(data))); // it has none
		pib_ipoib_checksum(&ip, p.data(), 2, reference_sum(data));
		EXPECT_EQ(p[ip.l4 + 6] << 8 | p[ip.l4 + 7], 0xFFFF);
		EXPECT_TRUE(pib_ipoib_verify(&ip, p.data(), 2, reference_sum(data)));
	}
}

TEST(Ipoib, PacketsOfALargeSend)
{
	const uint32_t mss = 1001;

	for (const Shape &s : {kShapes[0], kShapes[2], kShapes[4]}) {
		SCOPED_TRACE(s.name);
		Bytes all = data_of(3 * mss + 17, 5), whole = packet(s, all, CWR | ACK | PSH | FIN);
		pib_ipoib ip{};

		ASSERT_TRUE(pib_ipoib_parse(&ip, whole.data(), uint32_t(whole.size())));
		for (uint32_t i = 0; i < 4; i++) {
			Bytes data(all.begin() + i * mss,
				   i < 3 ? all.begin() + (i + 1) * mss : all.end());
			Bytes p(whole.begin(), whole.begin() + ip.len);
			uint32_t len = uint32_t(data.size());

			pib_ipoib_segment(&ip, p.data(), i, mss, len, i == 3);
			pib_ipoib_checksum(&ip, p.data(), len, reference_sum(data));
			p.insert(p.end(), data.begin(), data.end());
			EXPECT_TRUE(pib_ipoib_fits(&ip, p.data(), uint32_t(p.size())));
			EXPECT_EQ(reference_l4(ip, p), 0xFFFF);
			EXPECT_EQ(pib_get32(&p[ip.l4 + 4]), 0xFFFFFF00 + i * mss);
			EXPECT_EQ(p[ip.l4 + 13], i == 0	  ? CWR | ACK
						 : i == 3 ? ACK | PSH | FIN
							  : ACK);
			if (s.version == 4)
				EXPECT_EQ(pib_get16(&p[4 + 4]), uint16_t(0xFFFE + i));
		}
	}
}

// No byte is touched beyond the headers that were found, whatever stands there.
TEST(Ipoib, AnyBytes)
{
	std::mt19937 rng(1);

	for (int run = 0; run < 20000; run++) {
		Bytes p = packet(kShapes[rng() % 6], {});
		pib_ipoib ip{};

		for (unsigned n = rng() % 4; n; n--)
			p[rng() % p.size()] = uint8_t(rng());
		p.resize(rng() % (p.size() + 1));
		p.shrink_to_fit();
		if (!pib_ipoib_parse(&ip, p.data(), uint32_t(p.size())))
			continue;
		ASSERT_LE(ip.len, p.size());
		pib_ipoib_fits(&ip, p.data(), rng() % 4096);
		if (ip.proto == PIB_IPPROTO_TCP)
			pib_ipoib_segment(&ip, p.data(), rng() % 64, 1448, 1448, rng() % 2);
		pib_ipoib_checksum(&ip, p.data(), 1448, uint16_t(rng()));
	}
}

} // namespace
