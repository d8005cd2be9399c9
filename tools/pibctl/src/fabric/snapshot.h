// SPDX-License-Identifier: GPL-2.0
// All that this network namespace has of a fabric, at one time.
#pragma once

#include <vector>

#include "objects/client.h"
#include "model/topology/topology.h"

namespace pib::ctl {

struct FabricSnapshot {
	std::vector<Hca> hcas;
	std::vector<Switch> switches;
	std::vector<Link> links;
};

Result<FabricSnapshot> take_snapshot(Client &client);

/// The nodes, under their names, and the cables that have both ends here.
Topology topology_of(const FabricSnapshot &snapshot);

} // namespace pib::ctl
