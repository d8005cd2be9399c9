// SPDX-License-Identifier: GPL-2.0
// The daemon without its I/O: switches, sessions with peers, and what passes between them.
// Time comes in, datagrams come in and go out.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "core/budget.h"
#include "core/port_finder.h"
#include "switch/forward.h"
#include "util/log.h"

namespace pib::netd {

/// Drop says which keys may go.
enum class Drop {
	/// Keys may go by which no link is up, or was a moment ago.
	unused,
	/// All keys may go: links by them go down.
	forced,
};

/// The number of the key by which a control datagram is authentic, 0: its fabric has none; or of
/// that of a CREDIT, which names no fabric. Nothing: it is not, or the datagram is neither.
using HelloKey = std::optional<std::uint32_t>;

class Core {
public:
	/// random gives 64 bits that nobody can guess. The core counts in stats, as does the wire.
	Core(Wire &wire, Stats &stats, Log &log, std::function<std::uint64_t()> random);

	/// Makes switches and cables as the configuration says; what is unchanged stays as it is.
	/// A refusal changes nothing.
	Status configure(const Config &config, std::uint64_t now, Drop drop = Drop::unused);
	/// Refuses if configure() would for its keys.
	Status check_keys(const Config &config, std::uint64_t now, Drop drop) const;
	/// Says goodbye to all peers.
	void close(std::uint64_t now);

	/// Checks the control datagrams and CREDITs among those that arrived; to keys comes one for
	/// each of all. Needs no lock: keys change by configure() alone, and then nobody receives.
	void check_hellos(const Arrival &arrival, std::vector<HelloKey> &keys) const;
	/// Answers the PINGs among them by answers, and counts them in stats. Needs no lock, as
	/// check_hellos().
	void reflect(const Arrival &arrival, Wire &answers, Stats &stats, std::uint64_t now);
	/// Takes in what arrived, and was checked. Returns how many datagrams. The datagrams that
	/// follow from it are sent by flush(). Until then the bytes must stay.
	std::size_t receive(const Arrival &arrival, std::span<const HelloKey> keys,
			    std::uint64_t now);
	void flush(std::uint64_t now);
	/// As flush(), but leaves it to the caller to flush the wire, for which no lock is needed,
	/// and then to drop the batch. Nothing: it was flushed, since what was sent has an order.
	std::optional<Batch> gather(std::uint64_t now);
	void timers(std::uint64_t now);
	/// Datagrams were dropped unseen, or still wait, because the daemon is slower than they
	/// come: what peers seem not to have said may be among them.
	void deaf(std::uint64_t now) { deaf_at_ = now; }
	/// When timers() wants to be called, ns.
	std::uint64_t deadline() const
	{
		return std::min({deadline_, forwarder_.pipes_due(), forwarder_.asks_due()});
	}

	// The control socket shows and changes these.
	const std::vector<std::unique_ptr<Switch>> &switches() const { return switches_; }
	const Stats &stats() const { return stats_; }
	const DataClass &data_class() const { return forwarder_.data_class(); }
	/// VLs have windows on links to peers that want that, too.
	bool windows() const { return windows_; }
	Switch *find_switch(std::string_view name);
	Result<Port *> find_port(const model::End &end);
	/// The user pulls the cable out of the port, or puts it back.
	void plug(Port &port, bool plugged, std::uint64_t now);
	/// Changes the faults of the cable under the port. They last as long as the cable.
	void change_faults(Port &port, const model::LinkChange &change, std::uint64_t now);

	const PortFinder &ports() const { return ports_; }
	void set_reservations(const std::vector<Reservation> &all) { ports_.set_reservations(all); }

private:
	friend class CoreTest;

	/// The core sends no more than this to those with whom there is no session.
	static constexpr unsigned kAnswersPerSecond = 1000;
	static constexpr std::size_t kAnswerBytesPerSecond = kAnswersPerSecond * PIB_HELLO_WIRE_LEN;
	static constexpr std::size_t kPongBytesPerSecond = 1 << 20;

