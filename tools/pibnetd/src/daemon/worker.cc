// SPDX-License-Identifier: GPL-2.0
#include "daemon/worker.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "util/clock.h"

namespace pib::netd {
namespace {

constexpr std::uint32_t kWake = ~0u;

void watch(int epoll, int fd, std::uint32_t number)
{
	epoll_event event{};
	event.events = EPOLLIN;
	event.data.u32 = number;
	::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

} // namespace

Worker::Worker(Shared &shared, std::function<void()> news) :
	shared_(shared), news_(std::move(news)), epoll_(::epoll_create1(EPOLL_CLOEXEC)),
	wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))
{
	watch(epoll_.get(), wake_.get(), kWake);
}

Status Worker::join(unsigned socket, const Address &listen, const Udp &with)
{
	if (auto joined = io_.udp.join(socket, listen, with); !joined)
		return joined;
	watch(epoll_.get(), io_.udp.descriptor(socket), socket);
	return success();
}

Status Worker::start()
{
	running_ = true;
	try {
		thread_ = std::thread([this] { run(); });
	} catch (const std::system_error &error) {
		return Error{error.what(), error.code().value()};
	}
	return success();
}

void Worker::stop()
{
	if (!thread_.joinable())
		return;
	std::uint64_t count = 1;
	running_ = false;
	(void)!::write(wake_.get(), &count, sizeof(count));
	thread_.join();
	(void)!::read(wake_.get(), &count, sizeof(count));
}

void Worker::run()
{
	std::array<epoll_event, 32> events;
	while (running_) {
		const bool idle = !io_.udp.waiting();
		const int n = ::epoll_wait(epoll_.get(), events.data(),
					   static_cast<int>(events.size()), idle ? -1 : 0);
		if (idle)
			io_.caught_up = clock_ns();
		for (int i = 0; i < n; i++) {
			const std::uint32_t socket = events[static_cast<std::size_t>(i)].data.u32;
			if (socket != kWake)
				io_.udp.readable(socket);
		}
		if (shared_.turns(io_))
			news_();
	}
}

} // namespace pib::netd
