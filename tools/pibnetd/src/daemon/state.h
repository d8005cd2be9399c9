// SPDX-License-Identifier: GPL-2.0
// State that outlives a restart: which peer had which port.
#pragma once

#include <string>
#include <vector>

#include "core/core.h"

namespace pib::netd {

/// A file that is not there holds nothing.
Result<std::vector<Reservation>> read_state(const std::string &path);
/// The file is replaced as a whole.
Status write_state(const std::string &path, const std::vector<Reservation> &all);

} // namespace pib::netd
