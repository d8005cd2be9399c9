# SPDX-License-Identifier: GPL-2.0
"""rds.py echo ADDRESS | ask ADDRESS PEER [FILE]: RDS datagrams of many sizes are sent back, and compared; once, or until FILE is there."""
import os
import socket
import sys

PORT = 4711
SIZES = [1, 2, 100, 1000, 4095, 4096, 4097, 10000, 32768, 65535, 65536] * 5
END = b"the end"


def rds(address):
    s = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    s.settimeout(120)
    s.bind((address, PORT))
    return s


def echo(address):
    s = rds(address)
    data = None
    # An answer is on its way until its sender has gone: the end comes after the last one has arrived.
    while data != END:
        data, sender = s.recvfrom(1 << 20)
        if data != END:
            s.sendto(data, sender)


def ask(address, peer, until=None):
    s = rds(address)
    while True:
        for size in SIZES:
            sent = os.urandom(size)
            s.sendto(sent, (peer, PORT))
            got, _ = s.recvfrom(1 << 20)
            if got != sent:
                sys.exit(f"{size} bytes: {len(got)} came back, or other ones")
        if until is None or os.path.exists(until):
            break
    s.sendto(END, (peer, PORT))


{"echo": echo, "ask": ask}[sys.argv[1]](*sys.argv[2:])
