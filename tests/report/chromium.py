"""A headless Chromium, spoken to over a pipe: it opens files, and tells what it logged and asked for."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from select import select

BINARY = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
    *("--disable-extensions", "--disable-default-apps", "--hide-scrollbars", "--remote-debugging-pipe"),
)
PATIENCE = 60.0
"""Seconds that any single answer may take."""


class Tab:
    """One page, and all that it has logged and asked for since it was opened."""

    def __init__(self, process, to_browser, from_browser):
        self._process, self._in, self._out = process, to_browser, from_browser
        self._rest, self._number, self._session = b"", 0, None
        self.requests, self.logged = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """Send a command and return its answer; what the page tells meanwhile is kept."""
        number = self._send(method, **params)
        return self._wait(lambda said: said.get("id") == number).get("result", {})

    def _send(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        return self._number

    def open(self, path, width=1200, height=900, dark=False):
        """Open a file from disk in a window of this size, and wait until it is there."""
        self.visit(path.as_uri(), width, height, dark)

    def visit(self, address, width=1200, height=900, dark=False):
        """Open an address in the same way."""
        self.requests.clear()
        self.logged.clear()
        self.show_as(width, height, dark)
        self.call("Page.navigate", url=address)
        self._wait(lambda said: said.get("method") == "Page.loadEventFired")
        self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")

    def show_as(self, width, height=900, dark=False):
        """Change the window, and what the reader's system prefers."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, script):
        """Evaluate JavaScript in the page and return its value."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key):
        """Press a key, where the focus is."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text if kind == "keyDown" else "")

    def picture(self, whole=False):
        """Return what is to be seen, or the whole page, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def pdf(self):
        """Return the page as it would be printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])

    def _wait(self, is_wanted):
        while True:
            said = self._next()
            method, params = said.get("method"), said.get("params", {})
            if method == "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                self.logged.append(str([each.get("value") for each in params["args"]]))
            elif method == "Runtime.exceptionThrown":
                self.logged.append(params["exceptionDetails"]["text"])
            elif method == "Log.entryAdded":
                self.logged.append(params["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                self.logged.append(f"dialog: {params['message']}")
                self._send("Page.handleJavaScriptDialog", accept=True)  # else the page would wait for ever
            if is_wanted(said):
                assert "error" not in said, said["error"]
                return said

    def _next(self):
        while b"\0" not in self._rest:
            ready, _, _ = select([self._out], [], [], PATIENCE)
            chunk = os.read(self._out, 1 << 20) if ready else b""
            if not chunk:
                raise TimeoutError(
                    f"no answer from {BINARY}; it has {'hung' if self._process.poll() is None else 'ended'}"
                )
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)


@contextmanager
def browser(folder):
    """Start the browser with a profile of its own, and end it again."""
    theirs_in, mine_out = os.pipe()
    mine_in, theirs_out = os.pipe()
    options = " ".join((*FLAGS, f"--user-data-dir='{folder}'"))
    command = f"exec '{BINARY}' {options} 3<&{theirs_in} 4>&{theirs_out}"  # it speaks on these two, whatever ours are
    process = subprocess.Popen(
        ["/bin/bash", "-c", command],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Tab(process, mine_out, mine_in)
    finally:
        os.close(mine_out)
        os.close(mine_in)
        process.terminate()
        process.wait(timeout=300)
