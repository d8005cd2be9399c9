// SPDX-License-Identifier: GPL-2.0
// A look at what moves: the fabric and the queue pairs of this network namespace, and when that was.
#pragma once

#include <chrono>
#include <vector>

#include "fabric/snapshot.h"
#include "objects/client.h"

namespace pib::ctl {

struct Look {
	std::chrono::steady_clock::time_point when;
	FabricSnapshot fabric;
	/// Those that the caller may see.
	std::vector<VerbsObject> queue_pairs;
};

Result<Look> look_at_fabric(Client &client);
/// At the queue pairs, too.
Result<Look> look_at_all(Client &client);

double seconds_between(const Look &before, const Look &now);

} // namespace pib::ctl
