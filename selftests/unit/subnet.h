// SPDX-License-Identifier: GPL-2.0
// A subnet manager as small as possible: discovers a fabric by directed routes, gives
// LIDs, programs the tables by shortest path, and makes the ports active.
#pragma once

#include <gtest/gtest.h>
#include <queue>
#include "fabric.h"

namespace fabric {

class Subnet {
public:
	Subnet(Fabric &f, Node &at) : f(f), at(at) {}

	// Returns how many nodes it found.
	size_t sweep()
	{
		found.clear();
		discover({});
		for (size_t i = 0; i < found.size(); i++)
			explore(i);
		assign();
		for (auto &s : found)
			if (s.is_switch)
				program(s);
		for (uint8_t state : {PIB_PORT_ARMED, PIB_PORT_ACTIVE})
			for (auto &s : found)
				raise(s, state);
		return found.size();
	}

	struct Seen {
		uint64_t guid;
		bool is_switch;
		int num_ports, port;	     // port: by which it was found
		std::vector<uint8_t> path;   // out ports from the SM's own
		std::map<int, size_t> links; // port -> index of the neighbour
		uint16_t lid = 0;
	};
	std::vector<Seen> found;

	const Seen *by_guid(uint64_t guid) const
	{
		for (auto &s : found)
			if (s.guid == guid)
				return &s;
		return nullptr;
	}

private:
	Mad ask(const Seen &s, const Mad &m)
	{
		auto r = f.directed(at, s.path, m);

		EXPECT_TRUE(r.has_value());
		return r.value_or(Mad());
	}

	// The node at the end of @path: index into found.
	size_t discover(const std::vector<uint8_t> &path)
	{
		auto r = f.directed(at, path, get(PIB_SM_NODE_INFO));
		if (!r)
			return SIZE_MAX;
		uint64_t guid = pib_get64(r->attribute() + 12);
		for (size_t i = 0; i < found.size(); i++)
			if (found[i].guid == guid)
				return i;
		found.push_back({guid,
				 r->attribute()[2] == PIB_NODE_SWITCH,
				 r->attribute()[3],
				 r->attribute()[36],
				 path,
				 {}});
		return found.size() - 1;
	}

	void explore(size_t i)
	{
		if (!found[i].is_switch && i)
			return; // no way leads through an HCA, but for the SM's own
		for (int p = 1; p <= found[i].num_ports; p++) {
			if (!found[i].is_switch && p != found[i].port)
				continue;
			Mad info = ask(found[i], get(PIB_SM_PORT_INFO, p));
			if ((info.attribute()[32] & 0xF) < PIB_PORT_INIT)
				continue;
			auto path = found[i].path;
			path.push_back(p);
			if (size_t far = discover(path); far != SIZE_MAX)
				found[i].links[p] = far;
		}
	}

	Data port_info(const Seen &s, int port)
	{
		Data d = ask(s, get(PIB_SM_PORT_INFO, port)).payload();

		d[32] &= 0xF0; // NoChange
		d[33] &= 0x0F;
		return d;
	}

	void assign()
	{
		uint16_t next = 1;

		for (auto &s : found)
			s.lid = next++;
		for (auto &s : found) {
			int port = s.is_switch ? 0 : s.port;
			Data d = port_info(s, port);

			pib_put16(d.data() + 16, s.lid);
			pib_put16(d.data() + 18, found[0].lid);
			EXPECT_EQ(ask(s, set(PIB_SM_PORT_INFO, port, d)).status(), 0);
		}
	}

	// First port on a shortest way from @s to each node.
	std::vector<int> ways(const Seen &s)
	{
		std::vector<int> first(found.size(), -1);
		std::queue<size_t> todo;
		size_t self = &s - found.data();

		first[self] = 0;
		todo.push(self);
		while (!todo.empty()) {
			size_t i = todo.front();
			todo.pop();
			if (i != self && !found[i].is_switch)
				continue;
			for (auto [port, far] : found[i].links) {
				if (first[far] >= 0)
					continue;
				first[far] = i == self ? port : first[i];
				todo.push(far);
			}
		}
		return first;
	}

	void program(const Seen &s)
	{
		auto first = ways(s);
		Data block;

		block.fill(PIB_LFT_DROP);
		for (size_t i = 0; i < found.size(); i++)
			block[found[i].lid] = first[i];
		EXPECT_EQ(ask(s, set(PIB_SM_LFT, 0, block)).status(), 0);
		Data info = ask(s, get(PIB_SM_SWITCH_INFO)).payload();
		pib_put16(info.data() + 6, 63);
		info[11] |= 0x4; // clears PortStateChange
		EXPECT_EQ(ask(s, set(PIB_SM_SWITCH_INFO, 0, info)).status(), 0);
	}

	void raise(const Seen &s, uint8_t state)
	{
		auto ports = s.links;

		if (!s.is_switch)
			ports = {{s.port, 0}};
		for (auto [port, far] : ports) {
			Data d = port_info(s, port);
			if ((ask(s, get(PIB_SM_PORT_INFO, port)).attribute()[32] & 0xF) >= state)
				continue;
			d[32] |= state;
			EXPECT_EQ(ask(s, set(PIB_SM_PORT_INFO, port, d)).status(), 0);
		}
	}

	Fabric &f;
	Node &at;
};

} // namespace fabric
