// SPDX-License-Identifier: GPL-2.0
#include "capture/pcapng.h"

#include <cstring>

namespace pib::ctl::pcapng {
namespace {

constexpr std::uint32_t kSection = 0x0a0d0d0a;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kStatistics = 5;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint16_t kLinkTypeErf = 197;
constexpr std::uint8_t kNanoseconds = 9;
constexpr std::uint32_t kInbound = 1;
constexpr std::uint32_t kOutbound = 2;

enum Option : std::uint16_t {
	kEnd = 0,
	kComment = 1,
	kIfName = 2,
	kIfDescription = 3,
	kIfTimeResolution = 9,
	kIfFilter = 11,
	kFlags = 2,
	kStatReceived = 4,
	kStatDropped = 5,
	kApplication = 4,
};

template <typename T>
void put(Bytes &to, T value)
{
	const std::size_t at = to.size();
	to.resize(at + sizeof(value));
	std::memcpy(to.data() + at, &value, sizeof(value));
}

void put_bytes(Bytes &to, View data)
{
	to.insert(to.end(), data.begin(), data.end());
	to.resize((to.size() + 3) & ~std::size_t{3});
}

void put_option(Bytes &to, std::uint16_t code, View value)
{
	put(to, code);
	put(to, static_cast<std::uint16_t>(value.size()));
	put_bytes(to, value);
}

/// Nothing if the text is empty. The end of a text that is too long for an option is left out.
void put_text(Bytes &to, std::uint16_t code, std::string_view text)
{
	text = text.substr(0, 0xffff);
	if (!text.empty())
		put_option(to, code,
			   {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
}

template <typename T>
void put_number(Bytes &to, std::uint16_t code, T value)
{
	put_option(to, code, {reinterpret_cast<const std::uint8_t *>(&value), sizeof(value)});
}

void put_end(Bytes &to)
{
	put_option(to, kEnd, {});
}

/// A block while it is written: its length stands at both ends.
class Block {
public:
	Block(Bytes &to, std::uint32_t type) : to_(to), start_(to.size())
	{
		put(to_, type);
		put(to_, std::uint32_t{0});
	}
	~Block()
	{
		const auto length = static_cast<std::uint32_t>(to_.size() - start_ + 4);
		std::memcpy(to_.data() + start_ + 4, &length, sizeof(length));
		put(to_, length);
	}
	Block(const Block &) = delete;
	Block &operator=(const Block &) = delete;

private:
	Bytes &to_;
	std::size_t start_;
};

void put_time(Bytes &to, std::uint64_t time)
{
	put(to, static_cast<std::uint32_t>(time >> 32));
	put(to, static_cast<std::uint32_t>(time));
}

} // namespace

void put_section(Bytes &to, std::string_view application)
{
	const Block block(to, kSection);
	put(to, kByteOrder);
	put(to, std::uint16_t{1});
	put(to, std::uint16_t{0});
	put(to, ~std::uint64_t{0});
	put_text(to, kApplication, application);
	put_end(to);
}

void put_interface(Bytes &to, const Interface &interface)
{
	const Block block(to, kInterface);
	put(to, kLinkTypeErf);
	put(to, std::uint16_t{0});
	put(to, interface.snap_len);
	put_text(to, kIfName, interface.name);
	put_text(to, kIfDescription, interface.description);
	put_number(to, kIfTimeResolution, kNanoseconds);
	// The first byte says that text follows.
	if (!interface.filter.empty())
		put_text(to, kIfFilter, std::string(1, '\0') + interface.filter);
	put_end(to);
}

void put_packet(Bytes &to, const Packet &packet)
{
	const Block block(to, kEnhancedPacket);
	put(to, packet.interface);
	put_time(to, packet.time);
	put(to, static_cast<std::uint32_t>(packet.data.size()));
	put(to, packet.length);
	put_bytes(to, packet.data);
	put_text(to, kComment, packet.comment);
	put_number(to, kFlags, packet.outbound ? kOutbound : kInbound);
	put_end(to);
}

void put_statistics(Bytes &to, const Statistics &statistics)
{
	const Block block(to, kStatistics);
	put(to, statistics.interface);
	put_time(to, statistics.time);
	put_number(to, kStatReceived, statistics.captured + statistics.lost);
	put_number(to, kStatDropped, statistics.lost);
	put_end(to);
}

} // namespace pib::ctl::pcapng
