// SPDX-License-Identifier: GPL-2.0
// Packets become datagrams.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "link.h"

namespace pibnetd {

class Egress {
 public:
  Egress(Wire& wire, Stats& stats) : wire_(wire), stats_(stats) {}

  /// Sends what waits on the link, in as few super-packets as may be. The queue must stay as it
  /// is until the wire is flushed.
  void send_queue(Link& link);
  /// The wire has been flushed.
  void done();

 private:
  void datagrams(Link& link, std::span<OutPacket> packets);
  void frame(Link& link, std::span<OutPacket> packets, std::size_t bytes, std::size_t room);
  void segment_header(Segment& segment, std::size_t left, bool at_start);
  void send(Link& link, std::size_t segment, std::size_t count);

  Wire& wire_;
  Stats& stats_;
  std::vector<iovec> parts_;
  std::deque<std::array<std::uint8_t, kSegmentHeader>> headers_;
};

}  // namespace pibnetd
