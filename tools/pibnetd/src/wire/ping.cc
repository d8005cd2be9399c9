// SPDX-License-Identifier: GPL-2.0
#include "wire/ping.h"

#include <algorithm>
#include <cstdio>

namespace pib::netd {
namespace {

constexpr std::size_t kMacAt = 32;
static_assert(kMacAt + kMacLength == kPingLeast);

} // namespace

std::array<std::uint8_t, 3> own_version()
{
	unsigned major = 0, minor = 0, patch = 0;
	std::sscanf(PIBNETD_VERSION, "%u.%u.%u", &major, &minor, &patch);
	return {static_cast<std::uint8_t>(major), static_cast<std::uint8_t>(minor),
		static_cast<std::uint8_t>(patch)};
}

// An echo datagram begins as the others do. It is of no link, and has its sequence number there.

std::optional<Ping> parse_ping(std::span<const std::uint8_t> b)
{
	if (b.size() < kPingLeast)
		return {};
	pib_dg head;
	pib_dg_parse(&head, b.data());
	if (head.version != PIB_DG_VERSION ||
	    (head.type != PIB_DG_PING && head.type != PIB_DG_PONG))
		return {};
	Ping ping;
	ping.type = head.type;
	ping.flags = head.flags;
	ping.sequence = head.link_id;
	ping.run = pib_get64(&b[8]);
	ping.sent = pib_get64(&b[16]);
	ping.fabric = pib_get32(&b[24]);
	ping.software = static_cast<PingSoftware>(b[28]);
	std::copy_n(b.begin() + 29, ping.version.size(), ping.version.begin());
	return ping;
}

std::vector<std::uint8_t> build_ping(const Ping &ping, std::size_t size, const Key &key)
{
	std::vector<std::uint8_t> b(std::max(size, kPingLeast));
	for (std::size_t i = kPingLeast; i < b.size(); i++)
		b[i] = static_cast<std::uint8_t>(i);
	pib_dg head{};
	head.version = PIB_DG_VERSION;
	head.type = ping.type;
	head.flags = static_cast<std::uint8_t>(ping.flags | (key.empty() ? 0 : kPingKeyed));
	head.link_id = ping.sequence;
	pib_dg_build(&head, b.data());
	pib_put64(&b[8], ping.run);
	pib_put64(&b[16], ping.sent);
	pib_put32(&b[24], ping.fabric);
	b[28] = static_cast<std::uint8_t>(ping.software);
	std::copy(ping.version.begin(), ping.version.end(), b.begin() + 29);
	mac_put(key, std::span(b).first(kPingLeast), kMacAt);
	return b;
}

bool ping_is_authentic(std::span<const std::uint8_t> bytes, const Key &key)
{
	return !key.empty() && bytes.size() >= kPingLeast && bytes[1] & kPingKeyed &&
	       mac_is_right(key, bytes.first(kPingLeast), kMacAt);
}

std::vector<std::uint8_t> answer_ping(std::span<const std::uint8_t> bytes,
				      const PingResponder &responder)
{
	auto ping = parse_ping(bytes);
	if (!ping || ping->type != PIB_DG_PING)
		return {};
	const auto key = responder.key_of ? responder.key_of(ping->fabric) : std::nullopt;
	ping->type = PIB_DG_PONG;
	ping->flags = 0;
	if (key)
		ping->flags |= kPingFabric;
	if (key && ping_is_authentic(bytes, *key))
		ping->flags |= kPingAuthentic;
	const bool whole = key && (key->empty() || ping->flags & kPingAuthentic);
	bytes = bytes.first(whole ? bytes.size() : std::min(bytes.size(), kPongSmall));
	ping->software = responder.software;
	ping->version = own_version();
	auto answer = build_ping(*ping, kPingLeast, key.value_or(Key{}));
	answer.insert(answer.end(), bytes.begin() + kPingLeast, bytes.end());
	return answer;
}

} // namespace pib::netd
