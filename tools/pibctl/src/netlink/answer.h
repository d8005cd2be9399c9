// SPDX-License-Identifier: GPL-2.0
// Reading of what the kernel answers: messages, acknowledgements, refusals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "netlink/transport.h"

namespace pib::ctl {

/// Error of an answer of the module that is not what was asked for.
Error malformed_answer(std::string_view what);

/// One netlink message inside a datagram. A view: the datagram must outlive it.
struct RawMessage {
	std::uint16_t type = 0;
	std::uint16_t flags = 0;
	std::uint32_t sequence = 0;
	View payload;
};

/// The messages of a datagram; a short or malformed rest is an error.
Result<std::vector<RawMessage>> split_datagram(View datagram);

/// Result of a request: NLMSG_ERROR or NLMSG_DONE with its extended ack.
struct Verdict {
	/// 0 for success, else a positive errno.
	int code = 0;
	std::string text;
	/// Offset in the request of the attribute that was refused.
	std::optional<std::uint32_t> bad_offset;
	std::optional<std::uint32_t> missing_type;
	/// Offset in the request of the nest that lacks missing_type; none: top level.
	std::optional<std::uint32_t> missing_nest;
	/// Unsigned values that the kernel's policy accepts for the bad attribute.
	std::optional<std::pair<std::uint64_t, std::uint64_t>> range;
};

/// Payload and flags of a message of type NLMSG_ERROR or NLMSG_DONE.
Result<Verdict> read_verdict(const RawMessage &message);

} // namespace pib::ctl
