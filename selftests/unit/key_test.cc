// SPDX-License-Identifier: GPL-2.0
// The keys of sessions, while those of a fabric are exchanged at one end after the other. A
// datagram's authentication is the name of its key here.
#include <gtest/gtest.h>
#include <array>
#include <deque>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

extern "C" {
#include "../../kernel/proto/link.h"
#include "../../kernel/proto/mad.h"
}

namespace {

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kStep = 5 * kMs;

enum Key : uint32_t { kNone, kOld, kNew, kThird };

using Bytes = std::array<uint8_t, PIB_HELLO_WIRE_LEN>;

struct End {
	pib_link_fsm fsm{};
	Key keys[2] = {kNone, kNone};
	// The number by which this end knows a key is its own affair.
	uint32_t base = 0;
	bool up = false;
	int ups = 0, downs = 0, refused = 0;

	uint32_t number(Key key) const { return key ? base + key : 0; }
	Key name(uint32_t number) const { return number ? Key(number - base) : kNone; }
};

class Exchange {
public:
	Exchange()
	{
		for (int i = 0; i < 2; i++) {
			end[i].base = 100 * (i + 1);
			pib_link_init(&end[i].fsm, 10 + i, rng() | 1);
			set(i, kOld);
		}
		end[0].downs = end[1].downs = 0;
	}
	void set(int i, Key key, Key second = kNone)
	{
		End &e = end[i];

		e.keys[0] = key;
		e.keys[1] = second;
		act(i, pib_link_rekey(&e.fsm, e.number(key), e.number(second), rng() | 1, now));
	}
	void run(uint64_t span)
	{
		for (uint64_t until = now + span; now < until; now += kStep) {
			for (size_t n = wire.size(); n; n--) {
				auto [to, bytes] = wire.front();

				wire.pop_front();
				if (!cut[to] && std::uniform_real_distribution<>(0, 1)(rng) >= loss)
					inject(to, bytes);
			}
			for (int i = 0; i < 2; i++)
				if (pib_link_deadline(&end[i].fsm) <= now)
					act(i, pib_link_timer(&end[i].fsm, now));
			check();
		}
	}
	bool joined() const
	{
		return end[0].up && end[1].up && end[0].fsm.peer_nonce == end[1].fsm.nonce &&
		       end[1].fsm.peer_nonce == end[0].fsm.nonce;
	}
	bool join(uint64_t limit)
	{
		for (uint64_t until = now + limit; now < until && !joined();)
			run(kStep);
		return joined();
	}
	// The key by which end @i would miss its peer.
	Key used(int i) { return end[i].name(pib_link_used_key(&end[i].fsm, now)); }
	// Is a key blamed at end @i within @limit?
	bool blames(int i, uint64_t limit)
	{
		for (uint64_t until = now + limit; now < until; run(kStep))
			if (pib_link_key_unknown(&end[i].fsm))
				return true;
		return false;
	}
	// The last of what end @i has said, as the other end reads it.
	pib_hello last_said(int i)
	{
		pib_hello h;
		uint8_t type;
		uint32_t id;

		pib_hello_parse(&h, &type, &id, sent[i].back().data(), PIB_HELLO_WIRE_LEN);
		h.key = end[!i].number(Key(pib_get32(&sent[i].back()[PIB_HELLO_MAC_OFF])));
		return h;
	}
	// Both ends are up, each speaks by the key that is named, and the other one knows that.
	testing::AssertionResult keys_are(Key of_0, Key of_1)
	{
		const Key own[2] = {of_0, of_1};

		for (int i = 0; i < 2; i++)
			if (!joined() || end[i].name(end[i].fsm.key) != own[i] ||
			    end[i].name(end[i].fsm.peer_key) != own[!i])
				return testing::AssertionFailure()
				       << "end " << i << ": up " << end[i].up << ", key "
				       << end[i].name(end[i].fsm.key) << ", the peer's "
				       << end[i].name(end[i].fsm.peer_key);
		return testing::AssertionSuccess();
	}
	uint32_t inject(int to, const Bytes &bytes)
	{
		End &e = end[to];
		pib_hello h;
		uint8_t type;
		uint32_t id;

		EXPECT_EQ(pib_hello_parse(&h, &type, &id, bytes.data(), bytes.size()), 0);
		const Key key = Key(pib_get32(&bytes[PIB_HELLO_MAC_OFF]));
		if (key != e.keys[0] && key != e.keys[1]) {
			e.refused++;
			return PIB_LINK_DO_REJECT;
		}
		h.key = e.number(key);
		const uint32_t todo = pib_link_rx(&e.fsm, &h, type, now);
		act(to, todo);
		return todo;
	}
	void replay_all(int to)
	{
		for (const Bytes &bytes : std::vector<Bytes>(sent[!to]))
			inject(to, bytes);
	}
	// The link went down and came up so often, at both ends, since this was last asked.
	testing::AssertionResult bounced(int times)
	{
		const int downs[2] = {std::exchange(end[0].downs, 0),
				      std::exchange(end[1].downs, 0)};

		if (downs[0] == times && downs[1] == times && joined())
			return testing::AssertionSuccess();
		return testing::AssertionFailure() << "down " << downs[0] << " and " << downs[1]
						   << " times, up now: " << joined();
	}

