// SPDX-License-Identifier: GPL-2.0
#include "daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "util/fd.h"

namespace pib::netd {

void notify_manager(std::string_view state)
{
	const char *path = std::getenv("NOTIFY_SOCKET");
	sockaddr_un name{};
	if (!path || (path[0] != '/' && path[0] != '@'))
		return;
	const std::size_t length = std::strlen(path);
	if (length >= sizeof(name.sun_path))
		return;
	name.sun_family = AF_UNIX;
	std::memcpy(name.sun_path, path, length);
	if (path[0] == '@')
		name.sun_path[0] = '\0';
	const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	if (!fd)
		return;
	::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
		 reinterpret_cast<sockaddr *>(&name),
		 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
}

std::uint64_t watchdog_interval()
{
	const char *usec = std::getenv("WATCHDOG_USEC");
	const char *pid = std::getenv("WATCHDOG_PID");
	if (!usec || (pid && std::to_string(::getpid()) != pid))
		return 0;
	return std::strtoull(usec, nullptr, 10) * 1000 / 2;
}

} // namespace pib::netd
