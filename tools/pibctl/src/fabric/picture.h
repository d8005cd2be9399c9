// SPDX-License-Identifier: GPL-2.0
// A picture of a fabric: what is drawn, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/snapshot.h"

namespace pib::ctl {

struct PictureNode {
	std::string name;
	std::string description;
	bool is_switch = false;
	std::uint64_t guid = 0;
	/// Of an HCA those of its ports that have one.
	std::vector<std::uint16_t> lids;
	/// Hops from the nearest HCA.
	unsigned int rank = 0;
	/// Place in its rank, 0 to 1 from left to right.
	double x = 0;
};

struct PictureCable {
	// Indices of nodes.
	std::size_t a = 0;
	std::size_t b = 0;
	std::string end_a;
	std::string end_b;
	bool plugged = true;
	/// As 'pibctl show' spells it; that of the end which is further behind.
	std::string state;
	std::string rate;
	/// Bytes in both directions: all so far, or a second.
	double load = 0;
};

struct Picture {
	std::vector<PictureNode> nodes;
	std::vector<PictureCable> cables;
	/// The loads are of one second.
	bool load_is_rate = false;
};

/// The fabric as it is, with what went over its cables so far.
Picture draw(const FabricSnapshot &now);
/// The same with what went over them between two snapshots, by the second.
Picture draw_between(const FabricSnapshot &before, const FabricSnapshot &now, double seconds);

std::string format_svg(const Picture &picture);
/// For graphviz.
std::string format_dot(const Picture &picture);

/// "1.5 MB", "20 B/s".
std::string format_load(double bytes, bool is_rate);

} // namespace pib::ctl
