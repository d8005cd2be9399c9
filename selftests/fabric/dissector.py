#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/wireshark/pib.lua beside another reader of docs/wire-format.md, which is here.

make FILE	write datagrams of each kind, good and bad ones, as a capture
read LUA FILE	compare what the dissector says of FILE, a capture of Ethernet, with what is in it; print how many values each
		field has
marks LUA FILE	compare what the dissector finds wrong in the datagrams of make with what is wrong in them
harm LUA FILE SEED	let the dissector read copies that are cut and damaged: it may say what it likes, but for errors of Lua
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

from hostile import CONTROL_LEN, ETH_IP, ETH_IPV6, PORT, VERSION, Datagram, frame

DATA, HELLO, HELLO_ACK, KEEPALIVE, BYE, SEGMENT, PING, PONG = 0, 1, 2, 3, 4, 5, 14, 15
NOICRC, SEALED = 1, 2
HEAD, SEGMENT_HEAD, SEAL_HEAD, LRH, GRH, BTH, ICRC = 8, 16, 16, 8, 40, 12, 4
STALE_US = 100000
WRONG, RIGHT, NOT_COMPUTED = 0, 1, 2
MALFORMED = "bad_type bad_length bad_value bad_packet".split()
MARKS = [*MALFORMED, "bad_version", "bad_icrc", "no_checksum", "trailing", "lost", "cut"]
LATE = 150  # ms
PATIENCE = 200 * int(os.environ.get("PIB_SLOW", "1"))

# ---- captures: the old format of pcap, in the machine's own order ----


def load(path):
    """Time in us, bytes."""
    with open(path, "rb") as file:
        raw = file.read()
    magic, link = struct.unpack("I", raw[:4])[0], struct.unpack("I", raw[20:24])[0]
    if magic != 0xA1B2C3D4 or link != 1:
        sys.exit(f"{path}: not a capture of Ethernet, or in another order of bytes")
    at, packets = 24, []
    while at < len(raw):
        seconds, us, have, _ = struct.unpack("IIII", raw[at : at + 16])
        packets.append((seconds * 1000000 + us, raw[at + 16 : at + 16 + have]))
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
         "port_guid": 0x0200C0FFEE000002, "port": 1, "role": 1, "mtu": 5, "down": 0, "capabilities": 0x53, "keepalive": 500,
         "width": 2, "sequence": 9, "acknowledged": 4, "speed": 7, "extended_speed": 1, "refusal": 0, "lid": (),
         "description": b"a host", "authentication": bytes(16)}
    v.update(fields)
    lids = b"".join(struct.pack("!H", lid) for lid in v["lid"])
    return (head(kind, link_id=to)
            + struct.pack("!IIQQQQBBBBIHBBIIBBBx", v["fabric"], v["link_id"], v["session"], v["peer_session"], v["node_guid"],
                          v["port_guid"], v["port"], v["role"], v["mtu"], v["down"], v["capabilities"], v["keepalive"],
                          fields.get("lids", len(v["lid"])), v["width"], v["sequence"], v["acknowledged"], v["speed"],
                          v["extended_speed"], v["refusal"])
            + lids.ljust(16, b"\0") + v["description"].ljust(64, b"\0") + bytes(8) + v["authentication"])


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


def sealed(kind, counter, length, chance, link_id=0x51):
    return head(kind, SEALED | NOICRC, 0xABCD, link_id) + struct.pack("!Q", counter) + chance.randbytes(length + 16)


def ping(kind, flags=0, length=48):
    made = struct.pack("!BBxxIQQIB3B", VERSION << 4 | kind, flags, 5, 0x99, 1234567, 7, 2, 0, 5, 1) + bytes(16)
    return made.ljust(length, b"x")


def with_byte(payload, at, value):
    return payload[:at] + bytes([value]) + payload[at + 1 :]


SHORT = b"hello, this is a message for somebody"


