// SPDX-License-Identifier: GPL-2.0
#include "netlink/mnl_transport.h"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>

namespace pib::ctl {
namespace {

struct SocketCloser {
	void operator()(mnl_socket *socket) const { mnl_socket_close(socket); }
};
using Socket = std::unique_ptr<mnl_socket, SocketCloser>;

void enable(mnl_socket *socket, int option)
{
	int one = 1;
	// A kernel too old for the option gives terser refusals, nothing worse.
	(void)mnl_socket_setsockopt(socket, option, &one, sizeof(one));
}

class MnlTransport final : public Listener {
public:
	/// wait: of receive(), where nothing has come.
	MnlTransport(Socket socket, bool wait) :
		socket_(std::move(socket)), flags_(wait ? 0 : MSG_DONTWAIT)
	{
	}

	Status send(View message) override
	{
		if (mnl_socket_sendto(socket_.get(), message.data(), message.size()) < 0)
			return errno_error("sending to the kernel over netlink");
		return success();
	}

	Result<Bytes> receive() override
	{
		for (;;) {
			auto size = next_size();
			if (!size)
				return size.error();
			Bytes datagram(*size);
			sockaddr_nl from{};
			socklen_t from_size = sizeof(from);
			const ssize_t got =
				recvfrom(fd(), datagram.data(), datagram.size(), flags_,
					 reinterpret_cast<sockaddr *>(&from), &from_size);
			if (got < 0 && errno == EINTR)
				continue;
			if (got < 0)
				return errno_error("receiving from the kernel over netlink");
			// Any process may send to a netlink socket; only port 0 is the kernel.
			if (from_size != sizeof(from) || from.nl_pid != 0)
				continue;
			datagram.resize(static_cast<std::size_t>(got));
			return datagram;
		}
	}

	int fd() const override { return mnl_socket_get_fd(socket_.get()); }

	Status join(std::uint32_t group)
	{
		if (mnl_socket_setsockopt(socket_.get(), NETLINK_ADD_MEMBERSHIP, &group,
					  sizeof(group)) < 0)
			return errno_error("joining a group of netlink");
		return success();
	}

private:
	Result<std::size_t> next_size() const
	{
		ssize_t size;
		do {
			size = recv(fd(), nullptr, 0, MSG_PEEK | MSG_TRUNC | flags_);
		} while (size < 0 && errno == EINTR);
		if (size < 0)
			return errno_error("receiving from the kernel over netlink");
		return static_cast<std::size_t>(size);
	}

	Socket socket_;
	int flags_;
};

Result<std::unique_ptr<MnlTransport>> open_transport(int bus, bool wait = true)
{
	Socket socket(mnl_socket_open2(bus, SOCK_CLOEXEC));
	if (!socket)
		return errno_error("opening a netlink socket");
	if (mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
		return errno_error("binding a netlink socket");
	enable(socket.get(), NETLINK_EXT_ACK);
	enable(socket.get(), NETLINK_CAP_ACK);
	return std::make_unique<MnlTransport>(std::move(socket), wait);
}

/// Makes room for some thousand messages. A user without the right to that gets the usual limit.
void enlarge(int fd)
{
	constexpr int kBytes = 1 << 20;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kBytes, sizeof(kBytes)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kBytes, sizeof(kBytes));
}

Result<std::unique_ptr<Transport>> as_transport(Result<std::unique_ptr<MnlTransport>> opened)
{
	if (!opened)
		return opened.error();
	return std::unique_ptr<Transport>(std::move(*opened));
}

} // namespace

Result<std::unique_ptr<Transport>> open_mnl_transport()
{
	return as_transport(open_transport(NETLINK_GENERIC));
}

Result<std::unique_ptr<Transport>> open_rdma_transport()
{
	return as_transport(open_transport(NETLINK_RDMA));
}

Result<std::unique_ptr<Listener>> listen_to(std::initializer_list<std::uint32_t> groups)
{
	auto opened = open_transport(NETLINK_GENERIC, false);
	if (!opened)
		return opened.error();
	enlarge((*opened)->fd());
	for (const std::uint32_t group : groups)
		if (auto joined = (*opened)->join(group); !joined)
			return joined.error();
	return std::unique_ptr<Listener>(std::move(*opened));
}

} // namespace pib::ctl
