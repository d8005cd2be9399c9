// SPDX-License-Identifier: GPL-2.0
// Peers come, get ports, move and go.
#include <gtest/gtest.h>

#include <fstream>

#include "core/fake_fabric.h"
#include "wire/ping.h"

namespace pib::netd {
namespace {

using namespace fake;

TEST_F(Fabric, PeersGetPortsAndComeUp)
{
	start();
	join();
	EXPECT_NE(w.port_of(a), w.port_of(b));
	EXPECT_TRUE(a.session.plugged);
	EXPECT_EQ(a.session.peer_node_guid, 0x0200000000000001u);
	EXPECT_EQ(a.session.peer_role, PIB_ROLE_SWITCH);
}

TEST_F(Fabric, ALostPeerRaisesTrap128)
{
	start();
	join();
	pib_port &p0 = w.node().port(0).p;
	p0.lid = 7;
	p0.sm_lid = 2;
	w.peers = {&a};
	w.run(3500);
	EXPECT_EQ(w.port_of(b), nullptr);
	ASSERT_FALSE(a.packets.empty());
	Packet trap;
	ASSERT_EQ(parse_packet(a.packets[0], trap), PIB_PARSE_OK);
	const std::uint8_t *mad = trap.bytes + trap.header_length;
	EXPECT_EQ(trap.h.dlid, 2);
	EXPECT_EQ(mad[PIB_MAD_METHOD], PIB_METHOD_TRAP);
	EXPECT_EQ(pib_get16(mad + PIB_MAD_DATA + 4), 128);
}

TEST_F(Fabric, WhoHasGoneIsNotCalled)
{
	start();
	join();
	w.peers = {};
	w.run(3000);
	const auto said = w.count(PIB_US_TX_DATAGRAMS);
	w.run(3000);
	EXPECT_EQ(w.count(PIB_US_TX_DATAGRAMS), said);
	w.peers = {&a, &b};
	w.run(1000);
	EXPECT_TRUE(w.port_of(a) && w.port_of(b));
}

TEST_F(Fabric, ARestartedPeerGetsItsPortBackAfterADown)
{
	start();
	join();
	Port *const had = w.port_of(a);
	const auto downed = had->counts.link_downed;
	a.restart();
	w.run(1500);
	EXPECT_EQ(w.port_of(a), had);
	EXPECT_EQ(had->counts.link_downed, downed + 1);
	EXPECT_EQ(had->p.state, PIB_PORT_INIT);
}

TEST_F(Fabric, ARestartedDaemonTakesItsPeersBackAtTheirPorts)
{
	start();
	join();
	const auto had_a = w.port_of(a)->p.num, had_b = w.port_of(b)->p.num;
	World again;
	again.now = w.now;
	again.seed = 99;
	ASSERT_TRUE(again.configure(kOne));
	again.core.set_reservations(w.core.ports().reservations());
	again.add(b);
	again.add(a);
	again.run(4000);
	ASSERT_TRUE(again.port_of(a) && again.port_of(b));
	EXPECT_EQ(again.port_of(a)->p.num, had_a);
	EXPECT_EQ(again.port_of(b)->p.num, had_b);
}

TEST_F(Fabric, OneTooManyIsRefusedAndToldWhy)
{
	start(R"({"switches": [{"name": "sw0", "ports": 2}]})");
	join();
	Peer c{3, 0xC0};
	w.add(c);
	w.run(1000);
	EXPECT_FALSE(c.session.plugged);
	EXPECT_EQ(c.refusal, PIB_REFUSED_FULL);
	EXPECT_GT(w.count(PIB_US_RX_NO_PORT), 0u);
	EXPECT_TRUE(w.port_of(a) && w.port_of(b));
}

TEST_F(Fabric, TheSecondSwitchTakesWhatTheFirstCannot)
{
	start(R"({"switches": [{"name": "sw0", "ports": 1}, {"name": "sw1", "ports": 1}]})");
	w.add(a);
	w.add(b);
	w.run(1000);
	ASSERT_TRUE(w.port_of(a) && w.port_of(b));
	EXPECT_NE(w.port_of(a)->owner, w.port_of(b)->owner);
}

TEST_F(Fabric, OtherFabricsAndClosedSwitchesRefuse)
{
	start(R"({"switches": [{"name": "sw0", "fabric": 5, "accept": false}]})");
	a.fabric = 6;
	b.fabric = 5;
	w.add(a);
	w.add(b);
	w.run(1000);
	EXPECT_EQ(a.refusal, PIB_REFUSED_FABRIC);
	EXPECT_EQ(b.refusal, PIB_REFUSED_CLOSED);
	EXPECT_GE(w.count(PIB_US_RX_OTHER_FABRIC), 1u);
}

TEST_F(Fabric, WhoSaysHelloInTheVersionBeforeIsToldSo)
{
	start();
	const auto says = [&](std::uint8_t type, std::uint32_t link_id) {
		pib_hello h = a.say();
		h.link_id = link_id;
		h.nonce = 99;
		Bytes bytes(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, type, 0, bytes.data());
		pib_hello_make_former(bytes.data());
		w.net.sent.clear();
		w.deliver(a.at, bytes);
		return w.net.sent;
	};
	EXPECT_TRUE(says(PIB_DG_HELLO, 0).empty());
	EXPECT_TRUE(says(PIB_DG_BYE, 7).empty());
	const auto answers = says(PIB_DG_HELLO, 7);
	ASSERT_EQ(answers.size(), 1u);
	const Bytes &bye = answers[0].bytes;
	ASSERT_EQ(bye.size(), std::size_t{PIB_HELLO_WIRE_LEN});
	EXPECT_EQ(bye[0], PIB_DG_FORMER << 4 | PIB_DG_BYE);
	EXPECT_EQ(pib_get32(&bye[4]), 7u);
	EXPECT_EQ(pib_get64(&bye[24]), 99u);
	EXPECT_EQ(pib_get64(&bye[32]), 0u) << "no GUID";
	EXPECT_EQ(bye[70], PIB_REFUSED_VERSION);
	EXPECT_EQ(w.count(PIB_US_RX_VERSION), 3u);
	for (int i = 0; i < 5; i++)
		says(PIB_DG_HELLO, 7);
	const std::string log = w.logged.str();
	const auto first = log.find("peer speaks version 1");
	ASSERT_NE(first, std::string::npos);
	EXPECT_EQ(log.find("peer speaks version 1", first + 1), std::string::npos) << "once";
}

TEST_F(Fabric, WhoGetsAPortIsAsTheSwitchAccepts)
{
	const auto comes = [](const std::string &accept, std::uint8_t hop_limit) {
		World world;
		Peer peer{1, 0xA0}, other{1, 0xA0, 2};
		const auto done =
			world.configure(R"({"switches": [{"name": "sw0", "ports": 4, "accept": ")" +
					accept + R"("}], "cables": [["sw0/3", "udp:10.0.0.1"]]})");
		EXPECT_TRUE(done);
		world.hop_limit = hop_limit;
		world.add(peer);
		world.run(500);
		EXPECT_TRUE(world.port_of(peer)) << "it is called";
		// The same host with another UDP port; and another host.
		other.at = address(1, 18515);
		Peer stranger{2, 0xB0};
		world.add(other);
		world.add(stranger);
		world.run(1000);
		EXPECT_EQ(stranger.refusal == PIB_REFUSED_CLOSED, !world.port_of(stranger));
		EXPECT_EQ(world.count(PIB_US_RX_STRANGER) > 0,
			  !world.port_of(stranger) || !world.port_of(other));
		return std::pair(world.port_of(other) != nullptr,
				 world.port_of(stranger) != nullptr);
	};
	EXPECT_EQ(comes("anybody", 64), std::pair(true, true));
	EXPECT_EQ(comes("link", 255), std::pair(true, true));
	EXPECT_EQ(comes("link", 254), std::pair(true, false));
	EXPECT_EQ(comes("peers", 255), std::pair(true, false));
	EXPECT_EQ(comes("nobody", 255), std::pair(false, false));
}

