// SPDX-License-Identifier: GPL-2.0
// For tests: looks at a small fabric.
//
//	pib0/1 -- sw0/1 [sw0] sw0/3 -- sw1/3 [sw1] sw1/1 -- pib1/1		sw1/4 == UDP == 192.0.2.7
#pragma once

#include <initializer_list>
#include <map>

#include "watch/look.h"

namespace pib::ctl::fake {

class Fabric {
public:
	Fabric();

	/// Sets a counter of a port.
	void count(const End &end, const char *name, std::uint64_t value);
	Port &port(const End &end);
	/// Of the cable that has this end as its first.
	Link &link(const End &a);
	void add_queue_pair(std::uint64_t id, std::initializer_list<VerbsObject::Fact> facts);
	/// As it is, so many milliseconds after the beginning.
	Look look(int milliseconds) const;

	FabricSnapshot fabric;
	std::vector<VerbsObject> queue_pairs;
};

} // namespace pib::ctl::fake
