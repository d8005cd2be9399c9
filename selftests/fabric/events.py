#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""events.py: hears pib's events from netlink itself. A JSON object a line: the number of the event, the attributes that it has
but should not have, by numbers, and whether an HCA that is told to be gone is there."""
import json
import os
import socket
import struct
import sys

GENERIC, CTRL, GETFAMILY, SOL_NETLINK, ADD_MEMBERSHIP, HCA_DEL = 16, 16, 3, 270, 1, 1
HCA_NAME, EVENT, UDP_LINK, UDP_PEER = 2, 37, 15, 3

# The numbers of uapi/linux/pib.h, of what everybody may know.
END = {1: None, 2: None}  # node, port
PORT = {n: None for n in (2, 4, 5, 6, 8)}  # num, state, phys-state, lid, sm-lid
ENDPOINT = {1: None, 2: None, 3: None}  # IPv4, IPv6, port
# pad, netdev, peer, up, peer-node-guid, peer-port-num, peer-desc, restarts, by-second-key; no link ids
LINK = {n: None for n in (1, 2, 6, 7, 8, 9, 11, 13)} | {UDP_PEER: ENDPOINT}
# pad, names, node-guid, link-state, auto, num-keys, event, time, ib-event, old-name, trap
MAY = {n: None for n in (1, 2, 3, 6, 16, 22, 35, EVENT, 38, 39, 43, 47)} | {12: PORT, 13: END, 14: END, UDP_LINK: LINK}


def attributes(data):
    """All (number, value) pairs."""
    while len(data) >= 4:
        size, number = struct.unpack("=HH", data[:4])
        yield number & 0x3FFF, data[4:size]
        data = data[(size + 3) & ~3:]


def strange(data, may, path=""):
    for number, value in attributes(data):
        if number not in may:
            yield f"{path}{number}"
        elif may[number]:
            yield from strange(value, may[number], f"{path}{number}.")


def family(s):
    name = struct.pack("=HH", 8, 2) + b"pib\0"
    s.sendto(struct.pack("=IHHIIBBH", 20 + len(name), CTRL, 1, 1, 0, GETFAMILY, 1, 0) + name, (0, 0))
    found = dict(attributes(s.recv(65536)[20:]))
    for _, group in attributes(found[7]):
        group = dict(attributes(group))
        if group[1] == b"events\0":
            return struct.unpack("=H", found[1])[0], struct.unpack("=I", group[2])[0]
    sys.exit("there is no group")


def describe(data):
    found = dict(attributes(data))
    event = {"event": found[EVENT][0], "strange": list(strange(data, MAY)), "udp": UDP_LINK in found}
    if event["event"] == HCA_DEL:
        event["there"] = os.path.exists("/sys/class/infiniband/" + found[HCA_NAME][:-1].decode())
    # The probes of the script look for their names.
    event["node"] = (found.get(HCA_NAME) or found.get(3) or b"\0")[:-1].decode()
    return event


s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, GENERIC)
s.bind((0, 0))
number, group = family(s)
s.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, group)
while True:
    message = s.recv(65536)
    if struct.unpack("=H", message[4:6])[0] == number:
        print(json.dumps(describe(message[20:struct.unpack("=I", message[:4])[0]])), flush=True)
