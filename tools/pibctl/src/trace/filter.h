// SPDX-License-Identifier: GPL-2.0
// Selection of events, in the language of tracefs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace pib::ctl {

struct TraceRequest {
	std::optional<std::string> device;
	std::optional<std::uint32_t> port;
	std::optional<std::uint32_t> qpn;
	std::optional<std::uint32_t> pid;
	/// And of this queue pair, of whatever device it is.
	std::optional<std::uint32_t> far_qpn;
	/// And of whoever gets what qpn, of datagrams, has sent.
	bool receivers = false;
	/// Without "pib_"; none: all that can be asked so.
	std::vector<std::string> events;
	/// Of the ring, for each CPU; 0: as the kernel makes it.
	std::uint32_t ring_kib = 0;
};

/// Names of the fields in an event's "format".
std::vector<std::string> parse_event_fields(std::string_view format);

/// The conditions of the request that an event with these fields cannot fulfil, in the words of the
/// command line; "": none.
std::string lacking_words(const TraceRequest &request, const std::vector<std::string> &fields);

/// A tracefs filter for an event with these fields, "" for one that wants none. Nothing: the event
/// has not what is asked for, so that none of them is meant.
std::optional<std::string> event_filter(const TraceRequest &request,
					const std::vector<std::string> &fields);

/// The events to be enabled, with names as the user wrote them: of those that there are.
Result<std::vector<std::string>> choose_events(const std::vector<std::string> &asked,
					       const std::vector<std::string> &known);

/// A name as filters compare it: the module keeps so much of it.
inline constexpr std::size_t kTracedName = 31;

} // namespace pib::ctl