def good_ones():
    """Times in ms, datagrams."""
    chance = random.Random(5)
    deth = struct.pack("!II", 0x80010000, 0x777)
    yield 0, control(HELLO, link_id=0, port=0, capabilities=0x10)
    yield 0, control(HELLO, link_id=0, port=0, capabilities=0x20)
    yield 0, control(HELLO_ACK, 0x77, sequence=1, down=1, peer_session=0x42, link_id=0x99, session=0x4321)
    yield 0, control(KEEPALIVE, 0x99, peer_session=0x4321, lid=(1, 0xBFFF, 7), description=b"x" * 64, authentication=b"k" * 16)
    yield 0, control(BYE, 0x77, refusal=3, description="schlüssel\x01".encode())
    yield 0, control(BYE, 0x77, description=b"")
    yield 0, data(ib(4, 17, SHORT))
    yield 0, data(ib(4, 0xFFFFFF, SHORT, noicrc=True), noicrc=True)
    yield 0, data(ib(0x64, 18, b"datagram", grh=True, more=deth))
    yield 0, data(ib(0x11, 19, more=struct.pack("!BBH", 0x1F, 0, 5)))
    packets = b"".join(ib(op, 20 + i, chance.randbytes(2048)) for i, op in enumerate((0, 1, 1, 2)))
    made = segments(packets, 0xFFFF, 1400)
    for m in made[:2] + made[3:] + made[2:3]:  # in disorder, one of them twice
        yield 1, m
    yield 1, made[2]
    yield 2, segments(packets, 0, 9000)[0]
    part = segments(packets, 1, 1400)
    for m in part[:2] + part[3:]:  # one is lost
        yield 3, m
    yield 4, part[2][:16] + part[2][16:]
    yield LATE, part[0]  # another frame, of which nothing else comes
    for m in segments(packets, 2, 1400, noicrc=True):
        yield 200, m
    yield 200, b"".join(segments(packets, 3, 1400))
    middle = b"".join(data(ib(1, i, bytes(1024), noicrc=True), noicrc=True) for i in range(30, 40))
    yield 200, middle + data(ib(2, 40, SHORT, noicrc=True), noicrc=True)
    yield 201, b"".join(sealed(DATA, i, 300, chance) for i in range(65530, 65540)) + sealed(DATA, 65540, 40, chance)
    yield 201, sealed(SEGMENT, 65541, 1400, chance)
    yield 202, ping(PING, 1)
    yield 202, ping(PONG, 7, 1400)


def nested_ones():
    """Packets whose payload Wireshark gives to its dissectors of IP and UDP, and those to pib's."""
    def inside(*datagrams):
        return b"".join(ib(4, i, b"\x08\0\0\0" + framed(d)[14:]) for i, d in enumerate(datagrams))
    leaf = segments(ib(4, 17, SHORT), 30, 4000)[0]
    yield 500, data(inside(leaf))
    yield 500, segments(inside(leaf), 30, 4000)[0]
    yield 500, segments(inside(leaf, leaf), 30, 4000)[0]
    yield 500, segments(inside(segments(inside(leaf), 30, 4000)[0]), 30, 4000)[0]


def bad_ones():
    """What is wrong, datagrams."""
    chance = random.Random(6)
    good = data(ib(4, 17, SHORT))
    yield "bad_version", b"\x10" + bytes(100)
    yield "bad_version", b"\x00"
    yield "bad_length", b"\x20\x00\x00"
    yield "bad_type", head(6) + bytes(100)
    yield "bad_length", control(HELLO)[:100]
    yield "bad_length", control(HELLO) + bytes(4)
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


def framed(payload, v6=False):
    source = socket.inet_pton(socket.AF_INET6, "fd77::1") if v6 else bytes([10, 77, 0, 1])
    return frame(template(v6), b"\x02\0\0\0\0\x01", source, payload)


def without_checksum(raw):
    return raw[:40] + bytes(2) + raw[42:]


def make(path):
    packets = [(ms * 1000, framed(p, v6)) for v6 in (False, True) for ms, p in (*good_ones(), *nested_ones())]
    packets += [(1000000 + i * 1000000, framed(p)) for i, (_, p) in enumerate(bad_ones())]
    packets.append((99000000, without_checksum(framed(data(ib(4, 1, SHORT, noicrc=True), noicrc=True)))))
    save(path, [(time, raw, len(raw)) for time, raw in packets])


# ---- reading ----


