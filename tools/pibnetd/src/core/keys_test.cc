// SPDX-License-Identifier: GPL-2.0
// Keyed fabrics: authentication of peers, exchange of keys, and seals.
#include <gtest/gtest.h>

#include <fstream>

#include "core/fake_fabric.h"
#include "wire/ping.h"

namespace pib::netd {
namespace {

using namespace fake;

TEST_F(Fabric, KeysMustAgree)
{
	start_keyed();
	b.key = Key(32, 8);
	Peer c{3, 0xC0};
	w.add(a);
	w.add(b);
	w.add(c);
	w.run(1000);
	EXPECT_TRUE(w.port_of(a));
	EXPECT_FALSE(w.port_of(b) || w.port_of(c));
	EXPECT_EQ(c.refusal, PIB_REFUSED_KEY);
	EXPECT_EQ(b.refusal, PIB_REFUSED_NOT) << "what it cannot check it does not believe";
	EXPECT_GE(w.count(PIB_US_RX_BAD_AUTHENTICATION), 2u);
	w.port_of(a)->p.state = PIB_PORT_INIT;
	w.deliver(a.at, a.sealed(get_node_info()));
	w.carry();
	EXPECT_EQ(a.packets.size(), 1u);
}

/// Nothing that strangers say makes a batch leave under the lock. A datagram of a link does.
TEST_F(Fabric, AnswersToStrangersLeaveWithoutTheLock)
{
	start_keyed();
	const auto batch_after = [&](const Bytes &bytes) {
		std::vector<HelloKey> keys;
		const Arrival arrival{.path = {.socket = 0, .remote = a.at, .local = {}},
				      .bytes = bytes,
				      .step = bytes.size(),
				      .hop_limit = PIB_HOP_LIMIT};
		w.core.check_hellos(arrival, keys);
		w.core.reflect(arrival, w.net, w.stats, w.now);
		w.core.receive(arrival, keys, w.now);
		return w.core.gather(w.now).has_value();
	};
	const auto hello = [&](std::uint32_t caps, const Key &key) {
		pib_hello h = a.say();
		h.caps |= caps;
		h.link_id = 7;
		h.nonce = 99;
		Bytes bytes(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
		auth_seal(key, bytes);
		return bytes;
	};
	ASSERT_TRUE(batch_after(Bytes(1))) << "nothing is answered";
	EXPECT_TRUE(batch_after(hello(0, Key(32, 8)))) << "refused";
	EXPECT_TRUE(batch_after(hello(0, a.key))) << "a cookie";
	w.now += PIB_REPLY_MS * kMs;
	EXPECT_TRUE(batch_after(hello(PIB_CAP_PROBE, a.key)));
	EXPECT_TRUE(batch_after(build_ping({}, kPingLeast, {})));
	EXPECT_EQ(w.net.sent.size(), 4u);
	w.add(a);
	w.run(500);
	ASSERT_TRUE(w.port_of(a));
	for (w.now += PIB_NSEC_PER_SEC;; w.now += 10 * kMs)
		if (const auto said = a.tick(w.now); said && ((*said)[0] & 0xF) == PIB_DG_HELLO) {
			EXPECT_FALSE(batch_after(*said));
			break;
		}
}

/// Two switches of one fabric, whose keys are exchanged under two peers.
class Exchange : public Fabric {
protected:
	void SetUp() override
	{
		ASSERT_TRUE(set(old_key, {}));
		for (Peer *peer : {&a, &b})
			peer->rekey(old_key, {}, w.now);
		join();
	}
	Status set(const Key &first, const Key &second, Drop drop = Drop::unused)
	{
		Config config = *parse_config(
			R"({"switches": [{"name": "sw0", "ports": 1}, {"name": "sw1", "ports": 1}]})");
		for (SwitchConfig &node : config.switches) {
			node.key = first;
			node.second_key = second;
		}
		return w.core.configure(config, w.now, drop);
	}
	std::uint64_t ups(Peer &peer)
	{
		w.run(1500);
		Port *port = w.port_of(peer);
		if (!port || !port->link->is_up || !peer.session.plugged)
			return 0;
		// Data goes both ways.
		port->p.state = PIB_PORT_INIT;
		peer.packets.clear();
		w.deliver(peer.at, peer.sealed(get_node_info()));
		w.carry();
		return peer.packets.size() == 1 ? 1 + port->counts.link_downed : 0;
	}

	const Key old_key = Key(32, 7), new_key = Key(32, 8), third_key = Key(32, 9);
};

TEST_F(Exchange, StepByStepWithTwoRestarts)
{
	EXPECT_EQ(ups(a), 1u);
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	EXPECT_EQ(ups(a), 1u) << "that is no restart";
	ASSERT_TRUE(set(new_key, old_key));
	EXPECT_EQ(ups(a), 2u);
	EXPECT_EQ(ups(b), 2u);
	for (Peer *peer : {&a, &b})
		peer->rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(a), 3u);
	EXPECT_EQ(ups(b), 3u);
	ASSERT_TRUE(set(new_key, {}));
	for (Peer *peer : {&a, &b})
		peer->rekey(new_key, {}, w.now);
	EXPECT_EQ(ups(a), 3u);
	EXPECT_EQ(ups(b), 3u);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_AUTHENTICATION), 0u);
	EXPECT_EQ(w.count(PIB_US_RX_BAD_SEAL), 0u);
}

