// SPDX-License-Identifier: GPL-2.0
// Objects out of the JSON that "pibctl -j" and pibnetd print.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "model/objects.h"

namespace pib::ctl {

// A field that is missing or of another kind counts as not told.
std::vector<Switch> decode_json_switches(const nlohmann::json &answer);
/// Puts the counters into the ports.
void decode_json_counters(const nlohmann::json &answer, std::vector<Switch> &switches);
/// From "links", with what "peers" knows besides.
std::vector<Link> decode_json_links(const nlohmann::json &answer);
std::vector<Uplink> decode_json_uplinks(const nlohmann::json &answer);

} // namespace pib::ctl
