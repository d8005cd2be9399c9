// SPDX-License-Identifier: GPL-2.0
#include "ping/prober.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "util/clock.h"

namespace pib::netd {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr unsigned kTries = 3;
/// Least MTU to try, which nearly every path carries.
constexpr std::size_t kLeastMtu = 576;
/// A packet of the largest InfiniBand MTU: it goes in fragments if need be.
constexpr std::size_t kLargePacket = 4096 + 128;

double microseconds(std::uint64_t ns)
{
	return static_cast<double>(ns) / 1000;
}

} // namespace

std::size_t Prober::headers() const
{
	return options_.peer.family == AF_INET6 ? 48 : 28;
}

Status Prober::open()
{
	fd_ = Fd(::socket(options_.peer.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	sockaddr_storage name;
	const socklen_t length = to_sockaddr(options_.peer, name);
	const std::string peer = format_address(options_.peer);
	if (!fd_ || ::connect(fd_.get(), reinterpret_cast<sockaddr *>(&name), length))
		return errno_error("cannot send to {}", peer);
	if (::getrandom(&run_, sizeof(run_), 0) != sizeof(run_))
		run_ = clock_ns();
	buffer_.resize(65536);
	return success();
}

/// False if the datagram cannot leave this host.
bool Prober::send(std::span<const std::uint8_t> bytes)
{
	if (::send(fd_.get(), bytes.data(), bytes.size(), 0) >= 0)
		return true;
	// The error may be about an earlier datagram: then this one has not been sent yet.
	if (errno != EMSGSIZE) {
		error_ = errno;
		return ::send(fd_.get(), bytes.data(), bytes.size(), 0) >= 0;
	}
	return false;
}

std::span<const std::uint8_t> Prober::receive(std::uint64_t until)
{
	for (;;) {
		const std::uint64_t now = clock_ns();
		if (now >= until)
			return {};
		pollfd wait = {fd_.get(), POLLIN, 0};
		if (::poll(&wait, 1, static_cast<int>((until - now) / kMs + 1)) <= 0)
			return {};
		const ssize_t n = ::recv(fd_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
		if (n > 0)
			return std::span(buffer_).first(static_cast<std::size_t>(n));
		if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EMSGSIZE) {
			error_ = errno;
			return {};
		}
	}
}

// ---- hello ----

bool Prober::take_hello(std::span<const std::uint8_t> bytes, ProbeReport &report)
{
	pib_hello h;
	std::uint32_t to = 0;
	std::uint8_t type = 0;
	if (pib_hello_parse(&h, &type, &to, bytes.data(), bytes.size()) || h.peer_nonce != run_)
		return false;
	HelloAnswer answer;
	answer.description = h.desc;
	answer.node_guid = h.node_guid;
	answer.keyed = h.caps & PIB_CAP_KEYED;
	answer.authentic = auth_check(options_.key, h, bytes);
	if (type == PIB_DG_BYE)
		answer.refusal = h.desc;
	report.hello = answer;
	return true;
}

/// A hello that wants no link, only an answer.
void Prober::hello(ProbeReport &report)
{
	pib_hello h{};
	h.fabric = options_.fabric;
	h.nonce = run_;
	h.role = PIB_ROLE_HCA;
	h.mtu_cap = 5;
	h.caps = PIB_CAP_PROBE | (options_.key.empty() ? 0u : std::uint32_t{PIB_CAP_KEYED});
	std::array<std::uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	for (unsigned i = 0; i < kTries && !report.hello; i++) {
		h.seq = i + 1;
		pib_hello_build(&h, PIB_DG_HELLO, 0, bytes.data());
		auth_seal(options_.key, bytes);
		if (!send(bytes))
			return;
		const std::uint64_t until = clock_ns() + 200 * kMs;
		for (auto got = receive(until); !got.empty(); got = receive(until))
			if (take_hello(got, report))
				return;
	}
}

// ---- echo ----

Ping Prober::next_ping()
{
	Ping ping;
	ping.sequence = ++sequence_;
	ping.run = run_;
	ping.sent = clock_ns();
	ping.fabric = options_.fabric;
	ping.version = own_version();
	return ping;
}

void Prober::trips(ProbeReport &report)
{
	RoundTrips &t = report.trips;
	std::vector<bool> seen(options_.count + 1);
	double sum = 0;
	std::uint64_t due = clock_ns();
	std::uint64_t end = 0;
	while (t.answered < options_.count) {
		const std::uint64_t now = clock_ns();
		if (t.sent < options_.count && now >= due) {
			if (send(build_ping(next_ping(), kPingLeast, options_.key)))
				t.sent++;
			else if (error_)
				break;
			due = now + options_.interval_ms * kMs;
			end = now + options_.timeout_ms * kMs;
		}
		const auto got = receive(t.sent < options_.count ? due : end);
		const auto pong = parse_ping(got);
		const std::uint64_t came = clock_ns();
		if (got.empty() && t.sent >= options_.count && came >= end)
			break;
		if (!pong || pong->type != PIB_DG_PONG || pong->run != run_ ||
		    pong->sequence > options_.count || seen[pong->sequence] || pong->sent > came)
			continue;
		seen[pong->sequence] = true;
		const double took = microseconds(came - pong->sent);
		t.least = t.answered ? std::min(t.least, took) : took;
		t.most = std::max(t.most, took);
		sum += took;
		t.answered++;
		report.pong = pong;
		report.pong_authentic = ping_is_authentic(got, options_.key);
	}
	if (t.answered)
		t.mean = sum / t.answered;
}

// ---- sizes ----

void Prober::fragment(bool may)
{
	const bool v6 = options_.peer.family == AF_INET6;
	const int how = v6 ? (may ? IPV6_PMTUDISC_DONT : IPV6_PMTUDISC_PROBE)
			   : (may ? IP_PMTUDISC_DONT : IP_PMTUDISC_PROBE);
	::setsockopt(fd_.get(), v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		     v6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER, &how, sizeof(how));
}

bool Prober::passes(std::size_t size)
{
	for (unsigned i = 0; i < kTries; i++) {
		const Ping ping = next_ping();
		const auto bytes = build_ping(ping, size, options_.key);
		if (!send(bytes))
			return false;
		const std::uint64_t until = clock_ns() + 250 * kMs;
		for (auto got = receive(until); !got.empty(); got = receive(until)) {
			const auto pong = parse_ping(got);
			if (pong && pong->run == run_ && pong->sequence == ping.sequence &&
			    got.size() == size &&
			    std::equal(got.begin() + kPingLeast, got.end(),
				       bytes.begin() + kPingLeast))
				return true;
		}
	}
	return false;
}

void Prober::sizes(ProbeReport &report)
{
	const bool v6 = options_.peer.family == AF_INET6;
	int mtu = 0;
	socklen_t length = sizeof(mtu);
	::getsockopt(fd_.get(), v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &mtu,
		     &length);
	report.route_mtu = static_cast<std::size_t>(std::clamp(mtu, 0, 65535));
	fragment(false);
	std::size_t good = 0, bad = report.route_mtu + 1;
	if (report.route_mtu > headers() && passes(report.route_mtu - headers())) {
		good = report.route_mtu;
	} else if (passes(kLeastMtu - headers())) {
		good = kLeastMtu;
		while (bad - good > 1) {
			const std::size_t middle = (good + bad) / 2;
			(passes(middle - headers()) ? good : bad) = middle;
		}
	}
	report.mtu = good;
	fragment(true);
	report.fragments = passes(kLargePacket);
}

Result<ProbeReport> Prober::run()
{
	if (auto opened = open(); !opened)
		return opened.error();
	ProbeReport report;
	trips(report);
	hello(report);
	if (report.measures_sizes())
		sizes(report);
	report.error = error_;
	return report;
}

} // namespace pib::netd
