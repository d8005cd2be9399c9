// SPDX-License-Identifier: GPL-2.0
// The pre-shared key of a fabric.
#pragma once

#include <string>

#include "model/bytes.h"
#include "model/result.h"

namespace pib::inline model {

/// All bytes of the file except one newline at the end.
/// Warns on standard error if everybody can read the file.
Result<Bytes> read_key_file(const std::string &path);

} // namespace pib::inline model
