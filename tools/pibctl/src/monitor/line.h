// SPDX-License-Identifier: GPL-2.0
// Events as lines for people and as JSON.
#pragma once

#include <string>

#include "objects/event.h"

namespace pib::ctl {

/// Without the line feed. The time is local.
std::string event_text(const Event &event);
std::string event_json(const Event &event);

/// Events were lost, which was noticed at this time, in nanoseconds since 1970.
std::string lost_text(std::uint64_t time);
std::string lost_json(std::uint64_t time);

} // namespace pib::ctl
