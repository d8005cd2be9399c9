# SPDX-License-Identifier: GPL-2.0
"""rds.py echo ADDRESS | ask ADDRESS PEER: RDS datagrams of many sizes are sent back, and compared."""
import os
import socket
import sys

PORT = 4711
SIZES = [1, 2, 100, 1000, 4095, 4096, 4097, 10000, 32768, 65535, 65536] * 5


def rds(address):
    s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    s.settimeout(20)
    s.bind((address, PORT))
    return s


def echo(address):
    s = rds(address)
    for _ in SIZES:
        data, sender = s.recvfrom(1 << 20)
        s.sendto(data, sender)
    # The last answer is on its way until its sender has gone.
    s.recvfrom(16)


def ask(address, peer):
    s = rds(address)
    for size in SIZES:
        sent = os.urandom(size)
        s.sendto(sent, (peer, PORT))
        got, _ = s.recvfrom(1 << 20)
        if got != sent:
            sys.exit(f"{size} bytes: {len(got)} came back, or other ones")
    s.sendto(b"end", (peer, PORT))


{"echo": echo, "ask": ask}[sys.argv[1]](*sys.argv[2:])
