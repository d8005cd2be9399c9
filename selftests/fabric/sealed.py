#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Data of a keyed fabric, seen by somebody on the segment. Written from docs/wire-format.md alone.

watch NETDEV FILE	keep what passes between pib's hosts, from the line that says so to SIGTERM
open FILE KEYFILE [MAC]	take all data, or that of a sender, out of its seals; print how many datagrams by opcode, and what is wrong
attack NETDEV FILE SECONDS	send what was seen again: as it was, changed, and in the clear; print how many of each
"""
import collections
import json
import random
import signal
import socket
import struct
import sys

from hostile import VERSION, Datagram, altered, frame, listener, mac_of, send_all
from seals import COUNTER, GENERATION, HEAD, SEALED, TAG, Sessions, key_of

DATA, SEGMENT = 0, 5


def sniff(netdev):
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    sniffer = listener(netdev)
    sniffer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    sniffer.settimeout(0.2)
    print("watching", flush=True)
    while not ended:
        try:
            raw = sniffer.recv(65535)
            yield raw, Datagram(raw)
        except (TimeoutError, ValueError, IndexError, struct.error):
            continue


def load(path):
    with open(path, encoding="ascii") as file:
        return [Datagram(bytes.fromhex(f)) for f in json.load(file)]


def is_data(payload):
    return payload[0] >> 4 == VERSION and payload[0] & 15 in (DATA, SEGMENT)


def opcode(plain):
    """Of the packet that starts a datagram; None: none does."""
    if plain[0] & 15 == SEGMENT and plain[14:16] != bytes(2):
        return None
    lrh = plain[16:] if plain[0] & 15 == SEGMENT else plain[8:]
    return lrh[48 if lrh[1] & 3 == 3 else 8]


def open_all(path, keyfile, mac=None):
    seen = load(path)
    sessions, found, key = Sessions(), collections.Counter(), key_of(keyfile)
    for d in seen:
        sessions.learn(d.payload)
    counters = collections.defaultdict(dict)
    for d in seen:
        p = d.payload
        if not is_data(p) or (mac and d.eth[6:12] != bytes.fromhex(mac.replace(":", ""))):
            continue
        if not p[1] & SEALED:
            found["unsealed"] += 1
            continue
        mark = (d.source, p[4:8], p[2:4])
        before = counters[mark].setdefault(p[8:16], p)
        if before is not p:
            found["datagram twice" if before == p else "counter twice"] += 1
        plain = sessions.open(key, p)
        if plain is None:
            found["closed"] += 1
        else:
            found[f"opcode {opcode(plain)}"] += 1
            found["later generations"] += int.from_bytes(p[8:16]) >= GENERATION
    print(json.dumps(found))


def clear(payload):
    """In the clear, as of a fabric without a key: the flag is off, seal and tag are gone."""
    head = bytes([payload[0], payload[1] & ~SEALED]) + payload[2:HEAD]
    return head + payload[HEAD + COUNTER : -TAG]


def attack(netdev, path, seconds):
    chance, mac = random.Random(1), mac_of(netdev)

    def changed(payload):
        at = chance.randrange(HEAD + COUNTER, len(payload))
        higher = struct.unpack("!Q", payload[8:16])[0] + (1 << 32)
        return altered(altered(payload, at, bytes([payload[at] ^ 1])), HEAD, struct.pack("!Q", higher))

    def newer(payload):
        return altered(payload, HEAD, struct.pack("!Q", (1 << 40) + chance.randrange(1 << 20)))

    kinds = {"replayed": bytes, "changed": changed, "newer": newer, "clear": clear}
    seen = [d for d in load(path) if is_data(d.payload)]
    send_all(netdev, [(kind, frame(d, mac, d.source, make(d.payload))) for d in seen for kind, make in kinds.items()],
             seconds)


def watch(netdev, path):
    kept = [raw.hex() for raw, d in sniff(netdev) if len(raw) <= 1514]
    with open(path, "w", encoding="ascii") as out:
        json.dump(kept[:6000], out)


def main():
    what, *words = sys.argv[1:]
    if what == "watch":
        watch(*words)
    elif what == "open":
        open_all(*words)
    else:
        attack(words[0], words[1], float(words[2]))


main()
