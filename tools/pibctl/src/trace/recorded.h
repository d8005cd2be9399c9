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

/// Two queue pairs that are connected, each of another machine.
struct Connection {
	std::uint32_t near_qpn = 0;
	std::uint32_t far_qpn = 0;
};

/// Chooses what MessageFollower and clock_offset() need of a trace: events of the two queue pairs
/// of a connection, and what is no event of the module (marks, losses).
class ConnectionFilter {
public:
	/// The peer is what the first event of the queue pair says that names one.
	ConnectionFilter(std::string device, std::uint32_t qpn) :
		device_(std::move(device)), ends_{qpn, 0}
	{
	}

	/// True if the record is needed. Records come in the order of the trace.
	bool needs(const TraceRecord &record);
	/// Nothing: no event has named the peer.
	std::optional<Connection> connection() const;

private:
	std::string device_;
	/// far_qpn is 0 until an event has named it.
	Connection ends_;
};

/// Keeps what the filter needs. Each record has the name of the file as its source.
Result<std::vector<TraceRecord>> read_records(std::istream &stream, const std::string &file,
					      ConnectionFilter &filter);

/// Seconds by which the far machine's clock is ahead: half of the difference between the quickest
/// packet there and the quickest acknowledgement back, as far as both traces have both of their ends.
std::optional<double> clock_offset(const std::vector<TraceRecord> &near,
				   const std::vector<TraceRecord> &far,
				   const Connection &connection);

/// Both in the order of time, which is that of the near machine.
std::vector<TraceRecord> merge_records(std::vector<TraceRecord> near, std::vector<TraceRecord> far,
				       double offset);

} // namespace pib::ctl
