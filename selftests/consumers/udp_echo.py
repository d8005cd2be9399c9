#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Datagrams of many lengths there and back: "server ADDRESS" echoes them, "client ADDRESS" sends each until it comes
# back as it was, five times at most. The kernel drops those whose checksum is wrong.
import random
import socket
import sys

PORT = 7001
LENGTHS = [*range(0, 64), *range(64, 2017, 61), 2015, 2016, 5001]


def open_socket(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


def server(address):
    s = open_socket(address)
    s.bind((address, PORT))
    while True:
        data, peer = s.recvfrom(65536)
        s.sendto(data, peer)


def echoed(s, address, data):
    for _ in range(5):
        s.sendto(data, (address, PORT))
        try:
            while True:
                got = s.recv(65536)
                if got == data:
                    return True
                if len(got) == len(data):
                    print(f"other bytes came back, of {len(data)}")
                    return False
        except socket.timeout:
            pass
    print(f"{len(data)} bytes do not come back")
    return False


def client(address):
    s = open_socket(address)
    s.settimeout(2)
    return all(echoed(s, address, random.randbytes(n)) for n in LENGTHS)


if __name__ == "__main__":
    if sys.argv[1] == "server":
        server(sys.argv[2])
    sys.exit(0 if client(sys.argv[2]) else 1)
