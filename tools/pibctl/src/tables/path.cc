// SPDX-License-Identifier: GPL-2.0
#include "tables/path.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace pib::ctl {
namespace {

/// A directed route has 63 hops at most.
constexpr std::size_t kMostHops = 63;

struct Hop {
	std::uint32_t out;
	std::string to;
};
using Hops = std::unordered_map<std::string, std::vector<Hop>>;

Hops hops_of(const FabricSnapshot &fabric)
{
	Hops hops;
	for (const Link &link : fabric.links) {
		if (!link.b || !link.plugged.value_or(true))
			continue;
		hops[link.a.node].push_back({link.a.port, link.b->node});
		hops[link.b->node].push_back({link.b->port, link.a.node});
	}
	return hops;
}

/// Breadth first from all HCAs at once, which pass nothing on.
class Search {
public:
	explicit Search(const FabricSnapshot &fabric) : hops_(hops_of(fabric))
	{
		for (const Hca &hca : fabric.hcas) {
			paths_[hca.name] = {hca.name, {}};
			queue_.push_back(hca.name);
		}
	}

	std::optional<DirectedPath> run(const std::string &to)
	{
		for (; !queue_.empty(); queue_.pop_front()) {
			if (queue_.front() == to)
				return paths_.at(to);
			go_on(queue_.front());
		}
		return std::nullopt;
	}

private:
	void go_on(const std::string &from)
	{
		const DirectedPath path = paths_.at(from);
		if (path.ports.size() == kMostHops)
			return;
		for (const Hop &hop : hops_[from]) {
			if (paths_.contains(hop.to))
				continue;
			DirectedPath next = path;
			next.ports.push_back(static_cast<std::uint8_t>(hop.out));
			paths_.emplace(hop.to, std::move(next));
			queue_.push_back(hop.to);
		}
	}

	Hops hops_;
	std::unordered_map<std::string, DirectedPath> paths_;
	std::deque<std::string> queue_;
};

} // namespace

std::optional<DirectedPath> find_path(const FabricSnapshot &fabric, const std::string &to)
{
	const auto is_switch = [&](const Switch &node) { return node.name == to; };
	if (std::ranges::none_of(fabric.switches, is_switch))
		return std::nullopt;
	return Search(fabric).run(to);
}

} // namespace pib::ctl
