// SPDX-License-Identifier: GPL-2.0
// Frames that pass a switch as they came. The link headers are written when they leave, and the VL in
// each LRH here; no other byte is touched. A frame that is special in any way is left to forward.cc.
#include <algorithm>

#include "switch/forward.h"
#include "switch/whole_frame.h"

namespace pib::netd {
namespace {

/// True if the packets go the same way by whatever a switch looks at.
bool are_alike(const Packet &a, const Packet &b)
{
	return a.h.dlid == b.h.dlid && a.h.slid == b.h.slid && a.h.sl == b.h.sl &&
	       a.h.pkey == b.h.pkey && a.h.dqpn == b.h.dqpn && a.h.tp == b.h.tp &&
	       a.h.op == b.h.op && a.h.flags == b.h.flags && a.payload_length == b.payload_length;
}

bool takes_frames(const Port &out)
{
	return out.link && out.link->established() && !out.link->windows && !out.faults.departure &&
	       out.link->session.peer_caps & PIB_CAP_SEGMENTS;
}

} // namespace

/// The way of a packet that needs no more than its VL changed. Nothing: Forwarder::receive() takes it,
/// and counts it if it has no way.
std::optional<Forwarder::Way> Forwarder::way_of(Port &in, const Packet &packet) const
{
	if (packet.h.dqpn <= 1)
		return {};
	pib_route route;
	pib_node_route(&in.owner->node, in.p.num, &packet.h, &route);
	if (route.kind != PIB_ROUTE_PORT)
		return {};
	Port &out = in.owner->port(route.port);
	const std::uint8_t vl = pib_port_vl(&out.p, in.p.num, packet.h.sl);
	if (!takes_frames(out) || vl == PIB_VL_DISCARD ||
	    packet.payload_length > pib_mtu_bytes(out.p.nbr_mtu) ||
	    (packet.noicrc && !may_leave_out_icrc(*out.link)))
		return {};
	return Way{&out, vl, data_class_.tos(packet.h, out.link->session.peer_caps & PIB_CAP_ECN)};
}

std::optional<Forwarder::Way> Forwarder::way_of(Port &in, const WholeFrame &frame) const
{
	std::optional<Way> way;
	const Packet *last = nullptr;
	for (const Packet &packet : frame.packets()) {
		if (last && are_alike(*last, packet))
			continue;
		const auto its = way_of(in, packet);
		if (!its || (way && !(*way == *its)))
			return {};
		way = its;
		last = &packet;
	}
	return way;
}

bool Forwarder::pass(Port &in, WholeFrame &frame)
{
	if (in.faults.arrival)
		return false;
	const auto way = way_of(in, frame);
	if (!way || frame.step() > egress_.room(*way->out->link) ||
	    frame.bytes().size() > Egress::kBytesMax)
		return false;
	pib_port_armed_data(&in.p);
	for (const Packet &packet : frame.packets()) {
		count_in(in, packet);
		count_out(*way->out, packet, way->vl);
		frame.set_vl(packet, way->vl);
	}
	Link &link = *way->out->link;
	link.lanes.ready |= 1u << way->vl;
	resume(link);
	OutPacket &out = link.lanes.packets[way->vl].emplace_back();
	out.head[PIB_DG_HDR_LEN] = static_cast<std::uint8_t>(way->vl << 4);
	out.rest = frame.bytes().data();
	out.rest_length = frame.bytes().size();
	out.step = frame.step();
	out.noicrc = frame.head().flags & PIB_DG_NOICRC;
	out.tos = way->tos;
	return true;
}

} // namespace pib::netd
