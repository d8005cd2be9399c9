// SPDX-License-Identifier: GPL-2.0
// A switch: the memory around a node of kernel/proto.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "wire/auth.h"
#include "switch/pipe.h"
#include "wire/proto.h"

namespace pib::netd {

struct Link;
struct Switch;

struct Port {
	pib_port p{};
	pib_counts counts{};
	Switch *owner = nullptr;
	/// The other end: a session with a peer, or a cable to a port of this process.
	Link *link = nullptr;
	Port *cable = nullptr;
	/// The user has pulled the cable out.
	bool unplugged = false;
	/// It has come loose by itself, for a while.
	bool loose = false;
	Faults faults;

	bool cable_out() const { return unplugged || loose; }
};

struct SwitchConfig {
	std::string name;
	std::uint8_t ports = 36;
	std::uint32_t fabric = 0;
	std::uint64_t guid = 0;
	std::string description;
	Key key;
	/// Hosts may have this one, too, while keys are exchanged.
	Key second_key;
	/// Which hosts that say hello get a port: enum pib_hello_accept.
	std::uint8_t accept = PIB_HELLO_ANYBODY;
	/// But only one where the topology file has an HCA.
	bool places_only = false;

	bool operator==(const SwitchConfig &) const = default;
};

struct Switch {
	explicit Switch(const SwitchConfig &with);
	Switch(const Switch &) = delete;
	Switch &operator=(const Switch &) = delete;

	Port &port(unsigned number) { return *ports[number]; }

	SwitchConfig config;
	/// Place among all switches, see PortFinder.
	std::size_t rank = ~std::size_t{0};
	/// Numbers of the keys, see pib_session; 0: there is none.
	std::uint32_t key_number = 0;
	std::uint32_t second_number = 0;
	pib_node node{};
	std::vector<std::unique_ptr<Port>> ports;

private:
	using Row = std::array<std::uint8_t, 16>;

	std::vector<pib_port *> pointers_;
	std::vector<std::vector<Row>> sl2vl_;
	std::vector<std::uint8_t> lft_;
	std::vector<std::array<std::uint32_t, PIB_PORTMASK_WORDS * 2>> mft_;
};

inline Port &port_of(pib_port *p)
{
	return static_cast<Switch *>(p->node->priv)->port(p->num);
}

/// The cable under the port is there, and what the far end can do. far_mtu_cap 0: unknown.
struct FarEnd {
	std::uint8_t mtu_cap = 0;
	std::uint8_t width_en = 0;
	std::uint8_t speed_en = 0;
	std::uint8_t ext_speed_en = 0;
};
void port_link_up(Port &port, const FarEnd &far);
/// The cable is gone, for now: counts it.
void port_link_down(Port &port);

} // namespace pib::netd
