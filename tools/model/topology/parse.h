// SPDX-License-Identifier: GPL-2.0
// Topology files: ibsim's .net grammar, and what ibnetdiscover prints.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/result.h"
#include "model/topology/topology.h"

namespace pib::inline model {

/// The contents of a file.
using ReadFile = std::function<Result<std::string>(const std::string &path)>;

/// Reads a file and what it includes. An error says where: "FILE:LINE: ...".
///
/// The result can be built: ids and GUIDs are unique, every cable has two ends that
/// exist and name each other, no port has two cables. Nodes without a GUID in the file
/// have those which ibsim gives them. Routers are refused. Passed over are what only the
/// simulator or the reader of a listing makes use of: vendor, device and system GUIDs,
/// widths and speeds, console commands, chassis headings.
Result<Topology> parse_topology(const std::string &path, const ReadFile &read);

} // namespace pib::inline model
