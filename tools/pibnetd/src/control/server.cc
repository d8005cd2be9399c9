// SPDX-License-Identifier: GPL-2.0
#include "control/server.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>

namespace pib::netd {
namespace {

constexpr std::size_t kLineMax = 65536;
constexpr std::size_t kClientsMax = 32;
/// A client that does not read its answers is not waited for.
constexpr std::size_t kPendingMax = 16 << 20;

Error failed(std::string_view doing, const std::string &path)
{
	return errno_error("cannot {} control socket '{}'", doing, path);
}

void watch(int epoll, int fd, std::uint32_t events, int operation)
{
	epoll_event event{};
	event.events = events;
	event.data.fd = fd;
	::epoll_ctl(epoll, operation, fd, &event);
}

/// True if a process listens there.
bool answers(const sockaddr_un &name)
{
	const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	return ::connect(fd.get(), reinterpret_cast<const sockaddr *>(&name), sizeof(name)) == 0;
}

} // namespace

Server::~Server()
{
	close();
}

Status Server::open(const std::string &path)
{
	sockaddr_un name{};
	name.sun_family = AF_UNIX;
	if (path.size() >= sizeof(name.sun_path))
		return Error{fmt::format("the control socket's path is too long: '{}'", path)};
	std::copy(path.begin(), path.end(), name.sun_path);
	struct stat status;
	if (::lstat(path.c_str(), &status) == 0) {
		if (!S_ISSOCK(status.st_mode))
			return Error{fmt::format("'{}' is there and is no socket", path)};
		if (answers(name))
			return Error{fmt::format("another pibnetd listens at '{}'", path)};
		::unlink(path.c_str());
	}
	Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (!fd)
		return failed("open", path);
	// The socket lets its users change the fabric: only the owner and the group may open it.
	const mode_t before = ::umask(0117);
	const int bound = ::bind(fd.get(), reinterpret_cast<sockaddr *>(&name), sizeof(name));
	::umask(before);
	if (bound)
		return failed("make", path);
	if (::listen(fd.get(), 8))
		return failed("listen at", path);
	listener_ = std::move(fd);
	path_ = path;
	watch(epoll_, listener_.get(), EPOLLIN, EPOLL_CTL_ADD);
	return success();
}

void Server::close()
{
	if (!listener_)
		return;
	listener_ = Fd();
	::unlink(path_.c_str());
	path_.clear();
}

void Server::accept()
{
	Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
	if (!fd || clients_.size() >= kClientsMax)
		return;
	watch(epoll_, fd.get(), EPOLLIN, EPOLL_CTL_ADD);
	clients_.push_back({std::move(fd), {}, {}});
}

bool Server::read(Client &client, const Answer &answer)
{
	char bytes[4096];
	const ssize_t n = ::recv(client.fd.get(), bytes, sizeof(bytes), 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	client.in.append(bytes, static_cast<std::size_t>(n));
	for (auto end = client.in.find('\n'); end != std::string::npos;
	     end = client.in.find('\n')) {
		client.out += answer(std::string_view(client.in).substr(0, end));
		client.in.erase(0, end + 1);
	}
	return client.in.size() <= kLineMax && client.out.size() <= kPendingMax;
}

bool Server::write(Client &client)
{
	while (!client.out.empty()) {
		const ssize_t n =
			::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n < 0)
			break;
		client.out.erase(0, static_cast<std::size_t>(n));
	}
	const std::uint32_t events = client.out.empty() ? EPOLLIN : EPOLLOUT;
	watch(epoll_, client.fd.get(), events, EPOLL_CTL_MOD);
	return true;
}

bool Server::handle(int fd, std::uint32_t events, const Answer &answer)
{
	if (listener_ && fd == listener_.get()) {
		accept();
		return true;
	}
	const auto client = std::find_if(clients_.begin(), clients_.end(),
					 [&](const Client &each) { return each.fd.get() == fd; });
	if (client == clients_.end())
		return false;
	bool stays = true;
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		stays = read(*client, answer);
	if (stays || !client->out.empty())
		stays = write(*client) && stays;
	if (!stays)
		clients_.erase(client);
	return true;
}

} // namespace pib::netd
