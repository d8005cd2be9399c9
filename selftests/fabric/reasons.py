#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Datagrams that a host drops, made of those that another one sends it (docs/wire-format.md).

reasons.py NETDEV	looks at what leaves by NETDEV, and for each name on a line of standard input sends the datagram of that
			name by it, for "listen" none. Says "sent", or why not. The fabric with a key is KEYED, the open one 0.
"""
import random
import select
import socket
import struct
import sys
import time

from hostile import CONTROL_LEN, MAC_OFF, Datagram, altered, frame, listener, mac_of

KEYED = 7
SEALED, NOICRC = 2, 1
DATA, HELLO, SEGMENT, CREDIT = 0x20, 0x21, 0x25, 0x26
LINK_LEN, LRH_LEN, GRH_LEN, BTH_LEN = 8, 8, 40, 12
ACKNOWLEDGE, RESERVED_OPCODE = 0x11, 0x15  # of RC
SECONDS = 20


class Wire:
    """What was seen last of each kind: open and sealed data, hellos of both fabrics, what is said to everybody."""

    def __init__(self, netdev):
        self.socket = listener(netdev)
        self.mac = mac_of(netdev)
        self.seen = {}

    def look(self):
        self.socket.setblocking(False)
        while True:
            try:
                raw, address = self.socket.recvfrom(65535)
            except BlockingIOError:
                return
            if address[2] != socket.PACKET_OUTGOING:
                continue
            try:
                self.note(Datagram(raw))
            except (ValueError, IndexError, struct.error):
                continue

    def note(self, d):
        p = d.payload
        if p[0] == DATA:
            self.seen["sealed" if p[1] & SEALED else "data"] = d
        elif len(p) == CONTROL_LEN and p[0] >> 4 == 2 and p[0] & 15 in (1, 2, 3):
            fabric = struct.unpack("!I", p[8:12])[0]
            if p[4:8] != bytes(4):
                self.seen["keyed" if fabric == KEYED else "control"] = d
            elif p[0] == HELLO and p[12:16] == bytes(4) and fabric == 0:
                self.seen["group"] = d

    def last(self, kind):
        end = time.monotonic() + SECONDS
        while True:
            self.look()
            if kind in self.seen:
                return self.seen[kind]
            if time.monotonic() > end:
                raise LookupError(f"no datagram that is {kind} has left")
            time.sleep(0.05)

    def send(self, template, payload, source=None):
        self.socket.send(frame(template, self.mac, source or template.source, payload))


def bth(payload):
    """Where the BTH begins."""
    return LINK_LEN + LRH_LEN + (GRH_LEN if payload[LINK_LEN + 1] & 3 == 3 else 0)


def next_packet(payload, opcode):
    """The packet that would follow, of another opcode."""
    at = bth(payload) + 9
    psn = int.from_bytes(payload[at : at + 3], "big") + 1
    return altered(altered(payload, at, psn.to_bytes(3, "big")), bth(payload), bytes([opcode]))


def bad_response(payload):
    """An acknowledgement to the same queue pair with a syndrome that there is not (9.7.5.1)."""
    lrh, at = payload[LINK_LEN : LINK_LEN + LRH_LEN], bth(payload)
    lrh = altered(lrh, 4, struct.pack("!H", (LRH_LEN + BTH_LEN + 8) // 4))
    return payload[:LINK_LEN] + lrh + bytes([ACKNOWLEDGE]) + payload[at + 1 : at + BTH_LEN] + bytes([0x40, 0, 0, 0]) + bytes(4)


def half_a_frame(payload):
    """The first of two segments."""
    head = bytes([SEGMENT, payload[1] & NOICRC]) + payload[2:8]
    return head + struct.pack("!HBBHH", random.getrandbits(16), 0, 2, 256, 0xFFFF) + bytes(256)


def later(payload):
    """A sealed datagram with a counter that is yet to come."""
    counter = struct.unpack("!Q", payload[8:16])[0] + 100
    return altered(payload, 8, struct.pack("!Q", counter))


def flipped(payload):
    return payload[:-1] + bytes([payload[-1] ^ 1])


# By name: of which kind what was seen is, and what is made of it.
MADE = {
    "rx_short": ("control", lambda p: p[:1]),
    "rx_version": ("control", lambda p: bytes([0x90]) + p[1:]),
    "rx_unknown_link": ("data", lambda p: altered(p, 4, bytes(b ^ 0x5A for b in p[4:8]))),
    "rx_wrong_address": ("data", lambda p: p),
    "rx_bad_hello": ("control", lambda p: p[:100]),
    "rx_bad_authentication": ("keyed", lambda p: altered(p, MAC_OFF, random.randbytes(16))),
    "rx_bad_credits": ("control", lambda p: bytes([CREDIT]) + p[1:100]),
    "rx_malformed": ("data", lambda p: bytes([SEGMENT]) + p[1:8] + bytes(60)),
    "rx_bad_icrc": ("data", lambda p: flipped(altered(p, 1, bytes([p[1] & ~NOICRC])))),
    "rx_other_fabric": ("control", lambda p: altered(p, 8, struct.pack("!I", 77))),
    "rx_reassembly": ("data", half_a_frame),
    "rx_unsealed": ("sealed", lambda p: altered(p, 1, bytes([p[1] & ~SEALED]))),
    "rx_bad_seal": ("sealed", lambda p: flipped(later(p))),
    "rx_replayed": ("sealed", lambda p: p),
    "rx_stranger": ("group", lambda p: p),
    "rx_no_port": ("group", lambda p: altered(p, 8, struct.pack("!I", 5))),
    "response": ("data", bad_response),
    "opcode": ("data", lambda p: next_packet(p, RESERVED_OPCODE)),
}


def send(wire, name):
    kind, make = MADE[name]
    seen = wire.last(kind)
    source = None
    if name == "rx_wrong_address":
        source = flipped(seen.source)
    template = wire.last("control") if kind == "group" else seen
    wire.send(template, make(seen.payload), source)


def main():
    wire = Wire(sys.argv[1])
    with open(0, "rb", buffering=0) as names:
        while True:
            ready, _, _ = select.select([names, wire.socket], [], [])
            wire.look()
            if names not in ready:
                continue
            name = names.readline().decode().strip()
            try:
                if name != "listen":
                    send(wire, name)
                print("sent", flush=True)
            except (LookupError, OSError) as error:
                print(error, flush=True)


if __name__ == "__main__":
    main()
