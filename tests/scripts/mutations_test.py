"""The bugs that tests put into the broker on purpose still fit its sources."""

import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATCHES = sorted((ROOT / "tests").glob("*/mutations/*.patch"))


class Mutations(unittest.TestCase):
    def test_there_are_some(self):
        for place in ("histories", "simulation"):
            self.assertGreaterEqual(sum(patch.parts[-3] == place for patch in PATCHES), 3, place)

    def test_each_applies_to_the_sources(self):
        for patch in PATCHES:
            with self.subTest(patch.name):
                done = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_says_what_it_breaks(self):
        for patch in PATCHES:
            with self.subTest(patch.name):
                self.assertFalse(patch.read_text().startswith("diff "))


if __name__ == "__main__":
    unittest.main()
