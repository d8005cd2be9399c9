// SPDX-License-Identifier: GPL-2.0
// Answers that nobody remembers: what is echoed makes a link, what is old or forged makes none.
// Hosts with two addresses each meet over a network that loses, doubles and delays. Seeded.
#include <gtest/gtest.h>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

extern "C" {
#include "../../kernel/proto/cookie.h"
#include "../../kernel/proto/session.h"
#include "../../kernel/proto/siphash.h"
}

namespace {

constexpr uint64_t kMs = PIB_NSEC_PER_MSEC;
constexpr uint64_t kStep = 5 * kMs;

using Bytes = std::array<uint8_t, PIB_HELLO_WIRE_LEN>;

// The reference's vectors: key and message are the bytes 0, 1, 2 and on.
TEST(Cookie, TheHashIsSipHash)
{
	const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
	const uint64_t words[3] = {0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110};

	EXPECT_EQ(pib_siphash(key, words, 0), 0x726fdb47dd0e0e31u);
	EXPECT_EQ(pib_siphash(key, words, 1), 0x93f5f5799a932462u);
	EXPECT_EQ(pib_siphash(key, words, 2), 0x3f2acc7f57c29bdbu);
	EXPECT_EQ(pib_siphash(key, words, 3), 0xb8ad50c6f649af94u);
}

pib_cookie_addr address(uint8_t host, uint16_t port = 18514)
{
	const uint8_t v4[4] = {10, 0, 0, host};
	pib_cookie_addr a;

	pib_cookie_addr_v4(&a, v4, port);
	return a;
}

pib_hello greeting()
{
	pib_hello h{};

	h.link_id = 5;
	h.nonce = 6;
	h.seq = 7;
	h.node_guid = 8;
	h.port_num = 1;
	h.key = 3;
	return h;
}

// The hello that @answer draws from its receiver.
pib_hello echo(pib_hello h, const pib_hello &answer)
{
	h.peer_nonce = answer.nonce;
	h.ack = answer.seq;
	return h;
}

TEST(Cookie, IsOfOnePeerAndOfAFewSeconds)
{
	const pib_cookies host{{1, 2}, {}, {}}, other{{1, 3}, {}, {}};
	const pib_cookie_addr from = address(1);
	const pib_hello h = greeting();
	pib_hello answer{};

	for (uint64_t ms = 0; ms < 10000; ms += 97) {
		const uint64_t at = 1000000 * kMs + ms * kMs;

		answer = {};
		ASSERT_EQ(pib_cookie_reply(&host, &from, &h, at, &answer), PIB_DG_HELLO_ACK);
		EXPECT_TRUE(answer.nonce && answer.link_id && answer.down);
		EXPECT_EQ(answer.peer_nonce, h.nonce);
		EXPECT_EQ(answer.ack, h.seq);
		const pib_hello good = echo(h, answer);
		const uint32_t id = answer.link_id;
		EXPECT_TRUE(pib_cookie_is_back(&host, &from, &good, id, 3, at));
		EXPECT_TRUE(pib_cookie_is_back(&host, &from, &good, id, 3, at + PIB_COOKIE_NS));
		EXPECT_FALSE(
			pib_cookie_is_back(&host, &from, &good, id, 3, at + 2 * PIB_COOKIE_NS));
		EXPECT_FALSE(pib_cookie_is_back(&host, &from, &good, id + 1, 3, at));
		EXPECT_FALSE(pib_cookie_is_back(&host, &from, &good, id, 4, at));
		EXPECT_FALSE(pib_cookie_is_back(&other, &from, &good, id, 3, at));
		for (const pib_cookie_addr &a : {address(2), address(1, 18515)})
			EXPECT_FALSE(pib_cookie_is_back(&host, &a, &good, id, 3, at));
	}
	const auto spoiled = [&](auto spoil) {
		pib_hello bad = echo(h, answer);

		spoil(bad);
		return !pib_cookie_is_back(&host, &from, &bad, answer.link_id, 3, 1009991 * kMs);
	};
	ASSERT_FALSE(spoiled([](pib_hello &) {}));
	EXPECT_TRUE(spoiled([](pib_hello &bad) { bad.peer_nonce++; }));
	EXPECT_TRUE(spoiled([](pib_hello &bad) { bad.node_guid++; }));
	EXPECT_TRUE(spoiled([](pib_hello &bad) { bad.port_num++; }));
	EXPECT_TRUE(spoiled([](pib_hello &bad) { bad.fabric++; }));
	EXPECT_TRUE(spoiled([](pib_hello &bad) { bad.caps |= PIB_CAP_AUTO; }));
}

// Only those who hear a question know the session that it names.
TEST(Cookie, AQuestionIsForOneAddressAndOnePairOfSessions)
{
	const pib_cookies host{{1, 2}, {}, {}}, other{{1, 3}, {}, {}};
	const pib_cookie_addr to = address(1);
	std::set<uint64_t> named;

	for (uint64_t ms = 0; ms < 10000; ms += 97) {
		const uint64_t at = 1000000 * kMs + ms * kMs;
		const uint64_t nonce = pib_cookie_question(&host, &to, 5, 6, at);
		const auto answers = [&](const pib_cookies &by, const pib_cookie_addr &from,
					 uint64_t own, uint64_t peer, uint64_t when) {
			return pib_cookie_is_answer(&by, &from, own, peer, nonce, when);
		};

		EXPECT_NE(nonce, 0u);
		named.insert(nonce);
		EXPECT_TRUE(answers(host, to, 5, 6, at));
		EXPECT_TRUE(answers(host, to, 5, 6, at + PIB_COOKIE_NS));
		EXPECT_FALSE(answers(host, to, 5, 6, at + 2 * PIB_COOKIE_NS));
		EXPECT_FALSE(answers(other, to, 5, 6, at));
		EXPECT_FALSE(answers(host, address(2), 5, 6, at));
		EXPECT_FALSE(answers(host, address(1, 18515), 5, 6, at));
		EXPECT_FALSE(answers(host, to, 6, 6, at));
		EXPECT_FALSE(answers(host, to, 5, 7, at));
		EXPECT_FALSE(pib_cookie_is_answer(&host, &to, 5, 6, nonce + 1, at));
	}
	EXPECT_GT(named.size(), 3u) << "it changes with time";
	const pib_cookie_addr high = address(1, 0xFFFF);
	const uint64_t slot = PIB_COOKIE_NS;

	EXPECT_NE(pib_cookie_question(&host, &high, 5, 6, slot),
		  pib_cookie_question(&host, &high, 5, 6, 2 * slot));
}

// The sum of what is answered is bounded, and a flood of some sessions leaves room for others.
TEST(Cookie, AnswersAreLimited)
{
	pib_cookies host{{1, 2}, {}, {}};
	const pib_cookie_addr from = address(1);
	unsigned int answered = 0, heard = 0;
	uint64_t now = 1000000 * kMs;

	for (int i = 0; i < 100000; i++, now += 10000) { // a second
		pib_hello h = greeting();

		h.nonce = i + 1;
		answered += pib_cookie_may_reply(&host, &from, &h, now);
	}
	EXPECT_LE(answered, 100u * PIB_COOKIE_REPLIES + PIB_COOKIE_REPLIES);
	for (int i = 0; i < 1000; i++, now += 10 * kMs) {
		pib_hello old = greeting(), fresh = greeting();

		for (int k = 0; k < 300; k++) {
			old.nonce = 100 + k % 2;
			pib_cookie_may_reply(&host, &from, &old, now);
		}
		fresh.nonce = 1000;
		heard += pib_cookie_may_reply(&host, &from, &fresh, now);
	}
	EXPECT_GT(heard, 850u);
}

// A hello that was recorded and is sent again, from wherever, leaves the others their answers.
TEST(Cookie, ARecordedHelloUsesUpLittle)
{
	pib_cookies host{{1, 2}, {}, {}};
	unsigned int heard = 0;
	uint64_t now = 1000000 * kMs;

	for (int i = 0; i < 1000; i++, now += 10 * kMs) {
		pib_hello old = greeting(), fresh = greeting();

		old.nonce = 100;
		for (int k = 0; k < 300; k++) {
			pib_cookie_addr from = address(k);

			from.udp_port = i * 300 + k;
			pib_cookie_may_reply(&host, &from, &old, now);
		}
		fresh.nonce = 1000;
		const pib_cookie_addr from = address(1);
		heard += pib_cookie_may_reply(&host, &from, &fresh, now);
	}
	EXPECT_GT(heard, 900u);
}

// A stranger who is refused all the time, whatever it says, leaves others theirs, and all cookies.
TEST(Cookie, RefusalsOfOneLeaveThoseOfOthers)
{
	pib_cookies host{};
	const pib_cookie_addr stranger = address(9), other = address(1);
	unsigned int heard = 0, cookies = 0;
	uint64_t now = 1000000 * kMs;

	for (int i = 0; i < 1000; i++, now += 500 * kMs) {
		pib_hello h = greeting();

		for (int k = 0; k < 300; k++) {
			h.nonce = i * 300 + k;
			pib_cookie_may_refuse(&host, &stranger, &h, now);
		}
		h.nonce = 6;
		heard += pib_cookie_may_refuse(&host, &other, &h, now);
		cookies += pib_cookie_may_reply(&host, &other, &h, now);
	}
	EXPECT_GT(heard, 700u);
	EXPECT_EQ(cookies, 1000u);
}

// A host: a host switch, or one port that calls the other host. It has two addresses.
struct Host {
	struct Link {
		pib_session session{};
		uint64_t peer_guid = 0; // 0: whoever is called
		bool known[2] = {};
		int to = 0;
		std::pair<uint64_t, uint64_t> pair; // of sessions that it was up with last
	};
	uint64_t guid = 0;
	bool calls = false, discovers = false, silent = false;
	pib_cookies cookies{};
	std::map<uint32_t, std::unique_ptr<Link>> links;
};

class Two {
public:
	explicit Two(uint64_t seed) : rng(seed)
	{
		for (int i = 0; i < 2; i++) {
			host[i].guid = 0x100 + i;
			draw(host[i]);
		}
	}
	void call(int i)
	{
		Host::Link &link = make(i, rng() | 1, random_id(), false, 0);

		link.known[0] = true;
		host[i].calls = true;
	}
	void run(uint64_t span)
	{
		for (const uint64_t until = now + span; now < until; now += kStep) {
			deliver();
			for (int i = 0; i < 2; i++)
				time_passes(i);
		}
	}
	// Runs until both ends of a link are up for ports with each other.
	bool meet(uint64_t limit)
	{
		for (const uint64_t until = now + limit; now < until;) {
			run(kStep);
			if (met())
				return true;
		}
		return false;
	}
	bool met() const
	{
		if (host[0].links.size() != 1 || host[1].links.size() != 1)
			return false;
		const pib_session &a = host[0].links.begin()->second->session;
		const pib_session &b = host[1].links.begin()->second->session;
		return a.plugged && b.plugged && a.peer_nonce == b.nonce && b.peer_nonce == a.nonce;
	}
	// The links of a host go, as if they had never been.
	void forget(int i)
	{
		draw(host[i]);
		host[i].links.clear();
	}
	// All that was ever sent to host @to comes again from where it came.
	void replay(int to)
	{
		const auto old = sent[!to];

		for (const auto &[path, bytes] : old)
			receive(to, path, bytes);
	}
	bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(rng) < p; }

