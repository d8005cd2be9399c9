// SPDX-License-Identifier: GPL-2.0
// The time of day, as the module and files of packets have it.
#pragma once

#include <chrono>
#include <cstdint>

namespace pib::ctl {

/// Nanoseconds since 1970.
inline std::uint64_t nanoseconds_now()
{
	return static_cast<std::uint64_t>(
		std::chrono::duration_cast<std::chrono::nanoseconds>(
			std::chrono::system_clock::now().time_since_epoch())
			.count());
}

} // namespace pib::ctl
