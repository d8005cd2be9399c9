// SPDX-License-Identifier: GPL-2.0
// Sessions with peers, as kernel/udp/session.c and kernel/udp/discovery.c keep them: the state
// machine is that of kernel/proto/session.c.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/core.h"

namespace pib::netd {
namespace {

/// A peer that is silent for so long loses its place.
constexpr std::uint64_t kExpiry = 60 * PIB_NSEC_PER_SEC;
/// Between two lines about hosts of the version before.
constexpr std::uint64_t kFormerQuiet = 10 * PIB_NSEC_PER_SEC;

void set_description(pib_hello &h, std::string_view text)
{
	std::memset(h.desc, 0, sizeof(h.desc));
	std::copy_n(text.begin(), std::min(text.size(), sizeof(h.desc) - 1), h.desc);
}

pib_cookie_addr cookie_addr(const Address &address)
{
	pib_cookie_addr addr{};
	if (address.family == AF_INET) {
		pib_cookie_addr_v4(&addr, address.bytes.data(), address.port);
		return addr;
	}
	std::copy(address.bytes.begin(), address.bytes.end(), addr.host);
	addr.udp_port = address.port;
	return addr;
}

std::string port_name(const Port &port)
{
	return fmt::format("{}/{}", port.owner->config.name, port.p.num);
}

using Links = std::unordered_map<std::uint32_t, std::unique_ptr<Link>>;

/// True if the peer of another link of the fabric has shown that it has the session of this one's, too:
/// one of them has taken it, to have the other one answer for it.
bool share_session(const Links &links, const Link &link)
{
	return std::any_of(links.begin(), links.end(), [&](const auto &each) {
		const Link &other = *each.second;
		return &other != &link && other.session.peer_nonce == link.session.peer_nonce &&
		       !other.session.unproved &&
		       other.port->owner->config.fabric == link.port->owner->config.fabric;
	});
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
	spoke_ = true;
	put_bytes(path, bytes, 0, Rank::management);
}

/// Sends what may be overtaken.
void Core::put_bytes(const Path &path, std::span<const std::uint8_t> bytes, std::uint8_t tos,
		     Rank rank)
{
	const auto &kept = forwarder_.keep({bytes.begin(), bytes.end()});
	const iovec part = {const_cast<std::uint8_t *>(kept.data()), kept.size()};
	wire_.send(path, {&part, 1}, 0, tos, rank);
	stats_.add(PIB_US_TX_DATAGRAMS);
}

/// Answers have no order, so they do not make the rest leave under the lock.
void Core::answer_stranger(const Path &path, std::span<const std::uint8_t> bytes)
{
	wire_.answer(path, bytes);
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
	h.caps = PIB_CAP_SEGMENTS | PIB_CAP_ECN | PIB_CAP_FLOWS | PIB_CAP_PADDED |
		 (forwarder_.icrc() ? 0u : std::uint32_t{PIB_CAP_NOICRC}) |
		 (windows_ ? std::uint32_t{PIB_CAP_WINDOWS} : 0u) |
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
	pib_session_build(&link.session, &h, now, bytes.data());
	// The first key is the session's, since a change of the key begins a new session.
	auth_seal(link.port->owner->config.key, bytes);
	send_bytes(link.path, bytes);
}

/// Sends a padded probe, if one is due: whether large datagrams reach the peer (kernel/proto/pmtu.h).
void Core::say_padded(Link &link, std::uint64_t now)
{
	if (!link.established())
		return;
	const std::size_t headers = link.path.remote.headers();
	const pib_pmtu_bounds bounds{
		.mtu = static_cast<std::uint32_t>(wire_.room(link.path) + headers),
		.least = link.path.remote.family == AF_INET ? PIB_PMTU_LEAST : PIB_PMTU_LEAST_IPV6,
		.most = pib_session_most(&link.session, link.port->p.mtu_cap),
	};
	const std::size_t size = pib_session_probe_size(&link.session, &bounds, now);
	if (!size)
		return;
	std::vector<std::uint8_t> bytes(size - headers);
	pib_hello h{};
	fill_hello(*link.port, h);
	pib_session_build_padded(&link.session, &h, static_cast<std::uint16_t>(bytes.size()),
				 bytes.data());
	auth_seal(link.port->owner->config.key, std::span(bytes).first(PIB_HELLO_WIRE_LEN));
	send_bytes(link.path, bytes);
}

/// Whether a refusal, or the answer to a probe, may be given: of one stranger others have most of theirs left. Those who
/// speak the version before share a budget.
bool Core::answer_is_due(const Path &path, const pib_hello &h, std::uint8_t why, std::uint64_t now)
{
	const pib_cookie_addr from = cookie_addr(path.remote);
	return why == PIB_REFUSED_VERSION ? former_answers_.take(PIB_HELLO_WIRE_LEN, now)
					  : pib_cookie_may_refuse(&cookies_, &from, &h, now);
}

/// Tells a peer why it gets no link: a BYE in its session.
void Core::refuse(const Path &path, const pib_hello &h, std::uint8_t why, std::uint64_t now)
{
	if (!answer_is_due(path, h, why, now))
		return;
	log_.debug("peer refused", {{"peer", peer_name(h)},
				    {"address", format_address(path.remote)},
				    {"reason", std::string(pib_hello_refusal_text(why))}});
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_hello answer{};
	Switch *node = ports_.acceptor(h.fabric);
	// A peer that may not come in is not told who is here.
	if (node && why == PIB_REFUSED_FULL)
		fill_hello(node->port(0), answer);
	// A peer without a key could not check an answer with one.
	const bool keyed = node && !node->config.key.empty() && h.caps & PIB_CAP_KEYED;
	answer.caps &= ~std::uint32_t{PIB_CAP_KEYED};
	answer.caps |= keyed ? std::uint32_t{PIB_CAP_KEYED} : 0u;
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
	if (why == PIB_REFUSED_VERSION)
		pib_hello_make_former(bytes.data());
	if (keyed)
		auth_seal(node->config.key, bytes);
	answer_stranger(path, bytes);
}

/// Tells a host of the version before why it gets no link, and the user.
void Core::refuse_former(const Path &path, std::span<const std::uint8_t> bytes, std::uint64_t now)
{
	pib_hello h;
	if (!pib_hello_parse_former(&h, bytes.data(), bytes.size()))
		return;
	refuse(path, h, PIB_REFUSED_VERSION, now);
	if (now < former_due_)
		return;
	former_due_ = now + kFormerQuiet;
	log_.warning("peer speaks version 1 of the wire format",
		     {{"peer", peer_name(h)}, {"address", format_address(path.remote)}});
}

/// Answers a peer that only wants to know which node is here, if it might have a port.
void Core::answer_probe(const Arrival &arrival, const pib_hello &h, std::uint64_t now)
{
	// As if it named a link: without one a hello is discovery, and of trunks.
	pib_hello asking = h;
	asking.link_id = 1;
	if (!ports_.admits(asking, way_of(arrival, h.fabric))) {
		stats_.add(PIB_US_RX_STRANGER);
		refuse(arrival.path, h, PIB_REFUSED_CLOSED, now);
		return;
	}
	if (!answer_is_due(arrival.path, h, 0, now)) {
		stats_.add(PIB_US_RX_STRANGER);
		return;
	}
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_hello answer{};
	const Switch &node = *ports_.acceptor(h.fabric);
	fill_hello(*node.ports[0], answer);
	answer.caps |= PIB_CAP_PROBE;
	answer.nonce = nonce();
	answer.peer_nonce = h.nonce;
	answer.seq = 1;
	answer.ack = h.seq;
	pib_hello_build(&answer, PIB_DG_HELLO_ACK, h.link_id, bytes.data());
	auth_seal(node.config.key, bytes);
	answer_stranger(arrival.path, bytes);
}

/// Answers a hello for which there is a port, and keeps nothing: kernel/proto/cookie.h.
void Core::answer(const Path &path, const pib_hello &h, std::uint64_t now)
{
	const pib_cookie_addr from = cookie_addr(path.remote);
	if (!pib_cookie_may_reply(&cookies_, &from, &h, now)) {
		stats_.add(PIB_US_RX_STRANGER);
		return;
	}
	Switch &node = *ports_.acceptor(h.fabric);
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_hello answer{};
	fill_hello(node.port(0), answer);
	const std::uint8_t type = pib_cookie_reply(&cookies_, &from, &h, now, &answer);
	pib_hello_build(&answer, type, h.link_id, bytes.data());
	auth_seal(key_of(node, h.key), bytes);
	answer_stranger(path, bytes);
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

/// True if the sender has a key of the switch, or both have none. The key's number is noted in h.
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

HelloKey Core::hello_key(std::span<const std::uint8_t> bytes) const
{
	pib_hello h;
	std::uint32_t to = 0;
	std::uint8_t type = 0;
	if (pib_hello_parse(&h, &type, &to, bytes.data(), bytes.size()))
		return {};
	const Switch *node = ports_.acceptor(h.fabric);
	if (!node || !authentic(*node, h, bytes))
		return {};
	return h.key;
}

/// The key of a session that holds.
const Key &Core::key_of(const Switch &node, std::uint32_t number) const
{
	return number && number == node.second_number ? node.config.second_key : node.config.key;
}

/// Restarts the link if its own key or its peer's is none of the switch's any more.
void Core::rekey(Link &link, std::uint64_t now)
{
	const Switch &node = *link.port->owner;
	const std::uint64_t session = link.session.nonce;
	const std::uint32_t todo =
		pib_session_rekey(&link.session, node.key_number, node.second_number, nonce(), now);
	// That of a peer that is lost has perhaps a key that is dropped.
	if (link.seal && !link.seal->is_of(link.session.nonce, link.session.peer_nonce))
		link.seal.reset();
	if (link.session.nonce == session)
		return;
	// Its sessions never come back, so their counters need not be known any more.
	link.seal.reset();
	act(link, todo, now);
	deadline_ = std::min(deadline_, pib_session_deadline(&link.session));
}

// ---- hearing ----

void Core::control(const Arrival &arrival, std::span<const std::uint8_t> bytes, HelloKey key,
		   std::uint64_t now)
{
	pib_hello h;
	std::uint32_t to = 0;
	std::uint8_t type = 0;
	if (pib_hello_parse(&h, &type, &to, bytes.data(), bytes.size())) {
		stats_.add(PIB_US_RX_BAD_HELLO);
		return;
	}
	if (!to && h.padded) {
		stats_.add(PIB_US_RX_BAD_HELLO);
		return;
	}
	if (!to) {
		greet(arrival, h, type, key, now);
		return;
	}
	const auto found = links_.find(to);
	if (found == links_.end()) {
		echo(arrival, h, to, type, key, now);
		return;
	}
	Link &link = *found->second;
	if (link.port->owner->config.fabric != h.fabric) {
		stats_.add(PIB_US_RX_OTHER_FABRIC);
	} else if (key) {
		// All switches of a fabric have the same keys.
		h.key = *key;
		link_control(link, arrival, h, type, false, now);
	} else {
		unauthentic(link, arrival.path, h, type, now);
	}
}

/// Notes a datagram by an unknown key, for the user. Nothing else follows from it.
void Core::unauthentic(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
		       std::uint64_t now)
{
	stats_.add(PIB_US_RX_BAD_AUTHENTICATION);
	// A sender that answers this link's session has heard it. The address alone is easily
	// forged.
	if (type != PIB_DG_BYE && h.peer_nonce == link.session.nonce)
		stranger(link, path, now);
	else if (h.refusal == PIB_REFUSED_KEY && link.path.remote == path.remote)
		refused(link, path, h, type, now);
}

/// Notes that a datagram by another key, or by none, has come from the link's peer's last address.
void Core::stranger(Link &link, const Path &path, std::uint64_t now)
{
	if (link.established() || !(link.path.remote == path.remote))
		return;
	if (link.refused != PIB_REFUSED_KEY)
		log_.warning("peer has another key", {{"port", port_name(*link.port)},
						      {"address", format_address(path.remote)}});
	link.refused = PIB_REFUSED_KEY;
	link.refused_at = now;
}

/// Notes a hello by another key, or by none, from that address and in the name of the link's peer.
/// All of that is easily forged, so the user is told that it is only a claim.
void Core::claim(Link *link, const Path &path, std::uint64_t now)
{
	if (!link || link->established() || !(link->path.remote == path.remote))
		return;
	if (!link->claimed_at)
		log_.warning(kClaimed, {{"port", port_name(*link->port)},
					{"address", format_address(path.remote)}});
	link->claimed_at = now;
}

bool Core::refused(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
		   std::uint64_t now)
{
	if (type != PIB_DG_BYE || !h.refusal || h.peer_nonce != link.session.nonce ||
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

/// Takes in a hello to no link in particular.
void Core::greet(const Arrival &arrival, pib_hello &h, std::uint8_t type, HelloKey key,
		 std::uint64_t now)
{
	const Switch *node = ports_.acceptor(h.fabric);
	const bool wants_answer = type == PIB_DG_HELLO && (h.link_id || h.caps & PIB_CAP_PROBE);
	if (!node) {
		stats_.add(PIB_US_RX_OTHER_FABRIC);
		if (wants_answer)
			refuse(arrival.path, h, PIB_REFUSED_FABRIC, now);
		return;
	}
	if (!key) {
		stats_.add(PIB_US_RX_BAD_AUTHENTICATION);
		if (type == PIB_DG_HELLO && h.link_id)
			claim(match(h, arrival.path.remote), arrival.path, now);
		if (wants_answer)
			refuse(arrival.path, h, PIB_REFUSED_KEY, now);
		return;
	}
	h.key = *key;
	if (type != PIB_DG_HELLO) {
		stats_.add(PIB_US_RX_BAD_HELLO);
		return;
	}
	if (h.caps & PIB_CAP_PROBE) {
		answer_probe(arrival, h, now);
		return;
	}
	if (!h.link_id) {
		stats_.add(PIB_US_RX_UNKNOWN_LINK);
		return;
	}
	Link *link = match(h, arrival.path.remote);
	if (link ? may_lead(*link, arrival, h) : port_for(arrival, h, now) != nullptr)
		answer(arrival.path, h, now);
	else if (link)
		link_control(*link, arrival, h, type, false, now);
}

/// A datagram is for a link that there is not. If it echoes an answer, its sender hears what is sent
/// to him.
void Core::echo(const Arrival &arrival, pib_hello &h, std::uint32_t to, std::uint8_t type,
		HelloKey by, std::uint64_t now)
{
	const Switch *node = ports_.acceptor(h.fabric);
	const pib_cookie_addr from = cookie_addr(arrival.path.remote);
	const auto is_back = [&](std::uint32_t key) {
		return pib_cookie_is_back(&cookies_, &from, &h, to, key, now);
	};
	const bool goes_on = node && is_back(node->key_number);
	const bool begins = !goes_on && node && node->second_number && is_back(node->second_number);
	if (type == PIB_DG_BYE || !h.link_id || h.padded || (!goes_on && !begins)) {
		stats_.add(PIB_US_RX_UNKNOWN_LINK);
		return;
	}
	if (!by) {
		stats_.add(PIB_US_RX_BAD_AUTHENTICATION);
		return;
	}
	h.key = *by;
	const Answered said{to, h.peer_nonce};
	Link *link = match(h, arrival.path.remote);
	if (!link)
		link = admit(arrival, h, goes_on ? &said : nullptr, now);
	if (link)
		link_control(*link, arrival, h, type, true, now);
}

/// The link that the peer has already.
Link *Core::match(const pib_hello &h, const Address &from)
{
	if (const auto at = accepted_.find(h.fabric); at != accepted_.end())
		if (const auto link = at->second.find(PeerId::of(h)); link != at->second.end())
			return link->second;
	const auto [begin, end] = called_.equal_range(Host::of(from));
	for (auto at = begin; at != end; ++at) {
		Link *link = at->second;
		// Several links may lead to one address: a session tells them apart.
		const bool bound =
			link->established() && (link->session.peer_node_guid != h.node_guid ||
						link->session.peer_port_num != h.port_num);
		if (!bound && link->path.remote == from &&
		    link->port->owner->config.fabric == h.fabric)
			return link;
	}
	return nullptr;
}

/// True if the link is down and its peer perhaps comes from another address, to which it may
/// follow when the peer has echoed an answer to there: who had a session may foresee the next one,
/// and would have the link come up at the address of somebody else. A host that would get no port
/// must not take the peer's.
bool Core::may_lead(const Link &link, const Arrival &arrival, const pib_hello &h) const
{
	if (link.kind == LinkKind::configured || link.established() ||
	    link.path.remote == arrival.path.remote)
		return false;
	const pib_hello_way way = way_of(arrival, h.fabric);
	return pib_hello_follows(link.port->owner->config.accept, false, &h, &way);
}

void Core::follow(Link &link, const Path &path)
{
	pib_session_moved(&link.session, true);
	link.path = path;
}

/// Asks an address that is perhaps the peer's.
void Core::ask_address(const Link &link, const Path &path, std::uint64_t now)
{
	const pib_cookie_addr to = cookie_addr(path.remote);
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_hello h{};
	fill_hello(*link.port, h);
	pib_session_build_question(&link.session, &h,
				   pib_cookie_question(&cookies_, &to, link.session.nonce,
						       link.session.peer_nonce, now),
				   bytes.data());
	auth_seal(link.port->owner->config.key, bytes);
	answer_stranger(path, bytes);
}

/// While the link is up a datagram comes from another address. The peer, or who has seen its
/// datagrams, may have forged that, to have somebody else flooded. So the address is asked, and
/// followed to when it answers. True if the datagram is the peer's.
bool Core::meets(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
		 std::uint64_t now)
{
	const pib_cookie_addr from = cookie_addr(path.remote);
	const bool answers = pib_cookie_is_answer(&cookies_, &from, link.session.nonce,
						  link.session.peer_nonce, h.peer_nonce, now);
	switch (pib_session_stray(&link.session, &h, type, answers, now)) {
	case PIB_STRAY_FOLLOW:
		if (share_session(links_, link))
			break;
		follow(link, path);
		return true;
	case PIB_STRAY_TAKE: return true;
	case PIB_STRAY_ASK: ask_address(link, path, now); break;
	}
	return false;
}

/// True if the datagram is the peer's. Follows the peer to its address, and to that of the daemon
/// which it sends to: not for what is sent again, here neither.
bool Core::knows(Link &link, const Arrival &arrival, const pib_hello &h, std::uint8_t type,
		 bool shown, std::uint64_t now)
{
	const Path &path = arrival.path;
	if (link.kind == LinkKind::accepted && !link.is_peer(h))
		return false;
	if (link.path.remote == path.remote) {
		if (!link.established() || pib_session_is_next(&link.session, &h))
			link.path = path;
		return true;
	}
	if (link.kind == LinkKind::configured)
		return false;
	if (link.established())
		return meets(link, path, h, type, now);
	if (!shown || !may_lead(link, arrival, h))
		return false;
	follow(link, path);
	return true;
}

/// Notes that what comes from flows' ports gets through. The peer is told now, if that is news.
void Core::take_probe(Link &link, const Path &path, const pib_hello &h, std::uint8_t type,
		      std::uint64_t now)
{
	const bool may_be =
		same_host(link.path.remote, path.remote) && !(link.path.remote == path.remote);
	std::uint32_t todo = PIB_SESSION_DO_REJECT;
	if (may_be)
		todo = pib_session_rx_probe(&link.session, &h, type, now);
	if (todo & PIB_SESSION_DO_REJECT)
		stats_.add(PIB_US_RX_WRONG_ADDRESS);
	if (todo & PIB_SESSION_DO_SEND)
		say(link, now);
}

/// Notes that a padded probe came: the next control datagram says so.
void Core::take_padded(Link &link, const Path &path, const pib_hello &h, std::uint8_t type)
{
	if (link.path.remote != path.remote)
		stats_.add(PIB_US_RX_WRONG_ADDRESS);
	else if (!pib_session_take_padded(&link.session, &h, type))
		stats_.add(PIB_US_RX_BAD_HELLO);
}

/// Tells the user, once in a session.
void Core::note_shrink(Link &link)
{
	stats_.add(PIB_US_TX_SHRUNK);
	if (link.session.pmtu.falls == 1)
		log_.warning(
			"large datagrams get lost on the way to the peer: smaller ones are sent",
			{{"port", port_name(*link.port)},
			 {"address", format_address(link.path.remote)}});
}

void Core::link_control(Link &link, const Arrival &arrival, const pib_hello &h, std::uint8_t type,
			bool shown, std::uint64_t now)
{
	if (h.caps & PIB_CAP_FLOW_PROBE) {
		take_probe(link, arrival.path, h, type, now);
		return;
	}
	if (h.padded) {
		take_padded(link, arrival.path, h, type);
		return;
	}
	if (!knows(link, arrival, h, type, shown, now)) {
		stats_.add(PIB_US_RX_WRONG_ADDRESS);
		return;
	}
	if (refused(link, arrival.path, h, type, now))
		return;
	act(link, pib_session_rx(&link.session, &h, type, now), now);
	if (link.established())
		link.alive_at = now;
	deadline_ = std::min(deadline_, pib_session_deadline(&link.session));
}

// ---- what it means ----

void Core::act(Link &link, std::uint32_t todo, std::uint64_t now)
{
	if (todo & PIB_SESSION_DO_REJECT)
		stats_.add(PIB_US_RX_BAD_HELLO);
	if (todo & PIB_SESSION_DO_DOWN)
		link.bounce = true;
	if (todo & PIB_SESSION_DO_SHRINK)
		note_shrink(link);
	if (todo & PIB_SESSION_DO_SEND)
		say(link, now);
	if (todo & (PIB_SESSION_DO_UP | PIB_SESSION_DO_DOWN))
		agents_touched_ = true;
	settle_credits(link);
	if (link.established()) {
		const Key &own = key_of(*link.port->owner, link.session.key);
		const Key &peer = key_of(*link.port->owner, link.session.peer_key);
		const std::pair sessions{link.session.nonce, link.session.peer_nonce};
		if (std::exchange(link.tags_of, sessions) != sessions) {
			link.tx_tag = auth_tag(own, link.session.peer_nonce, link.session.nonce);
			link.rx_tag = auth_tag(peer, link.session.nonce, link.session.peer_nonce);
		}
		if (own.empty())
			link.seal.reset();
		else if (!link.seal ||
			 !link.seal->is_of(link.session.nonce, link.session.peer_nonce))
			link.seal.emplace(own, peer, link.session.nonce, link.session.peer_nonce);
		link.refused = 0;
		link.claimed_at = 0;
	}
	settle(link);
}

/// Brings the port in line with the session.
void Core::settle(Link &link)
{
	const bool up = link.session.plugged;
	if (link.is_up && (!up || link.bounce)) {
		link.is_up = false;
		forwarder_.drop_held(link);
		port_link_down(*link.port);
		log_.info("link down", {{"port", port_name(*link.port)}});
	}
	link.bounce = false;
	if (!up || link.is_up)
		return;
	link.is_up = true;
	port_link_up(*link.port, {link.session.peer_mtu_cap, link.session.peer_width_en,
				  link.session.peer_speed_en, link.session.peer_ext_speed_en});
	log_.info("link up", {{"port", port_name(*link.port)},
			      {"address", format_address(link.path.remote)},
			      {"peer", fmt::format("0x{:016x}/{}", link.session.peer_node_guid,
						   link.session.peer_port_num)},
			      {"description", std::string(link.session.peer_desc)}});
}

/// Retrains the port: pulls its cable and, if it may be in, puts it back.
void Core::bounce(Port &port, std::uint64_t now)
{
	if (port.cable) {
		Port &other = *port.cable;
		port_link_down(port);
		port_link_down(other);
		settle_cable(port, other);
	} else if (port.link) {
		const bool down = port.cable_out() || !pib_port_wants_link(&port.p);
		act(*port.link, pib_session_reset(&port.link->session, nonce(), down, now), now);
	}
}

// ---- making and dropping links ----

Link &Core::make_link(Port &port, LinkKind kind, const Path &path, const Answered *said,
		      std::uint64_t now)
{
	auto link = std::make_unique<Link>();
	std::uint32_t id = said ? said->id : 0;
	// Link ids are random, so that whoever does not see the traffic cannot name a link.
	while (!id || links_.contains(id))
		id = static_cast<std::uint32_t>(random_());
	if (said)
		pib_session_init_answered(&link->session, id, said->nonce);
	else
		pib_session_init(&link->session, id, nonce());
	link->session.key = port.owner->key_number;
	link->session.second_key = port.owner->second_number;
	link->session.passive = kind == LinkKind::accepted;
	link->session.local_down = port.cable_out() || !pib_port_wants_link(&port.p);
	link->kind = kind;
	link->port = &port;
	link->path = path;
	link->made_at = link->alive_at = now;
	link->frames.share(frame_memory_);
	port.link = link.get();
	ports_.update(port);
	if (kind == LinkKind::configured)
		called_.emplace(Host::of(path.remote), link.get());
	deadline_ = std::min(deadline_, now);
	return *links_.emplace(id, std::move(link)).first->second;
}

/// Nobody finds the link by its peer any more.
void Core::forget(const Link &link, std::uint64_t now)
{
	if (link.kind == LinkKind::accepted) {
		accepted_[link.port->owner->config.fabric].erase({link.peer_guid, link.peer_port});
		if (!pib_cookie_is_over(link.made_at, now))
			forget_answers();
		return;
	}
	const auto [begin, end] = called_.equal_range(Host::of(link.path.remote));
	called_.erase(
		std::find_if(begin, end, [&](const auto &each) { return each.second == &link; }));
}

/// Nothing else keeps what has made a link from being sent again once the link is gone.
void Core::forget_answers()
{
	for (std::uint64_t &word : cookies_.secret)
		word = random_();
}

void Core::drop_link(Link &link, std::uint64_t now)
{
	if (link.established()) {
		pib_session_bye(&link.session);
		say(link, now);
	}
	set_faults(*link.port, {});
	link.port->loose = false;
	link.port->link = nullptr;
	ports_.update(*link.port);
	forget(link, now);
	if (link.is_up) {
		port_link_down(*link.port);
		log_.info("link down", {{"port", port_name(*link.port)}});
	}
	forwarder_.forget(link);
	links_.erase(link.id());
}

/// When a link is given up, if nothing brings it up until then; never, if it was asked for here.
std::uint64_t Core::expires_at(const Link &link) const
{
	return link.kind == LinkKind::accepted && !link.established() ? link.alive_at + kExpiry + 1
								      : PIB_SESSION_NEVER;
}

/// True if the link has been down for too long. Datagrams heard meanwhile prove nothing: an old one
/// may be replayed again and again.
bool Core::expired(const Link &link, std::uint64_t now) const
{
	return now >= expires_at(link);
}

/// True if the configuration calls the host.
bool Core::names(const Address &host) const
{
	return called_.contains(Host::of(host));
}

pib_hello_way Core::way_of(const Arrival &arrival, std::uint32_t fabric) const
{
	return {.hop_limit = arrival.hop_limit,
		.to_group = false,
		.named = ports_.asks_for_names(fabric) && names(arrival.path.remote)};
}

/// The port that the sender of h would get now; nullptr: none, and it has been told why.
Port *Core::port_for(const Arrival &arrival, const pib_hello &h, std::uint64_t now)
{
	const pib_hello_way way = way_of(arrival, h.fabric);
	if (!ports_.admits(h, way)) {
		stats_.add(PIB_US_RX_STRANGER);
		refuse(arrival.path, h, PIB_REFUSED_CLOSED, now);
		return nullptr;
	}
	Port *port = ports_.find(h, way);
	if (!port) {
		stats_.add(PIB_US_RX_NO_PORT);
		refuse(arrival.path, h, PIB_REFUSED_FULL, now);
	}
	return port;
}

Link *Core::admit(const Arrival &arrival, const pib_hello &h, const Answered *said,
		  std::uint64_t now)
{
	Port *port = port_for(arrival, h, now);
	if (!port)
		return nullptr;
	Link &link = make_link(*port, LinkKind::accepted, arrival.path, said, now);
	link.peer_guid = h.node_guid;
	link.peer_port = h.port_num;
	accepted_[port->owner->config.fabric].emplace(PeerId::of(h), &link);
	ports_.reserve(*port, PeerId::of(h));
	return &link;
}

} // namespace pib::netd
