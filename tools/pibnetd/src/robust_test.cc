// SPDX-License-Identifier: GPL-2.0
// Damaged input of every kind, under the sanitizers: datagrams, configurations, control requests.
#include <gtest/gtest.h>

#include <random>

#include "control/control.h"
#include "core/fake_net.h"

namespace pib::netd {
namespace {

using namespace fake;

class Mutator {
public:
	explicit Mutator(std::uint64_t seed) : random_(seed) {}

	std::size_t pick(std::size_t n) { return random_() % n; }
	template <typename Container>
	Container damage(Container bytes)
	{
		for (std::size_t n = 1 + pick(4); n; n--) {
			const std::size_t at = bytes.empty() ? 0 : pick(bytes.size());
			switch (pick(5)) {
			case 0: bytes.resize(at); break;
			case 1:
				bytes.insert(
					bytes.begin() + static_cast<std::ptrdiff_t>(at),
					1 + pick(20),
					static_cast<typename Container::value_type>(random_()));
				break;
			default:
				if (!bytes.empty())
					bytes[at] = static_cast<typename Container::value_type>(
						random_());
			}
		}
		return bytes;
	}

private:
	std::mt19937_64 random_;
};

TEST(Robust, DamagedDatagramsBreakNothing)
{
	World w;
	ASSERT_TRUE(w.configure(
		R"({"switches": [{"name": "sw0", "ports": 3}, {"name": "sw1", "ports": 3}],
                              "cables": [["sw0/3", "sw1/1"]]})"));
	Peer a{1, 0xA0}, b{2, 0xB0};
	w.add(a);
	w.add(b);
	w.run(500);
	ASSERT_TRUE(w.port_of(a) && w.port_of(b));
	Mutator mutate(1);
	for (unsigned round = 0; round < 20000; round++) {
		// The good ones are made again, since a damaged one may still mean something.
		const Bytes mad = make_smp(
			PIB_METHOD_SET, static_cast<std::uint16_t>(0x10 + mutate.pick(0x25)),
			static_cast<std::uint32_t>(mutate.pick(4)), Bytes(64, 0x11));
		const Bytes good[] = {
			a.data(make_packet({.slid = 2, .dlid = 3, .length = mutate.pick(4096)})),
			a.data(make_packet({.slid = 2, .dlid = 0xC000, .dqpn = 0xFFFFFF})),
			a.data(make_mad_packet(PIB_LID_PERMISSIVE, PIB_LID_PERMISSIVE, 0,
					       mutate.damage(mad))),
			a.data(make_mad_packet(PIB_LID_PERMISSIVE, PIB_LID_PERMISSIVE, 0,
					       directed(mad))),
		};
		Bytes bytes = good[mutate.pick(4)];
		if (mutate.pick(4) == 0) {
			bytes[0] = PIB_DG_VERSION << 4 | PIB_DG_SEGMENT;
			bytes.insert(bytes.begin() + PIB_DG_HDR_LEN,
				     {0, static_cast<std::uint8_t>(round), 0, 1, 0x10, 0, 0, 0});
		}
		w.deliver(a.at, mutate.pick(8) ? mutate.damage(bytes) : bytes,
			  1 + mutate.pick(4096));
		pib_hello h = a.say();
		h.nonce = round + 1;
		h.link_id = 5;
		Bytes hello(PIB_HELLO_WIRE_LEN);
		pib_hello_build(&h, static_cast<std::uint8_t>(1 + mutate.pick(4)),
				mutate.pick(2) ? a.session.remote_id : 0, hello.data());
		w.deliver(mutate.pick(2) ? a.at : address(7), mutate.damage(hello));
		w.net.sent.clear();
		w.now += kMs;
		if (w.core.deadline() <= w.now)
			w.core.timers(w.now);
	}
	// The MADs may have disabled ports: a new switch has none of that.
	ASSERT_TRUE(w.configure(
		R"({"switches": [{"name": "sw0", "ports": 3, "guid": "0x0200000000000077"}]})"));
	w.net.sent.clear();
	a.restart();
	b.restart();
	w.run(70000);
	EXPECT_TRUE(w.port_of(a)) << "a good peer still gets its port";
}

TEST(Robust, DamagedConfigurationsAreReadOrRefused)
{
	const std::string good = R"({"listen": ["192.0.2.1:5", "[::]:7"], "control": "/run/x",
    "switches": [{"name": "a", "ports": 254, "fabric": 4294967295, "guid": "0x00000000000000a1",
    "description": "d", "accept": false}, {"name": "b", "ports": 1}],
    "cables": [["a/254", "b/1"], ["a/1", "udp:[2001:db8::1]:9"]]})";
	Mutator mutate(2);
	unsigned read = 0;
	for (unsigned round = 0; round < 20000; round++) {
		const auto config = parse_config(mutate.damage(good));
		read += static_cast<bool>(config);
		EXPECT_TRUE(config || !config.error().text.empty());
	}
	EXPECT_LT(read, 20000u);
}

TEST(Robust, DamagedRequestsAreAnswered)
{
	World w;
	ASSERT_TRUE(w.configure(R"({"switches": [{"name": "sw0", "ports": 2}]})"));
	const ControlHooks hooks = {[](Drop) { return success(); },
				    [] { return std::vector<Address>{}; }};
	Mutator mutate(3);
	for (const std::string good :
	     {R"({"command":"plug","port":"sw0/1","plugged":true})",
	      R"({"command":"faults","port":"sw0/1","loss":0.5,"bit_errors":0.001,"flap_up_ms":7,"flap_down_ms":2,"seed":4})"})
		for (unsigned round = 0; round < 5000; round++) {
			const std::string answer =
				control_answer(w.core, hooks, mutate.damage(good), w.now);
			ASSERT_TRUE(answer.starts_with("{\"ok\":")) << answer;
			ASSERT_EQ(answer.find('\n'), answer.size() - 1);
		}
}

} // namespace
} // namespace pib::netd
