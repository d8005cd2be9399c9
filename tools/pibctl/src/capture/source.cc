// SPDX-License-Identifier: GPL-2.0
#include "capture/source.h"

#include <fcntl.h>
#include <linux/pib_capture.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pib::ctl {
namespace {

/// Signals are looked for that often.
constexpr int kPollMs = 200;

} // namespace

KernelCapture::KernelCapture(int fd) : fd_(fd)
{
	fcntl(fd_, F_SETFL, O_NONBLOCK);
}

KernelCapture::~KernelCapture()
{
	close(fd_);
}

bool KernelCapture::wait()
{
	pollfd waits{fd_, POLLIN, 0};
	return poll(&waits, 1, kPollMs) > 0;
}

Result<std::size_t> KernelCapture::read(std::span<std::uint8_t> room)
{
	const ssize_t n = ::read(fd_, room.data(), room.size());
	if (n < 0)
		return errno_error("reading captured packets");
	return static_cast<std::size_t>(n);
}

Status KernelCapture::stop()
{
	if (ioctl(fd_, PIB_CAPTURE_STOP))
		return errno_error("ending the capture");
	return success();
}

Result<CaptureSource::Counts> KernelCapture::counts(std::uint32_t port)
{
	pib_capture_stats stats{};
	stats.port = port;
	if (ioctl(fd_, PIB_CAPTURE_STATS, &stats))
		return errno_error("asking for the packets that were lost");
	return Counts{stats.captured, stats.lost};
}

} // namespace pib::ctl
