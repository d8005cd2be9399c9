// SPDX-License-Identifier: GPL-2.0
// Keyed fabrics: the same sums as kernel/auth.c makes.
#pragma once

#include <string.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wire/proto.h"

namespace pib::netd {

/// Memory that is wiped before it is given back.
template <typename T>
struct WipingAllocator {
	using value_type = T;

	WipingAllocator() = default;
	template <typename U>
	WipingAllocator(const WipingAllocator<U> &)
	{
	}
	T *allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
	void deallocate(T *at, std::size_t n)
	{
		::explicit_bzero(at, n * sizeof(T));
		std::allocator<T>().deallocate(at, n);
	}
	bool operator==(const WipingAllocator &) const = default;
};

/// A pre-shared key; empty: the fabric has none. No copy of it outlives its use.
using Key = std::vector<std::uint8_t, WipingAllocator<std::uint8_t>>;

/// Takes what was read from a key file, and wipes it there.
template <typename Bytes>
Key take_key(Bytes &read)
{
	Key key(read.begin(), read.end());
	::explicit_bzero(read.data(), read.size());
	return key;
}

/// True if both are one key. HMAC pads a key with zeros, so zeros at its end do not count.
bool same_key(const Key &a, const Key &b);
/// An order for containers, with the same idea of equality. No key comes before all others.
struct KeyOrder {
	bool operator()(const Key &a, const Key &b) const;
};

/// Bytes of an authentication.
constexpr std::size_t kMacLength = PIB_HELLO_WIRE_LEN - PIB_HELLO_MAC_OFF;
/// Puts the authentication of all bytes at its place among them: zeros without a key.
void mac_put(const Key &key, std::span<std::uint8_t> bytes, std::size_t at);
/// True if the authentication there is right. There are PIB_HELLO_WIRE_LEN bytes at most.
bool mac_is_right(const Key &key, std::span<const std::uint8_t> bytes, std::size_t at);
/// Puts the authentication into a control datagram of PIB_HELLO_WIRE_LEN bytes.
void auth_seal(const Key &key, std::span<std::uint8_t> hello);
/// True if the authentication of a datagram of that length is right; without a key, always.
bool auth_is_right(const Key &key, std::span<const std::uint8_t> bytes);
/// Both ends have a key, the same, or neither has one.
bool auth_check(const Key &key, const pib_hello &parsed, std::span<const std::uint8_t> hello);
/// The tag of DATA to the session to from the session from.
std::uint16_t auth_tag(const Key &key, std::uint64_t to, std::uint64_t from);

} // namespace pib::netd