	/// A peer was answered in this session, and told this link id.
	struct Answered {
		std::uint32_t id;
		std::uint64_t nonce;
	};

	// core.cc: what datagrams hold
	void datagram(const Arrival &arrival, std::span<const std::uint8_t> bytes, HelloKey key,
		      std::uint64_t now);
	Link *data_link(const Arrival &arrival, const pib_dg &header);
	void data(const Arrival &arrival, const pib_dg &header, std::span<const std::uint8_t> bytes,
		  std::uint64_t now);
	std::span<const std::uint8_t> opened(Link &link, const pib_dg &header,
					     std::span<const std::uint8_t> bytes);
	std::size_t pass_whole(const Arrival &arrival);
	void segment(Link &link, std::span<const std::uint8_t> bytes, bool ce, std::uint64_t now);
	void frame(Link &link, Frame frame, std::uint64_t now);
	std::size_t packet(Link &link, std::span<const std::uint8_t> bytes, bool noicrc, bool ce,
			   std::uint64_t now);
	void mark(Packet &packet);

	// credits.cc
	HelloKey credit_key(std::span<const std::uint8_t> bytes) const;
	void credit(const Arrival &arrival, std::span<const std::uint8_t> bytes, HelloKey key,
		    std::uint64_t now);
	void say_credit(Link &link, pib_credit_kind kind, std::uint8_t vl, std::uint64_t now);
	bool ask(Link &link, std::uint64_t now);
	void keep_credit(Link &link, std::uint64_t now);
	void ask_held(std::uint64_t now);
	void settle_credits(Link &link);

	// sessions.cc
	std::uint32_t key_number(const Key &key);
	void number_keys(Switch &node);
	void forget_keys();
	bool authentic(const Switch &node, pib_hello &h, std::span<const std::uint8_t> bytes) const;
	HelloKey hello_key(std::span<const std::uint8_t> bytes) const;
	const Key &key_of(const Switch &node, std::uint32_t number) const;
	void rekey(Link &link, std::uint64_t now);
	void control(const Arrival &arrival, std::span<const std::uint8_t> bytes, HelloKey key,
		     std::uint64_t now);
	void greet(const Arrival &arrival, pib_hello &h, std::uint8_t type, HelloKey key,
		   std::uint64_t now);
	bool answer_is_due(const Path &path, const pib_hello &h, std::uint8_t why,
			   std::uint64_t now);
	void refuse(const Path &path, const pib_hello &h, std::uint8_t why, std::uint64_t now);
	void refuse_former(const Path &path, std::span<const std::uint8_t> bytes,
			   std::uint64_t now);
	void answer_probe(const Arrival &arrival, const pib_hello &h, std::uint64_t now);
	void answer(const Path &path, const pib_hello &h, std::uint64_t now);
	void echo(const Arrival &arrival, pib_hello &h, std::uint32_t to, std::uint8_t type,
		  HelloKey by, std::uint64_t now);
	Link *match(const pib_hello &h, const Address &from);
	bool names(const Address &host) const;
	pib_hello_way way_of(const Arrival &arrival, std::uint32_t fabric) const;
	Port *port_for(const Arrival &arrival, const pib_hello &h, std::uint64_t now);
	Link *admit(const Arrival &arrival, const pib_hello &h, const Answered *said,
		    std::uint64_t now);
	void forget(const Link &link, std::uint64_t now);
	void forget_answers();
	/// said: the link goes on in a session in which the peer was answered before.
	Link &make_link(Port &port, LinkKind kind, const Path &path, const Answered *said,
			std::uint64_t now);
	void drop_link(Link &link, std::uint64_t now);
	bool may_lead(const Link &link, const Arrival &arrival, const pib_hello &h) const;
	void follow(Link &link, const Path &path);
	void ask_address(const Link &link, const Path &path, std::uint64_t now);
	bool meets(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
		   std::uint64_t now);
	/// shown: the datagram echoes an answer to where it comes from.
	bool knows(Link &link, const Arrival &arrival, const pib_hello &h, std::uint8_t type,
		   bool shown, std::uint64_t now);
	void take_probe(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
			std::uint64_t now);
	void take_padded(Link &link, const Path &path, const pib_hello &h, std::uint8_t type);
	void link_control(Link &link, const Arrival &arrival, const pib_hello &h, std::uint8_t type,
			  bool shown, std::uint64_t now);
	void stranger(Link &link, const Path &path, std::uint64_t now);
	void claim(Link *link, const Path &path, std::uint64_t now);
	void unauthentic(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
			 std::uint64_t now);
	bool refused(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
		     std::uint64_t now);
	void act(Link &link, std::uint32_t todo, std::uint64_t now);
	void say(Link &link, std::uint64_t now);
	void say_padded(Link &link, std::uint64_t now);
	void note_shrink(Link &link);
	void send_bytes(const Path &path, std::span<const std::uint8_t> bytes);
	void put_bytes(const Path &path, std::span<const std::uint8_t> bytes, std::uint8_t tos,
		       Rank rank);
	void answer_stranger(const Path &path, std::span<const std::uint8_t> bytes);
	void fill_hello(const Port &port, pib_hello &h) const;
	void settle(Link &link);
	void bounce(Port &port, std::uint64_t now);
	std::uint64_t expires_at(const Link &link) const;
	bool expired(const Link &link, std::uint64_t now) const;
	std::uint64_t nonce();

