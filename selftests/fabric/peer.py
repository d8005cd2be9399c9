#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A host switch with one HCA, LID 0x1777, that joins a standalone fabric. Written from docs/wire-format.md and the IBA alone.

peer.py DEV ADDRESS KEYFILE|- COUNT
It makes a trunk to the host at ADDRESS, asks by SMPs who is there, and exchanges COUNT messages with the ibv_rc_pingpong that waits
there. It prints what it has seen.
"""
import json
import os
import select
import socket
import struct
import sys
import time
import zlib

from hostile import CONTROL_LEN
from seals import HEAD, SEALED, Sessions, authentication, key_of, sealed_up

PORT, PINGPONG = 18514, 18515
DATA, HELLO, HELLO_ACK, KEEPALIVE, BYE = 0, 1, 2, 3, 4
KEYED, STANDALONE, AUTO = 4, 8, 0x10
LINK, LID, QPN, PERMISSIVE = 0x1234, 0x1777, 0x42, 0xFFFF
SEND_ONLY, ACKNOWLEDGE, UD_SEND_ONLY = 0x04, 0x11, 0x64
GET, GET_RESP, DIRECTED, NODE_INFO, PORT_INFO, DOWN = 1, 0x81, 0x81, 0x11, 0x15, 1
MAD, MAD_DATA = 28, 64  # where a MAD begins in a packet, and its data in a MAD
ACK_REQUEST, MIGRATED, CREDITS_UNKNOWN = 1 << 31, 0x40, 31
PATIENCE = float(os.environ.get("PIB_SLOW", "1")) * 10


def icrc(packet):
    """Of a packet without a GRH, from its LRH to its pad."""
    masked = bytes([packet[0] | 0xF0]) + packet[1:12] + b"\xff" + packet[13:]
    return struct.pack("<I", zlib.crc32(masked))


def ib_packet(vl, dlid, slid, bth, rest):
    """@rest: extended headers and payload, whose length needs no pad."""
    words = (8 + len(bth) + len(rest) + 4) // 4
    packet = struct.pack("!BBHHH", vl << 4, 2, dlid, words, slid) + bth + rest
    return packet + icrc(packet)


def base_header(opcode, qpn, psn, asks=False):
    return struct.pack("!BBHII", opcode, MIGRATED, 0xFFFF, qpn, psn | (ACK_REQUEST if asks else 0))


def smp_get(path, attribute, modifier, tid):
    """By a directed route: out of port @path[0] of this node, and so on."""
    mad = struct.pack("!BBBBHBBQHHI", 1, DIRECTED, 1, GET, 0, 1, len(path), tid, attribute, 0, modifier)
    mad += struct.pack("!QHH", 0, PERMISSIVE, PERMISSIVE) + bytes(28 + 64) + (b"\0" + bytes(path)).ljust(64, b"\0") + bytes(64)
    return ib_packet(15, PERMISSIVE, PERMISSIVE, base_header(UD_SEND_ONLY, 0, tid), struct.pack("!II", 0, 0) + mad)


class Peer:
    def __init__(self, device, address, key):
        self.to, self.key = (address, PORT), key
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
        self.socket.bind(("", PORT))
        self.session, self.guid = os.urandom(8), b"\x02" + os.urandom(7)
        self.sequence = self.heard = self.counter = self.peer_id = self.tid = 0
        self.peer_session, self.peer_guid, self.peer_lids, self.is_up = bytes(8), bytes(8), [], False
        self.sessions, self.packets, self.seen, self.next_hello = Sessions(), [], {"sealed": 0, "clear": 0}, 0.0

    # ---- the session ----

    def say(self, kind):
        self.sequence += 1
        caps = STANDALONE | AUTO | (KEYED if self.key else 0)
        said = struct.pack("!BBHI", 2 << 4 | kind, 0, 0, self.peer_id) + struct.pack("!II", 0, LINK)
        said += self.session + self.peer_session + self.guid + self.guid
        said += struct.pack("!BBBBIHBBII", 0, 1, 5, 0, caps, 500, 1, 0, self.sequence, self.heard)
        said += struct.pack("!BBBBH14x64s24x", 0, 0, 0, 0, LID, b"another implementation")
        assert len(said) == CONTROL_LEN
        self.sessions.learn(said)
        self.socket.sendto(said[:160] + authentication(self.key, said) if self.key else said, self.to)

    def take_control(self, said):
        if said[160:] != (authentication(self.key, said) if self.key else bytes(16)) or said[24:32] != self.session:
            return
        kind, sequence = said[0] & 15, struct.unpack_from("!I", said, 60)[0]
        if kind == BYE:
            raise SystemExit(f"refused: {said[88:152].rstrip(bytes(1)).decode()}")
        self.peer_id, self.peer_session = struct.unpack_from("!I", said, 12)[0], said[16:24]
        self.peer_guid, self.heard, self.is_up = said[32:40], sequence, not said[51]
        self.peer_lids = struct.unpack_from(f"!{said[58]}H", said, 72)
        self.sessions.learn(said)
        if kind != KEEPALIVE:
            self.say(HELLO_ACK if kind == HELLO else KEEPALIVE)

    def hear(self, seconds):
        """Takes in what comes for so long at most, until there is a packet."""
        end = time.monotonic() + seconds
        while not self.packets and (left := end - time.monotonic()) > 0:
            if time.monotonic() >= self.next_hello:
                self.say(KEEPALIVE if self.is_up else HELLO)
                self.next_hello = time.monotonic() + 0.3
            if not select.select([self.socket], [], [], min(left, 0.1))[0]:
                continue
            said, source = self.socket.recvfrom(65535)
            if source != self.to or said[0] >> 4 != 2:
                continue
            if said[0] & 15 == DATA:
                self.take_data(said)
            elif said[0] & 15 in (HELLO, HELLO_ACK, KEEPALIVE, BYE) and len(said) == CONTROL_LEN:
                self.take_control(said)

    # ---- packets ----

    def take_data(self, said):
        self.seen["sealed" if said[1] & SEALED else "clear"] += 1
        plain = self.sessions.open(self.key, said) if self.key else said
        packet = plain[HEAD:]
        packet = packet[: 4 * (struct.unpack_from("!H", packet, 4)[0] & 0x7FF)]
        if packet[-4:] != icrc(packet[:-4]):
            raise SystemExit(f"ICRC: {packet.hex()}")
        self.packets.append(packet)

    def send(self, packet):
        self.counter += 1
        said = bytes([2 << 4 | DATA, 0]) + self.peer_session[-2:] + struct.pack("!I", self.peer_id) + packet
        if self.key:
            said = sealed_up(self.key, self.peer_session, self.session, self.counter, said)
        self.socket.sendto(said, self.to)

    def wait_for(self, is_it, what, repeat=None):
        """The first packet that @is_it, while @repeat is sent twice a second. Others are forgotten."""
        end, next_try = time.monotonic() + PATIENCE, 0.0
        while time.monotonic() < end:
            if repeat and time.monotonic() >= next_try:
                self.send(repeat)
                next_try = time.monotonic() + 0.5
            self.hear(0.1)
            while self.packets:
                if is_it(packet := self.packets.pop(0)):
                    return packet
        raise SystemExit(f"nothing came: {what}")

    # ---- what is tried ----

    def join(self):
        end = time.monotonic() + PATIENCE
        while not (self.is_up and self.peer_lids):
            if time.monotonic() > end:
                raise SystemExit("the link does not come up")
            self.hear(0.1)

    def get(self, path, attribute, modifier=0):
        self.tid += 1
        tid = struct.pack("!Q", self.tid)

        def is_answer(p):
            return p[8] == UD_SEND_ONLY and p[MAD + 3] == GET_RESP and p[MAD + 8 : MAD + 16] == tid

        request = smp_get(path, attribute, modifier, self.tid)
        answer = self.wait_for(is_answer, f"attribute {attribute:#x} of {path}", request)
        if struct.unpack_from("!H", answer, MAD + 4)[0] & 0x7FFF:
            raise SystemExit(f"attribute {attribute:#x} of {path}: {answer[MAD:].hex()}")
        return answer[MAD + MAD_DATA :]

    def node_info(self, path):
        info = self.get(path, NODE_INFO)
        return {"type": info[2], "ports": info[3], "guid": info[12:20].hex(), "port": info[36]}

    def nodes(self):
        """The neighbor, and who is at its ports that have a link."""
        first = self.node_info([1])
        others = (port for port in range(1, first["ports"] + 1) if port != first["port"])
        linked = [port for port in others if self.get([1], PORT_INFO, port)[32] & 15 > DOWN]
        return first, [self.node_info([1, port]) for port in linked]

    def pingpong(self, address, count):
        """As its client: addresses by TCP, then a message there, one back, and so on. Each is what it was told."""
        with socket.create_connection((address, PINGPONG), PATIENCE) as tcp:
            tcp.sendall(f"{LID:04x}:{QPN:06x}:{0:06x}:{0:032x}".encode() + b"\0")
            words = tcp.recv(52, socket.MSG_WAITALL).decode().split(":")
            tcp.sendall(b"done\0")
            lid, qpn, psn = (int(word, 16) for word in words[:3])
        for n in range(count):
            message = os.urandom(256)
            request = ib_packet(0, lid, LID, base_header(SEND_ONLY, qpn, n, asks=True), message)
            self.exchange(request, n, (psn + n) & 0xFFFFFF, message, lid, qpn)

    def exchange(self, request, psn, their_psn, message, lid, qpn):
        come = {}

        def is_last(p):
            if struct.unpack_from("!I", p, 12)[0] & 0xFFFFFF == QPN:
                if p[8] == ACKNOWLEDGE and struct.unpack_from("!I", p, 16)[0] & 0xFFFFFF == psn:
                    come["ack"] = p[20]
                if p[8] == SEND_ONLY and struct.unpack_from("!I", p, 16)[0] & 0xFFFFFF == their_psn:
                    come["send"] = p[20:-4]
            return len(come) == 2

        self.wait_for(is_last, f"answers to message {psn}, of {sorted(come)}", request)
        if come["ack"] & 0x60 or come["send"] != message:
            raise SystemExit(f"message {psn}: {come}")
        aeth = struct.pack("!I", CREDITS_UNKNOWN << 24 | psn + 1)
        self.send(ib_packet(0, lid, LID, base_header(ACKNOWLEDGE, qpn, their_psn), aeth))


def main():
    device, address, keyfile, count = sys.argv[1:]
    peer = Peer(device, address, b"" if keyfile == "-" else key_of(keyfile))
    peer.join()
    first, behind = peer.nodes()
    if first["guid"] != peer.peer_guid.hex():
        raise SystemExit(f"{first} is not {peer.peer_guid.hex()}")
    peer.pingpong(address, int(count))
    peer.say(BYE)
    print(json.dumps({"neighbor": first, "behind": behind, "lids": list(peer.peer_lids), **peer.seen}))


main()
