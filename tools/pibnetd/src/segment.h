// SPDX-License-Identifier: GPL-2.0
// Segments and the frames that they make up: docs/wire-format.md, "SEGMENT".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto.h"

namespace pibnetd {

constexpr std::size_t kSegmentHeader = 16;
constexpr std::size_t kSegmentsMax = 64;
constexpr std::uint16_t kNoFirst = 0xFFFF;

struct Segment {
  std::uint8_t flags = 0;
  std::uint16_t tag = 0;
  std::uint32_t link_id = 0;
  std::uint16_t frame = 0;
  std::uint8_t index = 0;
  std::uint8_t total = 0;
  std::uint16_t size = 0;
  std::uint16_t first = 0;
};

void build_segment(const Segment& segment, std::span<std::uint8_t, kSegmentHeader> out);
/// Nothing if the datagram cannot be a segment.
std::optional<Segment> parse_segment(std::span<const std::uint8_t> datagram);

/// A frame, whole or in part.
struct Frame {
  std::vector<std::uint8_t> bytes;
  std::array<std::uint16_t, kSegmentsMax> first{};
  /// Segments that have come, by index.
  std::uint64_t have = 0;
  std::uint64_t since = 0;
  std::uint16_t number = 0;
  std::uint16_t size = 0;
  std::uint8_t total = 0;
  std::uint8_t flags = 0;
  bool used = false;

  bool whole() const { return have == ~std::uint64_t{0} >> (64 - total); }
};

/// The frames of one link that are being put together.
class Frames {
 public:
  /// Takes a segment in. Returns a frame that has all it will ever have.
  std::optional<Frame> add(const Segment& segment, std::span<const std::uint8_t> data,
                           std::uint64_t now);

 private:
  Frame& find(const Segment& segment, std::uint64_t now, std::optional<Frame>& evicted);

  std::array<Frame, 8> frames_;
};

}  // namespace pibnetd