	End end[2];
	uint64_t now = 1000 * kMs;
	double loss = 0;
	bool cut[2] = {false, false}; // towards end 0, end 1
	std::vector<Bytes> sent[2];
	std::mt19937_64 rng{7};
	// Of each end: the key and both sessions of all that it ever sealed.
	std::set<std::tuple<Key, uint64_t, uint64_t>> seals[2];

private:
	void act(int i, uint32_t todo)
	{
		End &e = end[i];

		if (todo & PIB_LINK_DO_DOWN) {
			e.up = false;
			e.downs++;
		}
		if (todo & PIB_LINK_DO_UP) {
			e.up = true;
			e.ups++;
			// Counters begin anew with each session, so no seal may ever come back.
			EXPECT_TRUE(
				seals[i].insert({e.name(e.fsm.key), e.fsm.nonce, e.fsm.peer_nonce})
					.second);
		}
		if (todo & PIB_LINK_DO_SEND)
			send(i);
	}
	void send(int i)
	{
		pib_hello h{};
		Bytes bytes;

		h.role = PIB_ROLE_SWITCH;
		h.mtu_cap = 5;
		pib_link_build(&end[i].fsm, &h, now, bytes.data());
		pib_put32(&bytes[PIB_HELLO_MAC_OFF], end[i].name(end[i].fsm.key));
		sent[i].push_back(bytes);
		wire.emplace_back(!i, bytes);
	}
	// What one end opens the other one has sealed by that key.
	void check()
	{
		if (joined()) {
			EXPECT_TRUE(
				keys_are(end[0].name(end[0].fsm.key), end[1].name(end[1].fsm.key)));
		}
	}

	std::deque<std::pair<int, Bytes>> wire;
};

class Keys : public testing::Test {
protected:
	void SetUp() override { ASSERT_TRUE(x.join(2000 * kMs)); }

	Exchange x;
};

TEST_F(Keys, BothHaveTheOldOne)
{
	x.run(5000 * kMs);
	EXPECT_TRUE(x.keys_are(kOld, kOld));
	EXPECT_TRUE(x.bounced(0));
}

TEST_F(Keys, WhoAcceptsTheNewOneGoesOn)
{
	const uint64_t session = x.end[0].fsm.nonce;

	x.set(0, kOld, kNew);
	x.run(5000 * kMs);
	EXPECT_TRUE(x.keys_are(kOld, kOld));
	EXPECT_TRUE(x.bounced(0));
	EXPECT_EQ(x.end[0].fsm.nonce, session);
}

TEST_F(Keys, AllStepsWithTwoRestarts)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	x.run(3000 * kMs);
	EXPECT_TRUE(x.bounced(0));

