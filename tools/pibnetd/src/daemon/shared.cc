// SPDX-License-Identifier: GPL-2.0
#include "daemon/shared.h"

#include "util/clock.h"

namespace pib::netd {
namespace {

/// Batches that datagrams may fill before everything else gets its turn.
constexpr int kRounds = 4;
/// A daemon that has not emptied its sockets for so long cannot tell silence from its own slowness.
constexpr std::uint64_t kBehindNs = 250 * PIB_NSEC_PER_MSEC;

} // namespace

std::unique_lock<std::mutex> Shared::hold(Io &io)
{
	std::unique_lock held(mutex_);
	wire_.use(io.udp);
	stats_.take(io.stats);
	return held;
}

/// Returns how many super-packets there were. Packets of one VL that arrive at one socket leave in
/// their order, for the same thread takes them in and sends them.
std::size_t Shared::turn(Io &io, bool &news)
{
	const auto arrivals = io.udp.next();
	std::optional<Batch> batch;
	io.keys.clear();
	const std::uint64_t came = clock_ns();
	for (const Arrival &arrival : arrivals) {
		core.check_hellos(arrival, io.keys);
		core.reflect(arrival, io.udp, io.stats, came);
	}
	std::span<const HelloKey> keys = io.keys;
	{
		const auto held = hold(io);
		const std::uint64_t now = clock_ns();
		for (const Arrival &arrival : arrivals)
			keys = keys.subspan(core.receive(arrival, keys, now));
		batch = core.gather(now);
		news |= !batch || core.deadline() < looks_at;
	}
	io.udp.send_answers(clock_ns());
	if (batch)
		io.udp.flush();
	return arrivals.size();
}

bool Shared::turns(Io &io)
{
	bool news = false;
	for (int round = 0; round < kRounds; round++) {
		if (turn(io, news))
			continue;
		io.caught_up = clock_ns();
		return news;
	}
	const std::uint64_t now = clock_ns();
	if (now > io.caught_up + kBehindNs) {
		const auto held = hold(io);
		core.deaf(now);
	}
	return news;
}

} // namespace pib::netd
