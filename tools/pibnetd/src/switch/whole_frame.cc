// SPDX-License-Identifier: GPL-2.0
#include "switch/whole_frame.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace pib::netd {
namespace {

// Offsets in the header of a segment: those that are the same in all of a frame, and others.
constexpr std::size_t kIndex = 10;
constexpr std::size_t kTotal = 11;
constexpr std::size_t kFirst = 14;

} // namespace

/// Of a byte of the frame, in the super-packet.
std::size_t WholeFrame::place(std::size_t at) const
{
	return at / head_.size * step_ + PIB_SEG_HDR_LEN + at % head_.size;
}

bool WholeFrame::read_head()
{
	if (bytes_.size() <= step_ || bytes_[0] != (PIB_DG_VERSION << 4 | PIB_DG_SEGMENT) ||
	    !pib_segment_parse(&head_, bytes_.data(), static_cast<std::uint32_t>(step_)))
		return false;
	const std::size_t total = (bytes_.size() + step_ - 1) / step_;
	const std::size_t last = bytes_.size() - (total - 1) * step_;
	return head_.index == 0 && head_.total == total && last > PIB_SEG_HDR_LEN;
}

bool WholeFrame::is_next(unsigned index) const
{
	const std::uint8_t *header = &bytes_[index * step_];
	return header[kIndex] == index && !std::memcmp(header, bytes_.data(), kIndex) &&
	       !std::memcmp(header + kTotal, &bytes_[kTotal], kFirst - kTotal);
}

bool WholeFrame::read_packet(std::size_t at)
{
	std::array<std::uint8_t, PIB_HDRS_MAX> apart;
	const std::size_t left = length() - at;
	const std::size_t want = std::min(left, apart.size());
	const std::size_t here = std::min(want, head_.size - at % head_.size);
	const std::uint8_t *headers = &bytes_[place(at)];
	if (here < want) {
		std::copy_n(headers, here, apart.begin());
		std::copy_n(&bytes_[place(at + here)], want - here, &apart[here]);
		headers = apart.data();
	}
	Packet &packet = packets_.emplace_back();
	if (parse_headers(headers, left, packet))
		return false;
	packet.bytes = &bytes_[place(at)];
	packet.noicrc = head_.flags & PIB_DG_NOICRC;
	return true;
}

bool WholeFrame::read_packets()
{
	std::array<std::uint16_t, PIB_SEG_MAX> first;
	first.fill(PIB_SEG_NO_FIRST);
	for (std::size_t at = 0; at < length(); at += packets_.back().length) {
		auto &starts = first[at / head_.size];
		if (starts == PIB_SEG_NO_FIRST)
			starts = static_cast<std::uint16_t>(at % head_.size);
		if (!read_packet(at))
			return false;
	}
	for (unsigned i = 0; i < head_.total; i++) {
		const std::size_t said = pib_get16(&bytes_[i * step_ + kFirst]);
		// Where a packet ends in the last segment, its sender names that end, although no packet follows.
		const bool ends = first[i] == PIB_SEG_NO_FIRST && i + 1u == head_.total &&
				  i * std::size_t{head_.size} + said == length();
		if (said != first[i] && !ends)
			return false;
	}
	return true;
}

bool WholeFrame::read()
{
	if (!read_head())
		return false;
	for (unsigned i = 1; i < head_.total; i++)
		if (!is_next(i))
			return false;
	return read_packets();
}

void WholeFrame::set_vl(const Packet &packet, std::uint8_t vl)
{
	auto &first = bytes_[static_cast<std::size_t>(packet.bytes - bytes_.data())];
	first = static_cast<std::uint8_t>(vl << 4 | (first & 0x0F));
}

} // namespace pib::netd
