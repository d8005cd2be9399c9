// SPDX-License-Identifier: GPL-2.0
// Rates as a table for eyes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "top/select.h"

namespace pib::ctl {

/// Of a window; what is absent has no end.
struct Extent {
	std::optional<std::size_t> columns;
	std::optional<std::size_t> lines;
};

/// The lines of the table, none longer than the window is wide, and no more than it has.
std::vector<std::string> format_rates(const Rates &rates, const Selection &selection,
				      const Extent &extent);

/// "0", "950", "1.5k", "12M": of four characters mostly.
std::string short_number(double number);

} // namespace pib::ctl
