#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/wireshark/pib.lua beside another reader of docs/wire-format.md, which is here.

make FILE	write datagrams of each kind, good and bad ones, as a capture
keyed FILE KEYFILE KEYFILE	write datagrams of a keyed fabric that exchanges its key
read LUA FILE [KEYFILE]...	compare what the dissector says of FILE, a capture of Ethernet, with what is in it; print how many values
		each field has
marks LUA FILE	compare what the dissector finds wrong in the datagrams of make with what is wrong in them
harm LUA FILE SEED [KEYFILE]...	let the dissector read 400 copies of packets of FILE, cut and damaged: it may say what it likes, but for errors of Lua
"""
import collections
import json
import os
import random
import socket
import struct
import subprocess
import sys
import zlib

from hostile import CONTROL_LEN, ETH_IP, ETH_IPV6, PORT, VERSION, Datagram, checksum, frame
from seals import Sessions, authentication, key_of, sealed_up

DATA, HELLO, HELLO_ACK, KEEPALIVE, BYE, SEGMENT, CREDIT, PING, PONG = 0, 1, 2, 3, 4, 5, 6, 14, 15
NOICRC, SEALED = 1, 2
HEAD, SEGMENT_HEAD, SEAL_HEAD, LRH, GRH, BTH, ICRC = 8, 16, 16, 8, 40, 12, 4
STALE_US = 100000
WRONG, RIGHT, NOT_COMPUTED = 0, 1, 2
CLOSED, OPENED, NOT_TRIED = 0, 1, 2
MALFORMED = "bad_type bad_length bad_value bad_packet".split()
MARKS = [*MALFORMED, "bad_version", "bad_icrc", "no_checksum", "trailing", "bad_key", "lost", "cut"]
LATE = 150  # ms
PATIENCE = 200 * int(os.environ.get("PIB_SLOW", "1"))

# ---- captures: the old format of pcap, in the machine's own order ----


def load(path):
    """Time in us, bytes, length before it was cut."""
    with open(path, "rb") as file:
        raw = file.read()
    magic, link = struct.unpack("I", raw[:4])[0], struct.unpack("I", raw[20:24])[0]
    if magic != 0xA1B2C3D4 or link != 1:
        sys.exit(f"{path}: not a capture of Ethernet, or in another order of bytes")
    at, packets = 24, []
    while at < len(raw):
        seconds, us, have, length = struct.unpack("IIII", raw[at : at + 16])
        packets.append((seconds * 1000000 + us, raw[at + 16 : at + 16 + have], length))
        at += 16 + have
    return packets


def save(path, packets):
    """Time in us, bytes, length before it was cut."""
    with open(path, "wb") as file:
        file.write(struct.pack("IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for time, raw, length in packets:
            file.write(struct.pack("IIII", time // 1000000, time % 1000000, len(raw), length) + raw)


# ---- making ----


def head(kind, flags=0, tag=0, link_id=0):
    return struct.pack("!BBHI", VERSION << 4 | kind, flags, tag, link_id)


def control(kind, to=0, **fields):
    v = {"fabric": 7, "link_id": 0x51, "session": 0x1122334455667788, "peer_session": 0, "node_guid": 0x0200C0FFEE000001,
         "port_guid": 0x0200C0FFEE000002, "port": 1, "role": 1, "mtu": 5, "down": 0, "capabilities": 0xD3, "keepalive": 500,
         "width": 2, "sequence": 9, "acknowledged": 4, "speed": 7, "extended_speed": 1, "refusal": 0, "lid": (),
         "description": b"a host", "padded": 0, "probe": 0, "came": 0, "authentication": bytes(16)}
    v.update(fields)
    lids = b"".join(struct.pack("!H", lid) for lid in v["lid"])
    return (head(kind, link_id=to)
            + struct.pack("!IIQQQQBBBBIHBBIIBBBx", v["fabric"], v["link_id"], v["session"], v["peer_session"], v["node_guid"],
                          v["port_guid"], v["port"], v["role"], v["mtu"], v["down"], v["capabilities"], v["keepalive"],
                          fields.get("lids", len(v["lid"])), v["width"], v["sequence"], v["acknowledged"], v["speed"],
                          v["extended_speed"], v["refusal"])
            + lids.ljust(16, b"\0") + v["description"].ljust(64, b"\0")
            + struct.pack("!HHHxx", v["padded"], v["probe"], v["came"]) + v["authentication"]).ljust(v["padded"], b"\0")


def icrc_of(packet):
    """Of LRH to the end of the pad."""
    masked = bytearray(packet)
    bth = LRH
    if packet[1] & 3 == 3:
        masked[:LRH] = b"\xff" * LRH
        masked[LRH] |= 15
        masked[LRH + 1 : LRH + 4] = b"\xff" * 3
        masked[LRH + 7] = 0xFF
        bth += GRH
    else:
        masked[0] |= 0xF0
    masked[bth + 4] = 0xFF
    return struct.pack("<I", zlib.crc32(masked))


def ib(opcode, psn, payload=b"", grh=False, noicrc=False, more=b"", lids=(3, 4), dqpn=0x123456, vl=0):
    pad = -len(payload) % 4
    rest = struct.pack("!BBHII", opcode, pad << 4, 0xFFFF, dqpn, psn) + more + payload + bytes(pad)
    if grh:
        gid = struct.pack("!QQ", 0xFE80 << 48, 1) + struct.pack("!QQ", 0xFE80 << 48, 2)
        rest = struct.pack("!IHBB", 6 << 28, len(rest) + ICRC, 0x1B, 63) + gid + rest
    lrh = struct.pack("!BBHHH", vl << 4, 3 if grh else 2, lids[1], (LRH + len(rest) + ICRC) // 4, lids[0])
    return lrh + rest + (bytes(ICRC) if noicrc else icrc_of(lrh + rest))


def data(packet, noicrc=False, tag=0xABCD, link_id=0x51):
    return head(DATA, NOICRC if noicrc else 0, tag, link_id) + packet


def segments(bytes_, number, size, noicrc=False, tag=0xABCD):
    """A frame's datagrams. The first packet that starts in each part is found by the lengths in the LRHs."""
    starts, at = [], 0
    while at < len(bytes_):
        starts.append(at)
        at += (struct.unpack("!H", bytes_[at + 4 : at + 6])[0] & 0x7FF) * 4
    total = -(-len(bytes_) // size)
    made = []
    for i in range(total):
        first = min((s - i * size for s in starts if i * size <= s < (i + 1) * size), default=0xFFFF)
        made.append(head(SEGMENT, NOICRC if noicrc else 0, tag, 0x51) + struct.pack("!HBBHH", number, i, total, size, first)
                    + bytes_[i * size : (i + 1) * size])
    return made


def credit(**fields):
    v = {"sequence": 3, "answers": 0, "session": 0x42, "peer_session": 0x43, "flags": 0, "vl": 0, "taken": (), "authentication": bytes(16)}
    v.update(fields)
    return (head(CREDIT, link_id=0x51) + struct.pack("!IIQQBB2x", v["sequence"], v["answers"], v["session"], v["peer_session"], v["flags"], v["vl"])
            + b"".join(struct.pack("!I", n) for n in v["taken"]).ljust(124, b"\0") + v["authentication"])


def sealed(kind, counter, length, chance, link_id=0x51):
    return head(kind, SEALED | NOICRC, 0xABCD, link_id) + struct.pack("!Q", counter) + chance.randbytes(length + 16)


def ping(kind, flags=0, length=48):
    made = struct.pack("!BBxxIQQIB3B", VERSION << 4 | kind, flags, 5, 0x99, 1234567, 7, 2, 0, 5, 1) + bytes(16)
    return made.ljust(length, b"x")


def with_byte(payload, at, value):
    return payload[:at] + bytes([value]) + payload[at + 1 :]


SHORT = b"hello, this is a message for somebody"


# A datagram, or a super-packet, and what is wrong with it: @ms: when it comes; @checksum: "right", "sum" (that of a super-packet,
# which a netdev is to complete) or "none"; @cut: so many of its bytes are captured; @back: it goes the other way.
Row = collections.namedtuple("Row", "ms payload marks checksum cut back", defaults=((), "right", None, False))


def super_packet(ms, *datagrams, marks=(), **more):
    return Row(ms, b"".join(datagrams), marks, "sum", **more)


def good_ones():
    chance = random.Random(5)
    deth = struct.pack("!II", 0x80010000, 0x777)
    yield Row(0, control(HELLO, link_id=0, port=0, capabilities=0x10))
    yield Row(0, control(HELLO, link_id=0, port=0, capabilities=0x20))
    yield Row(0, control(HELLO_ACK, 0x77, sequence=1, down=1, peer_session=0x42, link_id=0x99, session=0x4321))
    echo = control(KEEPALIVE, 0x99, peer_session=0x4321, lid=(1, 0xBFFF, 7), description=b"x" * 64, authentication=b"k" * 16)
    yield Row(0, echo)  # from its own sender it is no echo
    yield Row(0, echo, back=True)
    yield Row(0, control(KEEPALIVE, 0x77, padded=1400, probe=3, capabilities=0x4C3))
    yield super_packet(0, control(KEEPALIVE, 0x77, padded=1400, probe=4), control(HELLO, 0x77, came=0xFFFF))
    yield Row(0, control(BYE, 0x77, refusal=3, description="schlüssel\x01".encode()))
    yield Row(0, control(BYE, 0x77, description=b""))
    yield Row(0, data(ib(4, 17, SHORT)))
    yield Row(0, data(ib(4, 0xFFFFFF, SHORT, noicrc=True), noicrc=True))
    yield Row(0, data(ib(0x64, 18, b"datagram", grh=True, more=deth)))
    yield Row(0, data(ib(0x11, 19, more=struct.pack("!BBH", 0x1F, 0, 5))))
    packets = b"".join(ib(op, 20 + i, chance.randbytes(2048)) for i, op in enumerate((0, 1, 1, 2)))
    made = segments(packets, 0xFFFF, 1400)
    for m in made[:2] + made[3:] + made[2:3]:  # in disorder, one of them twice
        yield Row(1, m)
    yield Row(1, made[2])
    yield Row(2, segments(packets, 0, 9000)[0])
    part = segments(packets, 1, 1400)
    for m in part[:2] + part[3:] + part[2:3]:
        yield Row(3, m)
    yield Row(LATE, part[0], ["lost"])  # another frame, of which nothing else comes
    for m in segments(packets, 2, 1400, noicrc=True):
        yield Row(200, m)
    yield super_packet(200, *segments(packets, 3, 1400))
    middle = [data(ib(1, i, bytes(1024), noicrc=True), noicrc=True) for i in range(30, 40)]
    yield super_packet(200, *middle, data(ib(2, 40, SHORT, noicrc=True), noicrc=True))
    yield super_packet(200, *middle, control(KEEPALIVE, 0x51))
    yield super_packet(200, control(HELLO), control(HELLO), data(ib(4, 17, SHORT)))
    yield super_packet(201, *(sealed(DATA, i, 300, chance) for i in range(65530, 65540)), sealed(DATA, 65540, 40, chance))
    yield Row(201, sealed(SEGMENT, 65541, 1400, chance))
    yield Row(202, credit(flags=5, taken=(5, 0, 0xFFFFFFFF)))
    yield Row(202, credit(flags=2, answers=3, vl=14, taken=range(15), authentication=b"k" * 16), back=True)
    yield super_packet(202, credit(), credit(sequence=4), data(ib(4, 17, SHORT)))
    yield Row(202, ping(PING, 1))
    yield Row(202, ping(PONG, 7, 1400))


def datagram_like_ones():
    """What looks like several datagrams, and came as one; what is larger looks like less."""
    packet = data(ib(4, 17, SHORT))
    for how in ("right", "none"):
        yield Row(300, control(HELLO) * 2, ["bad_length"], how)
        yield Row(300, packet * 2, ["trailing"], how)
        yield Row(300, segments(ib(4, 18, bytes(1000)), 11, 600)[0] * 2, ["bad_value"], how)
    yield super_packet(300, packet, data(ib(4, 18, bytes(200))), marks=["trailing"])


def frames():
    """Frames whose segments do not agree."""
    chance = random.Random(7)
    packets = b"".join(ib(op, 50 + i, chance.randbytes(1024), noicrc=True) for i, op in enumerate((0, 1, 2)))
    made = segments(packets, 20, 1400, noicrc=True)
    other = made[0][:-4] + b"????"
    for m in (made[0], other, *made[1:]):  # the first one counts
        yield Row(400, m)
    yield Row(400, other, ["lost"])  # the frame is whole: this is of another one
    first, *rest, last = segments(packets, 21, 1400, noicrc=True)
    yield Row(401, first, checksum="none")
    for m in rest:
        yield Row(401, m)
    yield Row(401, first)
    yield Row(401, last, ["no_checksum"])
    first, *rest = segments(packets, 22, 1400, noicrc=True)
    yield Row(402, first)
    yield Row(402, first, checksum="none")  # nobody takes it in
    for m in rest:
        yield Row(402, m)


def nested_ones():
    """Packets whose payload Wireshark gives to its dissectors of IP and UDP, and those to pib's."""
    def inside(*datagrams):
        return b"".join(ib(4, i, b"\x08\0\0\0" + framed(d)[14:]) for i, d in enumerate(datagrams))
    leaf = segments(ib(4, 17, SHORT), 30, 4000)[0]
    yield Row(500, data(inside(leaf)))
    yield Row(500, segments(inside(leaf), 30, 4000)[0])
    yield Row(500, segments(inside(leaf, leaf), 30, 4000)[0])
    yield Row(500, segments(inside(segments(inside(leaf), 30, 4000)[0]), 30, 4000)[0])


def cut_ones():
    """Of a super-packet whose beginning alone was captured, nobody knows where its datagrams end."""
    chance = random.Random(8)
    middle = [data(ib(1, i, bytes(1024))) for i in range(3)]
    for cut in (1, 9, 16, 60, 86):
        yield super_packet(600, *middle, marks=["cut"], cut=cut)
        yield super_packet(600, *segments(b"".join(m[HEAD:] for m in middle), 40, 1400), marks=["cut"], cut=cut)
        yield super_packet(600, *(sealed(DATA, i, 300, chance, 0x53) for i in (9, 10, 11)), marks=["cut"], cut=cut)
        yield super_packet(600, control(HELLO), control(HELLO), marks=["cut"], cut=cut)
        yield Row(600, control(HELLO), ["cut"], cut=cut)
        yield Row(600, segments(middle[0][HEAD:], 41, 600)[0], ["cut"], cut=cut)
    yield super_packet(600, *middle, marks=["cut"], cut=1500)
    yield Row(600, middle[0] + bytes(4), ["trailing", "cut"], cut=86)


def rows():
    """Times in us, rows, whether they are of IPv6."""
    for v6 in (False, True):
        for ones in (good_ones, datagram_like_ones, frames, nested_ones, cut_ones):
            for row in ones():
                yield row.ms * 1000, row, v6
    for i, (mark, payload) in enumerate(bad_ones()):
        yield 1000000 + i * 1000000, Row(0, payload, [mark]), False
    yield 99000000, Row(0, data(ib(4, 1, SHORT, noicrc=True), noicrc=True), ["no_checksum"], "none"), False


def bad_ones():
    """What is wrong, datagrams."""
    chance = random.Random(6)
    good = data(ib(4, 17, SHORT))
    yield "bad_version", b"\x10" + bytes(100)
    yield "bad_version", b"\x00"
    yield "bad_length", b"\x20\x00\x00"
    yield "bad_type", head(7) + bytes(100)
    yield "bad_length", credit()[:-1]
    yield "bad_length", credit() + bytes(4)
    yield "bad_length", control(HELLO)[:100]
    yield "bad_length", control(HELLO) + bytes(4)
    yield "bad_length", control(KEEPALIVE, padded=1400, probe=3)[:-1]
    yield "bad_length", control(HELLO, padded=1400, probe=3)
    yield "bad_value", control(HELLO, session=0)
    yield "bad_value", control(HELLO, role=3)
    yield "bad_value", control(HELLO, mtu=6)
    yield "bad_value", control(HELLO, down=2)
    yield "bad_value", control(HELLO, port=255)
    yield "bad_value", control(HELLO, keepalive=15001)
    yield "bad_value", control(HELLO, lids=9)
    yield "bad_value", control(HELLO, lid=(0xC000,))
    yield "bad_value", control(HELLO, role=2, capabilities=0x10)
    yield "bad_packet", good[:20]
    yield "bad_packet", with_byte(good, 8, 1)
    yield "bad_packet", with_byte(good, 9, 1)
    yield "bad_packet", with_byte(good, 13, 5)
    yield "bad_packet", with_byte(good, 13, 0xFF)
    yield "bad_packet", good[:-4]
    yield "bad_icrc", with_byte(good, 16 + 12, 0x55)
    yield "bad_icrc", with_byte(data(ib(4, 17, SHORT, grh=True)), 16 + 40 + 12, 0x55)
    yield "trailing", good + bytes(4)
    frame_ = segments(ib(4, 17, bytes(1000)), 9, 600)
    yield "bad_length", frame_[0][:16]
    yield "bad_value", frame_[0][:-1]
    yield "bad_value", with_byte(frame_[0], 11, 0)
    yield "bad_value", with_byte(frame_[0], 11, 65)
    yield "bad_value", with_byte(frame_[0], 10, 2)
    yield "bad_value", with_byte(frame_[0], 12, 0xFF)
    yield "bad_value", with_byte(frame_[0][:16 + 100], 12, 0)
    yield "lost", frame_[0]
    yield "bad_packet", segments(with_byte(ib(4, 18, bytes(1000)), 0, 1), 10, 2000)[0]
    yield "bad_length", sealed(DATA, 5, 0, chance, 0x52)
    yield "bad_value", sealed(DATA, 0, 50, chance, 0x52)
    yield "bad_length", ping(PING)[:47]


def template(v6=False):
    """The headers of a datagram from one host to another."""
    t = Datagram.__new__(Datagram)
    t.family = ETH_IPV6 if v6 else ETH_IP
    t.to = socket.inet_pton(socket.AF_INET6, "fd77::2") if v6 else bytes([10, 77, 0, 2])
    t.eth = b"\x02\0\0\0\0\x02" + b"\x02\0\0\0\0\x01" + struct.pack("!H", t.family)
    return t


def framed(payload, v6=False, summed="right", back=False):
    t = template(v6)
    source = t.to[:-1] + b"\x01"
    if back:
        source, t.to = t.to, source
    raw, at = frame(t, b"\x02\0\0\0\0\x01", source, payload), 60 if v6 else 40
    if summed == "right":
        return raw
    return raw[:at] + (incomplete(source, t.to, len(payload)) if summed == "sum" else bytes(2)) + raw[at + 2 :]


def incomplete(source, to, length):
    """The UDP checksum that a netdev is to complete."""
    return struct.pack("!H", ~checksum(source + to + struct.pack("!II", 8 + length, 17)) & 0xFFFF)


def save_rows(path, rows_):
    packets = []
    for time, row, v6 in rows_:
        raw = framed(row.payload, v6, row.checksum, row.back)
        packets.append((time, raw if row.cut is None else raw[: len(raw) - len(row.payload) + row.cut], len(raw)))
    save(path, packets)


def make(path):
    save_rows(path, rows())


def keyed_rows(*keys):
    """The control datagrams of a link are by the key of their sender's session, what is sealed by that of its sender's."""
    mine, its, chance = struct.pack("!Q", 0x1111), struct.pack("!Q", 0x2222), random.Random(9)

    def said(key, link_id, damage=0):
        told = control(KEEPALIVE, 0x99, link_id=link_id, session=0x1111, peer_session=0x2222)
        right = authentication(key, told)
        return told[:160] + bytes([right[0] ^ damage]) + right[1:] + told[176:]

    def sealed_packet(key, counter, link_id=0x51, payload=SHORT):
        plain = data(ib(4, counter & 0xFFFFFF, payload, noicrc=True), noicrc=True, link_id=link_id)
        return sealed_up(key, mine, its, counter, plain)

    one, two = keys
    yield Row(0, sealed_packet(one, 1))  # before its sessions are named
    yield Row(1, said(one, 0x71, damage=1))
    yield Row(1, sealed_packet(one, 1, 0x71))
    yield Row(2, said(one, 0x51))
    for link_id, counter in enumerate((65535, 65536, 131072, 1 << 40, (1 << 64) - 1), 0x100):
        yield Row(2, said(one, link_id))
        yield Row(2, sealed_packet(one, counter, link_id))
    yield Row(3, said(two, 0x61))
    for key in keys:
        yield Row(3, sealed_packet(key, 3, 0x61))
    good = sealed_packet(one, 2)
    for at in (1, 2, 4, 15, 16, len(good) - 1):
        yield Row(3, with_byte(good, at, good[at] ^ 4))
    yield Row(3, good, cut=len(good) - 1)
    yield super_packet(3, *(sealed_packet(one, i) for i in range(3, 9)))
    frame_ = segments(b"".join(ib(op, 20 + i, chance.randbytes(2048)) for i, op in enumerate((0, 1, 1, 2))), 7, 1400)
    made = [sealed_up(one, mine, its, i, part) for i, part in enumerate(frame_, 9)]
    for datagram in made[:2] + made[3:] + made[2:3]:
        yield Row(4, datagram)
    other = segments(b"".join(ib(4, 30 + i, chance.randbytes(2048)) for i in range(3)), 8, 1400)
    yield super_packet(5, *(sealed_up(two, mine, its, i, part) for i, part in enumerate(other, 1)))
    small = [head(kind, link_id=0x51) + chance.randbytes(length) for kind in (DATA, SEGMENT) for length in (1, 7, 8, 9, 40)]
    for counter, plain in enumerate(small, 9 + len(made)):
        yield Row(6, sealed_up(one, mine, its, counter, plain))


def keyed(path, *keyfiles):
    save_rows(path, ((row.ms * 1000, row, v6) for v6 in (False, True) for row in keyed_rows(*map(key_of, keyfiles))))


# ---- reading ----


def layout(text):
    """Name, offset, length and mask of each field."""
    for line in text.split(","):
        name, at, length, *mask = line.split()
        yield name, int(at), int(length), int(*mask or ["ff" * int(length)], 16)


LINK = [*layout("version 0 1 f0, type 0 1 0f, flags 1 1, flags.noicrc 1 1 1, flags.sealed 1 1 2, tag 2 2, link_id 4 4")]
CONTROL = [*layout("fabric 8 4, link_id 12 4, session 16 8, peer_session 24 8, node_guid 32 8, port_guid 40 8, port 48 1, role 49 1,"
                   "mtu 50 1, down 51 1, capabilities 52 4, capabilities.noicrc 52 4 1, capabilities.segment 52 4 2,"
                   "capabilities.keyed 52 4 4, capabilities.standalone 52 4 8, capabilities.auto 52 4 10,"
                   "capabilities.probe 52 4 20, capabilities.ecn 52 4 40, capabilities.flows 52 4 80,"
                   "capabilities.flow_probe 52 4 100, capabilities.flows_come 52 4 200, capabilities.padded 52 4 400,"
                   "capabilities.windows 52 4 800,"
                   "keepalive 56 2, lids 58 1, width 59 1, sequence 60 4,"
                   "acknowledged 64 4, speed 68 1, extended_speed 69 1, refusal 70 1, padded 152 2, probe 154 2, came 156 2")]
CREDITS = [*layout("sequence 8 4, answers 12 4, session 16 8, peer_session 24 8, flags 32 1, flags.asks 32 1 1, flags.answers 32 1 2, flags.shared 32 1 4, vl 33 1")]
SEGMENTS = [*layout("frame 8 2, index 10 1, total 11 1, size 12 2, first 14 2")]
PINGS = [*layout("flags.keyed 1 1 1, flags.authentic 1 1 2, flags.served 1 1 4, sequence 4 4, run 8 8, time 16 8, fabric 24 4,"
                 "software 28 1, major 29 1, minor 30 1, patch 31 1")]
BYTES = "hello.authentication credit.authentication segment.data seal.encrypted seal.authentication ping.authentication".split()
TEXTS = ["pib." + name for name in (*BYTES, "hello.description")]
NUMBERS = [f"pib.{group}{name}" for group, fields_ in (("", LINK), ("hello.", CONTROL), ("credit.", CREDITS), ("segment.", SEGMENTS),
                                                     ("ping.", PINGS))
           for name, *_ in fields_]
NUMBERS += ["pib." + name for name in "hello.lid credit.taken hello.cookie hello.cookie_in segment.whole_in seal.counter seal.status packet.length "
            "packet.icrc packet.icrc_status".split()]
OTHERS = ["infiniband." + name for name in "lrh.dlid lrh.slid bth.opcode bth.destqp bth.psn deth.srcqp".split()]


class Frame:
    def __init__(self, time):
        self.time, self.parts, self.whole_in, self.waiting = time, {}, None, []


class Reader:
    """What is in a capture, packet by packet: a list of values for each field."""

    def __init__(self, keys, sessions):
        self.frames, self.cookies, self.number = {}, {}, 0
        self.keys, self.sessions = keys, sessions

    def show(self, found, group, fields_, p):
        for name, at, length, mask in fields_:
            if at + length <= len(p):
                value = int.from_bytes(p[at : at + length], "big") & mask
                found[f"pib.{group}{name}"].append(value // (mask & -mask))

    def show_bytes(self, found, name, p, at, till):
        if p[at:till]:
            found["pib." + name].append(p[at:till].hex())

    def packet(self, found, p, left, noicrc):
        """Return: the packet's length; 0: it is none. @left: so many bytes there would be, uncut."""
        if left < LRH + BTH + ICRC or len(p) < LRH:
            return 0
        length = (struct.unpack("!H", p[4:6])[0] & 0x7FF) * 4
        grh = p[1] & 3 == 3
        if p[0] & 15 or p[1] & 3 < 2 or not LRH + BTH + ICRC + grh * GRH <= length <= left:
            return 0
        found["pib.packet.length"].append(length)
        if len(p) < length:
            return length
        bth, icrc = LRH + grh * GRH, p[length - ICRC : length]
        status = NOT_COMPUTED if noicrc else RIGHT if icrc_of(p[: length - ICRC]) == icrc else WRONG
        found["pib.packet.icrc"].append(int.from_bytes(icrc, "big"))
        found["pib.packet.icrc_status"].append(status)
        found["infiniband.lrh.dlid"].append(struct.unpack("!H", p[2:4])[0])
        found["infiniband.lrh.slid"].append(struct.unpack("!H", p[6:8])[0])
        found["infiniband.bth.opcode"].append(p[bth])
        found["infiniband.bth.destqp"].append(int.from_bytes(p[bth + 5 : bth + 8], "big"))
        found["infiniband.bth.psn"].append(int.from_bytes(p[bth + 9 : bth + 12], "big"))
        if p[bth] >> 5 == 3:
            found["infiniband.deth.srcqp"].append(int.from_bytes(p[bth + 17 : bth + 20], "big"))
        return length

    def segment(self, found, mark, time, p, length):
        """Of an open fabric."""
        self.show(found, "segment.", SEGMENTS, p)
        self.show_bytes(found, "segment.data", p, SEGMENT_HEAD, length)
        if len(p) < length or length <= SEGMENT_HEAD:
            return
        number, index, total, size, _ = struct.unpack("!HBBHH", p[8:16])
        part = p[16:]
        if not 1 <= total <= 64 or index >= total or size * total > 0xFFFF or (total > 1 and size < 256) or \
                len(part) > size or (index + 1 < total and len(part) < size):
            return
        key = (mark, p[:8], number, total, size)
        f = self.frames.get(key)
        if not f or time - f.time > STALE_US or (f.whole_in and f.parts[index] != part):
            f = self.frames[key] = Frame(time)
        if f.whole_in:
            found["pib.segment.whole_in"].append(f.whole_in)
            return
        f.parts.setdefault(index, part)
        if len(f.parts) < total:
            f.waiting.append(found)
            return
        f.whole_in = self.number
        for waits in f.waiting:
            waits["pib.segment.whole_in"].append(self.number)
        whole, at = b"".join(f.parts[i] for i in range(total)), 0
        while at < len(whole):
            step = self.packet(found, whole[at:], len(whole) - at, p[1] & NOICRC)
            if not step:
                return
            at += step

    def cookie(self, found, mark, p):
        link_id, session, peer_session = struct.unpack("!IQQ", p[12:32])
        kind, echo = p[0] & 15, (mark[::-1], p[4:8], peer_session)
        if kind in (HELLO, HELLO_ACK) and p[60:64] == b"\0\0\0\x01" and p[51] == 1 and link_id and peer_session:
            found["pib.hello.cookie"].append(1)
            self.cookies.setdefault((mark, p[12:16], session), self.number)
        if kind != BYE and echo in self.cookies:
            found["pib.hello.cookie_in"].append(self.cookies.pop(echo))

    def control(self, found, mark, p):
        self.show(found, "hello.", CONTROL, p)
        if len(p) < CONTROL_LEN:
            return
        self.show(found, "hello.", [("lid", 72 + 2 * i, 2, 0xFFFF) for i in range(min(p[58], 8))], p)
        description = p[88:152].split(b"\0")[0]
        if description:
            found["pib.hello.description"].append(description.decode())
        self.show_bytes(found, "hello.authentication", p, 160, CONTROL_LEN)
        if p[160:176] in [authentication(key, p) for key in self.keys]:
            self.sessions.learn(p)
        self.cookie(found, mark, p)

    def credit(self, found, p):
        self.show(found, "credit.", CREDITS, p)
        if len(p) < CONTROL_LEN:
            return
        self.show(found, "credit.", [("taken", 36 + 4 * vl, 4, 0xFFFFFFFF) for vl in range(15)], p)
        self.show_bytes(found, "credit.authentication", p, 160, CONTROL_LEN)

    def ping(self, found, p):
        self.show(found, "", [f for f in LINK if f[0] in ("version", "type", "flags")], p)
        self.show(found, "ping.", PINGS, p)
        if len(p) >= 48:
            self.show_bytes(found, "ping.authentication", p, 32, 48)

    def opened(self, found, mark, time, p):
        for key in self.keys:
            plain = self.sessions.open(key, p)
            if plain:
                found["pib.seal.status"].append(OPENED)
                self.data(found, mark, time, plain, len(plain))
                return
        found["pib.seal.status"].append(CLOSED)

    def sealed(self, found, mark, time, p, length):
        if length <= SEAL_HEAD + 16:
            return
        self.show(found, "seal.", [("counter", 8, 8, 2 ** 64 - 1)], p)
        self.show_bytes(found, "seal.encrypted", p, SEAL_HEAD, length - 16)
        if len(p) == length:
            self.show_bytes(found, "seal.authentication", p, length - 16, length)
        if self.keys and len(p) == length:
            self.opened(found, mark, time, p)
        else:
            found["pib.seal.status"].append(NOT_TRIED)

    def data(self, found, mark, time, p, length):
        if p[0] & 15 == DATA:
            self.packet(found, p[HEAD:], length - HEAD, p[1] & NOICRC)
        else:
            self.segment(found, mark, time, p, length)

    def datagram(self, found, mark, time, p, length):
        """@p: what was captured of @length bytes."""
        kind = p[0] & 15
        if p[0] >> 4 != VERSION:
            found["pib.version"].append(p[0] >> 4)
            return
        if kind in (PING, PONG):
            self.ping(found, p)
            return
        self.show(found, "", LINK, p)
        if len(p) < HEAD:
            return
        if kind in (DATA, SEGMENT) and p[1] & SEALED:
            self.sealed(found, mark, time, p, length)
        elif kind in (DATA, SEGMENT):
            self.data(found, mark, time, p, length)
        elif kind == CREDIT:
            self.credit(found, p)
        elif kind in (HELLO, HELLO_ACK, KEEPALIVE, BYE):
            self.control(found, mark, p)

    def read(self, time, raw, length):
        found = collections.defaultdict(list)
        self.number += 1
        try:
            d = Datagram(raw, from_any=True)
        except (ValueError, IndexError, struct.error):
            return found
        at = 14 + len(d.ip) + 8
        length, at = struct.unpack("!H", raw[at - 4 : at - 2])[0] - 8, 0
        step = length
        if raw[14 + len(d.ip) + 6 :][:2] == incomplete(d.source, d.to, length):
            step = step_of(d.payload, length)
        for at in range(0, len(d.payload), step):
            self.datagram(found, (d.source, d.to), time, d.payload[at : at + step], min(step, length - at))
        return found


def step_of(p, length):
    """Length of the datagrams of a super-packet, but for the last one; @length: it is one datagram. @p: what was captured."""
    kind, step = p[0] & 15, length
    if p[0] >> 4 != VERSION:
        return length
    if kind in (HELLO, HELLO_ACK, KEEPALIVE, BYE):
        padded = struct.unpack("!H", p[152:154])[0] if kind == KEEPALIVE and len(p) >= 154 else 0
        step = max(padded, CONTROL_LEN)
    elif kind == CREDIT:
        step = CONTROL_LEN
    elif len(p) < SEGMENT_HEAD:
        return length
    elif kind in (DATA, SEGMENT) and p[1] & SEALED:
        at = p.find(p[:8] + struct.pack("!Q", struct.unpack("!Q", p[8:16])[0] + 1), 1)
        step = at if at > 0 else length
    elif kind == DATA:
        step = HEAD + (struct.unpack("!H", p[12:14])[0] & 0x7FF) * 4
    elif kind == SEGMENT:
        step = SEGMENT_HEAD + struct.unpack("!H", p[12:14])[0]
    known = [VERSION << 4 | k for k in (DATA, HELLO, HELLO_ACK, KEEPALIVE, BYE, SEGMENT, CREDIT, PING, PONG)]
    return step if all(p[at] in known for at in range(step, len(p), step)) else length


# ---- the dissector ----


def tshark(lua, *words):
    command = ["tshark", *words, "-X", f"lua_script:{lua}"]  # -G wants to be first
    try:
        # Started by root it would load no script.
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE, user=65534,
                              group=65534, extra_groups=[], env={"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"})
    except subprocess.TimeoutExpired:
        sys.exit(f"tshark has not ended in {PATIENCE} s")
    complaints = [e for e in done.stderr.splitlines() if "Running as user" not in e and e]
    if done.returncode or complaints or "Lua Error:" in done.stdout:
        said = [line for line in done.stdout.splitlines() if "Lua Error:" in line]
        sys.exit("\n".join([f"tshark: {done.returncode}", *complaints[:5], *said[:5]]))
    return done.stdout


def reading(path, keyfiles):
    words = [f"-opib.{which}:{file}" for which, file in zip(("key_file", "second_key_file"), keyfiles)]
    # That heuristic takes any SEND for RPC.
    return [*words, "--disable-protocol", "rpcordma", "-r", path, "-2"]


def fields(lua, path, names, keyfiles=()):
    """Packet by packet: a list of texts for each field."""
    words = [*reading(path, keyfiles), "-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=;"]
    for name in names:
        words += ["-e", name]
    for line in tshark(lua, *words).splitlines():
        yield {n: v.split(";") if v else [] for n, v in zip(names, line.split("|"))}


def value(name, text):
    if name in TEXTS:
        return text
    return int({"True": "1", "False": "0"}.get(text, text), 0)


NAMES = [*TEXTS, *NUMBERS, *OTHERS]


def read(lua, path, *keyfiles):
    wrong, sums, counters = 0, collections.Counter(), collections.defaultdict(set)
    said = fields(lua, path, ["frame.number", *NAMES], keyfiles)
    packets, keys, sessions = load(path), [*map(key_of, keyfiles)], Sessions()
    for _ in range(2):  # as tshark reads it: the sessions are known the second time
        reader = Reader(keys, sessions)
        there = [reader.read(*packet) for packet in packets]
    for i, (has, says) in enumerate(zip(there, said, strict=True), 1):
        for name in NAMES:
            got = [value(name, v) for v in says[name]]
            sums[name] += len(got)
            if got != has[name] and wrong < 10:
                print(f"packet {i}: {name}: {got}, and there is {has[name]}", file=sys.stderr)
                wrong += 1
        for counter in says["pib.seal.counter"]:
            counters[says["pib.link_id"][0], says["pib.tag"][0]].add(int(counter))
    for direction, seen in counters.items():
        missing = set(range(min(seen), max(seen))) - seen
        if missing:
            print(f"{direction}: counters are missing: {sorted(missing)[:10]}", file=sys.stderr)
            wrong += 1
    print(json.dumps(sums))
    sys.exit(wrong > 0)


def marks(lua, path):
    known = {line.split("\t")[2] for line in tshark(lua, "-G", "fields").splitlines() if line.startswith("F\t")}
    missing = {n for n in known if n.startswith("pib.")} ^ {n for n in NAMES if n.startswith("pib.")} ^ {f"pib.{m}" for m in MARKS}
    if missing:
        sys.exit(f"here or there only: {missing}")
    wrong = 0
    names = [*(f"pib.{m}" for m in MARKS), "_ws.malformed"]
    for i, (says, (_, row, _)) in enumerate(zip(fields(lua, path, ["frame.number", *names]), rows(), strict=True), 1):
        got, marks_ = [n[4:] for n in names if says[n]], list(row.marks)
        if marks_ and marks_[0] in MALFORMED:
            marks_ = marks_ + ["malformed"]
        if got != marks_:
            print(f"packet {i}: {got}, wanted {marks_}", file=sys.stderr)
            wrong += 1
    sys.exit(wrong > 0)


def harmed(raw, chance):
    """Bytes, length before they were cut."""
    raw, length = bytearray(raw), len(raw)
    payload = 42 if raw[12:14] == struct.pack("!H", ETH_IP) else 62
    what = chance.randrange(4)
    if what == 0 and length > payload:  # cut by the capture
        return bytes(raw[: chance.randrange(payload, length)]), length
    if what == 1 and length > payload:  # shorter
        short = chance.randrange(payload, min(length, payload + 200) + 1)
        raw[payload - 4 : payload - 2] = struct.pack("!H", short - payload + 8)
        if payload == 42:
            raw[16:18] = struct.pack("!H", short - 14)
        else:
            raw[18:20] = struct.pack("!H", short - payload + 8)
        return bytes(raw[:short]), short
    for _ in range(chance.choice((1, 1, 3, 20))):  # damaged, mostly in what the headers are
        if length > payload:
            at = min(chance.randrange(length - payload), chance.choice((20, 60, 200, 70000)))
            raw[payload + at] ^= 1 << chance.randrange(8)
    return bytes(raw), length


def harm(lua, path, seed, *keyfiles):
    chance, out = random.Random(seed), f"{path}.harmed"
    packets, chosen = load(path), []
    for _ in range(400):
        time, raw, length = chance.choice(packets)
        if len(raw) == length:
            raw, length = harmed(raw, chance)
        chosen.append((time, raw, length))
    save(out, sorted(chosen))
    sum_ = tshark(lua, *reading(out, keyfiles), "-V").count("Software InfiniBand over UDP (pib)")
    print(f"{sum_} datagrams")
    sys.exit(sum_ == 0)


def main():
    what, *words = sys.argv[1:]
    if what == "harm":
        harm(words[0], words[1], int(words[2]), *words[3:])
    else:
        {"make": make, "keyed": keyed, "read": read, "marks": marks}[what](*words)


main()
