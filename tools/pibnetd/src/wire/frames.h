// SPDX-License-Identifier: GPL-2.0
// Frames that segments make up: docs/wire-format.md, "SEGMENT".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wire/proto.h"

namespace pib::netd {

/// Segments of a frame that follow each other.
struct Run {
	/// Index of the first, and of the one after the last.
	unsigned begin = 0;
	unsigned end = 0;
	std::vector<std::uint8_t> bytes;
};

/// A frame, whole or in part. It takes up what has come of it, whatever a segment says of the rest.
struct Frame {
	/// In order; between two of them something is missing.
	std::vector<Run> runs;
	std::array<std::uint16_t, PIB_SEG_MAX> first{};
	/// Segments that have come, by index.
	std::uint64_t have = 0;
	std::uint64_t since = 0;
	/// When the last segment so far came, ns.
	std::uint64_t heard = 0;
	/// Bytes that have come.
	std::size_t held = 0;
	std::uint16_t number = 0;
	std::uint16_t tag = 0;
	std::uint16_t size = 0;
	std::uint8_t total = 0;
	std::uint8_t flags = 0;
	bool used = false;
	/// The network has marked one of the segments.
	bool ce = false;

	bool whole() const { return have == ~std::uint64_t{0} >> (64 - total); }
};

/// Bytes that the incomplete frames of all links hold.
struct FrameMemory {
	std::size_t held = 0;
};

/// The frames of one link that are being put together.
class Frames {
public:
	/// Of one link: frames, and bytes of them; bytes of all links beyond one frame of each.
	static constexpr std::size_t kPlaces = PIB_FLOW_PORTS + 4;
	static constexpr std::size_t kOfLink = kPlaces * 0xFFFF;
	static constexpr std::size_t kOfAll = 4 << 20;

	Frames() = default;
	~Frames() { clear(); }
	Frames(const Frames &) = delete;
	Frames &operator=(const Frames &) = delete;

	/// Counts held bytes there as well. To be called before anything is held.
	void share(FrameMemory &all) { all_ = &all; }
	/// Takes a segment in, which the network has marked or not. Returns a frame that has all it
	/// will ever have.
	std::optional<Frame> add(const pib_segment &segment, std::span<const std::uint8_t> data,
				 bool ce, std::uint64_t now);
	/// Forgets frames of which the rest has not come. Returns how many, and of how many something was lost since the last
	/// time for want of room.
	std::size_t expire(std::uint64_t now);
	void clear();
	std::size_t held() const { return held_; }

private:
	Frame *find(const pib_segment &segment, std::uint64_t now);
	Frame *oldest(const Frame *but);
	bool has_room(std::size_t bytes) const;
	bool evict(const Frame *but, std::uint64_t now, std::optional<Frame> *done);
	Frame take(Frame &frame);

	std::array<Frame, kPlaces> frames_;
	std::size_t held_ = 0;
	std::size_t lost_ = 0;
	FrameMemory own_;
	FrameMemory *all_ = &own_;
};

} // namespace pib::netd
