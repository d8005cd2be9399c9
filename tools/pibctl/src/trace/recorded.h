// SPDX-License-Identifier: GPL-2.0
// Traces that were written to files as JSON, read again, and put together.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "trace/line.h"

namespace pib::ctl {

/// Of a line of "pibctl -j trace". Nothing: it is none.
std::optional<TraceRecord> parse_trace_json(std::string_view line);

/// Each record has the name of the file as its source.
Result<std::vector<TraceRecord>> read_records(std::istream &stream, const std::string &file);

/// The peer of a connected queue pair, as the first event of it says that names one.
std::optional<std::uint32_t> recorded_peer(const std::vector<TraceRecord> &records,
					   const std::string &device, std::uint32_t qpn);

/// Two queue pairs that are connected, each of another machine.
struct Connection {
	std::uint32_t near_qpn = 0;
	std::uint32_t far_qpn = 0;
};

/// Seconds by which the far machine's clock is ahead: half of the difference between the quickest
/// packet there and the quickest acknowledgement back, as far as both traces have both of their ends.
std::optional<double> clock_offset(const std::vector<TraceRecord> &near,
				   const std::vector<TraceRecord> &far,
				   const Connection &connection);

/// Both in the order of time, which is that of the near machine.
std::vector<TraceRecord> merge_records(std::vector<TraceRecord> near, std::vector<TraceRecord> far,
				       double offset);

} // namespace pib::ctl
