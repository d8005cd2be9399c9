// SPDX-License-Identifier: GPL-2.0
#include "tables/smp.h"

#include <fmt/format.h>

#include <algorithm>

namespace pib::ctl {
namespace {

// Places in a directed route SMP.
constexpr std::size_t kStatus = 4;
constexpr std::size_t kHopCount = 7;
constexpr std::size_t kTransaction = 12;
constexpr std::size_t kAttribute = 16;
constexpr std::size_t kModifier = 20;
constexpr std::size_t kSourceLid = 32;
constexpr std::size_t kData = 64;
constexpr std::size_t kInitialPath = 128;

constexpr std::uint8_t kDirectedRoute = 0x81;
constexpr std::uint8_t kGet = 1;

void put(Mad &mad, std::size_t at, std::uint64_t value, std::size_t bytes)
{
	for (std::size_t i = 0; i < bytes; ++i)
		mad[at + i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
}

} // namespace

Mad make_smp_get(const std::vector<std::uint8_t> &path, SmpAttribute attribute,
		 std::uint32_t modifier, std::uint32_t transaction)
{
	Mad mad{};
	// Version of the base, class, version of the class, method.
	mad[0] = 1;
	mad[1] = kDirectedRoute;
	mad[2] = 1;
	mad[3] = kGet;
	mad[kHopCount] = static_cast<std::uint8_t>(path.size());
	put(mad, kTransaction, transaction, 4);
	put(mad, kAttribute, static_cast<std::uint16_t>(attribute), 2);
	put(mad, kModifier, modifier, 4);
	// The permissive LID at both ends: the whole way is directed.
	put(mad, kSourceLid, 0xFFFFFFFF, 4);
	std::ranges::copy(path, mad.begin() + kInitialPath + 1);
	return mad;
}

bool same_transaction(const Mad &a, const Mad &b)
{
	return std::equal(a.begin() + kTransaction, a.begin() + kAttribute,
			  b.begin() + kTransaction);
}

std::uint64_t node_guid_in(const SmpData &info)
{
	constexpr std::size_t kGuid = 12;
	std::uint64_t guid = 0;
	for (std::size_t i = 0; i < sizeof(guid); ++i)
		guid = guid << 8 | info[kGuid + i];
	return guid;
}

Result<SmpData> read_smp(const Mad &answer)
{
	// The highest bit of the status is the direction.
	const unsigned int status = (answer[kStatus] & 0x7Fu) << 8 | answer[kStatus + 1];
	if (status)
		return Error{fmt::format("the switch answers with status {:#x}", status)};
	SmpData data;
	std::copy_n(answer.begin() + kData, data.size(), data.begin());
	return data;
}

} // namespace pib::ctl
