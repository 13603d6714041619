"""A headless Chromium (Debian's chromium-headless-shell or chromium), driven over its own protocol through two pipes: no library,
no port. One page at a time; what goes wrong in it (an exception, a line of console.error, a request that fails) is kept."""

import base64
import itertools
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading

import pytest

import harness

NAMES = ("chromium-headless-shell", "chromium")
CALL_DEADLINE_S = 60


def require():
    """The program, or a skip that says what is missing."""
    if not harness.HAS_ALL_CLIENTS:
        pytest.skip("needs a browser: scripts/test --full clients installs it")
    for name in NAMES:
        if shutil.which(name):
            return shutil.which(name)
    pytest.skip(f"needs one of {', '.join(NAMES)} (Debian packages)")


class Browser:
    def __init__(self):
        program = require()
        self.directory = tempfile.mkdtemp(prefix="partita-browser-")
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()
        # The browser reads commands from descriptor 3 and writes to 4.
        command = [program, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self.directory}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec 3<&{to_read} 4>&{from_write}; exec "$@"', "browser", *command], pass_fds=(to_read, from_write),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.ids = itertools.count(1)
        self.waiting = {}
        self.problems = []
        self.requests = []
        self.lock = threading.Lock()
        self.loaded = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _read(self):
        rest = b""
        while True:
            try:
                part = os.read(self.from_read, 1 << 16)
            except OSError:
                part = b""
            if not part:
                break
            *messages, rest = (rest + part).split(b"\0")
            for message in messages:
                self._take(json.loads(message))
        with self.lock:
            for waiting in self.waiting.values():
                waiting.put({"error": {"message": "the browser has ended"}})

    def _take(self, message):
        if "id" in message:
            with self.lock:
                waiting = self.waiting.pop(message["id"], None)
            if waiting:
                waiting.put(message)
            return
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append(f"console.{parameters['type']}: {parameters['args']}")
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Page.loadEventFired":
            self.loaded.set()
        elif method == "Network.loadingFinished":
            self.requests.append(parameters["encodedDataLength"])

    def call(self, method, **parameters):
        number = next(self.ids)
        answer = queue.Queue()
        with self.lock:
            self.waiting[number] = answer
        message = {"id": number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        try:
            reply = answer.get(timeout=CALL_DEADLINE_S)
        except queue.Empty:
            raise harness.Deadline(f"the browser does not answer {method}")
        assert "error" not in reply, f"{method}: {reply['error']}"
        return reply["result"]

    def run(self, script):
        """The value of an expression in the page; a promise is waited for."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in done, f"{script}: {done['exceptionDetails']}"
        return done["result"].get("value")

    def go(self, address):
        """Loads a page of the console and waits until it is drawn."""
        same = self.run(f"location.href.split('#')[0] === {json.dumps(address.split('#')[0])}")
        if same:
            self.run(f"location.hash = {json.dumps('#' + address.split('#')[1])}; 0")
        else:
            self.load(address)
        self.wait("document.querySelector('.page').dataset.ready === location.hash", f"{address} is drawn")

    def load(self, address):
        self.loaded.clear()
        self.call("Page.navigate", url=address)
        if not self.loaded.wait(CALL_DEADLINE_S):
            raise harness.Deadline(f"{address} is not loaded")

    def wait(self, condition, what, seconds=20):
        """The first true value of an expression, which the page itself watches: each change of the document is a look."""
        script = f"""new Promise((done) => {{
          const look = () => {{ let value; try {{ value = {condition}; }} catch {{ return false; }}
            if (value) {{ watcher.disconnect(); clearTimeout(timer); done(value instanceof Node ? true : value); return true; }} return false; }};
          const watcher = new MutationObserver(look);
          const timer = setTimeout(() => {{ watcher.disconnect(); done(null); }}, {seconds * 1000});
          if (!look()) watcher.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
        }})"""
        value = self.run(script)
        if not value:
            raise harness.Deadline(f"not within {seconds} s: {what}\n{self.text()[:2000]}\n{self.problems}")
        return value

    def text(self):
        return self.run("document.body ? document.body.innerText : ''") or ""

    def click(self, selector, text=None):
        """Clicks on the first element that fits and, where `text` is given, says that."""
        pick = f"[...document.querySelectorAll({json.dumps(selector)})]" + (
            f".find(one => one.textContent.trim() === {json.dumps(text)})" if text else "[0]")
        assert self.run(f"(() => {{ const one = {pick}; if (!one) return false; one.click(); return true; }})()"), \
            f"nothing to click on: {selector} {text}\n{self.text()[:2000]}"

    def put(self, selector, value):
        """Writes into an input as a person does."""
        assert self.run(f"""(() => {{ const one = document.querySelector({json.dumps(selector)}); if (!one) return false;
          one.focus(); one.value = {json.dumps(value)}; one.dispatchEvent(new Event('input', {{bubbles: true}}));
          one.dispatchEvent(new Event('change', {{bubbles: true}})); return true; }})()"""), f"no input {selector}"

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 and kind == "keyDown" else "")

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def take_problems(self):
        problems, self.problems = self.problems, []
        return problems

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to_write)
        shutil.rmtree(self.directory, ignore_errors=True)
