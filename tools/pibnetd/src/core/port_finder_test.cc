// SPDX-License-Identifier: GPL-2.0
#include "core/port_finder.h"

#include <gtest/gtest.h>

#include <random>

namespace pib::netd {
namespace {

const pib_hello_way kNear = {.hop_limit = PIB_HOP_LIMIT, .to_group = false, .named = false};

pib_hello hello_of(std::uint64_t guid)
{
	pib_hello h{};
	h.link_id = 1;
	h.node_guid = guid;
	h.port_num = 1;
	return h;
}

/// Switches with cables that are plugged in and pulled out by hand.
class Ports : public ::testing::Test {
protected:
	Switch &add(const std::string &name, std::uint8_t ports, std::uint8_t accept,
		    bool places_only = false)
	{
		SwitchConfig config{.name = name,
				    .ports = ports,
				    .description = {},
				    .key = {},
				    .second_key = {}};
		config.accept = accept;
		config.places_only = places_only;
		switches.push_back(std::make_unique<Switch>(config));
		return *switches.back();
	}
	void place(const Switch &node, std::uint16_t port, std::uint64_t guid)
	{
		places.push_back({{node.config.name, port}, guid, 1});
	}
	void rebuild() { finder.rebuild(switches, places); }
	void plug(Port &port, bool in)
	{
		port.cable = in ? &port : nullptr;
		finder.update(port);
	}
	Port *find(std::uint64_t guid) { return finder.find(hello_of(guid), kNear); }
	/// As find(), by looking at everything.
	Port *find_slowly(std::uint64_t guid)
	{
		const auto is_open = [](const Port &port) {
			return !port.cable && port.owner->config.accept != PIB_HELLO_NOBODY &&
			       port.owner->config.accept != PIB_HELLO_PEERS;
		};
		for (const Place &p : places)
			for (auto &node : switches)
				if (p.guid == guid && node->config.name == p.at.node &&
				    is_open(node->port(p.at.port)))
					return &node->port(p.at.port);
		const auto all = finder.reservations();
		Port *fresh = nullptr, *had = nullptr;
		for (auto &node : switches)
			for (unsigned i = 1; i <= node->node.num_ports; i++) {
				Port &port = node->port(i);
				const auto of = std::find_if(
					all.begin(), all.end(), [&](const Reservation &r) {
						return r.node == node->config.name && r.port == i;
					});
				if (!is_open(port))
					continue;
				if (of != all.end() && of->guid == guid)
					return &port;
				const bool is_place = std::any_of(
					places.begin(), places.end(), [&](const Place &p) {
						return p.at.node == node->config.name &&
						       p.at.port == i;
					});
				if (port.unplugged || (node->config.places_only && !is_place))
					continue;
				Port *&slot = of == all.end() ? fresh : had;
				if (!slot)
					slot = &port;
			}
		return fresh ? fresh : had;
	}

	std::vector<std::unique_ptr<Switch>> switches;
	std::vector<Place> places;
	PortFinder finder;
};

TEST_F(Ports, WhoIsAcceptedIsAskedBeforeThePlaces)
{
	Switch &closed = add("closed", 2, PIB_HELLO_NOBODY);
	Switch &open = add("open", 2, PIB_HELLO_ANYBODY);
	place(closed, 1, 7);
	place(open, 2, 8);
	rebuild();
	EXPECT_EQ(find(7), &open.port(1));
	EXPECT_EQ(find(8), &open.port(2));
	EXPECT_EQ(finder.acceptor(0), &open);
	EXPECT_EQ(finder.acceptor(1), nullptr);
}

TEST_F(Ports, OnlyWhoNamesPeersAsksForNames)
{
	add("a", 1, PIB_HELLO_ANYBODY);
	rebuild();
	EXPECT_FALSE(finder.asks_for_names(0));
	add("b", 1, PIB_HELLO_LINK);
	rebuild();
	EXPECT_TRUE(finder.asks_for_names(0));
	EXPECT_FALSE(finder.asks_for_names(1));
}

TEST_F(Ports, EachFindsWhatALookAtEverythingFinds)
{
	std::mt19937 random(3);
	add("closed", 3, PIB_HELLO_PEERS);
	place(add("a", 5, PIB_HELLO_ANYBODY), 2, 1);
	place(add("b", 4, PIB_HELLO_LINK, true), 3, 2);
	place(add("c", 6, PIB_HELLO_NOBODY), 3, 3);
	add("d", 5, PIB_HELLO_LINK);
	rebuild();
	std::vector<Port *> taken;
	unsigned full = 0;
	for (int i = 0; i < 5000; i++) {
		const std::uint64_t guid = 1 + random() % 24;
		Port *port = find(guid);
		ASSERT_EQ(port, find_slowly(guid)) << i;
		full += !port;
		if (port && random() % 3) {
			plug(*port, true);
			finder.reserve(*port, {guid, 1});
			taken.push_back(port);
		} else if (!taken.empty()) {
			const auto at = taken.begin() + random() % taken.size();
			plug(**at, false);
			taken.erase(at);
		}
		if (i % 50 == 0) {
			Switch &node = *switches[random() % switches.size()];
			Port &any = node.port(1 + random() % node.node.num_ports);
			any.unplugged = !any.unplugged;
			finder.update(any);
		}
		if (i % 300 == 0)
			finder.set_reservations(finder.reservations());
		if (i % 500 == 0)
			rebuild();
	}
	EXPECT_GT(full, 0u);
}

} // namespace
} // namespace pib::netd
