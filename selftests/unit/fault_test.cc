// SPDX-License-Identifier: GPL-2.0
// Faults of cables: the choices come from the seed, and as often as they should.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

extern "C" {
#include "../../kernel/proto/fault.h"
#include "../../kernel/proto/icrc.h"
}

namespace {

/// struct pib_fault_cfg, of which a test names what it is about.
struct Cfg {
	std::uint64_t seed = 1;
	std::uint32_t loss = 0;
	std::uint32_t duplicate = 0;
	std::uint32_t reorder = 0;
	std::uint64_t bit_errors = 0;
	std::uint64_t latency = 0;
	std::uint64_t rate = 0;
};

pib_fault make(const Cfg &c, unsigned direction = 0)
{
	const pib_fault_cfg cfg{c.seed,	      c.loss,	 c.duplicate, c.reorder,
				c.bit_errors, c.latency, c.rate,      0};
	pib_fault f;
	pib_fault_init(&f, &cfg, direction);
	return f;
}

std::string fates(pib_fault &f, int n, pib_fault_lot lot = PIB_FAULT_DATA)
{
	std::string all;
	for (int i = 0; i < n; i++) {
		pib_fate fate;
		pib_fault_packet(&f, lot, 1024, &fate);
		all += fate.lost    ? 'l'
		       : fate.bits  ? 'd'
		       : fate.twice ? '2'
				    : static_cast<char>('0' - fate.behind);
	}
	return all;
}

const Cfg kAll = {.seed = 7,
		  .loss = 10'000'000,
		  .duplicate = 20'000'000,
		  .reorder = 30'000'000,
		  .bit_errors = 1'000'000'000};

TEST(Fault, SameSeedSameFates)
{
	auto a = make(kAll), b = make(kAll);
	EXPECT_EQ(fates(a, 10000), fates(b, 10000));
	EXPECT_GT(a.counts.lost, 0U);
	EXPECT_GT(a.counts.damaged, 0U);
	EXPECT_GT(a.counts.duplicated, 0U);
	EXPECT_GT(a.counts.reordered, 0U);
	EXPECT_EQ(a.counts.packets, 10000U);
}

TEST(Fault, OtherSeedOrDirectionOtherFates)
{
	auto other = kAll;
	other.seed = 8;
	auto a = make(kAll), b = make(other), c = make(kAll, 1);
	const auto of_a = fates(a, 10000);
	EXPECT_NE(of_a, fates(b, 10000));
	EXPECT_NE(of_a, fates(c, 10000));
}

TEST(Fault, ManagementDoesNotChangeTheFateOfData)
{
	auto a = make(kAll), b = make(kAll);
	const auto of_a = fates(a, 1000);
	std::string of_b;
	for (int i = 0; i < 1000; i++) {
		fates(b, i % 3, PIB_FAULT_MGMT);
		of_b += fates(b, 1);
	}
	EXPECT_EQ(of_a, of_b);
}

TEST(Fault, NoFaultsNoHarm)
{
	auto f = make({.seed = 1});
	EXPECT_FALSE(pib_fault_picks(&f.cfg));
	EXPECT_EQ(fates(f, 1000), std::string(1000, '0'));
	EXPECT_EQ(pib_fault_arrival(&f, 4096, 1000), 1000U);
}

TEST(Fault, EveryPacket)
{
	auto f = make({.seed = 1, .loss = PIB_FAULT_ALWAYS});
	EXPECT_EQ(fates(f, 1000), std::string(1000, 'l'));
}

// Five standard deviations of what so many tries give.
void expect_rate(double got, double n, double p)
{
	EXPECT_NEAR(got, n * p, 5 * std::sqrt(n * p * (1 - p)) + 1) << "probability " << p;
}

TEST(Fault, AsOftenAsTheySay)
{
	constexpr int kPackets = 200000;
	auto f = make(
		{.seed = 3, .loss = 10'000'000, .duplicate = 100'000'000, .reorder = 250'000'000});
	fates(f, kPackets);
	expect_rate(f.counts.lost, kPackets, 0.01);
	expect_rate(f.counts.duplicated, kPackets * 0.99, 0.1);
	expect_rate(f.counts.reordered, kPackets * 0.99, 0.25);
}

TEST(Fault, BitErrorsGoByTheLengthOfThePacket)
{
	constexpr int kPackets = 100000;
	for (const double ber : {1e-3, 1e-5, 1e-7}) {
		for (const std::uint32_t bytes : {30U, 282U, 4186U}) {
			auto f = make(
				{.seed = 5, .bit_errors = static_cast<std::uint64_t>(ber * 1e15)});
			pib_fate fate;
			for (int i = 0; i < kPackets; i++)
				pib_fault_packet(&f, PIB_FAULT_DATA, bytes, &fate);
			expect_rate(f.counts.damaged, kPackets, 1 - std::pow(1 - ber, bytes * 8.0));
		}
	}
}

TEST(Fault, DamageIsOfThatManyBits)
{
	auto f = make(kAll);
	for (std::uint32_t bytes : {26U, 290U, 4186U}) {
		for (std::uint32_t bits = 1; bits <= 32; bits++) {
			std::vector<std::uint8_t> packet(bytes, 0);
			pib_fault_damage(&f, PIB_FAULT_DATA, bits, packet.data(), bytes);
			unsigned set = 0;
			for (auto byte : packet)
				set += std::popcount(byte);
			EXPECT_EQ(set, bits) << bytes;
		}
	}
}

TEST(Fault, OvertakenByOneToThree)
{
	auto f = make({.seed = 1, .reorder = PIB_FAULT_ALWAYS});
	const auto all = fates(f, 1000);
	EXPECT_EQ(*std::ranges::min_element(all), '0' - PIB_FAULT_BEHIND_MAX);
	EXPECT_EQ(*std::ranges::max_element(all), '0' - 1);
}

TEST(Fault, LatencyAndRate)
{
	auto f = make({.seed = 1, .latency = 10'000, .rate = 8'000'000'000});
	// 1000 bytes take 1 us at 8 Gb/s, one behind the other.
	EXPECT_EQ(pib_fault_arrival(&f, 1000, 500), 500U + 1000 + 10'000);
	EXPECT_EQ(pib_fault_arrival(&f, 1000, 600), 500U + 2000 + 10'000);
	// The cable has been idle since.
	EXPECT_EQ(pib_fault_arrival(&f, 1000, 50'000), 50'000U + 1000 + 10'000);
}

// 7.8.2: every error of one or two bits is found, whatever field it hits.
TEST(Vcrc, FindsOneAndTwoBits)
{
	std::vector<std::uint8_t> packet(64);
	for (std::size_t i = 0; i < packet.size(); i++)
		packet[i] = static_cast<std::uint8_t>(i * 37);
	const auto good = pib_vcrc(packet.data(), packet.size());
	const std::size_t bits = packet.size() * 8;
	for (std::size_t a = 0; a < bits; a++) {
		packet[a / 8] ^= 1 << a % 8;
		EXPECT_NE(pib_vcrc(packet.data(), packet.size()), good);
		for (std::size_t b = a + 1; b < bits; b += 7) {
			packet[b / 8] ^= 1 << b % 8;
			EXPECT_NE(pib_vcrc(packet.data(), packet.size()), good);
			packet[b / 8] ^= 1 << b % 8;
		}
		packet[a / 8] ^= 1 << a % 8;
	}
}

} // namespace
