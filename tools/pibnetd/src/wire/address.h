// SPDX-License-Identifier: GPL-2.0
// UDP endpoints.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/result.h"

namespace pib::netd {

constexpr std::uint16_t kUdpPort = 18514;

struct Address {
	/// AF_INET or AF_INET6; 0: none.
	int family = 0;
	/// Network order; IPv4 uses the first four bytes.
	std::array<std::uint8_t, 16> bytes{};
	std::uint16_t port = 0;
	/// Interface index of a link-local IPv6 address.
	std::uint32_t scope = 0;

	bool operator==(const Address &) const = default;
	/// Bytes of the headers of IP and UDP before a datagram's payload.
	std::size_t headers() const { return family == AF_INET ? 28 : 48; }
};

/// True if both are of one host, whatever their ports.
bool same_host(const Address &a, Address b);

/// The host of an address, whatever its port.
struct Host {
	int family = 0;
	std::array<std::uint8_t, 16> bytes{};

	static Host of(const Address &address) { return {address.family, address.bytes}; }
	bool operator==(const Host &) const = default;
};

struct HostHash {
	std::size_t operator()(const Host &host) const
	{
		const auto *bytes = reinterpret_cast<const char *>(host.bytes.data());
		return std::hash<std::string_view>()({bytes, host.bytes.size()});
	}
};

/// IPv4[:PORT], IPv6 or [IPv6][:PORT]; IPv6 may carry %NETDEV.
Result<Address> parse_address(std::string_view word, std::uint16_t default_port = kUdpPort);
/// As parse_address(), or 0.0.0.0[:PORT], ::, [::][:PORT]: every address of this host.
Result<Address> parse_listen_address(std::string_view word);
std::string format_address(const Address &address);

/// Returns the length of what was written.
socklen_t to_sockaddr(const Address &address, sockaddr_storage &out);
Address from_sockaddr(const sockaddr_storage &in);

} // namespace pib::netd
