"""A headless Chromium, driven over its debugging pipe: https://chromedevtools.github.io/devtools-protocol/"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

TIMEOUT_S = 60


def found():
    """Returns a Chromium that runs, or None and why there is none: that of Ubuntu only asks for a snap."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        return None, "chromium is not installed"
    p = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode or "hromium" not in p.stdout:
        return None, f"{program} does not run: " + " ".join(p.stdout.split())[:100]
    return program, None


PROGRAM, WHY_NOT = found()


class Browser:
    """Usage: with Browser() as b: b.open(path, width=390, dark=True); b.ask("document.title"); b.picture(path)"""

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="browser-")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def descriptors():  # the browser reads from 3 and writes to 4
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             "--no-first-run", f"--user-data-dir={self.home}/profile", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=descriptors, env={**os.environ, "HOME": self.home})  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self.held, self.number, self.session, self.events = b"", 0, None, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        return self

    def __exit__(self, *_):
        os.close(self.to)
        os.close(self.back)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.held:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.back, 1 << 20)
            if not got:
                raise EOFError("the browser ended")
            self.held += got
        text, self.held = self.held.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        call = {"id": self.number, "method": method, "params": params}
        if self.session:
            call["sessionId"] = self.session
        data, until = json.dumps(call).encode() + b"\0", time.monotonic() + TIMEOUT_S
        while data:
            data = data[os.write(self.to, data):]
        while True:
            m = self.message(until)
            if m.get("id") == self.number:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            self.events.append(m)

    def open(self, path, width, height=844, dark=False):
        """Opens a file; afterwards, `events` has the requests of the page and the console messages."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + TIMEOUT_S
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message(until))

    def ask(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def picture(self, path):
        """Returns the whole page as a PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))
