// SPDX-License-Identifier: GPL-2.0
#include "udp/udp.h"

#include <linux/in6.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "util/clock.h"
#include "udp/checksum_filter.h"
#include "udp/control_buffer.h"
#include "wire/proto.h"

namespace pib::netd {
namespace {

constexpr std::size_t kBatch = 32;
/// After so many bytes sent the sockets are looked into again: what was sent may have been
/// answered.
constexpr std::size_t kRunBytes = 128 << 10;
constexpr int kSocketBuffer = 8 << 20;
/// A full socket is waited for so long, then what waits is dropped.
constexpr int kSendWaitMs = 20;
/// Of the send buffer, answers to strangers get one part of so many: twice that before they are known
/// to have left.
constexpr std::size_t kAnswersShare = 8;
/// Datagrams to a neighbour that does not answer are dropped after three tries of a second each.
constexpr std::uint64_t kAnswersLeaveNs = 4'000'000'000;
constexpr std::uint64_t kRoomNs = 5'000'000'000;
constexpr std::size_t kRoomDefault = 1200;

void set_int(int fd, int level, int name, int value)
{
	::setsockopt(fd, level, name, &value, sizeof(value));
}

/// Makes the buffer as large as the system lets it be.
void set_buffer(int fd, int name, int force)
{
	const int size = kSocketBuffer;
	if (::setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)))
		::setsockopt(fd, SOL_SOCKET, name, &size, sizeof(size));
}

std::size_t send_buffer(int fd)
{
	int size = 0;
	socklen_t length = sizeof(size);
	::getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, &length);
	return static_cast<std::size_t>(size);
}

