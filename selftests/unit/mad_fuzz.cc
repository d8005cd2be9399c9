// SPDX-License-Identifier: GPL-2.0
// libFuzzer target: all management agents, over one switch and one HCA. The input is a
// run of steps; after each, what must hold of answers and of the port it names is checked,
// and at the end what must hold of all.
//
//	step: op, port, n, then n bytes (MADs: of the datagram from its class on)
#include <cstring>
#include "fabric.h"
#include "fuzz.h"

using namespace fabric;

namespace {

class Input {
public:
	Input(const uint8_t *data, size_t size) : p(data), left(size) {}
	bool empty() const { return !left; }
	uint8_t byte()
	{
		if (!left)
			return 0;
		left--;
		return *p++;
	}
	std::vector<uint8_t> bytes(size_t n)
	{
		n = std::min(n, left);
		std::vector<uint8_t> v(p, p + n);
		p += n;
		left -= n;
		return v;
	}

private:
	const uint8_t *p;
	size_t left;
};

struct Step {
	uint8_t op, port;
	std::vector<uint8_t> bytes;
};

class Run {
public:
	explicit Run(uint8_t flags) : sw(PIB_NODE_SWITCH, num_ports(flags), 0x1000, flags & 0x40)
	{
		sw.port(0).lid = 5;
		sw.port(0).sm_lid = ca.port(1).sm_lid = 1;
		ca.port(1).lid = 6;
		for (int i = 1; i <= sw.n.num_ports; i += 2)
			pib_port_link_up(&sw.port(i), 5);
		pib_port_link_up(&ca.port(1), 4);
	}

	void step(const Step &s)
	{
		sw.counts[s.port % sw.counts.size()].xmit_bytes += 0x123456789;
		switch (s.op % 8) {
		case 0: smi(s); break;
		case 1: sma(sw.port(s.port % (sw.n.num_ports + 1)), s); break;
		case 2: sma(ca.port(1 + s.port % 2), s); break;
		case 3: gsa(sw.port(0), s); break;
		case 4: gsa(ca.port(1 + s.port % 2), s); break;
		case 5: link(s); break;
		case 6: route(s); break;
		case 7: time(s); break;
		}
		check_node(sw);
		check_node(ca);
		check_port(sw.port(s.port % (sw.n.num_ports + 1)));
		check_port(ca.port(1 + s.port % 2));
	}

	void check_all()
	{
		for (int i = 0; i <= sw.n.num_ports; i++) {
			check_port(sw.port(i));
			check_lanes(sw.port(i));
		}
		for (int i = 1; i <= ca.n.num_ports; i++) {
			check_port(ca.port(i));
			check_lanes(ca.port(i));
		}
	}

private:
	// Mostly few, since each costs time; now and then more than a block of SL2VL or VLArb has.
	static uint8_t num_ports(uint8_t flags)
	{
		return (flags & 0x38) == 0x38 ? 36 : 1 + flags % 8;
	}

	static std::unique_ptr<Mad> request(const Step &s)
	{
		auto m = std::make_unique<Mad>(make_mad(PIB_CLASS_SM_LID, PIB_METHOD_GET, 0));

		std::copy_n(s.bytes.begin(),
			    std::min<size_t>(s.bytes.size(), PIB_MAD_SIZE - PIB_MAD_CLASS),
			    m->begin() + PIB_MAD_CLASS);
		return m;
	}

	static void check_reply(const Mad &in, const Mad &out)
	{
		CHECK(out.method() & PIB_METHOD_RESPONSE);
		CHECK(!(in.method() & PIB_METHOD_RESPONSE));
		CHECK(out.tid() == in.tid());
		CHECK(out.attr() == in.attr());
		CHECK(out[PIB_MAD_CLASS] == in[PIB_MAD_CLASS]);
		CHECK(!memcmp(&out[PIB_MAD_ATTR_MOD], &in[PIB_MAD_ATTR_MOD], 4));
		CHECK(out.homeward() || in[PIB_MAD_CLASS] != PIB_CLASS_SM_DR);
	}

	void smi(const Step &s)
	{
		auto in = request(s), out = std::make_unique<Mad>();
		uint8_t port = s.port % (sw.n.num_ports + 1), out_port;
		uint16_t slid, dlid;
		pib_mad_result res =
			pib_smi_rx(&sw.n, port, in->data(), out->data(), &out_port, now);

		if (res == PIB_MAD_REPLY)
			check_reply(*in, *out);
		if (res == PIB_MAD_REPLY || res == PIB_MAD_FORWARD) {
			pib_hdrs asked{};

			asked.slid = 7;
			pib_smi_lids(&sw.n, out->data(), res, &asked, &slid, &dlid);
			CHECK(out_port != PIB_PORT_BY_LID || dlid == 7);
		}
		if (res == PIB_MAD_FORWARD)
			CHECK(out_port != PIB_PORT_BY_LID);
		if (res != PIB_MAD_NONE && out_port != PIB_PORT_BY_LID) {
			CHECK(out_port >= 1 && out_port <= sw.n.num_ports);
			CHECK(sw.port(out_port).state >= PIB_PORT_INIT);
		}
	}

	void sma(pib_port &p, const Step &s)
	{
		auto in = request(s), out = std::make_unique<Mad>();
		pib_mad_result res = pib_sma_process(&p, in->data(), out->data(), now, s.op & 0x80);

		CHECK(res != PIB_MAD_FORWARD);
		CHECK(res != PIB_MAD_LOCAL || p.node->type == PIB_NODE_CA);
		if (res == PIB_MAD_REPLY)
			check_reply(*in, *out);
	}

