// SPDX-License-Identifier: GPL-2.0
// Sealed data of keyed fabrics (docs/wire-format.md), as kernel/udp/seal.c has it.
#pragma once

#include <string.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/auth.h"
#include "wire/proto.h"

namespace pib::netd {

enum class Opened {
	opened,
	/// The peer has not sent it, or it was changed on the way.
	bad,
	/// It came before, or is too old to say.
	replayed,
};

/// No copy of it outlives its use.
struct SealKey : std::array<std::uint8_t, PIB_SEAL_KEY_LEN> {
	SealKey() { fill(0); }
	SealKey(const SealKey &) = default;
	SealKey &operator=(const SealKey &) = default;
	~SealKey() { ::explicit_bzero(data(), size()); }
};

/// The keys of one direction of a session: its own, and those of the two generations in use.
class SealKeys {
public:
	explicit SealKeys(const SealKey &session);
	SealKeys(const SealKeys &) = delete;
	SealKeys &operator=(const SealKeys &) = delete;

	/// The key of the generation of a counter.
	SealKey find(std::uint64_t counter) const;
	/// Keeps the key of a generation of which further datagrams will come.
	void keep(std::uint64_t counter, const SealKey &key);

private:
	struct Made {
		std::uint64_t generation;
		SealKey key;
	};
	SealKey session_;
	std::array<Made, 2> made_;
};

/// Keys and counters of one session with one session of the peer.
class Seal {
public:
	/// The fabric's keys of both sessions: this end's, and the peer's.
	Seal(const Key &own_key, const Key &peer_key, std::uint64_t own, std::uint64_t peer);
	Seal(const Seal &) = delete;
	Seal &operator=(const Seal &) = delete;

	bool is_of(std::uint64_t own, std::uint64_t peer) const
	{
		return own == own_ && peer == peer_;
	}
	/// Encrypts what stands in a datagram between room for the counter, behind the link header,
	/// and room for the tag, at the end.
	void close(std::span<std::uint8_t> datagram);
	/// Takes a datagram of at least PIB_SEAL_LEN and a link header out of its seal, to the
	/// front of out, which has room for as much as the datagram. It is PIB_SEAL_LEN shorter then.
	Opened open(std::span<const std::uint8_t> datagram, std::span<std::uint8_t> out);

private:
	std::uint64_t own_;
	std::uint64_t peer_;
	SealKeys tx_;
	SealKeys rx_;
	std::uint64_t sent_ = 0;
	pib_replay replay_{};
};

} // namespace pib::netd
