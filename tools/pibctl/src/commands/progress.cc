// SPDX-License-Identifier: GPL-2.0
#include "commands/progress.h"

#include <fmt/format.h>

#include <ostream>

namespace pib::ctl {

Progress::Progress(std::ostream *terminal, std::string doing) :
	terminal_(terminal), doing_(std::move(doing))
{
}

Progress::~Progress()
{
	if (shown_)
		*terminal_ << "\r\033[K" << std::flush;
}

void Progress::show(std::size_t done, std::size_t all)
{
	if (!terminal_)
		return;
	*terminal_ << fmt::format("\r{}: {} of {}\033[K", doing_, done, all) << std::flush;
	shown_ = true;
}

} // namespace pib::ctl
