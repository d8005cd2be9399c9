// SPDX-License-Identifier: GPL-2.0
#include "serve/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "model/words/parse.h"

namespace pib::ctl {
namespace {

constexpr int kBacklog = 64;

/// An address as the kernel takes it.
struct Address {
	sockaddr_storage storage{};
	socklen_t size = 0;

	sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
};

Address address_of(const Endpoint &where)
{
	Address address;
	if (where.v6) {
		sockaddr_in6 v6{};
		v6.sin6_family = AF_INET6;
		v6.sin6_port = htons(where.port);
		v6.sin6_scope_id = where.scope.empty() ? 0 : if_nametoindex(where.scope.c_str());
		std::memcpy(&v6.sin6_addr, where.address.data(), sizeof(v6.sin6_addr));
		std::memcpy(&address.storage, &v6, sizeof(v6));
		address.size = sizeof(v6);
	} else {
		sockaddr_in v4{};
		v4.sin_family = AF_INET;
		v4.sin_port = htons(where.port);
		std::memcpy(&v4.sin_addr, where.address.data(), sizeof(v4.sin_addr));
		std::memcpy(&address.storage, &v4, sizeof(v4));
		address.size = sizeof(v4);
	}
	return address;
}

std::uint16_t bound_port(int fd)
{
	Address address;
	address.size = sizeof(address.storage);
	if (getsockname(fd, address.get(), &address.size) < 0)
		return 0;
	in_port_t port;
	const auto offset = address.storage.ss_family == AF_INET6
				    ? offsetof(sockaddr_in6, sin6_port)
				    : offsetof(sockaddr_in, sin_port);
	std::memcpy(&port, reinterpret_cast<const char *>(&address.storage) + offset, sizeof(port));
	return ntohs(port);
}

bool open_at(int fd, const Endpoint &where)
{
	Address address = address_of(where);
	const int one = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return bind(fd, address.get(), address.size) == 0 && listen(fd, kBacklog) == 0;
}

} // namespace

Result<int> listen_at(Endpoint &where)
{
	const std::string name = format_endpoint(where);
	const int fd = socket(where.v6 ? AF_INET6 : AF_INET,
			      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || !open_at(fd, where)) {
		Error error = errno_error("cannot listen on {}", name);
		if (fd >= 0)
			close(fd);
		return error;
	}
	where.port = bound_port(fd);
	return fd;
}

Result<Endpoint> parse_listen(const std::string &word)
{
	Endpoint where;
	const auto percent = std::min(word.find('%'), word.size());
	const std::string address = word.substr(0, percent);
	if (percent < word.size())
		where.scope = word.substr(percent + 1);
	where.v6 = inet_pton(AF_INET6, address.c_str(), where.address.data()) == 1;
	if (!where.v6 && (!where.scope.empty() ||
			  inet_pton(AF_INET, address.c_str(), where.address.data()) != 1))
		return usage_error(fmt::format(
			"--listen takes an IPv4 or IPv6 address of this machine, not '{}'; the port is "
			"said by --port",
			word));
	return where;
}

bool is_loopback(const Endpoint &where)
{
	if (!where.v6)
		return where.address[0] == 127;
	return std::ranges::count(where.address, 0) == 15 && where.address[15] == 1;
}

} // namespace pib::ctl
