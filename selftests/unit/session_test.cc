// SPDX-License-Identifier: GPL-2.0
// The link state machine, under all that a network does, and with an eavesdropper who plays old datagrams again.
#include <gtest/gtest.h>
#include <set>

#include "session_pair.h"

using namespace session_pair;

namespace {

TEST(Session, ComesUp)
{
	Pair p;

	EXPECT_TRUE(p.join(100 * kMs));
	EXPECT_LE(p.end[0].sent + p.end[1].sent, 6);
	EXPECT_EQ(p.end[0].session.peer_node_guid, 0x101u);
	EXPECT_EQ(p.end[0].session.remote_id, 11u);
	p.run(60000 * kMs);
	EXPECT_EQ(p.end[0].downs + p.end[1].downs, 0);
	EXPECT_LE(p.end[0].sent, 125) << "keepalives only";
}

TEST(Session, NeedsBothDirections)
{
	for (int dir : {0, 1}) {
		Pair p;

		p.net.cut[dir] = true;
		p.run(20000 * kMs);
		EXPECT_EQ(p.end[0].ups + p.end[1].ups, 0);
		p.net.cut[dir] = false;
		EXPECT_TRUE(p.join(1000 * kMs));
	}
}

TEST(Session, OneWayFailureTakesBothEndsDown)
{
	for (int dir : {0, 1}) {
		Pair p;

		ASSERT_TRUE(p.join(1000 * kMs));
		p.net.cut[dir] = true;
		p.run(5000 * kMs);
		EXPECT_FALSE(p.end[0].up);
		EXPECT_FALSE(p.end[1].up);
	}
}

TEST(Session, DeadPeerIsNoticedInTime)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(3000 * kMs);
	p.end[1].alive = false;
	p.run((PIB_DEAD_MS - PIB_KEEPALIVE_MS - 10) * kMs);
	EXPECT_TRUE(p.end[0].up) << "three keepalives may get lost";
	p.run((PIB_KEEPALIVE_MS + 100) * kMs);
	EXPECT_FALSE(p.end[0].up);
	EXPECT_EQ(p.end[0].session.restarts, 1u);
}

TEST(Session, LossesDoNotTakeItDown)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		Pair p(seed);

		ASSERT_TRUE(p.join(1000 * kMs));
		p.net.loss = 0.4;
		p.run(600000 * kMs);
		EXPECT_EQ(p.end[0].downs + p.end[1].downs, 0);
		EXPECT_LE(p.end[0].sent + p.end[1].sent, 4000) << "questions only when in doubt";
	}
}

// The peer's keepalives of that time may be lost; it has not been silent for all that.
TEST(Session, TimeAsleepIsNoSilence)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(1000 * kMs);
	p.end[0].asleep = true;
	p.run(1900 * kMs); // not longer, or the other end is right to give up
	p.end[0].asleep = false;
	p.run(10000 * kMs);
	EXPECT_EQ(p.end[0].downs + p.end[1].downs, 0);

	for (auto &end : p.end)
		end.asleep = true;
	p.run(30000 * kMs);
	for (auto &end : p.end)
		end.asleep = false;
	p.run(10000 * kMs);
	EXPECT_EQ(p.end[0].downs + p.end[1].downs, 0);
}

TEST(Session, SleepersNoticeDeathToo)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.end[1].alive = false;
	p.end[0].asleep = true;
	p.run(30000 * kMs);
	p.end[0].asleep = false;
	p.run(PIB_DEAD_MS * kMs + 100 * kMs);
	EXPECT_FALSE(p.end[0].up);
}

TEST(Session, WhatIsDroppedHereIsNoSilence)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	for (int i = 0; i < 10; i++) {
		p.end[0].deaf = true;
		p.run((PIB_DEAF_MS - 2000) * kMs);
		p.end[0].deaf = false;
		p.run(1000 * kMs);
	}
	EXPECT_EQ(p.end[0].downs + p.end[1].downs, 0);
	p.end[0].deaf = true;
	p.run((PIB_DEAF_MS + PIB_DEAD_MS + 100) * kMs);
	EXPECT_FALSE(p.end[0].up) << "but not for ever";
}

