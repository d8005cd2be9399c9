// SPDX-License-Identifier: GPL-2.0
// A terminal that is redrawn again and again.
#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/interruption.h"

namespace pib::ctl {

/// While it lives, standard input and output are a page of their own, where keys come at once and
/// are not shown. Then the terminal is as it was.
class Screen {
public:
	/// False if standard input or output is no terminal.
	static bool possible();

	Screen();
	~Screen();
	Screen(const Screen &) = delete;
	Screen &operator=(const Screen &) = delete;

	/// Columns and lines of the window, as it is now.
	std::pair<std::size_t, std::size_t> size() const;
	/// At most one line less than the window has.
	void draw(const std::vector<std::string> &lines);
	/// A key, if one is pressed within so many milliseconds; a signal ends the wait, too.
	/// 'q' if the terminal has gone, and for Ctrl-\, which asks for an end, as well.
	std::optional<char> key(int milliseconds, const Interruption &interruption) const;

private:
	termios before_{};
};

/// The text that draw() writes.
std::string screen_text(const std::vector<std::string> &lines);

} // namespace pib::ctl