TEST_F(Exchange, WhoComesWithTheSecondKeyGetsAPort)
{
	ASSERT_TRUE(set(old_key, new_key));
	b.rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(b), 2u);
	b.restart();
	b.rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(b), 3u);
}

TEST_F(Fabric, AStrangerByTheSecondKeyGetsAPort)
{
	const Key first(32, 7), second(32, 8);
	Config config = *parse_config(kOne);
	config.switches[0].key = first;
	config.switches[0].second_key = second;
	ASSERT_TRUE(w.core.configure(config, w.now));
	a.rekey(second, first, w.now);
	b.rekey(second, {}, w.now);
	w.add(a);
	w.add(b);
	w.run(1500);
	EXPECT_TRUE(w.port_of(a));
	EXPECT_TRUE(a.session.plugged);
	EXPECT_FALSE(w.port_of(b)) << "it does not know what the switch says";
	w.run(3000);
	const auto &ports = w.node().ports;
	EXPECT_TRUE(std::any_of(ports.begin(), ports.end(), [&](const auto &port) {
		const char *why = port->link ? port->link->refusal(w.now) : nullptr;
		return why && std::string_view(why) == "the peer does not know this switch's key, "
						       "but the second one";
	}));
}

TEST_F(Exchange, WhoIsLeftBehindIsOut)
{
	ASSERT_TRUE(set(old_key, new_key));
	a.rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	EXPECT_EQ(ups(a), 2u);
	EXPECT_EQ(ups(b), 0u) << "it does not know the switch's key";
	a.rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(a), 3u);
	ASSERT_TRUE(set(new_key, {}));
	EXPECT_EQ(ups(a), 3u);
	EXPECT_EQ(ups(b), 0u);
	b.rekey(third_key, new_key, w.now);
	EXPECT_EQ(ups(b), 0u) << "it hears, and is not heard";
}

TEST_F(Exchange, AWrongOrderIsRefusedAndChangesNothing)
{
	auto refused = set(new_key, old_key);
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().text.find("not its second key before"), std::string::npos);
	EXPECT_EQ(ups(a), 1u);
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	EXPECT_EQ(ups(a), 2u);
	refused = set(new_key, {});
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().text.find("the peer uses the key that would go"),
		  std::string::npos);
	EXPECT_EQ(ups(a), 2u);
}

TEST_F(Exchange, WhoHasTheOldKeyAloneIsCutByForce)
{
	ASSERT_TRUE(set(old_key, new_key));
	a.rekey(new_key, old_key, w.now);
	b.credulous = true;
	ASSERT_TRUE(set(new_key, old_key));
	w.run(3000);
	const auto b_is_up = [&] {
		Port *port = w.port_of(b);
		return port && port->link->is_up;
	};
	ASSERT_TRUE(b_is_up()) << "by the old key";
	const auto had = ups(a);
	ASSERT_GT(had, 0u);
	const auto refused = set(new_key, {});
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().text.find("\"force\""), std::string::npos)
		<< refused.error().text;
	EXPECT_TRUE(b_is_up());
	ASSERT_TRUE(set(new_key, {}, Drop::forced));
	EXPECT_FALSE(b_is_up());
	EXPECT_EQ(ups(a), had);
	w.run(3000);
	EXPECT_FALSE(b_is_up());
}

