// SPDX-License-Identifier: GPL-2.0
#include "core/port_finder.h"

#include <algorithm>

namespace pib::netd {
namespace {

bool is_free(const Port &port)
{
	return !port.link && !port.cable;
}

} // namespace

void PortFinder::rebuild(const std::vector<std::unique_ptr<Switch>> &switches,
			 const std::vector<Place> &places)
{
	switches_.clear();
	names_.clear();
	fabrics_.clear();
	places_.clear();
	is_place_.clear();
	for (const auto &node : switches) {
		node->rank = switches_.size();
		switches_.push_back(node.get());
		names_.emplace(node->config.name, node.get());
	}
	for (const Place &place : places) {
		Switch *node = named(place.at.node);
		if (!node || place.at.port < 1 || place.at.port > node->node.num_ports)
			continue;
		Port &port = node->port(place.at.port);
		places_.emplace(PeerId{place.guid, place.peer_port}, &port);
		is_place_.insert(&port);
	}
	for (Switch *node : switches_) {
		const bool open = node->config.accept != PIB_HELLO_NOBODY;
		const auto [at, first] = fabrics_.try_emplace(node->config.fabric);
		Fabric &fabric = at->second;
		if (first ||
		    (open && switches_[fabric.acceptor]->config.accept == PIB_HELLO_NOBODY))
			fabric.acceptor = node->rank;
		fabric.accepts[node->config.accept] = true;
		for (unsigned i = 1; i <= node->node.num_ports; i++)
			update(node->port(i));
	}
}

Switch *PortFinder::named(const std::string &name) const
{
	const auto at = names_.find(name);
	return at == names_.end() ? nullptr : at->second;
}

/// True if the port may be given to a peer that neither has a place nor had a port.
bool PortFinder::may_be_any(const Port &port) const
{
	return is_free(port) && !port.unplugged &&
	       (!port.owner->config.places_only || is_place_.contains(&port));
}

void PortFinder::update(const Port &port)
{
	const Switch &node = *port.owner;
	const auto at = fabrics_.find(node.config.fabric);
	// A switch that is not known yet, or not any more: rebuild() follows.
	if (at == fabrics_.end() || node.rank >= switches_.size() || switches_[node.rank] != &node)
		return;
	const std::uint8_t accept = node.config.accept;
	const Key key = key_of(node, port.p.num);
	Fabric &fabric = at->second;
	fabric.fresh[accept].erase(key);
	fabric.had[accept].erase(key);
	if (!may_be_any(port))
		return;
	const bool had = peers_.contains({node.config.name, port.p.num});
	(had ? fabric.had : fabric.fresh)[accept].insert(key);
}

Switch *PortFinder::acceptor(std::uint32_t fabric) const
{
	const auto at = fabrics_.find(fabric);
	return at == fabrics_.end() ? nullptr : switches_[at->second.acceptor];
}

bool PortFinder::asks_for_names(std::uint32_t fabric) const
{
	const auto at = fabrics_.find(fabric);
	return at != fabrics_.end() &&
	       (at->second.accepts[PIB_HELLO_PEERS] || at->second.accepts[PIB_HELLO_LINK]);
}

bool PortFinder::admits(const pib_hello &h, const pib_hello_way &way) const
{
	const auto at = fabrics_.find(h.fabric);
	if (at == fabrics_.end())
		return false;
	for (std::uint8_t accept = 0; accept < kLevels; accept++)
		if (at->second.accepts[accept] && pib_hello_admits(accept, &h, &way))
			return true;
	return false;
}

bool PortFinder::admitted(const Switch &node, const pib_hello &h, const pib_hello_way &way)
{
	return node.config.fabric == h.fabric && pib_hello_admits(node.config.accept, &h, &way);
}

/// That which it has by a topology file, or had.
Port *PortFinder::own_port(const pib_hello &h, const pib_hello_way &way) const
{
	if (const auto place = places_.find(PeerId::of(h)); place != places_.end()) {
		Port &port = *place->second;
		if (is_free(port) && admitted(*port.owner, h, way))
			return &port;
	}
	const auto seat = seats_.find(PeerId::of(h));
	Switch *node = seat == seats_.end() ? nullptr : named(seat->second.node);
	if (!node || !admitted(*node, h, way) || seat->second.port < 1 ||
	    seat->second.port > node->node.num_ports)
		return nullptr;
	Port &port = node->port(seat->second.port);
	return is_free(port) ? &port : nullptr;
}

Port *PortFinder::find(const pib_hello &h, const pib_hello_way &way) const
{
	if (Port *own = own_port(h, way))
		return own;
	const auto at = fabrics_.find(h.fabric);
	if (at == fabrics_.end())
		return nullptr;
	for (const auto *free : {&at->second.fresh, &at->second.had}) {
		std::optional<Key> first;
		for (std::uint8_t accept = 0; accept < kLevels; accept++) {
			const std::set<Key> &ports = (*free)[accept];
			if (!ports.empty() && pib_hello_admits(accept, &h, &way))
				first = std::min(first.value_or(~Key{0}), *ports.begin());
		}
		if (first)
			return &switches_[*first >> 8]->port(*first & 0xFF);
	}
	return nullptr;
}

void PortFinder::reserve(const Port &port, const PeerId &peer)
{
	const Seat seat{port.owner->config.name, port.p.num};
	const auto had = seats_.find(peer);
	if (had != seats_.end() && had->second == seat)
		return;
	if (had != seats_.end()) {
		const Seat left = had->second;
		peers_.erase(left);
		seats_.erase(had);
		if (Switch *node = named(left.node); node && left.port <= node->node.num_ports)
			update(node->port(left.port));
	}
	if (const auto other = peers_.find(seat); other != peers_.end())
		seats_.erase(other->second);
	seats_[peer] = seat;
	peers_[seat] = peer;
	version_++;
	update(port);
}

std::vector<Reservation> PortFinder::reservations() const
{
	std::vector<Reservation> all;
	all.reserve(peers_.size());
	for (const auto &[seat, peer] : peers_)
		all.push_back({seat.node, peer.guid, peer.port, seat.port});
	return all;
}

void PortFinder::set_reservations(const std::vector<Reservation> &all)
{
	seats_.clear();
	peers_.clear();
	for (const Reservation &r : all) {
		const Seat seat{r.node, r.port};
		const PeerId peer{r.guid, r.peer_port};
		// A file may name one twice.
		if (!r.port || peers_.contains(seat) || seats_.contains(peer))
			continue;
		peers_.emplace(seat, peer);
		seats_.emplace(peer, seat);
	}
	version_++;
	for (const Switch *node : switches_)
		for (const auto &port : node->ports)
			if (port->p.num)
				update(*port);
}

} // namespace pib::netd
