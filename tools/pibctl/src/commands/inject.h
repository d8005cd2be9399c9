// SPDX-License-Identifier: GPL-2.0
// The words of "pibctl inject", for callers that have them from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"
#include "objects/requests.h"

namespace pib::ctl {

/// The words that stand behind "pibctl inject".
Result<Injection> parse_injection(const std::vector<std::string> &words);

} // namespace pib::ctl
