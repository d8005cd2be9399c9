// SPDX-License-Identifier: GPL-2.0
// A picture as SVG and as DOT.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/words/parse.h"
#include "fabric/picture.h"

namespace pib::ctl {
namespace {

constexpr double kNodeWidth = 96;
constexpr double kNodeHeight = 40;
constexpr double kColumn = 112;
constexpr double kRow = 150;
constexpr double kMargin = 40;
constexpr double kThinnest = 1;
constexpr double kThickest = 9;

/// Names and descriptions come from files: only ASCII that means nothing in XML and DOT passes.
std::string escape(std::string_view text)
{
	std::string escaped;
	for (const char c : text) {
		if (c == '&')
			escaped += "&amp;";
		else if (c == '<')
			escaped += "&lt;";
		else if (c == '>')
			escaped += "&gt;";
		else if (c == '"')
			escaped += "&quot;";
		else if (c == '\\')
			escaped += "&#92;";
		else
			escaped += c < 0x20 || c == 0x7f ? '?' : c;
	}
	return escaped;
}

std::string lids_text(const PictureNode &node)
{
	if (node.lids.empty())
		return "no lid";
	return fmt::format("lid {}", fmt::join(node.lids, ", "));
}

std::string node_tip(const PictureNode &node)
{
	return fmt::format("{} \"{}\" {}", node.name, node.description, format_guid(node.guid));
}

std::string cable_tip(const PictureCable &cable, bool is_rate)
{
	return fmt::format("{} - {} {} {} {}", cable.end_a, cable.end_b,
			   cable.plugged ? cable.state : "UNPLUGGED", cable.rate,
			   format_load(cable.load, is_rate));
}

const char *colour_of(const PictureCable &cable)
{
	if (!cable.plugged)
		return "#b0b0b0";
	if (cable.state == "ACTIVE")
		return "#2e7d32";
	if (cable.state == "INIT" || cable.state == "ARMED")
		return "#ef8f00";
	return "#c62828";
}

/// Thickness of cables: the busiest is thickest.
class Thickness {
public:
	explicit Thickness(const Picture &picture)
	{
		for (const PictureCable &cable : picture.cables)
			most_ = std::max(most_, cable.load);
	}
	double of(const PictureCable &cable) const
	{
		return most_ > 0 ? kThinnest + (kThickest - kThinnest) * cable.load / most_
				 : kThinnest;
	}

private:
	double most_ = 0;
};

class Svg {
public:
	explicit Svg(const Picture &picture) : picture_(picture), thickness_(picture)
	{
		std::map<unsigned int, std::size_t> sizes;
		for (const PictureNode &node : picture.nodes) {
			top_ = std::max(top_, node.rank);
			widest_ = std::max(widest_, ++sizes[node.rank]);
		}
	}

	std::string str() const
	{
		std::string text = fmt::format(
			"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
			"viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
			"<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
			width(), height());
		// Parallel cables lie side by side.
		std::map<std::pair<std::size_t, std::size_t>, unsigned int> parallel;
		for (const PictureCable &cable : picture_.cables)
			text += cable_text(cable, parallel[std::minmax(cable.a, cable.b)]++);
		for (const PictureNode &node : picture_.nodes)
			text += node_text(node);
		return text + legend() + "</svg>\n";
	}

private:
	double width() const
	{
		return std::max(2 * kMargin + kColumn * static_cast<double>(widest_), 520.0);
	}
	double height() const { return 2 * kMargin + kRow * top_ + kNodeHeight + 30; }
	double x(const PictureNode &node) const
	{
		return kMargin + node.x * (width() - 2 * kMargin);
	}
	double y(const PictureNode &node) const
	{
		return kMargin + kRow * (top_ - node.rank) + kNodeHeight / 2;
	}

