// SPDX-License-Identifier: GPL-2.0
// A fabric in memory: HCAs, switches and cables around the agents of kernel/proto.
// Carries SMPs and packets hop by hop as an env does, and emulates what ib_mad does
// with directed-route SMPs at HCA ports.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "../../kernel/proto/mad.h"
#include "../../kernel/proto/node.h"
#include "../../kernel/proto/pma.h"
#include "../../kernel/proto/sma.h"
#include "../../kernel/proto/smi.h"
#include "../../kernel/proto/switch.h"
#include "../../kernel/proto/trap.h"
}

namespace fabric {

constexpr uint64_t kSecond = 1000000000ULL;

using Data = std::array<uint8_t, PIB_SMP_DATA_LEN>;

struct Mad : std::array<uint8_t, PIB_MAD_SIZE> {
	Mad() { fill(0); }

	uint8_t method() const { return (*this)[PIB_MAD_METHOD]; }
	uint16_t status() const { return pib_get16(data() + PIB_MAD_STATUS) & 0x7FFF; }
	bool homeward() const { return pib_get16(data() + PIB_MAD_STATUS) & PIB_SMP_DIRECTION; }
	uint16_t attr() const { return pib_get16(data() + PIB_MAD_ATTR); }
	uint64_t tid() const { return pib_get64(data() + PIB_MAD_TID); }
	uint8_t *attribute() { return data() + PIB_MAD_DATA; }
	const uint8_t *attribute() const { return data() + PIB_MAD_DATA; }
	Data payload() const
	{
		Data d;

		std::copy_n(attribute(), d.size(), d.begin());
		return d;
	}
};

inline Mad make_mad(uint8_t mad_class, uint8_t method, uint16_t attr, uint32_t am = 0)
{
	static uint64_t tid = 0x1000;
	Mad m;

	m[PIB_MAD_BASE_VERSION] = 1;
	m[PIB_MAD_CLASS] = mad_class;
	m[PIB_MAD_CLASS_VERSION] = 1;
	m[PIB_MAD_METHOD] = method;
	pib_put64(m.data() + PIB_MAD_TID, ++tid);
	pib_put16(m.data() + PIB_MAD_ATTR, attr);
	pib_put32(m.data() + PIB_MAD_ATTR_MOD, am);
	pib_put16(m.data() + PIB_MAD_DR_SLID, PIB_LID_PERMISSIVE);
	pib_put16(m.data() + PIB_MAD_DR_DLID, PIB_LID_PERMISSIVE);
	return m;
}

inline Mad get(uint16_t attr, uint32_t am = 0)
{
	return make_mad(PIB_CLASS_SM_LID, PIB_METHOD_GET, attr, am);
}

inline Mad set(uint16_t attr, uint32_t am, const Data &data)
{
	Mad m = make_mad(PIB_CLASS_SM_LID, PIB_METHOD_SET, attr, am);

	std::copy(data.begin(), data.end(), m.attribute());
	return m;
}

inline Mad with_key(Mad m, uint64_t key)
{
	pib_put64(m.data() + PIB_MAD_M_KEY, key);
	return m;
}

struct Node {
	Node(uint8_t type, uint8_t num_ports, uint64_t guid, bool enhanced = false)
	{
		n.type = type;
		n.num_ports = num_ports;
		n.guid = guid;
		n.enhanced_sp0 = enhanced;
		n.count = read_count;
		n.priv = this;
		if (type == PIB_NODE_SWITCH) {
			lft.resize(PIB_LFT_SIZE);
			masks.resize(PIB_MFT_SIZE * 8);
			n.lft = lft.data();
			n.mft = mft = reinterpret_cast<uint32_t(*)[8]>(masks.data());
		}
		ports.resize(num_ports + 1);
		sl2vl.resize(num_ports + 1);
		counts.resize(num_ports + 1);
		congestion.resize(num_ports + 1);
		for (auto &p : ports)
			pointers.push_back(&p);
		n.ports = pointers.data();
		pib_node_init(&n);
		for (int i = 0; i <= num_ports; i++)
			init_port(i);
	}
	Node(const Node &) = delete;

	pib_port &port(int i) { return ports[i]; }
	bool is_switch() const { return n.type == PIB_NODE_SWITCH; }

