#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tun-pair.py KIND NAME NETNS NETNS: a tun or tap NAME in both network namespaces; what is sent into one comes out of the other."""
import ctypes
import fcntl
import os
import select
import struct
import sys

TUNSETIFF, IFF_TUN, IFF_TAP, IFF_NO_PI = 0x400454CA, 1, 2, 0x1000
CLONE_NEWNET = 0x40000000


def make(kind, name, netns):
    """A descriptor of the netdev."""
    with open(f"/run/netns/{netns}", "rb") as there:
        if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {netns}")
    tun = os.open("/dev/net/tun", os.O_RDWR)
    flags = (IFF_TUN if kind == "tun" else IFF_TAP) | IFF_NO_PI
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
    return tun


def main():
    kind, name, *netns = sys.argv[1:]
    a, b = (make(kind, name, n) for n in netns)
    print("ready", flush=True)
    while True:
        for tun in select.select([a, b], [], [])[0]:
            try:
                os.write(b if tun == a else a, os.read(tun, 65536))
            except OSError:
                continue  # one of them is down


main()
