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
/// Bytes of a frame in each segment but the last, at least.
constexpr std::size_t kSegmentMin = 256;
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
  std::array<std::uint16_t, kSegmentsMax> first{};
  /// Segments that have come, by index.
  std::uint64_t have = 0;
  std::uint64_t since = 0;
  /// Bytes that have come.
  std::size_t held = 0;
  std::uint16_t number = 0;
  std::uint16_t size = 0;
  std::uint8_t total = 0;
  std::uint8_t flags = 0;
  bool used = false;

  bool whole() const { return have == ~std::uint64_t{0} >> (64 - total); }
};

/// What the incomplete frames of all links hold, in bytes.
struct FrameMemory {
  std::size_t held = 0;
};

/// The frames of one link that are being put together.
class Frames {
 public:
  /// Of one link: frames, and bytes of them; bytes of all links beyond one frame of each.
  static constexpr std::size_t kPlaces = 8;
  static constexpr std::size_t kOfLink = kPlaces * 0xFFFF;
  static constexpr std::size_t kOfAll = 4 << 20;

  Frames() = default;
  ~Frames() { clear(); }
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  /// What is held counts there as well. To be called before anything is held.
  void share(FrameMemory& all) { all_ = &all; }
  /// Takes a segment in. Returns a frame that has all it will ever have.
  std::optional<Frame> add(const Segment& segment, std::span<const std::uint8_t> data,
                           std::uint64_t now);
  /// Forgets frames of which the rest has not come. Returns how many.
  std::size_t expire(std::uint64_t now);
  void clear();
  std::size_t held() const { return held_; }

 private:
  Frame* find(const Segment& segment, std::uint64_t now);
  Frame* oldest(const Frame* but);
  bool has_room(std::size_t bytes) const;
  bool evict(const Frame* but, std::uint64_t now, std::optional<Frame>* done);
  Frame take(Frame& frame);

  std::array<Frame, kPlaces> frames_;
  std::size_t held_ = 0;
  FrameMemory own_;
  FrameMemory* all_ = &own_;
};

}  // namespace pibnetd
