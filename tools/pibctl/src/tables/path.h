// SPDX-License-Identifier: GPL-2.0
// A directed route from an HCA of this network namespace to a switch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/snapshot.h"

namespace pib::ctl {

struct DirectedPath {
	std::string hca;
	/// Each node on the way sends it on by one of these; the HCA's is the first.
	std::vector<std::uint8_t> ports;
};

/// From each HCA that has a way to the switch the shortest, the shortest of all first, over cables that
/// are plugged in and whose ends are not DOWN.
std::vector<DirectedPath> find_paths(const FabricSnapshot &fabric, const std::string &to);

} // namespace pib::ctl