TEST(Session, RestartIsACablePulledAndPutBack)
{
	for (int who : {0, 1}) {
		Pair p;

		ASSERT_TRUE(p.join(1000 * kMs));
		p.run(2000 * kMs);
		p.restart(who);
		EXPECT_TRUE(p.join(200 * kMs));
		EXPECT_EQ(p.end[!who].downs, 1);
		EXPECT_EQ(p.end[!who].ups, 2);
	}
}

TEST(Session, BothRestart)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.restart(0);
	p.restart(1);
	EXPECT_TRUE(p.join(200 * kMs));
}

TEST(Session, Bye)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(1000 * kMs);
	p.bye(1);
	p.run(2 * kStep);
	EXPECT_FALSE(p.end[0].up);
	EXPECT_EQ(p.end[0].session.state, PIB_SESSION_IDLE);
	p.restart(1);
	EXPECT_TRUE(p.join(1000 * kMs));
}

TEST(Session, RetrainBouncesBothEnds)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.reset(0, false);
	EXPECT_FALSE(p.end[0].up);
	EXPECT_TRUE(p.join(200 * kMs));
	EXPECT_EQ(p.end[0].downs, 1);
	EXPECT_EQ(p.end[1].downs, 1);
}

TEST(Session, DisabledPortKeepsTheSession)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.reset(0, true);
	p.run(10000 * kMs);
	EXPECT_FALSE(p.end[0].up);
	EXPECT_FALSE(p.end[1].up);
	EXPECT_EQ(p.end[1].session.state, PIB_SESSION_UP);
	EXPECT_TRUE(p.end[1].session.peer_down);
	p.reset(0, false);
	EXPECT_TRUE(p.join(200 * kMs));
}

TEST(Session, BothDisabledThenOneEnabled)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.reset(0, true);
	p.reset(1, true);
	p.run(3000 * kMs);
	p.reset(0, false);
	p.run(3000 * kMs);
	EXPECT_EQ(p.end[0].ups + p.end[1].ups, 2);
	p.reset(1, false);
	EXPECT_TRUE(p.join(200 * kMs));
}

TEST(Session, BounceIsSeenThroughLoss)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		Pair p(seed);

		p.net.loss = 0.5;
		ASSERT_TRUE(p.join(60000 * kMs));
		int downs = p.end[1].downs;
		p.reset(0, true);
		p.reset(0, false);
		ASSERT_TRUE(p.join(60000 * kMs));
		EXPECT_GT(p.end[1].downs, downs);
	}
}

TEST(Session, ReplayedPeerDoesNotRise)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.run(10000 * kMs);
	p.end[1].alive = false;
	for (int i = 0; i < 100; i++) {
		p.run(100 * kMs);
		p.replay_all(0);
		EXPECT_TRUE(i < 25 || !p.end[0].up);
	}
	EXPECT_EQ(p.end[0].ups, 1);
	p.restart(1);
	EXPECT_TRUE(p.join(5000 * kMs));
}

TEST(Session, ReplayDoesNotDisturb)
{
	Pair p;

	for (int i = 0; i < 4; i++) { // sessions of every kind to replay, BYE among them
		ASSERT_TRUE(p.join(5000 * kMs));
		p.run(700 * kMs);
		p.reset(0, true);
		p.run(100 * kMs);
		p.reset(0, false);
		ASSERT_TRUE(p.join(1000 * kMs));
		p.bye(1);
		p.run(100 * kMs);
		p.restart(1);
	}
	ASSERT_TRUE(p.join(5000 * kMs));
	int downs = p.end[0].downs + p.end[1].downs;
	for (int i = 0; i < 200; i++) {
		p.run(50 * kMs);
		p.replay_all(i & 1);
		EXPECT_TRUE(p.end[0].up && p.end[1].up);
	}
	EXPECT_EQ(p.end[0].downs + p.end[1].downs, downs);
}

