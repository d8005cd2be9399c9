// SPDX-License-Identifier: GPL-2.0
// The page that shows the fabric; the Makefile puts page.html into the program.
#pragma once

#include <string>

namespace pib::ctl {

struct Page {
	std::string text;
	/// Its Content-Security-Policy: only its own style and script count, which carry a number that
	/// cannot be guessed, and nothing is loaded from elsewhere.
	std::string policy;
};

Page make_page();

} // namespace pib::ctl
