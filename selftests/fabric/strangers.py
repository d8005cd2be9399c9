#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A stranger in an open fabric, who makes its datagrams by docs/wire-format.md.

greet DEV TO HOPLIMIT COUNT LINKID KIND [PORT [GUID [FILE]]]	say HELLO COUNT times, by DEV to TO, in a session and with a GUID of its own
	or GUID; from PORT. TO "group": discovery. LINKID: 1, the hello names a link. KIND: 0, of a host; 1, of a trunk; former, in version 1; probe, it
	only wants to know who is there; echo and trunk-echo, the same as 0 and 1, and what is answered is echoed. What was said to TO
	is kept in FILE
again DEV TO FILE COUNT [PORT]	say all that was kept COUNT times
crowd DEV TO COUNT [KEYFILE]	COUNT hosts at one address greet and echo what they are answered, each by a GUID of its own
copies DEV TO COUNT OTHERS	one host greets, and echoes what it is answered COUNT times; then OTHERS echo theirs, once
absent DEV TO SECONDS	hosts of TO's network that are not there greet TO, 1000 times a second
pairs DEV TO4 TO6 COUNT KIND	COUNT hosts greet TO4 and TO6 in one session, and echo both answers: trunks (KIND 1) at once, others (0) one after the other
"""
import copy
import hashlib
import hmac
import json
import random
import socket
import struct
import sys
import time

PORT, GROUP, HELLO, KEEPALIVE, LEN, MAC = 18514, "239.192.73.66", 1, 3, 176, 160
HELLO_GAP, QUIET = 0.3, 3.0
CROWDED = 2.0  # at most, until a crowd has its answers
ROUNDS = 20  # of hellos, until all are answered


class Stranger:
    def __init__(self, device, port, guid, trunk=False, probe=False, echoes=False, to=""):
        self.six, self.key = ":" in to, b""
        self.socket = socket.socket(socket.AF_INET6 if self.six else socket.AF_INET, socket.SOCK_DGRAM)
        if self.six:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        self.socket.bind(("", port))
        self.guid, self.session = guid or random.getrandbits(63) | 1, random.getrandbits(63) | 1
        self.trunk, self.probe, self.echoes, self.replays = trunk, probe, echoes, False
        self.said, self.heard, self.largest, self.refusals, self.sequence, self.kept = 0, 0, 0, set(), 0, []
        self.guids, self.version = set(), 2

    def hop_limit(self, n):
        if self.six:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, n)
            return
        for option in (socket.IP_TTL, socket.IP_MULTICAST_TTL):
            self.socket.setsockopt(socket.IPPROTO_IP, option, n)

    def control(self, kind, own_id, to_id=bytes(4), peer_session=bytes(8), acknowledged=bytes(4)):
        self.sequence += 1
        caps = 2 | (4 if self.key else 0) | (0x10 if self.trunk else 0) | (0x20 if self.probe else 0)
        datagram = bytes([self.version << 4 | kind, 0, 0, 0]) + to_id + struct.pack("!IIQ", 0, own_id, self.session) + peer_session
        datagram += struct.pack("!QQ", self.guid, self.guid)
        datagram += bytes([0 if self.trunk else 1, 1 if self.trunk else 2, 5, 0]) + struct.pack("!I", caps)
        datagram += struct.pack("!HBB", 500, 0, 0) + struct.pack("!I", self.sequence) + acknowledged
        datagram += bytes(88 - len(datagram)) + b"stranger".ljust(64, b"\0") + bytes(24)
        assert len(datagram) == LEN
        return datagram[:MAC] + hmac.new(self.key, datagram, hashlib.sha256).digest()[:16] if self.key else datagram

    def say(self, datagram, to):
        self.kept.append(datagram.hex())
        self.socket.sendto(datagram, to)

    def hello(self, link_id, to):
        self.said += 1
        self.say(self.control(HELLO, 0x1234 if link_id else 0), to)

    def echo_of(self, data):
        return self.control(KEEPALIVE, 0x1234, data[12:16], data[16:24], data[60:64])

    def echo(self, data, source):
        self.say(self.echo_of(data), source)

    def hear(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                data, source = self.socket.recvfrom(65535)
            except TimeoutError:
                return
            if not data or data[0] >> 4 != self.version:
                continue
            if len(data) == LEN and data[4:8] == bytes(4) and data[12:16] == bytes(4) and not data[55] & 0x20 and not data[70]:
                continue  # said to everybody
            if not self.replays and len(data) == LEN and data[24:32] not in (bytes(8), struct.pack("!Q", self.session)):
                continue  # said to another host of this address
            self.heard += 1
            self.largest = max(self.largest, len(data))
            if len(data) == LEN and any(data[32:40]):
                self.guids.add(data[32:40].hex())
            if len(data) == LEN and data[70]:
                self.refusals.add(data[70])
            elif self.echoes and len(data) == LEN and data[0] & 15 != KEEPALIVE:
                self.echo(data, source)

    def report(self):
        print(json.dumps({"said": self.said, "heard": self.heard, "largest": self.largest, "refusals": sorted(self.refusals), "guids": len(self.guids)}))


def greet(device, to, hop_limit, count, link_id, kind, port=PORT, guid="0", path=None):
    stranger = Stranger(device, int(port), int(guid, 16), kind in ("1", "trunk-echo"), kind == "probe", kind.endswith("echo"), to)
    stranger.hop_limit(int(hop_limit))
    stranger.version = 1 if kind == "former" else 2
    for _ in range(int(count)):
        stranger.hello(link_id == "1", (GROUP if to == "group" else to, PORT))
        stranger.hear(HELLO_GAP)
    stranger.hear(0 if stranger.echoes and stranger.heard else QUIET)
    stranger.report()
    if path:
        with open(path, "w", encoding="ascii") as out:
            json.dump(stranger.kept, out)


def again(device, to, path, count, port=PORT):
    stranger = Stranger(device, int(port), 0)
    stranger.replays = True  # answers are for sessions of the past
    stranger.hop_limit(255)
    with open(path, encoding="ascii") as kept:
        old = [bytes.fromhex(datagram) for datagram in json.load(kept)]
    for _ in range(int(count)):
        for datagram in old:
            stranger.say(datagram, (to, PORT))
            stranger.said += 1
        stranger.hear(0.01)
    stranger.hear(QUIET)
    stranger.report()


def many(device, to, count, trunk=False, key=b""):
    first = Stranger(device, PORT, 0, trunk, to=to)
    first.hop_limit(255)
    first.key = key
    hosts = [first] + [copy.copy(first) for _ in range(count - 1)]
    for host in hosts:
        host.guid, host.session = random.getrandbits(63) | 1, random.getrandbits(63) | 1
    return hosts


def by_session_of(hosts):
    return {struct.pack("!Q", host.session): host for host in hosts}


def crowd(device, to, count, path=None):
    key = b""
    if path:
        with open(path, "rb") as file:
            key = file.read().removesuffix(b"\n")
    hosts = many(device, to, int(count), key=key)
    first, by_session = hosts[0], by_session_of(hosts)
    for host in hosts:
        host.hello(True, (to, PORT))
    first.socket.settimeout(HELLO_GAP)
    end = time.monotonic() + CROWDED  # links that are up may say something more often than a gap
    try:
        while time.monotonic() < end:
            data, source = first.socket.recvfrom(65535)
            if len(data) == LEN and data[0] & 15 != KEEPALIVE and data[24:32] in by_session:
                by_session[data[24:32]].echo(data, source)
    except TimeoutError:
        pass


def answered(hosts, to):
    """What each host is to echo, and where to."""
    by_session, echoes = by_session_of(hosts), {}
    hosts[0].socket.settimeout(HELLO_GAP / 4)
    for _ in range(ROUNDS):
        for host in hosts:
            if host.session not in echoes:
                host.hello(True, (to, PORT))
        try:
            while len(echoes) < len(hosts):
                data, source = hosts[0].socket.recvfrom(65535)
                host = by_session.get(data[24:32])
                if host and host.session not in echoes:
                    echoes[host.session] = (host.echo_of(data), source)
        except TimeoutError:
            continue
        break
    return [echoes[host.session] for host in hosts]


def copies(device, to, count, others):
    hosts = many(device, to, 1 + int(others))
    echoes = answered(hosts, to)
    for datagram, source in [echoes[0]] * int(count) + echoes[1:]:
        hosts[0].socket.sendto(datagram, source)


def absent(device, to, seconds):
    """The kernel fills in checksum and length of IP; UDP does without a checksum."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    host = Stranger(device, PORT, 0)
    udp = struct.pack("!HHHH", PORT, PORT, 8 + LEN, 0)
    sources = [socket.inet_aton(to.rsplit(".", 1)[0] + f".{k}") for k in range(200, 220)]
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        for source in sources:
            host.guid, host.session = random.getrandbits(63) | 1, random.getrandbits(63) | 1
            ip = struct.pack("!BBHHHBBH", 0x45, 0, 0, 0, 0, 255, socket.IPPROTO_UDP, 0) + source + socket.inet_aton(to)
            raw.sendto(ip + udp + host.control(HELLO, 0x1234), (to, 0))
        time.sleep(0.02)


def pairs(device, to4, to6, count, kind):
    four, six = (many(device, to, int(count), kind == "1") for to in (to4, to6))
    for one, other in zip(four, six):
        other.guid, other.session = one.guid, one.session
    echoes = answered(four, to4), answered(six, to6)
    for one, other in zip(*echoes):
        four[0].socket.sendto(*one)
        if kind == "0":
            time.sleep(HELLO_GAP)
        six[0].socket.sendto(*other)


if __name__ == "__main__":
    {"greet": greet, "again": again, "crowd": crowd, "copies": copies, "absent": absent, "pairs": pairs}[sys.argv[1]](*sys.argv[2:])