TEST_F(Fabric, WhoIsForgedGetsNoMoreThanIsSaidInItsName)
{
	start();
	unsigned said = 0;
	for (; said < 3; said++) {
		pib_hello h = a.say();
		h.link_id = 7;
		h.nonce = 99;
		h.seq = said + 1;
		Bytes bytes(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
		w.deliver(a.at, bytes);
		w.run(700);
	}
	w.run(5000);
	EXPECT_EQ(w.count(PIB_US_TX_DATAGRAMS), said);
}

/// The answer to a host that asks who is there, or asks for a port.
class Curious : public Fabric {
protected:
	/// Nothing: no answer.
	std::optional<pib_hello> hears(const std::string &accept, std::uint8_t hop_limit,
				       std::uint32_t caps, const Key &key = {})
	{
		World world;
		Config config = *parse_config(
			R"({"switches": [{"name": "sw0", "ports": 4, "description": "secret",
					  "guid": "0x0200000000000001", "accept": ")" +
			accept + R"("}], "cables": [["sw0/3", "udp:10.0.0.2"]]})");
		config.switches[0].key = key;
		EXPECT_TRUE(world.core.configure(config, world.now));
		pib_hello h = a.say();
		h.caps |= caps;
		h.link_id = caps & PIB_CAP_PROBE ? 0 : 7;
		h.nonce = 99;
		Bytes bytes(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
		world.hop_limit = hop_limit;
		world.deliver(a.at, bytes);
		refused_strangers = world.count(PIB_US_RX_STRANGER);
		std::uint32_t to = 0;
		std::uint8_t type = 0;
		if (world.net.sent.size() != 1 ||
		    pib_hello_parse(&h, &type, &to, world.net.sent[0].bytes.data(),
				    PIB_HELLO_WIRE_LEN))
			return {};
		EXPECT_EQ(type == PIB_DG_BYE, h.refusal != 0);
		return h;
	}
	/// True if that is told, and no reason; false if the reason is told, and nothing else.
	bool tells(const std::optional<pib_hello> &heard, std::uint8_t why)
	{
		EXPECT_TRUE(heard);
		if (!heard)
			return false;
		EXPECT_EQ(heard->peer_nonce, 99u);
		if (!heard->refusal)
			return heard->node_guid && std::string(heard->desc) == "secret";
		EXPECT_EQ(heard->refusal, why);
		EXPECT_EQ(heard->node_guid | heard->port_guid, 0u);
		EXPECT_STREQ(heard->desc, pib_hello_refusal_text(why));
		return false;
	}

	std::uint64_t refused_strangers = 0;
};

