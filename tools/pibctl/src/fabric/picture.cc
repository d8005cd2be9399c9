// SPDX-License-Identifier: GPL-2.0
#include "fabric/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "fabric/ports.h"
#include "model/words/ib_names.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

constexpr unsigned int kNoRank = std::numeric_limits<unsigned int>::max();
constexpr int kSweeps = 4;

using Neighbours = std::vector<std::vector<std::size_t>>;

Neighbours neighbours_of(const Picture &picture)
{
	Neighbours neighbours(picture.nodes.size());
	for (const PictureCable &cable : picture.cables) {
		neighbours[cable.a].push_back(cable.b);
		neighbours[cable.b].push_back(cable.a);
	}
	return neighbours;
}

/// Breadth first from all HCAs at once. Switches that reach none are on rank 1.
void rank_nodes(Picture &picture, const Neighbours &neighbours)
{
	std::deque<std::size_t> queue;
	for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
		picture.nodes[i].rank = picture.nodes[i].is_switch ? kNoRank : 0;
		if (!picture.nodes[i].is_switch)
			queue.push_back(i);
	}
	for (; !queue.empty(); queue.pop_front())
		for (const std::size_t next : neighbours[queue.front()])
			if (picture.nodes[next].rank == kNoRank) {
				picture.nodes[next].rank = picture.nodes[queue.front()].rank + 1;
				queue.push_back(next);
			}
	for (PictureNode &node : picture.nodes)
		if (node.rank == kNoRank)
			node.rank = 1;
}

using Ranks = std::map<unsigned int, std::vector<std::size_t>>;

void spread(Picture &picture, const std::vector<std::size_t> &rank)
{
	for (std::size_t i = 0; i < rank.size(); ++i)
		picture.nodes[rank[i]].x =
			(static_cast<double>(i) + 0.5) / static_cast<double>(rank.size());
}

/// Orders a rank by where the neighbours of its nodes in another rank are: fewer cables cross.
void order_by(Picture &picture, const Neighbours &neighbours, std::vector<std::size_t> &rank,
	      unsigned int other)
{
	std::unordered_map<std::size_t, double> middle;
	for (const std::size_t node : rank) {
		double sum = 0;
		unsigned int count = 0;
		for (const std::size_t next : neighbours[node])
			if (picture.nodes[next].rank == other) {
				sum += picture.nodes[next].x;
				++count;
			}
		middle[node] = count ? sum / count : picture.nodes[node].x;
	}
	std::ranges::stable_sort(rank, {}, [&](std::size_t node) { return middle[node]; });
	spread(picture, rank);
}

void place_nodes(Picture &picture)
{
	const Neighbours neighbours = neighbours_of(picture);
	rank_nodes(picture, neighbours);
	Ranks ranks;
	for (std::size_t i = 0; i < picture.nodes.size(); ++i)
		ranks[picture.nodes[i].rank].push_back(i);
	for (auto &[number, rank] : ranks)
		spread(picture, rank);
	for (int sweep = 0; sweep < kSweeps; ++sweep) {
		for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank)
			order_by(picture, neighbours, rank->second, rank->first + 1);
		if (sweep + 1 == kSweeps)
			break;
		for (auto &[number, rank] : ranks)
			if (number)
				order_by(picture, neighbours, rank, number - 1);
	}
}

template <typename Node>
void add_node(Picture &picture, const Node &node, bool is_switch)
{
	PictureNode made;
	made.name = node.name;
	made.description = node.description.value_or("");
	made.is_switch = is_switch;
	made.guid = node.node_guid.value_or(0);
	for (const Port &port : node.ports)
		if (port.lid.value_or(0) && (!is_switch || port.number == 0))
			made.lids.push_back(*port.lid);
	picture.nodes.push_back(std::move(made));
}

double bytes_sent(const Port &port)
{
	return static_cast<double>(counter_of(port.counters, "port_xmit_bytes"));
}

/// Bytes that the two ends of a cable have sent.
double load_of(const PortTable &ports, const End &a, const End &b)
{
	return bytes_sent(ports.at(a)) + bytes_sent(ports.at(b));
}

std::string rate_of(const Port &port)
{
	const auto width = width_name(port.width.value_or(0));
	const auto speed = speed_name(port.speed.value_or(0));
	return width && speed ? fmt::format("{} {}", *width, *speed) : "";
}

} // namespace

Picture draw(const FabricSnapshot &now)
{
	Picture picture;
	const PortTable ports(now);
	std::unordered_map<std::string, std::size_t> index;
	for (const Switch &node : now.switches)
		add_node(picture, node, true);
	for (const Hca &node : now.hcas)
		add_node(picture, node, false);
	for (std::size_t i = 0; i < picture.nodes.size(); ++i)
		index.emplace(picture.nodes[i].name, i);
	for (const Link &link : now.links) {
		if (!link.b || !index.contains(link.a.node) || !index.contains(link.b->node))
			continue;
		const Port &a = ports.at(link.a);
		const Port &b = ports.at(*link.b);
		PictureCable cable;
		cable.a = index.at(link.a.node);
		cable.b = index.at(link.b->node);
		cable.end_a = format_end(link.a);
		cable.end_b = format_end(*link.b);
		cable.plugged = link.plugged.value_or(true);
		cable.state = state_name(std::min(a.state.value_or(0), b.state.value_or(0)));
		cable.rate = rate_of(a);
		cable.load = load_of(ports, link.a, *link.b);
		picture.cables.push_back(std::move(cable));
	}
	place_nodes(picture);
	return picture;
}

Picture draw_between(const FabricSnapshot &before, const FabricSnapshot &now, double seconds)
{
	Picture picture = draw(now);
	const PortTable earlier(before);
	std::unordered_map<std::string, double> loads;
	for (const Link &link : before.links)
		if (link.b)
			loads[format_end(link.a)] = load_of(earlier, link.a, *link.b);
	for (PictureCable &cable : picture.cables) {
		// A port that is new, or was cleared, starts from nothing.
		const double was = loads.contains(cable.end_a) ? loads[cable.end_a] : 0;
		cable.load = (cable.load >= was ? cable.load - was : cable.load) / seconds;
	}
	picture.load_is_rate = true;
	return picture;
}

std::string format_load(double bytes, bool is_rate)
{
	constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
	std::size_t unit = 0;
	for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit)
		bytes /= 1000;
	const char *suffix = is_rate ? "/s" : "";
	if (unit == 0)
		return fmt::format("{:.0f} {}{}", bytes, kUnits[unit], suffix);
	return fmt::format("{:.1f} {}{}", bytes, kUnits[unit], suffix);
}

} // namespace pib::ctl
