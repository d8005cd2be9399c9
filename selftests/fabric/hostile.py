#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What an outsider on the segment can do to a fabric.

capture NETDEV SOURCE FILE	wait for control datagrams that SOURCE sends to one host, as they are; at most a minute
record NETDEV FILE COUNT	keep the first COUNT control datagrams that are sent to one host, as they are; at most a minute. FILE.ready is
		there when it hears
replay NETDEV FILE SECONDS	send those 200 times a second; storm: at full rate, and print how many
flood NETDEV FILE SECONDS	send those and what can be made of them at full rate; print how many
"""
import collections
import json
import random
import socket
import struct
import sys
import time

PORT, FLOWS = 18514, 0xC000
ETH_P_ALL = 3
VERSION = 2
ETH_IP, ETH_IPV6, UDP = 0x0800, 0x86DD, 17
KEEP = 4
MAC_OFF, NONCE_OFF, CAPS_OFF, CONTROL_LEN = 160, 16, 52, 176


class Datagram:
    """A UDP datagram between pib's hosts in an Ethernet frame, or ValueError. @from_any: one of the ports is enough."""

    def __init__(self, frame, from_any=False):
        self.eth, kind = frame[:14], struct.unpack("!H", frame[12:14])[0]
        if kind == ETH_IP and frame[23] == UDP:
            self.ip = frame[14 : 14 + (frame[14] & 15) * 4]
            self.source, self.to = self.ip[12:16], self.ip[16:20]
        elif kind == ETH_IPV6 and frame[20] == UDP:
            self.ip = frame[14:54]
            self.source, self.to = self.ip[8:24], self.ip[24:40]
        else:
            raise ValueError("not UDP")
        at = 14 + len(self.ip)
        ports = struct.unpack("!HH", frame[at : at + 4])
        if PORT not in ports if from_any else ports[1] != PORT or PORT != ports[0] < FLOWS:
            raise ValueError("not ours")
        self.payload = frame[at + 8 : at + struct.unpack("!H", frame[at + 4 : at + 6])[0]]
        self.family = kind

    def is_control(self):
        return (
            not self.eth[0] & 1
            and len(self.payload) == CONTROL_LEN
            and self.payload[0] >> 4 == VERSION
            and self.payload[0] & 15 in (1, 2, 3)
        )

    def is_control_to_one_host(self):
        return self.is_control() and self.payload[4:8] != bytes(4)


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(template, own_mac, source, payload):
    """Ethernet, IP and UDP around @payload, to where @template went, as if from @source."""
    length = 8 + len(payload)
    pseudo = source + template.to + struct.pack("!II", length, UDP)
    udp = struct.pack("!HHHH", PORT, PORT, length, 0)
    udp = struct.pack("!HHHH", PORT, PORT, length, checksum(pseudo + udp + payload) or 0xFFFF)
    if template.family == ETH_IP:
        ip = struct.pack("!BBHIBBH", 0x45, 0, 20 + length, 0x4000, 255, UDP, 0) + source + template.to
        ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    else:
        ip = struct.pack("!IHBB", 6 << 28, length, UDP, 255) + source + template.to
    return template.eth[:6] + own_mac + template.eth[12:14] + ip + udp + payload


def listener(netdev):
    """A packet socket. With a protocol from the start it would hear all netdevs until it is bound."""
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((netdev, ETH_P_ALL))
    return s


def capture(netdev, source, path):
    sniffer = listener(netdev)
    sniffer.settimeout(1)
    source = socket.inet_pton(socket.AF_INET6 if ":" in source else socket.AF_INET, source)
    kept = []
    end = time.monotonic() + 60
    while len(kept) < KEEP:
        if time.monotonic() > end:
            sys.exit(f"hostile.py: only {len(kept)} of {KEEP} datagrams in a minute")
        try:
            raw = sniffer.recv(65535)
        except TimeoutError:
            continue
        try:
            datagram = Datagram(raw)
        except (ValueError, IndexError, struct.error):
            continue
        if datagram.source == source and datagram.is_control_to_one_host():
            kept.append(raw.hex())
    with open(path, "w", encoding="ascii") as out:
        json.dump(kept, out)


def record(netdev, path, count):
    sniffer, kept, end = listener(netdev), [], time.monotonic() + 60
    sniffer.settimeout(1)
    with open(path + ".ready", "w", encoding="ascii"):
        pass
    while len(kept) < count and time.monotonic() < end:
        try:
            raw = sniffer.recv(65535)
            if Datagram(raw).is_control():
                kept.append(raw.hex())
        except (TimeoutError, ValueError, IndexError, struct.error):
            continue
    with open(path, "w", encoding="ascii") as out:
        json.dump(kept, out)


