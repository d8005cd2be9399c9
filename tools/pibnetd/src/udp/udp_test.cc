// SPDX-License-Identifier: GPL-2.0
// Over the loopback interface.
#include "udp/udp.h"

#include <gtest/gtest.h>
#include <netinet/udp.h>
#include <poll.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

#include "udp/checksum_filter.h"
#include "wire/proto.h"

namespace pib::netd {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr int kOff = 0;

Address loopback()
{
	Address address;
	address.family = AF_INET;
	address.bytes = {127, 0, 0, 1};
	return address;
}

Address loopback6()
{
	Address address;
	address.family = AF_INET6;
	address.bytes[15] = 1;
	return address;
}

/// From a new socket of the loopback interface to itself.
Path path_to_itself(Udp &udp)
{
	const auto socket = udp.open(loopback());
	if (!socket)
		throw std::runtime_error(socket.error().text);
	return {*socket, udp.local(*socket), {}};
}

class UdpTest : public ::testing::Test {
protected:
	void SetUp() override
	{
		for (unsigned *socket : {&a, &b}) {
			const auto opened = udp.open(loopback());
			ASSERT_TRUE(opened) << opened.error().text;
			*socket = *opened;
		}
	}
	/// All datagrams that come, and how many super-packets that were.
	std::size_t gather(unsigned socket, std::size_t expected)
	{
		std::size_t supers = 0;
		for (int i = 0; i < 100 && came.size() < expected; i++) {
			pollfd wait = {udp.descriptor(socket), POLLIN, 0};
			::poll(&wait, 1, 100);
			if (wait.revents)
				udp.readable(socket);
			supers += udp.receive([&](const Arrival &arrival) {
				from = arrival.path.remote;
				to = arrival.path.local;
				for (auto rest = arrival.bytes; !rest.empty();) {
					const auto one =
						rest.first(std::min(arrival.step, rest.size()));
					came.emplace_back(one.begin(), one.end());
					rest = rest.subspan(one.size());
				}
			});
		}
		return supers;
	}
	Path path_to(unsigned socket) { return {a, udp.local(socket), {}}; }

	Stats stats;
	Udp udp{stats};
	unsigned a = 0, b = 0;
	std::vector<Bytes> came;
	Address from, to;
};

/// Sends a datagram from one socket of the address to another one, with this TOS or Traffic Class.
class UdpMarks : public ::testing::TestWithParam<int> {
protected:
	bool comes_marked(const Address &at, int level, int name)
	{
		Stats stats;
		Udp udp{stats};
		const auto from = udp.open(at), to = udp.open(at);
		const int tos = GetParam();
		bool ce = false;
		std::uint8_t byte = 1;
		const iovec part = {&byte, 1};
		if (!from || !to ||
		    ::setsockopt(udp.descriptor(*from), level, name, &tos, sizeof(tos)))
			return false;
		udp.send({*from, udp.local(*to), {}}, {&part, 1}, 0, 0, Rank::data);
		udp.flush();
		pollfd wait = {udp.descriptor(*to), POLLIN, 0};
		EXPECT_EQ(::poll(&wait, 1, 1000), 1);
		udp.readable(*to);
		udp.receive([&](const Arrival &arrival) { ce = arrival.ce; });
		return ce;
	}
};

TEST_P(UdpMarks, AreSeen)
{
	const bool ce = (GetParam() & 3) == 3;
	EXPECT_EQ(comes_marked(loopback(), IPPROTO_IP, IP_TOS), ce);
	EXPECT_EQ(comes_marked(loopback6(), IPPROTO_IPV6, IPV6_TCLASS), ce);
}

INSTANTIATE_TEST_SUITE_P(Tos, UdpMarks, ::testing::Values(0, 2, 3, 0xBA, 0xBB));

/// TOS is a byte, Traffic Class an int.
int byte_of(const cmsghdr &at)
{
	int value = *CMSG_DATA(&at);
	if (at.cmsg_level == IPPROTO_IPV6)
		std::memcpy(&value, CMSG_DATA(&at), sizeof(value));
	return value;
}

/// Datagrams to a socket of that address, by their TOS or Traffic Class.
std::vector<int> tos_seen(const Address &at, const std::vector<std::uint8_t> &sent)
{
	Stats stats;
	Udp udp{stats};
	const auto from = udp.open(at), to = udp.open(at);
	std::array<std::uint8_t, 20> bytes{};
	const iovec part = {bytes.data(), bytes.size()};
	std::vector<int> seen;
	if (!from || !to)
		return seen;
	::setsockopt(udp.descriptor(*to), SOL_UDP, UDP_GRO, &kOff, sizeof(kOff));
	for (const std::uint8_t tos : sent)
		udp.send({*from, udp.local(*to), {}}, {&part, 1}, 10, tos, Rank::data);
	udp.flush();
	for (std::size_t i = 0; i < 2 * sent.size(); i++) {
		std::uint8_t byte = 0;
		iovec into = {&byte, 1};
		alignas(cmsghdr) std::array<char, 256> control;
		msghdr header{};
		header.msg_iov = &into;
		header.msg_iovlen = 1;
		header.msg_control = control.data();
		header.msg_controllen = control.size();
		pollfd wait = {udp.descriptor(*to), POLLIN, 0};
		EXPECT_EQ(::poll(&wait, 1, 1000), 1);
		if (::recvmsg(udp.descriptor(*to), &header, MSG_DONTWAIT) < 0)
			break;
		for (cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
			if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) ||
			    (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS))
				seen.push_back(byte_of(*c));
	}
	return seen;
}

