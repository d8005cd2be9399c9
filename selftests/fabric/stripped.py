#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""stripped.py NETDEV: waits for a packet to all of IPoIB that this host sends, at most a minute, and sends it once more without
its GRH."""
import struct
import sys
import time

import hostile

DATA, NOICRC = 0x20, 1
ALL_OF_IPOIB = bytes.fromhex("ff12401b ffff 0000 00000000 ffffffff")  # in the default partition
LINK, LRH, GRH, BTH = 8, 8, 40, 12


def without_grh(payload):
    """The datagram's payload as it would be without the packet's GRH, or None if that is not to all of IPoIB."""
    ib = payload[LINK:]
    if payload[0] != DATA or not payload[1] & NOICRC or len(ib) < LRH + GRH + BTH or ib[1] & 3 != 3:
        return None
    if ib[LRH + GRH - 16 : LRH + GRH] != ALL_OF_IPOIB:
        return None
    length = struct.unpack("!H", ib[4:6])[0] - GRH // 4
    lrh = ib[:1] + bytes([ib[1] & ~1]) + ib[2:4] + struct.pack("!H", length) + ib[6:8]
    return payload[:LINK] + lrh + ib[LRH + GRH :]


netdev = sys.argv[1]
own_mac = hostile.mac_of(netdev)
s = hostile.listener(netdev)
s.settimeout(1)
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        seen = hostile.Datagram(s.recv(65535))
    except (TimeoutError, ValueError, IndexError, struct.error):
        continue
    forged = without_grh(seen.payload) if seen.eth[6:12] == own_mac else None
    if forged:
        s.send(hostile.frame(seen, own_mac, seen.source, forged))
        sys.exit(0)
sys.exit("stripped.py: nothing was sent to all of IPoIB")
