// SPDX-License-Identifier: GPL-2.0
#include "model/topology/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace pib::inline model {
namespace {

using Kind = TopologyNode::Kind;

constexpr std::string_view kHead =
	"# Topology of a fabric: 'pibctl fabric load' reads it, and ibsim does.\n";

/// Descriptions come from outside: what would end the quotes or the line is left out.
std::string clean(std::string_view description)
{
	std::string text(description);
	std::ranges::replace_if(
		text, [](unsigned char c) { return c < 0x20 || c == '"' || c == 0x7f; }, ' ');
	return text;
}

class Writer {
public:
	explicit Writer(const Topology &topology) : topology_(topology)
	{
		for (const TopologyNode &node : topology.nodes)
			nodes_.emplace(node.id, &node);
		for (const TopologyCable &cable : topology.cables) {
			far_[cable.a.node].emplace_back(cable.a.port, cable.b);
			far_[cable.b.node].emplace_back(cable.b.port, cable.a);
		}
		for (auto &[id, ends] : far_)
			std::ranges::sort(ends, {}, &NumberedEnd::first);
	}

	std::string str()
	{
		std::string text(kHead);
		for (const TopologyNode &node : topology_.nodes)
			text += node.kind == Kind::kSwitch ? switch_text(node) : hca_text(node);
		return text;
	}

private:
	using NumberedEnd = std::pair<std::uint32_t, End>;

	static const TopologyPort &port_of(const TopologyNode &node, std::uint32_t number)
	{
		static const TopologyPort kNothing;
		const auto found = node.ports.find(number);
		return found == node.ports.end() ? kNothing : found->second;
	}

	/// The LID of a switch is that of its port 0.
	static std::uint16_t lid_of(const TopologyNode &node, std::uint32_t number)
	{
		return port_of(node, node.kind == Kind::kSwitch ? 0 : number).lid;
	}

	/// Unknown properties are written as 0, which readers take as absent.
	static std::string product_text(const TopologyNode &node)
	{
		return fmt::format("\nvendid=0x{:x}\ndevid=0x{:x}\nsysimgguid=0x{:x}\n",
				   node.product.vendor_id.value_or(0),
				   node.product.device_id.value_or(0),
				   node.product.sys_image_guid.value_or(node.guid));
	}

	std::string switch_text(const TopologyNode &node)
	{
		const TopologyPort &port0 = port_of(node, 0);
		std::string text = product_text(node);
		text += fmt::format(
			"switchguid=0x{0:x}({0:x})\nSwitch\t{1} \"{2}\"\t\t# \"{3}\" {4} port 0 lid {5} lmc {6}\n",
			node.guid, node.num_ports, node.id, clean(node.description),
			node.enhanced_port0 ? "enhanced" : "base", port0.lid, port0.lmc);
		for (const auto &[number, end] : far_[node.id]) {
			const TopologyNode &remote = *nodes_.at(end.node);
			text += fmt::format("[{}]\t{}\t\t# \"{}\" lid {} {}\n", number,
					    end_text(end), clean(remote.description),
					    lid_of(remote, end.port), rate(node, number));
		}
		return text;
	}

	std::string hca_text(const TopologyNode &node)
	{
		std::string text = product_text(node);
		text += fmt::format("caguid=0x{:x}\nCa\t{} \"{}\"\t\t# \"{}\"\n", node.guid,
				    node.num_ports, node.id, clean(node.description));
		for (const auto &[number, end] : far_[node.id]) {
			const TopologyNode &remote = *nodes_.at(end.node);
			const TopologyPort &port = port_of(node, number);
			text += fmt::format("[{}]({:x}) \t{}\t\t# lid {} lmc {} \"{}\" lid {} {}\n",
					    number, port_guid(node, number), end_text(end),
					    port.lid, port.lmc, clean(remote.description),
					    lid_of(remote, end.port), rate(node, number));
		}
		return text;
	}

	std::string end_text(const End &end) const
	{
		const TopologyNode &node = *nodes_.at(end.node);
		if (node.kind == Kind::kSwitch)
			return fmt::format("\"{}\"[{}]", end.node, end.port);
		return fmt::format("\"{}\"[{}]({:x})", end.node, end.port,
				   port_guid(node, end.port));
	}

	static std::string rate(const TopologyNode &node, std::uint32_t number)
	{
		const TopologyPort &port = port_of(node, number);
		return port.rate.empty() ? "4xSDR" : port.rate;
	}

	const Topology &topology_;
	std::unordered_map<std::string, const TopologyNode *> nodes_;
	std::unordered_map<std::string, std::vector<NumberedEnd>> far_;
};

} // namespace

std::string format_topology(const Topology &topology)
{
	return Writer(topology).str();
}

} // namespace pib::inline model