void tune(int fd, int family)
{
	set_int(fd, SOL_UDP, UDP_GRO, 1);
	set_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE);
	set_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE);
	if (family == AF_INET) {
		set_int(fd, IPPROTO_IP, IP_PKTINFO, 1);
		set_int(fd, IPPROTO_IP, IP_RECVTTL, 1);
		set_int(fd, IPPROTO_IP, IP_RECVTOS, 1);
		set_int(fd, IPPROTO_IP, IP_TTL, PIB_HOP_LIMIT);
		// A packet that does not fit goes in fragments, also where the path's MTU is not
		// known.
		set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_WANT);
	} else {
		set_int(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
		set_int(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
		set_int(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		set_int(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, PIB_HOP_LIMIT);
		// A link outlives temporary addresses.
		set_int(fd, IPPROTO_IPV6, IPV6_ADDR_PREFERENCES, IPV6_PREFER_SRC_PUBLIC);
	}
}

template <typename T>
void put_control(msghdr &header, cmsghdr *&at, int level, int type, const T &value)
{
	at->cmsg_level = level;
	at->cmsg_type = type;
	at->cmsg_len = CMSG_LEN(sizeof(value));
	std::memcpy(CMSG_DATA(at), &value, sizeof(value));
	header.msg_controllen += CMSG_SPACE(sizeof(value));
	at = reinterpret_cast<cmsghdr *>(reinterpret_cast<char *>(at) + CMSG_SPACE(sizeof(value)));
}

} // namespace

struct Udp::Outgoing {
	sockaddr_storage name;
	ControlBuffer control;
	msghdr header;
};

Udp::Udp(Stats &stats) : stats_(stats), outgoing_(std::make_unique<Outgoing[]>(kBatch)) {}
Udp::~Udp() = default;

// ---- sockets ----

Result<Udp::Socket> Udp::make(const Address &listen, bool shared) const
{
	Socket socket{Fd(::socket(listen.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
		      listen.family};
	if (!socket.fd)
		return errno_error("cannot open a UDP socket");
	if (listen.family == AF_INET6)
		set_int(socket.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (shared)
		set_int(socket.fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
	if (!attach_checksum_filter(socket.fd.get()))
		return errno_error("cannot filter what comes without a checksum");
	sockaddr_storage name;
	const socklen_t length = to_sockaddr(listen, name);
	const std::string where = format_address(listen);
	if (::bind(socket.fd.get(), reinterpret_cast<sockaddr *>(&name), length)) {
		const bool taken = errno == EADDRINUSE;
		Error error = errno_error("cannot listen on {}", where);
		if (taken)
			error.text += " (by another pibnetd, or by pib on a netdev of this host)";
		return error;
	}
	tune(socket.fd.get(), listen.family);
	socket.answers_most = send_buffer(socket.fd.get()) / kAnswersShare;
	return socket;
}

Result<unsigned> Udp::open(const Address &listen)
{
	auto socket = make(listen, false);
	if (!socket)
		return socket.error();
	const auto free = std::find_if(sockets_.begin(), sockets_.end(),
				       [](const Socket &each) { return !each.fd; });
	const auto number = static_cast<unsigned>(free - sockets_.begin());
	if (free == sockets_.end())
		sockets_.push_back(std::move(*socket));
	else
		*free = std::move(*socket);
	return number;
}

/// The first one shares only after it was bound: another process's is still found out.
Status Udp::join(unsigned socket, const Address &listen, const Udp &with)
{
	set_int(with.descriptor(socket), SOL_SOCKET, SO_REUSEPORT, 1);
	auto made = make(listen, true);
	if (!made)
		return made.error();
	if (socket >= sockets_.size())
		sockets_.resize(socket + 1);
	sockets_[socket] = std::move(*made);
	return success();
}

Address Udp::local(unsigned socket) const
{
	sockaddr_storage name{};
	socklen_t length = sizeof(name);
	if (::getsockname(descriptor(socket), reinterpret_cast<sockaddr *>(&name), &length))
		return {};
	return from_sockaddr(name);
}

std::uint64_t Udp::receive_buffer(unsigned socket) const
{
	int size = 0;
	socklen_t length = sizeof(size);
	::getsockopt(descriptor(socket), SOL_SOCKET, SO_RCVBUF, &size, &length);
	return static_cast<std::uint64_t>(size);
}

Udp::Socket *Udp::socket_for(const Path &path)
{
	if (path.socket < sockets_.size() && sockets_[path.socket].family == path.remote.family)
		return &sockets_[path.socket];
	for (Socket &socket : sockets_)
		if (socket.fd && socket.family == path.remote.family)
			return &socket;
	return nullptr;
}

// ---- receiving ----

/// Each socket comes first in its turn, so that one that is flooded leaves places to the others.
void Udp::fill()
{
	const std::size_t n = sockets_.size();
	for (std::size_t i = 0; i < n; i++) {
		const auto number = static_cast<unsigned>((first_ + i) % n);
		if (sockets_[number].readable)
			intake_.fill(descriptor(number), number);
	}
	first_++;
}

std::span<const Arrival> Udp::next()
{
	fill();
	const auto arrivals = intake_.next();
	if (arrivals.empty())
		for (Socket &socket : sockets_)
			socket.readable = false;
	return arrivals;
}

std::size_t Udp::receive(const std::function<void(const Arrival &)> &take)
{
	const auto arrivals = next();
	for (const Arrival &arrival : arrivals)
		take(arrival);
	return arrivals.size();
}

std::uint64_t Udp::overruns()
{
	std::uint64_t sum = 0;
	for (Socket &socket : sockets_) {
		std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
		socklen_t size = sizeof(info);
		if (!socket.fd ||
		    ::getsockopt(socket.fd.get(), SOL_SOCKET, SO_MEMINFO, info.data(), &size) < 0)
			continue;
		sum += info[SK_MEMINFO_DROPS] - socket.dropped;
		socket.dropped = info[SK_MEMINFO_DROPS];
	}
	stats_.add(PIB_US_RX_OVERRUNS, sum);
	return sum;
}

// ---- sending ----

void Udp::send(const Path &path, std::span<const iovec> parts, std::size_t segment,
	       std::uint8_t tos, Rank rank)
{
	std::size_t bytes = 0;
	for (const iovec &part : parts)
		bytes += part.iov_len;
	if (rank == Rank::management && ++management_ > kManagementFirst)
		rank = Rank::data;
	if (rank == Rank::credit)
		rank = ++credits_ > kCreditsFirst ? Rank::data : Rank::management;
	messages_.push_back({path, parts_.size(), parts.size(), segment, bytes, tos, rank});
	parts_.insert(parts_.end(), parts.begin(), parts.end());
}

void Udp::prepare(const Message &message, std::span<iovec> parts, Outgoing &out) const
{
	out.header = {};
	out.header.msg_name = &out.name;
	out.header.msg_namelen = to_sockaddr(message.path.remote, out.name);
	out.header.msg_iov = parts.data();
	out.header.msg_iovlen = parts.size();
	out.header.msg_control = &out.control;
	auto *at = reinterpret_cast<cmsghdr *>(out.control.bytes);
	const Address &local = message.path.local;
	if (local.family == AF_INET) {
		in_pktinfo info{};
		std::memcpy(&info.ipi_spec_dst, local.bytes.data(), sizeof(info.ipi_spec_dst));
		put_control(out.header, at, IPPROTO_IP, IP_PKTINFO, info);
	} else if (local.family == AF_INET6) {
		in6_pktinfo info{};
		std::memcpy(&info.ipi6_addr, local.bytes.data(), sizeof(info.ipi6_addr));
		info.ipi6_ifindex = local.scope;
		put_control(out.header, at, IPPROTO_IPV6, IPV6_PKTINFO, info);
	}
	if (message.segment)
		put_control(out.header, at, SOL_UDP, UDP_SEGMENT,
			    static_cast<std::uint16_t>(message.segment));
	if (message.tos) {
		const bool v6 = message.path.remote.family == AF_INET6;
		put_control(out.header, at, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
			    v6 ? IPV6_TCLASS : IP_TOS, int{message.tos});
	}
	if (!out.header.msg_controllen)
		out.header.msg_control = nullptr;
}

bool Udp::wait_writable(const Socket &socket) const
{
	pollfd wait = {socket.fd.get(), POLLOUT, 0};
	return ::poll(&wait, 1, kSendWaitMs) > 0;
}

/// A super-packet that the route does not take: its datagrams one by one.
void Udp::send_apart(const Socket &socket, const Message &message)
{
	std::vector<std::uint8_t> all;
	for (std::size_t i = 0; i < message.count; i++) {
		const iovec &part = parts_[message.first + i];
		const auto *bytes = static_cast<const std::uint8_t *>(part.iov_base);
		all.insert(all.end(), bytes, bytes + part.iov_len);
	}
	const std::size_t step = message.segment ? message.segment : all.size();
	for (std::size_t at = 0; at < all.size(); at += step) {
		Outgoing out;
		iovec part = {&all[at], std::min(step, all.size() - at)};
		prepare({message.path, 0, 0, 0, 0, message.tos, message.rank}, {&part, 1}, out);
		if (::sendmsg(socket.fd.get(), &out.header, MSG_DONTWAIT) < 0)
			stats_.add(PIB_US_TX_ERRORS);
	}
}

/// The socket is full. The last message that waits for it is lost: management comes before data,
/// and of a link the lanes of high priority come first. Returns its place.
std::size_t Udp::lose_last(const Socket &socket)
{
	const auto last =
		std::find_if(messages_.rbegin(), messages_.rend(),
			     [&](const Message &each) { return socket_for(each.path) == &socket; });
	stats_.add(PIB_US_TX_ERRORS);
	return static_cast<std::size_t>(messages_.erase(std::next(last).base()) -
					messages_.begin());
}

int Udp::give(const Socket &socket, std::span<mmsghdr> headers)
{
	return ::sendmmsg(socket.fd.get(), headers.data(), static_cast<unsigned>(headers.size()),
			  MSG_DONTWAIT);
}

/// Sends in another way, or loses, what the kernel has refused.
void Udp::send_refused(const Socket &socket, const Message &message, int error)
{
	rooms_.erase({message.path.remote.family, message.path.remote.bytes});
	if (error == EINVAL || error == EMSGSIZE || error == EIO)
		send_apart(socket, message);
	else
		stats_.add(PIB_US_TX_ERRORS);
}

/// Sends n messages, which are all for the socket. Datagrams that have come are taken in after each
/// wait. Returns how many are done with: less, if some of them are lost.
std::size_t Udp::send_run(const Socket &socket, std::size_t from, std::size_t n)
{
	std::array<mmsghdr, kBatch> headers;
	for (std::size_t i = 0; i < n; i++) {
		const Message &message = messages_[from + i];
		prepare(message, std::span(parts_).subspan(message.first, message.count),
			outgoing_[i]);
		headers[i] = {outgoing_[i].header, 0};
	}
	std::size_t done = 0;
	while (done < n) {
		const int sent = give(socket, std::span(headers).subspan(done, n - done));
		if (sent > 0) {
			done += static_cast<std::size_t>(sent);
		} else if (errno == EAGAIN || errno == ENOBUFS) {
			if (!wait_writable(socket) && lose_last(socket) < from + n)
				n--;
			fill();
		} else if (errno != EINTR) {
			send_refused(socket, messages_[from + done], errno);
			done++;
		}
	}
	return n;
}

void Udp::flush()
{
	std::stable_partition(messages_.begin(), messages_.end(),
			      [](const Message &each) { return each.rank == Rank::management; });
	std::size_t at = 0;
	while (at < messages_.size()) {
		const Socket *socket = socket_for(messages_[at].path);
		std::size_t n = 1;
		std::size_t bytes = messages_[at].bytes;
		while (at + n < messages_.size() && n < kBatch && bytes < kRunBytes &&
		       socket_for(messages_[at + n].path) == socket)
			bytes += messages_[at + n++].bytes;
		if (socket)
			n = send_run(*socket, at, n);
		else
			stats_.add(PIB_US_TX_ERRORS, n);
		at += n;
		if (bytes >= kRunBytes)
			fill();
	}
	messages_.clear();
	parts_.clear();
	management_ = 0;
	credits_ = 0;
}

// ---- answers ----

void Udp::answer(const Path &path, std::span<const std::uint8_t> bytes)
{
	answers_.push_back({path, {bytes.begin(), bytes.end()}});
}

std::size_t Udp::outstanding(const Socket &socket) const
{
	int bytes = 0;
	::ioctl(socket.fd.get(), SIOCOUTQ, &bytes);
	return static_cast<std::size_t>(bytes);
}

/// Takes room for an answer, as much as the kernel may for its bytes. The kernel is not asked what has left
/// as long as there is room without that.
bool Udp::has_room(Socket &socket, std::size_t bytes, std::uint64_t now) const
{
	const std::size_t takes = 2 * bytes + 768;
	const auto fits = [&] {
		return !socket.answers || socket.answers + takes <= socket.answers_most;
	};
	if (!fits())
		socket.answers = std::min(socket.answers, outstanding(socket));
	if (!fits() && now >= socket.answers_leave) {
		// Others' datagrams hide what has left.
		socket.answers = 0;
		socket.answers_leave = now + kAnswersLeaveNs;
	}
	if (!fits())
		return false;
	socket.answers += takes;
	return true;
}

bool Udp::send_answer(Answer &answer, std::uint64_t now)
{
	Socket *socket = socket_for(answer.path);
	if (!socket || !has_room(*socket, answer.bytes.size(), now))
		return false;
	iovec part = {answer.bytes.data(), answer.bytes.size()};
	Outgoing out;
	prepare({answer.path, 0, 0, 0, 0, 0, Rank::management}, {&part, 1}, out);
	mmsghdr header = {out.header, 0};
	return give(*socket, {&header, 1}) == 1;
}

void Udp::send_answers(std::uint64_t now)
{
	for (Answer &answer : answers_)
		if (!send_answer(answer, now))
			stats_.add(PIB_US_TX_ERRORS);
	answers_.clear();
}

// ---- how much fits ----

/// A socket that is connected to the peer knows the MTU of the route.
std::size_t Udp::ask_room(const Path &path) const
{
	const bool v6 = path.remote.family == AF_INET6;
	const Fd fd(::socket(path.remote.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	sockaddr_storage name;
	const socklen_t length = to_sockaddr(path.remote, name);
	int mtu = 0;
	socklen_t size = sizeof(mtu);
	if (!fd || ::connect(fd.get(), reinterpret_cast<sockaddr *>(&name), length) ||
	    ::getsockopt(fd.get(), v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &mtu,
			 &size))
		return kRoomDefault;
	const int headers = static_cast<int>(path.remote.headers());
	return static_cast<std::size_t>(std::clamp(mtu - headers, 0, 65535 - headers));
}

/// Forgets rooms, since peers move from address to address: those that are due to be asked for
/// again, or all if there are still too many.
void Udp::forget_rooms(std::uint64_t now)
{
	std::erase_if(rooms_, [now](const auto &room) { return room.second.until <= now; });
	if (rooms_.size() >= kRoomsMost)
		rooms_.clear();
}

std::size_t Udp::room(const Path &path)
{
	const std::uint64_t now = clock_ns();
	if (rooms_.size() >= kRoomsMost)
		forget_rooms(now);
	Room &room = rooms_[{path.remote.family, path.remote.bytes}];
	if (now < room.until)
		return room.bytes;
	room = {ask_room(path), now + kRoomNs};
	return room.bytes;
}

} // namespace pib::netd
