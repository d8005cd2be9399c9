// SPDX-License-Identifier: GPL-2.0
#include "core/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "switch/whole_frame.h"
#include "wire/ping.h"

namespace pib::netd {
namespace {

std::optional<pib_segment> parse_segment(std::span<const std::uint8_t> bytes)
{
	pib_segment segment;
	if (!pib_segment_parse(&segment, bytes.data(), static_cast<std::uint32_t>(bytes.size())))
		return {};
	return segment;
}

} // namespace

Core::Core(Wire &wire, Stats &stats, Log &log, std::function<std::uint64_t()> random) :
	log_(log), random_(std::move(random)), wire_(wire), stats_(stats), forwarder_(wire, stats_)
{
	forget_answers();
}

// ---- what datagrams hold ----

namespace {

/// Calls what for each datagram that arrived.
template <typename What>
void each_datagram(const Arrival &arrival, What what)
{
	auto rest = arrival.bytes;
	const std::size_t step = arrival.step ? arrival.step : rest.size();
	while (!rest.empty()) {
		const auto one = rest.first(std::min(step, rest.size()));
		what(one);
		rest = rest.subspan(one.size());
	}
}

/// True of what the socket's filter has left of a datagram: nothing vouches for its packets.
bool is_unchecked(const pib_dg &header, std::span<const std::uint8_t> bytes)
{
	return bytes.size() == PIB_DG_HDR_LEN &&
	       (header.flags & (PIB_DG_NOICRC | PIB_DG_SEALED)) == PIB_DG_NOICRC;
}

bool is_credit(std::span<const std::uint8_t> bytes)
{
	return bytes.size() == PIB_CREDIT_WIRE_LEN &&
	       bytes[0] == (PIB_DG_VERSION << 4 | PIB_DG_CREDIT);
}

} // namespace

void Core::check_hellos(const Arrival &arrival, std::vector<HelloKey> &keys) const
{
	each_datagram(arrival, [&](std::span<const std::uint8_t> one) {
		keys.push_back(is_credit(one) ? credit_key(one) : hello_key(one));
	});
}

/// pibping wants its datagram back.
void Core::reflect(const Arrival &arrival, Wire &answers, Stats &stats, std::uint64_t now)
{
	const PingResponder responder = {
		PingSoftware::pibnetd, [this](std::uint32_t fabric) -> std::optional<Key> {
			const Switch *node = ports_.acceptor(fabric);
			return node ? std::optional(node->config.key) : std::nullopt;
		}};
	each_datagram(arrival, [&](std::span<const std::uint8_t> one) {
		if (one.size() < PIB_DG_HDR_LEN || one[0] != (PIB_DG_VERSION << 4 | PIB_DG_PING))
			return;
		const auto answer = answer_ping(one, responder);
		if (answer.empty()) {
			stats.add(PIB_US_RX_MALFORMED);
		} else if (!pongs_.take(answer.size(), now)) {
			stats.add(PIB_US_RX_STRANGER);
		} else {
			answers.answer(arrival.path, answer);
			stats.add(PIB_US_TX_DATAGRAMS);
		}
	});
}

/// Returns datagrams that were passed on as they came: all, or 0. Then they are looked at one by one,
/// and counted.
std::size_t Core::pass_whole(const Arrival &arrival)
{
	if (arrival.bytes.size() <= std::max<std::size_t>(arrival.step, PIB_SEG_HDR_LEN) ||
	    arrival.ce)
		return 0;
	pib_dg header;
	pib_dg_parse(&header, arrival.bytes.data());
	const auto found = links_.find(header.link_id);
	if (header.flags & PIB_DG_SEALED || found == links_.end())
		return 0;
	Link &link = *found->second;
	if (!link.established() || link.rx_tag != header.tag || link.seal || link.windows ||
	    !same_host(link.path.remote, arrival.path.remote))
		return 0;
	// The bytes lie where the daemon has put them.
	WholeFrame frame({const_cast<std::uint8_t *>(arrival.bytes.data()), arrival.bytes.size()},
			 arrival.step);
	if (!frame.read() || !forwarder_.pass(*link.port, frame))
		return 0;
	stats_.add(PIB_US_RX_DATAGRAMS, frame.head().total);
	return frame.head().total;
}

std::size_t Core::receive(const Arrival &arrival, std::span<const HelloKey> keys, std::uint64_t now)
{
	if (const std::size_t n = pass_whole(arrival))
		return n;
	auto key = keys.begin();
	each_datagram(arrival, [&](std::span<const std::uint8_t> one) {
		stats_.add(PIB_US_RX_DATAGRAMS);
		stats_.add(PIB_US_RX_CE, arrival.ce);
		datagram(arrival, one, *key++, now);
	});
	return static_cast<std::size_t>(key - keys.begin());
}

void Core::datagram(const Arrival &arrival, std::span<const std::uint8_t> bytes, HelloKey key,
		    std::uint64_t now)
{
	if (bytes.size() < PIB_DG_HDR_LEN) {
		stats_.add(PIB_US_RX_SHORT);
		return;
	}
	pib_dg header;
	pib_dg_parse(&header, bytes.data());
	if (header.version != PIB_DG_VERSION) {
		stats_.add(PIB_US_RX_VERSION);
		refuse_former(arrival.path, bytes, now);
		return;
	}
	switch (header.type) {
	case PIB_DG_DATA:
	case PIB_DG_SEGMENT: data(arrival, header, bytes, now); break;
	case PIB_DG_CREDIT: credit(arrival, bytes, key, now); break;
	case PIB_DG_PING: break; // reflect()
	default: control(arrival, bytes, key, now);
	}
}

/// The link that a datagram claims to belong to; nothing: it is counted and forgotten.
Link *Core::data_link(const Arrival &arrival, const pib_dg &header)
{
	const auto found = links_.find(header.link_id);
	if (found == links_.end() || !found->second->established() ||
	    found->second->rx_tag != header.tag) {
		stats_.add(PIB_US_RX_UNKNOWN_LINK);
		return nullptr;
	}
	if (same_host(found->second->path.remote, arrival.path.remote))
		return found->second.get();
	stats_.add(PIB_US_RX_WRONG_ADDRESS);
	return nullptr;
}

void Core::data(const Arrival &arrival, const pib_dg &header, std::span<const std::uint8_t> bytes,
		std::uint64_t now)
{
	const bool in_clear = !(header.flags & PIB_DG_SEALED);
	const bool is_segment = header.type == PIB_DG_SEGMENT;
	if (is_unchecked(header, bytes)) {
		stats_.add(PIB_US_RX_BAD_ICRC);
		return;
	}
	if (is_segment && in_clear && !parse_segment(bytes)) {
		stats_.add(PIB_US_RX_MALFORMED);
		return;
	}
	Link *link = data_link(arrival, header);
	if (!link)
		return;
	bytes = opened(*link, header, bytes);
	if (bytes.empty())
		return;
	if (is_segment)
		segment(*link, bytes, arrival.ce, now);
	else
		packet(*link, bytes.subspan(PIB_DG_HDR_LEN), header.flags & PIB_DG_NOICRC,
		       arrival.ce, now);
}

/// The datagram as it would be on an open fabric; nothing: it is counted and forgotten.
std::span<const std::uint8_t> Core::opened(Link &link, const pib_dg &header,
					   std::span<const std::uint8_t> bytes)
{
	const bool sealed = header.flags & PIB_DG_SEALED;
	if (!link.seal && sealed) {
		stats_.add(PIB_US_RX_UNKNOWN_LINK);
		return {};
	}
	if (!link.seal)
		return bytes;
	if (!sealed) {
		stats_.add(PIB_US_RX_UNSEALED);
		return {};
	}
	if (bytes.size() <= PIB_DG_HDR_LEN + PIB_SEAL_LEN) {
		stats_.add(PIB_US_RX_SHORT);
		return {};
	}
	std::vector<std::uint8_t> plain(bytes.size() - PIB_SEAL_LEN);
	switch (link.seal->open(bytes, plain)) {
	case Opened::opened: return forwarder_.keep(std::move(plain));
	case Opened::bad: stats_.add(PIB_US_RX_BAD_SEAL); break;
	case Opened::replayed: stats_.add(PIB_US_RX_REPLAYED); break;
	}
	return {};
}

/// The network's mark becomes one of a switch in the fabric, in a copy of the packet.
void Core::mark(Packet &packet)
{
	if (!may_mark(packet))
		return;
	std::vector<std::uint8_t> copy(packet.bytes, packet.bytes + packet.length);
	mark_packet(packet.h, copy.data());
	packet.h.flags |= PIB_H_FECN;
	packet.bytes = forwarder_.keep(std::move(copy)).data();
}

/// Returns the packet's length, 0 if it is none: that is counted.
std::size_t Core::packet(Link &link, std::span<const std::uint8_t> bytes, bool noicrc, bool ce,
			 std::uint64_t now)
{
	Packet packet;
	const int error = parse_packet(bytes, packet);
	if (error) {
		stats_.add(error == PIB_PARSE_SHORT ? PIB_US_RX_SHORT : PIB_US_RX_MALFORMED);
		return 0;
	}
	packet.noicrc = noicrc;
	if (ce)
		mark(packet);
	forwarder_.receive(*link.port, packet, now);
	const std::uint32_t counts = pib_credit_bytes(static_cast<std::uint32_t>(packet.length), 1);
	if (link.windows && pib_credits_take(&link.credits, packet.h.vl, counts, now))
		say_credit(link, PIB_CREDIT_TELLS, 0, now);
	return packet.length;
}

void Core::segment(Link &link, std::span<const std::uint8_t> bytes, bool ce, std::uint64_t now)
{
	const auto segment = parse_segment(bytes);
	if (!segment) {
		stats_.add(PIB_US_RX_MALFORMED);
		return;
	}
	auto done = link.frames.add(*segment, bytes.subspan(PIB_SEG_HDR_LEN), ce, now);
	if (done)
		frame(link, std::move(*done), now);
}

/// Takes in the segments of a frame that have come: run by run, in each from the first packet that
/// starts in it. A packet that a gap cuts off counts as short.
void Core::frame(Link &link, Frame frame, std::uint64_t now)
{
	if (!frame.whole())
		stats_.add(PIB_US_RX_REASSEMBLY);
	for (Run &run : frame.runs) {
		unsigned i = run.begin;
		while (i < run.end && frame.first[i] >= frame.size)
			i++;
		if (i == run.end)
			continue;
		std::size_t at = std::size_t{i - run.begin} * frame.size + frame.first[i];
		const std::span<const std::uint8_t> bytes = forwarder_.keep(std::move(run.bytes));
		while (at < bytes.size()) {
			const std::size_t n = packet(link, bytes.subspan(at),
						     frame.flags & PIB_DG_NOICRC, frame.ce, now);
			if (!n)
				break;
			at += n;
		}
	}
}

std::optional<Batch> Core::gather(std::uint64_t now)
{
	ask_held(now);
	const bool agents = forwarder_.agents_ran() || agents_touched_;
	if (!agents && !spoke_ && !forwarder_.has_pipes())
		return forwarder_.gather(now);
	agents_touched_ = agents;
	flush(now);
	return {};
}

void Core::flush(std::uint64_t now)
{
	spoke_ = false;
	// The answer to a MAD that resets a port leaves before the port is reset.
	forwarder_.flush(now);
	if (!forwarder_.agents_ran() && !agents_touched_)
		return;
	after(now);
	forwarder_.flush(now);
}

// ---- time ----

void Core::timers(std::uint64_t now)
{
	forwarder_.pipes(now);
	ask_held(now);
	if (now < deadline_) {
		flush(now);
		return;
	}
	std::vector<Link *> dead;
	for (auto &[id, link] : links_) {
		if (pib_session_deadline(&link->session) <= now) {
			if (deaf_at_)
				pib_session_deaf(&link->session, deaf_at_);
			const std::uint32_t todo = pib_session_timer(&link->session, now);
			// The daemon's address may have gone with the session.
			if (link->session.state == PIB_SESSION_IDLE)
				link->path.local = {};
			if (todo & PIB_SESSION_DO_SEND)
				say_padded(*link, now);
			if (todo)
				act(*link, todo, now);
			if (todo & PIB_SESSION_DO_SEND)
				keep_credit(*link, now);
		}
		stats_.add(PIB_US_RX_REASSEMBLY, link->frames.expire(now));
		if (expired(*link, now))
			dead.push_back(link.get());
	}
	for (Link *link : dead)
		drop_link(*link, now);
	after(now);
	forwarder_.flush(now);
}

/// The SM has set a port's physical state; traps and leases.
void Core::node_work(Switch &node, std::uint64_t now)
{
	pib_node_timer(&node.node, now);
	node.node.events = 0;
	for (unsigned i = 1; i <= node.node.num_ports; i++) {
		Port &port = node.port(i);
		const std::uint32_t events = port.p.events;
		port.p.events = 0;
		if (events & PIB_EV_PHYS_CHANGE)
			bounce(port, now);
		if (port.faults.flap_at && port.faults.flap_at <= now)
			flap(port, now);
	}
	forwarder_.send_traps(node, now);
}

void Core::after(std::uint64_t now)
{
	agents_touched_ = false;
	for (auto &node : switches_)
		node_work(*node, now);
	find_deadline();
}

void Core::find_deadline()
{
	deadline_ = ~std::uint64_t{0};
	for (const auto &[id, link] : links_)
		deadline_ = std::min(
			{deadline_, pib_session_deadline(&link->session), expires_at(*link)});
	for (const auto &node : switches_) {
		const std::uint64_t due = pib_node_deadline(&node->node);
		if (due)
			deadline_ = std::min(deadline_, due);
		for (const auto &port : node->ports)
			if (port->faults.flap_at)
				deadline_ = std::min(deadline_, port->faults.flap_at);
	}
}

namespace {

/// True if the cable has come loose, at either of its ends.
bool is_loose(const Port &port)
{
	return port.loose || (port.cable && port.cable->loose);
}

void stop_flapping(Port &port)
{
	for (Port *end : {&port, port.cable}) {
		if (!end)
			continue;
		end->loose = false;
		end->faults.flap_up = end->faults.flap_down = 0;
		end->faults.flap_at = 0;
	}
}

} // namespace

// ---- what the user sees and changes ----

Switch *Core::find_switch(std::string_view name)
{
	for (auto &node : switches_)
		if (node->config.name == name)
			return node.get();
	return nullptr;
}

Result<Port *> Core::find_port(const model::End &end)
{
	Switch *node = find_switch(end.node);
	if (!node)
		return Error{fmt::format("there is no switch '{}'", end.node)};
	if (end.port < 1 || end.port > node->node.num_ports)
		return Error{fmt::format("switch '{}' has ports 1 to {}", end.node,
					 node->node.num_ports)};
	return &node->port(end.port);
}

void Core::plug(Port &port, bool plugged, std::uint64_t now)
{
	const bool changes = port.unplugged == plugged || is_loose(port);
	port.unplugged = !plugged;
	ports_.update(port);
	stop_flapping(port);
	if (!changes)
		return;
	bounce(port, now);
	after(now);
	forwarder_.flush(now);
}

// ---- bad cables ----

/// Both ends of a cable inside have the same faults; the user's end makes it flap.
void Core::set_faults(Port &port, const Faults &faults)
{
	const auto give = [&](Port &to, unsigned direction) {
		to.faults.config = faults.config;
		to.faults.flap_up = faults.flap_up;
		to.faults.flap_down = faults.flap_down;
		to.faults.flap_at = 0;
		forwarder_.set_pipes(to, direction);
	};
	give(port, 0);
	if (port.cable)
		give(*port.cable, 1);
	port.faults.flap_at = faults.flap_at;
}

void Core::change_faults(Port &port, const model::LinkChange &change, std::uint64_t now)
{
	Faults faults;
	if (!change.healthy) {
		faults.config = port.faults.config;
		faults.flap_up = port.faults.flap_up;
		faults.flap_down = port.faults.flap_down;
	}
	const auto take = [](auto &to, const auto &from) {
		if (from)
			to = *from;
	};
	take(faults.config.loss, change.loss);
	take(faults.config.duplicate, change.duplicate);
	take(faults.config.reorder, change.reorder);
	take(faults.config.bit_errors, change.bit_errors);
	take(faults.config.latency, change.latency);
	take(faults.config.rate, change.rate);
	if (change.flap)
		std::tie(faults.flap_up, faults.flap_down) = *change.flap;
	faults.config.seed = port.faults.any() ? port.faults.config.seed : random_();
	take(faults.config.seed, change.seed);
	if (faults.flap_up)
		faults.flap_at = now + faults.flap_up * PIB_NSEC_PER_MSEC;
	const bool was_loose = is_loose(port);
	stop_flapping(port);
	set_faults(port, faults);
	if (was_loose)
		bounce(port, now);
	after(now);
	forwarder_.flush(now);
}

void Core::flap(Port &port, std::uint64_t now)
{
	port.loose = !port.loose;
	port.faults.flap_at = now + (port.loose ? port.faults.flap_down : port.faults.flap_up) *
					    PIB_NSEC_PER_MSEC;
	bounce(port, now);
}

} // namespace pib::netd
