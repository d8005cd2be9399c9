// SPDX-License-Identifier: GPL-2.0
#include "netlink/mnl_transport.h"

#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace pib::ctl {
namespace {

/// Another process would do it the same way.
bool send_to(int listener, const Bytes &datagram)
{
	sockaddr_nl address{};
	socklen_t size = sizeof(address);
	EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size), 0);
	const int stranger = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	const ssize_t sent = sendto(stranger, datagram.data(), datagram.size(), 0,
				    reinterpret_cast<sockaddr *>(&address), size);
	close(stranger);
	return sent == static_cast<ssize_t>(datagram.size());
}

TEST(NetlinkListener, DoesNotWaitForTheKernelWhereSomebodyElseHasSent)
{
	const auto listener = listen_to({GENL_ID_CTRL});
	ASSERT_TRUE(listener);
	if (!send_to((*listener)->fd(), Bytes(NLMSG_HDRLEN)))
		GTEST_SKIP() << "sending to other programs takes CAP_NET_ADMIN";
	// A test that waits for ever must fail.
	alarm(60);
	const auto received = (*listener)->receive();
	alarm(0);
	ASSERT_FALSE(received);
	EXPECT_EQ(received.error().code, EAGAIN);
}

} // namespace
} // namespace pib::ctl
