// SPDX-License-Identifier: GPL-2.0
// Files of tracefs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace pib::ctl {

/// Of errno: "cannot open PATH: ...".
Error trace_error(std::string_view doing, const std::string &path);

/// By one write: that is how files of tracefs take it.
Status write_file(const std::string &path, std::string_view text);

/// Empty if it cannot be read.
std::string read_file(const std::string &path);

/// In order; none if there is no such folder.
std::vector<std::string> names_in(const std::string &path);

} // namespace pib::ctl