	// configure.cc
	void remove_switch(Switch &node, std::uint64_t now);
	Status check_link_keys(const Switch &node, const SwitchConfig &wanted,
			       std::uint64_t now) const;
	void update_switch(Switch &node, const SwitchConfig &config, std::uint64_t now);
	void unplug_cable(Port &port);
	void plug_cable(Port &a, Port &b);
	void settle_cable(Port &a, Port &b);
	void make_cable(const CableConfig &cable, std::uint64_t now);
	void remove_cable(const CableConfig &cable, std::uint64_t now);

	// core.cc
	void set_faults(Port &port, const Faults &faults);
	void flap(Port &port, std::uint64_t now);
	void after(std::uint64_t now);
	void node_work(Switch &node, std::uint64_t now);
	void find_deadline();

	Log &log_;
	std::function<std::uint64_t()> random_;
	Wire &wire_;
	Stats &stats_;
	Forwarder forwarder_;
	bool windows_ = false;
	std::vector<std::unique_ptr<Switch>> switches_;
	std::vector<CableConfig> cables_;
	/// Outlives the links.
	FrameMemory frame_memory_;
	std::unordered_map<std::uint32_t, std::unique_ptr<Link>> links_;
	/// Of all keys of all switches.
	std::map<Key, std::uint32_t, KeyOrder> key_numbers_;
	std::uint32_t last_key_ = 0;
	PortFinder ports_;
	/// Accepted links by their peers, by fabric.
	std::unordered_map<std::uint32_t, std::unordered_map<PeerId, Link *, PeerHash>> accepted_;
	/// Links to hosts that the configuration calls.
	std::unordered_multimap<Host, Link *, HostHash> called_;
	/// State of the answers to strangers.
	pib_cookies cookies_{};
	std::uint64_t deadline_ = 0;
	std::uint64_t deaf_at_ = 0;
	/// When the log may say again that somebody speaks the version before.
	std::uint64_t former_due_ = 0;
	/// Of refusals of the version before, and of PONGs: neither uses up the other's.
	Budget former_answers_{kAnswersPerSecond, kAnswerBytesPerSecond};
	Budget pongs_{kAnswersPerSecond, kPongBytesPerSecond};
	/// A port or a table changed by other ways than a MAD: traps may wait.
	bool agents_touched_ = false;
	/// Datagrams of sessions wait to be sent; they are numbered.
	bool spoke_ = false;
};

/// "0xGUID/PORT" of a peer, for logs.
std::string peer_name(const pib_hello &h);

} // namespace pib::netd
