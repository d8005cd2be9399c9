#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""stream.py serve ADDRESS PROGRESS | send ADDRESS STOP

One TCP connection, 0.5 MB/s at most, until the file STOP is there. Each end prints the count and the SHA-256 of its bytes. The
server keeps the count so far, but for the last 16 KiB, in the file PROGRESS."""
import hashlib
import os
import random
import socket
import sys
import time

PORT = 7100
CHUNK = 16384


def report(count, digest):
    print(count, digest.hexdigest(), flush=True)


def open_socket(address):
    return socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)


def serve(address, progress):
    listener = open_socket(address)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, PORT))
    listener.listen(1)
    connection, _ = listener.accept()
    count, told, digest = 0, 0, hashlib.sha256()
    while data := connection.recv(65536):
        count += len(data)
        digest.update(data)
        if count - told < CHUNK:
            continue
        told = count
        with open(progress + ".new", "w") as f:
            f.write(f"{count}\n")
        os.rename(progress + ".new", progress)
    report(count, digest)


def send(address, stop):
    connection = open_socket(address)
    connection.connect((address, PORT))
    count, digest = 0, hashlib.sha256()
    while not os.path.exists(stop):
        data = random.randbytes(CHUNK)
        connection.sendall(data)
        count += len(data)
        digest.update(data)
        time.sleep(0.03)
    connection.close()
    report(count, digest)


{"serve": serve, "send": send}[sys.argv[1]](*sys.argv[2:])
