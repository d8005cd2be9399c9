// SPDX-License-Identifier: GPL-2.0
// The requests of the control socket: each is a line of JSON, and so is its answer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/core.h"

namespace pib::netd {

/// Parts of requests that the core cannot do.
struct ControlHooks {
	/// Reads the configuration again.
	std::function<Status(Drop)> reload;
	/// Addresses on which the daemon listens, for "uplinks".
	std::function<std::vector<Address>()> listen;
};

/// Returns the answer, with its line feed: {"ok":true,...} or {"ok":false,"error":"..."}.
std::string control_answer(Core &core, const ControlHooks &hooks, std::string_view request,
			   std::uint64_t now);

} // namespace pib::netd
