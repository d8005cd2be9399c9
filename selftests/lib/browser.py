# SPDX-License-Identifier: GPL-2.0
"""A headless chromium, by WebDriver: what chromedriver listens to, and nothing but the standard library."""
import base64
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

PATIENCE = 90 * int(os.environ.get("PIB_SLOW", "1"))
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run", "--window-size=1280,860"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    def __init__(self):
        self.port = free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = ""
        self.wait("chromedriver", lambda: self.call("GET", "/status")["ready"])
        options = {"args": FLAGS}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
                  "timeouts": {"script": PATIENCE * 1000, "pageLoad": PATIENCE * 1000}}
        self.base = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def call(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{self.base}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=5 * PATIENCE) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:2000]) from error

    def wait(self, what, holds):
        """Until it holds; what it returned last otherwise is in the complaint."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                got = holds()
                if got:
                    return got
            except (OSError, RuntimeError) as error:
                got = error
            if time.monotonic() > end:
                raise TimeoutError(f"{what}: {got}")
            time.sleep(0.2)

    def open(self, url):
        """A browser that has just begun may take longer than the minute that chromedriver gives it."""
        self.wait(f"{url} opens", lambda: self.call("POST", "/url", {"url": url}) is None)

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def classes(self, selector):
        return self.run("return document.querySelector(arguments[0])?.getAttribute('class') ?? ''", selector).split()

    def click(self, selector):
        """As a person does: where the element is seen."""
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{element[ELEMENT]}/click", {})

    def complaints(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def close(self):
        try:
            if self.base:
                self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