TEST(UdpClasses, EachDatagramOfABatchHasItsOwn)
{
	const std::vector<int> seen{0xBA, 0xBA, 0, 0, 2, 2, 0x20, 0x20};
	EXPECT_EQ(tos_seen(loopback(), {0xBA, 0, 2, 0x20}), seen);
	EXPECT_EQ(tos_seen(loopback6(), {0xBA, 0, 2, 0x20}), seen);
}

TEST_F(UdpTest, SuperPacketsComeWhole)
{
	Bytes bytes(10 * 1000 + 10);
	for (std::size_t i = 0; i < bytes.size(); i++)
		bytes[i] = static_cast<std::uint8_t>(i / 1000);
	const iovec parts[] = {{bytes.data(), 5000}, {bytes.data() + 5000, bytes.size() - 5000}};
	const iovec single = {bytes.data(), 7};
	udp.send(path_to(b), parts, 1000, 0, Rank::data);
	udp.send(path_to(b), {&single, 1}, 0, 0, Rank::data);
	udp.flush();
	const std::size_t supers = gather(b, 12);
	ASSERT_EQ(came.size(), 12u);
	EXPECT_LT(supers, 12u);
	for (std::uint8_t i = 0; i < 10; i++)
		EXPECT_EQ(came[i], Bytes(1000, i));
	EXPECT_EQ(came[10].size(), 10u);
	EXPECT_EQ(came[11].size(), 7u);
	EXPECT_EQ(from, udp.local(a));
	EXPECT_EQ(to.bytes, loopback().bytes);
	EXPECT_EQ(stats.counts[PIB_US_TX_ERRORS], 0u);
}

/// More datagrams than the kernel keeps in a receive buffer of the usual size.
TEST_F(UdpTest, SocketsAreEmptiedWhileOthersAreSentTo)
{
	const Bytes large(60000);
	const iovec part = {const_cast<std::uint8_t *>(large.data()), large.size()};
	udp.readable(b);
	for (int i = 0; i < 100; i++)
		udp.send(path_to(b), {&part, 1}, 1000, 0, Rank::data);
	udp.flush();
	EXPECT_TRUE(udp.waiting());
	gather(b, 6000);
	EXPECT_EQ(came.size(), 6000u);
	EXPECT_EQ(udp.overruns(), 0u);
	EXPECT_FALSE(udp.waiting());
}