class Reader:
    """What is in a capture, packet by packet: a list of values for each field."""

    def __init__(self):
        self.frames = {}

    def packet(self, found, bytes_, noicrc):
        """Return: the packet's length; 0: it is none."""
        if len(bytes_) < LRH + BTH + ICRC:
            return 0
        length = (struct.unpack("!H", bytes_[4:6])[0] & 0x7FF) * 4
        grh = bytes_[1] & 3 == 3
        if bytes_[0] & 15 or bytes_[1] & 3 < 2 or not LRH + BTH + ICRC + grh * GRH <= length <= len(bytes_):
            return 0
        bth = LRH + grh * GRH
        status = NOT_COMPUTED if noicrc else RIGHT if icrc_of(bytes_[: length - ICRC]) == bytes_[length - ICRC : length] else WRONG
        found["pib.packet.icrc_status"].append(status)
        found["infiniband.lrh.dlid"].append(struct.unpack("!H", bytes_[2:4])[0])
        found["infiniband.lrh.slid"].append(struct.unpack("!H", bytes_[6:8])[0])
        found["infiniband.bth.opcode"].append(bytes_[bth])
        found["infiniband.bth.destqp"].append(int.from_bytes(bytes_[bth + 5 : bth + 8], "big"))
        found["infiniband.bth.psn"].append(int.from_bytes(bytes_[bth + 9 : bth + 12], "big"))
        if bytes_[bth] >> 5 == 3:
            found["infiniband.deth.srcqp"].append(int.from_bytes(bytes_[bth + 17 : bth + 20], "big"))
        return length

    def segment(self, found, mark, time, p):
        """Of an open fabric."""
        if len(p) <= SEGMENT_HEAD:
            return
        number, index, total, size, _ = struct.unpack("!HBBHH", p[8:16])
        part = p[16:]
        if not 1 <= total <= 64 or index >= total or size * total > 0xFFFF or (total > 1 and size < 256) or \
                len(part) > size or (index + 1 < total and len(part) < size):
            return
        key = (mark, p[:8], number, total, size)
        begun, parts = self.frames.get(key, (0, None))
        if parts is None or time - begun > STALE_US or parts.get(index, part) != part:
            begun, parts = self.frames[key] = time, {}
        if index in parts:
            return
        parts[index] = part
        if len(parts) == total:
            whole, at = b"".join(parts[i] for i in range(total)), 0
            while at < len(whole):
                length = self.packet(found, whole[at:], p[1] & NOICRC)
                if not length:
                    return
                at += length

    def control(self, found, p):
        names = "fabric link_id session peer_session node_guid port_guid port role mtu down capabilities keepalive lids width " \
                "sequence acknowledged speed extended_speed refusal".split()
        for name, value in zip(names, struct.unpack("!IIQQQQBBBBIHBBIIBBB", p[8:71])):
            found[f"pib.hello.{name}"].append(value)
        for i in range(min(p[58], 8)):
            found["pib.hello.lid"].append(struct.unpack("!H", p[72 + 2 * i : 74 + 2 * i])[0])

    def datagram(self, found, mark, time, p):
        kind = p[0] & 15
        found["pib.type"].append(kind)
        if len(p) < HEAD:
            if len(p) >= 4 and kind not in (PING, PONG):
                found["pib.tag"].append(struct.unpack("!H", p[2:4])[0])
        elif kind in (PING, PONG):
            found["pib.ping.sequence"].append(struct.unpack("!I", p[4:8])[0])
        else:
            found["pib.tag"].append(struct.unpack("!H", p[2:4])[0])
            found["pib.link_id"].append(struct.unpack("!I", p[4:8])[0])
            if kind in (DATA, SEGMENT) and p[1] & SEALED:
                if len(p) > SEAL_HEAD + 16:
                    found["pib.seal.counter"].append(struct.unpack("!Q", p[8:16])[0])
            elif kind == DATA:
                self.packet(found, p[HEAD:], p[1] & NOICRC)
            elif kind == SEGMENT:
                if len(p) >= SEGMENT_HEAD:
                    found["pib.segment.frame"].append(struct.unpack("!H", p[8:10])[0])
                    found["pib.segment.index"].append(p[10])
                self.segment(found, mark, time, p)
            elif kind in (HELLO, HELLO_ACK, KEEPALIVE, BYE) and len(p) == CONTROL_LEN:
                self.control(found, p)

    def read(self, time, raw):
        found = collections.defaultdict(list)
        try:
            d = Datagram(raw)
        except (ValueError, IndexError, struct.error):
            return found
        rest = d.payload
        while rest and rest[0] >> 4 == VERSION:
            length = step(rest)
            self.datagram(found, (d.source, d.to), time, rest[:length])
            rest = rest[length:]
        return found


def step(p):
    """Length of the first datagram of @p, which may be a super-packet: another one follows if what follows looks like it."""
    if len(p) < SEGMENT_HEAD:
        return len(p)
    kind, lengths = p[0] & 15, range(0)
    if kind in (DATA, SEGMENT) and p[1] & SEALED:
        counter = struct.unpack("!Q", p[8:16])[0] + 1
        at = p.find(p[:8] + struct.pack("!Q", counter), 1)
        return at if at > 0 else len(p)
    if kind == DATA:
        lengths = [HEAD + (struct.unpack("!H", p[12:14])[0] & 0x7FF) * 4]
    elif kind == SEGMENT:
        lengths = [SEGMENT_HEAD + struct.unpack("!H", p[12:14])[0]]
    for length in lengths:
        if p[length : length + 1] and p[length] >> 4 == VERSION and p[length + 4 : length + 8] == p[4:8]:
            return length
    return len(p)