	void gsa(pib_port &p, const Step &s)
	{
		auto in = request(s), out = std::make_unique<Mad>();

		if (s.op & 0x80)
			(*in)[PIB_MAD_CLASS] = PIB_CLASS_PERF;
		pib_mad_result res = pib_gsa_process(&p, in->data(), out->data(), now);
		CHECK(res != PIB_MAD_FORWARD);
		CHECK(res != PIB_MAD_LOCAL || p.node->type == PIB_NODE_CA);
		if (res == PIB_MAD_REPLY)
			check_reply(*in, *out);
	}

	void link(const Step &s)
	{
		pib_port &p = s.op & 0x80 ? ca.port(1 + s.port % 2)
					  : sw.port(1 + s.port % sw.n.num_ports);

		if (s.op & 0x40) {
			pib_port_link_down(&p);
			return;
		}
		if (s.bytes.size() >= 3) {
			p.far_width_en = s.bytes[0];
			p.far_speed_en = s.bytes[1];
			p.far_ext_speed_en = s.bytes[2];
		}
		pib_port_link_up(&p, s.bytes.empty() ? 0 : s.bytes[0] % 6);
	}

	void route(const Step &s)
	{
		uint8_t in = s.port % (sw.n.num_ports + 1);
		pib_route rt;
		pib_hdrs h{};

		std::array<uint8_t, 5> b{};
		std::copy_n(s.bytes.begin(), std::min(s.bytes.size(), b.size()), b.begin());
		h.dlid = b[0] << 8 | b[1];
		h.pkey = b[2] << 8 | b[3];
		h.dqpn = b[4] % 3;
		pib_node_route(&sw.n, in, &h, &rt);
		if (rt.kind == PIB_ROUTE_PORT) {
			CHECK(rt.port >= 1 && rt.port <= sw.n.num_ports && rt.port != in);
			CHECK(pib_port_admits(&sw.port(rt.port), h.dqpn));
		}
		if (rt.kind != PIB_ROUTE_MCAST)
			return;
		CHECK(pib_lid_is_mcast(h.dlid));
		CHECK(!pib_route_has(&rt, in));
		for (int i = sw.n.num_ports + 1; i < 256; i++)
			CHECK(!pib_route_has(&rt, i));
	}

	void time(const Step &s)
	{
		pib_port *from;
		Mad m;

		now += s.port * kSecond / 4;
		for (Node *n : {&sw, &ca}) {
			pib_node_timer(&n->n, now);
			int sent = 0;
			while (pib_trap_next(&n->n, now, m.data(), &from)) {
				CHECK(m.method() == PIB_METHOD_TRAP);
				CHECK(from->sm_lid && from->lid);
				CHECK(++sent <= PIB_TRAPS);
			}
			uint64_t due = pib_node_deadline(&n->n);
			CHECK(!due || due > now);
		}
	}

	static void check_port(const pib_port &p)
	{
		bool port0 = p.node->type == PIB_NODE_SWITCH && p.num == 0;

		CHECK(p.state >= PIB_PORT_DOWN && p.state <= PIB_PORT_ACTIVE);
		CHECK(p.phys >= PIB_PHYS_SLEEP && p.phys <= PIB_PHYS_LINKUP &&
		      p.phys != PIB_PHYS_TRAINING);
		CHECK((p.phys == PIB_PHYS_LINKUP) == (p.state > PIB_PORT_DOWN));
		CHECK(!port0 || p.phys == PIB_PHYS_LINKUP);
		CHECK(p.nbr_mtu >= 1 && p.nbr_mtu <= p.mtu_cap);
		CHECK(p.op_vls >= 1 && p.op_vls <= p.vl_cap);
		CHECK(p.width_en && !(p.width_en & ~p.width_sup));
		CHECK(p.speed_en && !(p.speed_en & ~p.speed_sup));
		CHECK(!(p.ext_speed_en & ~p.ext_speed_sup));
		CHECK(p.lid < PIB_LID_MCAST_FIRST && p.sm_lid < PIB_LID_MCAST_FIRST);
		CHECK(p.lmc <= 7 && p.m_key_prot <= 3);
		CHECK(p.guids[0] == p.guid);
		CHECK(p.link_down_default == PIB_PHYS_SLEEP ||
		      p.link_down_default == PIB_PHYS_POLLING);
	}

	static void check_lanes(const pib_port &p)
	{
		for (int sl = 0; sl < 16; sl++) {
			uint8_t vl = pib_port_vl(&p, 0, sl);
			CHECK(vl < PIB_VLS || vl == 0xF);
		}
	}

	static void check_node(Node &n)
	{
		if (!n.is_switch())
			return;
		CHECK(n.n.lft_top < PIB_LFT_SIZE);
		if (!n.n.enhanced_sp0)
			CHECK(n.port(0).state == PIB_PORT_ACTIVE && n.port(0).lmc == 0);
	}

	Node sw;
	Node ca{PIB_NODE_CA, 2, 0x2000};
	uint64_t now = kSecond;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input in(data, size);
	Run run(in.byte());

	while (!in.empty()) {
		Step s{in.byte(), in.byte(), {}};
		s.bytes = in.bytes(in.byte());
		run.step(s);
	}
	run.check_all();
	return 0;
}
