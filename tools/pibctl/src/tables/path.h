// SPDX-License-Identifier: GPL-2.0
// A directed route from an HCA of this network namespace to a switch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/snapshot.h"

namespace pib::ctl {

struct DirectedPath {
	std::string hca;
	/// By which port each node on the way sends it on; the HCA's is the first.
	std::vector<std::uint8_t> ports;
};

/// The shortest, over cables that are plugged in.
std::optional<DirectedPath> find_path(const FabricSnapshot &fabric, const std::string &to);

} // namespace pib::ctl
