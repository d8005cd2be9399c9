// SPDX-License-Identifier: GPL-2.0
// Packets whose ICRC is left out need a UDP checksum (docs/wire-format.md, "DATA"). A program is not
// told whether a datagram had one, so the kernel looks.
#pragma once

namespace pib::netd {

/// Of DATA and SEGMENT with NOICRC that are not sealed and have no UDP checksum, the socket gives
/// out the link header alone. Returns whether the socket takes the filter, else errno says why.
bool attach_checksum_filter(int fd);

} // namespace pib::netd
