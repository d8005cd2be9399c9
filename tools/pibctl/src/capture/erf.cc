// SPDX-License-Identifier: GPL-2.0
#include "capture/erf.h"

#include <array>

extern "C" {
#include "kernel/proto/hdrs.h"
#include "kernel/proto/icrc.h"
}

namespace pib::ctl {
namespace {

constexpr std::size_t kHeader = 16;
constexpr std::uint32_t kIcrc = 4;
constexpr std::uint32_t kVcrc = 2;
constexpr std::uint8_t kTypeInfiniband = 21;
/// Records are as long as their packets.
constexpr std::uint8_t kVaryingLength = 4;
constexpr std::uint64_t kNsPerSecond = 1000000000;

void put16(std::uint8_t *to, std::uint32_t value)
{
	to[0] = static_cast<std::uint8_t>(value >> 8);
	to[1] = static_cast<std::uint8_t>(value);
}

/// Seconds and their fractions in 2^32, least significant byte first.
void put_time(std::uint8_t *to, std::uint64_t time)
{
	const std::uint64_t fraction = ((time % kNsPerSecond) << 32) / kNsPerSecond;
	std::uint64_t stamp = (time / kNsPerSecond) << 32 | fraction;
	for (int i = 0; i < 8; ++i, stamp >>= 8)
		to[i] = static_cast<std::uint8_t>(stamp);
}

void put_header(std::uint8_t *to, const CapturedPacket &packet, std::size_t size)
{
	put_time(to, packet.time);
	to[8] = kTypeInfiniband;
	to[9] = kVaryingLength;
	put16(to + 10, static_cast<std::uint32_t>(size));
	put16(to + 14, packet.length + kVcrc);
}

/// The table of the VCRC's polynomial (7.8.2), reflected: pib_vcrc() goes bit by bit.
constexpr auto kVcrcTable = [] {
	std::array<std::uint16_t, 256> table{};
	for (std::uint32_t i = 0; i < table.size(); ++i) {
		std::uint32_t crc = i;
		for (int bit = 0; bit < 8; ++bit)
			crc = crc >> 1 ^ (crc & 1 ? 0xd008 : 0);
		table[i] = static_cast<std::uint16_t>(crc);
	}
	return table;
}();

std::uint16_t vcrc_of(View packet)
{
	std::uint32_t crc = 0xffff;
	for (const std::uint8_t byte : packet)
		crc = crc >> 8 ^ kVcrcTable[(crc ^ byte) & 0xff];
	return static_cast<std::uint16_t>(crc ^ 0xffff);
}

void put_crcs(Bytes &record)
{
	const std::uint8_t *packet = record.data() + kHeader;
	const std::size_t size = record.size() - kHeader;
	std::array<std::uint8_t, kIcrc> icrc{};
	pib_icrc_store(pib_icrc_headers(packet, size), icrc.data());
	record.insert(record.end(), icrc.begin(), icrc.end());
	const auto vcrc = vcrc_of(View(record).subspan(kHeader));
	record.push_back(static_cast<std::uint8_t>(vcrc));
	record.push_back(static_cast<std::uint8_t>(vcrc >> 8));
}

} // namespace

std::uint32_t erf_length(std::uint32_t packet)
{
	return static_cast<std::uint32_t>(kHeader) + packet + kVcrc;
}

void make_erf(const CapturedPacket &packet, Bytes &record)
{
	record.assign(kHeader, 0);
	record.insert(record.end(), packet.data.begin(), packet.data.end());
	if (packet.data.size() + kIcrc == packet.length)
		put_crcs(record);
	put_header(record.data(), packet, record.size());
}

} // namespace pib::ctl
