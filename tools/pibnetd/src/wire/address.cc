// SPDX-License-Identifier: GPL-2.0
#include "wire/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>

#include "model/words/parse.h"

namespace pib::netd {

bool same_host(const Address &a, Address b)
{
	b.port = a.port;
	return a == b;
}

Result<Address> parse_address(std::string_view word, std::uint16_t default_port)
{
	const auto endpoint = model::parse_endpoint(word);
	if (!endpoint)
		return endpoint.error();
	Address address;
	address.family = endpoint->v6 ? AF_INET6 : AF_INET;
	address.bytes = endpoint->address;
	address.port = endpoint->port ? endpoint->port : default_port;
	if (endpoint->scope.empty())
		return address;
	address.scope = if_nametoindex(endpoint->scope.c_str());
	if (!address.scope)
		return Error{fmt::format("there is no netdev '{}'", endpoint->scope)};
	return address;
}

Result<Address> parse_listen_address(std::string_view word)
{
	constexpr std::pair<std::string_view, int> kAny[] = {{"0.0.0.0", AF_INET},
							     {"[::]", AF_INET6}};
	if (word == "::")
		word = "[::]";
	for (const auto &[text, family] : kAny) {
		if (!word.starts_with(text))
			continue;
		Address any;
		any.family = family;
		any.port = kUdpPort;
		const auto rest = word.substr(text.size());
		if (rest.empty())
			return any;
		if (rest.front() != ':')
			break;
		const auto port = model::parse_number("the port", rest.substr(1), 1, 65535);
		if (!port)
			return port.error();
		any.port = static_cast<std::uint16_t>(*port);
		return any;
	}
	return parse_address(word);
}

std::string format_address(const Address &address)
{
	char text[INET6_ADDRSTRLEN] = "";
	if (!address.family)
		return "none";
	inet_ntop(address.family, address.bytes.data(), text, sizeof(text));
	if (address.family == AF_INET)
		return fmt::format("{}:{}", text, address.port);
	char name[IF_NAMESIZE] = "";
	if (address.scope && if_indextoname(address.scope, name))
		return fmt::format("[{}%{}]:{}", text, name, address.port);
	return fmt::format("[{}]:{}", text, address.port);
}

socklen_t to_sockaddr(const Address &address, sockaddr_storage &out)
{
	std::memset(&out, 0, sizeof(out));
	if (address.family == AF_INET) {
		sockaddr_in in{};
		in.sin_family = AF_INET;
		in.sin_port = htons(address.port);
		std::memcpy(&in.sin_addr, address.bytes.data(), sizeof(in.sin_addr));
		std::memcpy(&out, &in, sizeof(in));
		return sizeof(in);
	}
	sockaddr_in6 in6{};
	in6.sin6_family = AF_INET6;
	in6.sin6_port = htons(address.port);
	in6.sin6_scope_id = address.scope;
	std::memcpy(&in6.sin6_addr, address.bytes.data(), sizeof(in6.sin6_addr));
	std::memcpy(&out, &in6, sizeof(in6));
	return sizeof(in6);
}

Address from_sockaddr(const sockaddr_storage &in)
{
	Address address;
	if (in.ss_family == AF_INET) {
		sockaddr_in in4;
		std::memcpy(&in4, &in, sizeof(in4));
		address.family = AF_INET;
		address.port = ntohs(in4.sin_port);
		std::memcpy(address.bytes.data(), &in4.sin_addr, sizeof(in4.sin_addr));
	} else if (in.ss_family == AF_INET6) {
		sockaddr_in6 in6;
		std::memcpy(&in6, &in, sizeof(in6));
		address.family = AF_INET6;
		address.port = ntohs(in6.sin6_port);
		address.scope = in6.sin6_scope_id;
		std::memcpy(address.bytes.data(), &in6.sin6_addr, sizeof(in6.sin6_addr));
	}
	return address;
}

} // namespace pib::netd