// Only a hello that is newer than all before may move a link to another address of the peer.
TEST(Session, NothingOldIsNext)
{
	Pair p;
	pib_hello h;
	uint32_t to;
	uint8_t type;
	Bytes fresh;

	ASSERT_TRUE(p.join(5000 * kMs));
	p.restart(1);
	ASSERT_TRUE(p.join(5000 * kMs));
	p.run(2000 * kMs);
	ASSERT_GT(p.sent[1].size(), 4u);
	p.sent[1].pop_back(); // may be on its way still
	for (auto &bytes : p.sent[1]) {
		ASSERT_EQ(pib_hello_parse(&h, &type, &to, bytes.data(), bytes.size()), 0);
		EXPECT_FALSE(pib_session_is_next(&p.end[0].session, &h));
	}
	pib_session_build(&p.end[1].session, &h, p.now, fresh.data());
	ASSERT_EQ(pib_hello_parse(&h, &type, &to, fresh.data(), fresh.size()), 0);
	EXPECT_TRUE(pib_session_is_next(&p.end[0].session, &h));
}

// Datagrams from another address than the peer's.
class Stray : public ::testing::Test {
protected:
	static constexpr uint64_t kAsked = 0xA5CED;

	Stray() { EXPECT_TRUE(p.join(5000 * kMs)); }
	// The next datagram of end 1, to end 0.
	pib_hello next(uint64_t peer_session = 0)
	{
		const pib_session &s = p.end[1].session;
		pib_hello h{};

		h.link_id = s.local_id;
		h.nonce = s.nonce;
		h.peer_nonce = peer_session ? peer_session : s.peer_nonce;
		h.seq = ++p.end[1].session.tx_seq;
		h.ack = s.rx_seq;
		return h;
	}
	uint8_t comes(const pib_hello &h, uint8_t type = PIB_DG_KEEPALIVE)
	{
		return pib_session_stray(&p.end[0].session, &h, type, h.peer_nonce == kAsked,
					 p.now);
	}
	// The question of end 0, and what end 1 says to it.
	Bytes ask()
	{
		pib_hello h{};
		Bytes bytes;

		h.role = PIB_ROLE_SWITCH;
		h.mtu_cap = 5;
		pib_session_build_question(&p.end[0].session, &h, kAsked, bytes.data());
		return bytes;
	}
	pib_hello said(const Bytes &bytes)
	{
		pib_hello h;
		uint32_t to;
		uint8_t type;

		EXPECT_EQ(pib_hello_parse(&h, &type, &to, bytes.data(), bytes.size()), 0);
		EXPECT_EQ(to, p.end[0].session.local_id);
		EXPECT_EQ(type, PIB_DG_HELLO_ACK);
		return h;
	}

	Pair p;
};

TEST_F(Stray, AnAddressIsAskedAndFollowedWhenItAnswers)
{
	EXPECT_EQ(comes(next()), PIB_STRAY_ASK);
	const size_t before = p.sent[1].size();
	const pib_session was = p.end[1].session;
	p.inject(1, ask());
	ASSERT_EQ(p.sent[1].size(), before + 1);
	EXPECT_EQ(p.end[1].session.state, PIB_SESSION_UP);
	EXPECT_EQ(p.end[1].session.peer_nonce, was.peer_nonce);
	EXPECT_EQ(p.end[1].session.rx_seq, was.rx_seq);
	EXPECT_EQ(p.end[1].session.last_heard, was.last_heard);
	const pib_hello answer = said(p.sent[1].back());
	EXPECT_EQ(answer.peer_nonce, kAsked);
	EXPECT_EQ(comes(answer), PIB_STRAY_FOLLOW);
	// The session of the question is none of the link.
	EXPECT_EQ(p.inject(0, p.sent[1].back()), 0u);
	EXPECT_EQ(comes(answer), PIB_STRAY_DROP) << "it is old";
	p.run(5000 * kMs);
	EXPECT_TRUE(p.joined());
	EXPECT_EQ(p.end[0].downs + p.end[1].downs, 0);
}

