// SPDX-License-Identifier: GPL-2.0
// Documents for the page, as JSON.
#pragma once

#include <optional>
#include <string>

#include "fabric/picture.h"
#include "tables/tables.h"
#include "watch/rates.h"

namespace pib::ctl {

/// Nodes, cables with load and state, and the cables to other hosts.
std::string fabric_document(const Look &before, const Look &now);
/// A node with its ports, or nothing if there is none of this name.
std::optional<std::string> node_document(const Look &now, const std::string &name);
/// A port with its counters; the same.
std::optional<std::string> port_document(const Look &before, const Look &now, const End &end);

std::string tables_document(const Tables &tables);

/// Words for a style sheet: "active load3", "unplugged", "active load0 faulty losing".
std::string cable_class(const CableRates &cable);
/// 0 for nothing worth to mention to 5 for 100 MB a second and more.
unsigned int load_level(double bytes);
/// A key of the drawing of the fabric, which does not depend on its loads and states.
std::string shape_of(const Picture &picture);

} // namespace pib::ctl