TEST_F(Curious, WhoWouldGetNoPortIsToldNothing)
{
	for (const std::uint32_t caps : {std::uint32_t{PIB_CAP_PROBE}, 0u}) {
		const auto told = [&](const std::string &accept, std::uint8_t hop_limit) {
			return tells(hears(accept, hop_limit, caps), PIB_REFUSED_CLOSED);
		};
		EXPECT_TRUE(told("anybody", 64));
		EXPECT_TRUE(told("link", 255));
		EXPECT_EQ(refused_strangers, 0u);
		EXPECT_FALSE(told("link", 254));
		EXPECT_EQ(refused_strangers, 1u);
		EXPECT_FALSE(told("peers", 255));
		EXPECT_FALSE(told("nobody", 255));
		EXPECT_EQ(refused_strangers, 1u);
		a.at = address(2);
		EXPECT_TRUE(caps == 0 || told("peers", 64)) << "its host is called";
		a.at = address(1);
		EXPECT_FALSE(tells(hears("anybody", 255, caps, Key(32, 7)), PIB_REFUSED_KEY));
	}
}

/// The first hello of a, and what it says when it has heard the answer.
class Stranger : public Fabric {
protected:
	void greet()
	{
		w.net.sent.clear();
		hello = *a.tick(w.now);
		w.deliver(a.at, hello);
		ASSERT_EQ(w.net.sent.size(), 1u);
		answer = w.net.sent[0].bytes;
		EXPECT_EQ(answer.size(), hello.size());
		std::vector<Bytes> said;
		a.hear(answer, w.now, said);
		ASSERT_EQ(said.size(), 1u);
		echo = said[0];
	}
	std::size_t links()
	{
		std::size_t n = 0;
		for (const auto &port : w.node().ports)
			n += port->link != nullptr;
		return n;
	}
	bool kept_nothing() { return !links() && w.core.ports().reservations().empty(); }

	Bytes hello, answer, echo;
};

TEST_F(Stranger, GetsAPortWhenItShowsThatItHears)
{
	start();
	greet();
	EXPECT_TRUE(kept_nothing());
	EXPECT_FALSE(a.session.plugged) << "there is no port yet";
	w.deliver(address(9), echo);
	w.deliver(address(1, 18515), echo);
	EXPECT_TRUE(kept_nothing()) << "it was not said there";
	EXPECT_EQ(w.count(PIB_US_RX_UNKNOWN_LINK), 2u);
	w.deliver(a.at, echo);
	EXPECT_TRUE(w.port_of(a));
	w.add(a);
	w.carry();
	EXPECT_TRUE(a.session.plugged);
	EXPECT_EQ(a.session.restarts, 0u);
	EXPECT_EQ(a.session.peer_port_num, w.port_of(a)->p.num);
}

