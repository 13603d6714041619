"""docs/guides/testcontainers.md, line by line (tests/guides/run), with docker_api's stand-in for a container daemon and the image of scripts/package."""

import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import docker_api
import image

GUIDE = image.ROOT / "docs/guides/testcontainers.md"
RUNNER = image.ROOT / "tests/guides/run"
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("guides_run", str(RUNNER))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("guides_run", LOADER))
sys.modules["guides_run"] = run
LOADER.exec_module(run)
WHEELS = pathlib.Path(os.environ.get("PARTITA_TOOLS_DIR") or os.path.expanduser("~/.cache/partita-tools")) / "guide-wheels"
NO_DAEMON = {"DOCKER_HOST": "unix:///nowhere", "TESTCONTAINERS_RYUK_DISABLED": "true"}


def fetch():
    """What the guide's commands get from registries: they run where there is no network but loopback. Maven keeps what it got in its own
    repository, so its command runs once without a daemon, which is all that it then complains of."""
    steps = run.steps_of(GUIDE.read_text(encoding="utf-8"), True)
    with tempfile.TemporaryDirectory() as directory:
        for step in steps:
            if isinstance(step, run.File):
                target = pathlib.Path(directory, step.name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(step.text, encoding="utf-8")
        for step in steps:
            if isinstance(step, run.Command) and step.text.startswith("mvn "):
                subprocess.run(step.text, shell=True, cwd=directory, env={**os.environ, **NO_DAEMON}, stdout=subprocess.DEVNULL, check=False)
    pins = [word for step in steps if isinstance(step, run.Command) and " pip install " in step.text.replace("/pip", " pip")
            for word in step.text.split() if "==" in word]
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "-d", WHEELS, *pins], check=True)


class Guide(unittest.TestCase):
    def test_guide_holds(self):
        directory = tempfile.TemporaryDirectory(prefix="partita-docker-")
        self.addCleanup(directory.cleanup)
        daemon = docker_api.Daemon(directory.name + "/docker.sock", image.Image())
        self.addCleanup(daemon.close)
        environment = {**os.environ, "DOCKER_HOST": f"unix://{directory.name}/docker.sock", "TESTCONTAINERS_RYUK_DISABLED": "true",
                       "TESTCONTAINERS_CHECKS_DISABLE": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
                       "TESTCONTAINERS_CONNECTION_MODE": "docker_host", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(WHEELS)}
        commands = run.try_page(GUIDE, environment)
        self.assertEqual(3, commands)
        self.assertEqual({}, daemon.made, "the libraries removed their containers")
        started = [line for line in daemon.asked if "POST" in line and "/start" in line]
        self.assertEqual(2, len(started), "one container by Java, one by Python")


if __name__ == "__main__":
    missing = [program for program in ("mvn", "javac", "python3") if not shutil.which(program)]
    if missing:
        image.skip(f"no {', '.join(missing)} here")
    if not os.environ.get("PARTITA_OWN_NETWORK"):
        fetch()
    image.in_own_network()
    unittest.main(argv=sys.argv)
