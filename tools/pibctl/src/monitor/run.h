// SPDX-License-Identifier: GPL-2.0
// Prints events as they are heard.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "host/interruption.h"
#include "netlink/mnl_transport.h"

namespace pib::ctl {

struct MonitorOptions {
	bool json = false;
	/// Number of the module's family.
	std::uint16_t family = 0;
	/// It ends after so many events.
	std::optional<std::uint64_t> most;
	/// Asks the kernel for that number once more.
	std::function<Result<std::uint16_t>()> family_now;
};

/// Prints events to the file, until it is interrupted or has printed enough. Refuses if the module
/// goes, or the reader of the file has gone.
Status run_monitor(Listener &listener, int file, const Interruption &interruption,
		   const MonitorOptions &options);

} // namespace pib::ctl