TEST_F(Exchange, ForceMakesNoWrongOrderRight)
{
	ASSERT_FALSE(set(new_key, old_key, Drop::forced));
	ASSERT_FALSE(set(third_key, {}, Drop::forced));
	EXPECT_EQ(ups(a), 1u);
}

TEST_F(Exchange, ALinkThatIsJustRestartingCounts)
{
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	w.run(500);
	ASSERT_TRUE(set(new_key, old_key));
	ASSERT_EQ(w.port_of(a), nullptr) << "the restart is not over";
	const auto refused = set(new_key, {});
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().text.find("the peer uses the key that would go"),
		  std::string::npos);
	EXPECT_EQ(ups(a), 2u);
	EXPECT_EQ(ups(b), 2u);
	// A peer that stays away is waited for a moment only.
	for (Peer *peer : {&a, &b})
		peer->rekey(new_key, old_key, w.now);
	EXPECT_EQ(ups(a), 3u);
	EXPECT_EQ(ups(b), 3u);
	EXPECT_TRUE(set(new_key, {}));
}

TEST_F(Exchange, WhoIsAwayForLongDoesNotCount)
{
	ASSERT_TRUE(set(old_key, new_key));
	ASSERT_TRUE(set(new_key, old_key));
	w.run(PIB_DEAD_MS - 100);
	EXPECT_FALSE(set(new_key, {}));
	w.run(200);
	EXPECT_TRUE(set(new_key, {}));
}

TEST_F(Exchange, WhoHasSaidGoodbyeDoesNotCount)
{
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	EXPECT_EQ(ups(a), 2u);
	EXPECT_EQ(ups(b), 2u);
	w.peers.clear();
	EXPECT_FALSE(set(new_key, {}));
	for (Peer *peer : {&a, &b})
		w.deliver(peer->at, peer->goodbye(w.now));
	EXPECT_TRUE(set(new_key, {}));
}

TEST_F(Exchange, ZerosAtTheEndOfAKeyAreNothing)
{
	Key padded = old_key;
	padded.push_back(0);
	EXPECT_FALSE(check_second_key(
		{.name = {}, .description = {}, .key = old_key, .second_key = padded}));
	EXPECT_TRUE(set(padded, {})) << "it is the key that the switches have";
	EXPECT_EQ(ups(a), 1u);
	a.rekey(padded, {}, w.now);
	EXPECT_EQ(ups(a), 1u);
	ASSERT_TRUE(set(old_key, new_key));
	padded = new_key;
	padded.push_back(0);
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	EXPECT_TRUE(set(padded, old_key)) << "it was the second one";
	EXPECT_EQ(ups(a), 2u);
}

TEST_F(Exchange, AKeyOfZerosIsAKey)
{
	const Key zeros(16, 0), more(20, 0);
	EXPECT_FALSE(same_key(zeros, {}));
	EXPECT_TRUE(same_key(zeros, more));
	EXPECT_TRUE(same_key({}, {}));
	EXPECT_FALSE(check_second_key(
		{.name = {}, .description = {}, .key = zeros, .second_key = more}));
	EXPECT_FALSE(set(zeros, {}));
}

