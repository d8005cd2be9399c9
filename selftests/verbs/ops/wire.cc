// SPDX-License-Identifier: GPL-2.0
#include "wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <optional>
#include <poll.h>
#include <sched.h>
#include <span>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace ops {

namespace {

constexpr unsigned udp_port = 18514;
constexpr uint8_t data_datagram = 0x20; /* version 2 */
/* The operation; the three bits above it say whether RC or XRC. */
constexpr uint8_t acknowledge = 0x11, atomic_acknowledge = 0x12;
constexpr uint8_t rc = 0x00, xrc = 0xa0;

using Bytes = std::span<const uint8_t>;

unsigned be16(Bytes b, size_t at)
{
	return b[at] << 8 | b[at + 1];
}

/* The payload of UDP to or from pib's port, or nothing. */
std::optional<Bytes> udp_payload(Bytes packet, unsigned protocol)
{
	size_t l4;

	if (protocol == ETH_P_IP && packet.size() >= 20 && packet[9] == IPPROTO_UDP)
		l4 = (packet[0] & 15) * 4;
	else if (protocol == ETH_P_IPV6 && packet.size() >= 40 && packet[6] == IPPROTO_UDP)
		l4 = 40;
	else
		return {};
	if (packet.size() < l4 + 8 ||
	    (be16(packet, l4) != udp_port && be16(packet, l4 + 2) != udp_port))
		return {};
	return packet.subspan(l4 + 8);
}

struct Ack {
	uint32_t qpn;
	uint8_t syndrome;
};

/* The acknowledgement in a data datagram: 8 bytes of link header, LRH, [GRH], BTH, AETH. */
std::optional<Ack> ack_of(Bytes b)
{
	if (b.size() < 8 + 8 + 12 + 4 || b[0] != data_datagram)
		return {};
	bool grh = (b[8 + 1] & 3) == 3;
	size_t bth = 8 + 8 + (grh ? 40 : 0);
	if (b.size() < bth + 16)
		return {};
	uint8_t transport = b[bth] & 0xe0, op = b[bth] & 0x1f;
	if ((transport != rc && transport != xrc) ||
	    (op != acknowledge && op != atomic_acknowledge))
		return {};
	return Ack{b[bth + 5] * 0x10000u + be16(b, bth + 6), b[bth + 12]};
}

} // namespace

int open_wire(const std::string &where, int type)
{
	auto colon = where.find(':');
	std::string netns = where.substr(0, colon), netdev = where.substr(colon + 1);
	int home = open("/proc/self/ns/net", O_RDONLY);
	int there = open(("/run/netns/" + netns).c_str(), O_RDONLY);
	int fd = -1;

	if (there >= 0 && setns(there, CLONE_NEWNET) == 0) {
		sockaddr_ll addr{};
		fd = socket(AF_PACKET, type, htons(ETH_P_ALL));
		addr.sll_family = AF_PACKET;
		addr.sll_protocol = htons(ETH_P_ALL);
		addr.sll_ifindex = if_nametoindex(netdev.c_str());
		int size = 64 << 20;
		setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
		if (bind(fd, reinterpret_cast<sockaddr *>(&addr), sizeof(addr))) {
			close(fd);
			fd = -1;
		}
	}
	if (setns(home, CLONE_NEWNET))
		fd = -1;
	close(home);
	close(there);
	return fd;
}

Wire::Wire(const std::string &where)
{
	if (where.empty())
		return;
	fd_ = open_wire(where, SOCK_DGRAM);
	if (fd_ < 0)
		throw Failure("cannot capture on " + where);
}

Wire::~Wire()
{
	if (fd_ >= 0)
		close(fd_);
}

void Wire::take(uint32_t qpn)
{
	std::vector<uint8_t> buffer(1 << 17);

	for (;;) {
		sockaddr_ll from{};
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT,
				     reinterpret_cast<sockaddr *>(&from), &len);
		if (n <= 0)
			return;
		auto payload = udp_payload(Bytes(buffer.data(), n), ntohs(from.sll_protocol));
		auto ack = payload ? ack_of(*payload) : std::nullopt;
		if (ack && ack->qpn == qpn)
			seen_.insert(ack->syndrome);
	}
}

void Wire::expect_nak(uint32_t qpn, uint8_t syndrome)
{
	if (fd_ < 0)
		return;
	take(qpn);
	std::string all;
	for (uint8_t s : seen_) {
		if (s == syndrome || (syndrome == nak_rnr && (s & 0xe0) == nak_rnr))
			return;
		all += " " + std::to_string(s);
	}
	FAIL("on the wire no NAK with syndrome " + std::to_string(syndrome) + ", but:" + all);
}

} // namespace ops