	pib_node n{};
	std::vector<pib_port> ports;
	std::vector<pib_port *> pointers;
	std::vector<uint8_t> lft;
	std::vector<uint32_t> masks;
	uint32_t (*mft)[8] = nullptr;
	std::vector<std::vector<std::array<uint8_t, 16>>> sl2vl;
	std::vector<pib_counts> counts;
	std::vector<pib_cc_ca> congestion;

private:
	// Counters that the PMA reads.
	static uint64_t read_count(const pib_port *p, uint32_t counter)
	{
		const pib_counts &c = static_cast<Node *>(p->node->priv)->counts[p->num];

		return reinterpret_cast<const uint64_t *>(&c)[counter];
	}

	void init_port(int i)
	{
		sl2vl[i].resize(is_switch() ? n.num_ports + 1 : 1);
		ports[i].sl2vl = reinterpret_cast<uint8_t(*)[16]>(sl2vl[i].data());
		ports[i].cc_ca = is_switch() ? nullptr : &congestion[i];
		pib_port_init(&ports[i], &n, i, is_switch() ? n.guid : n.guid + i);
	}
};

struct End {
	Node *node;
	int port;
	auto operator<=>(const End &) const = default;
};

struct Packet {
	pib_hdrs h{};
	Mad mad;
};

class Fabric {
public:
	Node &add(uint8_t type, int ports, bool enhanced = false)
	{
		nodes.push_back(
			std::make_unique<Node>(type, ports, 0x1000 * (nodes.size() + 1), enhanced));
		return *nodes.back();
	}
	Node &hca(int ports = 1) { return add(PIB_NODE_CA, ports); }
	Node &sw(int ports) { return add(PIB_NODE_SWITCH, ports); }

	void connect(Node &a, int ap, Node &b, int bp)
	{
		cables[{&a, ap}] = {&b, bp};
		cables[{&b, bp}] = {&a, ap};
		plug({&a, ap});
	}

	void unplug(Node &a, int ap)
	{
		End far = cables.at({&a, ap});

		cables.erase({&a, ap});
		cables.erase(far);
		pib_port_link_down(&a.port(ap));
		pib_port_link_down(&far.node->port(far.port));
	}

	// Acts on the event bits as an env does: bounces cables.
	void settle()
	{
		for (bool again = true; again;) {
			again = false;
			for (auto &node : nodes)
				for (int i = 0; i <= node->n.num_ports; i++)
					again |= bounce({node.get(), i});
		}
	}

	// The answer to @mad sent along @path (out ports, the first is the requester's).
	std::optional<Mad> directed(Node &from, const std::vector<uint8_t> &path, Mad mad,
				    uint16_t dr_dlid = PIB_LID_PERMISSIVE)
	{
		prepare_dr(mad, path);
		pib_put16(mad.data() + PIB_MAD_DR_DLID, dr_dlid);
		if (path.empty()) { // the requester's own port 1
			mad[PIB_MAD_HOP_PTR] = 1;
			return local(from, 1, mad);
		}
		mad[PIB_MAD_HOP_PTR] = 1;
		return ask({&from, path[0]}, PIB_LID_PERMISSIVE, mad);
	}

	std::optional<Mad> by_lid(Node &from, int port, uint16_t dlid, const Mad &mad)
	{
		return ask({&from, port}, dlid, mad);
	}

	// LID-routed to the switch @dlid, from there along @path.
	std::optional<Mad> lid_then_directed(Node &from, int port, uint16_t dlid,
					     const std::vector<uint8_t> &path, Mad mad)
	{
		prepare_dr(mad, path);
		pib_put16(mad.data() + PIB_MAD_DR_SLID, from.port(port).lid);
		return ask({&from, port}, dlid, mad);
	}

	// A packet for QP 2 or so, or QP1: the HCA ports at which copies of it arrive.
	std::vector<End> deliver(Node &from, int port, pib_hdrs h)
	{
		Packet p;

		arrived.clear();
		h.slid = from.port(port).lid;
		p.h = h;
		transmit({&from, port}, p);
		run();
		return arrived;
	}