	x.set(0, kNew, kOld);
	EXPECT_TRUE(x.join(200 * kMs)) << "a restart";
	EXPECT_TRUE(x.keys_are(kNew, kOld));
	x.run(3000 * kMs);
	EXPECT_TRUE(x.bounced(1));

	x.set(1, kNew, kOld);
	EXPECT_TRUE(x.join(200 * kMs));
	EXPECT_TRUE(x.keys_are(kNew, kNew));
	x.run(3000 * kMs);
	EXPECT_TRUE(x.bounced(1));

	for (int i : {1, 0})
		x.set(i, kNew);
	x.run(3000 * kMs);
	EXPECT_TRUE(x.keys_are(kNew, kNew));
	EXPECT_TRUE(x.bounced(0));
	EXPECT_EQ(x.end[0].refused + x.end[1].refused, 0);
}

TEST_F(Keys, BothChangeAtOnce)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	for (int i : {0, 1})
		x.set(i, kNew, kOld);
	EXPECT_TRUE(x.join(1000 * kMs));
	EXPECT_TRUE(x.keys_are(kNew, kNew));
}

TEST_F(Keys, APortThatIsDownStaysDown)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	pib_link_reset(&x.end[1].fsm, 0x77, true, x.now);
	x.run(1000 * kMs);
	x.set(1, kNew, kOld);
	x.run(1000 * kMs);
	EXPECT_FALSE(x.joined());
	EXPECT_EQ(x.end[0].fsm.state, PIB_LINK_UP) << "a session there is, all the same";
	EXPECT_EQ(x.end[0].name(x.end[0].fsm.peer_key), kNew);
}

TEST_F(Keys, WhoIsLeftBehindIsOut)
{
	x.set(0, kOld, kNew);
	x.set(0, kNew, kOld);
	EXPECT_FALSE(x.join(20000 * kMs));
	EXPECT_FALSE(x.end[0].up || x.end[1].up);
	EXPECT_GT(x.end[1].refused, 0);
	EXPECT_TRUE(pib_link_key_unknown(&x.end[0].fsm)) << "the user is to know why";

	x.set(0, kNew);
	EXPECT_FALSE(x.join(20000 * kMs));
	EXPECT_GT(x.end[0].refused, 0);
	x.set(1, kNew);
	EXPECT_TRUE(x.join(2000 * kMs));
	EXPECT_FALSE(pib_link_key_unknown(&x.end[0].fsm));
}

TEST_F(Keys, WhoStillSpeaksByADroppedOneIsCut)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	x.set(0, kNew, kOld);
	ASSERT_TRUE(x.join(2000 * kMs));
	x.set(0, kNew);
	EXPECT_FALSE(x.end[0].up) << "at once";
	EXPECT_FALSE(x.join(20000 * kMs));
	x.set(1, kNew, kOld);
	EXPECT_TRUE(x.join(2000 * kMs));
	EXPECT_TRUE(x.keys_are(kNew, kNew));
}

TEST_F(Keys, AThirdOneNeverJoins)
{
	x.set(0, kOld, kNew);
	x.set(1, kThird);
	EXPECT_FALSE(x.join(20000 * kMs));
	EXPECT_FALSE(x.end[0].up || x.end[1].up);
}

TEST_F(Keys, ASecondOneIsForgottenWithItsPeer)
{
	x.set(0, kOld, kThird);
	x.set(1, kThird, kOld);
	ASSERT_TRUE(x.join(2000 * kMs));
	x.set(0, kOld, kNew);
	EXPECT_FALSE(x.join(20000 * kMs));
}

