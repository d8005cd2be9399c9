// SPDX-License-Identifier: GPL-2.0
// Echo datagrams, by which pibping looks at a path: docs/wire-format.md, "PING and PONG".
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "wire/auth.h"

namespace pib::netd {

constexpr std::size_t kPingLeast = 48;
/// Bytes of a PONG, at most, to whoever has not shown that he has the fabric's key.
constexpr std::size_t kPongSmall = 256;

enum PingFlags : std::uint8_t {
	/// The sender has a key for the fabric, and has authenticated the datagram.
	kPingKeyed = 1 << 0,
	/// PONG: the authentication of the PING was right.
	kPingAuthentic = 1 << 1,
	/// PONG: the responder serves the fabric.
	kPingFabric = 1 << 2,
};

enum class PingSoftware : std::uint8_t { pibping = 1, pibnetd = 2 };

struct Ping {
	std::uint8_t type = PIB_DG_PING;
	std::uint8_t flags = 0;
	std::uint32_t sequence = 0;
	/// Names the run, so that answers to an earlier one are told apart.
	std::uint64_t run = 0;
	/// The asker's clock; comes back as it was.
	std::uint64_t sent = 0;
	std::uint32_t fabric = 0;
	PingSoftware software = PingSoftware::pibping;
	std::array<std::uint8_t, 3> version{};
};

std::optional<Ping> parse_ping(std::span<const std::uint8_t> bytes);
/// size: of the datagram; what it exceeds the fields by is filled with a pattern.
std::vector<std::uint8_t> build_ping(const Ping &ping, std::size_t size, const Key &key);
/// True if the authentication is right.
bool ping_is_authentic(std::span<const std::uint8_t> bytes, const Key &key);

struct PingResponder {
	PingSoftware software = PingSoftware::pibping;
	/// The key of a fabric, empty if it has none; nothing if it is not served.
	std::function<std::optional<Key>(std::uint32_t fabric)> key_of;
};

/// The answer, as long as the question, or kPongSmall if that is shorter and the question comes from
/// somebody without the key, or is for a fabric that is not served; empty if that is none.
std::vector<std::uint8_t> answer_ping(std::span<const std::uint8_t> bytes,
				      const PingResponder &responder);

/// Of this release.
std::array<std::uint8_t, 3> own_version();

} // namespace pib::netd