	Host host[2];
	double loss = 0, dup = 0;
	uint64_t delay = 0;
	bool cut[2] = {}; // towards host 0, host 1
	uint64_t now = 1000000 * kMs;
	std::vector<std::pair<int, Bytes>> sent[2];
	std::mt19937_64 rng;

private:
	void draw(Host &h)
	{
		for (uint64_t &word : h.cookies.secret)
			word = rng();
	}
	uint32_t random_id() { return uint32_t(rng()) | 1; }

	Host::Link &make(int i, uint64_t nonce, uint32_t id, bool answered, uint64_t peer)
	{
		auto link = std::make_unique<Host::Link>();

		if (answered)
			pib_session_init_answered(&link->session, id, nonce);
		else
			pib_session_init(&link->session, id, nonce);
		link->session.passive = peer;
		link->session.recalls = peer && host[i].discovers;
		link->peer_guid = peer;
		return *host[i].links.emplace(id, std::move(link)).first->second;
	}
	pib_hello say(int i) const
	{
		pib_hello h{};

		h.role = PIB_ROLE_SWITCH;
		h.mtu_cap = 5;
		h.node_guid = host[i].guid;
		h.caps = host[i].discovers ? PIB_CAP_AUTO : 0;
		return h;
	}
	void send(int i, int path, const Bytes &bytes)
	{
		sent[i].emplace_back(path, bytes);
		for (int copies = 1 + chance(dup); copies; copies--) {
			const uint64_t late = delay ? rng() % delay : 0;

			if (!cut[!i] && !chance(loss))
				wire.emplace(now + kStep + late, Datagram{!i, path, bytes});
		}
	}
	void act(int i, Host::Link &link, uint32_t todo)
	{
		if (todo & PIB_SESSION_DO_SEND) {
			pib_hello h = say(i);
			Bytes bytes;

			pib_session_build(&link.session, &h, now, bytes.data());
			send(i, link.to, bytes);
		}
		if (link.session.state != PIB_SESSION_UP)
			return;
		const std::pair pair(link.session.nonce, link.session.peer_nonce);
		if (pair == link.pair)
			return;
		link.pair = pair;
		EXPECT_TRUE(pairs[i].insert(pair).second) << "a pair of sessions came back";
	}
	// A datagram comes from an address that is not known of the peer.
	bool meets(int i, int path, Host::Link &link, const pib_hello &h, uint8_t type)
	{
		const pib_cookie_addr from = address(10 * !i + path);
		const pib_session &s = link.session;

		if (s.state != PIB_SESSION_UP)
			return false;
		const bool answers = pib_cookie_is_answer(&host[i].cookies, &from, s.nonce,
							  s.peer_nonce, h.peer_nonce, now);
		const uint8_t what = pib_session_stray(&link.session, &h, type, answers, now);
		if (what == PIB_STRAY_ASK) {
			pib_hello question = say(i);
			Bytes bytes;

			pib_session_build_question(&s, &question,
						   pib_cookie_question(&host[i].cookies, &from,
								       s.nonce, s.peer_nonce, now),
						   bytes.data());
			send(i, path, bytes);
		}
		link.known[path] = what == PIB_STRAY_FOLLOW;
		return what == PIB_STRAY_FOLLOW || what == PIB_STRAY_TAKE;
	}
	void hear(int i, int path, Host::Link &link, bool shown, const pib_hello &h, uint8_t type)
	{
		if (shown)
			link.known[path] = true;
		if (!link.known[path] && !meets(i, path, link, h, type))
			return;
		if (link.session.state != PIB_SESSION_UP)
			link.to = path;
		act(i, link, pib_session_rx(&link.session, &h, type, now));
	}
	static bool is_away(const Host::Link &link, int path)
	{
		return link.session.state != PIB_SESSION_UP && !link.known[path];
	}
	Host::Link *match(int i, uint64_t guid)
	{
		for (auto &[id, link] : host[i].links)
			if (!link->peer_guid || link->peer_guid == guid)
				return link.get();
		return nullptr;
	}
	void receive(int i, int path, const Bytes &bytes)
	{
		const pib_cookie_addr from = address(10 * !i + path);
		Host &me = host[i];
		pib_hello h;
		uint32_t to;
		uint8_t type;

		ASSERT_EQ(pib_hello_parse(&h, &type, &to, bytes.data(), bytes.size()), 0);
		Host::Link *link = match(i, h.node_guid);
		if (to && me.links.contains(to)) {
			hear(i, path, *me.links[to], false, h, type);
		} else if (to && type != PIB_DG_BYE &&
			   pib_cookie_is_back(&me.cookies, &from, &h, to, 0, now)) {
			if (!link)
				link = &make(i, h.peer_nonce, to, true, h.node_guid);
			hear(i, path, *link, true, h, type);
		} else if (!to && link && h.link_id && !is_away(*link, path)) {
			hear(i, path, *link, false, h, type);
		} else if (!to && (!link || is_away(*link, path)) && (!me.calls || h.link_id)) {
			pib_hello answer = say(i);
			Bytes out;

			type = pib_cookie_reply(&me.cookies, &from, &h, now, &answer);
			pib_hello_build(&answer, type, h.link_id, out.data());
			send(i, path, out);
		}
	}
	void time_passes(int i)
	{
		for (auto &[id, link] : host[i].links)
			if (pib_session_deadline(&link->session) <= now)
				act(i, *link, pib_session_timer(&link->session, now));
		if (!host[i].discovers || host[i].silent || now < next_hello[i])
			return;
		next_hello[i] = now + 500 * kMs;
		pib_hello h = say(i);
		h.nonce = 77 + i;
		Bytes bytes;
		pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
		for (int path = 0; path < 2; path++)
			send(i, path, bytes);
	}
	void deliver()
	{
		while (!wire.empty() && wire.begin()->first <= now) {
			const Datagram d = wire.begin()->second;

			wire.erase(wire.begin());
			receive(d.to, d.path, d.bytes);
		}
	}

