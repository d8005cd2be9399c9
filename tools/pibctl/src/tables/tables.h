// SPDX-License-Identifier: GPL-2.0
// The forwarding tables of a switch.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "fabric/snapshot.h"
#include "tables/path.h"
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
using AskSmp = std::function<Result<SmpData>(pib_sm_attr attribute, std::uint32_t modifier)>;

Result<Tables> read_tables(const AskSmp &ask, std::uint32_t num_ports);

/// A question to a switch, and the paths to it.
struct TablesQuestion {
	std::string node;
	std::uint64_t guid = 0;
	std::uint32_t num_ports = 0;
	/// One at least.
	std::vector<DirectedPath> paths;
};

/// Of a switch of this network namespace. Code of the error: ENOENT: there is no such switch.
Result<TablesQuestion> plan_tables(const FabricSnapshot &fabric, const std::string &node);

/// Asks no more once that time is over, or a stop is asked for.
AskSmp ask_until(AskSmp ask, std::chrono::steady_clock::time_point end, std::stop_token stop);
/// The tables of the switch that has this GUID: where the cables have been changed since the question
/// was planned, another one may answer.
Result<Tables> read_tables_of(const TablesQuestion &question, const AskSmp &ask);

/// Over ib_umad, within a few seconds at most.
Result<Tables> ask_tables(const TablesQuestion &question, std::stop_token stop);

} // namespace pib::ctl
