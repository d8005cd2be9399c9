// SPDX-License-Identifier: GPL-2.0
// Comments on packets, beside their bytes.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "capture/erf.h"

namespace pib::ctl {

/// Requests of connections that have been seen at a port, to tell those that come again.
class Retransmissions {
public:
	/// True if it is a request whose PSN was seen before. Notes the PSN.
	bool seen(const CapturedPacket &packet);

private:
	static constexpr std::size_t kWindow = 4096;
	/// So many connections are followed at a time.
	static constexpr std::size_t kConnections = 4096;
	struct Flow {
		/// Highest PSN so far.
		std::uint32_t newest = 0;
		/// By PSN modulo the window.
		std::bitset<kWindow> psns;
	};
	bool note(Flow &flow, std::uint32_t psn);

	std::unordered_map<std::uint64_t, Flow> flows_;
};

/// Empty: nothing.
std::string comment_on(const CapturedPacket &packet, Retransmissions &retransmissions);

} // namespace pib::ctl
