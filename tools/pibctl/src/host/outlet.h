// SPDX-License-Identifier: GPL-2.0
// Output to a reader that may be slow, stop reading or go.
#pragma once

#include <poll.h>

#include <array>
#include <ostream>
#include <streambuf>
#include <string_view>

#include "host/interruption.h"
#include "model/result.h"

namespace pib::ctl {

/// Writes to a file, which stays its owner's. Only signals end the wait for a reader.
class Outlet {
public:
	/// patience: milliseconds that it waits for a reader all the same when it was interrupted.
	Outlet(int file, const Interruption &interruption, int patience = 0) :
		file_(file), interruption_(interruption), patience_(patience)
	{
	}

	/// Refuses where it would wait and was interrupted, with a part written, and where the reader
	/// has gone.
	Status write(std::string_view text) const;

	/// For callers that poll while they have nothing to write; pass the result to is_gone().
	pollfd watched() const { return {file_, 0, 0}; }
	/// A pipe says POLLERR, a socket POLLHUP, and a file that is closed POLLNVAL.
	static bool is_gone(const pollfd &polled)
	{
		return (polled.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
	}
	static Error no_reader();

private:
	Status wait_for_room() const;

	int file_;
	const Interruption &interruption_;
	int patience_;
};

/// Milliseconds for a reader that is behind, but reads.
inline constexpr int kReaderPatience = 2000;

/// Writes by an outlet when it is flushed, or much is there. It goes bad where that refuses.
class OutletStream : public std::ostream {
public:
	explicit OutletStream(Outlet outlet);

private:
	class Buffer : public std::streambuf {
	public:
		explicit Buffer(Outlet outlet);

	private:
		int_type overflow(int_type character) override;
		int sync() override;
		Outlet outlet_;
		std::array<char, 1 << 16> text_;
	};
	Buffer buffer_;
};

} // namespace pib::ctl
