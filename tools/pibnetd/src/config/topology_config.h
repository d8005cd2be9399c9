// SPDX-License-Identifier: GPL-2.0
// Topology files as configuration: switches and cables as in the file, and places for hosts
// where it has HCAs.
#pragma once

#include "config/config.h"
#include "model/topology/topology.h"

namespace pib::netd {

/// common: what all switches have alike. Refused: a switch with more ports than there may be.
Status add_topology(const model::Topology &topology, const SwitchConfig &common, Config &config);

} // namespace pib::netd
