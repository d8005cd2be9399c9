// SPDX-License-Identifier: GPL-2.0
#include "tables/smp.h"

#include <fmt/format.h>

#include <algorithm>

namespace pib::ctl {
namespace {

/// The lower half of the TransactionID: ib_umad sets the upper one.
constexpr std::size_t kTransaction = PIB_MAD_TID + 4;
constexpr std::uint16_t kPermissiveLid = 0xFFFF;

} // namespace

Mad make_smp_get(const std::vector<std::uint8_t> &path, pib_sm_attr attribute,
		 std::uint32_t modifier, std::uint32_t transaction)
{
	Mad mad{};
	mad[PIB_MAD_BASE_VERSION] = 1;
	mad[PIB_MAD_CLASS] = PIB_CLASS_SM_DR;
	mad[PIB_MAD_CLASS_VERSION] = 1;
	mad[PIB_MAD_METHOD] = PIB_METHOD_GET;
	mad[PIB_MAD_HOP_CNT] = static_cast<std::uint8_t>(path.size());
	pib_put32(&mad[kTransaction], transaction);
	pib_put16(&mad[PIB_MAD_ATTR], attribute);
	pib_put32(&mad[PIB_MAD_ATTR_MOD], modifier);
	// The permissive LID at both ends: the whole way is directed.
	pib_put16(&mad[PIB_MAD_DR_SLID], kPermissiveLid);
	pib_put16(&mad[PIB_MAD_DR_DLID], kPermissiveLid);
	std::ranges::copy(path, mad.begin() + PIB_MAD_INITIAL_PATH + 1);
	return mad;
}

bool same_transaction(const Mad &a, const Mad &b)
{
	return pib_get32(&a[kTransaction]) == pib_get32(&b[kTransaction]);
}

std::uint64_t node_guid_in(const SmpData &info)
{
	constexpr std::size_t kGuid = 12;
	return pib_get64(&info[kGuid]);
}

Result<SmpData> read_smp(const Mad &answer)
{
	const unsigned int status = pib_get16(&answer[PIB_MAD_STATUS]) & ~PIB_SMP_DIRECTION;
	if (status)
		return Error{fmt::format("the switch answers with status {:#x}", status)};
	SmpData data;
	std::copy_n(answer.begin() + PIB_MAD_DATA, data.size(), data.begin());
	return data;
}

} // namespace pib::ctl