	uint64_t now = 1 * kSecond;
	std::vector<std::unique_ptr<Node>> nodes;
	std::map<End, End> cables;
	std::map<int, int> drops; // by enum pib_route_reason
	std::vector<Mad> traps;	  // that reached an HCA
	int hops = 0;

private:
	static void prepare_dr(Mad &mad, const std::vector<uint8_t> &path)
	{
		mad[PIB_MAD_CLASS] = PIB_CLASS_SM_DR;
		mad[PIB_MAD_HOP_CNT] = path.size();
		for (size_t i = 0; i < path.size(); i++)
			mad[PIB_MAD_INITIAL_PATH + 1 + i] = path[i];
	}

	void plug(End a)
	{
		End b = cables.at(a);
		pib_port &pa = a.node->port(a.port), &pb = b.node->port(b.port);

		if (!pib_port_wants_link(&pa) || !pib_port_wants_link(&pb))
			return;
		tell_far(pa, pb);
		tell_far(pb, pa);
		pib_port_link_up(&pa, pb.mtu_cap);
		pib_port_link_up(&pb, pa.mtu_cap);
	}

	static void tell_far(pib_port &p, const pib_port &far)
	{
		p.far_width_en = far.width_en;
		p.far_speed_en = far.speed_en;
		p.far_ext_speed_en = far.ext_speed_en;
	}

	bool bounce(End a)
	{
		pib_port &p = a.node->port(a.port);

		if (!(p.events & PIB_EV_PHYS_CHANGE))
			return false;
		p.events &= ~PIB_EV_PHYS_CHANGE;
		if (!cables.count(a))
			return true;
		End b = cables.at(a);
		pib_port_link_down(&p);
		pib_port_link_down(&b.node->port(b.port));
		plug(a);
		return true;
	}

	std::optional<Mad> ask(End from, uint16_t dlid, const Mad &mad)
	{
		Packet p;

		p.h.dlid = dlid;
		p.h.slid = dlid == PIB_LID_PERMISSIVE ? PIB_LID_PERMISSIVE
						      : from.node->port(from.port).lid;
		p.mad = mad;
		if (mad[PIB_MAD_CLASS] == PIB_CLASS_PERF ||
		    (mad[PIB_MAD_CLASS] & 0x7F) != PIB_CLASS_SM_LID) {
			p.h.dqpn = 1;
			p.h.qkey = 0x80010000;
			p.h.pkey = 0xFFFF;
		}
		answer.reset();
		transmit(from, p);
		run();
		return answer;
	}

	std::optional<Mad> local(Node &at, int port, const Mad &mad)
	{
		Mad out;

		if (pib_sma_process(&at.port(port), mad.data(), out.data(), now, false) !=
		    PIB_MAD_REPLY)
			return std::nullopt;
		return out;
	}

	void transmit(End from, const Packet &p)
	{
		if (!pib_port_admits(&from.node->port(from.port), p.h.dqpn))
			return;
		auto to = cables.find(from);
		if (to != cables.end())
			queue.push_back({to->second, p});
	}

	void run()
	{
		int left = 10000; // a loop of the tables must not hang the test

		while (!queue.empty() && left--) {
			auto [at, p] = queue.front();

			queue.pop_front();
			hops++;
			if (at.node->is_switch())
				at_switch(at, p);
			else
				at_hca(at, p);
		}
		queue.clear();
	}

	void at_switch(End at, const Packet &p)
	{
		pib_route rt;

		pib_node_route(&at.node->n, at.port, &p.h, &rt);
		switch (rt.kind) {
		case PIB_ROUTE_DROP: drops[rt.reason]++; break;
		case PIB_ROUTE_PORT: transmit({at.node, rt.port}, p); break;
		case PIB_ROUTE_MCAST:
			for (int i = 1; i <= at.node->n.num_ports; i++)
				if (pib_route_has(&rt, i))
					transmit({at.node, i}, p);
			break;
		case PIB_ROUTE_SELF: at_port0(at, p); break;
		}
	}

