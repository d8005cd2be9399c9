// SPDX-License-Identifier: GPL-2.0
// A frame (docs/wire-format.md, "SEGMENT") that has come in one super-packet, whole and in order, as
// it left its sender. Its packets are looked at where they lie, between headers of segments.
#pragma once

#include <span>
#include <vector>

#include "switch/forward.h"

namespace pib::netd {

class WholeFrame {
public:
	/// The super-packet has datagrams of step bytes each; the last may be shorter.
	WholeFrame(std::span<std::uint8_t> bytes, std::size_t step) : bytes_(bytes), step_(step) {}

	/// False: it is not one such frame, or a sender would have written other headers.
	bool read();
	std::span<std::uint8_t> bytes() const { return bytes_; }
	std::size_t step() const { return step_; }
	const pib_segment &head() const { return head_; }
	/// Of each packet the bytes go on behind the next header of a segment.
	std::span<const Packet> packets() const { return packets_; }
	/// Writes the VL into the packet's LRH.
	void set_vl(const Packet &packet, std::uint8_t vl);

private:
	std::size_t place(std::size_t at) const;
	std::size_t length() const { return bytes_.size() - PIB_SEG_HDR_LEN * head_.total; }
	bool read_head();
	bool is_next(unsigned index) const;
	bool read_packets();
	bool read_packet(std::size_t at);

	std::span<std::uint8_t> bytes_;
	std::size_t step_;
	pib_segment head_{};
	std::vector<Packet> packets_;
};

} // namespace pib::netd
