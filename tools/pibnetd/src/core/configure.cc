// SPDX-License-Identifier: GPL-2.0
// From one configuration to the next: only what differs is touched.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/core.h"

namespace pib::netd {
namespace {

const SwitchConfig *find(const Config &config, std::string_view name)
{
	for (const SwitchConfig &node : config.switches)
		if (node.name == name)
			return &node;
	return nullptr;
}

/// True if it is the same switch, though its description or its keys may have changed.
bool same_switch(const SwitchConfig &a, const SwitchConfig &b)
{
	return a.ports == b.ports && a.guid == b.guid && a.fabric == b.fabric &&
	       a.key.empty() == b.key.empty();
}

bool touches(const CableConfig &cable, const std::set<std::string> &nodes)
{
	return nodes.contains(cable.a.node) || (cable.b && nodes.contains(cable.b->node));
}

} // namespace

/// Refuses if links would be cut because keys are exchanged in a wrong order.
Status Core::check_link_keys(const Switch &node, const SwitchConfig &wanted,
			     std::uint64_t now) const
{
	for (const auto &[id, link] : links_) {
		if (link->port->owner != &node)
			continue;
		const std::uint32_t used = pib_session_used_key(&link->session, now);
		if (!used)
			continue;
		const Key &key = key_of(node, used);
		if (!same_key(key, wanted.key) && !same_key(key, wanted.second_key))
			return Error{fmt::format(
				"{}/{}: the peer uses the key that would go: change that host's "
				"key first, or reload by the control socket with \"force\", which "
				"cuts such links",
				node.config.name, link->port->p.num)};
	}
	return success();
}

Status Core::check_keys(const Config &config, std::uint64_t now, Drop drop) const
{
	for (const auto &node : switches_) {
		const SwitchConfig &is = node->config;
		const SwitchConfig *wanted = find(config, is.name);
		if (wanted && !is.key.empty() && wanted->key.empty())
			return Error{fmt::format("switch '{}': without its key everybody could "
						 "join: only a restart opens it",
						 is.name)};
		if (!wanted || !same_switch(*wanted, is))
			continue;
		if (!same_key(wanted->key, is.key) && !same_key(wanted->key, is.second_key))
			return Error{fmt::format(
				"switch '{}': this key was not its second key before: all hosts "
				"must have it as that first",
				is.name)};
		if (drop == Drop::forced)
			continue;
		if (auto ok = check_link_keys(*node, *wanted, now); !ok)
			return ok;
	}
	return success();
}

Status Core::configure(const Config &config, std::uint64_t now, Drop drop)
{
	if (auto ok = check_keys(config, now, drop); !ok)
		return ok;
	forwarder_.set_data_class(config.data_class);
	windows_ = config.windows;
	const bool tells_anew = forwarder_.icrc() != config.icrc;
	forwarder_.set_icrc(config.icrc);
	std::set<std::string> gone;
	for (const auto &node : switches_) {
		const SwitchConfig *wanted = find(config, node->config.name);
		if (!wanted || !same_switch(*wanted, node->config))
			gone.insert(node->config.name);
	}
	std::erase_if(cables_, [&](const CableConfig &cable) {
		const bool stays = std::find(config.cables.begin(), config.cables.end(), cable) !=
					   config.cables.end() &&
				   !touches(cable, gone);
		if (!stays)
			remove_cable(cable, now);
		return !stays;
	});
	for (const std::string &name : gone)
		remove_switch(*find_switch(name), now);
	for (const SwitchConfig &wanted : config.switches) {
		if (Switch *node = find_switch(wanted.name)) {
			update_switch(*node, wanted, now);
			continue;
		}
		switches_.push_back(std::make_unique<Switch>(wanted));
		number_keys(*switches_.back());
		log_.info("switch made", {{"switch", wanted.name},
					  {"ports", std::uint64_t{wanted.ports}},
					  {"guid", fmt::format("0x{:016x}", wanted.guid)}});
	}
	forget_keys();
	ports_.rebuild(switches_, config.places);
	for (const CableConfig &cable : config.cables) {
		if (std::find(cables_.begin(), cables_.end(), cable) != cables_.end())
			continue;
		make_cable(cable, now);
		cables_.push_back(cable);
	}
	// A peer that hears of it by its next hello only would send, or refuse, what the others do not.
	for (auto &[id, link] : links_)
		if (tells_anew && link->established())
			say(*link, now);
	after(now);
	forwarder_.flush(now);
	return success();
}

void Core::close(std::uint64_t now)
{
	while (!links_.empty())
		drop_link(*links_.begin()->second, now);
	forwarder_.flush(now);
}

void Core::remove_switch(Switch &node, std::uint64_t now)
{
	for (unsigned i = 1; i <= node.node.num_ports; i++) {
		Port &port = node.port(i);
		if (port.link)
			drop_link(*port.link, now);
		if (port.cable)
			unplug_cable(port);
	}
	// Datagrams with hellos refer to nothing in the switch, but packets that wait do.
	forwarder_.flush(now);
	forwarder_.forget(node);
	log_.info("switch removed", {{"switch", node.config.name}});
	std::erase_if(switches_, [&](const auto &each) { return each.get() == &node; });
}

void Core::update_switch(Switch &node, const SwitchConfig &config, std::uint64_t now)
{
	if (node.config.description != config.description)
		pib_node_set_desc(&node.node, config.description.c_str(), now);
	const bool rekeyed = !same_key(node.config.key, config.key) ||
			     !same_key(node.config.second_key, config.second_key);
	// Moved, for a copy would leave a dropped key in the memory of the one before.
	node.config = SwitchConfig(config);
	if (!rekeyed)
		return;
	number_keys(node);
	log_.info("keys changed", {{"switch", config.name},
				   {"keys", std::uint64_t{config.second_key.empty() ? 1u : 2u}}});
	for (unsigned i = 1; i <= node.node.num_ports; i++)
		if (Link *link = node.port(i).link)
			rekey(*link, now);
}

void Core::unplug_cable(Port &port)
{
	Port &other = *port.cable;
	set_faults(port, {});
	port.loose = other.loose = false;
	port.cable = nullptr;
	other.cable = nullptr;
	ports_.update(port);
	ports_.update(other);
	port_link_down(port);
	port_link_down(other);
}

/// Up, if both ends want it to be.
void Core::settle_cable(Port &a, Port &b)
{
	if (a.cable_out() || b.cable_out() || !pib_port_wants_link(&a.p) ||
	    !pib_port_wants_link(&b.p))
		return;
	const auto far = [](const Port &port) {
		return FarEnd{port.p.mtu_cap, port.p.width_en, port.p.speed_en,
			      port.p.ext_speed_en};
	};
	port_link_up(a, far(b));
	port_link_up(b, far(a));
	agents_touched_ = true;
}

void Core::plug_cable(Port &a, Port &b)
{
	a.cable = &b;
	b.cable = &a;
	ports_.update(a);
	ports_.update(b);
	settle_cable(a, b);
}

void Core::make_cable(const CableConfig &cable, std::uint64_t now)
{
	const auto a = find_port(cable.a);
	if (!a)
		return;
	// A peer that was accepted there gets another port when it says hello again.
	if ((*a)->link)
		drop_link(*(*a)->link, now);
	if (cable.peer) {
		make_link(**a, LinkKind::configured,
			  {.socket = kAnySocket, .remote = *cable.peer, .local = {}}, nullptr, now);
		return;
	}
	const auto b = find_port(*cable.b);
	if (!b)
		return;
	if ((*b)->link)
		drop_link(*(*b)->link, now);
	plug_cable(**a, **b);
}

void Core::remove_cable(const CableConfig &cable, std::uint64_t now)
{
	const auto a = find_port(cable.a);
	if (!a)
		return;
	if ((*a)->link)
		drop_link(*(*a)->link, now);
	if ((*a)->cable)
		unplug_cable(**a);
}

} // namespace pib::netd
