// SPDX-License-Identifier: GPL-2.0
// A line on a terminal that says how far a long command is.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace pib::ctl {

class Progress {
public:
	/// terminal: null if there is none; then nothing is shown.
	Progress(std::ostream *terminal, std::string doing);
	/// Takes the line away.
	~Progress();
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;

	void show(std::size_t done, std::size_t all);

private:
	std::ostream *terminal_;
	std::string doing_;
	bool shown_ = false;
};

} // namespace pib::ctl
