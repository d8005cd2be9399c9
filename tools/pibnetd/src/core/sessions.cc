// SPDX-License-Identifier: GPL-2.0
// Sessions with peers, as kernel/udp/link.c and kernel/udp/bearer.c keep them: the state machine is
// that of kernel/proto/link.c.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/core.h"

namespace pib::netd {
namespace {

/// A peer that is silent for so long loses its place.
constexpr std::uint64_t kExpiry = 60 * PIB_NSEC_PER_SEC;
/// Answers in a second to those with whom there is no session.
constexpr unsigned kAnswersPerSecond = 2000;

void set_description(pib_hello &h, std::string_view text)
{
	std::memset(h.desc, 0, sizeof(h.desc));
	std::copy_n(text.begin(), std::min(text.size(), sizeof(h.desc) - 1), h.desc);
}

bool free(const Port &port)
{
	return !port.link && !port.cable;
}

std::string port_name(const Port &port)
{
	return fmt::format("{}/{}", port.owner->config.name, port.p.num);
}

} // namespace

std::string peer_name(const pib_hello &h)
{
	return fmt::format("0x{:016x}/{}", h.node_guid, h.port_num);
}

std::uint64_t Core::nonce()
{
	std::uint64_t drawn = 0;
	while (!drawn)
		drawn = random_();
	return drawn;
}

// ---- saying ----

void Core::send_bytes(const Path &path, std::span<const std::uint8_t> bytes)
{
	const auto &kept = forwarder_.keep({bytes.begin(), bytes.end()});
	const iovec part = {const_cast<std::uint8_t *>(kept.data()), kept.size()};
	spoke_ = true;
	wire_.send(path, {&part, 1}, 0);
	stats_.add(PIB_US_TX_DATAGRAMS);
}

void Core::fill_hello(const Port &port, pib_hello &h) const
{
	const pib_node &node = port.owner->node;
	h.fabric = port.owner->config.fabric;
	h.node_guid = node.guid;
	h.port_guid = port.p.guid;
	h.port_num = port.p.num;
	h.role = PIB_ROLE_SWITCH;
	h.caps = PIB_CAP_SEGMENTS |
		 (port.owner->config.key.empty() ? 0u : std::uint32_t{PIB_CAP_KEYED});
	h.mtu_cap = port.p.mtu_cap;
	h.width_en = port.p.width_en;
	h.speed_en = port.p.speed_en;
	h.ext_speed_en = port.p.ext_speed_en;
	h.keepalive_ms = PIB_KEEPALIVE_MS;
	std::memcpy(h.desc, node.desc, sizeof(h.desc));
}

/// Sends what the state machine wants to say.
void Core::say(Link &link, std::uint64_t now)
{
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_hello h{};
	fill_hello(*link.port, h);
	pib_link_build(&link.fsm, &h, now, bytes.data());
	// Which is that of its session, for a change of the key begins a new one.
	auth_seal(link.port->owner->config.key, bytes);
	send_bytes(link.path, bytes);
}

/// Strangers must not make us send more than a little.
bool Core::may_answer(std::uint64_t now)
{
	if (now >= answers_from_ + PIB_NSEC_PER_SEC) {
		answers_from_ = now;
		answers_ = 0;
	}
	return answers_++ < kAnswersPerSecond;
}

/// Tells a peer why it gets no link: a BYE in its session.
void Core::refuse(const Path &path, const pib_hello &h, std::uint8_t why, std::uint64_t now)
{
	if (!may_answer(now))
		return;
	log_.debug("peer refused", {{"peer", peer_name(h)},
				    {"address", format_address(path.remote)},
				    {"reason", std::string(pib_hello_refusal_text(why))}});
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_hello answer{};
	Switch *node = acceptor(h.fabric);
	if (node)
		fill_hello(node->port(0), answer);
	// Who has no key could not check an answer that has one.
	const bool keyed = node && h.caps & PIB_CAP_KEYED;
	if (!keyed)
		answer.caps &= ~std::uint32_t{PIB_CAP_KEYED};
	answer.fabric = h.fabric;
	answer.role = PIB_ROLE_SWITCH;
	answer.mtu_cap = 5;
	answer.nonce = nonce();
	answer.peer_nonce = h.nonce;
	answer.seq = 1;
	answer.ack = h.seq;
	answer.refusal = why;
	set_description(answer, pib_hello_refusal_text(why));
	pib_hello_build(&answer, PIB_DG_BYE, h.link_id, bytes.data());
	if (keyed)
		auth_seal(node->config.key, bytes);
	send_bytes(path, bytes);
}

/// Somebody only wants to know who is here.
void Core::answer_probe(const Path &path, const pib_hello &h, std::uint64_t now)
{
	if (!may_answer(now))
		return;
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_hello answer{};
	const Switch &node = *acceptor(h.fabric);
	fill_hello(*node.ports[0], answer);
	answer.caps |= PIB_CAP_PROBE;
	answer.nonce = nonce();
	answer.peer_nonce = h.nonce;
	answer.seq = 1;
	answer.ack = h.seq;
	pib_hello_build(&answer, PIB_DG_HELLO_ACK, h.link_id, bytes.data());
	auth_seal(node.config.key, bytes);
	send_bytes(path, bytes);
}

// ---- keys ----

/// The number of a key. Switches of one fabric share their peers, and so their numbers.
std::uint32_t Core::key_number(const Key &key)
{
	if (key.empty())
		return 0;
	const auto [at, fresh] = key_numbers_.try_emplace(key, last_key_ + 1);
	last_key_ += fresh;
	return at->second;
}

void Core::number_keys(Switch &node)
{
	node.key_number = key_number(node.config.key);
	node.second_number = key_number(node.config.second_key);
}

void Core::forget_keys()
{
	std::erase_if(key_numbers_, [&](const auto &each) {
		return std::none_of(switches_.begin(), switches_.end(), [&](const auto &node) {
			return node->key_number == each.second ||
			       node->second_number == each.second;
		});
	});
}

/// Has the sender a key of the switch, or have both none? By which one is noted in h.
bool Core::authentic(const Switch &node, pib_hello &h, std::span<const std::uint8_t> bytes) const
{
	if (auth_check(node.config.key, h, bytes)) {
		h.key = node.key_number;
		return true;
	}
	if (!node.second_number || !auth_check(node.config.second_key, h, bytes))
		return false;
	h.key = node.second_number;
	return true;
}

/// The key of a session that holds.
const Key &Core::key_of(const Switch &node, std::uint32_t number) const
{
	return number && number == node.second_number ? node.config.second_key : node.config.key;
}

/// A link whose own key or whose peer's key is none of the switch's any more begins anew.
void Core::rekey(Link &link, std::uint64_t now)
{
	const Switch &node = *link.port->owner;
	const std::uint64_t session = link.fsm.nonce;
	const std::uint32_t todo =
		pib_link_rekey(&link.fsm, node.key_number, node.second_number, nonce(), now);
	// That of a peer that is lost has perhaps a key that is dropped.
	if (link.seal && !link.seal->is_of(link.fsm.nonce, link.fsm.peer_nonce))
		link.seal.reset();
	if (link.fsm.nonce == session)
		return;
	// Its sessions never come back, so their counters need not be known any more.
	link.seal.reset();
	act(link, todo, now);
	deadline_ = std::min(deadline_, pib_link_deadline(&link.fsm));
}

// ---- hearing ----

void Core::control(const Arrival &arrival, std::span<const std::uint8_t> bytes, std::uint64_t now)
{
	pib_hello h;
	std::uint32_t to = 0;
	std::uint8_t type = 0;
	if (pib_hello_parse(&h, &type, &to, bytes.data(), bytes.size())) {
		stats_.add(PIB_US_RX_BAD_HELLO);
		return;
	}
	if (!to) {
		greet(arrival, h, type, bytes, now);
		return;
	}
	const auto found = links_.find(to);
	if (found == links_.end()) {
		stats_.add(PIB_US_RX_UNKNOWN_LINK);
		return;
	}
	Link &link = *found->second;
	const SwitchConfig &config = link.port->owner->config;
	if (config.fabric != h.fabric)
		stats_.add(PIB_US_RX_FABRIC);
	else if (authentic(*link.port->owner, h, bytes))
		link_control(link, arrival.path, h, type, now);
	else
		unauthentic(link, arrival.path, h, type, now);
}

/// What is said by an unknown key is for the user to know. Nothing else follows from it.
void Core::unauthentic(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
		       std::uint64_t now)
{
	stats_.add(PIB_US_RX_BAD_AUTH);
	if (type != PIB_DG_BYE)
		stranger(&link, path, now);
	else if (h.refusal == PIB_REFUSED_KEY && link.path.remote == path.remote)
		refused(link, path, h, type, now);
}

/// From where the link's peer was heard last, somebody speaks by another key, or by none.
void Core::stranger(Link *link, const Path &path, std::uint64_t now)
{
	if (!link || link->established() || !(link->path.remote == path.remote))
		return;
	if (link->refused != PIB_REFUSED_KEY)
		log_.warning("peer has another key", {{"port", port_name(*link->port)},
						      {"address", format_address(path.remote)}});
	link->refused = PIB_REFUSED_KEY;
	link->refused_at = now;
}

bool Core::refused(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
		   std::uint64_t now)
{
	if (type != PIB_DG_BYE || !h.refusal || h.peer_nonce != link.fsm.nonce ||
	    link.established())
		return false;
	if (link.refused != h.refusal)
		log_.warning("peer refuses the link",
			     {{"port", port_name(*link.port)},
			      {"address", format_address(path.remote)},
			      {"reason", std::string(pib_hello_refusal_text(h.refusal))}});
	link.refused = h.refusal;
	link.refused_at = now;
	return true;
}

/// A switch of the fabric that takes strangers, or else one that does not.
Switch *Core::acceptor(std::uint32_t fabric)
{
	Switch *other = nullptr;
	for (auto &node : switches_) {
		if (node->config.fabric != fabric)
			continue;
		if (node->config.accept)
			return node.get();
		other = node.get();
	}
	return other;
}

/// A hello to nobody in particular.
void Core::greet(const Arrival &arrival, pib_hello &h, std::uint8_t type,
		 std::span<const std::uint8_t> bytes, std::uint64_t now)
{
	Switch *node = acceptor(h.fabric);
	const bool wants_answer = type == PIB_DG_HELLO && (h.link_id || h.caps & PIB_CAP_PROBE);
	if (!node) {
		stats_.add(PIB_US_RX_FABRIC);
		if (wants_answer)
			refuse(arrival.path, h, PIB_REFUSED_FABRIC, now);
		return;
	}
	if (!authentic(*node, h, bytes)) {
		stats_.add(PIB_US_RX_BAD_AUTH);
		if (type == PIB_DG_HELLO && h.link_id)
			stranger(match(h, arrival.path.remote), arrival.path, now);
		if (wants_answer)
			refuse(arrival.path, h, PIB_REFUSED_KEY, now);
		return;
	}
	if (type != PIB_DG_HELLO) {
		stats_.add(PIB_US_RX_BAD_HELLO);
		return;
	}
	if (h.caps & PIB_CAP_PROBE) {
		answer_probe(arrival.path, h, now);
		return;
	}
	if (!h.link_id) {
		stats_.add(PIB_US_RX_UNKNOWN_LINK);
		return;
	}
	Link *link = match(h, arrival.path.remote);
	if (!link)
		link = admit(arrival.path, h, now);
	if (link)
		link_control(*link, arrival.path, h, type, now);
}

/// The link that the peer has already.
Link *Core::match(const pib_hello &h, const Address &from)
{
	for (auto &[id, link] : links_) {
		if (link->port->owner->config.fabric != h.fabric)
			continue;
		if (link->kind == LinkKind::accepted) {
			if (link->is_peer(h))
				return link.get();
			continue;
		}
		// Several links may lead to one address: a session tells them apart.
		const bool bound =
			link->established() && (link->fsm.peer_node_guid != h.node_guid ||
						link->fsm.peer_port_num != h.port_num);
		if (!bound && link->path.remote == from)
			return link.get();
	}
	return nullptr;
}

/// May the peer send from there? A peer that was accepted may move, but whoever records its
/// datagrams must not move the link by sending them again.
bool Core::knows(Link &link, const Path &path, const pib_hello &h)
{
	if (link.kind == LinkKind::accepted && !link.is_peer(h))
		return false;
	if (link.path.remote == path.remote) {
		link.path = path;
		return true;
	}
	if (link.kind == LinkKind::configured)
		return false;
	if (link.established() && !pib_link_is_next(&link.fsm, &h))
		return false;
	link.path = path;
	return true;
}

void Core::link_control(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
			std::uint64_t now)
{
	if (!knows(link, path, h)) {
		stats_.add(PIB_US_RX_WRONG_ADDR);
		return;
	}
	if (refused(link, path, h, type, now))
		return;
	act(link, pib_link_rx(&link.fsm, &h, type, now), now);
	deadline_ = std::min(deadline_, pib_link_deadline(&link.fsm));
}

// ---- what it means ----

void Core::act(Link &link, std::uint32_t todo, std::uint64_t now)
{
	if (todo & PIB_LINK_DO_REJECT)
		stats_.add(PIB_US_RX_BAD_HELLO);
	if (todo & PIB_LINK_DO_DOWN)
		link.bounce = true;
	if (todo & PIB_LINK_DO_SEND)
		say(link, now);
	if (todo & (PIB_LINK_DO_UP | PIB_LINK_DO_DOWN))
		agents_touched_ = true;
	if (link.established()) {
		link.up_key = link.fsm.peer_key;
		const Key &own = key_of(*link.port->owner, link.fsm.key);
		const Key &peer = key_of(*link.port->owner, link.fsm.peer_key);
		link.tx_tag = auth_tag(own, link.fsm.peer_nonce, link.fsm.nonce);
		link.rx_tag = auth_tag(peer, link.fsm.nonce, link.fsm.peer_nonce);
		if (own.empty())
			link.seal.reset();
		else if (!link.seal || !link.seal->is_of(link.fsm.nonce, link.fsm.peer_nonce))
			link.seal.emplace(own, peer, link.fsm.nonce, link.fsm.peer_nonce);
		link.refused = 0;
	}
	settle(link, now);
}

/// Brings the port in line with the session.
void Core::settle(Link &link, std::uint64_t now)
{
	const bool up = link.fsm.plugged;
	if (link.is_up && (!up || link.bounce)) {
		link.is_up = false;
		link.down_since = now;
		port_link_down(*link.port);
		log_.info("link down", {{"port", port_name(*link.port)}});
	}
	link.bounce = false;
	if (!up || link.is_up)
		return;
	link.is_up = true;
	port_link_up(*link.port, {link.fsm.peer_mtu_cap, link.fsm.peer_width_en,
				  link.fsm.peer_speed_en, link.fsm.peer_ext_speed_en});
	log_.info("link up", {{"port", port_name(*link.port)},
			      {"address", format_address(link.path.remote)},
			      {"peer", fmt::format("0x{:016x}/{}", link.fsm.peer_node_guid,
						   link.fsm.peer_port_num)},
			      {"description", std::string(link.fsm.peer_desc)}});
}

/// The port trains anew: its cable is pulled and, if it may be, put back.
void Core::bounce(Port &port, std::uint64_t now)
{
	if (port.cable) {
		Port &other = *port.cable;
		port_link_down(port);
		port_link_down(other);
		settle_cable(port, other);
	} else if (port.link) {
		const bool down = port.cable_out() || !pib_port_wants_link(&port.p);
		act(*port.link, pib_link_reset(&port.link->fsm, nonce(), down, now), now);
	}
}

// ---- making and dropping links ----

Link &Core::make_link(Port &port, LinkKind kind, const Path &path, std::uint64_t now)
{
	auto link = std::make_unique<Link>();
	std::uint32_t id = 0;
	// Link ids are random: who does not see the traffic cannot name a link.
	while (!id || links_.contains(id))
		id = static_cast<std::uint32_t>(random_());
	pib_link_init(&link->fsm, id, nonce());
	link->fsm.key = port.owner->key_number;
	link->fsm.second_key = port.owner->second_number;
	link->fsm.passive = kind == LinkKind::accepted;
	link->fsm.local_down = port.cable_out() || !pib_port_wants_link(&port.p);
	link->kind = kind;
	link->port = &port;
	link->path = path;
	link->born = now;
	link->frames.share(frame_memory_);
	port.link = link.get();
	deadline_ = std::min(deadline_, now);
	return *links_.emplace(id, std::move(link)).first->second;
}

void Core::drop_link(Link &link, std::uint64_t now)
{
	if (link.established()) {
		pib_link_bye(&link.fsm);
		say(link, now);
	}
	set_faults(*link.port, {});
	link.port->loose = false;
	link.port->link = nullptr;
	if (link.is_up) {
		port_link_down(*link.port);
		log_.info("link down", {{"port", port_name(*link.port)}});
	}
	forwarder_.forget(link);
	links_.erase(link.id());
}

bool Core::expired(const Link &link, std::uint64_t now) const
{
	return link.kind == LinkKind::accepted && !link.established() &&
	       now > std::max(link.born, link.fsm.last_heard) + kExpiry;
}

/// The port at which a topology file has the peer, if it is free.
Port *Core::place_for(const pib_hello &h)
{
	for (const Place &place : places_) {
		if (place.guid != h.node_guid || place.peer_port != h.port_num)
			continue;
		const auto port = find_port(place.at);
		if (port && free(**port) && (*port)->owner->config.fabric == h.fabric)
			return *port;
	}
	return nullptr;
}

bool Core::is_place(const Port &port) const
{
	return std::any_of(places_.begin(), places_.end(), [&](const Place &place) {
		return place.at.node == port.owner->config.name && place.at.port == port.p.num;
	});
}

/// The port that is the peer's by a topology file or that it had, or else one that nobody has
/// had, or else any free one.
Port *Core::port_for(const pib_hello &h)
{
	Port *reserved = nullptr;
	Port *fresh = nullptr;
	if (Port *place = place_for(h))
		return place;
	for (auto &node : switches_) {
		if (node->config.fabric != h.fabric || !node->config.accept)
			continue;
		std::vector<bool> had(std::size_t{node->node.num_ports} + 1);
		for (const Reservation &r : reservations_) {
			if (r.node != node->config.name || r.port > node->node.num_ports || !r.port)
				continue;
			had[r.port] = true;
			Port &port = node->port(r.port);
			if (r.guid == h.node_guid && r.peer_port == h.port_num && free(port))
				return &port;
		}
		for (unsigned i = 1; i <= node->node.num_ports; i++) {
			Port &port = node->port(i);
			if (!free(port) || port.unplugged)
				continue;
			if (node->config.places_only && !is_place(port))
				continue;
			Port *&slot = had[i] ? reserved : fresh;
			if (!slot)
				slot = &port;
		}
	}
	return fresh ? fresh : reserved;
}

Link *Core::admit(const Path &path, const pib_hello &h, std::uint64_t now)
{
	if (!acceptor(h.fabric)->config.accept) {
		refuse(path, h, PIB_REFUSED_CLOSED, now);
		return nullptr;
	}
	Port *port = port_for(h);
	if (!port) {
		refuse(path, h, PIB_REFUSED_FULL, now);
		return nullptr;
	}
	Link &link = make_link(*port, LinkKind::accepted, path, now);
	link.peer_guid = h.node_guid;
	link.peer_port = h.port_num;
	const Reservation now_has{port->owner->config.name, h.node_guid, h.port_num, port->p.num};
	std::erase_if(reservations_, [&](const Reservation &r) {
		return (r.node == now_has.node && r.port == now_has.port) ||
		       (r.guid == now_has.guid && r.peer_port == now_has.peer_port);
	});
	reservations_.push_back(now_has);
	return &link;
}

} // namespace pib::netd
