// SPDX-License-Identifier: GPL-2.0
// The switches' agents on QP0 and QP1, which are those of kernel/proto, and their traps.
#include <array>
#include <cstring>

#include "switch/forward.h"

namespace pib::netd {
namespace {

constexpr std::uint32_t kQp1Key = 0x80010000;
constexpr std::uint16_t kDefaultPkey = 0xFFFF;

/// Headers of a datagram between management QPs.
pib_hdrs management_headers(std::uint32_t qpn)
{
	pib_hdrs h{};
	h.vl = qpn ? 0 : PIB_VL_MGMT;
	h.tp = PIB_TP_UD;
	h.op = PIB_OP_SEND;
	h.flags = PIB_H_FIRST | PIB_H_LAST | PIB_H_MIG;
	h.pkey = kDefaultPkey;
	h.sqpn = qpn;
	h.dqpn = qpn;
	h.qkey = qpn ? kQp1Key : 0;
	return h;
}

/// The headers of an answer follow those of the question (13.5.4), but for the P_Key.
void answer_headers(pib_hdrs &to, const pib_hdrs &from)
{
	to.sl = from.sl;
	to.dqpn = from.sqpn;
	if (!(from.flags & PIB_H_GRH))
		return;
	to.flags |= PIB_H_GRH;
	to.tclass = from.tclass;
	to.flow = from.flow;
	to.hop = 0xFF;
	std::memcpy(to.sgid, from.dgid, sizeof(to.sgid));
	std::memcpy(to.dgid, from.sgid, sizeof(to.dgid));
}

std::vector<std::uint8_t> packet_bytes(const pib_hdrs &h, const std::uint8_t *mad)
{
	std::vector<std::uint8_t> bytes(PIB_HDRS_MAX + PIB_MAD_SIZE + PIB_ICRC_LEN);
	const std::size_t n = pib_hdrs_build(&h, PIB_MAD_SIZE, bytes.data());
	std::memcpy(&bytes[n], mad, PIB_MAD_SIZE);
	std::uint32_t crc = pib_icrc_headers(bytes.data(), n);
	crc = pib_icrc_update(crc, mad, PIB_MAD_SIZE);
	pib_icrc_store(crc, &bytes[n + PIB_MAD_SIZE]);
	bytes.resize(n + PIB_MAD_SIZE + PIB_ICRC_LEN);
	return bytes;
}

} // namespace

void Forwarder::originate(Switch &from, std::uint8_t out_port, pib_hdrs h, const std::uint8_t *mad,
			  unsigned hops, std::uint64_t now)
{
	if (out_port == PIB_PORT_BY_LID) {
		pib_route route;
		pib_node_route(&from.node, 0, &h, &route);
		if (route.kind != PIB_ROUTE_PORT)
			return;
		out_port = route.port;
	}
	Packet packet;
	if (parse_packet(keep(packet_bytes(h, mad)), packet))
		return;
	leave(from.port(out_port), 0, packet, hops, now);
}

void Forwarder::answer(const Step &step, pib_mad_result result, const std::uint8_t *mad,
		       std::uint8_t out_port, std::uint16_t pkey, std::uint64_t now)
{
	if (result != PIB_MAD_REPLY && result != PIB_MAD_FORWARD)
		return;
	Switch &at = *step.in->owner;
	const pib_hdrs &asked = step.packet.h;
	pib_hdrs h = management_headers(asked.dqpn);
	if (result == PIB_MAD_REPLY)
		answer_headers(h, asked);
	if (asked.dqpn) {
		h.pkey = pkey;
		h.slid = pib_node_slid(&at.node, &asked);
		h.dlid = asked.slid;
	} else {
		pib_smi_lids(&at.node, mad, result, &asked, &h.slid, &h.dlid);
	}
	originate(at, out_port, h, mad, result == PIB_MAD_FORWARD ? step.hops : 0, now);
}

void Forwarder::agent(const Step &step, std::uint64_t now)
{
	Switch &at = *step.in->owner;
	const Packet &packet = step.packet;
	if (packet.h.tp != PIB_TP_UD || packet.payload_length != PIB_MAD_SIZE || packet.h.dqpn > 1)
		return;
	if (!packet.noicrc && !icrc_is_right(packet)) {
		stats_.add(PIB_US_RX_BAD_ICRC);
		return;
	}
	std::array<std::uint8_t, PIB_MAD_SIZE> in, out{};
	std::memcpy(in.data(), packet.bytes + packet.header_length, in.size());
	agents_ran_ = true;
	std::uint8_t out_port = PIB_PORT_BY_LID;
	std::uint16_t pkey = kDefaultPkey;
	pib_mad_result result = PIB_MAD_NONE;
	if (!packet.h.dqpn)
		result =
			pib_smi_rx(&at.node, step.in->p.num, in.data(), out.data(), &out_port, now);
	else if (pib_node_gsi_ok(&at.node, &packet.h, &pkey, now))
		result = pib_gsa_process(at.node.ports[0], in.data(), out.data(), now);
	if (packet.h.dqpn && result != PIB_MAD_REPLY)
		return;
	answer(step, result, out.data(), out_port, pkey, now);
}

void Forwarder::send_traps(Switch &from, std::uint64_t now)
{
	std::array<std::uint8_t, PIB_MAD_SIZE> mad{};
	pib_port *sender = nullptr;
	while (pib_trap_next(&from.node, now, mad.data(), &sender)) {
		pib_hdrs h = management_headers(0);
		h.slid = sender->lid;
		h.dlid = sender->sm_lid;
		h.sl = sender->sm_sl;
		originate(from, PIB_PORT_BY_LID, h, mad.data(), 0, now);
		mad.fill(0);
	}
	run_waiting(now);
}

} // namespace pib::netd