TEST_F(Exchange, WhoHasNotHeardTheSwitchPutsNothingIntoItsPeers)
{
	Link &link = *w.port_of(b)->link;
	w.peers.clear();
	w.run(2 * PIB_DEAD_MS);
	ASSERT_FALSE(link.established());
	const auto forged = [&](std::uint64_t of_session) {
		pib_hello h = b.say();
		h.link_id = 77;
		h.nonce = 78;
		h.peer_nonce = of_session;
		Bytes bytes(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, PIB_DG_KEEPALIVE, link.id(), bytes.data());
		auth_seal(third_key, bytes);
		return bytes;
	};
	w.deliver(b.at, forged(0));
	w.deliver(b.at, forged(link.session.nonce + 1));
	EXPECT_EQ(link.refusal(w.now), nullptr);
	w.deliver(a.at, forged(link.session.nonce));
	EXPECT_EQ(link.refusal(w.now), nullptr) << "not from there";
	w.deliver(b.at, forged(link.session.nonce));
	EXPECT_STREQ(link.refusal(w.now), pib_hello_refusal_text(PIB_REFUSED_KEY));
}

TEST_F(Exchange, AStrangersHelloIsCheckedBeforeItIsReceived)
{
	ASSERT_TRUE(set(old_key, new_key));
	pib_hello h = Peer{3, 0xC0}.say();
	h.caps |= PIB_CAP_KEYED;
	h.link_id = 77;
	h.nonce = 78;
	const auto hello = [&](const Key &key, std::uint32_t to) {
		Bytes bytes(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, PIB_DG_HELLO, to, bytes.data());
		auth_seal(key, bytes);
		return bytes;
	};
	const auto arrival = [&](const Bytes &bytes) {
		return Arrival{.path = {.socket = 0, .remote = address(3), .local = {}},
			       .bytes = bytes,
			       .step = PIB_HELLO_WIRE_LEN,
			       .hop_limit = PIB_HOP_LIMIT};
	};
	// Three in a super-packet, and then what is for a link.
	Bytes all;
	for (const Bytes &one :
	     {hello(old_key, 0), hello(new_key, 0), hello(third_key, 0), hello(old_key, 1)})
		all.insert(all.end(), one.begin(), one.end());
	std::vector<HelloKey> keys;
	w.core.check_hellos(arrival(all), keys);
	ASSERT_EQ(keys.size(), 4u);
	const Switch &node = w.node();
	EXPECT_EQ(keys[0], node.key_number);
	EXPECT_EQ(keys[1], node.second_number);
	EXPECT_FALSE(keys[2]);
	EXPECT_EQ(keys[3], node.key_number);
	// The key that was found is believed: nothing is computed again. Every port is taken.
	const auto refusal = [&](const Bytes &bytes, HelloKey key) {
		w.net.sent.clear();
		w.now += PIB_REPLY_MS * kMs;
		EXPECT_EQ(w.core.receive(arrival(bytes), {&key, 1}, w.now), 1u);
		w.core.flush(w.now);
		EXPECT_EQ(w.net.sent.size(), 1u);
		pib_hello said{};
		std::uint32_t to = 0;
		std::uint8_t type = 0;
		EXPECT_EQ(pib_hello_parse(&said, &type, &to, w.net.sent[0].bytes.data(),
					  w.net.sent[0].bytes.size()),
			  0);
		return said.refusal;
	};
	EXPECT_EQ(refusal(hello(third_key, 0), node.key_number), PIB_REFUSED_FULL);
	EXPECT_EQ(refusal(hello(old_key, 0), {}), PIB_REFUSED_KEY);
}

