// SPDX-License-Identifier: GPL-2.0
// Filters of captures: words of the command line, read into what the module is asked for.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/result.h"
#include "objects/requests.h"

namespace pib::ctl {

/// VALUE or VALUE/MASK of the field that is called name ("qp", "lid", "opcode", "class", "pkey",
/// "vl"), in any base that C knows. Opcodes and classes have names, too.
Result<CaptureMatch> parse_match(std::string_view name, std::string_view word);

} // namespace pib::ctl
