// SPDX-License-Identifier: GPL-2.0
// A further thread: it takes in what its sockets get, and sends what that leads to.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "daemon/shared.h"

namespace pib::netd {

class Worker {
public:
	/// news: called, in the worker's thread, when the thread that keeps the time must look at
	/// the core.
	Worker(Shared &shared, std::function<void()> news);
	~Worker() { stop(); }

	// While it is stopped, as it is at first:
	/// A socket beside that of the other's.
	Status join(unsigned socket, const Address &listen, const Udp &with);
	void close(unsigned socket) { io_.udp.close(socket); }
	Status start();

	void stop();
	/// See Udp. The lock is held.
	std::uint64_t overruns() { return io_.udp.overruns(); }

private:
	void run();

	Shared &shared_;
	std::function<void()> news_;
	Io io_;
	Fd epoll_;
	/// Wakes the thread, so that it sees that it must end.
	Fd wake_;
	std::atomic<bool> running_ = false;
	std::thread thread_;
};

} // namespace pib::netd
