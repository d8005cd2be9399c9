// SPDX-License-Identifier: GPL-2.0
// Output to a reader that may be slow, stop reading or go.
#pragma once

#include <poll.h>

#include <string_view>

#include "host/interruption.h"
#include "model/result.h"

namespace pib::ctl {

/// Writes to a file, which stays its owner's. Only signals end the wait for a reader.
class Outlet {
public:
	Outlet(int file, const Interruption &interruption) :
		file_(file), interruption_(interruption)
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
};

} // namespace pib::ctl
