// SPDX-License-Identifier: GPL-2.0
#include "udp/intake.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "udp/control_buffer.h"

namespace pib::netd {
namespace {

constexpr std::size_t kBatch = 32;
constexpr std::size_t kPlaces = 256;
/// The largest super-packet.
constexpr std::size_t kPlaceSize = 65536;

void take_control(const cmsghdr &at, Arrival &arrival)
{
	Address &local = arrival.path.local;
	const auto *data = CMSG_DATA(&at);
	if (at.cmsg_level == SOL_UDP && at.cmsg_type == UDP_GRO) {
		int step = 0;
		std::memcpy(&step, data, sizeof(step));
		if (step > 0)
			arrival.step = static_cast<std::size_t>(step);
	} else if ((at.cmsg_level == IPPROTO_IP && at.cmsg_type == IP_TTL) ||
		   (at.cmsg_level == IPPROTO_IPV6 && at.cmsg_type == IPV6_HOPLIMIT)) {
		int left = 0;
		std::memcpy(&left, data, sizeof(left));
		arrival.hop_limit = static_cast<std::uint8_t>(left);
	} else if (at.cmsg_level == IPPROTO_IP && at.cmsg_type == IP_TOS) {
		arrival.ce = (*data & IPTOS_ECN_MASK) == IPTOS_ECN_CE;
	} else if (at.cmsg_level == IPPROTO_IPV6 && at.cmsg_type == IPV6_TCLASS) {
		int tclass = 0;
		std::memcpy(&tclass, data, sizeof(tclass));
		arrival.ce = (tclass & IPTOS_ECN_MASK) == IPTOS_ECN_CE;
	} else if (at.cmsg_level == IPPROTO_IP && at.cmsg_type == IP_PKTINFO) {
		in_pktinfo info;
		std::memcpy(&info, data, sizeof(info));
		local.family = AF_INET;
		std::memcpy(local.bytes.data(), &info.ipi_spec_dst, sizeof(info.ipi_spec_dst));
	} else if (at.cmsg_level == IPPROTO_IPV6 && at.cmsg_type == IPV6_PKTINFO) {
		in6_pktinfo info;
		std::memcpy(&info, data, sizeof(info));
		local.family = AF_INET6;
		std::memcpy(local.bytes.data(), &info.ipi6_addr, sizeof(info.ipi6_addr));
		if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
			local.scope = static_cast<std::uint32_t>(info.ipi6_ifindex);
		if (IN6_IS_ADDR_MULTICAST(&info.ipi6_addr))
			local = {};
	}
}

} // namespace

struct Intake::Place {
	/// Not cleared: pages that are never used cost nothing.
	std::unique_ptr<std::uint8_t[]> bytes{new std::uint8_t[kPlaceSize]};
	Arrival arrival;
};

struct Intake::Headers {
	void prepare(std::size_t i, std::uint8_t *bytes)
	{
		parts[i] = {bytes, kPlaceSize};
		msghdr &header = messages[i].msg_hdr;
		header = {};
		header.msg_name = &names[i];
		header.msg_namelen = sizeof(names[i]);
		header.msg_iov = &parts[i];
		header.msg_iovlen = 1;
		header.msg_control = &controls[i];
		header.msg_controllen = sizeof(controls[i]);
	}

	Arrival arrival(std::size_t i, unsigned number)
	{
		Arrival arrival;
		arrival.path.socket = number;
		arrival.path.remote = from_sockaddr(names[i]);
		arrival.bytes = {static_cast<std::uint8_t *>(parts[i].iov_base),
				 messages[i].msg_len};
		arrival.step = messages[i].msg_len;
		msghdr &header = messages[i].msg_hdr;
		for (cmsghdr *at = CMSG_FIRSTHDR(&header); at; at = CMSG_NXTHDR(&header, at))
			take_control(*at, arrival);
		return arrival;
	}

	std::array<mmsghdr, kBatch> messages;
	std::array<iovec, kBatch> parts;
	std::array<sockaddr_storage, kBatch> names;
	std::array<ControlBuffer, kBatch> controls;
};

Intake::Intake() : headers_(std::make_unique<Headers>())
{
	for (std::size_t i = 0; i < kPlaces; i++) {
		places_.push_back(std::make_unique<Place>());
		free_.push_back(places_.back().get());
	}
}

Intake::~Intake() = default;

std::size_t Intake::read(int fd, unsigned number, std::size_t most)
{
	// Those that were used last come first: they are in the cache.
	for (std::size_t i = 0; i < most; i++)
		headers_->prepare(i, free_[free_.size() - 1 - i]->bytes.get());
	const int n = ::recvmmsg(fd, headers_->messages.data(), static_cast<unsigned>(most),
				 MSG_DONTWAIT, nullptr);
	// An error is one that the network has reported about something sent: sessions see to it.
	if (n <= 0)
		return 0;
	for (std::size_t i = 0; i < static_cast<std::size_t>(n); i++) {
		Place *place = free_.back();
		free_.pop_back();
		place->arrival = headers_->arrival(i, number);
		waiting_.push_back(place);
	}
	return static_cast<std::size_t>(n);
}

void Intake::fill(int fd, unsigned number)
{
	while (!free_.empty()) {
		const std::size_t most = std::min(kBatch, free_.size());
		if (read(fd, number, most) < most)
			return;
	}
}

std::span<const Arrival> Intake::next()
{
	free_.insert(free_.end(), taken_.begin(), taken_.end());
	const auto end =
		waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(kBatch, waiting_.size()));
	taken_.assign(waiting_.begin(), end);
	waiting_.erase(waiting_.begin(), end);
	batch_.clear();
	for (const Place *place : taken_)
		batch_.push_back(place->arrival);
	return batch_;
}

} // namespace pib::netd
