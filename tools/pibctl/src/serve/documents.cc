// SPDX-License-Identifier: GPL-2.0
#include "serve/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fabric/ports.h"
#include "model/words/ib_names.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json &json)
{
	// Descriptions may be any bytes.
	return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

double rounded(double value)
{
	return std::round(value * 10) / 10;
}

Json picture_node_json(const PictureNode &node)
{
	return {{"name", node.name},
		{"kind", node.is_switch ? "switch" : "hca"},
		{"description", node.description},
		{"guid", format_guid(node.guid)},
		{"lids", node.lids}};
}

Json cable_json(const CableRates &cable)
{
	Json json = {{"a", format_end(cable.a)},
		     {"b", cable.far},
		     {"class", cable_class(cable)},
		     {"state", cable.plugged ? cable.state : "UNPLUGGED"},
		     {"bytes_out", rounded(cable.bytes_out)},
		     {"bytes_in", rounded(cable.bytes_in)},
		     {"packets_out", rounded(cable.packets_out)},
		     {"packets_in", rounded(cable.packets_in)},
		     {"waits", rounded(cable.waits)},
		     {"lost", rounded(cable.lost)}};
	return json;
}

const Link *link_of(const FabricSnapshot &fabric, const End &end)
{
	const auto found = std::ranges::find_if(
		fabric.links, [&](const Link &link) { return link.a == end || link.b == end; });
	return found == fabric.links.end() ? nullptr : &*found;
}

/// The other end of a port's cable, for a user; empty if there is no cable.
std::string far_end(const FabricSnapshot &fabric, const End &end)
{
	const Link *link = link_of(fabric, end);
	if (!link)
		return "";
	if (link->b)
		return format_end(link->a == end ? *link->b : link->a);
	return link->udp && link->udp->peer ? format_endpoint(*link->udp->peer) : "";
}

std::string rate_text(const Port &port)
{
	const auto width = width_name(port.width.value_or(0));
	const auto speed = speed_name(port.speed.value_or(0));
	const auto gigabits = rate(port.width.value_or(0), port.speed.value_or(0));
	if (!width || !speed || !gigabits)
		return "";
	return fmt::format("{} {} ({:g} Gb/s)", *width, *speed, *gigabits);
}

Json port_json(const FabricSnapshot &fabric, const End &end, const Port &port)
{
	Json json = {{"name", format_end(end)}, {"port", end.port}};
	json["state"] = state_name(port.state.value_or(0));
	json["physical_state"] = physical_state_name(port.physical_state.value_or(0));
	json["rate"] = rate_text(port);
	json["far"] = far_end(fabric, end);
	if (port.lid)
		json["lid"] = *port.lid;
	return json;
}

void add_identity(Json &json, const Port &port)
{
	if (port.lmc)
		json["lmc"] = *port.lmc;
	if (port.sm_lid)
		json["sm_lid"] = *port.sm_lid;
	if (port.mtu)
		json["mtu"] = *port.mtu;
	if (port.guid)
		json["guid"] = format_guid(*port.guid);
	if (port.netdev)
		json["netdev"] = *port.netdev;
}

Json counters_json(const Counters &before, const Counters &now, double seconds)
{
	Json json = Json::array();
	for (const Counter &counter : now) {
		const auto gone = counted(counter_of(before, counter.name), counter.value);
		json.push_back(
			{{"name", counter.name},
			 {"value", counter.value},
			 {"rate", seconds > 0 ? rounded(static_cast<double>(gone) / seconds) : 0}});
	}
	return json;
}

template <typename Node>
Json node_json(const FabricSnapshot &fabric, const Node &node, const char *kind)
{
	Json json = {{"name", node.name}, {"kind", kind}};
	json["description"] = node.description.value_or("");
	json["guid"] = format_guid(node.node_guid.value_or(0));
	json["ports"] = Json::array();
	for (const Port &port : node.ports)
		json["ports"].push_back(port_json(fabric, {node.name, port.number}, port));
	return json;
}

} // namespace

unsigned int load_level(double bytes)
{
	constexpr double kSteps[] = {1e3, 1e5, 1e6, 1e7, 1e8};
	return static_cast<unsigned int>(
		std::ranges::count_if(kSteps, [&](double step) { return bytes >= step; }));
}

std::string cable_class(const CableRates &cable)
{
	if (!cable.plugged)
		return "unplugged";
	std::string words = "down";
	if (cable.state == "ACTIVE")
		words = fmt::format("active load{}", load_level(cable.bytes_out + cable.bytes_in));
	else if (cable.state == "INIT" || cable.state == "ARMED")
		words = "coming";
	if (cable.faulty)
		words += " faulty";
	if (cable.lost > 0)
		words += " losing";
	return words;
}

std::string shape_of(const Picture &picture)
{
	std::string text;
	for (const PictureNode &node : picture.nodes)
		text += fmt::format("{}\n{}\n{} {} {} {}\n", node.name, node.description,
				    node.is_switch, node.rank, node.x, fmt::join(node.lids, ","));
	for (const PictureCable &cable : picture.cables)
		text += fmt::format("{} {}\n", cable.end_a, cable.end_b);
	return fmt::format("{:016x}", std::hash<std::string>{}(text));
}

std::string fabric_document(const Look &before, const Look &now)
{
	const Picture picture = draw(now.fabric);
	const double seconds = seconds_between(before, now);
	Json json = {{"shape", shape_of(picture)}, {"seconds", rounded(seconds)}};
	json["nodes"] = Json::array();
	for (const PictureNode &node : picture.nodes)
		json["nodes"].push_back(picture_node_json(node));
	json["cables"] = Json::array();
	json["hosts"] = Json::array();
	for (const CableRates &cable : compare(before, now).cables)
		json[cable.b ? "cables" : "hosts"].push_back(cable_json(cable));
	return dump(json);
}

std::optional<std::string> node_document(const Look &now, const std::string &name)
{
	for (const Hca &node : now.fabric.hcas)
		if (node.name == name)
			return dump(node_json(now.fabric, node, "hca"));
	for (const Switch &node : now.fabric.switches)
		if (node.name == name)
			return dump(node_json(now.fabric, node, "switch"));
	return std::nullopt;
}

std::optional<std::string> port_document(const Look &before, const Look &now, const End &end)
{
	const Port *port = PortTable(now.fabric).find(end);
	if (!port)
		return std::nullopt;
	Json json = port_json(now.fabric, end, *port);
	add_identity(json, *port);
	json["counters"] = counters_json(PortTable(before.fabric).at(end).counters, port->counters,
					 seconds_between(before, now));
	return dump(json);
}

std::string tables_document(const Tables &tables)
{
	Json json = {{"routes", Json::array()}, {"groups", Json::array()}};
	for (const LidRoute &route : tables.routes)
		json["routes"].push_back(
			{{"first", route.first}, {"last", route.last}, {"port", route.port}});
	for (const MulticastRoute &group : tables.groups)
		json["groups"].push_back(
			{{"lid", fmt::format("{:#x}", group.lid)}, {"ports", group.ports}});
	return dump(json);
}

} // namespace pib::ctl
