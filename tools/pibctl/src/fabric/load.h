// SPDX-License-Identifier: GPL-2.0
// Building of a topology in this kernel.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "objects/client.h"
#include "model/topology/topology.h"

namespace pib::ctl {

/// The changes that make the fabric, nodes before cables, and the names of the nodes.
struct LoadPlan {
	std::vector<Change> changes;
	/// By node id. A switch is called by its id, as far as that can be a name; an HCA pib0,
	/// pib1 and so on in the order of the file, unless its id is such a name.
	std::unordered_map<std::string, std::string> names;
	std::vector<std::string> hcas;
};

/// taken: names that cannot be given.
LoadPlan plan_load(const Topology &topology, const std::unordered_set<std::string> &taken);

/// Makes everything, or nothing: what was made is deleted again when something is refused, by the
/// kernel or by the step.
/// back: called while that goes on.
Status execute_load(Client &client, const LoadPlan &plan, const Client::Step &step = {},
		    const Client::Step &back = {});

/// The changes that undo a whole load.
std::vector<Change> undo_load(const LoadPlan &plan);

/// Deletes all HCAs and switches of this network namespace. names: of the HCAs that were there.
Status clear_fabric(Client &client, std::vector<std::string> &names);

} // namespace pib::ctl