def mac_of(netdev):
    with open(f"/sys/class/net/{netdev}/address", encoding="ascii") as file:
        return bytes.fromhex(file.read().strip().replace(":", ""))


def own_address(template, netdev):
    """An address of the same family that is this host's."""
    family = socket.AF_INET if template.family == ETH_IP else socket.AF_INET6
    probe = socket.socket(family, socket.SOCK_DGRAM)
    to = socket.inet_ntop(family, template.to)
    if family == socket.AF_INET6:
        probe.connect((to, PORT, 0, socket.if_nametoindex(netdev)))
    else:
        probe.connect((to, PORT))
    return socket.inet_pton(family, probe.getsockname()[0].split("%")[0])


def altered(payload, offset, data):
    return payload[:offset] + data + payload[offset + len(data) :]


def unkeyed(payload):
    caps = struct.unpack("!I", payload[CAPS_OFF : CAPS_OFF + 4])[0] & ~4
    return altered(altered(payload, CAPS_OFF, struct.pack("!I", caps)), MAC_OFF, bytes(16))


class Attacker:
    def __init__(self, netdev, path):
        self.random = random.Random(1)
        with open(path, encoding="ascii") as file:
            self.seen = [Datagram(bytes.fromhex(f)) for f in json.load(file)]
        self.mac = mac_of(netdev)
        self.own = own_address(self.seen[0], netdev)

    def noise(self, d):
        length = self.random.choice((0, 1, 7, 8, 12, 60, 176, 177, 500, 1400))
        return self.own, self.random.randbytes(length)

    def noise_of_our_version(self, d):
        kind = self.random.choice((0, 1, 2, 3, 4, 5, 9))
        length = self.random.choice((7, 11, 15, 59, 175, 499, 1399))
        return self.own, bytes([VERSION << 4 | kind]) + self.random.randbytes(length)

    def without_key(self, d):
        return self.own, unkeyed(d.payload)

    def with_other_key(self, d):
        return d.source, altered(d.payload, MAC_OFF, self.random.randbytes(16))

    def other_session(self, d):
        return d.source, altered(d.payload, NONCE_OFF, self.random.randbytes(8))

    def goodbye(self, d):
        return d.source, bytes([VERSION << 4 | 4]) + d.payload[1:]

    def replay(self, d):
        return d.source, d.payload

    def replay_from_elsewhere(self, d):
        return self.own, d.payload

    def data(self, d):
        head = bytes([VERSION << 4, 1]) + self.random.randbytes(2) + d.payload[4:8]
        return self.own, head + self.random.randbytes(60)

    def segment(self, d):
        head = bytes([VERSION << 4 | 5, 1]) + self.random.randbytes(2) + d.payload[4:8]
        return self.own, head + self.random.randbytes(300)

    def frames(self):
        """As many of each kind as make repetitions rare: made once, so that sending is fast."""
        kinds = (
            (self.noise, 400), (self.noise_of_our_version, 400), (self.without_key, 20),
            (self.with_other_key, 100), (self.other_session, 100), (self.goodbye, 20),
            (self.replay, 20), (self.replay_from_elsewhere, 20), (self.data, 100), (self.segment, 100),
        )
        made = []
        for make, count in kinds:
            for i in range(count):
                d = self.seen[i % len(self.seen)]
                source, payload = make(d)
                made.append((make.__name__, frame(d, self.mac, source, payload)))
        self.random.shuffle(made)
        return made


def send_all(netdev, frames, seconds):
    """@frames, (kind, bytes) each, again and again at full rate; print how many of each kind."""
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind((netdev, 0))
    sent = collections.Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for kind, raw in frames:
            try:
                sender.send(raw)
            except OSError:  # the queue of the netdev is full
                continue
            sent[kind] += 1
    print(json.dumps(sent))


def flood(netdev, path, seconds):
    send_all(netdev, Attacker(netdev, path).frames(), seconds)


def replay(netdev, path, seconds):
    """What was seen, unaltered, 200 times a second."""
    attacker = Attacker(netdev, path)
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind((netdev, 0))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for d in attacker.seen:
            sender.send(frame(d, attacker.mac, *attacker.replay(d)))
            time.sleep(0.005)


def storm(netdev, path, seconds):
    """What was seen, unaltered, as fast as it goes."""
    attacker = Attacker(netdev, path)
    send_all(netdev, [("replay", frame(d, attacker.mac, *attacker.replay(d))) for d in attacker.seen], seconds)


if __name__ == "__main__":
    if sys.argv[1] == "capture":
        capture(*sys.argv[2:5])
    elif sys.argv[1] == "record":
        record(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    elif sys.argv[1] == "storm":
        storm(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    elif sys.argv[1] == "replay":
        replay(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    else:
        flood(sys.argv[2], sys.argv[3], float(sys.argv[4]))
