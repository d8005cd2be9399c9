#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""serve_browser.py URL SCREENSHOT: looks at the page of "pibctl fabric serve" as a person does, while cables break; prints KTAP.

Run by serve-browser.sh, whose fabric it is."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from browser import Browser  # noqa: E402

CABLE = ".cable[data-cable='{}']"
cases = []


def case(name):
    def keep(function):
        cases.append((name, function))
        return function
    return keep


def pibctl(*words):
    return subprocess.run(["pibctl", *words], check=True, capture_output=True, text=True).stdout


def need(holds, got):
    if not holds:
        raise AssertionError(repr(got))


class Page:
    def __init__(self, url):
        self.browser = Browser()
        self.url = url
        self.switch, self.cable = "s1-0-0", None

    def sees(self, selector, pattern):
        self.browser.wait(f"{selector}: {pattern}", lambda: re.search(pattern, self.browser.text(selector), re.S | re.I))

    def is_now(self, word, cable=None):
        selector = CABLE.format(cable or self.cable)
        self.browser.wait(f"{selector}: {word}", lambda: word in self.browser.classes(selector))

    def click_cable(self, name):
        """The middle of a cable is what is wide enough to be hit."""
        self.browser.run("document.querySelector(arguments[0]).nextElementSibling.dispatchEvent(new MouseEvent('click', {bubbles: true}))",
                         CABLE.format(name))


@case("the page draws 4 HCAs, 4 switches and 8 cables that are active")
def draws(page):
    page.browser.open(page.url)
    counts = "return ['.node.hca', '.node.switch', 'main .cable.active'].map(s => document.querySelectorAll(s).length).join()"
    page.browser.wait("nodes and cables", lambda: page.browser.run(counts) == "4,4,8")
    page.sees("#sum", "4 HCAs, 4 switches, 8 cables, 0 not in order")
    page.sees("#live", "live")
    page.cable = page.browser.run("return [...document.querySelectorAll('.cable')].map(c => c.dataset.cable).find(c => /^(pib0|s1-0-0)\\/1$/.test(c))")
    need(page.cable, page.cable)


@case("markup in a description is text")
def escapes(page):
    need(page.browser.run("return document.querySelectorAll('main b, aside b').length") == 0, "a <b>")
    titles = page.browser.run("return [...document.querySelectorAll('.node title')].map(t => t.textContent).join('\\n')")
    need("<b title=x>h-0-0</b>" in titles, titles)


@case("a click on an HCA: its ports, and markup in its description")
def clicks_hca(page):
    page.browser.click(".node.hca[data-node='pib0']")
    page.sees("#details", r"HCA pib0.*<b title=x>h-0-0</b>.*ACTIVE.*s1-0-0/1.*4X")
    need("chosen" in page.browser.classes(".node.hca[data-node='pib0']"), "not chosen")


@case("a click on its port: LID, width, and counters")
def clicks_port(page):
    page.browser.click("#details td button")
    page.sees("#details", r"Port pib0/1.*LID\s+[1-9].*4X.*port_xmit_packets\s+[0-9.]*.*link_downed")


@case("its counters move with traffic")
def counters(page):
    value = ("return [...document.querySelectorAll('#details tr')].find(r => r.firstChild.textContent === 'port_xmit_packets')"
             "?.lastChild.textContent.replaceAll(',', '')")
    before = int(page.browser.run(value))
    guid = pibctl("-j", "show", "pib3")
    lid = re.search(r'"lid": ?(\d+)', guid).group(1)
    for _ in range(3):
        subprocess.run(["perfquery", "-C", "pib0", lid, "1"], check=True, stdout=subprocess.DEVNULL)
    page.browser.wait("more packets", lambda: int(page.browser.run(value)) > before)


@case("a click on a switch: its ports and forwarding table")
def clicks_switch(page):
    page.browser.click(f".node.switch[data-node='{page.switch}']")
    page.sees("#details", r"Switch s1-0-0.*pib0/1")
    page.sees("#tables", r"LID\s+by port\s+\d")


@case("a cable is pulled: the page shows it")
def pulled(page):
    page.click_cable(page.cable)
    page.sees("#details", r"Port .*Counters.*Port .*Counters")
    pibctl("link", "set", "pib0/1", "down")
    page.is_now("unplugged")
    page.sees("#sum", "1 not in order")
    page.sees("#log", "UNPLUGGED")


@case("within a second of seeing it: the page asks twice a second")
def asks_often(page):
    # The wait that the page asks for counts, not the one that it gets: a busy machine's clock goes on meanwhile.
    page.browser.run("""window.waits = []; const before = window.setTimeout;
        window.setTimeout = (what, wait, ...rest) => { if (what.name === "tick") window.waits.push(wait); return before(what, wait, ...rest); };""")
    waits = page.browser.wait("it asks", lambda: (lambda w: w if len(w) >= 4 else None)(page.browser.run("return window.waits")))
    need(all(wait == 500 for wait in waits), waits)


@case("it is put back, and bad")
def bad(page):
    pibctl("link", "set", "pib0/1", "up", "loss", "5%")
    page.is_now("faulty")
    page.sees("#log", "bad")


@case("it is good again")
def good(page):
    pibctl("link", "set", "pib0/1", "healthy")
    page.is_now("active")
    page.browser.wait("no longer faulty", lambda: "faulty" not in page.browser.classes(CABLE.format(page.cable)))


@case("the address says what is chosen")
def address(page):
    page.browser.open(page.url + "#node:s1-0-1")
    page.sees("#details", "Switch s1-0-1")


@case("nothing was loaded from elsewhere, and the browser has no complaint")
def quiet(page):
    entries = page.browser.run("return performance.getEntriesByType('resource').map(e => e.name)")
    need(entries and all(entry.startswith(page.url) for entry in entries), entries)
    complaints = page.browser.complaints()
    need(not complaints, complaints)


@case("a fabric that goes, and one that comes")
def goes(page):
    pibctl("fabric", "clear")
    page.sees("main", "no HCAs and switches")
    pibctl("switch", "add", "new", "ports", "4")
    page.browser.wait("a new switch", lambda: page.browser.classes(".node.switch[data-node='new']"))


def main():
    url, screenshot = sys.argv[1:]
    print(f"KTAP version 1\n1..{len(cases)}", flush=True)
    page = Page(url)
    failed = 0
    try:
        for number, (name, function) in enumerate(cases, 1):
            try:
                if function is goes:
                    page.browser.screenshot(screenshot)
                function(page)
                print(f"ok {number} {name}", flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok {number} {name}\n# " + str(error).replace("\n", "\n# "), flush=True)
    finally:
        page.browser.close()
    return failed != 0


sys.exit(main())
