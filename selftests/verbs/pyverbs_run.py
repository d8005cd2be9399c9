#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs rdma-core's pyverbs suite case by case and reports in KTAP.

The cases of a module run in a process of their own. When it crashes or a case does not end, that case has
failed and a new process goes on with the next one. A skip is a failure unless --skips lists it.

usage: pyverbs_run.py --tests DIR --dev DEV [--skips FILE] [--seed N] [--timeout S] [MODULE|CASE]...
"""
import argparse
import fnmatch
import json
import os
import re
import select
import signal
import subprocess
import sys
import weakref

VENDORS = ("test_mlx5_", "test_efa", "test_cuda", "test_mana", "test_hns")


# ---- in the process of a module

class Reporter:
    """Writes what happens to a case as lines of JSON."""

    def __init__(self, fd):
        self.fd = fd

    def say(self, **row):
        os.write(self.fd, (json.dumps(row) + "\n").encode())


def mend_dmabuf():
    """
    pyverbs 56 cannot make a DmaBufMR of a DmaBuf: it calls DmaBuf.add_ref(), which is a method of C alone, as one of
    Python ("'DmaBuf' object has no attribute 'add_ref'"). Give it one: it keeps the buffer's regions, which must go
    before it does. Only the suite's modules get it: those of pyverbs look each other's classes up by name, and want
    the ones that they were compiled with.
    """
    import pyverbs.dmabuf
    import pyverbs.mr
    if hasattr(pyverbs.dmabuf.DmaBuf, "add_ref"):
        return

    class DmaBuf(pyverbs.dmabuf.DmaBuf):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.regions = weakref.WeakSet()

        def add_ref(self, region):
            self.regions.add(region)

        def close(self):
            # The parts of Python's are gone already when the object is freed.
            for region in list(getattr(self, "regions", ())):
                region.close()
            super().close()

    class DmaBufMR(pyverbs.mr.DmaBufMR):
        def __init__(self, pd, length, access, dmabuf=None, offset=0, gpu=0, gtt=0):
            if dmabuf is None:
                dmabuf = DmaBuf(length + offset, gpu, gtt)
            super().__init__(pd, length, access, dmabuf, offset, gpu, gtt)

    for name, module in list(sys.modules.items()):
        if name.startswith("tests."):
            for mended in (DmaBuf, DmaBufMR):
                if hasattr(module, mended.__name__):
                    setattr(module, mended.__name__, mended)


def load(tests, name):
    """The cases of one module, without the package's own __init__, which would load all of them."""
    import importlib
    import types
    import unittest
    sys.path.insert(0, tests)
    if "tests" not in sys.modules:
        package = types.ModuleType("tests")
        package.__path__ = [tests]
        sys.modules["tests"] = package
    from args_parser import parser
    if parser.args is None:
        parser.parse_args()
    module = importlib.import_module("tests." + name)
    # The suite's half a second until a peer is given up is too short where a page fault may take a tenth of that.
    sys.modules["tests.base"].TIMEOUT = 17
    mend_dmabuf()
    return list(flatten(unittest.defaultTestLoader.loadTestsFromModule(module)))


def flatten(suite):
    for item in suite:
        if hasattr(item, "__iter__"):
            yield from flatten(item)
        else:
            yield item


def result_class(reporter):
    import unittest

    class Result(unittest.TestResult):
        status, text = "ok", ""

        def note(self, status, text):
            if self.status in ("ok", "skip") or status == "fail":
                self.status, self.text = status, text

        def startTest(self, test):
            super().startTest(test)
            self.status, self.text = "ok", ""
            reporter.say(start=test.id())

        def addSkip(self, test, reason):
            self.note("skip", reason)

        def addError(self, test, err):
            super().addError(test, err)
            self.note("fail", self.errors[-1][1])

        def addFailure(self, test, err):
            super().addFailure(test, err)
            self.note("fail", self.failures[-1][1])

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None:
                self.note("fail", (self.errors + self.failures)[-1][1])

        def stopTest(self, test):
            super().stopTest(test)
            reporter.say(case=test.id(), status=self.status, text=self.text)

    return Result


def child(args, name, start):
    import faulthandler
    import random
    import unittest
    faulthandler.enable()
    reporter = Reporter(int(os.environ["PYVERBS_FD"]))
    os.set_inheritable(reporter.fd, False)
    sys.argv[1:] = ["--dev", args.dev]
    cases = load(args.tests, name)
    result = result_class(reporter)()
    for case in cases[start:]:
        random.seed(f"{args.seed} {case.id()}")
        # A suite of one, so that class and module fixtures run with each.
        unittest.TestSuite([case]).run(result)
    reporter.say(end=True)


# ---- in the process that reports

class Skips:
    """The skips that are expected: lines of CASE | KERNELS | REASON | WHY; see pyverbs.skips."""

    def __init__(self, path):
        self.rows = []
        self.any = path is None
        if path is None:
            return
        release = os.uname().release
        for line in open(path):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            case, kernels, reason, why = (x.strip() for x in line.split("|", 3))
            if kernels == "*" or any(release.startswith(k + ".") for k in kernels.split(",")):
                self.rows.append((case, re.compile(reason), why))

    def why(self, case, reason):
        for pattern, regex, why in self.rows:
            if fnmatch.fnmatch(case, pattern) and regex.search(reason):
                return why
        return "" if self.any else None


