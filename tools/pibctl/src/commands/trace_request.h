// SPDX-License-Identifier: GPL-2.0
// Words of the commands that trace: what is asked for.
#pragma once

#include <cstdint>
#include <string>

#include "commands/arguments.h"
#include "commands/commands.h"
#include "trace/filter.h"
#include "trace/line.h"

namespace pib::ctl {

inline constexpr std::uint64_t kMaxQpn = 0xFFFFFF;

/// NAME or NAME/PORT
Status read_traced(const std::string &word, TraceRequest &request);

/// [NAME[/PORT]] [qp N] [pid N] [event EVENT]...
Result<TraceRequest> read_trace_request(const Arguments &arguments);

/// As a line, or with -j as an object.
void print_record(const Context &context, const TraceRecord &record);

} // namespace pib::ctl
