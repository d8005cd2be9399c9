// SPDX-License-Identifier: GPL-2.0
// SubnGet() by directed route (IBA 14.2.1.2), as bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/bytes.h"
#include "model/result.h"

extern "C" {
#include "kernel/proto/mad.h"
}

namespace pib::ctl {

constexpr std::size_t kMadSize = 256;
using Mad = std::array<std::uint8_t, kMadSize>;
using SmpData = std::array<std::uint8_t, PIB_SMP_DATA_LEN>;

Mad make_smp_get(const std::vector<std::uint8_t> &path, pib_sm_attr attribute,
		 std::uint32_t modifier, std::uint32_t transaction);
/// True if they are of one transaction. ib_umad sets the upper half of its number.
bool same_transaction(const Mad &a, const Mad &b);
/// The NodeGUID of a NodeInfo.
std::uint64_t node_guid_in(const SmpData &info);
/// The data of the answer, or the reason why it has none.
Result<SmpData> read_smp(const Mad &answer);

} // namespace pib::ctl
