#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""on-terminal.py COLUMNS LINES STEP... -- COMMAND...: runs it on a terminal of that size, step by step.

STEP: see=PATTERN waits until what was written since the last step matches; key=TEXT presses keys (^C: Ctrl-C, ^\\: Ctrl-\\); size=COLUMNSxLINES
changes the window; kill sends SIGTERM. Then the command must end. Prints what it wrote, and "status N"; ends with 1 if a pattern does
not come, if a page is wider or longer than the window, or if the terminal is not as it was before. A page begins where the cursor goes
home. The first that is drawn after the window has changed may still be of the old size.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 60 * int(os.environ.get("PIB_SLOW", "1"))
HOME = "\x1b[H"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    def __init__(self, columns, lines, command):
        self.ours, theirs = pty.openpty()
        # The size of the window, and from which page on it holds.
        self.sizes = []
        self.all = self.new = ""
        self.resize(columns, lines)
        self.before = self.settings()
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=self.in_child)
        # Kept, so that the settings can be asked for when the command has ended.
        self.theirs = theirs

    def in_child(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    def settings(self):
        return termios.tcgetattr(self.ours)

    def resize(self, columns, lines):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.read(0)
        # All that was written before is read by now, but for a page that the window had been measured for already.
        self.sizes.append((self.all.count(HOME) + (1 if self.all else 0), columns, lines))

    def size_of(self, page):
        """Of the window, for which the page was drawn."""
        return next(size[1:] for size in reversed(self.sizes) if size[0] <= page)

    def misfits(self):
        """Pages that do not fit their window."""
        for number, page in enumerate(self.all.split(HOME)[1:]):
            columns, lines = self.size_of(number)
            rows = re.split("\r+\n", ESCAPE.sub("", page.split("\x1b[?25h")[0]))
            if len(rows) > lines or any(len(row) > columns for row in rows):
                yield f"page {number} of {len(rows)} lines, {max(map(len, rows))} columns, in a window of {columns}x{lines}"

    def read(self, seconds):
        while select.select([self.ours], [], [], seconds)[0]:
            seconds = 0
            part = os.read(self.ours, 65536).decode(errors="replace")
            self.all += part
            self.new += part

    def see(self, pattern):
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.new):
            if time.monotonic() > end or self.process.poll() is not None:
                sys.exit(f"not seen: {pattern}\n{self.all!r}")
            self.read(0.1)
        self.new = ""

    def step(self, step):
        kind, _, what = step.partition("=")
        if kind == "see":
            self.see(what)
        elif kind == "key":
            os.write(self.ours, what.replace("^C", "\x03").replace("^\\", "\x1c").encode())
        elif kind == "size":
            self.resize(*map(int, what.split("x")))
        else:
            self.process.send_signal(signal.SIGTERM)

    def end(self):
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            if time.monotonic() > end:
                self.process.kill()
                sys.exit(f"it does not end\n{self.all!r}")
            self.read(0.1)
        self.read(0)


def main():
    columns, lines = map(int, sys.argv[1:3])
    split = sys.argv.index("--")
    terminal = Terminal(columns, lines, sys.argv[split + 1:])
    for step in sys.argv[3:split]:
        terminal.step(step)
    terminal.end()
    print(terminal.all)
    print("status", terminal.process.returncode)
    for misfit in terminal.misfits():
        sys.exit(misfit)
    if terminal.settings() != terminal.before:
        sys.exit("the terminal is not as it was")
    if not terminal.all.endswith("\x1b[?25h\x1b[?1049l"):
        sys.exit("it has not gone back to the terminal's own page")


main()
