// SPDX-License-Identifier: GPL-2.0
// Two ends with windows of VLs, and a path between them that is slow, far, loses and doubles.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <vector>

extern "C" {
#include "../../kernel/proto/credit.h"
}

namespace credit {

constexpr uint64_t kUs = PIB_NSEC_PER_USEC, kMs = PIB_NSEC_PER_MSEC;
constexpr uint32_t kBurst = 16384;
constexpr uint32_t kSharedUpdates = PIB_CREDIT_SHARE / 4;

using Wire = std::array<uint8_t, PIB_CREDIT_WIRE_LEN>;

inline pib_credit_msg parse(const Wire &bytes)
{
	pib_credit_msg m{};
	uint32_t to = 0;

	EXPECT_TRUE(pib_credit_parse(&m, &to, bytes.data(), bytes.size()));
	return m;
}

// Ends a and b; a sends on some VLs as fast as its windows let it. The path there is a queue that is emptied at a rate; the way back
// takes no longer than the delay. A step is 20 us, at which what was pushed back tries again.
class Path : public testing::Test {
protected:
	static constexpr uint64_t kStep = 20 * kUs, kRoom = 16 << 20;

	struct Item {
		int vl; // -1: a CREDIT
		uint32_t bytes;
		Wire credit;
		uint64_t due = 0;
	};

	Path()
	{
		pib_credits_init(&a, 11, 22);
		pib_credits_init(&b, 22, 11);
	}

	bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(rng) < p; }

	Wire build(pib_credits &from, pib_credit_kind kind, uint8_t vl = 0)
	{
		Wire bytes;
		pib_credits_build(&from, 5, kind, vl, now, bytes.data());
		credits++;
		return bytes;
	}
	void say(std::deque<Item> &to, pib_credits &from, pib_credit_kind kind, uint8_t vl = 0)
	{
		const Wire bytes = build(from, kind, vl);
		if (chance(credit_loss))
			return;
		if (overtakes && &to == &queue) {
			first.push_back({-1, PIB_CREDIT_WIRE_LEN, bytes, now + delay});
			return;
		}
		to.push_back({-1, PIB_CREDIT_WIRE_LEN, bytes, now + delay});
		queued += &to == &queue ? PIB_CREDIT_WIRE_LEN : 0;
	}
	void hear(pib_credits &c, std::deque<Item> &back, const Wire &bytes)
	{
		const pib_credit_msg m = parse(bytes);
		const uint32_t todo = pib_credits_rx(&c, &m, now);
		rejected += !!(todo & PIB_CREDIT_DO_REJECT);
		if (todo & PIB_CREDIT_DO_ANSWER)
			say(back, c, PIB_CREDIT_ANSWERS);
	}

	// Try to send one burst.
	bool offer(int vl)
	{
		if (!pib_credits_open(&a, vl, now)) {
			waits += pib_credits_wait(&a, vl, now);
			if (const int asker = pib_credits_due(&a, now); asker >= 0) {
				questions++;
				asked[asker]++;
				say(queue, a, PIB_CREDIT_ASKS, asker);
			}
			return false;
		}
		pib_credits_sent(&a, vl, kBurst, now);
		sent[vl] += kBurst;
		if (chance(loss) || queued >= kRoom)
			return true;
		for (int n = 0; n <= (chance(doubles) ? 1 : 0); n++) {
			queue.push_back({vl, kBurst, {}, now + delay});
			queued += kBurst;
		}
		deepest = std::max(deepest, queued);
		return true;
	}
	void arrive(const Item &item)
	{
		if (item.vl < 0) {
			hear(b, back, item.credit);
			return;
		}
		taken[item.vl] += item.bytes;
		if (pib_credits_take(&b, item.vl, item.bytes, now))
			say(back, b, PIB_CREDIT_TELLS);
	}
	void move()
	{
		for (room = std::min(room + rate * kStep / 1e9, rate * kStep / 1e9 + 2 * kBurst);
		     !queue.empty() && queue.front().due <= now && room >= queue.front().bytes;) {
			const Item item = queue.front();
			queue.pop_front();
			room -= item.bytes;
			queued -= item.bytes;
			arrive(item);
		}
		while (!first.empty() && first.front().due <= now) {
			const Item item = first.front();
			first.pop_front();
			arrive(item);
		}
		while (!back.empty() && back.front().due <= now) {
			const Item item = back.front();
			back.pop_front();
			hear(a, queue, item.credit);
		}
	}
	// VLs that always have something to send, several bursts of each in a step if they may.
	void run(uint64_t span, const std::vector<int> &vls)
	{
		for (const uint64_t until = now + span; now < until; now += kStep) {
			for (int n = 0; n < most_bursts; n++)
				for (int vl : vls)
					offer(vl);
			move();
		}
	}

	// The windows of VLs 0 and 1 hold: no more stands in the queue.
	void expect_windows_hold(uint64_t span)
	{
		deepest = 0;
		run(span, {0, 1});
		EXPECT_LE(deepest, 2 * (PIB_CREDIT_SHARE + kBurst) + 100 * PIB_CREDIT_WIRE_LEN);
	}

	pib_credits a{}, b{};
	std::deque<Item> queue, first, back;
	bool overtakes = false; // CREDITs do not wait behind data
	uint64_t now = 1000 * kMs;
	double rate = 1e9, room = 0; // bytes per second
	uint64_t delay = 50 * kUs;
	double loss = 0, credit_loss = 0, doubles = 0;
	int most_bursts = 4;
	std::mt19937 rng{7};
	std::map<int, uint64_t> sent, taken, asked;
	uint64_t credits = 0, waits = 0, questions = 0, rejected = 0, deepest = 0, queued = 0;
};

} // namespace credit
