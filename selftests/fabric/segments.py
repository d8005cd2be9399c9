#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""segments.py NETDEV SECONDS: waits for a segment that this host sends and then sends, after it, one byte of the last segment of
ever new frames; prints how many."""
import struct
import sys
import time

import hostile

netdev, seconds = sys.argv[1], float(sys.argv[2])
own_mac = hostile.mac_of(netdev)
s = hostile.listener(netdev)
while True:
    try:
        seen = hostile.Datagram(s.recv(65535))
    except (ValueError, IndexError, struct.error):
        continue
    if seen.eth[6:12] == own_mac and seen.payload[:1] == b"\x25":
        break
sent = 0
end = time.monotonic() + seconds
while time.monotonic() < end:
    head = seen.payload[:8] + struct.pack("!HBBHH", sent & 0xFFFF, 63, 64, 1023, 0xFFFF)
    try:
        s.send(hostile.frame(seen, own_mac, seen.source, head + b"x"))
    except OSError:  # the queue of the netdev is full
        continue
    sent += 1
print(sent)
