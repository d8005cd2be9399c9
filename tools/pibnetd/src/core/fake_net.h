// SPDX-License-Identifier: GPL-2.0
// For tests: a network in memory, and peers that speak the protocol by themselves.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/core.h"

namespace pib::netd::fake {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kMs = PIB_NSEC_PER_MSEC;

struct Datagram {
	Address to;
	Bytes bytes;
	std::uint8_t tos = 0;
	Rank rank = Rank::management;
};

/// Keeps the datagrams that the daemon sends.
class Net final : public Wire {
public:
	void send(const Path &path, std::span<const iovec> parts, std::size_t segment,
		  std::uint8_t tos, Rank rank) override
	{
		management += rank == Rank::management;
		waiting.push_back({path.remote, {parts.begin(), parts.end()}, segment, tos, rank});
	}
	void flush() override;
	void answer(const Path &path, std::span<const std::uint8_t> bytes) override
	{
		sent.push_back({path.remote, {bytes.begin(), bytes.end()}});
		answers++;
	}
	std::size_t room(const Path &) override { return mtu - 28; }

	std::size_t mtu = 1500;
	std::deque<Datagram> sent;
	/// Super-packets and single datagrams that were sent.
	std::size_t messages = 0;
	/// Those of them that are management.
	std::size_t management = 0;
	/// Answers to strangers.
	std::size_t answers = 0;

private:
	struct Message {
		Address to;
		std::vector<iovec> parts;
		std::size_t segment;
		std::uint8_t tos;
		Rank rank;
	};
	std::vector<Message> waiting;
};

Address address(unsigned host, std::uint16_t port = kUdpPort);

/// An IB packet of a UD or an RC message, with its ICRC.
struct PacketSpec {
	std::uint16_t slid = 0;
	std::uint16_t dlid = 0;
	std::uint8_t sl = 0;
	std::uint32_t dqpn = 2;
	std::size_t length = 64;
	std::uint8_t fill = 0;
	std::uint16_t pkey = 0xFFFF;
	std::uint8_t tp = PIB_TP_UD;
	std::uint8_t op = PIB_OP_SEND;
};
Bytes make_packet(const PacketSpec &spec);
/// A MAD to QP0 or QP1.
Bytes make_mad_packet(std::uint16_t slid, std::uint16_t dlid, std::uint32_t qpn, const Bytes &mad,
		      std::uint16_t pkey = 0xFFFF);
/// A MAD to QP0, with a permissive LID, from any QP and on any VL.
Bytes make_stray_smp(std::uint32_t sqpn, std::uint8_t vl, const Bytes &mad);
Bytes make_smp(std::uint8_t method, std::uint16_t attribute, std::uint32_t modifier,
	       const Bytes &data = {});
/// Directed route, one hop: to the switch that the sender's port is plugged into.
Bytes directed(Bytes smp);

/// The far end of a link.
class Peer {
public:
	Peer(unsigned host, std::uint64_t guid, std::uint8_t port = 1);

	/// The address and so on as in a hello.
	pib_hello say() const;
	/// A control datagram of the peer's state machine, if it wants to send one now.
	std::optional<Bytes> tick(std::uint64_t now);
	/// A probe of flows' ports, in the present session.
	Bytes probe() const;
	/// A padded probe that is due, of an IP packet of up to mtu bytes.
	std::optional<Bytes> padded(std::uint32_t mtu, std::uint64_t now);
	/// A control datagram by which the peer ends its session.
	Bytes goodbye(std::uint64_t now);
	/// Takes in what the daemon sent.
	void hear(const Bytes &bytes, std::uint64_t now, std::vector<Bytes> &answers);
	Bytes data(const Bytes &packet) const;
	/// The packet as it travels in a keyed fabric.
	Bytes sealed(const Bytes &packet);
	/// A datagram CREDIT of the present session.
	Bytes credit(pib_credit_kind kind, std::uint64_t now, std::uint8_t vl = 0);
	/// The peer forgets everything.
	void restart();
	/// The peer has these keys from now on. The first byte of a key is its number.
	void rekey(const Key &first, const Key &second, std::uint64_t now);

	Address at;
	std::uint64_t guid;
	std::uint8_t port;
	std::uint32_t fabric = 0;
	std::uint32_t caps = PIB_CAP_SEGMENTS;
	Key key;
	Key second_key;
	/// It takes what is said to it by whatever key.
	bool credulous = false;
	pib_session session{};
	std::vector<Bytes> packets;
	/// How many of them came without an ICRC.
	std::size_t without_icrc = 0;
	/// Its windows; tests say what it takes in.
	pib_credits windows{};
	/// Those that the daemon has sent and that are authentic.
	std::vector<pib_credit_msg> credits;
	std::vector<pib_segment> segments;
	Frames frames;
	std::uint8_t refusal = 0;
	/// It was told that its flows come in.
	bool told_flows = false;
	/// Padded probes with larger datagrams get lost on the way to it.
	std::size_t carries = 65535;

private:
	Bytes build(std::uint64_t now);
	void hear_credit(const Bytes &bytes);
	Seal &session_seal();

	std::optional<Seal> seal;
};

/// A daemon's core and the peers around it.
struct World {
	World();

	Status configure(const std::string &json);
	void add(Peer &peer) { peers.push_back(&peer); }
	/// A datagram from there reaches the daemon.
	void deliver(const Address &from, const Bytes &bytes, std::size_t step = 0);
	/// Lets time pass, in steps of 10 ms.
	void run(unsigned ms);
	/// Lets the datagrams that the daemon has sent reach the peers.
	void carry();
	std::uint64_t count(pib_us_attr what) const { return core.stats().counts[what]; }
	/// Makes the peers' ports Active, and routes lid to port.
	void activate(Switch &node, std::uint8_t port);
	void route(Switch &node, std::uint16_t lid, std::uint8_t port);
	Switch &node(const std::string &name = "sw0") { return *core.find_switch(name); }
	Port *port_of(const Peer &peer);

	Net net;
	std::ostringstream logged;
	Log log{logged, LogFormat::text, LogLevel::debug};
	std::uint64_t seed = 1;
	std::uint64_t now = PIB_NSEC_PER_SEC;
	Stats stats;
	Core core;
	std::vector<Peer *> peers;
	/// Of what is delivered.
	std::uint8_t hop_limit = PIB_HOP_LIMIT;
	bool ce = false;
	/// The daemon's address that it goes to.
	Address local;
};

} // namespace pib::netd::fake
