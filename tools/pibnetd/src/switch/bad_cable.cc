// SPDX-License-Identifier: GPL-2.0
// Packets through cables with faults. The port that a packet was to come to notices that it is
// lost or damaged (16.1.3.5), if that port is here; a peer notices it by itself.
#include <algorithm>

#include "switch/forward.h"

namespace pib::netd {
namespace {

bool is_management(const Packet &packet)
{
	return packet.h.dqpn <= 1;
}

/// The copy has an ICRC, by which damage is found.
PipePacket copy_of(const Packet &packet, std::uint8_t vl, unsigned hops)
{
	PipePacket copy{{packet.bytes, packet.bytes + packet.length}, hops, 0};
	if (packet.noicrc)
		pib_icrc_store(icrc_of(packet), &copy.bytes[packet.length - PIB_ICRC_LEN]);
	copy.bytes[0] = static_cast<std::uint8_t>(vl << 4 | (copy.bytes[0] & 0x0F));
	return copy;
}

/// Errors beyond PortInfo.LocalPhyErrors have the link recover, at once: true, there is a trap to
/// be sent.
bool count_fate(Port &at, const pib_fate &fate, std::uint64_t now)
{
	const bool bad = fate.lost || fate.bits;
	if (bad) {
		at.counts.symbol_err += fate.lost ? 1 : fate.bits;
		at.counts.rcv_err++;
		at.counts.rcv_physical++;
	}
	if (!pib_port_integrity(&at.p, bad))
		return false;
	at.counts.local_integrity_err++;
	at.counts.link_recovery++;
	pib_trap_threshold(&at.p, 129, now);
	return true;
}

/// As count_fate().
bool count_overrun(Port &at, std::uint64_t now)
{
	at.counts.rcv_err++;
	at.counts.rcv_overrun++;
	if (!pib_port_overrun(&at.p, now))
		return false;
	at.counts.buffer_overrun++;
	pib_trap_threshold(&at.p, 130, now);
	return true;
}

/// The queue before a slow cable is long: the receiver is told (Annex A10).
void mark(Port &out, const Packet &packet, PipePacket &copy, std::uint32_t fill, std::uint64_t now)
{
	if (!may_mark(packet) ||
	    !pib_cc_marks(&out.p, fill, static_cast<std::uint32_t>(packet.payload_length), 1))
		return;
	mark_packet(packet.h, copy.bytes.data());
	pib_cc_marked(&out.p, &packet.h, now);
}

} // namespace

void Forwarder::set_pipes(Port &port, unsigned direction)
{
	Faults &faults = port.faults;
	faults.arrival.reset();
	faults.departure.reset();
	std::erase(bad_, &port);
	if (!faults.bad())
		return;
	faults.arrival.emplace(faults.config, direction, Pipe::Damaged::dropped);
	if (!port.cable)
		faults.departure.emplace(faults.config, !direction, Pipe::Damaged::sent);
	bad_.push_back(&port);
}

void Forwarder::forget(Switch &node)
{
	std::erase_if(bad_, [&](const Port *port) { return port->owner == &node; });
	std::erase_if(waiting_, [&](const Waiting &each) { return each.in->owner == &node; });
}

void Forwarder::arrive_badly(Port &in, const Packet &packet, std::uint64_t now)
{
	Pipe &pipe = *in.faults.arrival;
	if (pipe.full(packet.h.dqpn, now)) {
		agents_ran_ |= count_overrun(in, now);
		return;
	}
	const pib_fate fate =
		pipe.enter(copy_of(packet, packet.h.vl, 0), is_management(packet), now);
	agents_ran_ |= count_fate(in, fate, now);
}

void Forwarder::depart_badly(Port &out, Pipe &pipe, const Packet &packet, std::uint8_t vl,
			     unsigned hops, std::uint64_t now)
{
	if (pipe.full(packet.h.dqpn, now)) {
		out.counts.xmit_discard++;
		return;
	}
	count_out(out, packet, vl);
	PipePacket copy = copy_of(packet, vl, hops);
	mark(out, packet, copy, pipe.fill(now), now);
	const pib_fate fate = pipe.enter(std::move(copy), is_management(packet), now);
	if (out.cable)
		agents_ran_ |= count_fate(*out.cable, fate, now);
}

void Forwarder::let_in(Port &in, PipePacket packet, std::uint64_t now)
{
	Packet parsed;
	if (!parse_packet(keep(std::move(packet.bytes)), parsed))
		enter({&in, parsed, packet.hops}, now);
}

/// Damage may have hit the headers: what makes no packet any more stays here.
void Forwarder::let_out(Port &out, PipePacket packet)
{
	Packet parsed;
	const std::size_t length = packet.bytes.size();
	if (!out.link || !out.link->established()) {
		out.counts.xmit_discard++;
		out.counts.discard_inactive++;
		return;
	}
	if (parse_packet(keep(std::move(packet.bytes)), parsed) || parsed.length != length)
		return;
	queue(*out.link, parsed, parsed.h.vl);
}

/// False: nothing was due.
bool Forwarder::run_pipes(std::uint64_t now)
{
	bool any = false;
	for (Port *port : bad_) {
		while (auto packet = port->faults.arrival->take(now)) {
			let_in(*port, std::move(*packet), now);
			any = true;
		}
		if (!port->faults.departure)
			continue;
		while (auto packet = port->faults.departure->take(now))
			let_out(*port, std::move(*packet));
	}
	return any;
}

void Forwarder::pipes(std::uint64_t now)
{
	run_waiting(now);
}

std::uint64_t Forwarder::pipes_due() const
{
	std::uint64_t due = ~std::uint64_t{0};
	for (const Port *port : bad_) {
		due = std::min(due, port->faults.arrival->due());
		if (port->faults.departure)
			due = std::min(due, port->faults.departure->due());
	}
	return due;
}

} // namespace pib::netd
