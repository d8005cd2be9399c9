// SPDX-License-Identifier: GPL-2.0
// Signals that ask for an end, put off until what was begun can be taken back.
#pragma once

#include <poll.h>

#include <array>
#include <csignal>

#include "model/result.h"

namespace pib::ctl {

/// While it lives, SIGINT, SIGTERM and SIGHUP are remembered and do nothing else. Those that were
/// ignored stay so. One at a time.
class Interruption {
public:
	Interruption();
	~Interruption();
	Interruption(const Interruption &) = delete;
	Interruption &operator=(const Interruption &) = delete;

	/// Refuses, once such a signal has come.
	Status check() const;
	/// The last one that has come; 0: none.
	int number() const;
	/// As poll(2), but such a signal ends it at once, also one that has come before: nothing between
	/// check() and this is missed.
	int poll(pollfd *files, nfds_t count, int milliseconds) const;

private:
	static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
	std::array<struct sigaction, kSignals.size()> before_{};
};

} // namespace pib::ctl