TEST_F(Keys, ASessionHasOneKey)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	x.run(1000 * kMs);
	// Who has both keys says again what the peer has said, by the other one, and later.
	Bytes forged = x.sent[1].back();

	pib_put32(&forged[PIB_HELLO_MAC_OFF], kNew);
	pib_put32(&forged[60], x.end[1].fsm.tx_seq + 100);
	EXPECT_EQ(x.inject(0, forged), uint32_t{PIB_LINK_DO_REJECT});
	x.run(3000 * kMs);
	EXPECT_TRUE(x.keys_are(kOld, kOld));
	EXPECT_TRUE(x.bounced(0));
}

// An address is learned from what is next.
TEST_F(Keys, WhatIsNextIsByTheSessionsKey)
{
	x.set(0, kOld, kNew);
	x.run(1000 * kMs);
	pib_hello h = x.last_said(1);

	h.seq = x.end[1].fsm.tx_seq + 100;
	EXPECT_TRUE(pib_link_is_next(&x.end[0].fsm, &h));
	for (const Key other : {kNew, kThird}) {
		h.key = x.end[0].number(other);
		EXPECT_FALSE(pib_link_is_next(&x.end[0].fsm, &h)) << other;
	}
}

TEST_F(Keys, ASessionThatBeginsAnewIsMissed)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	EXPECT_EQ(x.used(0), kOld);
	x.set(0, kNew, kOld);
	EXPECT_FALSE(x.end[0].up) << "is about to come back";
	EXPECT_EQ(x.used(0), kOld);
	ASSERT_TRUE(x.join(2000 * kMs));
	EXPECT_EQ(x.used(0), kOld);
	x.set(1, kNew, kOld);
	ASSERT_TRUE(x.join(2000 * kMs));
	EXPECT_EQ(x.used(0), kNew);
	EXPECT_EQ(x.used(1), kNew);
}

TEST_F(Keys, WhoDoesNotComeBackIsMissedNoMore)
{
	x.set(0, kOld, kNew);
	x.run(1000 * kMs);
	x.cut[0] = x.cut[1] = true;
	x.set(0, kNew, kOld);
	x.run(1000 * kMs);
	EXPECT_EQ(x.used(0), kOld);
	x.run(1000 * kMs);
	EXPECT_EQ(x.used(0), kNone);
}

TEST_F(Keys, TimeIsThatSinceTheSessionBeganAnew)
{
	x.set(0, kOld, kNew);
	x.run(1000 * kMs);
	x.cut[0] = x.cut[1] = true;
	x.run(1400 * kMs);
	ASSERT_TRUE(x.end[0].up) << "silent, and not dead yet";
	x.set(0, kNew, kOld);
	x.run(1900 * kMs);
	EXPECT_EQ(x.used(0), kOld);
	x.run(200 * kMs);
	EXPECT_EQ(x.used(0), kNone);
}

TEST_F(Keys, WhoIsCutOffOnPurposeIsNotMissed)
{
	x.set(0, kOld, kNew);
	x.set(1, kNew, kOld);
	ASSERT_TRUE(x.join(2000 * kMs));
	EXPECT_EQ(x.used(0), kNew);
	x.set(0, kOld);
	EXPECT_EQ(x.used(0), kNone) << "its key was dropped";
	x.set(0, kOld, kNew);
	ASSERT_TRUE(x.join(2000 * kMs));
	EXPECT_EQ(x.used(0), kNew);
	pib_link_reset(&x.end[0].fsm, 0x77, true, x.now);
	EXPECT_EQ(x.used(0), kNone) << "the port is disabled";
}

TEST_F(Keys, WhoSaysGoodbyeIsNotMissed)
{
	EXPECT_EQ(x.used(0), kOld);
	pib_hello h = x.last_said(1);

	h.seq = x.end[1].fsm.tx_seq + 1;
	EXPECT_TRUE(pib_link_rx(&x.end[0].fsm, &h, PIB_DG_BYE, x.now) & PIB_LINK_DO_DOWN);
	EXPECT_EQ(x.used(0), kNone);
}

