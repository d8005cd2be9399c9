// SPDX-License-Identifier: GPL-2.0
// The words that describe a bad cable: probabilities, times, rates, widths, speeds.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "model/result.h"

namespace pib::inline model {

/// "1%", "0.01" or "1e-2", at most `most`, in units of 1 / scale.
Result<std::uint64_t> parse_probability(std::string_view what, std::string_view word, double scale,
					double most = 1);
/// "500ns", "10us", "2ms", "1s", in ns; at most `most` ns.
Result<std::uint64_t> parse_duration(std::string_view what, std::string_view word,
				     std::uint64_t most);
/// "2.5G", "100M", "64k" or plain bits per second; "none" is 0.
Result<std::uint64_t> parse_rate(std::string_view word);
/// "16k" or plain bytes, what the buffer of a VL can be; "none" is 0.
Result<std::uint64_t> parse_buffer(std::string_view word);
/// "UP/DOWN", both durations, in ms; "none" is 0 and 0.
Result<std::pair<std::uint32_t, std::uint32_t>> parse_flap(std::string_view word);
/// "1x" to "12x", as PortInfo encodes it.
Result<std::uint8_t> parse_width(std::string_view word);
/// "sdr" to "xdr", enum ib_port_speed.
Result<std::uint16_t> parse_speed(std::string_view word);

} // namespace pib::inline model
