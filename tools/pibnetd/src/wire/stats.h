// SPDX-License-Identifier: GPL-2.0
// Counters of a socket; a datagram that is dropped is counted by its reason.
#pragma once

#include <linux/pib.h>

#include <array>
#include <cstdint>
#include <utility>

namespace pib::netd {

/// By enum pib_us_attr, as the module's uplinks count.
struct Stats {
	std::array<std::uint64_t, PIB_US_MAX + 1> counts{};

	void add(pib_us_attr what, std::uint64_t n = 1) { counts[what] += n; }
	/// Moves what the other has here.
	void take(Stats &other)
	{
		for (std::size_t i = 0; i < counts.size(); i++)
			counts[i] += std::exchange(other.counts[i], 0);
	}
};

} // namespace pib::netd
