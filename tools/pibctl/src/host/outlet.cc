// SPDX-License-Identifier: GPL-2.0
#include "host/outlet.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace pib::ctl {

Error Outlet::no_reader()
{
	return Error{"cannot write the output", EPIPE};
}

Status Outlet::wait_for_room() const
{
	constexpr int kForLong = 3600 * 1000;
	pollfd polled{file_, POLLOUT, 0};
	// If the file takes output at once it is written also after a signal.
	int ready = poll(&polled, 1, 0);
	while (ready <= 0) {
		if (auto going_on = interruption_.check(); !going_on)
			return going_on;
		ready = interruption_.poll(&polled, 1, kForLong);
	}
	if (is_gone(polled))
		return no_reader();
	return success();
}

Status Outlet::write(std::string_view text) const
{
	while (!text.empty()) {
		if (auto room = wait_for_room(); !room)
			return room;
		// A pipe that takes anything takes so much without waiting.
		const ssize_t written =
			::write(file_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
		if (written < 0 && errno != EAGAIN && errno != EINTR)
			return no_reader();
		text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
	}
	return success();
}

} // namespace pib::ctl