TEST_F(Stray, NothingElseIsAnAnswer)
{
	for (const uint64_t guess : {kAsked + 1, p.end[1].session.nonce})
		EXPECT_EQ(comes(next(guess)), PIB_STRAY_DROP);
	pib_hello h = next();
	h.ack += 1000;
	EXPECT_EQ(comes(h, PIB_DG_HELLO_ACK), PIB_STRAY_ASK);
	h = next(kAsked);
	h.nonce++;
	EXPECT_EQ(comes(h), PIB_STRAY_DROP) << "of another session";
	h = next(kAsked);
	h.key = 7;
	EXPECT_EQ(comes(h), PIB_STRAY_DROP) << "by another key";
}

TEST_F(Stray, QuestionsAreFew)
{
	int asked = 0;

	for (int ms = 0; ms < 1000; ms++, p.now += kMs)
		asked += comes(next()) == PIB_STRAY_ASK;
	EXPECT_EQ(asked, 1000 / PIB_QUESTION_MS);
	EXPECT_EQ(comes(next(kAsked)), PIB_STRAY_FOLLOW) << "answers are not limited";
}

TEST_F(Stray, WhatIsOldAsksNobody)
{
	pib_hello h = next();

	h.seq = p.end[0].session.rx_seq;
	EXPECT_EQ(comes(h), PIB_STRAY_DROP);
	EXPECT_EQ(comes(next()), PIB_STRAY_ASK);
}

// Of each datagram that was recorded one question comes, and an older answer is not followed.
TEST_F(Stray, WhatCameOnceAsksNobodyAgain)
{
	const pib_hello first = next(), answer = next(kAsked), second = next();

	EXPECT_EQ(comes(first), PIB_STRAY_ASK);
	p.now += 2 * PIB_QUESTION_MS * kMs;
	EXPECT_EQ(comes(first), PIB_STRAY_DROP);
	EXPECT_EQ(comes(second), PIB_STRAY_ASK) << "that has taken no place";
	EXPECT_EQ(comes(answer), PIB_STRAY_DROP) << "it is older than what came";
	EXPECT_EQ(comes(next(kAsked)), PIB_STRAY_FOLLOW);
}

TEST_F(Stray, WhatCameIsOfItsSession)
{
	EXPECT_EQ(comes(next()), PIB_STRAY_ASK);
	p.end[0].session.stray_seq += 1000;
	p.restart(1);
	p.run(3000 * kMs);
	ASSERT_TRUE(p.joined());
	EXPECT_EQ(comes(next()), PIB_STRAY_ASK);
}

TEST_F(Stray, AGoodbyeNeedsNoAnswer)
{
	EXPECT_EQ(comes(next(), PIB_DG_BYE), PIB_STRAY_TAKE);
}

TEST(Session, NothingIsLearntFromWhatIsOld)
{
	Pair p;
	Bytes fresh;

	ASSERT_TRUE(p.join(5000 * kMs));
	p.restart(1);
	ASSERT_TRUE(p.join(5000 * kMs));
	p.run(2000 * kMs);
	p.sent[1].pop_back(); // may be on its way still
	const auto old = p.sent[1];
	for (auto &bytes : old)
		EXPECT_FALSE(p.inject(0, bytes) & PIB_SESSION_DO_LEARN);
	pib_hello h;
	uint32_t to;
	uint8_t type;
	ASSERT_EQ(pib_hello_parse(&h, &type, &to, old[0].data(), old[0].size()), 0);
	pib_session_build(&p.end[1].session, &h, p.now, fresh.data());
	EXPECT_TRUE(p.inject(0, fresh) & PIB_SESSION_DO_LEARN);
}

TEST(Session, FloodDrawsFewAnswers)
{
	Pair p;

	ASSERT_TRUE(p.join(1000 * kMs));
	p.restart(1);
	ASSERT_TRUE(p.join(1000 * kMs));
	Bytes old = p.sent[1][0];
	int before = p.end[0].sent;
	for (int i = 0; i < 10000; i++)
		p.inject(0, old);
	EXPECT_LE(p.end[0].sent - before, 2);
	EXPECT_TRUE(p.end[0].up);
}