	std::string cable_text(const PictureCable &cable, unsigned int nth) const
	{
		const PictureNode &a = picture_.nodes[cable.a];
		const PictureNode &b = picture_.nodes[cable.b];
		const double aside = (nth % 2 ? 1.0 : -1.0) * 6 * ((nth + 1) / 2);
		// Nodes of one rank stand on one line, so their cables go in a bow.
		const double bow = a.rank == b.rank ? 50 : 0;
		return fmt::format(
			"<path class=\"cable\" data-cable=\"{}\" d=\"M {:.1f} {:.1f} Q {:.1f} {:.1f} {:.1f} {:.1f}\" "
			"fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"{}><title>{}</title></path>\n",
			escape(cable.end_a), x(a) + aside, y(a), (x(a) + x(b)) / 2 + aside,
			(y(a) + y(b)) / 2 - bow, x(b) + aside, y(b), colour_of(cable),
			thickness_.of(cable), cable.plugged ? "" : " stroke-dasharray=\"5 4\"",
			escape(cable_tip(cable, picture_.load_is_rate)));
	}

	std::string node_text(const PictureNode &node) const
	{
		return fmt::format(
			"<g class=\"node {}\" data-node=\"{}\"><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"{}\" "
			"fill=\"{}\" stroke=\"#37474f\"/>\n<text x=\"{:.1f}\" y=\"{:.1f}\" "
			"text-anchor=\"middle\">{}</text><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
			"fill=\"#546e7a\">{}</text></g>\n",
			node.is_switch ? "switch" : "hca", escape(node.name),
			escape(node_tip(node)), x(node) - kNodeWidth / 2, y(node) - kNodeHeight / 2,
			kNodeWidth, kNodeHeight, node.is_switch ? 2 : 14,
			node.is_switch ? "#cfd8dc" : "#e3f2fd", x(node), y(node) - 3,
			escape(short_name(node)), x(node), y(node) + 14, escape(lids_text(node)));
	}

	/// The part of the name that fits into the box.
	static std::string short_name(const PictureNode &node)
	{
		constexpr std::size_t kFits = 15;
		if (node.name.size() <= kFits)
			return node.name;
		return ".." + node.name.substr(node.name.size() - kFits + 2);
	}

	std::string legend() const
	{
		return fmt::format(
			"<text class=\"legend\" x=\"{}\" y=\"{:.0f}\" fill=\"#546e7a\">green ACTIVE, amber INIT or "
			"ARMED, red DOWN, dashed unplugged; thickest: {}</text>\n",
			kMargin, height() - 14, format_load(most(), picture_.load_is_rate));
	}

	double most() const
	{
		double load = 0;
		for (const PictureCable &cable : picture_.cables)
			load = std::max(load, cable.load);
		return load;
	}

	const Picture &picture_;
	Thickness thickness_;
	unsigned int top_ = 0;
	std::size_t widest_ = 1;
};

} // namespace

std::string format_svg(const Picture &picture)
{
	return Svg(picture).str();
}

std::string format_dot(const Picture &picture)
{
	const Thickness thickness(picture);
	std::string text = "graph fabric {\n  node [fontname=\"sans-serif\"];\n";
	for (const PictureNode &node : picture.nodes)
		text += fmt::format("  \"{}\" [shape={} label=\"{}\\n{}\" tooltip=\"{}\"];\n",
				    escape(node.name), node.is_switch ? "box" : "ellipse",
				    escape(node.name), escape(lids_text(node)),
				    escape(node_tip(node)));
	for (const PictureCable &cable : picture.cables)
		text += fmt::format(
			"  \"{}\" -- \"{}\" [color=\"{}\" penwidth={:.1f} style={} label=\"{}\" "
			"tooltip=\"{}\"];\n",
			escape(picture.nodes[cable.a].name), escape(picture.nodes[cable.b].name),
			colour_of(cable), thickness.of(cable), cable.plugged ? "solid" : "dashed",
			escape(cable.plugged ? cable.state : "UNPLUGGED"),
			escape(cable_tip(cable, picture.load_is_rate)));
	return text + "}\n";
}

} // namespace pib::ctl
