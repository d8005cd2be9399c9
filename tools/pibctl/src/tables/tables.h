// SPDX-License-Identifier: GPL-2.0
// The forwarding tables of a switch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fabric/snapshot.h"
#include "tables/smp.h"

namespace pib::ctl {

/// LIDs that follow one another and go to one port.
struct LidRoute {
	std::uint16_t first;
	std::uint16_t last;
	std::uint8_t port;
};

struct MulticastRoute {
	std::uint16_t lid;
	std::vector<unsigned int> ports;
};

struct Tables {
	std::vector<LidRoute> routes;
	std::vector<MulticastRoute> groups;
};

/// Asks for an attribute.
using AskSmp = std::function<Result<SmpData>(SmpAttribute attribute, std::uint32_t modifier)>;

Result<Tables> read_tables(const AskSmp &ask, std::uint32_t num_ports);

/// Of a switch of this network namespace, over ib_umad. code of the error: ENOENT: there is no such
/// switch.
Result<Tables> ask_tables(const FabricSnapshot &fabric, const std::string &node);

} // namespace pib::ctl