# ---- the dissector ----


def tshark(lua, path, *words):
    # That heuristic takes any SEND for RPC.
    command = ["tshark", "-X", f"lua_script:{lua}", "--disable-protocol", "rpcordma", "-r", path, "-2", *words]
    try:
        # Started by root it would load no script.
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE, user=65534,
                              group=65534, extra_groups=[], env={"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"})
    except subprocess.TimeoutExpired:
        sys.exit(f"tshark has not ended in {PATIENCE} s")
    complaints = [e for e in done.stderr.splitlines() if "Running as user" not in e and e]
    if done.returncode or complaints or "Lua Error" in done.stdout:
        said = [line for line in done.stdout.splitlines() if "Lua Error" in line]
        sys.exit("\n".join([f"tshark: {done.returncode}", *complaints[:5], *said[:5]]))
    return done.stdout


def fields(lua, path, names):
    """Packet by packet: a list of texts for each field."""
    words = ["-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=;"]
    for name in names:
        words += ["-e", name]
    for line in tshark(lua, path, *words).splitlines():
        yield {n: v.split(";") if v else [] for n, v in zip(names, line.split("|"))}


def number(text):
    return int(text, 0)


NAMES = ["pib.type", "pib.tag", "pib.link_id", "pib.seal.counter", "pib.segment.frame", "pib.segment.index", "pib.ping.sequence",
         "pib.packet.icrc_status", "infiniband.lrh.dlid", "infiniband.lrh.slid", "infiniband.bth.opcode", "infiniband.bth.destqp",
         "infiniband.bth.psn", "infiniband.deth.srcqp", "pib.hello.lid"] + ["pib.hello." + n for n in (
             "fabric link_id session peer_session node_guid port_guid port role mtu down capabilities keepalive lids width sequence "
             "acknowledged speed extended_speed refusal").split()]


def read(lua, path):
    reader, wrong, sums, counters = Reader(), 0, collections.Counter(), collections.defaultdict(set)
    said = fields(lua, path, ["frame.number", *NAMES])
    for i, ((time, raw), says) in enumerate(zip(load(path), said, strict=True), 1):
        has = reader.read(time, raw)
        for name in NAMES:
            got = [number(v) for v in says[name]]
            sums[name] += len(got)
            # The dissector shows some fields of control datagrams that have another length.
            if name.startswith("pib.hello") and name not in has:
                continue
            if got != has[name] and wrong < 10:
                print(f"packet {i}: {name}: {got}, and there is {has[name]}", file=sys.stderr)
                wrong += 1
        for counter in says["pib.seal.counter"]:
            counters[says["pib.link_id"][0], says["pib.tag"][0]].add(number(counter))
    for direction, seen in counters.items():
        missing = set(range(min(seen), max(seen))) - seen
        if missing:
            print(f"{direction}: counters are missing: {sorted(missing)[:10]}", file=sys.stderr)
            wrong += 1
    print(json.dumps(sums))
    sys.exit(wrong > 0)


def marks(lua, path):
    good = [["lost"] if ms == LATE else [] for ms, _ in (*good_ones(), *nested_ones())]
    want = 2 * good + [[name] for name, _ in bad_ones()] + [["no_checksum"]]
    wrong = 0
    names = [*(f"pib.{m}" for m in MARKS), "_ws.malformed"]
    for i, (says, marks_) in enumerate(zip(fields(lua, path, ["frame.number", *names]), want, strict=True), 1):
        got = [n[4:] for n in names if says[n]]
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


def harm(lua, path, seed):
    chance, out = random.Random(seed), f"{path}.harmed"
    chosen, size = [], 0
    packets = load(path)
    while len(chosen) < 400 and size < 800000:
        time, raw = chance.choice(packets)
        chosen.append((time, *harmed(raw, chance)))
        size += len(raw)
    save(out, sorted(chosen))
    sum_ = tshark(lua, out, "-V").count("Software InfiniBand over UDP (pib)")
    print(f"{sum_} datagrams")
    sys.exit(sum_ == 0)


def main():
    what, *words = sys.argv[1:]
    if what == "harm":
        harm(words[0], words[1], int(words[2]))
    else:
        {"make": make, "read": read, "marks": marks}[what](*words)


main()
