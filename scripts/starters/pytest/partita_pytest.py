"""A broker for tests: the fixtures `partita` (one for the session) and `partita_of_test` (one for the test).

    def test_orders(partita):
        producer = Producer({"bootstrap.servers": partita.bootstrap_servers})

The program is PARTITA_BINARY, or `partita` in the path. Its data are in memory, its ports are free ones. It serves when the fixture returns,
and ends with it. A test that fails shows what the broker wrote meanwhile. Settings of the session's broker: `partita_settings`, a fixture to
override.
"""

import os
import pathlib
import subprocess
import tempfile
import threading

import pytest

READY = "partita serves"
START_LIMIT_S = 30


class PartitaError(RuntimeError):
    """The broker did not start; the text has what it wrote."""


class PartitaBroker:
    """A running broker. Close it, or use it in a `with`."""

    def __init__(self, settings=None, binary=None):
        self._directory = tempfile.TemporaryDirectory(prefix="partita-")
        self._log_file = pathlib.Path(self._directory.name, "log")
        port_file = pathlib.Path(self._directory.name, "port")
        command = [binary or os.environ.get("PARTITA_BINARY", "partita"), "serve", "--ephemeral", "--port", "0", "--http-port", "0",
                   "--port-file", str(port_file), "--override", f"partita.start.message={READY}"]
        for key, value in (settings or {}).items():
            command += ["--override", f"{key}={value}"]
        with open(self._log_file, "wb") as log:
            self._process = subprocess.Popen(command, cwd=self._directory.name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.pid = self._process.pid
        # Ends the wait below when nothing comes.
        alarm = threading.Timer(START_LIMIT_S, self._process.kill)
        alarm.start()
        line = self._process.stdout.readline()
        alarm.cancel()
        if line.strip() != READY.encode():
            self._process.kill()
            self._process.wait()
            text = f"partita did not start (it ended with {self._process.returncode}):\n{self.log()}"
            self.close()
            raise PartitaError(text)
        self.bootstrap_servers = f"127.0.0.1:{port_file.read_text().strip()}"

    def log(self, begin=0):
        """What it wrote so far, from a size of its log on."""
        with open(self._log_file, "rb") as log:
            log.seek(begin)
            return log.read().decode(errors="replace")

    def log_size(self):
        return self._log_file.stat().st_size

    def close(self):
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process.stdout.close()
        self._directory.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@pytest.fixture(scope="session")
def partita_settings():
    return {}


@pytest.fixture(scope="session")
def partita(partita_settings):
    with PartitaBroker(partita_settings) as broker:
        yield broker


@pytest.fixture
def partita_of_test(partita_settings):
    with PartitaBroker(partita_settings) as broker:
        yield broker


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    item.partita_logs = {}
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    brokers = [value for value in getattr(item, "funcargs", {}).values() if isinstance(value, PartitaBroker)]
    item.partita_logs = {broker: broker.log_size() if "partita" in item.fixturenames else 0 for broker in brokers}
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed and call.when == "call":
        for broker, begin in item.partita_logs.items():
            whole = broker.log()
            # What it said when it started is worth its lines, too.
            report.sections.append((f"log of partita {broker.bootstrap_servers}", broker.log(begin) or whole))
