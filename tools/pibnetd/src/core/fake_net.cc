// SPDX-License-Identifier: GPL-2.0
#include "core/fake_net.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pib::netd::fake {

void Net::flush()
{
	for (const Message &message : waiting) {
		Bytes all;
		for (const iovec &part : message.parts) {
			const auto *bytes = static_cast<const std::uint8_t *>(part.iov_base);
			all.insert(all.end(), bytes, bytes + part.iov_len);
		}
		const std::size_t step =
			message.segment ? message.segment : std::max<std::size_t>(all.size(), 1);
		for (std::size_t at = 0; at < all.size(); at += step)
			sent.push_back({message.to,
					{all.begin() + static_cast<std::ptrdiff_t>(at),
					 all.begin() + static_cast<std::ptrdiff_t>(
							       std::min(all.size(), at + step))},
					message.tos,
					message.rank});
		messages++;
	}
	waiting.clear();
}

Address address(unsigned host, std::uint16_t port)
{
	Address a;
	a.family = AF_INET;
	a.bytes = {10, 0, static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)};
	a.port = port;
	return a;
}

namespace {

Bytes finish(const pib_hdrs &h, const Bytes &payload)
{
	Bytes bytes(PIB_HDRS_MAX);
	bytes.resize(pib_hdrs_build(&h, payload.size(), bytes.data()));
	const std::size_t headers = bytes.size();
	bytes.insert(bytes.end(), payload.begin(), payload.end());
	bytes.resize(bytes.size() + pib_hdrs_pad(static_cast<std::uint32_t>(payload.size())));
	std::uint32_t crc = pib_icrc_headers(bytes.data(), headers);
	crc = pib_icrc_update(crc, bytes.data() + headers, bytes.size() - headers);
	bytes.resize(bytes.size() + PIB_ICRC_LEN);
	pib_icrc_store(crc, &bytes[bytes.size() - PIB_ICRC_LEN]);
	return bytes;
}

} // namespace

Bytes make_packet(const PacketSpec &spec)
{
	pib_hdrs h{};
	h.slid = spec.slid;
	h.dlid = spec.dlid;
	h.sl = spec.sl;
	h.tp = spec.tp;
	h.op = spec.op;
	h.flags = PIB_H_FIRST | PIB_H_LAST;
	h.pkey = spec.pkey;
	h.dqpn = spec.dqpn;
	h.sqpn = 77;
	return finish(h, Bytes(spec.length, spec.fill));
}

Bytes make_mad_packet(std::uint16_t slid, std::uint16_t dlid, std::uint32_t qpn, const Bytes &mad,
		      std::uint16_t pkey)
{
	pib_hdrs h{};
	h.slid = slid;
	h.dlid = dlid;
	h.vl = qpn ? 0 : 15;
	h.tp = PIB_TP_UD;
	h.op = PIB_OP_SEND;
	h.flags = PIB_H_FIRST | PIB_H_LAST;
	h.pkey = pkey;
	h.dqpn = qpn;
	h.sqpn = qpn;
	h.qkey = qpn ? 0x80010000 : 0;
	return finish(h, mad);
}

Bytes make_stray_smp(std::uint32_t sqpn, std::uint8_t vl, const Bytes &mad)
{
	pib_hdrs h{};
	h.slid = PIB_LID_PERMISSIVE;
	h.dlid = PIB_LID_PERMISSIVE;
	h.vl = vl;
	h.tp = PIB_TP_UD;
	h.op = PIB_OP_SEND;
	h.flags = PIB_H_FIRST | PIB_H_LAST;
	h.pkey = 0xFFFF;
	h.sqpn = sqpn;
	return finish(h, mad);
}

Bytes make_smp(std::uint8_t method, std::uint16_t attribute, std::uint32_t modifier,
	       const Bytes &data)
{
	Bytes mad(PIB_MAD_SIZE);
	mad[PIB_MAD_BASE_VERSION] = 1;
	mad[PIB_MAD_CLASS] = PIB_CLASS_SM_LID;
	mad[PIB_MAD_CLASS_VERSION] = 1;
	mad[PIB_MAD_METHOD] = method;
	pib_put64(&mad[PIB_MAD_TID], 0x1234);
	pib_put16(&mad[PIB_MAD_ATTR], attribute);
	pib_put32(&mad[PIB_MAD_ATTR_MOD], modifier);
	std::copy(data.begin(), data.end(), mad.begin() + PIB_MAD_DATA);
	return mad;
}

Bytes directed(Bytes smp)
{
	smp[PIB_MAD_CLASS] = PIB_CLASS_SM_DR;
	smp[PIB_MAD_HOP_CNT] = 1;
	smp[PIB_MAD_HOP_PTR] = 1;
	smp[PIB_MAD_INITIAL_PATH + 1] = 1;
	pib_put16(&smp[PIB_MAD_DR_SLID], PIB_LID_PERMISSIVE);
	pib_put16(&smp[PIB_MAD_DR_DLID], PIB_LID_PERMISSIVE);
	return smp;
}

// ---- peers ----

