#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""chart.py BENCH.JSON >CHART.SVG: bandwidth against message size, from the rows write_bw_SIZE of `make bench`."""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 460, 80, 40, 110, 60
COLOURS = {"pib": "#c0392b", "rxe": "#2980b9", "tcp": "#27ae60", "memcpy": "#7f8c8d"}
LABELS = {"pib": "pib", "rxe": "Soft-RoCE", "tcp": "TCP (lo)", "memcpy": "memcpy"}


def points(rows):
    """{peer: [(bytes, MiB/s), ...]}"""
    lines = {peer: [] for peer in COLOURS}
    for row in rows:
        size = row["case"].removeprefix("write_bw_")
        if row["path"] != "same-host" or not size.isdigit():
            continue
        for peer, line in lines.items():
            if row[peer]:
                line.append((int(size), row[peer]))
    return {peer: sorted(line) for peer, line in lines.items() if line}


def size_name(n):
    for unit in ("", "Ki", "Mi"):
        if n < 1024:
            return f"{n} {unit}B"
        n //= 1024
    return f"{n} GiB"


class Axis:
    """A logarithmic axis from @low to @high, drawn from @start to @end."""

    def __init__(self, low, high, start, end):
        self.low, self.span, self.start, self.length = math.log2(low), math.log2(high / low) or 1, start, end - start

    def __call__(self, value):
        return self.start + (math.log2(value) - self.low) / self.span * self.length


def grid(x, y, sizes, decades):
    for n in sizes:
        yield f'<line x1="{x(n):.1f}" y1="{TOP}" x2="{x(n):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#eee"/>'
        yield f'<text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size_name(n)}</text>'
    for v in decades:
        yield f'<line x1="{LEFT}" y1="{y(v):.1f}" x2="{WIDTH - RIGHT}" y2="{y(v):.1f}" stroke="#eee"/>'
        yield f'<text x="{LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v:g}</text>'


def curve(peer, line, x, y):
    path = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in line)
    yield f'<polyline fill="none" stroke="{COLOURS[peer]}" stroke-width="2" points="{path}"/>'
    yield (f'<text x="{x(line[-1][0]) + 8:.1f}" y="{y(line[-1][1]) + 4:.1f}" fill="{COLOURS[peer]}">'
           f'{LABELS[peer]}</text>')


def chart(lines):
    sizes = sorted({n for line in lines.values() for n, _ in line})
    values = [v for line in lines.values() for _, v in line]
    decades = [10 ** k for k in range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)]
    x = Axis(sizes[0], sizes[-1], LEFT, WIDTH - RIGHT)
    y = Axis(decades[0], decades[-1], HEIGHT - BOTTOM, TOP)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
           'font-size="12"><rect width="100%" height="100%" fill="white"/>')
    yield f'<text x="{LEFT}" y="22" font-size="15">RC WRITE, both ends on one host: MiB/s by message size</text>'
    yield from grid(x, y, [n for i, n in enumerate(sizes) if i % 3 == 0 or n == sizes[-1]], decades)
    for peer, line in lines.items():
        yield from curve(peer, line, x, y)
    yield "</svg>"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = points(json.load(f))
    if not lines:
        sys.exit("chart: no rows write_bw_SIZE")
    print("\n".join(chart(lines)))


if __name__ == "__main__":
    main()
