// SPDX-License-Identifier: GPL-2.0
// Names of counters, by netlink attribute, in the order in which they are shown.
#pragma once

#include <cstdint>
#include <span>

namespace pib::inline model {

struct CounterName {
	std::uint16_t attribute;
	const char *name;
};

/// As in /sys/class/infiniband/*/ports/*/counters; data are in bytes.
std::span<const CounterName> port_counter_names();
std::span<const CounterName> uplink_counter_names();

} // namespace pib::inline model
