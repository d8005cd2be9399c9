// SPDX-License-Identifier: GPL-2.0
// The network as the switches see it. Tests put one in memory behind it.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/address.h"

namespace pib::netd {

/// The first socket of the peer's address family.
constexpr unsigned kAnySocket = ~0u;

/// A way to a peer.
struct Path {
	/// Number of the socket.
	unsigned socket = 0;
	Address remote;
	/// The address that the peer sends to, and so expects answers from; none: as routes say.
	Address local;
};

/// Management leaves before data, to whomever either goes: links and subnets live by it. So do
/// credits, which make data flow; their many do not take the place of management.
enum class Rank : std::uint8_t { management, credit, data };

class Wire {
public:
	virtual ~Wire() = default;

	/// Queues one datagram, or, if segment is not 0, datagrams of that many bytes each (the
	/// last may be shorter). The bytes that the parts point to must stay as they are until
	/// flush(). tos: TOS (IPv4) or Traffic Class (IPv6).
	virtual void send(const Path &path, std::span<const iovec> parts, std::size_t segment,
			  std::uint8_t tos, Rank rank) = 0;
	virtual void flush() = 0;
	/// Queues an answer to somebody with whom there is no session. It does not leave by flush(),
	/// and nobody waits for it: where it has no room it is dropped.
	virtual void answer(const Path &path, std::span<const std::uint8_t> bytes) = 0;
	/// Bytes of a datagram's payload that reach the peer in one piece.
	virtual std::size_t room(const Path &path) = 0;
};

/// A datagram, or a super-packet of several, that came in.
struct Arrival {
	/// An answer goes back by it.
	Path path;
	std::span<const std::uint8_t> bytes;
	/// Bytes of each datagram but the last, which may be shorter.
	std::size_t step = 0;
	/// TTL or hop limit on arrival; 0: not known.
	std::uint8_t hop_limit = 0;
	/// The network has marked the datagrams (RFC 3168). GRO joins none whose marks differ.
	bool ce = false;
};

} // namespace pib::netd