/// All datagrams of one peer come to one of them, and nobody else can open the address.
TEST_F(UdpTest, TwoShareAnAddress)
{
	const Address at = udp.local(b);
	Stats more;
	Udp other(more), stranger(more);
	const auto joined = other.join(b, at, udp);
	ASSERT_TRUE(joined) << joined.error().text;
	EXPECT_EQ(other.local(b), at);
	EXPECT_FALSE(stranger.open(at));
	const std::uint8_t byte = 1;
	const iovec part = {const_cast<std::uint8_t *>(&byte), 1};
	for (int i = 0; i < 40; i++) {
		const unsigned from_socket = *udp.open(loopback());
		for (int twice = 0; twice < 2; twice++)
			udp.send({from_socket, at, {}}, {&part, 1}, 0, 0, Rank::data);
	}
	udp.flush();
	const auto count = [this](Udp &one) {
		std::map<std::uint16_t, int> seen;
		one.readable(b);
		while (one.receive([&](const Arrival &in) {
			seen[in.path.remote.port] += static_cast<int>(in.bytes.size());
		})) {
		}
		return seen;
	};
	const auto here = count(udp), there = count(other);
	EXPECT_EQ(here.size() + there.size(), 40u);
	EXPECT_FALSE(here.empty());
	EXPECT_FALSE(there.empty());
	for (const auto &all : {here, there})
		for (const auto &[port, bytes] : all)
			EXPECT_EQ(bytes, 2) << port;
}

/// More than the places for them, in a socket that is not looked into meanwhile.
TEST_F(UdpTest, WhatASocketDropsIsCounted)
{
	const Bytes large(60000);
	const iovec part = {const_cast<std::uint8_t *>(large.data()), large.size()};
	for (int i = 0; i < 1000; i++)
		udp.send(path_to(b), {&part, 1}, 1000, 0, Rank::data);
	udp.flush();
	const std::uint64_t lost = udp.overruns();
	EXPECT_GT(lost, 0u);
	EXPECT_EQ(stats.counts[PIB_US_RX_OVERRUNS], lost);
	EXPECT_EQ(udp.overruns(), 0u);
}

/// Its sockets are full for so many waits.
class FullUdp final : public Udp {
public:
	using Udp::Udp;
	mutable int waits = 0;

private:
	int give(const Socket &socket, std::span<mmsghdr> headers) override
	{
		errno = EAGAIN;
		return waits ? -1 : Udp::give(socket, headers);
	}
	bool wait_writable(const Socket &) const override { return --waits == 0; }
};

/// First bytes of the datagrams that come, of super-packets of which management is
/// the last, when the socket is full for so many waits.
std::vector<int> pass_full(int waits)
{
	Stats stats;
	FullUdp udp(stats);
	std::vector<int> seen;
	const auto from = udp.open(loopback()), to = udp.open(loopback());
	if (!from || !to)
		return seen;
	std::vector<Bytes> all;
	for (std::uint8_t i = 0; i < 6; i++)
		all.emplace_back(40000, i);
	udp.readable(*to);
	for (const Bytes &bytes : all) {
		const iovec part = {const_cast<std::uint8_t *>(bytes.data()), bytes.size()};
		udp.send({*from, udp.local(*to), {}}, {&part, 1}, 0, 0,
			 &bytes == &all.back() ? Rank::management : Rank::data);
	}
	udp.waits = waits;
	udp.flush();
	udp.readable(*to);
	while (udp.receive([&](const Arrival &arrival) { seen.push_back(arrival.bytes[0]); })) {
	}
	EXPECT_EQ(stats.counts[PIB_US_TX_ERRORS], 6 - seen.size());
	return seen;
}

TEST(UdpFull, TheLastDataIsLostAndManagementIsNot)
{
	EXPECT_EQ(pass_full(0), (std::vector{5, 0, 1, 2, 3, 4}));
	EXPECT_EQ(pass_full(2), (std::vector{5, 0, 1, 2, 3}));
	EXPECT_EQ(pass_full(5), (std::vector{5, 0}));
	EXPECT_EQ(pass_full(100), std::vector<int>{});
}

/// As an answer to a stranger's hello.
const Bytes answer(176);

