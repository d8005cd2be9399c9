// SPDX-License-Identifier: GPL-2.0
// For tests: a switch and two peers.
#pragma once

#include <gtest/gtest.h>

#include "core/fake_net.h"

namespace pib::netd::fake {

constexpr char kOne[] =
	R"({"switches": [{"name": "sw0", "ports": 4, "guid": "0x0200000000000001"}]})";

class Fabric : public ::testing::Test {
protected:
	void start(const std::string &json = kOne)
	{
		const auto done = w.configure(json);
		ASSERT_TRUE(done) << done.error().text;
	}
	/// a has LID 2, b has LID 3, both ports are Active.
	void join()
	{
		w.add(a);
		w.add(b);
		w.run(500);
		ASSERT_TRUE(w.port_of(a) && w.port_of(b));
		for (const auto &[peer, lid] : {std::pair{&a, 2}, std::pair{&b, 3}}) {
			Port &port = *w.port_of(*peer);
			EXPECT_EQ(port.p.state, PIB_PORT_INIT);
			port.p.state = PIB_PORT_ACTIVE;
			w.route(*port.owner, static_cast<std::uint16_t>(lid), port.p.num);
		}
	}
	/// All have one key.
	void start_keyed()
	{
		Config config = *parse_config(kOne);
		config.switches[0].key = Key(32, 7);
		ASSERT_TRUE(w.core.configure(config, w.now));
		a.key = b.key = Key(32, 7);
	}
	static Bytes get_node_info()
	{
		return make_mad_packet(PIB_LID_PERMISSIVE, PIB_LID_PERMISSIVE, 0,
				       directed(make_smp(PIB_METHOD_GET, PIB_SM_NODE_INFO, 0)));
	}
	Bytes send(const PacketSpec &spec)
	{
		Bytes packet = make_packet(spec);
		w.deliver(a.at, a.data(packet));
		w.carry();
		return packet;
	}

	World w;
	Peer a{1, 0xA0}, b{2, 0xB0};
};

/// The answer of a peer without a free port to the last hello that the daemon has sent.
inline Bytes refusal_of(const Net &net, std::uint8_t why)
{
	pib_hello h;
	std::uint32_t to = 0;
	std::uint8_t type = 0;
	const Bytes &hello = net.sent.back().bytes;
	EXPECT_EQ(pib_hello_parse(&h, &type, &to, hello.data(), hello.size()), 0);
	pib_hello answer{};
	answer.fabric = h.fabric;
	answer.role = PIB_ROLE_SWITCH;
	answer.mtu_cap = 5;
	answer.nonce = 7;
	answer.peer_nonce = h.nonce;
	answer.refusal = why;
	Bytes bytes(PIB_HELLO_WIRE_LEN);
	pib_hello_build(&answer, PIB_DG_BYE, h.link_id, bytes.data());
	return bytes;
}

} // namespace pib::netd::fake
