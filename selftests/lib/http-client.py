#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""http-client.py PORT WHAT...: a client of "pibctl fabric serve", well or ill.

get PATH prints the body; status METHOD PATH [HEADER...] prints the status ("none" if it hangs up), without a Host unless given;
polls PATH EXPRESSION COMMAND...: runs the command, asks each half second as the page does, and prints at which time of asking the
expression held for o, the JSON, and i, that time; crowd N PATH: N connections say nothing, N half a request, N read nothing, and one asks;
trickle: one sends a byte now and then; prints that it was hung up on."""
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

PATIENCE = 60 * int(os.environ.get("PIB_SLOW", "1"))
PORT = int(sys.argv[1])


def connect():
    return socket.create_connection(("127.0.0.1", PORT), PATIENCE)


def get(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}", timeout=PATIENCE) as response:
        return response.read().decode()


def status(method, path, *headers):
    with connect() as connection:
        try:
            connection.sendall("".join(f"{line}\r\n" for line in [f"{method} {path} HTTP/1.1", *headers, ""]).encode())
            first = connection.makefile("rb").readline().split()
        except ConnectionError:
            first = []
    print(first[1].decode() if len(first) > 1 else "none")


def polls(path, expression, *command):
    subprocess.run(command, check=True)
    for i in range(1, 2 * PATIENCE):
        if eval(expression, {"o": json.loads(get(path)), "i": i}):
            print(i)
            return
        time.sleep(0.5)
    print("never")


def crowd(count, path):
    many = []
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
    for text in ["", request, request + "\r\n"]:
        for _ in range(int(count)):
            many.append(connect())
            try:
                many[-1].sendall(text.encode())
            except ConnectionError:
                pass
    print(len(get(path)))


def trickle():
    with connect() as connection:
        try:
            for _ in range(PATIENCE * 4):
                connection.sendall(b"G")
                time.sleep(0.5)
        except ConnectionError:
            print("hung up on")


what, arguments = sys.argv[2], sys.argv[3:]
if what == "get":
    print(get(*arguments))
else:
    {"status": status, "polls": polls, "crowd": crowd, "trickle": trickle}[what](*arguments)
