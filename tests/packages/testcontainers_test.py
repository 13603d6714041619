"""The libraries of Testcontainers themselves start our image, each in its own language, at docker_api's stand-in for a container daemon;
then a client writes and reads through the address that the library tells. Prints a table with the times; docs/packages.md has the versions."""

import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import docker_api
import image

HERE = pathlib.Path(__file__).resolve().parent / "testcontainers"
CACHE = pathlib.Path(os.environ.get("PARTITA_TOOLS_DIR") or os.path.expanduser("~/.cache/partita-tools")) / "testcontainers"
START_LIMIT_S = 90
CASES = {
    "python": ("testcontainers 4.15.0", ["KafkaContainer", "KafkaContainer.with_kraft", "RedpandaContainer"]),
    "node": ("@testcontainers/kafka 11.14.0, redpanda 10.28.0",
             ["KafkaContainer 8", "KafkaContainer 7.2", "KafkaContainer 7.2 withKraft", "RedpandaContainer"]),
    "go": ("testcontainers-go 0.40.0", ["kafka.Run"]),
    "java": ("testcontainers 2.0.5", ["kafka.KafkaContainer", "kafka.KafkaContainer withListener", "ConfluentKafkaContainer",
                                      "containers.KafkaContainer 7.2", "containers.KafkaContainer 7.2 withKraft",
                                      "containers.KafkaContainer 7.6 withKraft", "RedpandaContainer"]),
}
FETCH = {
    "python": ["sh", "-c", "python3 -m venv venv && venv/bin/pip install -q -r requirements.txt"],
    "node": ["npm", "install", "--silent", "--no-audit", "--no-fund"],
    "go": ["sh", "-c", "go mod tidy && go build -o starter ."],
    "java": ["mvn", "-q", "-B", "package"],
}
COMMANDS = {
    "python": ["venv/bin/python", "starter.py"],
    "node": ["node", "starter.js"],
    "go": ["./starter"],
    "java": ["java", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", "target/classes:target/dependency/*",
             "Starter"],
}


def fetch():
    """The libraries, pinned, once for each version of the directory here. It needs a network, so it comes first."""
    for language in CASES:
        program = FETCH[language][0] if language != "go" else "go"
        if not shutil.which(program):
            continue
        source, target = HERE / language, CACHE / language
        text = "".join(path.read_text() for path in sorted(source.rglob("*")) if path.is_file())
        mark = target / "fetched"
        if mark.exists() and mark.read_text() == text:
            continue
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        subprocess.run(FETCH[language], cwd=target, check=True)
        mark.write_text(text)


class Testcontainers(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="partita-docker-")
        self.addCleanup(self.directory.cleanup)
        path = self.directory.name + "/docker.sock"
        self.daemon = docker_api.Daemon(path, IMAGE)
        self.addCleanup(self.daemon.close)
        self.environment = {**os.environ, "DOCKER_HOST": f"unix://{path}", "TESTCONTAINERS_RYUK_DISABLED": "true",
                            "TESTCONTAINERS_CHECKS_DISABLE": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
                            "TESTCONTAINERS_CONNECTION_MODE": "docker_host"}

    def start(self, language, name):
        """The process that holds the container, and the address that the library tells."""
        errors = open(self.directory.name + "/errors", "w+")
        self.addCleanup(errors.close)
        process = subprocess.Popen([*COMMANDS[language], name], cwd=CACHE / language, env=self.environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=errors, text=True)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close(), process.stdin.close()))
        end = time.monotonic() + START_LIMIT_S
        while select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
            line = process.stdout.readline()
            if line.startswith("READY "):
                return process, line.split()[1]
            if not line:
                break
        errors.seek(0)
        logs = "".join(made.container.log() for made in self.daemon.made.values())
        self.fail(f"{language} {name} did not start\n{errors.read()[-3000:]}\nunknown to the API: {self.daemon.unknown}\ncontainer:\n{logs}")

    def write_and_read(self, address):
        host, port = address.rsplit(":", 1)
        self.assertNotIn(port, ("9092", "9093"), "the port is a published one")
        subprocess.run(["kcat", "-b", address, "-P", "-t", "orders", "-K:"], input="a:one\nb:two\n", text=True, check=True, timeout=30,
                       stderr=subprocess.PIPE)
        read = subprocess.run(["kcat", "-b", address, "-C", "-t", "orders", "-o", "beginning", "-e", "-q", "-K:"], capture_output=True,
                              text=True, check=True, timeout=30)
        self.assertEqual(sorted(read.stdout.split()), ["a:one", "b:two"])
        told = subprocess.run(["kcat", "-b", address, "-L"], capture_output=True, text=True, check=True, timeout=30).stdout
        self.assertIn(f" at {address}", told.replace("localhost", host))

    def play(self, language, name):
        began = time.monotonic()
        process, address = self.start(language, name)
        took = time.monotonic() - began
        self.write_and_read(address)
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(self.daemon.made, {}, "the library removed its container")
        self.assertIn(CASES[language][0], (image.ROOT / "docs/packages.md").read_text())
        print(f"| {language} | {CASES[language][0]} | `{name}` | {took:.1f} s |", flush=True)


def add_cases():
    for language, (_, names) in CASES.items():
        for name in names:
            def test(self, language=language, name=name):
                if not (CACHE / language / "fetched").exists():
                    self.skipTest(f"what fetches the library of {language} is not here")
                self.play(language, name)
            setattr(Testcontainers, f"test_{language}_{name}".replace(" ", "_").replace(".", "_"), test)


if __name__ == "__main__":
    if not os.environ.get("PARTITA_OWN_NETWORK"):
        fetch()
    image.in_own_network()
    IMAGE = image.Image()
    add_cases()
    unittest.main(argv=sys.argv)