class Ktap:
    def __init__(self, plan):
        self.count, self.totals = 0, {"pass": 0, "fail": 0, "skip": 0}
        self.plan = plan
        print(f"KTAP version 1\n1..{plan}", flush=True)

    def line(self, kind, name, note=""):
        self.count += 1
        self.totals[kind] += 1
        result = "not ok" if kind == "fail" else "ok"
        tail = f" # SKIP {note}" if kind == "skip" else ""
        print(f"{result} {self.count} {name}{tail}", flush=True)

    def explain(self, text, lines=40):
        for row in text.rstrip().splitlines()[-lines:]:
            print(f"# {row}", flush=True)


def environment(fd):
    preload = os.environ.get("PYVERBS_PRELOAD")
    return {**os.environ, "PYVERBS_FD": str(fd), **({"LD_PRELOAD": preload} if preload else {})}


class Module:
    """Runs the cases of one module, in as many processes as it takes."""

    def __init__(self, args, name, cases, ktap, skips):
        self.args, self.name, self.cases, self.ktap, self.skips = args, name, cases, ktap, skips

    def run(self):
        done = 0
        while done < len(self.cases):
            done += self.process(done) or 1

    def process(self, start):
        """One process, from case number start on. Returns how many cases it settled."""
        reader, writer = os.pipe()
        log = open("/tmp/pyverbs.out", "w+b")
        command = [sys.executable, os.path.abspath(__file__), "--tests", self.args.tests, "--dev", self.args.dev,
                   "--seed", self.args.seed, "--child", self.name, "--start", str(start)]
        proc = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[writer],
                                env=environment(writer), start_new_session=True)
        os.close(writer)
        settled, ended = self.listen(reader, start)
        os.close(reader)
        if ended is None:
            proc.poll() is None and self.show_stack(proc.pid)
        try:
            os.killpg(proc.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        status = proc.wait()
        log.seek(0)
        output = log.read().decode(errors="replace")
        log.close()
        if start + settled < len(self.cases) and (ended is not True):
            case = self.cases[start + settled]
            self.ktap.line("fail", self.short(case))
            self.ktap.explain(f"no end after {self.args.timeout} s" if ended is None else
                              f"the process died, status {status}")
            self.ktap.explain(output)
            settled += 1
        return settled

    @staticmethod
    def show_stack(pid):
        for task in sorted(os.listdir(f"/proc/{pid}/task")):
            try:
                stack = open(f"/proc/{pid}/task/{task}/stack").read()
            except OSError:
                continue
            print(f"# task {task}: " + " < ".join(x.split()[-1] for x in stack.splitlines()), flush=True)

    def listen(self, fd, start):
        """Returns the number of settled cases and True at the end, False at a crash, None out of time."""
        settled, pending = 0, b""
        while True:
            if not select.select([fd], [], [], self.args.timeout)[0]:
                return settled, None
            data = os.read(fd, 65536)
            if not data:
                return settled, False
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                row = json.loads(line)
                if "end" in row:
                    return settled, True
                if "case" in row:
                    self.settle(row)
                    settled += 1

    @staticmethod
    def short(case):
        return case.removeprefix("tests.")

    def settle(self, row):
        name, text = self.short(row["case"]), row["text"]
        if row["status"] != "skip":
            self.ktap.line("pass" if row["status"] == "ok" else "fail", name)
            if row["status"] == "fail":
                self.ktap.explain(text)
            return
        why = self.skips.why(name, text)
        if why is None:
            self.ktap.line("fail", name)
            self.ktap.explain(f"skipped, and not listed as to be skipped: {text}")
        else:
            self.ktap.line("skip", name, text + (f" ({why})" if why else ""))


def modules(tests):
    return [f[:-3] for f in sorted(os.listdir(tests))
            if f.startswith("test_") and f.endswith(".py") and not f.startswith(VENDORS)]


def list_cases(args, wanted):
    """{module: [case id]}, by a process of its own: a module may not even load."""
    code = subprocess.run([sys.executable, os.path.abspath(__file__), "--tests", args.tests, "--dev", args.dev,
                           "--list", *wanted], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(code.stdout)


def do_list(args):
    sys.argv[1:] = ["--dev", args.dev]
    print(json.dumps({m: [c.id() for c in load(args.tests, m)] for m in args.what}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--skips")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--timeout", type=float, default=90)
    parser.add_argument("--child")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("what", nargs="*")
    args = parser.parse_args()
    if args.child:
        return child(args, args.child, args.start)
    if args.list:
        return do_list(args)
    found = list_cases(args, modules(args.tests))
    pick = args.what
    if pick:
        found = {m: [c for c in cases if any(p in c for p in pick)] for m, cases in found.items()}
        found = {m: cases for m, cases in found.items() if cases}
    ktap = Ktap(sum(len(cases) for cases in found.values()))
    skips = Skips(args.skips)
    for name, cases in found.items():
        Module(args, name, cases, ktap, skips).run()
    print("# Totals: pass:{pass} fail:{fail} skip:{skip}".format(**ktap.totals))
    return 0 if ktap.totals["fail"] == 0 and ktap.count == ktap.plan else 1


if __name__ == "__main__":
    sys.exit(main())
