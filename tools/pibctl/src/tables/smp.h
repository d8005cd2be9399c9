// SPDX-License-Identifier: GPL-2.0
// SubnGet() by directed route (IBA 14.2.1.2), as bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/bytes.h"
#include "model/result.h"

namespace pib::ctl {

constexpr std::size_t kMadSize = 256;
constexpr std::size_t kSmpDataSize = 64;
using Mad = std::array<std::uint8_t, kMadSize>;
using SmpData = std::array<std::uint8_t, kSmpDataSize>;

enum class SmpAttribute : std::uint16_t {
	kNodeInfo = 0x11,
	kSwitchInfo = 0x12,
	kLinearForwarding = 0x19,
	kMulticastForwarding = 0x1B,
};

Mad make_smp_get(const std::vector<std::uint8_t> &path, SmpAttribute attribute,
		 std::uint32_t modifier, std::uint32_t transaction);
/// True if they are of one transaction. ib_umad sets the upper half of its number.
bool same_transaction(const Mad &a, const Mad &b);
/// The NodeGUID of a NodeInfo.
std::uint64_t node_guid_in(const SmpData &info);
/// The data of the answer, or the reason why it has none.
Result<SmpData> read_smp(const Mad &answer);

} // namespace pib::ctl
