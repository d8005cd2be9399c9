// SPDX-License-Identifier: GPL-2.0
#include "segment.h"

#include <algorithm>

namespace pibnetd {
namespace {

/// A frame of which nothing came for so long is given up, and not delivered late either.
constexpr std::uint64_t kStale = 100 * PIB_NSEC_PER_MSEC;

bool is(const Frame& frame, const Segment& s, std::uint64_t now) {
  return frame.used && frame.number == s.frame && frame.total == s.total && frame.size == s.size &&
         frame.flags == s.flags && now < frame.since + kStale;
}

bool begun_before(const Frame& a, const Frame& b) {
  if (a.since != b.since) return a.since < b.since;
  return static_cast<std::int16_t>(a.number - b.number) < 0;
}

void start(Frame& frame, const Segment& s, std::uint64_t now) {
  frame.bytes.resize(std::size_t{s.size} * s.total);
  frame.have = 0;
  frame.since = now;
  frame.number = s.frame;
  frame.size = s.size;
  frame.total = s.total;
  frame.flags = s.flags;
  frame.used = true;
}

}  // namespace

void build_segment(const Segment& s, std::span<std::uint8_t, kSegmentHeader> out) {
  out[0] = PIB_DG_VERSION << 4 | PIB_DG_SEGMENT;
  out[1] = s.flags;
  pib_put16(&out[2], s.tag);
  pib_put32(&out[4], s.link_id);
  pib_put16(&out[8], s.frame);
  out[10] = s.index;
  out[11] = s.total;
  pib_put16(&out[12], s.size);
  pib_put16(&out[14], s.first);
}

std::optional<Segment> parse_segment(std::span<const std::uint8_t> d) {
  if (d.size() <= kSegmentHeader) return {};
  const Segment s{.flags = d[1],
                  .tag = pib_get16(&d[2]),
                  .link_id = pib_get32(&d[4]),
                  .frame = pib_get16(&d[8]),
                  .index = d[10],
                  .total = d[11],
                  .size = pib_get16(&d[12]),
                  .first = pib_get16(&d[14])};
  const std::size_t length = d.size() - kSegmentHeader;
  if (!s.total || s.total > kSegmentsMax || s.index >= s.total ||
      std::size_t{s.size} * s.total > 0xFFFF)
    return {};
  const bool last = s.index + 1 == s.total;
  if (last ? length > s.size : length != s.size) return {};
  return s;
}

Frame& Frames::find(const Segment& segment, std::uint64_t now, std::optional<Frame>& evicted) {
  for (Frame& frame : frames_)
    if (is(frame, segment, now)) return frame;
  for (Frame& frame : frames_)
    if (!frame.used) return frame;
  Frame& oldest = *std::min_element(frames_.begin(), frames_.end(), begun_before);
  if (now < oldest.since + kStale) evicted = std::move(oldest);
  oldest.used = false;
  return oldest;
}

std::optional<Frame> Frames::add(const Segment& s, std::span<const std::uint8_t> data,
                                 std::uint64_t now) {
  std::optional<Frame> done;
  Frame& frame = find(s, now, done);
  if (!frame.used) start(frame, s, now);
  const std::uint64_t bit = std::uint64_t{1} << s.index;
  if (frame.have & bit) return done;
  frame.have |= bit;
  frame.first[s.index] = s.first;
  const std::size_t at = std::size_t{s.index} * s.size;
  std::copy(data.begin(), data.end(), frame.bytes.begin() + static_cast<std::ptrdiff_t>(at));
  if (s.index + 1 == s.total) frame.bytes.resize(at + data.size());
  // A frame that was pushed out goes first; this one's turn comes with its next segment.
  if (done || !frame.whole()) return done;
  done = std::move(frame);
  frame.used = false;
  return done;
}

}  // namespace pibnetd
