// SPDX-License-Identifier: GPL-2.0
// Wiping of keys that a library's functions leave on the stack.
#pragma once

namespace pib::netd {

/// Wipes the stack below the caller's frame: what functions had there that have returned. It is more
/// than nettle's for HMAC and ChaCha20-Poly1305 need, and what calls them.
void wipe_stack();

} // namespace pib::netd
