// SPDX-License-Identifier: GPL-2.0
#include "switch/switch.h"

#include <algorithm>

namespace pib::netd {

namespace {

// Counters that the PMA reads.
u64 read_count(const pib_port *p, u32 counter)
{
	const pib_counts &counts = static_cast<Switch *>(p->node->priv)->port(p->num).counts;
	return reinterpret_cast<const u64 *>(&counts)[counter];
}

} // namespace

Switch::Switch(const SwitchConfig &with) : config(with)
{
	const std::size_t count = std::size_t{config.ports} + 1;
	lft_.resize(PIB_LFT_SIZE);
	mft_.resize(PIB_MFT_SIZE);
	sl2vl_.resize(count);
	for (std::size_t i = 0; i < count; i++) {
		ports.push_back(std::make_unique<Port>());
		ports[i]->owner = this;
		pointers_.push_back(&ports[i]->p);
		sl2vl_[i].resize(count);
		ports[i]->p.sl2vl = reinterpret_cast<std::uint8_t(*)[16]>(sl2vl_[i].data());
	}
	node.type = PIB_NODE_SWITCH;
	node.num_ports = config.ports;
	node.ports = pointers_.data();
	node.guid = config.guid;
	node.lft = lft_.data();
	node.mft = reinterpret_cast<std::uint32_t(*)[PIB_PORTMASK_WORDS * 2]>(mft_.data());
	node.count = read_count;
	node.priv = this;
	std::copy_n(config.description.begin(),
		    std::min(config.description.size(), sizeof(node.desc) - 1), node.desc);
	pib_node_init(&node);
	for (std::size_t i = 0; i < count; i++)
		pib_port_init(pointers_[i], &node, static_cast<std::uint8_t>(i), config.guid);
}

void port_link_up(Port &port, const FarEnd &far)
{
	port.p.far_width_en = far.width_en;
	port.p.far_speed_en = far.speed_en;
	port.p.far_ext_speed_en = far.ext_speed_en;
	pib_port_link_up(&port.p, far.mtu_cap);
}

void port_link_down(Port &port)
{
	const bool was_up = port.p.state > PIB_PORT_DOWN;
	pib_port_link_down(&port.p);
	port.counts.link_downed += was_up;
}

} // namespace pib::netd