TEST(Session, OwnEchoAndDiscoveryAreIgnored)
{
	Pair p;

	p.run(10 * kMs);
	EXPECT_EQ(p.inject(0, p.sent[0][0]), unsigned(PIB_SESSION_DO_REJECT));
	Bytes discovery = p.sent[1][0];
	memset(&discovery[12], 0, 4);
	EXPECT_EQ(p.inject(0, discovery), 0u);
}

TEST(Session, WhoWasCalledDoesNotCall)
{
	Pair p;

	p.end[1].session.passive = true;
	ASSERT_TRUE(p.join(1000 * kMs));
	p.bye(0);
	p.run(1000 * kMs);
	EXPECT_FALSE(p.end[1].up);
	int before = p.end[1].sent;
	p.run(5000 * kMs);
	p.reset(1, false);
	EXPECT_EQ(pib_session_deadline(&p.end[1].session), PIB_SESSION_NEVER);
	EXPECT_EQ(p.end[1].sent, before);
	p.restart(0);
	EXPECT_TRUE(p.join(1000 * kMs));
}

// Two ends of a trunk, neither of which calls: that of end 0 is called once, as by discovery.
struct Trunk : Pair {
	explicit Trunk(uint64_t seed = 1) : Pair(seed)
	{
		for (auto &e : end)
			e.session.passive = e.session.recalls = true;
	}
	bool meet()
	{
		Pair caller(99);

		caller.run(kStep);
		inject(0, caller.sent[1][0]);
		return join(5000 * kMs);
	}
};

TEST(Session, ATrunkThatWasUpCallsItsPeerWithoutDiscovery)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		Trunk p(seed);

		p.run(10000 * kMs);
		EXPECT_EQ(p.end[0].sent + p.end[1].sent, 0) << "nobody is called who was not met";
		ASSERT_TRUE(p.meet());
		p.net.cut[0] = p.net.cut[1] = true;
		p.run(7000 * kMs);
		EXPECT_FALSE(p.end[0].up || p.end[1].up);
		p.net.cut[0] = p.net.cut[1] = false;
		p.net.loss = (seed % 4) * 0.1;
		EXPECT_TRUE(p.join(30000 * kMs)) << "seed " << seed;
		p.restart(seed & 1); // it has met nobody: it waits
		EXPECT_TRUE(p.join(30000 * kMs)) << "seed " << seed;
	}
}

TEST(Session, ATrunkCallsASilentPeerSlowly)
{
	Trunk p;

	ASSERT_TRUE(p.meet());
	p.end[1].alive = false;
	p.run((PIB_DEAD_MS + 100) * kMs);
	EXPECT_FALSE(p.end[0].up);
	int before = p.end[0].sent;
	p.run(60000 * kMs);
	EXPECT_GE(p.end[0].sent - before, 19);
	EXPECT_LE(p.end[0].sent - before, 60000 / PIB_RECALL_MS);
	// Datagrams in the peer's name have it called no more often, but for the answers to them.
	before = p.end[0].sent;
	for (int i = 0; i < 20; i++) {
		Pair other(100 + i);

		other.run(kStep);
		p.inject(0, other.sent[1][0]);
		p.run(3000 * kMs);
	}
	EXPECT_LE(p.end[0].sent - before, 20 + 60000 / PIB_RECALL_MS);
}

TEST(Session, ATrunkDoesNotCallWhoSaidGoodbye)
{
	Trunk p;

	ASSERT_TRUE(p.meet());
	p.bye(1);
	p.run(1000 * kMs);
	int before = p.end[0].sent;
	p.run(30000 * kMs);
	EXPECT_EQ(p.end[0].sent, before);
	EXPECT_EQ(pib_session_deadline(&p.end[0].session), PIB_SESSION_NEVER);
}

// An attacker who forges another host's address does not have that host flooded.
TEST(Session, WhoWasCalledSaysNoMoreThanItHears)
{
	Pair caller(2), p;
	unsigned int said = 0;

	caller.run(2000 * kMs);
	p.end[1].session.passive = true;
	p.end[0].alive = false;
	for (auto &hello : caller.sent[0]) {
		p.inject(1, hello);
		p.run(700 * kMs);
		EXPECT_LE(p.end[1].sent, int(++said));
	}
	EXPECT_EQ(p.end[1].sent, int(said)) << "each is answered";
	p.run(5000 * kMs);
	EXPECT_EQ(p.end[1].sent, int(said));
	EXPECT_EQ(p.end[1].session.state, PIB_SESSION_IDLE);
}