TEST(UdpFull, NobodyWaitsForAnswersToStrangers)
{
	Stats stats;
	FullUdp udp(stats);
	const Path path = path_to_itself(udp);
	udp.waits = 5;
	udp.answer(path, answer);
	udp.answer(path, answer);
	udp.send_answers(0);
	EXPECT_EQ(udp.waits, 5);
	EXPECT_EQ(stats.counts[PIB_US_TX_ERRORS], 2u);
	udp.flush();
	EXPECT_EQ(udp.waits, 5) << "they are gone";
}

/// Datagrams sent by its sockets seem to be there still, as if nobody was at those addresses.
class HoldingUdp final : public Udp {
public:
	using Udp::Udp;
	std::size_t holds = ~std::size_t{0};

private:
	std::size_t outstanding(const Socket &) const override { return holds; }
};

TEST(UdpAnswers, LeaveTheRoomInASocketToOthers)
{
	constexpr std::uint64_t second = 1'000'000'000;
	Stats stats;
	HoldingUdp udp(stats);
	const Path path = path_to_itself(udp);
	const auto sent = [&](std::uint64_t now) {
		const auto lost = stats.counts[PIB_US_TX_ERRORS];
		for (int i = 0; i < 40000; i++)
			udp.answer(path, answer);
		udp.send_answers(now);
		return 40000 - (stats.counts[PIB_US_TX_ERRORS] - lost);
	};
	int size = 0;
	socklen_t length = sizeof(size);
	::getsockopt(udp.descriptor(path.socket), SOL_SOCKET, SO_SNDBUF, &size, &length);
	// The kernel counts 832 bytes for each of them.
	const auto places = static_cast<std::uint64_t>(size) / 832;
	const std::uint64_t once = sent(100 * second);
	EXPECT_GE(once, places / 16);
	EXPECT_LE(once, places / 4);
	EXPECT_EQ(sent(101 * second), 0u);
	EXPECT_GE(sent(104 * second), places / 16) << "neighbours were waited for, in vain";
	EXPECT_EQ(sent(105 * second), 0u);
	udp.holds = 0;
	EXPECT_EQ(sent(105 * second), 40000u) << "those have left";
}

TEST_F(UdpTest, OnlySomeManagementGoesBeforeData)
{
	std::vector<Bytes> all;
	for (std::size_t i = 0; i < Udp::kManagementFirst + 4; i++)
		all.emplace_back(2, static_cast<std::uint8_t>(i));
	for (int flush = 0; flush < 2; flush++) {
		std::vector<std::size_t> seen, expected;
		for (const Bytes &bytes : all) {
			const iovec part = {const_cast<std::uint8_t *>(bytes.data()), bytes.size()};
			udp.send(path_to(b), {&part, 1}, 0, 0,
				 &bytes == all.data() ? Rank::data : Rank::management);
		}
		udp.flush();
		udp.readable(b);
		while (udp.receive([&](const Arrival &in) { seen.push_back(in.bytes[0]); })) {
		}
		for (std::size_t i = 1; i < all.size(); i++) {
			expected.push_back(i);
			if (i == Udp::kManagementFirst)
				expected.push_back(0);
		}
		EXPECT_EQ(seen, expected);
	}
}

TEST_F(UdpTest, CreditsTakeNoPlaceOfManagement)
{
	// Data, more credits than go first, and management.
	std::vector<Bytes> all;
	const std::size_t credits = Udp::kCreditsFirst + 4;
	for (std::size_t i = 0; i < credits + 2; i++)
		all.emplace_back(2, static_cast<std::uint8_t>(i));
	for (int flush = 0; flush < 2; flush++) {
		std::vector<std::size_t> seen, expected;
		for (std::size_t i = 0; i < all.size(); i++) {
			const iovec part = {all[i].data(), all[i].size()};
			const Rank rank = i > credits ? Rank::management : Rank::credit;
			udp.send(path_to(b), {&part, 1}, 0, 0, i ? rank : Rank::data);
		}
		udp.flush();
		udp.readable(b);
		while (udp.receive([&](const Arrival &in) { seen.push_back(in.bytes[0]); })) {
		}
		for (std::size_t i = 1; i <= Udp::kCreditsFirst; i++)
			expected.push_back(i);
		expected.push_back(credits + 1);
		expected.push_back(0);
		for (std::size_t i = Udp::kCreditsFirst + 1; i <= credits; i++)
			expected.push_back(i);
		EXPECT_EQ(seen, expected);
	}
}