	struct Datagram {
		int to, path;
		Bytes bytes;
	};
	std::multimap<uint64_t, Datagram> wire;
	std::set<std::pair<uint64_t, uint64_t>> pairs[2];
	uint64_t next_hello[2] = {};
};

TEST(Cookie, WhoCallsGetsALinkByNoMoreDatagrams)
{
	Two t(1);

	t.call(0);
	EXPECT_TRUE(t.meet(100 * kMs));
	EXPECT_EQ(t.sent[0].size() + t.sent[1].size(), 4u);
	EXPECT_EQ(t.host[1].links.begin()->second->session.peer_node_guid, 0x100u);
	t.run(60000 * kMs);
	EXPECT_TRUE(t.met());
	EXPECT_EQ(t.host[0].links.begin()->second->session.restarts, 0u);
}

TEST(Cookie, WhoDoesNotHearTheAnswerGetsNothing)
{
	Two t(1);

	t.call(0);
	t.cut[0] = true;
	t.run(20000 * kMs);
	EXPECT_TRUE(t.host[1].links.empty());
	EXPECT_LE(t.sent[1].size(), t.sent[0].size());
	t.cut[0] = false;
	EXPECT_TRUE(t.meet(1000 * kMs));
}

TEST(Cookie, LossesHoldNobodyUpForLong)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		Two t(seed);

		t.loss = 0.3;
		t.dup = 0.2;
		t.delay = (seed % 5) * 50 * kMs;
		if (seed & 1) {
			t.call(0);
		} else {
			t.host[0].discovers = t.host[1].discovers = true;
			t.host[1].silent = seed & 2;
		}
		EXPECT_TRUE(t.meet(20000 * kMs)) << "seed " << seed;
	}
}