/// So whoever has seen a datagram of a link, and names it, makes nobody compute anything under the
/// lock.
TEST_F(Fabric, WhatNamesALinkIsCheckedBeforeItIsReceived)
{
	start_keyed();
	w.add(a);
	w.run(500);
	ASSERT_TRUE(w.port_of(a));
	const auto refused = [&](const Peer &from, Bytes bytes, HelloKey key) {
		// It is not looked at any more.
		bytes[PIB_HELLO_MAC_OFF] ^= key.has_value();
		const Arrival arrival{.path = {.socket = 0, .remote = from.at, .local = {}},
				      .bytes = bytes,
				      .step = bytes.size(),
				      .hop_limit = PIB_HOP_LIMIT};
		const auto before = w.count(PIB_US_RX_BAD_AUTHENTICATION);
		w.core.receive(arrival, {&key, 1}, w.now);
		w.core.flush(w.now);
		return w.count(PIB_US_RX_BAD_AUTHENTICATION) - before;
	};
	const std::uint32_t number = w.node().key_number;
	const Link &link = *w.port_of(a)->link;
	const Bytes bye = a.goodbye(w.now);
	EXPECT_EQ(refused(a, bye, {}), 1u);
	EXPECT_TRUE(link.established());
	EXPECT_EQ(refused(a, bye, number), 0u);
	EXPECT_FALSE(link.established());
	// The echo of an answer as well, of which there is no link yet.
	w.net.sent.clear();
	w.deliver(b.at, *b.tick(w.now));
	ASSERT_EQ(w.net.sent.size(), 1u);
	std::vector<Bytes> echo;
	b.hear(w.net.sent[0].bytes, w.now, echo);
	ASSERT_EQ(echo.size(), 1u);
	EXPECT_EQ(refused(b, echo[0], {}), 1u);
	EXPECT_FALSE(w.port_of(b));
	EXPECT_EQ(refused(b, echo[0], number), 0u);
	EXPECT_TRUE(w.port_of(b));
}

TEST_F(Exchange, AHelloInThePeersNameIsNotThePeersWord)
{
	Link &link = *w.port_of(b)->link;
	w.peers.clear();
	w.run(2 * PIB_DEAD_MS);
	ASSERT_FALSE(link.established());
	pib_hello h = b.say();
	h.link_id = 77;
	h.nonce = 78;
	Bytes bytes(PIB_HELLO_WIRE_LEN);
	pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
	auth_seal(third_key, bytes);
	w.deliver(b.at, bytes);
	EXPECT_STREQ(link.refusal(w.now), kClaimed);
	w.run(kRefusedNs / kMs + 100);
	EXPECT_EQ(link.refusal(w.now), nullptr);
}