TEST_F(Stranger, ThatComesAgainLeavesNoGhost)
{
	start();
	greet();
	w.now += 2 * PIB_COOKIE_NS;
	w.deliver(a.at, echo);
	EXPECT_TRUE(kept_nothing()) << "it comes too late";
	a.restart();
	greet();
	w.deliver(a.at, echo);
	ASSERT_EQ(links(), 1u);
	// The port is needed, so its link goes at once.
	ASSERT_TRUE(w.configure(
		R"({"switches": [{"name": "sw0", "ports": 4, "guid": "0x0200000000000001"}],
		    "cables": [["sw0/1", "udp:10.0.0.9"]]})"));
	ASSERT_EQ(links(), 1u) << "that one is called";
	for (const Bytes &old : {hello, echo, hello, echo})
		w.deliver(a.at, old);
	EXPECT_EQ(links(), 1u);
}

TEST_F(Stranger, ThatIsNoMoreIsNotKeptByWhatItSaidOnce)
{
	start();
	greet();
	w.deliver(a.at, echo);
	ASSERT_EQ(links(), 1u);
	for (int i = 0; i < 70; i++) {
		w.deliver(a.at, hello);
		w.deliver(a.at, echo);
		w.run(1000);
	}
	EXPECT_EQ(links(), 0u);
}

TEST_F(Stranger, IsRefusedIfThePortIsGoneMeanwhile)
{
	start(R"({"switches": [{"name": "sw0", "ports": 1}]})");
	greet();
	w.add(b);
	w.run(500);
	ASSERT_TRUE(w.port_of(b));
	w.add(a);
	w.deliver(a.at, echo);
	w.carry();
	EXPECT_EQ(a.refusal, PIB_REFUSED_FULL);
	EXPECT_EQ(links(), 1u);
}

TEST_F(Stranger, IsAskedAboutAgainBeforeItGetsAPort)
{
	start();
	greet();
	ASSERT_TRUE(w.configure(R"({"switches": [{"name": "sw0", "ports": 4, "accept": "nobody",
		"guid": "0x0200000000000001"}]})"));
	w.add(a);
	w.deliver(a.at, echo);
	w.carry();
	EXPECT_TRUE(kept_nothing());
	EXPECT_EQ(a.refusal, PIB_REFUSED_CLOSED);
}

TEST_F(Stranger, IsAnsweredThoughOthersAreReplayed)
{
	start();
	std::vector<Bytes> old;
	for (int i = 0; i < 2; i++) {
		a.restart();
		old.push_back(*a.tick(w.now));
	}
	a.restart();
	w.add(a);
	for (int ms = 0; ms < 1000 && !w.port_of(a); ms += 10) {
		for (int i = 0; i < 300; i++)
			w.deliver(a.at, old[static_cast<std::size_t>(i % 2)]);
		w.run(10);
	}
	EXPECT_TRUE(w.port_of(a));
	EXPECT_EQ(links(), 1u);
}

class Mover : public Fabric {
protected:
	/// The peer's next datagram in its session.
	Bytes next()
	{
		for (;; w.now += 10 * kMs)
			if (const auto said = a.tick(w.now))
				return *said;
	}
	Link &link() { return *w.port_of(a)->link; }
	/// Datagrams that the daemon has sent to the address.
	std::vector<Bytes> sent_to(const Address &to)
	{
		std::vector<Bytes> found;
		for (const Datagram &each : std::exchange(w.net.sent, {}))
			if (each.to == to)
				found.push_back(each.bytes);
		return found;
	}
	/// The peer's answers to what was said there.
	std::vector<Bytes> answers_to(const std::vector<Bytes> &all)
	{
		std::vector<Bytes> answers;
		for (const Bytes &each : all)
			a.hear(each, w.now, answers);
		return answers;
	}

	const Address home = a.at, elsewhere = address(9);
};

TEST_F(Mover, APeerMayMoveButItsRecordedDatagramsMoveNothing)
{
	start();
	join();
	const Bytes recorded = next();
	w.deliver(home, recorded);
	w.deliver(elsewhere, recorded);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 1u);
	EXPECT_EQ(link().path.remote, home);
	EXPECT_TRUE(sent_to(elsewhere).empty());
	w.deliver(elsewhere, next());
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 2u);
	EXPECT_EQ(link().path.remote, home) << "it is asked first";
	const auto answers = answers_to(sent_to(elsewhere));
	ASSERT_EQ(answers.size(), 1u);
	w.deliver(address(8), answers[0]);
	EXPECT_EQ(link().path.remote, home) << "another address was asked";
	w.deliver(elsewhere, answers[0]);
	EXPECT_EQ(link().path.remote, elsewhere);
	w.deliver(home, answers[0]);
	EXPECT_EQ(link().path.remote, elsewhere);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 4u);
	const auto restarts = link().session.restarts;
	a.at = elsewhere;
	w.run(5000);
	EXPECT_EQ(link().session.restarts, restarts) << "in the same session";
	EXPECT_EQ(link().path.remote, elsewhere);
}

