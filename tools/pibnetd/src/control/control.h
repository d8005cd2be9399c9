// SPDX-License-Identifier: GPL-2.0
// What the control socket understands: a request is a line of JSON, and so is its answer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/core.h"

namespace pib::netd {

/// What a request may want that the core cannot do.
struct ControlHooks {
	/// Reads the configuration anew.
	std::function<Status(Drop)> reload;
	/// Where the daemon listens, for "uplinks".
	std::function<std::vector<Address>()> listen;
};

/// Returns the answer, with its line feed: {"ok":true,...} or {"ok":false,"error":"..."}.
std::string control_answer(Core &core, const ControlHooks &hooks, std::string_view request,
			   std::uint64_t now);

} // namespace pib::netd
