"""Tests of scripts/sum-results on result files as ctest 3.25 writes them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "sum-results"
PASSED = '<testcase name="a" classname="a" time="0.1" status="run"><system-out></system-out></testcase>'
FAILED = '<testcase name="b" classname="b" time="0.1" status="fail"><failure message=""/></testcase>'
SKIPPED = '<testcase name="c" classname="c" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>'
DISABLED = '<testcase name="d" classname="d" time="0" status="disabled"/>'
NO_PROGRAM = ('<testcase name="e" classname="e" time="0" status="notrun">'
              '<skipped message="Unable to find executable"/></testcase>')


class SumResults(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                (pathlib.Path(directory) / name).write_text(text)
            done = subprocess.run([sys.executable, "-B", SCRIPT, directory], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()

    @staticmethod
    def suite(*cases):
        return f'<?xml version="1.0" encoding="UTF-8"?><testsuite name="x">{"".join(cases)}</testsuite>'

    def test_sums_over_all_files(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED, PASSED), "asan.xml": self.suite(PASSED)})
        self.assertEqual((0, "3 passed, 0 failed"), (code, lines[-1]))

    def test_names_what_failed_and_ends_with_1(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED, FAILED)})
        self.assertEqual((1, ["failed: dev: b", "1 passed, 1 failed"]), (code, lines))

    def test_a_skipped_or_disabled_test_is_neither_passed_nor_failed(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED, SKIPPED, DISABLED)})
        self.assertEqual((0, ["skipped: 2", "1 passed, 0 failed"]), (code, lines))

    def test_a_missing_test_program_is_a_failure(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED, NO_PROGRAM)})
        self.assertEqual((1, "1 passed, 1 failed"), (code, lines[-1]))

    def test_a_build_without_result_is_a_failure(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED), "asan.broken": ""})
        self.assertEqual((1, ["failed: asan: no result", "1 passed, 1 failed"]), (code, lines))

    def test_a_torn_result_file_is_a_failure(self):
        code, lines = self.run_on({"dev.xml": "<testsuite><testca"})
        self.assertEqual((1, "0 passed, 1 failed"), (code, lines[-1]))

    def test_nothing_run_is_no_success(self):
        code, lines = self.run_on({"dev.xml": self.suite()})
        self.assertEqual((1, ["no test was run", "0 passed, 0 failed"]), (code, lines))

    def test_bad_usage_ends_with_2(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT], capture_output=True, text=True)
        self.assertEqual(2, done.returncode)
        self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()