/// As behind a NAT that gives it another port.
TEST_F(Mover, AnotherPortIsAnotherAddress)
{
	start();
	join();
	const Address port = address(1, 600);
	w.deliver(port, next());
	EXPECT_EQ(link().path.remote, home);
	for (const Bytes &answer : answers_to(sent_to(port)))
		w.deliver(port, answer);
	EXPECT_EQ(link().path.remote, port);
}

/// A peer that says what it likes: all that it knows of the session, but not what only the other
/// address was told.
TEST_F(Mover, WhoDoesNotHearThereMovesNothing)
{
	start();
	join();
	std::size_t said = 0, asked = 0;
	for (unsigned ahead = 0; ahead < 100; ahead++, w.now += 10 * kMs) {
		for (const std::uint8_t type : {PIB_DG_HELLO, PIB_DG_HELLO_ACK, PIB_DG_KEEPALIVE}) {
			pib_hello h = a.say();
			h.link_id = a.session.local_id;
			h.nonce = a.session.nonce;
			h.peer_nonce = a.session.peer_nonce;
			h.seq = ++a.session.tx_seq;
			h.ack = a.session.rx_seq + ahead;
			Bytes bytes(PIB_HELLO_WIRE_LEN);
			pib_hello_build(&h, type, a.session.remote_id, bytes.data());
			w.deliver(elsewhere, bytes);
			said++;
		}
		ASSERT_EQ(link().path.remote, home);
		for (const Bytes &each : sent_to(elsewhere)) {
			EXPECT_EQ(each.size(), std::size_t{PIB_HELLO_WIRE_LEN});
			asked++;
		}
	}
	EXPECT_GT(asked, 0u);
	EXPECT_LE(asked, said / 25) << "ten in a second";
	EXPECT_TRUE(w.port_of(a));
}

/// A peer that has taken all that another one is known by for its own, to have that one answer.
TEST_F(Mover, WhoHasTakenTheSessionOfAnotherDoesNotMoveThere)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}], "cables": [["sw0/3", "udp:10.0.0.2"]]})");
	w.add(b);
	w.run(500);
	Port *const other = w.port_of(b);
	ASSERT_TRUE(other);
	a.guid = b.guid;
	a.session.local_id = b.session.local_id;
	a.session.nonce = b.session.nonce;
	w.add(a);
	w.run(500);
	Link *mine = nullptr;
	for (const auto &port : w.node().ports)
		if (port->link && port->link->path.remote == home)
			mine = port->link;
	ASSERT_TRUE(mine && mine->established());
	ASSERT_TRUE(other->link->established());
	a.session.tx_seq = b.session.tx_seq - 1;
	mine->session.rx_seq = mine->session.stray_seq = a.session.tx_seq - 1;
	w.net.sent.clear();
	w.deliver(b.at, next());
	std::vector<Bytes> answers;
	for (const Bytes &each : sent_to(b.at))
		b.hear(each, w.now, answers);
	ASSERT_EQ(answers.size(), 1u) << "it answers what it was asked";
	w.deliver(b.at, answers[0]);
	EXPECT_EQ(mine->path.remote, home);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 2u);
}

TEST_F(Mover, WhoSaysGoodbyeNeedsNoAddress)
{
	start();
	join();
	const Link &had = link();
	w.deliver(elsewhere, a.goodbye(w.now));
	EXPECT_FALSE(had.established());
	EXPECT_EQ(had.path.remote, home);
	EXPECT_TRUE(sent_to(elsewhere).empty());
}

/// A session that follows another one can be foreseen.
TEST_F(Mover, WhoHadASessionHasNoLinkComeUpElsewhere)
{
	start();
	join();
	Link &had = link();
	w.deliver(home, a.goodbye(w.now));
	ASSERT_FALSE(had.established());
	w.net.sent.clear();
	pib_hello h = a.say();
	h.link_id = 7;
	h.nonce = 99;
	h.peer_nonce = had.session.nonce;
	h.ack = had.session.tx_seq + 1;
	for (const std::uint32_t to : {had.id(), 0u}) {
		for (const std::uint8_t type : {PIB_DG_HELLO, PIB_DG_HELLO_ACK, PIB_DG_KEEPALIVE}) {
			h.seq++;
			Bytes bytes(PIB_HELLO_WIRE_LEN);
			pib_hello_build(&h, type, to, bytes.data());
			w.deliver(elsewhere, bytes);
		}
	}
	EXPECT_FALSE(had.established());
	EXPECT_EQ(had.path.remote, home);
	EXPECT_EQ(sent_to(elsewhere).size(), 1u) << "an answer that it could echo";
}

