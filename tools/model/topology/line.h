// SPDX-License-Identifier: GPL-2.0
// Single lines of topology files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/result.h"

namespace pib::inline model {

/// Reads a line from left to right.
class LineReader {
public:
	explicit LineReader(std::string_view line) : rest_(line) {}

	void skip_blanks();
	/// A run of letters.
	std::string_view word();
	/// This character, if it is next.
	bool take(char c);
	/// Between quotes.
	std::optional<std::string_view> quoted();
	/// Decimal, or hexadecimal after 0x.
	std::optional<std::uint64_t> number();
	/// Hexadecimal digits, with or without 0x.
	std::optional<std::uint64_t> hex();
	std::string_view rest() const { return rest_; }
	bool done() const { return rest_.empty(); }

private:
	std::string_view rest_;
};

/// Reads the value of a line such as `vendid=0x2c9`, whose name was read already.
Result<std::uint64_t> parse_value(LineReader line, std::uint64_t most);

/// `Switch 36 "S-0002c902" # "description" base port 0 lid 3 lmc 0`, the first word being read.
struct NodeLine {
	std::uint32_t num_ports = 0;
	std::string id;
	std::string description;
	bool enhanced_port0 = false;
};
Result<NodeLine> parse_node_line(LineReader line);

/// `[1](2c90200420d59) "S-0002c902"[5] # ...`, or with an '@' before it `@[1] "alias"`.
struct PortLine {
	std::uint32_t number = 0;
	std::uint64_t guid = 0;
	bool is_alias = false;
	std::string remote;
	/// Port of the remote node; 1 if the file does not say.
	std::uint32_t remote_port = 1;
	std::uint64_t remote_guid = 0;
};
Result<PortLine> parse_port_line(LineReader line);

} // namespace pib::inline model
