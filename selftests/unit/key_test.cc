// SPDX-License-Identifier: GPL-2.0
// The keys of sessions, while those of a fabric are exchanged at one end after the other. A
// datagram's authentication is the name of its key here.
#include <gtest/gtest.h>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "session_pair.h"

extern "C" {
#include "../../kernel/proto/mad.h"
}

using namespace session_pair;

namespace {

enum Key : uint32_t { kNone, kOld, kNew, kThird };

// The keys of one end
struct KeyRing {
	Key keys[2] = {kNone, kNone};
	// The number by which the end knows a key is its own affair.
	uint32_t base = 0;
	int refused = 0;

	uint32_t number(Key key) const { return key ? base + key : 0; }
	Key name(uint32_t number) const { return number ? Key(number - base) : kNone; }
};

class Exchange : public Pair {
public:
	Exchange() : Pair(7)
	{
		for (int i = 0; i < 2; i++) {
			ring[i].base = 100 * (i + 1);
			set(i, kOld);
		}
	}
	void set(int i, Key key, Key second = kNone)
	{
		KeyRing &r = ring[i];

		r.keys[0] = key;
		r.keys[1] = second;
		act(i, pib_session_rekey(&end[i].session, r.number(key), r.number(second), nonce(),
					 now));
	}
	// The key of an end's session, and of the peer's as that end knows it.
	Key own_key(int i) const { return ring[i].name(end[i].session.key); }
	Key peer_key(int i) const { return ring[i].name(end[i].session.peer_key); }
	// The key by which end @i would miss its peer.
	Key used(int i) { return ring[i].name(pib_session_used_key(&end[i].session, now)); }
	// Return: whether a key is blamed at end @i within @limit.
	bool blames(int i, uint64_t limit)
	{
		for (uint64_t until = now + limit; now < until; run(kStep))
			if (pib_session_key_unknown(&end[i].session))
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
		h.key = ring[!i].number(Key(pib_get32(&sent[i].back()[PIB_HELLO_MAC_OFF])));
		return h;
	}
	// Both ends are up, each speaks by the key that is named, and the other one knows that.
	testing::AssertionResult keys_are(Key of_0, Key of_1)
	{
		const Key own[2] = {of_0, of_1};

		for (int i = 0; i < 2; i++)
			if (!joined() || own_key(i) != own[i] || peer_key(i) != own[!i])
				return testing::AssertionFailure()
				       << "end " << i << ": up " << end[i].up << ", key "
				       << own_key(i) << ", the peer's " << peer_key(i);
		return testing::AssertionSuccess();
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

	KeyRing ring[2];
	// Of each end: the key and both sessions of all that it ever sealed.
	std::set<std::tuple<Key, uint64_t, uint64_t>> seals[2];

private:
	void sign(int i, Bytes &bytes) override
	{
		pib_put32(&bytes[PIB_HELLO_MAC_OFF], own_key(i));
	}
	bool takes(int to, const Bytes &bytes, pib_hello &h) override
	{
		KeyRing &r = ring[to];
		const Key key = Key(pib_get32(&bytes[PIB_HELLO_MAC_OFF]));
		const bool known = key == r.keys[0] || key == r.keys[1];

		h.key = r.number(key);
		r.refused += !known;
		return known;
	}
	// Counters begin again with each session, so no seal may ever come back.
	void came_up(int i) override
	{
		const pib_session &f = end[i].session;

		EXPECT_TRUE(seals[i].insert({own_key(i), f.nonce, f.peer_nonce}).second);
	}
	// Each end seals by the key by which the other one opens.
	void check() override
	{
		Pair::check();
		if (joined()) {
			EXPECT_TRUE(keys_are(own_key(0), own_key(1)));
		}
	}
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
	const uint64_t session = x.end[0].session.nonce;

	x.set(0, kOld, kNew);
	x.run(5000 * kMs);
	EXPECT_TRUE(x.keys_are(kOld, kOld));
	EXPECT_TRUE(x.bounced(0));
	EXPECT_EQ(x.end[0].session.nonce, session);
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
	EXPECT_EQ(x.ring[0].refused + x.ring[1].refused, 0);
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
	x.reset(1, true);
	x.run(1000 * kMs);
	x.set(1, kNew, kOld);
	x.run(1000 * kMs);
	EXPECT_FALSE(x.joined());
	EXPECT_EQ(x.end[0].session.state, PIB_SESSION_UP) << "a session there is, all the same";
	EXPECT_EQ(x.peer_key(0), kNew);
}

TEST_F(Keys, WhoIsLeftBehindIsOut)
{
	x.set(0, kOld, kNew);
	x.set(0, kNew, kOld);
	EXPECT_FALSE(x.join(20000 * kMs));
	EXPECT_FALSE(x.end[0].up || x.end[1].up);
	EXPECT_GT(x.ring[1].refused, 0);
	EXPECT_TRUE(pib_session_key_unknown(&x.end[0].session)) << "the user is to know why";

	x.set(0, kNew);
	EXPECT_FALSE(x.join(20000 * kMs));
	EXPECT_GT(x.ring[0].refused, 0);
	x.set(1, kNew);
	EXPECT_TRUE(x.join(2000 * kMs));
	EXPECT_FALSE(pib_session_key_unknown(&x.end[0].session));
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
	// An attacker who has both keys repeats a hello of the peer, under the other key and a
	// later number.
	Bytes forged = x.sent[1].back();

	pib_put32(&forged[PIB_HELLO_MAC_OFF], kNew);
	pib_put32(&forged[60], x.end[1].session.tx_seq + 100);
	EXPECT_EQ(x.inject(0, forged), uint32_t{PIB_SESSION_DO_REJECT});
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

	h.seq = x.end[1].session.tx_seq + 100;
	EXPECT_TRUE(pib_session_is_next(&x.end[0].session, &h));
	for (const Key other : {kNew, kThird}) {
		h.key = x.ring[0].number(other);
		EXPECT_FALSE(pib_session_is_next(&x.end[0].session, &h)) << other;
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
	x.net.cut[0] = x.net.cut[1] = true;
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
	x.net.cut[0] = x.net.cut[1] = true;
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
	x.reset(0, true);
	EXPECT_EQ(x.used(0), kNone) << "the port is disabled";
}

TEST_F(Keys, WhoSaysGoodbyeIsNotMissed)
{
	EXPECT_EQ(x.used(0), kOld);
	pib_hello h = x.last_said(1);

	h.seq = x.end[1].session.tx_seq + 1;
	EXPECT_TRUE(pib_session_rx(&x.end[0].session, &h, PIB_DG_BYE, x.now) & PIB_SESSION_DO_DOWN);
	EXPECT_EQ(x.used(0), kNone);
}

TEST_F(Keys, AnOldHelloBlamesNoKey)
{
	const Bytes recorded = x.sent[1].back();

	x.net.cut[0] = x.net.cut[1] = true;
	x.set(0, kOld, kNew);
	x.set(0, kNew, kOld);
	EXPECT_FALSE(x.blames(0, 30000 * kMs));
	ASSERT_EQ(x.end[0].session.state, PIB_SESSION_IDLE);
	for (int round = 0; round < 3; round++) {
		x.inject(0, recorded);
		EXPECT_EQ(x.end[0].session.state, PIB_SESSION_GREETING);
		EXPECT_FALSE(x.blames(0, 5000 * kMs)) << round;
	}
}

TEST_F(Keys, AGreetingThatHasJustBegunBlamesNoKey)
{
	x.set(0, kOld, kNew);
	x.set(0, kNew, kOld);
	EXPECT_EQ(x.end[0].session.state, PIB_SESSION_GREETING);
	EXPECT_FALSE(x.blames(0, 500 * kMs));
	EXPECT_TRUE(x.blames(0, 20000 * kMs));
}

TEST_F(Keys, WhoHearsNothingIsNotSaidToHaveAnotherOne)
{
	for (int i : {0, 1})
		x.set(i, kOld, kNew);
	x.net.cut[1] = true;
	x.reset(0, false);
	x.run(10000 * kMs);
	EXPECT_EQ(x.end[0].session.state, PIB_SESSION_GREETING);
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

	ASSERT_EQ(x.ring[0].name(h.key), kNew);
	h.nonce ^= 0x1234;
	x.set(0, kOld);
	EXPECT_EQ(pib_session_rx(&x.end[0].session, &h, PIB_DG_HELLO, x.now),
		  uint32_t{PIB_SESSION_DO_REJECT});
	EXPECT_EQ(x.end[0].session.state, PIB_SESSION_IDLE);
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

	x.net.loss = 0.2;
	for (int round = 0; round < 400; round++) {
		const Key key = all[x.rng() % 3], second = all[x.rng() % 3];

		x.set(x.rng() % 2, key, second == key ? kNone : second);
		x.run(x.rng() % 1500 * kMs);
		if (round % 40 == 0)
			x.replay_all(round / 40 % 2);
	}
	x.net.loss = 0;
	x.set(0, kNew, kOld);
	x.set(1, kOld, kNew);
	EXPECT_TRUE(x.join(3000 * kMs));
	EXPECT_GT(x.seals[0].size(), 50U);
}

} // namespace