TEST_F(Mover, WithAKeyItIsTheSame)
{
	start_keyed();
	join();
	w.deliver(elsewhere, next());
	EXPECT_EQ(link().path.remote, home);
	for (const Bytes &answer : answers_to(sent_to(elsewhere)))
		w.deliver(elsewhere, answer);
	EXPECT_EQ(link().path.remote, elsewhere);
}

/// A daemon has several addresses; a peer expects answers from the one that it sends to.
TEST_F(Fabric, APeerMaySendToAnotherAddressButItsRecordedDatagramsChangeNothing)
{
	start();
	w.local = address(100);
	join();
	const auto next = [&] {
		for (;; w.now += 10 * kMs)
			if (const auto said = a.tick(w.now))
				return *said;
	};
	const Link &link = *w.port_of(a)->link;
	const Bytes recorded = next();
	w.deliver(a.at, recorded);
	w.local = address(101);
	w.deliver(a.at, recorded);
	EXPECT_EQ(link.path.local, address(100));
	w.deliver(a.at, next());
	EXPECT_EQ(link.path.local, address(101));
	w.deliver(a.at, a.goodbye(w.now));
	ASSERT_FALSE(link.established());
	w.local = address(100);
	a.restart();
	w.deliver(a.at, next());
	EXPECT_EQ(link.path.local, address(100)) << "it is down: there is nothing to lose";
}

TEST_F(Fabric, WhoWouldGetNoPortDoesNotTakeThatOfAPeerThatIsAway)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4, "accept": "link"}]})");
	join();
	const Address home = a.at;
	Port &port = *w.port_of(a);
	w.deliver(home, a.goodbye(w.now));
	ASSERT_FALSE(port.link->established());
	const auto comes = [&](std::uint8_t hop_limit, std::uint32_t to) {
		pib_hello h = a.say();
		h.link_id = 7;
		h.nonce = 99;
		h.seq = 1;
		Bytes bytes(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, PIB_DG_HELLO, to, bytes.data());
		w.hop_limit = hop_limit;
		w.deliver(address(9), bytes);
		w.hop_limit = PIB_HOP_LIMIT;
	};
	comes(254, 0);
	comes(254, port.link->session.local_id);
	EXPECT_EQ(w.count(PIB_US_RX_WRONG_ADDRESS), 2u);
	EXPECT_EQ(port.link->path.remote, home);
	w.net.sent.clear();
	comes(255, 0);
	EXPECT_EQ(port.link->path.remote, home) << "it has not shown that it hears";
	ASSERT_EQ(w.net.sent.size(), 1u);
	EXPECT_EQ(w.net.sent[0].to, address(9));
	pib_hello h = a.say();
	h.link_id = 7;
	h.nonce = 99;
	h.seq = 2;
	h.peer_nonce = pib_get64(&w.net.sent[0].bytes[16]);
	h.ack = pib_get32(&w.net.sent[0].bytes[60]);
	Bytes echo(PIB_HELLO_WIRE_LEN);
	pib_hello_build(&h, PIB_DG_KEEPALIVE, pib_get32(&w.net.sent[0].bytes[12]), echo.data());
	w.deliver(address(8), echo);
	EXPECT_EQ(port.link->path.remote, home);
	w.deliver(address(9), echo);
	EXPECT_EQ(port.link->path.remote, address(9));
	a.restart();
	w.run(3000);
	EXPECT_EQ(w.port_of(a), &port) << "the peer is back";
	EXPECT_EQ(port.link->path.remote, home);
}

TEST_F(Fabric, AnUnpluggedPortIsDownAtBothEnds)
{
	start();
	join();
	Port &port = *w.port_of(a);
	w.core.plug(port, false, w.now);
	w.run(500);
	EXPECT_EQ(port.p.state, PIB_PORT_DOWN);
	EXPECT_FALSE(a.session.plugged);
	w.core.plug(port, true, w.now);
	w.run(500);
	EXPECT_EQ(port.p.state, PIB_PORT_INIT);
	EXPECT_TRUE(a.session.plugged);
}

