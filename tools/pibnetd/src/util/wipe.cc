// SPDX-License-Identifier: GPL-2.0
#include "util/wipe.h"

#include <string.h>

#include <cstddef>

namespace pib::netd {
namespace {

/// The dynamic linker saves the vector registers there when a function is first called: 2.5 KiB.
constexpr std::size_t kDepth = 4096;

} // namespace

// In the stack itself: a sanitizer would put the bytes elsewhere.
__attribute__((noinline, no_sanitize("address"))) void wipe_stack()
{
	char below[kDepth];
	::explicit_bzero(below, sizeof(below));
}

} // namespace pib::netd
