#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs inside the lab: the same transfers over pib, rxe, TCP and memcpy, alternating, in one machine.

same-host: both ends on one device in one namespace (rxe on a netdev of its own, iperf3 over lo).
veth: the ends in two namespaces joined by a veth pair (iperf3 over the same pair).
"""
import json
import math
import os
import statistics
import subprocess
import sys
import time

SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
ONLY = os.environ.get("BENCH_CASES", "").split()
HERE = os.path.dirname(os.path.abspath(__file__))


def sh(cmd, check=True):
    return subprocess.run(cmd, shell=True, check=check, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def number_line(text):
    """The result line of perftest: the last that consists of numbers."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    rows = [r for r in rows if r and all(is_number(x) for x in r) and len(r) >= 4]
    return [float(x) for x in rows[-1]] if rows else None


def is_number(s):
    try:
        float(s)
        return True
    except ValueError:
        return False


class Ends:
    """Where server and client of a transfer run and which devices they use."""

    def __init__(self, server, client, server_dev, client_dev, address, extra=""):
        self.server, self.client = server, client
        self.server_dev, self.client_dev = server_dev, client_dev
        self.address, self.extra = address, extra
        self.port = 18600

    def perftest(self, program, args):
        self.port += 1
        common = f"{program} -F -p {self.port} {args} {self.extra}"
        server = subprocess.Popen(f"{self.server} timeout 60 {common} -d {self.server_dev}", shell=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = ""
        for _ in range(20):
            time.sleep(0.2)
            r = subprocess.run(f"{self.client} timeout 60 {common} -d {self.client_dev} {self.address}", shell=True,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            text = r.stdout
            if r.returncode == 0 or "connect" not in text.lower():
                break
        server.wait()
        row = number_line(text)
        if row is None:
            print(f"bench: {common}: no result\n{text}", file=sys.stderr)
        return row

    def iperf(self, args):
        self.port += 1
        server = subprocess.Popen(f"{self.server} iperf3 -s -1 -p {self.port}", shell=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = ""
        for _ in range(20):
            time.sleep(0.2)
            r = subprocess.run(f"{self.client} iperf3 -c {self.address} -p {self.port} -t {max(1, round(SECONDS))} -J {args}",
                               shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            text = r.stdout
            if r.returncode == 0:
                break
        server.wait()
        return json.loads(text)["end"]["sum_received"]["bits_per_second"] / 8 / (1 << 20)


def bandwidth(row):
    return row[3]


def rate(row):
    return row[4] * 1e6


def latency(row):
    return row[4]


def sample(column, ends, program, args):
    """A figure, or None where the program failed. It is asked again, twice, where it could not tell the clock's rate:
    perftest writes inf or 0 then."""
    for _ in range(3):
        row = ends.perftest(program, args)
        value = column(row) if row else None
        if not row or (value and math.isfinite(value)):
            return value
    return None


D = f"-D {max(1, round(SECONDS))}"
SHORT = "-D 1"
N = "-n 5000"
# name, program, arguments, unit, better, column, arguments of iperf3, size for memcpy
CASES = [
    ("write_bw_64k", "ib_write_bw", f"-s 65536 {D}", "MiB/s", "higher", bandwidth, "-l 64K", 65536),
    ("send_bw_64k", "ib_send_bw", f"-s 65536 {D}", "MiB/s", "higher", bandwidth, "-l 64K", 65536),
    ("read_bw_64k", "ib_read_bw", f"-s 65536 {D}", "MiB/s", "higher", bandwidth, "-l 64K", 65536),
    ("write_lat_8", "ib_write_lat", f"-s 8 {N}", "us", "lower", latency, None, None),
    ("send_lat_8", "ib_send_lat", f"-s 8 {N}", "us", "lower", latency, None, None),
    ("write_rate_64", "ib_write_bw", f"-s 64 {D}", "msg/s", "higher", rate, None, None),
    ("ud_send_rate_1k", "ib_send_bw", f"-c UD -s 1024 {D}", "msg/s", "higher", rate, None, None),
]


# Bandwidth against size, for the chart: measured once, briefly.
SIZES = [8 << k for k in range(0, 18)]
SWEEP = [(f"write_bw_{size}", "ib_write_bw", f"-s {size} {SHORT}", "MiB/s", "higher", bandwidth, f"-l {size}", size)
         for size in SIZES]

# The rest: many QPs, other services, atomics.
WIDE = [(f"write_bw_64k_{q}qp", "ib_write_bw", f"-s 65536 -q {q} {SHORT}", "MiB/s", "higher", bandwidth, None, None)
        for q in (4, 16, 64)]
WIDE += [(f"write_rate_64_{q}qp", "ib_write_bw", f"-s 64 -q {q} {SHORT}", "msg/s", "higher", rate, None, None)
         for q in (4, 16, 64)]
WIDE += [
    ("write_bw_64k_uc", "ib_write_bw", f"-c UC -s 65536 {SHORT}", "MiB/s", "higher", bandwidth, None, None),
    ("send_bw_64k_uc", "ib_send_bw", f"-c UC -s 65536 {SHORT}", "MiB/s", "higher", bandwidth, None, None),
    ("send_bw_64k_xrc", "ib_send_bw", f"-c XRC -s 65536 {SHORT}", "MiB/s", "higher", bandwidth, None, None),
    ("fetch_add_rate", "ib_atomic_bw", f"-A FETCH_AND_ADD {SHORT}", "msg/s", "higher", rate, None, None),
    ("cmp_swap_rate", "ib_atomic_bw", f"-A CMP_AND_SWAP {SHORT}", "msg/s", "higher", rate, None, None),
]

# With --icount a nanosecond is an instruction. One-sided transfers only: there the other process sleeps.
COUNTED = [
    ("write_insn_64", "ib_write_bw", "-s 64 -n 20000", "insn/msg", "lower", lambda row: 1e3 / row[4], None, None),
    ("read_insn_64", "ib_read_bw", "-s 64 -n 10000", "insn/msg", "lower", lambda row: 1e3 / row[4], None, None),
    ("fetch_add_insn", "ib_atomic_bw", "-A FETCH_AND_ADD -n 10000", "insn/msg", "lower", lambda row: 1e3 / row[4], None, None),
    ("write_insn_64k", "ib_write_bw", "-s 65536 -n 1000", "insn/msg", "lower", lambda row: 1e3 / row[4], None, None),
]

# There an end that polls keeps the one CPU from the other for the rest of its time slice, so both ends sleep.
POLLED = ("write_lat_8", "send_lat_8")
SLEEPING = [
    ("send_lat_insn_8", "ib_send_lat", "-e -s 8 -n 2000", "insn", "lower", lambda row: 1e3 * latency(row), None, None),
]


def set_up():
    for ns in ("h1", "h2"):
        sh(f"ip netns add {ns}")
    sh("ip link add veth1 type veth peer name veth2")
    for k in (1, 2):
        sh(f"ip link set veth{k} netns h{k} && ip -n h{k} link set veth{k} name eth0")
        sh(f"ip -n h{k} link set lo up && ip -n h{k} addr add 10.77.0.{k}/24 dev eth0 && ip -n h{k} link set eth0 up")
        sh(f"ip netns exec h{k} pibctl add pib{k - 1} netdev eth0 standalone")
    sh("ip link set lo up; ip link add rxenet mtu 4200 type dummy; ip addr add 10.99.0.1/24 dev rxenet; ip link set rxenet up")
    sh("modprobe rdma_rxe && rdma link add rxe0 type rxe netdev rxenet")
    sh(f"g++ -O2 -std=c++20 -o /tmp/memcpy {HERE}/memcpy.cc")
    time.sleep(3)


def measure(case, ends, peers, rounds):
    _, program, args, _, _, column, iperf_args, size = case
    values = {p: [] for p in ("pib", "rxe", "tcp", "memcpy")}
    for _ in range(rounds):
        for peer in peers:
            if peer in ("pib", "rxe"):
                values[peer].append(sample(column, ends[peer], program, args))
            elif peer == "tcp" and iperf_args:
                values[peer].append(ends["tcp"].iperf(iperf_args))
            elif peer == "memcpy" and size:
                values[peer].append(float(sh(f"/tmp/memcpy {size} {SECONDS}")))
    return {p: statistics.median([x for x in v if x is not None]) if any(x is not None for x in v) else None
            for p, v in values.items()}


def losses():
    """Packets that receivers found missing (RC sequence errors) and senders waited for in vain, from hw_counters."""
    total = 0
    for dev in ("pib0", "pib1"):
        for counter in ("out_of_sequence", "local_ack_timeout_err"):
            try:
                with open(f"/sys/class/infiniband/{dev}/ports/1/hw_counters/{counter}", encoding="ascii") as f:
                    total += int(f.read())
            except FileNotFoundError:
                pass
    return total


def show(v):
    if v is None:
        return "-"
    return f"{v:,.0f}" if v >= 100 else f"{v:.2f}"


def table(path, cases, ends, peers, rounds, rows):
    before = losses()
    for case in cases:
        name, _, _, unit, better, _, _, _ = case
        if ONLY and name not in ONLY:
            continue
        r = measure(case, ends, peers, rounds)
        rows.append({"case": name, "path": path, "unit": unit, "better": better, **r})
        ratios = [f"{r['pib'] / r[p]:.2f}" if r["pib"] and r[p] else "-" for p in ("rxe", "tcp", "memcpy")]
        print(f"{path:<10}{name:<20}{unit:<10}" + "".join(f"{show(r[p]):>12}" for p in ("pib", "rxe", "tcp", "memcpy"))
              + f"{ratios[0]:>8}{ratios[1]:>8}{ratios[2]:>9}", flush=True)
    print(f"{path}: packets lost or timed out while measuring: {losses() - before}", flush=True)


def main():
    set_up()
    h1, h2 = "ip netns exec h1", "ip netns exec h2"
    paths = {
        "same-host": ({
            "pib": Ends(h1, h1, "pib0", "pib0", "10.77.0.1"),
            "rxe": Ends("", "", "rxe0", "rxe0", "10.99.0.1", "-x 1"),
            "tcp": Ends("", "", "", "", "127.0.0.1"),
        }, ("pib", "rxe", "tcp", "memcpy")),
        "veth": ({
            "pib": Ends(h1, h2, "pib0", "pib1", "10.77.0.1"),
            "tcp": Ends(h1, h2, "", "", "10.77.0.1"),
        }, ("pib", "tcp")),
    }
    same_host, veth = paths["same-host"], paths["veth"]
    rows = []
    print(f"{'path':<10}{'case':<20}{'unit':<10}{'pib':>12}{'rxe':>12}{'tcp':>12}{'memcpy':>12}"
          f"{'/rxe':>8}{'/tcp':>8}{'/memcpy':>9}", flush=True)
    if "--all-counted" in sys.argv:
        # The machine has one CPU, and its time is instructions: what both ends take together, whoever else uses the host.
        measure(COUNTED[0], same_host[0], ("pib",), 1)
        cases = [case for case in CASES if case[0] not in POLLED] + SLEEPING
        table("same-host", cases + WIDE + COUNTED, same_host[0], ("pib",), ROUNDS, rows)
        table("veth", cases, veth[0], ("pib",), ROUNDS, rows)
    elif "--icount" in sys.argv:
        # A program's first run waits for the disk, which takes no instructions: its time may be over at once.
        measure(COUNTED[0], same_host[0], ("pib", "rxe"), 1)
        table("same-host", COUNTED, same_host[0], ("pib", "rxe"), 1, rows)
    else:
        table("same-host", CASES, *same_host, ROUNDS, rows)
        table("veth", CASES, *veth, ROUNDS, rows)
        table("same-host", WIDE, same_host[0], ("pib", "rxe"), 1, rows)
        table("same-host", SWEEP, *same_host, 1, rows)
    print("BENCH-JSON " + json.dumps(rows))


if __name__ == "__main__":
    main()
