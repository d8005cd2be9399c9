// SPDX-License-Identifier: GPL-2.0
// Versions of the tool and of the module.
#pragma once

#include <string>

namespace pib::ctl {

/// Two lines. Never loads the module.
std::string version_text();

} // namespace pib::ctl
