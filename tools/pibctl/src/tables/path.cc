// SPDX-License-Identifier: GPL-2.0
#include "tables/path.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "fabric/ports.h"

namespace pib::ctl {
namespace {

/// A directed route has 63 hops at most.
constexpr std::size_t kMostHops = 63;
constexpr std::uint8_t kDown = 1;

struct Hop {
	std::uint32_t out;
	std::string to;
};
using Hops = std::unordered_map<std::string, std::vector<Hop>>;

bool passes(const PortTable &ports, const Link &link)
{
	return link.b && link.plugged.value_or(true) && ports.at(link.a).state != kDown &&
	       ports.at(*link.b).state != kDown;
}

/// Each node gets the neighbours, and their ports, from which it is reached.
Hops hops_to(const FabricSnapshot &fabric)
{
	const PortTable ports(fabric);
	Hops hops;
	for (const Link &link : fabric.links) {
		if (!passes(ports, link))
			continue;
		hops[link.b->node].push_back({link.a.port, link.a.node});
		hops[link.a.node].push_back({link.b->port, link.b->node});
	}
	return hops;
}

/// Breadth first from the switch, backwards to the HCAs, which pass nothing on.
class Search {
public:
	Search(const FabricSnapshot &fabric, const std::string &to) : hops_(hops_to(fabric))
	{
		for (const Hca &hca : fabric.hcas)
			hcas_.insert(hca.name);
		paths_[to] = {};
		queue_.push_back(to);
	}

	std::vector<DirectedPath> run()
	{
		std::vector<DirectedPath> found;
		for (; !queue_.empty(); queue_.pop_front()) {
			const std::string &from = queue_.front();
			if (hcas_.contains(from))
				found.push_back({from, paths_.at(from)});
			else
				go_on(from);
		}
		return found;
	}

private:
	void go_on(const std::string &from)
	{
		const auto path = paths_.at(from);
		if (path.size() == kMostHops)
			return;
		for (const Hop &hop : hops_[from]) {
			if (paths_.contains(hop.to))
				continue;
			auto next = path;
			next.insert(next.begin(), static_cast<std::uint8_t>(hop.out));
			paths_.emplace(hop.to, std::move(next));
			queue_.push_back(hop.to);
		}
	}

	Hops hops_;
	std::unordered_set<std::string> hcas_;
	std::unordered_map<std::string, std::vector<std::uint8_t>> paths_;
	std::deque<std::string> queue_;
};

} // namespace

std::vector<DirectedPath> find_paths(const FabricSnapshot &fabric, const std::string &to)
{
	const auto is_switch = [&](const Switch &node) { return node.name == to; };
	if (std::ranges::none_of(fabric.switches, is_switch))
		return {};
	return Search(fabric, to).run();
}

} // namespace pib::ctl
