#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mcast.py join GROUP DEV | send GROUP DEV TEXT: multicast by UDP on the interface DEV.

join is a member until it is killed, and prints "joined", then each datagram. send sends one that no member of this host gets."""
import socket
import struct
import sys

PORT = 7200


def is_v6(group):
    return ":" in group


def membership(group, dev):
    index = socket.if_nametoindex(dev)
    if is_v6(group):
        return socket.inet_pton(socket.AF_INET6, group) + struct.pack("@I", index)
    return socket.inet_aton(group) + socket.inet_aton("0.0.0.0") + struct.pack("@i", index)


def open_socket(group):
    return socket.socket(socket.AF_INET6 if is_v6(group) else socket.AF_INET, socket.SOCK_DGRAM)


def join(group, dev):
    s = open_socket(group)
    s.bind((group, PORT))
    if is_v6(group):
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership(group, dev))
    else:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership(group, dev))
    print("joined", flush=True)
    while True:
        print(s.recv(65536).decode(), flush=True)


def send(group, dev, text):
    s = open_socket(group)
    if is_v6(group):
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex(dev))
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP, 0)
    else:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, membership(group, dev))
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
    s.sendto(text.encode(), (group, PORT))


{"join": join, "send": send}[sys.argv[1]](*sys.argv[2:])
