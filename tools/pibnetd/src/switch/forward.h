// SPDX-License-Identifier: GPL-2.0
// The way of packets through switches (IBA 18.2.4): in by a port, by LFT and MFT out of others,
// across cables to further switches, and to the switches' own agents.
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "switch/egress.h"
#include "wire/data_class.h"

namespace pib::netd {

/// A packet, LRH to ICRC, without what may follow it in a datagram.
struct Packet {
	const std::uint8_t *bytes = nullptr;
	std::size_t length = 0;
	std::size_t header_length = 0;
	std::size_t payload_length = 0;
	pib_hdrs h{};
	/// Its ICRC is not computed: the peer has left that to the datagram's checksum or seal.
	bool noicrc = false;
	/// The same bytes with an ICRC, once a peer has wanted that; kept as other copies are.
	mutable const std::uint8_t *with_icrc = nullptr;
};

/// Parses the headers of a packet that lies in left bytes, of which only the headers need be at that
/// place. out.bytes stays as it is. Returns enum pib_parse_error.
int parse_headers(const std::uint8_t *headers, std::size_t left, Packet &out);
/// enum pib_parse_error
int parse_packet(std::span<const std::uint8_t> bytes, Packet &out);
/// The ICRC that the packet should have.
std::uint32_t icrc_of(const Packet &packet);
bool icrc_is_right(const Packet &packet);
/// True if somebody slows down for a mark on the packet, which has none yet.
bool may_mark(const Packet &packet);
/// Sets FECN in the packet's bytes (Annex A10). The ICRC does not cover it.
void mark_packet(const pib_hdrs &h, std::uint8_t *bytes);
/// The packet has come in by the port.
void count_in(Port &port, const Packet &packet);
/// The packet leaves by the port.
void count_out(Port &port, const Packet &packet, std::uint8_t vl);

class WholeFrame;

class Forwarder {
public:
	Forwarder(Wire &wire, Stats &stats) : wire_(wire), stats_(stats), egress_(wire, stats) {}

	/// The class of the data that is sent from now on.
	void set_data_class(const DataClass &data_class) { data_class_ = data_class; }
	const DataClass &data_class() const { return data_class_; }
	/// Whether packets are given an ICRC, whatever their receivers say.
	void set_icrc(bool icrc) { icrc_ = icrc; }
	bool icrc() const { return icrc_; }
	/// A packet came in by the port's link. Its bytes must stay as they are until flush().
	void receive(Port &in, const Packet &packet, std::uint64_t now);
	/// Sends a frame on as it is, if all of its packets leave by one VL of one link, where
	/// nothing in them has to be changed or looked at. False: nothing was done.
	bool pass(Port &in, WholeFrame &frame);
	/// An agent has answered or raised a trap since this was last asked.
	bool agents_ran() { return std::exchange(agents_ran_, false); }
	/// The traps that are due at the switch.
	void send_traps(Switch &from, std::uint64_t now);
	/// Sends what the links have queued.
	void flush(std::uint64_t now);
	/// Gives it to the wire, which the caller flushes before the batch goes.
	Batch gather(std::uint64_t now);
	/// Links on which something waits for the peer to take in what was sent.
	const std::vector<Link *> &held() const { return held_; }
	/// The peer has taken something in: what waits on the link is tried again by gather().
	void resume(Link &link);
	/// The link is down: what waits there for its peer is dropped.
	void drop_held(Link &link);
	/// When some peer has to be asked what it has taken in, ns; ~0: never.
	std::uint64_t asks_due() const;
	/// There are slow or bad cables: what leaves them must be sent in the order in which it
	/// does.
	bool has_pipes() const { return !bad_.empty(); }
	/// Keeps bytes until flush().
	const std::vector<std::uint8_t> &keep(std::vector<std::uint8_t> bytes);
	/// The link goes away: what waits there is dropped.
	void forget(Link &link);
	/// The port's cable has other faults than before: what is in its pipes is lost. direction:
	/// 0 or 1, the other one at the other end of a cable.
	void set_pipes(Port &port, unsigned direction);
	/// The switch goes away.
	void forget(Switch &node);
	/// Lets on what the pipes of bad cables let out by now.
	void pipes(std::uint64_t now);
	/// When pipes() has something to do, ns; ~0: never.
	std::uint64_t pipes_due() const;

private:
	/// A packet that has come in by a port of a switch.
	struct Step {
		Port *in;
		const Packet &packet;
		unsigned hops;
	};
	/// One that has crossed a cable and waits for its turn: there is no recursion.
	struct Waiting {
		Port *in;
		Packet packet;
		unsigned hops;
	};

	/// Where packets of one kind leave.
	struct Way {
		Port *out;
		std::uint8_t vl;
		std::uint8_t tos;

		bool operator==(const Way &) const = default;
	};
	std::optional<Way> way_of(Port &in, const Packet &packet) const;
	/// A peer takes no packet without ICRC from who wants one itself.
	bool may_leave_out_icrc(const Link &link) const { return !icrc_ && link.takes_no_icrc(); }
	std::optional<Way> way_of(Port &in, const WholeFrame &frame) const;

	void run_waiting(std::uint64_t now);
	void enter(const Step &step, std::uint64_t now);
	void arrive(const Step &step, std::uint64_t now);
	bool may_copy(const Packet &packet);
	void multicast(const Step &step, const pib_route &route, std::uint64_t now);
	void count_drop(const Step &step, const pib_route &route, std::uint64_t now);
	void count_pkey_out(const Step &step, Port &out, std::uint64_t now);
	void agent(const Step &step, std::uint64_t now);
	void answer(const Step &step, pib_mad_result result, const std::uint8_t *mad,
		    std::uint8_t out_port, std::uint16_t pkey, std::uint64_t now);
	void originate(Switch &from, std::uint8_t out_port, pib_hdrs h, const std::uint8_t *mad,
		       unsigned hops, std::uint64_t now);
	/// in: 0 for what the switch itself has made.
	void leave(Port &out, std::uint8_t in, const Packet &packet, unsigned hops,
		   std::uint64_t now);
	void transmit(Port &out, const Packet &packet, std::uint8_t vl, unsigned hops,
		      std::uint64_t now);
	const std::uint8_t *bytes_for(const Link &link, const Packet &packet);
	void queue(Link &link, const Packet &packet, std::uint8_t vl);
	void gather(Link &link, Batch &batch, std::uint64_t now);
	void hold(Port &port, Held &held, std::span<OutPacket> packets, std::uint64_t now);
	void drop_stale(Link &link, std::uint64_t now);

	// bad_cable.cc
	void arrive_badly(Port &in, const Packet &packet, std::uint64_t now);
	void depart_badly(Port &out, Pipe &pipe, const Packet &packet, std::uint8_t vl,
			  unsigned hops, std::uint64_t now);
	bool run_pipes(std::uint64_t now);
	void let_in(Port &in, PipePacket packet, std::uint64_t now);
	void let_out(Port &out, PipePacket packet);

	Wire &wire_;
	Stats &stats_;
	Egress egress_;
	DataClass data_class_;
	bool icrc_ = false;
	std::deque<Waiting> waiting_;
	std::vector<Link *> dirty_;
	std::vector<Link *> held_;
	HeldMemory held_memory_;
	std::deque<std::vector<std::uint8_t>> kept_;
	/// Those whose cables have pipes.
	std::vector<Port *> bad_;
	bool agents_ran_ = false;
	/// Multicasts sent on since a packet came in.
	unsigned copies_ = 0;
	/// Memory for those of a batch.
	std::size_t copied_ = 0;
};

} // namespace pib::netd
