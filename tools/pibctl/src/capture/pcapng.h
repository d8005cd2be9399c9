// SPDX-License-Identifier: GPL-2.0
// Blocks of a pcapng file, in the byte order of this machine. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/bytes.h"

namespace pib::ctl::pcapng {

struct Interface {
	std::string name;
	std::string description;
	std::string filter;
	/// Bytes of a packet that are kept at most; 0: all.
	std::uint32_t snap_len = 0;
};

struct Packet {
	std::uint32_t interface = 0;
	/// ns since 1970
	std::uint64_t time = 0;
	/// Bytes that the packet had, of which data is what was kept.
	std::uint32_t length = 0;
	View data;
	bool outbound = false;
	/// Empty: none.
	std::string_view comment;
};

struct Statistics {
	std::uint32_t interface = 0;
	std::uint64_t time = 0;
	std::uint64_t captured = 0;
	std::uint64_t lost = 0;
};

/// Each appends a block to the bytes.
void put_section(Bytes &to, std::string_view application);
void put_interface(Bytes &to, const Interface &interface);
void put_packet(Bytes &to, const Packet &packet);
void put_statistics(Bytes &to, const Statistics &statistics);

} // namespace pib::ctl::pcapng
