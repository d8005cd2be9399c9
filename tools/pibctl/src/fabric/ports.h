// SPDX-License-Identifier: GPL-2.0
// The ports of a snapshot by their names, and their counters by theirs.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "fabric/snapshot.h"

namespace pib::ctl {

/// Of a snapshot that outlives it.
class PortTable {
public:
	explicit PortTable(const FabricSnapshot &snapshot);

	/// Null if there is none.
	const Port *find(const End &end) const;
	/// A port that has nothing if there is none.
	const Port &at(const End &end) const;

private:
	void add(const std::string &name, const std::vector<Port> &ports);

	std::unordered_map<std::string, const Port *> ports_;
};

/// 0 if the module did not tell.
std::uint64_t counter_of(const Counters &counters, std::string_view name);

} // namespace pib::ctl
