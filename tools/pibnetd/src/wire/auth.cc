// SPDX-License-Identifier: GPL-2.0
#include "wire/auth.h"

#include <algorithm>
#include <array>

#include "util/sha256.h"

namespace pib::netd {
namespace {

/// Without the zeros at the end.
std::span<const std::uint8_t> significant(const Key &key)
{
	std::size_t length = key.size();
	while (length && !key[length - 1])
		length--;
	return {key.data(), length};
}

} // namespace

bool same_key(const Key &a, const Key &b)
{
	return !KeyOrder()(a, b) && !KeyOrder()(b, a);
}

bool KeyOrder::operator()(const Key &a, const Key &b) const
{
	if (a.empty() || b.empty())
		return a.empty() && !b.empty();
	return std::ranges::lexicographical_compare(significant(a), significant(b));
}

void mac_put(const Key &key, std::span<std::uint8_t> bytes, std::size_t at)
{
	const auto mac = bytes.subspan(at, kMacLength);
	std::fill(mac.begin(), mac.end(), std::uint8_t{0});
	if (key.empty())
		return;
	const Digest digest = hmac_sha256(key, bytes);
	std::copy_n(digest.begin(), kMacLength, mac.begin());
}

bool mac_is_right(const Key &key, std::span<const std::uint8_t> bytes, std::size_t at)
{
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> copy;
	std::ranges::copy(bytes, copy.begin());
	mac_put(key, std::span(copy).first(bytes.size()), at);
	// All bytes are looked at, however early they differ.
	unsigned difference = 0;
	for (std::size_t i = at; i < at + kMacLength; i++)
		difference |= static_cast<unsigned>(copy[i] ^ bytes[i]);
	return difference == 0;
}

void auth_seal(const Key &key, std::span<std::uint8_t> hello)
{
	mac_put(key, hello, PIB_HELLO_MAC_OFF);
}

bool auth_is_right(const Key &key, std::span<const std::uint8_t> bytes)
{
	return key.empty() || mac_is_right(key, bytes.first(PIB_HELLO_WIRE_LEN), PIB_HELLO_MAC_OFF);
}

bool auth_check(const Key &key, const pib_hello &parsed, std::span<const std::uint8_t> hello)
{
	const bool keyed = parsed.caps & PIB_CAP_KEYED;
	if (key.empty() || !keyed)
		return key.empty() == !keyed;
	return auth_is_right(key, hello);
}

std::uint16_t auth_tag(const Key &key, std::uint64_t to, std::uint64_t from)
{
	if (key.empty())
		return pib_session_tag(to);
	std::array<std::uint8_t, 16> sessions;
	pib_put64(sessions.data(), to);
	pib_put64(sessions.data() + 8, from);
	const Digest digest = hmac_sha256(key, sessions);
	return static_cast<std::uint16_t>(digest[0] << 8 | digest[1]);
}

} // namespace pib::netd
