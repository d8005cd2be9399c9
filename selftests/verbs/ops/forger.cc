// SPDX-License-Identifier: GPL-2.0
#include "forger.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <optional>
#include <span>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

namespace ops {

namespace {

constexpr size_t udp_len = 8, link_len = 8, lrh_len = 8, grh_len = 40;
constexpr uint8_t data_datagram = 0x20; /* version 2 */
constexpr uint8_t next_header_ib = 0x1b;

using Bytes = std::vector<uint8_t>;

unsigned get16(const Bytes &b, size_t at)
{
	return b[at] << 8 | b[at + 1];
}

void put16(Bytes &b, size_t at, unsigned value)
{
	b[at] = value >> 8;
	b[at + 1] = value;
}

/* The Internet's sum (RFC 1071), folded. */
uint16_t sum(std::span<const uint8_t> bytes, uint32_t from = 0)
{
	for (size_t i = 0; i < bytes.size(); i++)
		from += i & 1 ? bytes[i] : bytes[i] << 8;
	while (from >> 16)
		from = (from & 0xffff) + (from >> 16);
	return from;
}

bool is_ipv4(const Packet &p)
{
	return get16(p.ethernet, 12) == ETH_P_IP;
}

size_t ip_length(std::span<const uint8_t> frame)
{
	unsigned type = frame[12] << 8 | frame[13];
	if (type == ETH_P_IP && frame[14 + 9] == IPPROTO_UDP)
		return (frame[14] & 15) * 4;
	return type == ETH_P_IPV6 && frame[14 + 6] == IPPROTO_UDP ? 40 : 0;
}

std::optional<Packet> parse(std::span<const uint8_t> frame)
{
	if (frame.size() < 14 + 40)
		return {};
	size_t ip = ip_length(frame), link = 14 + ip, ib = link + udp_len + link_len;
	if (!ip || frame.size() < ib + lrh_len + 12 || frame[link + udp_len] != data_datagram)
		return {};
	if ((frame[ib + 1] & 3) == 3 && frame.size() < ib + lrh_len + grh_len + 12)
		return {};
	auto part = [&](size_t from, size_t to) {
		return Bytes(frame.begin() + from, frame.begin() + to);
	};
	return Packet{part(0, 14), part(14, link), part(link, ib), part(ib, frame.size())};
}

/* Lengths and sums of what is around the packet. */
void wrap(Packet &p)
{
	size_t length = p.link.size() + p.ib.size();
	bool v4 = is_ipv4(p);

	put16(p.link, 4, length);
	put16(p.link, 6, 0);
	if (v4) {
		put16(p.ip, 2, p.ip.size() + length);
		put16(p.ip, 10, 0);
		put16(p.ip, 10, ~sum(p.ip));
	} else {
		put16(p.ip, 4, length);
	}
	std::span<const uint8_t> addresses(p.ip);
	uint32_t s =
		sum(v4 ? addresses.subspan(12, 8) : addresses.subspan(8, 32), IPPROTO_UDP + length);
	s = sum(p.ib, sum(p.link, s));
	put16(p.link, 6, s == 0xffff ? 0xffff : ~s);
}

} // namespace

void Packet::next()
{
	uint32_t psn = (bth(9) << 16 | bth(10) << 8 | bth(11)) + 1;
	bth(9) = psn >> 16;
	bth(10) = psn >> 8;
	bth(11) = psn;
}

void Packet::add_grh(const ibv_gid &from, const ibv_gid &to)
{
	Bytes grh(grh_len);
	grh[0] = 6 << 4;
	put16(grh, 4, ib.size() - lrh_len);
	grh[6] = next_header_ib;
	grh[7] = 1;
	std::copy(from.raw, from.raw + 16, grh.begin() + 8);
	std::copy(to.raw, to.raw + 16, grh.begin() + 24);
	ib.insert(ib.begin() + lrh_len, grh.begin(), grh.end());
	ib[1] |= 3;
	put16(ib, 4, get16(ib, 4) + grh_len / 4);
}

Forger::Forger(const Env &env) :
	fd_(env.capture.empty() ? throw Skip("no wire between the ends")
				: open_wire(env.capture, SOCK_RAW))
{
	if (fd_ < 0)
		FAIL("cannot send on " + env.capture);
}

Forger::~Forger()
{
	close(fd_);
}

Packet Forger::last_to(uint32_t qpn)
{
	std::optional<Packet> last;
	Bytes buffer(1 << 17);
	sockaddr_ll from{};

	for (;;) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT,
				     reinterpret_cast<sockaddr *>(&from), &len);
		if (n <= 0)
			break;
		if (from.sll_pkttype != PACKET_OUTGOING)
			continue;
		auto packet = parse({buffer.data(), size_t(n)});
		if (packet && packet->qpn() == qpn)
			last = std::move(packet);
	}
	if (!last)
		FAIL("no packet to this queue pair was seen");
	return std::move(*last);
}

void Forger::send(Packet p)
{
	Bytes frame;

	wrap(p);
	for (const Bytes *part : {&p.ethernet, &p.ip, &p.link, &p.ib})
		frame.insert(frame.end(), part->begin(), part->end());
	CHECK_EQ(::send(fd_, frame.data(), frame.size(), 0), ssize_t(frame.size()));
}

} // namespace ops