TEST_F(Exchange, WhoIsLeftBehindIsSeen)
{
	Link &link = *w.port_of(b)->link;
	ASSERT_TRUE(set(old_key, new_key));
	a.rekey(new_key, old_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	w.run(4000);
	EXPECT_STREQ(link.refusal(w.now),
		     "the peer does not know this switch's key, but the second one");
	ASSERT_TRUE(set(new_key, {}));
	w.run(20000);
	EXPECT_STREQ(link.refusal(w.now), kClaimed) << "and is not known by the old one";
	EXPECT_NE(w.logged.str().find(kClaimed), std::string::npos);
	EXPECT_EQ(w.port_of(a)->link->refusal(w.now), nullptr);
	b.rekey(new_key, {}, w.now);
	w.run(3000);
	ASSERT_TRUE(w.port_of(b));
	EXPECT_EQ(w.port_of(b)->link->refusal(w.now), nullptr);
}

TEST_F(Exchange, TheSealOfALostPeerGoesWithItsKey)
{
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	w.run(1500);
	Link &link = *w.port_of(b)->link;
	ASSERT_TRUE(link.seal);
	std::erase(w.peers, &b);
	w.run(2 * PIB_DEAD_MS);
	ASSERT_FALSE(link.is_up);
	ASSERT_TRUE(set(new_key, {}, Drop::forced));
	EXPECT_FALSE(link.seal);
}

TEST_F(Exchange, AReloadDoesNotOpenASwitch)
{
	for (const Drop drop : {Drop::unused, Drop::forced}) {
		const auto refused = set({}, {}, drop);
		ASSERT_FALSE(refused);
		EXPECT_NE(refused.error().text.find("restart"), std::string::npos)
			<< refused.error().text;
	}
	EXPECT_EQ(ups(a), 1u);
	// Nor one that is changed otherwise, too.
	Config config = *parse_config(R"({"switches": [{"name": "sw0", "ports": 7}]})");
	EXPECT_FALSE(w.core.configure(config, w.now));
	config.switches[0].key = old_key;
	EXPECT_TRUE(w.core.configure(config, w.now));
}

TEST_F(Exchange, ASealHasTheKeyOfEachSide)
{
	ASSERT_TRUE(set(old_key, new_key));
	for (Peer *peer : {&a, &b})
		peer->rekey(old_key, new_key, w.now);
	ASSERT_TRUE(set(new_key, old_key));
	w.run(1500);
	// The header and its tag are right, so the seal decides.
	const auto by = [&](const Key &own) {
		Bytes bytes = a.sealed(get_node_info());
		const Bytes plain = a.data(get_node_info());
		std::copy(plain.begin() + PIB_DG_HDR_LEN, plain.end(),
			  bytes.begin() + PIB_SEAL_HEAD_LEN);
		Seal seal(own, new_key, a.session.nonce, a.session.peer_nonce);
		seal.close(bytes);
		return bytes;
	};
	w.port_of(a)->p.state = PIB_PORT_INIT;
	w.deliver(a.at, by(new_key));
	w.deliver(a.at, by(third_key));
	EXPECT_EQ(w.count(PIB_US_RX_BAD_SEAL), 2u);
	w.net.sent.clear();
	w.deliver(a.at, by(old_key));
	EXPECT_EQ(w.count(PIB_US_RX_BAD_SEAL), 2u);
	ASSERT_EQ(w.net.sent.size(), 1u);
	const Bytes answer = w.net.sent[0].bytes;
	Bytes plain(answer.size());
	Seal wrong(old_key, old_key, a.session.nonce, a.session.peer_nonce);
	EXPECT_EQ(wrong.open(answer, plain), Opened::bad);
	Seal right(old_key, new_key, a.session.nonce, a.session.peer_nonce);
	EXPECT_EQ(right.open(answer, plain), Opened::opened);
}

TEST(SealKeys, EachGenerationHasItsOwn)
{
	constexpr std::uint64_t kMany = PIB_SEAL_GENERATION;
	const Key key(32, 7);
	Seal sender(key, key, 1, 2), receiver(key, key, 2, 1);
	std::map<std::uint64_t, Bytes> sent;
	for (std::uint64_t counter = 1; counter <= 4 * kMany; counter++) {
		Bytes bytes(PIB_DG_HDR_LEN + PIB_SEAL_LEN + 1);
		sender.close(bytes);
		for (const std::uint64_t change : {kMany, 3 * kMany, 4 * kMany})
			if (counter + 2 >= change && counter <= change + 1)
				sent[counter] = bytes;
	}
	const auto open = [&](std::uint64_t counter) {
		Bytes plain(sent.at(counter).size());
		return receiver.open(sent.at(counter), plain);
	};
	EXPECT_EQ(open(kMany - 2), Opened::opened);
	EXPECT_EQ(open(kMany + 1), Opened::opened);
	EXPECT_EQ(open(kMany), Opened::opened);
	EXPECT_EQ(open(kMany - 1), Opened::opened) << "of the generation before, late";
	EXPECT_EQ(open(3 * kMany - 1), Opened::opened) << "none of a whole generation came";
	EXPECT_EQ(open(3 * kMany + 1), Opened::opened);
	EXPECT_EQ(open(3 * kMany - 1), Opened::replayed);
	EXPECT_EQ(open(4 * kMany), Opened::opened);

	// A datagram sealed by one generation's key is opened by no other.
	Bytes moved = sent.at(4 * kMany - 1);
	pib_put64(&moved[PIB_DG_HDR_LEN], 4 * kMany + 1);
	Bytes plain(moved.size());
	EXPECT_EQ(receiver.open(moved, plain), Opened::bad);

	const SealKey session{};
	const SealKeys keys(session);
	EXPECT_NE(keys.find(1), session);
	EXPECT_EQ(keys.find(1), keys.find(kMany - 1));
	EXPECT_NE(keys.find(kMany - 1), keys.find(kMany));
	EXPECT_NE(keys.find(kMany), keys.find(2 * kMany));
}

TEST(SealKeys, AreWiped)
{
	alignas(Seal) std::array<std::uint8_t, sizeof(Seal)> memory{};
	Seal *seal = new (memory.data()) Seal(Key(32, 7), Key(32, 8), 1, 2);
	const auto filled = [&] {
		return std::count_if(memory.begin(), memory.end(), [](auto byte) { return byte; });
	};
	EXPECT_GT(filled(), 48);
	seal->~Seal();
	EXPECT_LT(filled(), 16);
}

TEST_F(Fabric, SealedDataIsTakenOnceAndUnchanged)
{
	start_keyed();
	join();
	w.deliver(a.at, a.data(get_node_info()));
	EXPECT_EQ(w.count(PIB_US_RX_UNSEALED), 1u);
	const Bytes good = a.sealed(get_node_info());
	for (std::size_t i = 0; i < good.size(); i++) {
		Bytes bad = good;
		bad[i] ^= 0x10;
		w.deliver(a.at, bad);
	}
	for (std::size_t length = 0; length < good.size(); length++)
		w.deliver(a.at, Bytes(good.begin(), good.begin() + static_cast<int>(length)));
	w.carry();
	EXPECT_TRUE(a.packets.empty());
	EXPECT_GE(w.count(PIB_US_RX_BAD_SEAL), good.size() - PIB_DG_HDR_LEN);
	w.deliver(a.at, good);
	w.deliver(a.at, good);
	w.carry();
	EXPECT_EQ(a.packets.size(), 1u);
	EXPECT_EQ(w.count(PIB_US_RX_REPLAYED), 1u);
}

TEST_F(Fabric, SealedDataOfAnOpenFabricIsNotTaken)
{
	start();
	join();
	Bytes bytes = a.data(get_node_info());
	bytes[1] |= PIB_DG_SEALED;
	w.deliver(a.at, bytes);
	w.carry();
	EXPECT_TRUE(a.packets.empty());
	EXPECT_EQ(w.count(PIB_US_RX_UNKNOWN_LINK), 1u);
}

TEST_F(Fabric, SealedDataOfAnotherSessionIsNotTaken)
{
	start_keyed();
	join();
	const Bytes old = a.sealed(get_node_info());
	a.restart();
	w.run(1000);
	ASSERT_TRUE(w.port_of(a)->link->established());
	Bytes moved = old;
	const Bytes now = a.sealed(get_node_info());
	std::copy_n(now.begin(), PIB_DG_HDR_LEN, moved.begin());
	w.deliver(a.at, old);
	w.deliver(a.at, moved);
	w.carry();
	EXPECT_TRUE(a.packets.empty());
	EXPECT_EQ(w.count(PIB_US_RX_BAD_SEAL), 1u);
	w.deliver(a.at, now);
	w.carry();
	EXPECT_EQ(a.packets.size(), 1u);
}

TEST_F(Fabric, SealedSuperPacketsOfPacketsAndOfSegments)
{
	start_keyed();
	join();
	for (const std::size_t length : {std::size_t{64}, std::size_t{2048}}) {
		Bytes all;
		std::size_t step = 0;
		for (int i = 0; i < 5; i++) {
			const Bytes one =
				a.sealed(make_packet({.slid = 2, .dlid = 3, .length = length}));
			step = one.size();
			all.insert(all.end(), one.begin(), one.end());
		}
		b.packets.clear();
		w.deliver(a.at, all, step);
		w.carry();
		EXPECT_EQ(b.packets.size(), 5u) << length;
	}
	EXPECT_FALSE(b.segments.empty());
}

TEST_F(Fabric, ThatTheKeysDifferIsKnownThoughItCannotBeProved)
{
	const std::string file = ::testing::TempDir() + "pibnetd_refused_key";
	std::ofstream(file) << std::string(32, 'k');
	start(R"({"switches": [{"name": "sw0", "ports": 4, "key_file": ")" + file +
	      R"("}], "cables": [["sw0/3", "udp:10.0.0.1"]]})");
	w.core.timers(w.now);
	const Link &link = *w.node().port(3).link;
	w.deliver(a.at, refusal_of(w.net, PIB_REFUSED_FULL));
	EXPECT_EQ(link.refusal(w.now), nullptr);
	w.deliver(a.at, refusal_of(w.net, PIB_REFUSED_KEY));
	EXPECT_STREQ(link.refusal(w.now), "the fabric's key is another one");
	EXPECT_EQ(w.count(PIB_US_RX_BAD_AUTHENTICATION), 2u);
}

} // namespace
} // namespace pib::netd
