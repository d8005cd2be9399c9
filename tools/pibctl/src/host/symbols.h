// SPDX-License-Identifier: GPL-2.0
// Names of functions in programs and libraries.
#pragma once

#include <cstdint>
#include <string>

namespace pib::ctl {

/// The function at an offset of an ELF file, as addresses are before it is loaded, by the table of
/// symbols, or if it was stripped by that for the linker. Empty: neither says so.
std::string function_at(const std::string &file, std::uint64_t offset);

} // namespace pib::ctl
