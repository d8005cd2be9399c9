#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What datagrams that come in by a netdev say to the network.

underlay.py NETDEV READY STOP: makes the file READY when it listens, and listens until there is a file STOP and nothing comes any more. Then prints, as JSON,
of data and of control datagrams to UDP port 18514, by IP's version, how many came with which byte TOS or Traffic Class, how many
from which UDP port and with which flow label (0: IPv4, too), and of how many IPv4 may not be fragmented (df).
"""

import collections
import json
import os
import socket
import sys

PORT = 18514
DATA, SEGMENT = 0, 5


class Seen:
    def __init__(self):
        self.tos = collections.Counter()
        self.ports = collections.Counter()
        self.labels = collections.Counter()
        self.df = 0

    def as_json(self):
        tos, ports, labels = ({str(key): n for key, n in sorted(all.items())} for all in (self.tos, self.ports, self.labels))
        return {"tos": tos, "ports": ports, "labels": labels, "count": sum(self.tos.values()), "df": self.df}


def look(packet):
    """Return: version, TOS, DF, flow label, source port, payload; None: this is no datagram for us."""
    if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_UDP:
        header, tos, df, label = (packet[0] & 15) * 4, packet[1], bool(packet[6] & 0x40), 0
        if (packet[6] & 0x1F) or packet[7]:
            return None
    elif packet[0] >> 4 == 6 and packet[6] == socket.IPPROTO_UDP:
        header, tos, df = 40, (packet[0] & 15) << 4 | packet[1] >> 4, True
        label = int.from_bytes(packet[1:4], "big") & 0xFFFFF
    else:
        return None
    udp = packet[header:]
    if len(udp) < 16 or int.from_bytes(udp[2:4], "big") != PORT:
        return None
    return packet[0] >> 4, tos, df, label, int.from_bytes(udp[:2], "big"), udp[8:]


def main():
    netdev, ready, stop = sys.argv[1:]
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    sniffer.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE: super-packets come faster than they are read
    sniffer.bind((netdev, 0))
    sniffer.settimeout(0.1)
    seen = {kind: {4: Seen(), 6: Seen()} for kind in ("data", "control")}
    with open(ready, "w"):
        pass
    while True:
        try:
            packet, address = sniffer.recvfrom(65536)
        except TimeoutError:
            if os.path.exists(stop):
                break
            continue
        if address[2] == socket.PACKET_OUTGOING or len(packet) < 20:
            continue
        found = look(packet)
        if not found:
            continue
        version, tos, df, label, port, payload = found
        one = seen["data" if payload[0] & 15 in (DATA, SEGMENT) else "control"][version]
        one.tos[tos] += 1
        one.ports[port] += 1
        one.labels[label] += 1
        one.df += df
    print(json.dumps({kind: {f"v{version}": one.as_json() for version, one in of.items()} for kind, of in seen.items()}))


main()
