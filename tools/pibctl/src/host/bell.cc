// SPDX-License-Identifier: GPL-2.0
#include "host/bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace pib::ctl {

Bell::Bell() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (fd_ < 0)
		throw std::system_error(errno, std::generic_category(), "eventfd");
}

Bell::~Bell()
{
	close(fd_);
}

void Bell::ring() const
{
	// It fails only if it has rung very often since has_rung() was called.
	(void)!eventfd_write(fd_, 1);
}

bool Bell::has_rung() const
{
	eventfd_t count;
	return eventfd_read(fd_, &count) == 0;
}

} // namespace pib::ctl
