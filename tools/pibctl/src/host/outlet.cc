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
		const auto going_on = interruption_.check();
		ready = going_on ? interruption_.poll(&polled, 1, kForLong)
				 : poll(&polled, 1, patience_);
		if (!going_on && ready <= 0)
			return going_on;
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

OutletStream::OutletStream(Outlet outlet) : std::ostream(nullptr), buffer_(outlet)
{
	rdbuf(&buffer_);
}

OutletStream::Buffer::Buffer(Outlet outlet) : outlet_(outlet)
{
	setp(text_.begin(), text_.end());
}

int OutletStream::Buffer::sync()
{
	const auto written = outlet_.write({pbase(), pptr()});
	setp(text_.begin(), text_.end());
	return written ? 0 : -1;
}

OutletStream::Buffer::int_type OutletStream::Buffer::overflow(int_type character)
{
	if (sync())
		return traits_type::eof();
	return traits_type::eq_int_type(character, traits_type::eof())
		       ? traits_type::not_eof(character)
		       : sputc(traits_type::to_char_type(character));
}

} // namespace pib::ctl
