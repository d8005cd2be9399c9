// SPDX-License-Identifier: GPL-2.0
#include "host/netdev_state.h"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace pib::ctl {

std::optional<unsigned int> netdev_flags(const std::string &netdev)
{
	ifreq request{};
	if (netdev.size() >= sizeof(request.ifr_name))
		return {};
	std::memcpy(request.ifr_name, netdev.c_str(), netdev.size());
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return {};
	const bool known = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
	close(fd);
	if (!known)
		return {};
	return static_cast<unsigned short>(request.ifr_flags);
}

std::string netdev_state(unsigned int flags)
{
	if (!(flags & IFF_UP))
		return "DOWN";
	return flags & IFF_RUNNING ? "UP" : "NO-CARRIER";
}

std::string netdev_trouble(const std::string &netdev, unsigned int flags)
{
	if (!(flags & IFF_UP))
		return fmt::format(
			"netdev {} is down: no other host is met until 'ip link set dev {} up'",
			netdev, netdev);
	if (!(flags & IFF_RUNNING))
		return fmt::format(
			"netdev {} has no carrier: no other host is met until it has ('ip link show dev {}')",
			netdev, netdev);
	return "";
}

} // namespace pib::ctl
