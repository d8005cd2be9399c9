#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""on-terminal.py COLUMNS LINES STEP... -- COMMAND...: runs it on a terminal of that size, step by step.

STEP: see=PATTERN waits until what was written since the last step matches; key=TEXT presses keys (^C: Ctrl-C); size=COLUMNSxLINES
changes the window; kill sends SIGTERM. Then the command must end. Prints what it wrote, and "status N"; ends with 1 if a pattern does
not come, if a line is wider than the window, or if the terminal is not as it was before.
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
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    def __init__(self, columns, lines, command):
        self.ours, theirs = pty.openpty()
        self.widest = 0
        self.resize(columns, lines)
        self.before = self.settings()
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=self.in_child)
        # Kept, so that the settings can be asked for when the command has ended.
        self.theirs = theirs
        self.all = self.new = ""

    def in_child(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def settings(self):
        return termios.tcgetattr(self.ours)

    def resize(self, columns, lines):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.widest = max(self.widest, columns)

    def read(self, seconds):
        if select.select([self.ours], [], [], seconds)[0]:
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
            os.write(self.ours, what.replace("^C", "\x03").encode())
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
    wide = [line for line in re.split(r"[\r\n]+", ESCAPE.sub("", terminal.all)) if len(line) > terminal.widest]
    if wide:
        sys.exit(f"wider than the window: {wide}")
    if terminal.settings() != terminal.before:
        sys.exit("the terminal is not as it was")
    if not terminal.all.endswith("\x1b[?25h\x1b[?1049l"):
        sys.exit("it has not gone back to the terminal's own page")


main()
