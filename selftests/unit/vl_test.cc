// SPDX-License-Identifier: GPL-2.0
// Virtual lanes: whose turn it is, and how long a packet may wait.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

extern "C" {
#include "../../kernel/proto/node.h"
#include "../../kernel/proto/vl.h"
}

namespace {

using Entries = std::vector<std::pair<int, int>>; // VL, weight

class Arbiter : public testing::Test {
protected:
	void tables(const Entries &low, const Entries &high = {}, int limit = 0)
	{
		port.vl_high_limit = limit;
		fill(0, low);
		fill(2, high);
	}
	/// Bytes by VL after so many packets, of VLs that always have one.
	std::map<int, long> run(int packets, const std::map<int, unsigned> &size)
	{
		std::map<int, long> sent;
		unsigned ready = 0;
		for (const auto &[vl, bytes] : size)
			ready |= 1u << vl;
		for (int i = 0; i < packets; i++) {
			const int vl = next(ready);
			if (vl < 0)
				break;
			pib_vl_arb_sent(&arb, size.at(vl));
			sent[vl] += size.at(vl);
		}
		return sent;
	}
	int next(unsigned ready) { return pib_vl_arb_next(&arb, &port, ready); }

	pib_port port = {};
	pib_vl_arb arb = {};

private:
	void fill(int block, const Entries &entries)
	{
		for (size_t i = 0; i < entries.size(); i++) {
			port.vlarb[block + i / 32][i % 32][0] = entries[i].first;
			port.vlarb[block + i / 32][i % 32][1] = entries[i].second;
		}
	}
};

void expect_share(std::map<int, long> &sent, int a, int b, double ratio)
{
	EXPECT_NEAR(static_cast<double>(sent[a]) / sent[b], ratio, 0.05 * ratio)
		<< sent[a] << " " << sent[b];
}

TEST_F(Arbiter, WeightsShareTheCable)
{
	tables({{0, 10}, {1, 30}});
	auto sent = run(4000, {{0, 256}, {1, 256}});
	expect_share(sent, 1, 0, 3);
}

TEST_F(Arbiter, WhoeverSendsMoreThanItsWeightPaysForIt)
{
	tables({{0, 1}, {1, 3}});
	auto sent = run(4000, {{0, 65536}, {1, 4096}});
	expect_share(sent, 1, 0, 3);
}

TEST_F(Arbiter, AnEntryGoesOnAsFarAsItsWeight)
{
	tables({{0, 4}, {1, 4}});
	std::vector<int> turns;
	for (int i = 0; i < 8; i++) {
		turns.push_back(next(3));
		pib_vl_arb_sent(&arb, 128);
	}
	EXPECT_EQ(turns, (std::vector{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST_F(Arbiter, NothingIsSavedUp)
{
	tables({{0, 100}, {1, 100}});
	run(1000, {{0, 6400}});
	auto sent = run(100, {{0, 6400}, {1, 6400}});
	expect_share(sent, 1, 0, 1);
}

TEST_F(Arbiter, WithoutWeightThereIsNoTurn)
{
	tables({{0, 0}, {1, 5}});
	EXPECT_EQ(next(1), -1);
	EXPECT_EQ(next(1 << 2), -1);
	EXPECT_EQ(next(3), 1);
}

TEST_F(Arbiter, AVlMayStandInATableTwice)
{
	tables({{0, 8}, {1, 8}, {0, 8}});
	auto sent = run(3000, {{0, 64}, {1, 64}});
	expect_share(sent, 0, 1, 2);
}

TEST_F(Arbiter, TheSecondBlockOfATableCounts)
{
	Entries low(40, {0, 0});
	low[39] = {3, 1};
	tables(low);
	EXPECT_EQ(next(1 << 3), 3);
}

TEST_F(Arbiter, HighWithoutLimit)
{
	tables({{0, 255}}, {{1, 1}}, 255);
	auto sent = run(1000, {{0, 4096}, {1, 4096}});
	EXPECT_EQ(sent[0], 0);
	EXPECT_EQ(next(1), 0);
}

TEST_F(Arbiter, HighLetsLowThroughAfterItsLimit)
{
	tables({{0, 1}}, {{1, 1}}, 2); // 8 KiB
	auto sent = run(3000, {{0, 1024}, {1, 1024}});
	expect_share(sent, 1, 0, 8);
}

TEST_F(Arbiter, HighLimitOfZeroIsOnePacket)
{
	tables({{0, 1}}, {{1, 1}}, 0);
	auto sent = run(1000, {{0, 512}, {1, 512}});
	expect_share(sent, 1, 0, 1);
	EXPECT_EQ(run(10, {{1, 512}})[1], 5120); // alone it goes on
}

TEST(Vl, Lifetimes)
{
	EXPECT_EQ(pib_vl_life(0), 4096U);
	EXPECT_EQ(pib_vl_life(18), 4096ULL << 18);
	EXPECT_EQ(pib_vl_life(19), 4096ULL << 19);
	EXPECT_EQ(pib_vl_life(20), 0U);
	EXPECT_EQ(pib_vl_life(31), 0U);
}

TEST(Vl, Blocks)
{
	EXPECT_EQ(pib_vl_blocks(1), 1U);
	EXPECT_EQ(pib_vl_blocks(64), 1U);
	EXPECT_EQ(pib_vl_blocks(65), 2U);
}

TEST(Vl, WaitingIsCountedInMicroseconds)
{
	uint64_t since = 0;
	EXPECT_EQ(pib_vl_wait(&since, true, 5000), 0U);
	EXPECT_EQ(pib_vl_wait(&since, true, 7500), 2U);
	EXPECT_EQ(pib_vl_wait(&since, false, 8200), 1U); // 500 ns of before
	EXPECT_EQ(since, 0U);
	EXPECT_EQ(pib_vl_wait(&since, false, 9000), 0U);
}

TEST(Vl, HeadOfQueue)
{
	pib_port p = {};
	pib_vl_tx tx = {};
	p.hoq_life = 1; // 8192 ns
	p.vl_stall_count = 2;
	EXPECT_FALSE(pib_vl_expired(&tx, &p, 1000000)); // nothing is there
	tx.head = 1000;
	EXPECT_FALSE(pib_vl_expired(&tx, &p, 9191));
	EXPECT_TRUE(pib_vl_expired(&tx, &p, 9192));
	EXPECT_FALSE(pib_vl_stalled(&tx, 9192));
	EXPECT_TRUE(pib_vl_expired(&tx, &p, 10000)); // the second in a row
	EXPECT_TRUE(pib_vl_stalled(&tx, 10000 + 8 * 8192 - 1));
	EXPECT_FALSE(pib_vl_stalled(&tx, 10000 + 8 * 8192));
	p.hoq_life = 20;
	EXPECT_FALSE(pib_vl_expired(&tx, &p, 1ULL << 60));
}

} // namespace
