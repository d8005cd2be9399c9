// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <time.h>

#include <cstdint>

namespace pib::netd {

/// Time that only goes on, ns.
inline std::uint64_t clock_ns()
{
	timespec now{};
	::clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
	       static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace pib::netd