TEST_F(UdpTest, TheRoomIsThatOfTheRoute)
{
	const std::size_t room = udp.room(path_to(b));
	EXPECT_GT(room, 1400u);
	EXPECT_LE(room, 65507u);
}

TEST_F(UdpTest, RoomsAreNotRememberedWithoutEnd)
{
	Path path = path_to(b);
	const std::size_t room = udp.room(path);
	for (std::size_t i = 0; i < Udp::kRoomsMost + 100; i++) {
		path.remote.bytes[2] = static_cast<std::uint8_t>(i >> 8);
		path.remote.bytes[3] = static_cast<std::uint8_t>(i);
		udp.room(path);
		ASSERT_LE(udp.rooms(), Udp::kRoomsMost);
	}
	EXPECT_EQ(udp.room(path_to(b)), room);
}

TEST(UdpSockets, OneThatWasNeverOpenedIsClosed)
{
	Stats stats;
	Udp udp(stats);
	udp.close(0);
	udp.close(100);
}

TEST(ChecksumFilter, SaysIfTheSocketDoesNotTakeIt)
{
	const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	EXPECT_TRUE(attach_checksum_filter(fd.get()));
	EXPECT_FALSE(attach_checksum_filter(-1));
}

// Without checksum and ICRC nothing says that a packet is whole.
TEST_F(UdpTest, OfPacketsThatNothingVouchesForTheHeaderComes)
{
	const Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	sockaddr_storage to;
	const socklen_t length = to_sockaddr(udp.local(b), to);
	const auto send = [&](std::uint8_t type, std::uint8_t flags, int without_checksum) {
		Bytes bytes(100, 7);
		bytes[0] = static_cast<std::uint8_t>(PIB_DG_VERSION << 4 | type);
		bytes[1] = flags;
		::setsockopt(fd.get(), SOL_SOCKET, SO_NO_CHECK, &without_checksum,
			     sizeof(without_checksum));
		const auto sent = ::sendto(fd.get(), bytes.data(), bytes.size(), 0,
					   reinterpret_cast<sockaddr *>(&to), length);
		return sent == static_cast<ssize_t>(bytes.size());
	};
	for (const std::uint8_t type : {PIB_DG_DATA, PIB_DG_SEGMENT}) {
		ASSERT_TRUE(send(type, 0, 0) && send(type, 0, 1) && send(type, PIB_DG_NOICRC, 0));
		ASSERT_TRUE(send(type, PIB_DG_NOICRC | PIB_DG_SEALED, 1));
		ASSERT_TRUE(send(type, PIB_DG_NOICRC, 1));
	}
	ASSERT_TRUE(send(PIB_DG_PING, 1, 1)) << "there the flag is another one";
	gather(b, 11);
	std::vector<std::size_t> sizes;
	for (const Bytes &each : came)
		sizes.push_back(each.size());
	EXPECT_EQ(sizes, (std::vector<std::size_t>{100, 100, 100, 100, PIB_DG_HDR_LEN, 100, 100,
						   100, 100, PIB_DG_HDR_LEN, 100}));
}

TEST_F(UdpTest, WhatCannotBeSentIsCounted)
{
	const Bytes bytes(10);
	const iovec part = {const_cast<std::uint8_t *>(bytes.data()), bytes.size()};
	Path path;
	path.socket = kAnySocket;
	path.remote.family = AF_INET6;
	udp.send(path, {&part, 1}, 0, 0, Rank::data);
	udp.flush();
	EXPECT_EQ(stats.counts[PIB_US_TX_ERRORS], 1u);
}

} // namespace
} // namespace pib::netd
