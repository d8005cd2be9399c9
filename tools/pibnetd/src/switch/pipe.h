// SPDX-License-Identifier: GPL-2.0
// One direction of a cable with faults: kernel/proto/fault.c says what befalls a packet, and what
// survives waits here until it is due. The module's are in kernel/fabric/pipe.c.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "wire/proto.h"

namespace pib::netd {

/// A packet with bytes of its own, LRH to ICRC.
struct PipePacket {
	std::vector<std::uint8_t> bytes;
	/// Switches that it has passed.
	unsigned hops = 0;
	/// When it leaves the pipe, ns.
	std::uint64_t due = 0;
};

class Pipe {
public:
	/// Fate of a damaged packet.
	enum class Damaged {
		/// It goes to a port of this process, whose VCRC finds the damage.
		dropped,
		/// It goes to a peer, which finds the damage by the ICRC.
		sent,
	};

	Pipe(const pib_fault_cfg &config, unsigned direction, Damaged damaged);

	/// No room for a packet to this QP: it must be dropped before the pipe. Behind data there is
	/// room for QP1, and behind both for QP0.
	bool full(std::uint32_t dqpn, std::uint64_t now) const;
	/// How full it is, in 1/256, for congestion control.
	std::uint32_t fill(std::uint64_t now) const;
	/// Takes a packet in and returns its fate.
	pib_fate enter(PipePacket packet, bool management, std::uint64_t now);
	/// The next one that is due, if any is.
	std::optional<PipePacket> take(std::uint64_t now);
	/// When take() will have something, ns; ~0: never.
	std::uint64_t due() const;

	const pib_fault_counts &counts() const { return fault_.counts; }

private:
	void put(PipePacket packet, unsigned behind, std::uint64_t due);
	void release(std::uint64_t due);

	pib_fault fault_;
	Damaged damaged_;
	std::deque<PipePacket> queue_;
	/// One that others overtake: so many of them, or until then.
	std::optional<PipePacket> held_;
	unsigned overtakers_ = 0;
	std::uint64_t held_until_ = 0;
};

/// The faults of the cable under a port.
struct Faults {
	pib_fault_cfg config{};
	/// It comes loose after the one time, for the other, ms; 0: it does not.
	std::uint32_t flap_up = 0;
	std::uint32_t flap_down = 0;
	/// When that happens next, ns.
	std::uint64_t flap_at = 0;
	/// Before the port, and towards the peer if the cable leads to one.
	std::optional<Pipe> arrival;
	std::optional<Pipe> departure;

	bool bad() const { return pib_fault_picks(&config) || config.latency || config.rate; }
	bool any() const { return bad() || flap_up; }
};

} // namespace pib::netd
