#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Seals of a keyed fabric's data. Written from docs/wire-format.md alone."""
import collections
import hmac
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from hostile import CONTROL_LEN, VERSION

BYE = 4
SEALED = 2
HEAD, COUNTER, TAG = 8, 8, 16
GENERATION = 65536


def key_of(path):
    """The key in a file: the file may end with a newline that is not the key's."""
    with open(path, "rb") as file:
        return file.read().removesuffix(b"\n")


def session_key(key, to, sender):
    return hmac.digest(key, b"pib sealed data " + to + sender, "sha256")


def tag_of(key, to, sender):
    return hmac.digest(key, to + sender, "sha256")[:2]


def generation_key(session, generation):
    return ChaCha20Poly1305(session).encrypt(struct.pack("<4xQ", generation), bytes(32), b"")[:32]


def authentication(key, p):
    """Of a control datagram."""
    return hmac.digest(key, p[:160] + bytes(16), "sha256")[:16]


def sealed_up(key, to, sender, counter, plain):
    """A datagram of a fabric without a key, as it would be in one with a key. @to, @sender: sessions."""
    head = bytes([plain[0], plain[1] | SEALED]) + tag_of(key, to, sender) + plain[4:HEAD]
    cipher = ChaCha20Poly1305(generation_key(session_key(key, to, sender), counter // GENERATION))
    return head + struct.pack("!Q", counter) + cipher.encrypt(struct.pack("<4xQ", counter), plain[HEAD:], head)


class Sessions:
    """What control datagrams say: link id of a receiver to its session and its peer's."""

    def __init__(self):
        self.of = collections.defaultdict(set)

    def learn(self, p):
        """@p: a datagram."""
        if len(p) == CONTROL_LEN and p[0] >> 4 == VERSION and p[0] & 15 != BYE:
            link_id, own, peer = p[12:16], p[16:24], p[24:32]
            if peer != bytes(8):
                self.of[link_id].add((own, peer))

    def open(self, key, payload):
        """The datagram as it would be in a fabric without a key; None: no session's key opens it."""
        head, counter = payload[:HEAD], payload[HEAD : HEAD + COUNTER]
        nonce = bytes(4) + counter[::-1]
        for to, sender in self.of[payload[4:8]]:
            if head[2:4] != tag_of(key, to, sender):
                continue
            session = session_key(key, to, sender)
            cipher = ChaCha20Poly1305(generation_key(session, int.from_bytes(counter) // GENERATION))
            try:
                return head + cipher.decrypt(nonce, payload[HEAD + COUNTER :], head)
            except InvalidTag:
                continue
        return None
