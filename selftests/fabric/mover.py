#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Who has a session, by docs/wire-format.md, and speaks from elsewhere then.

forge DEV TO VICTIM COUNT [KEYFILE]	the next COUNT datagrams of its session have VICTIM as their source, and acknowledge more and more
revive DEV TO VICTIM [KEYFILE]	it ends its session, and foresees the next one of TO: with that, VICTIM seems to be heard
reflect DEV TO VICTIM COUNT	without a session: each kind of datagram COUNT times, with VICTIM as its source
move DEV TO FROM ANSWERS [KEYFILE]	it goes on from FROM: another address, or another port of its own; ANSWERS: 1, it answers what is asked there
"""
import json
import socket
import struct
import sys
import time

from strangers import HELLO, KEEPALIVE, LEN, PORT, Stranger

DATA, HELLO_ACK, BYE, SEGMENT, CREDIT, PING, PONG, OWN_ID, NEW_PORT = 0, 2, 4, 5, 6, 14, 15, 0x1234, 18600
ETHERNET = 14  # bytes of its header
GAP, WATCHED = 0.05, 2.0


class Member(Stranger):
    def __init__(self, device, to, path):
        super().__init__(device, PORT, 0, to=to)
        self.hop_limit(255)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # beside that of its next address
        self.to, self.id, self.theirs, self.acknowledged = (to, PORT), bytes(4), bytes(8), 0
        if path:
            with open(path, "rb") as file:
                self.key = file.read().removesuffix(b"\n")

    def own(self, data):
        return len(data) == LEN and data[24:32] == struct.pack("!Q", self.session) and not data[70]

    def take(self, data):
        """Whether @data is of the session; then it is acknowledged from now on."""
        if not self.own(data) or data[16:24] != self.theirs:
            return False
        self.acknowledged = struct.unpack("!I", data[60:64])[0]
        return True

    def next(self, kind=KEEPALIVE, ahead=0):
        return self.control(kind, OWN_ID, self.id, self.theirs, struct.pack("!I", self.acknowledged + ahead))

    def until(self, what, seconds, sock=None):
        """All that comes, up to the first that is @what."""
        sock, end, seen = sock or self.socket, time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            sock.settimeout(left)
            try:
                seen.append(sock.recv(65535))
            except TimeoutError:
                break
            if what(seen[-1]):
                break
        return seen

    def join(self):
        for _ in range(20):
            self.hello(True, self.to)
            seen = self.until(self.own, GAP * 10)
            if not seen or not self.own(seen[-1]):
                continue
            self.id, self.theirs = seen[-1][12:16], seen[-1][16:24]
            self.take(seen[-1])
            self.socket.sendto(self.next(), self.to)
            if any(map(self.take, self.until(self.take, GAP * 20))):
                return
        raise SystemExit("no session")


class Forger:
    """The kernel fills in checksum and length of IP; UDP does without a checksum."""

    def __init__(self, device, victim, to):
        self.raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.raw.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 0, 0, 0, 255, socket.IPPROTO_UDP, 0)
        self.head = ip + socket.inet_aton(victim) + socket.inet_aton(to)
        self.to, self.said, self.bytes = (to, 0), 0, 0

    def say(self, datagram):
        udp = struct.pack("!HHHH", PORT, PORT, 8 + len(datagram), 0)
        self.bytes += ETHERNET + self.raw.sendto(self.head + udp + datagram, self.to)
        self.said += 1


def forge(device, to, victim, count, path=None):
    member, forger = Member(device, to, path), Forger(device, victim, to)
    member.join()
    for i in range(int(count)):
        forger.say(member.next((HELLO, KEEPALIVE, HELLO_ACK)[i % 3], i))
        time.sleep(GAP / 5)
    home = sum(map(member.take, member.until(lambda data: False, WATCHED)))
    print(json.dumps({"said": forger.said, "bytes": forger.bytes, "home": home}))


def reflect(device, to, victim, count):
    forger = Forger(device, victim, to)
    for _ in range(int(count)):
        for trunk, probe, version in ((False, False, 2), (True, False, 2), (False, True, 2), (False, False, 1)):
            stranger = Stranger(device, 0, 0, trunk=trunk, probe=probe)
            stranger.version = version
            for kind in (HELLO, HELLO_ACK, KEEPALIVE, BYE):
                for to_id in (bytes(4), b"\0\0\0\1"):
                    forger.say(stranger.control(kind, OWN_ID, to_id))
            stranger.socket.close()
        for kind in (DATA, SEGMENT, CREDIT, PING, PONG):
            forger.say(bytes([0x20 | kind]) + bytes(LEN - 1))
        time.sleep(GAP / 5)
    time.sleep(WATCHED)
    print(json.dumps({"said": forger.said, "bytes": forger.bytes}))


def revive(device, to, victim, path=None):
    member, forger = Member(device, to, path), Forger(device, victim, to)
    member.join()
    member.socket.sendto(member.next(BYE), member.to)
    time.sleep(GAP)
    member.theirs = struct.pack("!Q", struct.unpack("!Q", member.theirs)[0] + 0x10001)
    for ahead in range(1, 4):
        for to_id in (member.id, bytes(4)):
            acknowledged = struct.pack("!I", member.acknowledged + ahead)
            forger.say(member.control(HELLO, OWN_ID, to_id, member.theirs, acknowledged))
            time.sleep(GAP)
    time.sleep(WATCHED / 2)
    print(json.dumps({"said": forger.said}))


def move(device, to, place, answers, path=None):
    member = Member(device, to, path)
    member.join()
    there = socket.socket(member.socket.family, socket.SOCK_DGRAM)
    if member.six:
        there.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 255)
    else:
        there.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
    there.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    there.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    there.bind(("", NEW_PORT) if place == "port" else (place, PORT))
    asked = moved = 0
    end = time.monotonic() + WATCHED
    while time.monotonic() < end:
        there.sendto(member.next(), member.to)
        for data in member.until(lambda data: False, GAP * 4, there):
            if member.take(data):
                moved += 1
            elif len(data) == LEN and data[0] & 15 == HELLO and data[4:8] == struct.pack("!I", OWN_ID):
                asked += 1
                if answers == "1":
                    there.sendto(member.control(HELLO_ACK, OWN_ID, data[12:16], data[16:24], data[60:64]), member.to)
        for data in member.until(lambda data: False, GAP / 5):
            member.take(data)
    print(json.dumps({"asked": asked, "moved": moved}))


if __name__ == "__main__":
    {"forge": forge, "reflect": reflect, "revive": revive, "move": move}[sys.argv[1]](*sys.argv[2:])
