"""Others who speak Kafka's protocol in one process: how each is had, pinned, and started. A rival that cannot be had here is
left out, with a line that says why; a row that a rival cannot run shows that it failed.
"""

import os
import pathlib
import re
import subprocess
import time

from contenders import HERE, Contender

SOURCES = HERE / "rivals"
BUILD_TIMEOUT_S = 600
TOPIC_TIMEOUT_S = 10


def cache():
    tools = os.environ.get("PARTITA_TOOLS_DIR") or pathlib.Path(
        os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"), "partita-tools")
    directory = pathlib.Path(tools) / "rivals"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def is_current(program, sources):
    return program.exists() and all(program.stat().st_mtime > source.stat().st_mtime for source in sources)


class Rival(Contender):
    text = ""
    sources = ()

    def __init__(self):
        self.binary = cache() / self.name

    def install(self):
        """Makes self.binary unless it is newer than what it is made of. Raises OSError or CalledProcessError."""
        if not is_current(self.binary, self.sources):
            self.make()

    def make(self):
        raise NotImplementedError

    @staticmethod
    def run(command, **options):
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, **options)


class Kfake(Rival):
    name = "kfake"
    text = "kfake (franz-go's fake cluster, in memory)"
    sources = (SOURCES / "kfake" / "main.go", SOURCES / "kfake" / "go.mod")

    def make(self):
        self.run(["go", "build", "-mod=readonly", "-buildvcs=false", "-o", str(self.binary), "."], cwd=SOURCES / "kfake",
                 env={**os.environ, "CGO_ENABLED": "0"})

    def command(self, session):
        return [str(self.binary), str(session.port)]


class NoidaDb(Rival):
    name = "noida-db"
    text = "noida-db 0.2.3 (in memory, saved to disk)"
    sources = (SOURCES / "requirements.txt",)

    def __init__(self):
        super().__init__()
        self.binary = cache() / "noida" / "noida_db" / "noida-db"

    def make(self):
        self.run(["/usr/bin/python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:",
                  "--no-deps", "--require-hashes", "--upgrade", "--target", str(cache() / "noida"), "-r", str(self.sources[0])])
        self.binary.chmod(0o755)
        self.binary.touch()

    def command(self, session):
        return [str(self.binary), "start", "--only", "kafka", "--kafka-port", str(session.port),
                "--data-dir", str(session.directory / "data")]


class RdkafkaMock(Rival):
    name = "rdkafka-mock"
    text = "librdkafka's mock cluster (in memory)"
    sources = (SOURCES / "rdkafka_mock.cc",)
    chooses_port = True

    def make(self):
        self.run(["c++", "-O2", "-o", str(self.binary), str(self.sources[0]), "-lrdkafka"])

    def command(self, session):
        return [str(self.binary)]

    def port_of(self, session):
        found = re.search(r"serving 127\.0\.0\.1:(\d+)", session.log_text())
        if not found:
            raise ConnectionRefusedError("no port yet")
        return int(found.group(1))

    def create_topic(self, session, name, partitions):
        session.process.stdin.write(f"{name} {partitions}\n".encode())
        session.process.stdin.flush()
        end = time.monotonic() + TOPIC_TIMEOUT_S
        while f"topic {name}: Success" not in session.log_text():
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name} makes no topic: {session.log_text()}")
            time.sleep(0.001)


def available(say):
    """Every rival that can be had on this machine."""
    found = []
    for rival in (Kfake(), NoidaDb(), RdkafkaMock()):
        try:
            rival.install()
            found.append(rival)
        except (OSError, subprocess.SubprocessError) as error:
            detail = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            say(f"{rival.name} cannot be had here: {detail[-1] if detail else error}")
    return found