TEST_F(Fabric, ReloadTouchesOnlyWhatChanged)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}]})");
	join();
	const auto downed = w.port_of(a)->counts.link_downed;
	ASSERT_TRUE(w.configure(R"({"switches": [{"name": "sw0", "ports": 4, "description": "core"},
                                           {"name": "sw1", "ports": 2}],
                              "cables": [["sw0/4", "sw1/1"]]})"));
	EXPECT_EQ(w.port_of(a)->counts.link_downed, downed);
	EXPECT_EQ(w.port_of(a)->p.state, PIB_PORT_ACTIVE);
	EXPECT_STREQ(w.node().node.desc, "core");
	EXPECT_EQ(w.node("sw1").port(1).p.state, PIB_PORT_INIT);
	ASSERT_TRUE(w.configure(
		R"({"switches": [{"name": "sw0", "ports": 4, "description": "core"}]})"));
	EXPECT_EQ(w.node().port(4).p.state, PIB_PORT_DOWN);
	EXPECT_EQ(w.core.find_switch("sw1"), nullptr);
	// Another size is another switch: its peers come back.
	ASSERT_TRUE(w.configure(R"({"switches": [{"name": "sw0", "ports": 8}]})"));
	EXPECT_EQ(w.port_of(a), nullptr);
	w.run(3000);
	EXPECT_TRUE(w.port_of(a) && w.port_of(b));
}

TEST_F(Fabric, ConfiguredLinksCallTheirPeer)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}], "cables": [["sw0/3", "udp:10.0.0.1"]]})");
	w.add(a);
	w.run(1000);
	ASSERT_TRUE(w.port_of(a));
	EXPECT_EQ(w.port_of(a)->p.num, 3);
}

/// The daemon's address in the last session may be gone: then nothing leaves from there.
TEST_F(Fabric, APeerThatIsLostIsCalledFromAnyAddress)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}], "cables": [["sw0/3", "udp:10.0.0.1"]]})");
	w.local = address(100);
	w.add(a);
	w.run(1000);
	const Link &link = *w.node().port(3).link;
	ASSERT_TRUE(link.established());
	EXPECT_EQ(link.path.local, address(100));
	w.peers.clear();
	w.run(PIB_DEAD_MS + 500);
	ASSERT_FALSE(link.established());
	EXPECT_EQ(link.path.local, Address{});
	EXPECT_EQ(link.path.remote, a.at);
}

TEST_F(Fabric, WhyThePeerHasNoPortIsKnownWhileItSaysSo)
{
	start(R"({"switches": [{"name": "sw0", "ports": 4}], "cables": [["sw0/3", "udp:10.0.0.1"]]})");
	w.core.timers(w.now);
	const Link &link = *w.node().port(3).link;
	EXPECT_EQ(link.refusal(w.now), nullptr);
	const Bytes refusal = refusal_of(w.net, PIB_REFUSED_FULL);
	w.deliver(b.at, refusal);
	EXPECT_EQ(link.refusal(w.now), nullptr) << "not from there";
	w.deliver(a.at, refusal);
	EXPECT_STREQ(link.refusal(w.now), "every port is taken");
	w.run(11000);
	EXPECT_EQ(link.refusal(w.now), nullptr);
}

TEST_F(Fabric, WhoHearsBadlyDoesNotCallPeersDead)
{
	start();
	join();
	w.peers.clear();
	for (int i = 0; i < 1000; i++) {
		w.core.deaf(w.now);
		w.run(10);
	}
	EXPECT_TRUE(w.port_of(a) && w.port_of(b));
	w.run(PIB_DEAD_MS + 500);
	EXPECT_FALSE(w.port_of(a) || w.port_of(b));
}

TEST_F(Fabric, ATopologyFileSaysWhereHostsAre)
{
	const std::string file = ::testing::TempDir() + "pibnetd_places.net";
	std::ofstream(file)
		<< "switchguid=0x10\nSwitch 4 \"S\"\n[2] \"A\"[1]\n[3] \"B\"[1]\n"
		   "caguid=0xb0\nHca 1 \"A\"\n[1] \"S\"[2]\ncaguid=0x77\nHca 1 \"B\"\n[1] \"S\"[3]\n";
	start(R"({"topology": {"file": ")" + file + R"("}})");
	Peer c{3, 0xC0};
	for (Peer *peer : {&b, &a, &c}) {
		w.add(*peer);
		w.run(500);
	}
	ASSERT_TRUE(w.port_of(b));
	EXPECT_EQ(w.port_of(b)->p.num, 2);
	ASSERT_TRUE(w.port_of(a));
	EXPECT_EQ(w.port_of(a)->p.num, 3);
	EXPECT_FALSE(w.port_of(c));
	EXPECT_EQ(c.refusal, PIB_REFUSED_FULL);
}

