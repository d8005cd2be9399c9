// SPDX-License-Identifier: GPL-2.0
#include "switch/forward.h"

#include <algorithm>

namespace pib::netd {
namespace {

/// Bytes of multicasts that a batch may take, with seals and what each takes besides: some hundred
/// bytes that come in may go out by 254 ports.
constexpr std::size_t kCopiedMost = 64 << 20;
constexpr std::size_t kCopyTakes = sizeof(OutPacket) + 2 * sizeof(iovec) + PIB_SEAL_LEN;

/// Bytes, see pib_credit_bytes(), that wait on a VL of a link for its window.
constexpr std::size_t kHeldMost = 1 << 20;
/// And not more than this part of what all lanes have left: few lanes do not take all.
constexpr std::size_t kHeldShare = 8;
/// But so much on each, however little the others leave: many lanes do not, either.
constexpr std::size_t kHeldLeast = 16 << 10;

bool leads_somewhere(const Port &out)
{
	return out.cable || (out.link && out.link->established());
}

/// The VL on which the packet may leave; if it may not it is counted why (16.1.3.5).
std::optional<std::uint8_t> vl_out(Port &out, std::uint8_t in, const Packet &packet)
{
	if (!pib_port_admits(&out.p, packet.h.dqpn) || !leads_somewhere(out)) {
		out.counts.xmit_discard++;
		out.counts.discard_inactive++;
		return {};
	}
	if (!packet.h.dqpn)
		return PIB_VL_MGMT;
	if (packet.payload_length > pib_mtu_bytes(out.p.nbr_mtu)) {
		out.counts.xmit_discard++;
		out.counts.discard_mtu++;
		return {};
	}
	const std::uint8_t vl = pib_port_vl(&out.p, in, packet.h.sl);
	if (vl != PIB_VL_DISCARD)
		return vl;
	if (in) {
		pib_counts &counts = out.owner->port(in).counts;
		counts.rcv_switch_relay_err++;
		counts.relay_vl++;
	} else {
		out.counts.xmit_discard++;
	}
	return {};
}

} // namespace

void count_in(Port &port, const Packet &packet)
{
	port.counts.rcv_bytes += packet.length;
	port.counts.rcv_pkts++;
	port.counts.sl_rcv_bytes[packet.h.sl & 0xF] += packet.length;
	(pib_lid_is_mcast(packet.h.dlid) ? port.counts.mcast_rcv : port.counts.ucast_rcv)++;
}

void count_out(Port &port, const Packet &packet, std::uint8_t vl)
{
	port.counts.xmit_bytes += packet.length;
	port.counts.xmit_pkts++;
	port.counts.sl_xmit_bytes[packet.h.sl & 0xF] += packet.length;
	port.counts.vl_xmit_bytes[vl] += packet.length;
	port.counts.vl_xmit_pkts[vl]++;
	(pib_lid_is_mcast(packet.h.dlid) ? port.counts.mcast_xmit : port.counts.ucast_xmit)++;
}

int parse_headers(const std::uint8_t *headers, std::size_t left, Packet &out)
{
	const int error = pib_hdrs_parse(&out.h, headers, std::min<std::size_t>(left, PIB_HDRS_MAX),
					 left, &out.header_length, &out.payload_length);
	if (error)
		return error;
	out.length = out.header_length + out.payload_length +
		     pib_hdrs_pad(static_cast<std::uint32_t>(out.payload_length)) + PIB_ICRC_LEN;
	return PIB_PARSE_OK;
}

int parse_packet(std::span<const std::uint8_t> bytes, Packet &out)
{
	out.bytes = bytes.data();
	return parse_headers(bytes.data(), bytes.size(), out);
}

std::uint32_t icrc_of(const Packet &packet)
{
	const std::uint32_t crc = pib_icrc_headers(packet.bytes, packet.header_length);
	return pib_icrc_update(crc, packet.bytes + packet.header_length,
			       packet.length - PIB_ICRC_LEN - packet.header_length);
}

bool icrc_is_right(const Packet &packet)
{
	return pib_icrc_match(icrc_of(packet), packet.bytes + packet.length - PIB_ICRC_LEN);
}

/// A notification of congestion is not marked: it would bring on another one, and so on.
bool may_mark(const Packet &packet)
{
	return packet.h.dqpn > 1 && packet.h.tp != PIB_TP_CNP && !(packet.h.flags & PIB_H_FECN);
}

void mark_packet(const pib_hdrs &h, std::uint8_t *bytes)
{
	constexpr std::uint8_t fecn = 0x80;
	constexpr std::size_t fecn_in_bth = 4;
	const std::size_t bth = kLrh + (h.flags & PIB_H_GRH ? PIB_GRH_LEN : 0);
	bytes[bth + fecn_in_bth] |= fecn;
}

const std::vector<std::uint8_t> &Forwarder::keep(std::vector<std::uint8_t> bytes)
{
	kept_.push_back(std::move(bytes));
	return kept_.back();
}

void Forwarder::receive(Port &in, const Packet &packet, std::uint64_t now)
{
	if (in.faults.arrival)
		arrive_badly(in, packet, now);
	else
		enter({&in, packet, 0}, now);
	run_waiting(now);
}

void Forwarder::run_waiting(std::uint64_t now)
{
	do {
		while (!waiting_.empty()) {
			const Waiting next = waiting_.front();
			waiting_.pop_front();
			enter({next.in, next.packet, next.hops}, now);
		}
	} while (!bad_.empty() && run_pipes(now));
	copies_ = 0;
}

void Forwarder::enter(const Step &step, std::uint64_t now)
{
	if (!pib_port_takes(&step.in->p, step.packet.h.dqpn))
		return;
	if (step.packet.h.dqpn)
		pib_port_armed_data(&step.in->p);
	count_in(*step.in, step.packet);
	if (step.hops + 1 < PIB_MAX_HOPS)
		arrive({step.in, step.packet, step.hops + 1}, now);
	else
		step.in->counts.rcv_switch_relay_err++;
}

void Forwarder::arrive(const Step &step, std::uint64_t now)
{
	Switch &at = *step.in->owner;
	pib_route route;
	pib_node_route(&at.node, step.in->p.num, &step.packet.h, &route);
	switch (route.kind) {
	case PIB_ROUTE_PORT:
		leave(at.port(route.port), step.in->p.num, step.packet, step.hops, now);
		break;
	case PIB_ROUTE_SELF: agent(step, now); break;
	case PIB_ROUTE_MCAST: multicast(step, route, now); break;
	default: count_drop(step, route, now);
	}
}

bool Forwarder::may_copy(const Packet &packet)
{
	if (copies_ >= PIB_MAX_COPIES || copied_ >= kCopiedMost - packet.length - kCopyTakes)
		return false;
	copies_++;
	copied_ += packet.length + kCopyTakes;
	return true;
}

void Forwarder::multicast(const Step &step, const pib_route &route, std::uint64_t now)
{
	Switch &at = *step.in->owner;
	for (unsigned i = 1; i <= at.node.num_ports; i++) {
		if (pib_route_stops(&route, static_cast<std::uint8_t>(i)))
			count_pkey_out(step, at.port(i), now);
		if (!pib_route_has(&route, static_cast<std::uint8_t>(i)))
			continue;
		if (may_copy(step.packet))
			leave(at.port(i), step.in->p.num, step.packet, step.hops, now);
		else
			at.port(i).counts.xmit_discard++;
	}
}

void Forwarder::count_drop(const Step &step, const pib_route &route, std::uint64_t now)
{
	Port &in = *step.in;
	Port &out = in.owner->port(route.port <= in.owner->node.num_ports ? route.port : 0);
	switch (route.reason) {
	case PIB_ROUTE_DROP_RELAY:
		in.counts.rcv_switch_relay_err++;
		in.counts.relay_dlid++;
		break;
	case PIB_ROUTE_DROP_LOOP:
		in.counts.rcv_switch_relay_err++;
		in.counts.relay_loop++;
		break;
	case PIB_ROUTE_DROP_OUT_STATE:
		out.counts.xmit_discard++;
		out.counts.discard_inactive++;
		break;
	case PIB_ROUTE_DROP_PKEY_IN:
		in.counts.rcv_constraint_err++;
		agents_ran_ = true;
		pib_trap_switch_pkey(&in.p, 1, &step.packet.h, now);
		break;
	case PIB_ROUTE_DROP_PKEY_OUT: count_pkey_out(step, out, now); break;
	}
}

void Forwarder::count_pkey_out(const Step &step, Port &out, std::uint64_t now)
{
	out.counts.xmit_constraint_err++;
	agents_ran_ = true;
	pib_trap_switch_pkey(&out.p, 1, &step.packet.h, now);
}

void Forwarder::leave(Port &out, std::uint8_t in, const Packet &packet, unsigned hops,
		      std::uint64_t now)
{
	const auto vl = vl_out(out, in, packet);
	if (!vl)
		return;
	transmit(out, packet, *vl, hops, now);
}

void Forwarder::transmit(Port &out, const Packet &packet, std::uint8_t vl, unsigned hops,
			 std::uint64_t now)
{
	auto &pipe = out.cable ? out.cable->faults.arrival : out.faults.departure;
	if (pipe) {
		depart_badly(out, *pipe, packet, vl, hops, now);
		return;
	}
	count_out(out, packet, vl);
	if (out.link) {
		queue(*out.link, packet, vl);
		return;
	}
	waiting_.push_back({out.cable, packet, hops});
	waiting_.back().packet.h.vl = vl;
}

/// The packet's bytes as the peer takes them: one that wants an ICRC gets one.
const std::uint8_t *Forwarder::bytes_for(const Link &link, const Packet &packet)
{
	if (!packet.noicrc || may_leave_out_icrc(link))
		return packet.bytes;
	if (!packet.with_icrc) {
		std::vector<std::uint8_t> copy(packet.bytes, packet.bytes + packet.length);
		pib_icrc_store(icrc_of(packet), &copy[packet.length - PIB_ICRC_LEN]);
		packet.with_icrc = keep(std::move(copy)).data();
	}
	return packet.with_icrc;
}

void Forwarder::queue(Link &link, const Packet &packet, std::uint8_t vl)
{
	link.lanes.ready |= 1u << vl;
	resume(link);
	OutPacket &out = link.lanes.packets[vl].emplace_back();
	const std::uint8_t *bytes = bytes_for(link, packet);
	std::copy_n(bytes, kLrh, out.head.begin() + PIB_DG_HDR_LEN);
	auto &first = out.head[PIB_DG_HDR_LEN];
	first = static_cast<std::uint8_t>(vl << 4 | (first & 0x0F));
	out.noicrc = packet.noicrc && may_leave_out_icrc(link);
	out.rest = bytes + kLrh;
	out.rest_length = packet.length - kLrh;
	// Users may send to QP1, but not from it.
	out.goes_ahead = packet.h.tp == PIB_TP_CNP ||
			 (packet.h.tp == PIB_TP_UD && packet.h.dqpn <= 1 && packet.h.sqpn <= 1);
	out.tos = data_class_.tos(packet.h, link.session.peer_caps & PIB_CAP_ECN);
}

void Forwarder::resume(Link &link)
{
	if (!std::exchange(link.lanes.is_dirty, link.lanes.ready != 0) && link.lanes.ready)
		dirty_.push_back(&link);
}

/// Packets that wait get memory of their own. A lane drops those that are too many for it.
void Forwarder::hold(Port &port, Held &held, std::span<OutPacket> packets, std::uint64_t now)
{
	for (OutPacket &packet : packets) {
		const std::size_t counts = Held::bytes_of(packet);
		const std::size_t share = std::max(kHeldLeast, held_memory_.left() / kHeldShare);
		if (held.bytes() + counts > std::min(kHeldMost, share)) {
			port.counts.xmit_discard++;
			stats_.add(PIB_US_TX_OVERDRAWN);
			continue;
		}
		packet.own = held_memory_.take(packet.rest_length, counts);
		std::copy_n(packet.rest, packet.rest_length, packet.own.get());
		packet.rest = packet.own.get();
		packet.held_since = now;
		held.add(std::move(packet));
	}
}

void Forwarder::drop_held(Link &link)
{
	for (Held &held : link.lanes.held)
		link.port->counts.xmit_discard += held.drop_all();
	// Which finds that nothing is held.
	resume(link);
}

void Forwarder::drop_stale(Link &link, std::uint64_t now)
{
	for (Held &held : link.lanes.held) {
		const std::size_t n = held.drop_stale(now);
		link.port->counts.xmit_discard += n;
		stats_.add(PIB_US_TX_OVERDRAWN, n);
	}
}

void Forwarder::gather(Link &link, Batch &batch, std::uint64_t now)
{
	Lanes &lanes = link.lanes;
	drop_stale(link, now);
	const Egress::Left left = egress_.send_lanes(link, now);
	lanes.is_dirty = false;
	lanes.ready = 0;
	for (unsigned vl = 0; vl < Lanes::kVls; vl++) {
		auto packets = std::exchange(lanes.packets[vl], {});
		hold(*link.port, lanes.held[vl], std::span(packets).last(left[vl]), now);
		lanes.ready |= std::uint32_t{!lanes.held[vl].empty()} << vl;
		if (!packets.empty())
			batch.packets.push_back(std::move(packets));
	}
	if (lanes.is_held == (lanes.ready != 0))
		return;
	lanes.is_held = lanes.ready != 0;
	if (lanes.is_held)
		held_.push_back(&link);
	else
		std::erase(held_, &link);
}

std::uint64_t Forwarder::asks_due() const
{
	std::uint64_t due = PIB_CREDIT_NEVER;
	for (const Link *link : held_)
		due = std::min<std::uint64_t>(due, pib_credits_deadline(&link->credits));
	return due;
}

Batch Forwarder::gather(std::uint64_t now)
{
	Batch batch;
	for (Link *link : dirty_)
		gather(*link, batch, now);
	dirty_.clear();
	copied_ = 0;
	batch.headers = std::exchange(egress_.headers(), {});
	batch.sealed = std::exchange(egress_.sealed(), {});
	batch.taken = std::exchange(egress_.taken(), {});
	batch.kept = std::exchange(kept_, {});
	return batch;
}

void Forwarder::flush(std::uint64_t now)
{
	const Batch batch = gather(now);
	wire_.flush();
}

void Forwarder::forget(Link &link)
{
	std::erase(dirty_, &link);
	std::erase(held_, &link);
	link.lanes = {};
}

} // namespace pib::netd
