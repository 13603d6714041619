"""The starters of scripts/starters, each by the build tool of its own world: that they start, stop and say why, and that a test which fails
shows what the broker wrote."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STARTERS = ROOT / "scripts/starters"
BINARY = os.environ.get("PARTITA_BINARY", str(ROOT / "build/release/partita"))
#: By directory: what it takes, what prepares it once, the tests.
TOOLS = {
    "pytest": (["python3"], "python3 -m venv venv && venv/bin/pip install -q . confluent-kafka==2.11.1 pytest==8.4.2",
               ["venv/bin/python", "-m", "pytest", "-q", "tests"]),
    "junit": (["mvn", "javac"], "mvn -q -B -ntp test-compile", ["mvn", "-q", "-B", "-ntp", "test"]),
    "go": (["go"], "go vet ./...", ["go", "test", "-count=1", "-v", "./..."]),
    "node": (["npm", "node"], "npm install --silent --no-audit --no-fund", ["npm", "test", "--silent"]),
}
#: Where a failing run must say so, when one command runs two programs: the first that fails ends it.
VARIANTS = {"node": [["npx", "vitest", "run"], ["node", "--experimental-vm-modules", "node_modules/jest/bin/jest.js"]]}


class Starters(unittest.TestCase):
    def run_tool(self, name):
        needed, prepare, test = TOOLS[name]
        missing = [program for program in needed if not shutil.which(program)]
        if missing:
            self.skipTest(f"no {', '.join(missing)} here")
        directory = pathlib.Path(tempfile.mkdtemp(prefix=f"partita-starter-{name}-"))
        self.addCleanup(shutil.rmtree, directory)
        shutil.copytree(STARTERS / name, directory, dirs_exist_ok=True)
        environment = {**os.environ, "PARTITA_BINARY": BINARY, "TMPDIR": str(directory / "tmp")}
        (directory / "tmp").mkdir()
        environment.pop("PARTITA_STARTER_FAILS", None)
        subprocess.run(["sh", "-c", prepare], cwd=directory, env=environment, check=True)
        good = self.run_in(directory, test, environment)
        self.assertEqual(good.returncode, 0, good.stdout)
        for variant in VARIANTS.get(name, [test]):
            bad = self.run_in(directory, variant, {**environment, "PARTITA_STARTER_FAILS": "1"})
            self.assertNotEqual(bad.returncode, 0, bad.stdout)
            self.assertIn("on purpose", bad.stdout)
            self.assertRegex(bad.stdout, "log of partita 127.0.0.1:[0-9]+")
            self.assertIn("INFO net listening", bad.stdout)
        left = [path.name for path in (directory / "tmp").glob("partita-*")]
        self.assertEqual(left, [], "directories of brokers that were not removed")

    @staticmethod
    def run_in(directory, command, environment):
        return subprocess.run(command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)

    def test_pytest(self):
        self.run_tool("pytest")

    def test_junit(self):
        self.run_tool("junit")

    def test_go(self):
        self.run_tool("go")

    def test_node(self):
        self.run_tool("node")


if __name__ == "__main__":
    unittest.main()
