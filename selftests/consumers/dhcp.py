#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""dhcp.py get|renew|release DEVICE CLIENT-ID [ADDRESS SERVER]

A client of DHCP as RFC 4390 has it for InfiniBand: hardware type 32, no hardware address, answers by broadcast, a client
identifier (hexadecimal digits, with or without colons). get prints address, prefix length and server; renew asks that server
again for the same address, whose interface must have it. Neither touches the interface."""
import os
import random
import socket
import struct
import sys

HTYPE_INFINIBAND = 32
BOOTREQUEST, BOOTREPLY = 1, 2
BROADCAST = 0x8000
COOKIE = bytes.fromhex("63825363")
FORM = struct.Struct("!4B4s2H4s4s4s4s16s64s128s")
DISCOVER, OFFER, REQUEST, ACK, RELEASE = 1, 2, 3, 5, 7
MASK, WANTED, TYPE, SERVER, CLIENT, END = 1, 50, 53, 54, 61, 255
ANY = "0.0.0.0"
TRIES = 8
# For an answer; on a kernel that is slow by its nature so many times as long.
SECONDS = 4 * int(os.environ.get("PIB_SLOW", "1"))


def options(values):
    return b"".join(bytes((code, len(value))) + value for code, value in values) + bytes((END,))


def message(kind, xid, client, own=ANY, more=()):
    flags = BROADCAST if own == ANY else 0
    head = FORM.pack(BOOTREQUEST, HTYPE_INFINIBAND, 0, 0, xid, 0, flags, socket.inet_aton(own), bytes(4), bytes(4), bytes(4), b"", b"", b"")
    return head + COOKIE + options([(TYPE, bytes((kind,))), (CLIENT, client), *more])


def parse(data):
    """An answer's xid, address and options; None if it is none."""
    if len(data) < FORM.size + 4 or data[FORM.size:FORM.size + 4] != COOKIE:
        return None
    head, at, found = FORM.unpack_from(data), FORM.size + 4, {}
    if head[0] != BOOTREPLY or head[1] != HTYPE_INFINIBAND or head[2] != 0:
        return None
    while at + 1 < len(data) and data[at] != END:
        if data[at] == 0:
            at += 1
            continue
        found[data[at]] = data[at + 2:at + 2 + data[at + 1]]
        at += 2 + data[at + 1]
    return head[4], socket.inet_ntoa(head[8]), found


def ask(sock, to, packet, xid, kind):
    for _ in range(TRIES):
        sock.sendto(packet, (to, 67))
        try:
            while True:
                answer = parse(sock.recv(2048))
                if answer and answer[0] == xid and answer[2].get(TYPE) == bytes((kind,)):
                    return answer[1:]
        except socket.timeout:
            pass
    sys.exit(f"no answer of type {kind}")


def show(address, found):
    bits = bin(int.from_bytes(found[MASK], "big")).count("1")
    print(address, bits, socket.inet_ntoa(found[SERVER]))


def main(command, device, client, own=ANY, server=None):
    client = bytes.fromhex(client.replace(":", ""))
    xid = random.randbytes(4)
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    sock.bind((own, 68))
    sock.settimeout(SECONDS)
    if command == "get":
        address, found = ask(sock, "255.255.255.255", message(DISCOVER, xid, client), xid, OFFER)
        wanted = [(WANTED, socket.inet_aton(address)), (SERVER, found[SERVER])]
        show(*ask(sock, "255.255.255.255", message(REQUEST, xid, client, ANY, wanted), xid, ACK))
    elif command == "renew":
        show(*ask(sock, server, message(REQUEST, xid, client, own), xid, ACK))
    else:
        sock.sendto(message(RELEASE, xid, client, own, [(SERVER, socket.inet_aton(server))]), (server, 67))


main(*sys.argv[1:])