Peer::Peer(unsigned host, std::uint64_t with_guid, std::uint8_t with_port) :
	at(address(host)), guid(with_guid), port(with_port)
{
	pib_session_init(&session, host * 1000 + with_port, with_guid * 31 + host);
}

void Peer::restart()
{
	const std::uint64_t nonce = session.nonce * 7 + 12345;
	pib_session_init(&session, session.local_id + 1, nonce);
	frames.clear();
}

void Peer::rekey(const Key &first, const Key &second, std::uint64_t now)
{
	key = first;
	second_key = second;
	pib_session_rekey(&session, key[0], second_key.empty() ? 0 : second_key[0],
			  session.nonce * 5 + 77, now);
}

pib_hello Peer::say() const
{
	pib_hello h{};
	h.fabric = fabric;
	h.node_guid = guid;
	h.port_guid = guid + port;
	h.port_num = port;
	h.role = PIB_ROLE_HCA;
	h.caps = caps | (key.empty() ? 0u : std::uint32_t{PIB_CAP_KEYED});
	h.mtu_cap = 5;
	h.width_en = 0x13;
	h.speed_en = 7;
	h.ext_speed_en = 3;
	return h;
}

Bytes Peer::build(std::uint64_t now)
{
	Bytes bytes(PIB_HELLO_WIRE_LEN);
	pib_hello h = say();
	pib_session_build(&session, &h, now, bytes.data());
	auth_seal(key, bytes);
	return bytes;
}

std::optional<Bytes> Peer::tick(std::uint64_t now)
{
	if (pib_session_deadline(&session) > now)
		return {};
	if (!(pib_session_timer(&session, now) & PIB_SESSION_DO_SEND))
		return {};
	return build(now);
}

Bytes Peer::probe() const
{
	Bytes bytes(PIB_HELLO_WIRE_LEN);
	pib_hello h = say();
	pib_session_build_probe(&session, &h, bytes.data());
	auth_seal(key, bytes);
	return bytes;
}

std::optional<Bytes> Peer::padded(std::uint32_t mtu, std::uint64_t now)
{
	const pib_pmtu_bounds bounds{mtu, PIB_PMTU_LEAST, PIB_PMTU_MOST};
	const std::uint32_t size = pib_session_probe_size(&session, &bounds, now);
	if (!size)
		return {};
	Bytes bytes(size - at.headers());
	pib_hello h = say();
	pib_session_build_padded(&session, &h, static_cast<std::uint16_t>(bytes.size()),
				 bytes.data());
	auth_seal(key, std::span(bytes).first(PIB_HELLO_WIRE_LEN));
	return bytes;
}

Bytes Peer::goodbye(std::uint64_t now)
{
	pib_session_bye(&session);
	return build(now);
}

Bytes Peer::credit(pib_credit_kind kind, std::uint64_t now, std::uint8_t vl)
{
	if (windows.nonce != session.nonce || windows.peer_nonce != session.peer_nonce)
		pib_credits_init(&windows, session.nonce, session.peer_nonce);
	Bytes bytes(PIB_CREDIT_WIRE_LEN);
	pib_credits_build(&windows, session.remote_id, kind, vl, now, bytes.data());
	auth_seal(key, bytes);
	return bytes;
}

void Peer::hear_credit(const Bytes &bytes)
{
	pib_credit_msg m;
	std::uint32_t to = 0;
	EXPECT_TRUE(pib_credit_parse(&m, &to, bytes.data(), bytes.size()));
	if (to == session.local_id && auth_is_right(key, bytes))
		credits.push_back(m);
}

void Peer::hear(const Bytes &bytes, std::uint64_t now, std::vector<Bytes> &answers)
{
	const std::uint8_t type = bytes[0] & 0xF;
	if (type == PIB_DG_CREDIT) {
		hear_credit(bytes);
		return;
	}
	if (!key.empty() && (type == PIB_DG_DATA || type == PIB_DG_SEGMENT) &&
	    bytes[1] & PIB_DG_SEALED) {
		Bytes plain(bytes.size() - PIB_SEAL_LEN);
		EXPECT_EQ(session_seal().open(bytes, plain), Opened::opened);
		plain[1] &= static_cast<std::uint8_t>(~PIB_DG_SEALED);
		hear(plain, now, answers);
		return;
	}
	if (type == PIB_DG_DATA) {
		without_icrc += bytes[1] & PIB_DG_NOICRC;
		packets.emplace_back(bytes.begin() + PIB_DG_HDR_LEN, bytes.end());
		return;
	}
	if (type == PIB_DG_SEGMENT) {
		pib_segment segment;
		EXPECT_TRUE(pib_segment_parse(&segment, bytes.data(),
					      static_cast<std::uint32_t>(bytes.size())));
		segments.push_back(segment);
		auto done =
			frames.add(segment, std::span(bytes).subspan(PIB_SEG_HDR_LEN), false, now);
		if (!done)
			return;
		std::span<const std::uint8_t> rest = done->runs[0].bytes;
		for (Packet packet; !rest.empty(); rest = rest.subspan(packet.length)) {
			if (parse_packet(rest, packet))
				return;
			without_icrc += done->flags & PIB_DG_NOICRC;
			packets.emplace_back(rest.begin(),
					     rest.begin() +
						     static_cast<std::ptrdiff_t>(packet.length));
		}
		return;
	}
	pib_hello h;
	std::uint32_t to = 0;
	std::uint8_t parsed = 0;
	if (pib_hello_parse(&h, &parsed, &to, bytes.data(), bytes.size()))
		return;
	if (auth_check(key, h, bytes))
		h.key = session.key;
	else if (!second_key.empty() && auth_check(second_key, h, bytes))
		h.key = session.second_key;
	else if (credulous)
		h.key = session.key;
	else
		return;
	told_flows |= h.peer_nonce == session.nonce && h.caps & PIB_CAP_FLOWS_COME;
	if (h.padded) {
		if (bytes.size() + at.headers() <= carries)
			pib_session_take_padded(&session, &h, parsed);
		return;
	}
	if (parsed == PIB_DG_BYE && h.refusal)
		refusal = h.refusal;
	if (to == session.local_id &&
	    pib_session_rx(&session, &h, parsed, now) & PIB_SESSION_DO_SEND)
		answers.push_back(build(now));
}

