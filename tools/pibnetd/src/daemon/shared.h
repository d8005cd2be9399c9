// SPDX-License-Identifier: GPL-2.0
// The state that the daemon's threads share: the core, under one lock. Each thread has sockets of
// its own, and lets the core send by them while it has the lock. Most of the work is in system
// calls, which need no lock.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "core/core.h"
#include "udp/udp.h"

namespace pib::netd {

/// The state that a thread has for itself.
struct Io {
	Stats stats;
	Udp udp{stats};
	/// Of what has arrived, see Core::check_hellos().
	std::vector<HelloKey> keys;
	/// When no socket had more than was taken out of it.
	std::uint64_t caught_up = 0;
};

class Shared {
public:
	Shared(Log &log, std::function<std::uint64_t()> random) :
		core(wire_, stats_, log, std::move(random))
	{
	}

	/// The lock, with which core may be used; it sends by io.
	std::unique_lock<std::mutex> hold(Io &io);
	/// Takes in what io's sockets have, and sends what it leads to; not for too long. True: the
	/// thread that keeps the time must look at the core. The lock is not held.
	bool turns(Io &io);

	Core core;
	/// When that thread will look by itself, ns.
	std::uint64_t looks_at = 0;

private:
	/// The sockets of the thread that has the lock.
	class Current final : public Wire {
	public:
		void use(Wire &wire) { wire_ = &wire; }
		void send(const Path &path, std::span<const iovec> parts, std::size_t segment,
			  std::uint8_t tos, Rank rank) override
		{
			wire_->send(path, parts, segment, tos, rank);
		}
		void flush() override { wire_->flush(); }
		void answer(const Path &path, std::span<const std::uint8_t> bytes) override
		{
			wire_->answer(path, bytes);
		}
		std::size_t room(const Path &path) override { return wire_->room(path); }

	private:
		Wire *wire_ = nullptr;
	};

	std::size_t turn(Io &io, bool &news);

	std::mutex mutex_;
	Current wire_;
	Stats stats_;
};

} // namespace pib::netd
