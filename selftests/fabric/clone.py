#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""clone.py NETDEV OWN-ADDRESS ADDRESS: hears a host switch's discovery hello and sends it back to ADDRESS, five times as it is,
then five times with a session of its own."""
import socket
import struct
import sys
import time

PORT, GROUP, CONTROL_LEN, NONCE = 18514, "239.192.73.66", 176, slice(16, 24)

netdev, own, peer = sys.argv[1:4]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, netdev.encode())
s.bind(("", PORT))
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
             struct.pack("4s4si", socket.inet_aton(GROUP), socket.inet_aton(own), socket.if_nametoindex(netdev)))
s.settimeout(20)
while True:
    hello, source = s.recvfrom(2048)
    if len(hello) == CONTROL_LEN and source[0] == peer and hello[0] == 0x21 and hello[4:8] == bytes(4):
        break
clone = hello[: NONCE.start] + b"\1another" + hello[NONCE.stop :]
for datagram in (hello, clone):
    for _ in range(5):
        s.sendto(datagram, (peer, PORT))
        time.sleep(0.01)
print("echoed and cloned")