// An end that has just been up with its peer tells it at once that it begins again.
TEST(Session, WhoWasCalledCallsWhomItHasMet)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		Pair p(seed);

		p.end[1].session.passive = true;
		ASSERT_TRUE(p.join(1000 * kMs));
		p.run(1000 * kMs);
		p.net.loss = 0.3;
		p.reset(1, false);
		EXPECT_TRUE(p.join(1500 * kMs)) << "seed " << seed;
	}
}

// Hellos of two sessions that the peer had before, sent again @rate times a second to the ends from
// @first on, of which the second may be @passive. Return: ms until the link is up, at most a minute.
uint64_t time_to_join(uint64_t seed, unsigned int rate, int first, bool passive)
{
	Pair p(seed);
	Bytes old[2][2];

	p.end[1].session.passive = passive;
	p.new_ids = true;
	for (int i = 0; i < 2; i++) {
		const size_t began[2] = {p.sent[0].size(), p.sent[1].size()};
		p.join(5000 * kMs);
		for (int k = 0; k < 2; k++)
			old[k][i] = p.sent[!k][began[!k]];
		p.end[0].alive = p.end[1].alive = false;
		p.run(3000 * kMs);
		p.restart(0);
		p.restart(1);
	}
	uint64_t start = p.now, turn = 0;
	while (p.now < start + 60000 * kMs && !p.joined()) {
		for (unsigned int i = 0; i < rate / 200; i++, turn++)
			for (int k = first; k < 2; k++)
				p.inject(k, old[k][turn & 1]);
		p.run(kStep);
	}
	return (p.now - start) / kMs;
}

// Fails if it takes longer than a fifth of a second on average, or ever longer than @limit ms.
void joins_in_time(int first, bool passive, uint64_t limit)
{
	uint64_t most = 0, sum = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		const uint64_t ms = time_to_join(seed, 30000, first, passive);

		most = std::max(most, ms);
		sum += ms;
	}
	EXPECT_LT(most, limit);
	EXPECT_LT(sum / 40, 200u);
	std::cout << "# ms at most: " << most << ", on average: " << sum / 40 << "\n";
}

TEST(Session, ReplaysHoldNobodyUp)
{
	joins_in_time(0, true, 500);
}

// The link ids that replays name are of links that are no more, and each end is told of them only.
TEST(Session, ReplaysHoldNobodyUpOfTwoWhoCall)
{
	joins_in_time(0, false, 500);
}

TEST(Session, ReplaysToOneOfTwoWhoCallHoldNobodyUp)
{
	joins_in_time(1, false, 500);
}

// If only the end that waits is flooded, its session and so its allowances stay the same.
TEST(Session, ReplaysToWhoWaitsHoldNobodyUp)
{
	joins_in_time(1, true, 1100);
}

// The next datagram goes into @h. Its type.
uint8_t next_out(pib_session &f, pib_hello &h, uint64_t now)
{
	std::array<uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_dg head;

	pib_session_build(&f, &h, now, bytes.data());
	pib_dg_parse(&head, bytes.data());
	return head.type;
}

