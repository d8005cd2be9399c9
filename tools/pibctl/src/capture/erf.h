// SPDX-License-Identifier: GPL-2.0
// Packets as capture files have them: behind the header of an extensible record (ERF) of the type
// that is an InfiniBand packet, with both CRCs.
#pragma once

#include <cstdint>

#include "model/bytes.h"

namespace pib::ctl {

/// A packet as the module gives it.
struct CapturedPacket {
	/// ns since 1970
	std::uint64_t time = 0;
	std::uint32_t port = 0;
	/// Bytes on the wire, LRH to ICRC.
	std::uint32_t length = 0;
	/// The captured bytes, without ICRC.
	View data;
	std::uint8_t flags = 0;
	std::uint8_t reason = 0;
};

/// Bytes that the record of a packet of this length has.
std::uint32_t erf_length(std::uint32_t packet);
/// The record, in the place of what was in it. ICRC and VCRC are there if all of the packet is.
void make_erf(const CapturedPacket &packet, Bytes &record);

} // namespace pib::ctl