	void at_port0(End at, const Packet &p)
	{
		uint8_t out_port = PIB_PORT_BY_LID;
		pib_mad_result res;
		Packet out;

		if (p.h.dqpn == 0)
			res = pib_smi_rx(&at.node->n, at.port, p.mad.data(), out.mad.data(),
					 &out_port, now);
		else
			res = pib_node_gsi_ok(&at.node->n, &p.h, &out.h.pkey, now)
				      ? pib_gsa_process(&at.node->port(0), p.mad.data(),
							out.mad.data(), now)
				      : PIB_MAD_NONE;
		if (res != PIB_MAD_REPLY && res != PIB_MAD_FORWARD)
			return;
		out.h.dqpn = p.h.dqpn;
		out.h.slid = pib_node_slid(&at.node->n, &p.h);
		out.h.dlid = p.h.slid;
		if (p.h.dqpn == 0)
			pib_smi_lids(&at.node->n, out.mad.data(), res, &p.h, &out.h.slid,
				     &out.h.dlid);
		if (out_port != PIB_PORT_BY_LID)
			transmit({at.node, out_port}, out);
		else
			route_own(*at.node, out);
	}

	void route_own(Node &node, const Packet &p)
	{
		pib_route rt;

		pib_node_route(&node.n, 0, &p.h, &rt);
		if (rt.kind == PIB_ROUTE_PORT)
			transmit({&node, rt.port}, p);
		else
			drops[rt.reason]++;
	}

	void at_hca(End at, const Packet &p)
	{
		pib_port &port = at.node->port(at.port);

		if (!pib_port_admits(&port, p.h.dqpn))
			return;
		if (p.h.dqpn == 0)
			at_hca_smi(at, p);
		else if (p.h.dqpn == 1)
			at_hca_gsi(at, p);
		else
			arrived.push_back(at);
	}

	void at_hca_gsi(End at, const Packet &p)
	{
		Packet out;

		if (p.mad.method() & PIB_METHOD_RESPONSE) {
			answer = p.mad;
			return;
		}
		if (pib_gsa_process(&at.node->port(at.port), p.mad.data(), out.mad.data(), now) !=
		    PIB_MAD_REPLY)
			return;
		out.h = p.h;
		std::swap(out.h.slid, out.h.dlid);
		transmit(at, out);
	}

	// Receipt at an HCA port as ib_mad does it (14.2.2); false: discard.
	static bool hca_recv(Mad &m, int port)
	{
		uint8_t ptr = m[PIB_MAD_HOP_PTR], cnt = m[PIB_MAD_HOP_CNT];

		if (m.homeward()) {
			if (ptr == 1 && pib_get16(m.data() + PIB_MAD_DR_SLID) == PIB_LID_PERMISSIVE)
				m[PIB_MAD_HOP_PTR] = 0;
			return m[PIB_MAD_HOP_PTR] == 0;
		}
		if (ptr == cnt + 1)
			return true;
		if (ptr != cnt || !cnt)
			return false;
		m[PIB_MAD_RETURN_PATH + ptr] = port;
		m[PIB_MAD_HOP_PTR] = ptr + 1;
		return pib_get16(m.data() + PIB_MAD_DR_DLID) == PIB_LID_PERMISSIVE;
	}

	void at_hca_smi(End at, Packet p)
	{
		bool dr = p.mad[PIB_MAD_CLASS] == PIB_CLASS_SM_DR;
		Packet out;

		if (dr && !hca_recv(p.mad, at.port))
			return;
		if (p.mad.method() == PIB_METHOD_TRAP) {
			traps.push_back(p.mad);
			return;
		}
		if (p.mad.method() & PIB_METHOD_RESPONSE) {
			answer = p.mad;
			return;
		}
		if (pib_sma_process(&at.node->port(at.port), p.mad.data(), out.mad.data(), now,
				    false) != PIB_MAD_REPLY)
			return;
		out.h = p.h;
		std::swap(out.h.slid, out.h.dlid);
		if (dr && p.h.dlid == PIB_LID_PERMISSIVE) // else it came by LID and goes so
			out.mad[PIB_MAD_HOP_PTR]--;
		transmit(at, out);
	}

	std::deque<std::pair<End, Packet>> queue;
	std::optional<Mad> answer;
	std::vector<End> arrived;

public:
	// Sends what traps are due; returns how many were.
	int send_traps(Node &node)
	{
		pib_port *from;
		Packet p;
		int sent = 0;

		while (pib_trap_next(&node.n, now, p.mad.data(), &from)) {
			sent++;
			p.h.slid = from->lid;
			p.h.dlid = from->sm_lid;
			if (node.is_switch())
				route_own(node, p);
			else
				transmit({&node, from->num}, p);
			run();
		}
		return sent;
	}
};

} // namespace fabric
