// SPDX-License-Identifier: GPL-2.0
// The text of a topology file.
#pragma once

#include <string>

#include "model/topology/topology.h"

namespace pib::inline model {

/// As ibnetdiscover prints it; parse_topology() and ibsim read it.
std::string format_topology(const Topology &topology);

} // namespace pib::inline model
