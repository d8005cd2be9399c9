// SPDX-License-Identifier: GPL-2.0
// Fields printed of each object, for text and JSON alike. JSON keys are API.
#pragma once

#include <vector>

#include "model/objects.h"
#include "model/show/output.h"

namespace pib::inline model {

void show_hcas(Output &out, const std::vector<Hca> &hcas);
/// Text leaves out the many ports that have no cable.
void show_switches(Output &out, const std::vector<Switch> &switches);
void show_whole_switch(Output &out, const Switch &node);
void show_links(Output &out, const std::vector<Link> &links);
/// The far ends of links over UDP.
void show_peers(Output &out, const std::vector<Link> &links);
void show_uplinks(Output &out, const std::vector<Uplink> &uplinks);

/// The ports of one node with their counters.
struct CountedPort {
	End end;
	const Port *port;
};
void show_counters(Output &out, const std::vector<CountedPort> &ports);

} // namespace pib::inline model