TEST_F(Fabric, PingsComeBackAndHellosAreAnsweredWithoutALink)
{
	start();
	Ping ping;
	ping.run = 42;
	w.deliver(a.at, build_ping(ping, 1000, {}));
	ASSERT_EQ(w.net.sent.size(), 1u);
	EXPECT_EQ(w.net.sent[0].bytes.size(), 1000u);
	const auto pong = parse_ping(w.net.sent[0].bytes);
	ASSERT_TRUE(pong);
	EXPECT_EQ(pong->type, PIB_DG_PONG);
	EXPECT_EQ(pong->run, 42u);
	EXPECT_EQ(pong->software, PingSoftware::pibnetd);
	EXPECT_TRUE(pong->flags & kPingFabric);
	w.net.sent.clear();
	// A pong is not answered: two daemons would play for ever.
	w.deliver(a.at, [&] {
		Bytes b2 = build_ping(ping, 100, {});
		b2[0] = 0x1F;
		return b2;
	}());
	EXPECT_TRUE(w.net.sent.empty());

	pib_hello h = a.say();
	h.caps = PIB_CAP_PROBE;
	h.nonce = 99;
	Bytes bytes(PIB_HELLO_WIRE_LEN);
	pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
	w.deliver(a.at, bytes);
	ASSERT_EQ(w.net.sent.size(), 1u);
	std::uint32_t to = 0;
	std::uint8_t type = 0;
	ASSERT_EQ(pib_hello_parse(&h, &type, &to, w.net.sent[0].bytes.data(), bytes.size()), 0);
	EXPECT_EQ(type, PIB_DG_HELLO_ACK);
	EXPECT_EQ(h.peer_nonce, 99u);
	for (unsigned i = 1; i <= 4; i++)
		EXPECT_EQ(w.node().port(i).link, nullptr);

	// More of them in a second than are answered are counted, of both kinds.
	w.net.sent.clear();
	for (unsigned i = 0; i < 3000; i++)
		w.deliver(a.at, i % 2 ? bytes : build_ping(ping, 100, {}));
	EXPECT_LE(w.net.sent.size(), 2000u);
	EXPECT_EQ(w.net.sent.size() + w.count(PIB_US_RX_STRANGER), 3000u);
}

TEST_F(Fabric, AStrangerLeavesOthersTheirRefusals)
{
	start();
	a.fabric = b.fabric = 6;
	const auto greet = [&](Peer &peer, std::uint64_t nonce) {
		pib_hello h = peer.say();
		h.link_id = 7;
		h.nonce = nonce;
		Bytes bytes(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
		w.deliver(peer.at, bytes);
	};
	unsigned told = 0;
	for (unsigned i = 0; i < 100; i++, w.now += PIB_NSEC_PER_SEC / 2) {
		for (unsigned k = 0; k < 3000; k++)
			greet(a, i * 3000 + k + 1);
		w.net.sent.clear();
		greet(b, 7);
		told += w.net.sent.size() == 1;
	}
	EXPECT_GT(told, 60u);
}

TEST_F(Fabric, PingsAreLimitedInBytesAndLeaveAnswersToOthers)
{
	start();
	const Bytes ping = build_ping({}, 60000, {});
	for (int i = 0; i < 100; i++)
		w.deliver(a.at, ping);
	const Bytes small = build_ping({}, kPingLeast, {});
	for (int i = 0; i < 3000; i++)
		w.deliver(a.at, small);
	std::size_t bytes = 0;
	for (const Datagram &each : w.net.sent)
		bytes += each.bytes.size();
	EXPECT_GE(w.net.sent.size(), 500u);
	EXPECT_GE(bytes, 500'000u);
	EXPECT_LE(bytes, 1u << 20);
	EXPECT_EQ(w.count(PIB_US_RX_STRANGER), 3100 - w.net.sent.size());
	w.net.sent.clear();
	a.fabric = 6;
	w.deliver(a.at, *a.tick(w.now));
	EXPECT_EQ(w.net.sent.size(), 1u) << "a refusal";
	w.now += PIB_NSEC_PER_SEC;
	w.deliver(a.at, ping);
	EXPECT_EQ(w.net.sent.size(), 2u);
}

/// Nobody says anything for ten minutes: no other deadline wakes the switch.
TEST_F(Fabric, PortsOfTheDeadAreFreeWhenAllAreDead)
{
	start(R"({"switches": [{"name": "sw0", "ports": 2}]})");
	join();
	ASSERT_TRUE(w.port_of(a) && w.port_of(b));
	w.peers = {};
	w.run(600000);
	Peer c{3, 0xC0};
	w.add(c);
	w.run(10000);
	EXPECT_TRUE(w.port_of(c));
}

} // namespace
} // namespace pib::netd
