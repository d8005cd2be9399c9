// SPDX-License-Identifier: GPL-2.0
// Rates as JSON. Its keys are API.
#pragma once

#include <string>

#include "watch/rates.h"

namespace pib::ctl {

/// One line, without its end. time: seconds since 1970 at the end of the interval.
std::string rates_json(const Rates &rates, double time);

} // namespace pib::ctl