TEST_F(Keys, AnOldHelloBlamesNoKey)
{
	const Bytes recorded = x.sent[1].back();

	x.cut[0] = x.cut[1] = true;
	x.set(0, kOld, kNew);
	x.set(0, kNew, kOld);
	EXPECT_FALSE(x.blames(0, 30000 * kMs));
	ASSERT_EQ(x.end[0].fsm.state, PIB_LINK_IDLE);
	for (int round = 0; round < 3; round++) {
		x.inject(0, recorded);
		EXPECT_EQ(x.end[0].fsm.state, PIB_LINK_GREETING);
		EXPECT_FALSE(x.blames(0, 5000 * kMs)) << round;
	}
}

TEST_F(Keys, AGreetingThatHasJustBegunBlamesNoKey)
{
	x.set(0, kOld, kNew);
	x.set(0, kNew, kOld);
	EXPECT_EQ(x.end[0].fsm.state, PIB_LINK_GREETING);
	EXPECT_FALSE(x.blames(0, 500 * kMs));
	EXPECT_TRUE(x.blames(0, 20000 * kMs));
}

TEST_F(Keys, WhoHearsNothingIsNotSaidToHaveAnotherOne)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	x.cut[1] = true;
	pib_link_reset(&x.end[0].fsm, 0x77, false, x.now);
	x.run(10000 * kMs);
	EXPECT_EQ(x.end[0].fsm.state, PIB_LINK_GREETING);
	EXPECT_FALSE(x.blames(0, 10000 * kMs));
}

TEST_F(Keys, WhoIsUnderstoodIsNotBlamed)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	x.set(0, kNew, kOld);
	ASSERT_TRUE(x.join(2000 * kMs));
	EXPECT_FALSE(x.blames(0, 60000 * kMs));
	EXPECT_TRUE(x.keys_are(kNew, kOld));
}

TEST_F(Keys, WhatWasCheckedByADroppedOneComesTooLate)
{
	x.set(0, kOld, kNew);
	x.set(1, kNew, kOld);
	ASSERT_TRUE(x.join(2000 * kMs));
	pib_hello h = x.last_said(1);

	ASSERT_EQ(x.end[0].name(h.key), kNew);
	h.nonce ^= 0x1234;
	x.set(0, kOld);
	EXPECT_EQ(pib_link_rx(&x.end[0].fsm, &h, PIB_DG_HELLO, x.now),
		  uint32_t{PIB_LINK_DO_REJECT});
	EXPECT_EQ(x.end[0].fsm.state, PIB_LINK_IDLE);
}

TEST_F(Keys, WhatIsPlayedAgainMovesNothing)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	x.run(1000 * kMs);
	for (int i : {0, 1}) {
		x.set(i, kNew, kOld);
		ASSERT_TRUE(x.join(2000 * kMs));
		EXPECT_TRUE(x.bounced(1));
		for (int round = 0; round < 20; round++) {
			x.replay_all(0);
			x.replay_all(1);
			x.run(100 * kMs);
		}
		EXPECT_TRUE(x.bounced(0));
	}
	EXPECT_TRUE(x.keys_are(kNew, kNew));
}

TEST_F(Keys, Storms)
{
	const Key all[] = {kOld, kNew, kThird};

	x.loss = 0.2;
	for (int round = 0; round < 400; round++) {
		const Key key = all[x.rng() % 3], second = all[x.rng() % 3];

		x.set(x.rng() % 2, key, second == key ? kNone : second);
		x.run(x.rng() % 1500 * kMs);
		if (round % 40 == 0)
			x.replay_all(round / 40 % 2);
	}
	x.loss = 0;
	x.set(0, kNew, kOld);
	x.set(1, kOld, kNew);
	EXPECT_TRUE(x.join(3000 * kMs));
	EXPECT_GT(x.seals[0].size(), 50U);
}

} // namespace