// Both hear the other one at once, and by either address first: that is one link.
TEST(Cookie, TwoThatDiscoverEachOtherMeetSoon)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		Two t(seed);

		t.host[0].discovers = t.host[1].discovers = true;
		t.delay = (1 + seed % 4) * 20 * kMs;
		t.now += seed * 131 * kMs; // cookies change meanwhile
		EXPECT_TRUE(t.meet(1500 * kMs)) << "seed " << seed;
		t.run(10000 * kMs);
		EXPECT_TRUE(t.met()) << "seed " << seed;
	}
}

// All that made a link makes none when it comes again: at once, or later, or without the link.
TEST(Cookie, ReplaysMakeNoGhosts)
{
	for (const bool discovers : {false, true}) {
		Two t(3);

		if (discovers)
			t.host[0].discovers = t.host[1].discovers = true;
		else
			t.call(0);
		ASSERT_TRUE(t.meet(1000 * kMs));
		t.run(100 * kMs);
		for (int i = 0; i < 100; i++) {
			t.replay(1);
			t.run(10 * kMs);
			EXPECT_TRUE(t.met());
		}
		t.cut[0] = true; // the answers to replays reach nobody
		t.host[0].links.clear();
		t.host[0].silent = t.host[1].silent = true;
		t.forget(1);
		for (int i = 0; i < 1000; i++) {
			t.replay(1);
			t.run(10 * kMs);
			EXPECT_TRUE(t.host[1].links.empty()) << i;
		}
	}
}

// Ends that forget each other come back, whatever is replayed, and no pair of sessions does.
TEST(Cookie, Storms)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		Two t(seed);
		const bool discovers = seed & 1;

		t.host[0].discovers = t.host[1].discovers = discovers;
		if (!discovers)
			t.call(0);
		t.loss = (seed % 4) * 0.1;
		t.dup = (seed % 3) * 0.2;
		t.delay = (seed % 5) * 30 * kMs;
		for (int i = 0; i < 30; i++) {
			t.run((t.rng() % 1500) * kMs);
			switch (t.rng() % 3) {
			case 0: t.forget(discovers ? t.rng() & 1 : 1); break;
			case 1: t.replay(t.rng() & 1); break;
			default: break;
			}
		}
		t.loss = t.dup = t.delay = 0;
		EXPECT_TRUE(t.meet(8000 * kMs)) << "seed " << seed;
		if (testing::Test::HasFailure())
			FAIL() << "seed " << seed;
	}
}

} // namespace