// Two peers of one address, both of which live: somebody carries the datagrams of both to this end,
// and its own to both.
TEST(Session, NoPairOfSessionsComesBack)
{
	std::mt19937_64 rng(5);
	pib_session me{}, peer[2]{};
	std::set<std::pair<uint64_t, uint64_t>> pairs;
	std::pair<uint64_t, uint64_t> present;
	uint64_t now = 1000 * kMs;

	pib_session_init(&me, 1, rng() | 1);
	for (uint32_t i = 0; i < 2; i++) {
		pib_session_init(&peer[i], 10 + i, rng() | 1);
		peer[i].passive = true;
	}
	auto carry = [&](pib_session &from, std::initializer_list<pib_session *> to) {
		pib_hello h{};
		uint8_t type = next_out(from, h, now);
		std::vector<pib_session *> answering;

		for (pib_session *end : to)
			if (!from.out_id || from.out_id == end->local_id)
				if (pib_session_rx(end, &h, type, now) & PIB_SESSION_DO_SEND)
					answering.push_back(end);
		return answering;
	};
	auto speak = [&](auto &&self, pib_session &from, int depth) -> void {
		if (depth > 20)
			return;
		auto answering =
			&from == &me ? carry(me, {&peer[0], &peer[1]}) : carry(from, {&me});
		for (pib_session *end : answering)
			self(self, *end, depth + 1);
		if (me.state == PIB_SESSION_UP && present != std::pair(me.nonce, me.peer_nonce)) {
			present = {me.nonce, me.peer_nonce};
			EXPECT_TRUE(pairs.insert(present).second) << "a pair came back";
		}
	};
	for (int step = 0; step < 6000; step++, now += kStep)
		for (pib_session *end : {&me, &peer[0], &peer[1]})
			if (pib_session_deadline(end) <= now &&
			    pib_session_timer(end, now) & PIB_SESSION_DO_SEND)
				speak(speak, *end, 0);
	EXPECT_GT(pairs.size(), 2U) << "the two do not displace each other";
}

TEST(Session, LongKeepaliveOfThePeerIsRespected)
{
	pib_session f;
	pib_hello h{};

	pib_session_init(&f, 1, 99);
	pib_session_timer(&f, 0);
	next_out(f, h, 0);
	h = {};
	h.link_id = 2, h.nonce = 7, h.peer_nonce = 99, h.ack = 1, h.seq = 1;
	h.keepalive_ms = 5000;
	EXPECT_TRUE(pib_session_rx(&f, &h, PIB_DG_HELLO_ACK, 0) & PIB_SESSION_DO_UP);
	for (uint64_t now = 0; now < 20000 * kMs; now += 100 * kMs) {
		if (pib_session_timer(&f, now) & PIB_SESSION_DO_SEND)
			next_out(f, h, now);
		EXPECT_EQ(f.state, PIB_SESSION_UP);
	}
	EXPECT_TRUE(pib_session_timer(&f, 20000 * kMs) & PIB_SESSION_DO_DOWN);
}

// Everything at once: the network misbehaves, ends restart, retrain, vanish, and
// somebody replays. After the storm the link is up; during it, the ends agree.
void storm(uint64_t seed)
{
	Pair p(seed);

	p.end[1].session.passive = seed & 1;
	p.end[1].session.recalls = seed & 2;
	p.mtu = seed & 4 ? 1500 : 0;
	p.carries = seed & 8 ? 1300 : 1500;
	p.net = {.loss = (seed % 5) * 0.1,
		 .dup = (seed % 3) * 0.2,
		 .delay = (seed % 7) * 100 * kMs,
		 .cut = {false, false}};
	for (int i = 0; i < 60; i++) {
		p.run((p.rng() % 1500) * kMs);
		int who = p.rng() & 1;
		switch (p.rng() % 6) {
		case 0: p.restart(who); break;
		case 1: p.reset(who, p.rng() & 1); break;
		case 2: p.net.cut[who] = !p.net.cut[who]; break;
		case 3:
			if (p.end[who].alive)
				p.bye(who);
			break;
		case 4: p.end[who].alive = !p.end[who].alive; break;
		case 5:
			if (!p.sent[!who].empty() && p.end[who].alive)
				p.inject(who, p.sent[!who][p.rng() % p.sent[!who].size()]);
			break;
		}
	}
	p.net = {};
	for (int i = 0; i < 2; i++) {
		if (!p.end[i].alive)
			p.restart(i);
		if (p.end[i].session.local_down)
			p.reset(i, false);
	}
	EXPECT_TRUE(p.join(5000 * kMs)) << "seed " << seed;
	p.run(10000 * kMs);
	EXPECT_TRUE(p.joined()) << "seed " << seed;
}

TEST(Session, Storms)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		storm(seed);
		if (testing::Test::HasFailure())
			FAIL() << "seed " << seed;
	}
}

} // namespace
