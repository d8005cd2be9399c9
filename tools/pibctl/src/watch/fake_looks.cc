// SPDX-License-Identifier: GPL-2.0
#include "watch/fake_looks.h"

#include <linux/pib.h>

#include <algorithm>
#include <stdexcept>

#include "model/words/parse.h"

namespace pib::ctl::fake {
namespace {

constexpr std::uint8_t kActive = 4;
constexpr std::uint8_t kLinkUp = 5;
constexpr std::uint8_t kWidth4x = 2;
constexpr std::uint16_t kEdr = 32;

Port make_port(std::uint32_t number, std::uint16_t lid)
{
	Port port;
	port.number = number;
	port.guid = 0x1000 + lid;
	port.state = kActive;
	port.physical_state = kLinkUp;
	port.lid = lid;
	port.sm_lid = 1;
	port.mtu = 4096;
	port.width = kWidth4x;
	port.speed = kEdr;
	return port;
}

Hca make_hca(const char *name, std::uint16_t lid)
{
	Hca hca;
	hca.name = name;
	hca.description = "host of \xc3\xa4 <b>";
	hca.node_guid = 0x100 + lid;
	hca.num_ports = 1;
	hca.ports = {make_port(1, lid)};
	return hca;
}

Switch make_switch(const char *name, std::uint16_t lid)
{
	Switch node;
	node.name = name;
	node.node_guid = 0x200 + lid;
	node.num_ports = 4;
	for (std::uint32_t i = 0; i <= 4; ++i)
		node.ports.push_back(make_port(i, i ? 0 : lid));
	return node;
}

Link make_link(const End &a, const End &b)
{
	Link link;
	link.a = a;
	link.b = b;
	link.plugged = true;
	return link;
}

} // namespace

Fabric::Fabric()
{
	fabric.hcas = {make_hca("pib0", 1), make_hca("pib1", 2)};
	fabric.switches = {make_switch("sw0", 3), make_switch("sw1", 4)};
	fabric.links = {make_link({"pib0", 1}, {"sw0", 1}), make_link({"sw0", 3}, {"sw1", 3}),
			make_link({"sw1", 1}, {"pib1", 1})};
	Link far;
	far.a = {"sw1", 4};
	far.plugged = true;
	far.udp = UdpLink{};
	far.udp->peer = *parse_endpoint("192.0.2.7");
	fabric.links.push_back(far);
}

Port &Fabric::port(const End &end)
{
	const auto find = [&](auto &nodes) -> Port * {
		for (auto &node : nodes)
			for (Port &port : node.ports)
				if (node.name == end.node && port.number == end.port)
					return &port;
		return nullptr;
	};
	if (Port *found = find(fabric.hcas))
		return *found;
	if (Port *found = find(fabric.switches))
		return *found;
	throw std::out_of_range(format_end(end));
}

Link &Fabric::link(const End &a)
{
	return *std::ranges::find(fabric.links, a, &Link::a);
}

void Fabric::count(const End &end, const char *name, std::uint64_t value)
{
	Counters &counters = port(end).counters;
	std::erase_if(counters, [&](const Counter &counter) {
		return std::string_view(counter.name) == name;
	});
	counters.push_back({name, value});
}

void Fabric::add_queue_pair(std::uint64_t id, std::initializer_list<VerbsObject::Fact> facts)
{
	VerbsObject qp;
	qp.hca = "pib0";
	qp.kind = PIB_OBJECT_KIND_QP;
	qp.id = id;
	qp.owner = "ib_send_bw";
	qp.pid = 4711;
	qp.uid = 1000;
	qp.facts = facts;
	queue_pairs.push_back(qp);
}

Look Fabric::look(int milliseconds) const
{
	Look look;
	look.when = std::chrono::steady_clock::time_point(std::chrono::hours(1)) +
		    std::chrono::milliseconds(milliseconds);
	look.fabric = fabric;
	look.queue_pairs = queue_pairs;
	return look;
}

} // namespace pib::ctl::fake
