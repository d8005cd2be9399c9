// SPDX-License-Identifier: GPL-2.0
// DSCPs of service levels in words: "3=46,4=34", or "none" where all are 0.
#pragma once

#include <string>
#include <string_view>

#include "model/objects.h"
#include "model/result.h"

namespace pib::inline model {

std::string format_dscp(const DscpTable &dscp);
/// Service levels that are not named have 0.
Result<DscpTable> parse_dscp(std::string_view list);

} // namespace pib::inline model