Seal &Peer::session_seal()
{
	if (!seal || !seal->is_of(session.nonce, session.peer_nonce))
		seal.emplace(key, session.peer_key == session.key ? key : second_key, session.nonce,
			     session.peer_nonce);
	return *seal;
}

Bytes Peer::sealed(const Bytes &packet)
{
	const Bytes plain = data(packet);
	Bytes bytes(plain.size() + PIB_SEAL_LEN);
	std::copy_n(plain.begin(), PIB_DG_HDR_LEN, bytes.begin());
	std::copy(plain.begin() + PIB_DG_HDR_LEN, plain.end(), bytes.begin() + PIB_SEAL_HEAD_LEN);
	bytes[1] |= PIB_DG_SEALED;
	session_seal().close(bytes);
	return bytes;
}

Bytes Peer::data(const Bytes &packet) const
{
	Bytes bytes(PIB_DG_HDR_LEN);
	bytes[0] = PIB_DG_VERSION << 4 | PIB_DG_DATA;
	pib_put16(&bytes[2], auth_tag(key, session.peer_nonce, session.nonce));
	pib_put32(&bytes[4], session.remote_id);
	bytes.insert(bytes.end(), packet.begin(), packet.end());
	return bytes;
}

// ---- the world ----

World::World() :
	core(net, stats, log,
	     [this] { return seed = seed * 6364136223846793005 + 1442695040888963407; })
{
}

Status World::configure(const std::string &json)
{
	auto config = parse_config(json);
	if (!config)
		return config.error();
	complete_config(*config);
	return core.configure(*config, now);
}

void World::deliver(const Address &from, const Bytes &bytes, std::size_t step)
{
	// Of its own, so that reading past the end is seen.
	const auto copy = std::make_unique<std::uint8_t[]>(bytes.size());
	std::copy(bytes.begin(), bytes.end(), copy.get());
	Arrival arrival;
	arrival.path.remote = from;
	arrival.path.local = local;
	arrival.bytes = {copy.get(), bytes.size()};
	arrival.step = step ? step : bytes.size();
	arrival.hop_limit = hop_limit;
	arrival.ce = ce;
	std::vector<HelloKey> keys;
	core.check_hellos(arrival, keys);
	core.reflect(arrival, net, stats, now);
	core.receive(arrival, keys, now);
	core.flush(now);
}

void World::carry()
{
	while (!net.sent.empty()) {
		const Datagram datagram = net.sent.front();
		net.sent.pop_front();
		for (Peer *peer : peers) {
			if (!(peer->at == datagram.to))
				continue;
			std::vector<Bytes> answers;
			peer->hear(datagram.bytes, now, answers);
			for (const Bytes &answer : answers)
				deliver(peer->at, answer);
		}
	}
}

void World::run(unsigned ms)
{
	for (const std::uint64_t end = now + ms * kMs; now < end; now += 10 * kMs) {
		for (Peer *peer : peers)
			if (const auto said = peer->tick(now))
				deliver(peer->at, *said);
		if (core.deadline() <= now)
			core.timers(now);
		carry();
	}
}

void World::activate(Switch &node, std::uint8_t port)
{
	node.port(port).p.state = PIB_PORT_ACTIVE;
}

void World::route(Switch &node, std::uint16_t lid, std::uint8_t port)
{
	node.node.lft[lid] = port;
	node.node.lft_top = std::max(node.node.lft_top, lid);
}

Port *World::port_of(const Peer &peer)
{
	for (auto &each : core.switches())
		for (auto &port : each->ports)
			if (port->link && port->link->established() &&
			    port->link->session.peer_node_guid == peer.guid &&
			    port->link->session.peer_port_num == peer.port)
				return port.get();
	return nullptr;
}

} // namespace pib::netd::fake
