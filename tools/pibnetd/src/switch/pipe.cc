// SPDX-License-Identifier: GPL-2.0
#include "switch/pipe.h"

#include <algorithm>

namespace pib::netd {
namespace {

constexpr std::size_t kPacketsMax = 4096;
/// Bytes that wait for a slow cable.
constexpr std::uint64_t kBuffer = 1 << 20;
/// A packet that is held back, but not overtaken, goes on after this time.
constexpr std::uint64_t kHeldNs = 2 * PIB_NSEC_PER_MSEC;

} // namespace

Pipe::Pipe(const pib_fault_cfg &config, unsigned direction, Damaged damaged) : damaged_(damaged)
{
	pib_fault_init(&fault_, &config, direction);
}

bool Pipe::full(std::uint32_t dqpn, std::uint64_t now) const
{
	if (dqpn <= 1)
		return queue_.size() >= kPacketsMax * (3 - dqpn);
	return queue_.size() >= kPacketsMax || pib_fault_backlog(&fault_, now) >= kBuffer;
}

std::uint32_t Pipe::fill(std::uint64_t now) const
{
	const std::uint64_t parts = pib_fault_backlog(&fault_, now) / (kBuffer / 256);
	return static_cast<std::uint32_t>(std::min<std::uint64_t>(parts, 256));
}

void Pipe::release(std::uint64_t due)
{
	if (!held_)
		return;
	held_->due = due;
	queue_.push_back(std::move(*held_));
	held_.reset();
}

/// It leaves in its turn, behind those that it lets pass.
void Pipe::put(PipePacket packet, unsigned behind, std::uint64_t due)
{
	packet.due = due;
	if (behind) {
		release(due);
		held_ = std::move(packet);
		overtakers_ = behind;
		held_until_ = due + kHeldNs;
		return;
	}
	queue_.push_back(std::move(packet));
	if (held_ && !--overtakers_)
		release(due);
}

pib_fate Pipe::enter(PipePacket packet, bool management, std::uint64_t now)
{
	const auto bytes = static_cast<std::uint32_t>(packet.bytes.size());
	const auto lot = management ? PIB_FAULT_MGMT : PIB_FAULT_DATA;
	const std::uint64_t due = pib_fault_arrival(&fault_, bytes, now);
	pib_fate fate;
	pib_fault_packet(&fault_, lot, bytes, &fate);
	if (fate.lost || (fate.bits && damaged_ == Damaged::dropped))
		return fate;
	if (fate.bits)
		pib_fault_damage(&fault_, lot, fate.bits, packet.bytes.data(), bytes);
	if (!fate.twice) {
		put(std::move(packet), fate.behind, due);
		return fate;
	}
	put(packet, fate.behind, due);
	put(std::move(packet), 0, due);
	return fate;
}

std::optional<PipePacket> Pipe::take(std::uint64_t now)
{
	if (held_ && held_until_ <= now)
		release(now);
	if (queue_.empty() || queue_.front().due > now)
		return {};
	std::optional<PipePacket> next = std::move(queue_.front());
	queue_.pop_front();
	return next;
}

std::uint64_t Pipe::due() const
{
	const std::uint64_t first = queue_.empty() ? ~std::uint64_t{0} : queue_.front().due;
	return held_ ? std::min(first, held_until_) : first;
}

} // namespace pib::netd
