// SPDX-License-Identifier: GPL-2.0
#include "host/interruption.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace pib::ctl {
namespace {

volatile std::sig_atomic_t caught = 0;

void remember(int number)
{
	caught = number;
}

} // namespace

Interruption::Interruption()
{
	caught = 0;
	struct sigaction action{};
	action.sa_handler = remember;
	action.sa_flags = SA_RESTART;
	for (std::size_t i = 0; i < kSignals.size(); ++i) {
		sigaction(kSignals[i], nullptr, &before_[i]);
		if (before_[i].sa_handler != SIG_IGN)
			sigaction(kSignals[i], &action, nullptr);
	}
}

Interruption::~Interruption()
{
	for (std::size_t i = 0; i < kSignals.size(); ++i)
		sigaction(kSignals[i], &before_[i], nullptr);
}

Status Interruption::check() const
{
	if (const int number = caught)
		return Error{fmt::format("interrupted by SIG{}", sigabbrev_np(number)), EINTR};
	return success();
}

int Interruption::number() const
{
	return caught;
}

int Interruption::poll(pollfd *files, nfds_t count, int milliseconds) const
{
	sigset_t ours;
	sigset_t before;
	sigemptyset(&ours);
	for (const int number : kSignals)
		sigaddset(&ours, number);
	// Signals from here on are held back until ppoll() waits.
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	int ready = -1;
	int code = EINTR;
	if (!caught) {
		const timespec left{milliseconds / 1000, milliseconds % 1000 * 1000000L};
		ready = ppoll(files, count, &left, &before);
		code = errno;
	}
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
	errno = code;
	return ready;
}

} // namespace pib::ctl
