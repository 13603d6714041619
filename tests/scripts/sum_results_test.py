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
#: What a program of GoogleTest writes of its own tests.
OWN_PASSED = '<testcase name="p" file="x.cc" status="run" result="completed" classname="Suite"/>'
OWN_FAILED = '<testcase name="f" status="run" result="completed" classname="Suite"><failure message="x.cc:1"/></testcase>'
OWN_SKIPPED = ('<testcase name="c" status="run" result="skipped" classname="Suite">'
               '<skipped message="/src/x.cc:49&#x0A;needs another disk&#x0A;"/></testcase>')


class SumResults(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                path = pathlib.Path(directory) / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, "-B", SCRIPT, directory], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()

    @staticmethod
    def suite(*cases):
        return f'<?xml version="1.0" encoding="UTF-8"?><testsuite name="x">{"".join(cases)}</testsuite>'

    @staticmethod
    def own(*cases):
        return f'<testsuites><testsuite name="Suite">{"".join(cases)}</testsuite></testsuites>'

    def test_sums_over_all_files(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED, PASSED), "asan.xml": self.suite(PASSED)})
        self.assertEqual((0, "3 passed, 0 failed, 0 skipped"), (code, lines[-1]))

    def test_names_what_failed_and_ends_with_1(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED, FAILED)})
        self.assertEqual((1, ["failed: dev: b", "1 passed, 1 failed, 0 skipped"]), (code, lines))

    def test_a_skipped_or_disabled_test_is_neither_passed_nor_failed(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED, SKIPPED, DISABLED)})
        self.assertEqual((0, ["skipped: 2: the program said that it cannot run here (dev: c, dev: d)",
                              "1 passed, 0 failed, 2 skipped"]), (code, lines))

    def test_counts_the_tests_of_a_program_and_not_the_program(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED), "dev/a.xml": self.own(OWN_PASSED, OWN_PASSED, OWN_SKIPPED)})
        self.assertEqual((0, ["skipped: 1: needs another disk (dev: a: Suite.c)", "2 passed, 0 failed, 1 skipped"]), (code, lines))

    def test_a_program_whose_tests_all_skip_themselves_passes_nothing(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED), "dev/a.xml": self.own(OWN_SKIPPED)})
        self.assertEqual((1, "0 passed, 0 failed, 1 skipped"), (code, lines[-1]))

    def test_names_the_tests_of_a_program_that_failed(self):
        code, lines = self.run_on({"dev.xml": self.suite(FAILED), "dev/b.xml": self.own(OWN_PASSED, OWN_FAILED)})
        self.assertEqual((1, ["failed: dev: b: Suite.f", "1 passed, 1 failed, 0 skipped"]), (code, lines))

    def test_a_program_that_ends_badly_after_its_tests_is_a_failure(self):
        code, lines = self.run_on({"dev.xml": self.suite(FAILED), "dev/b.xml": self.own(OWN_PASSED)})
        self.assertEqual((1, "1 passed, 1 failed, 0 skipped"), (code, lines[-1]))

    def test_a_program_without_a_test_is_a_failure(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED), "dev/a.xml": self.own()})
        self.assertEqual((1, ["failed: dev: a: no test in it", "0 passed, 1 failed, 0 skipped"]), (code, lines))

    def test_a_test_that_pytest_skipped_is_told_with_its_reason(self):
        skipped = '<testcase classname="m" name="t"><skipped type="pytest.skip" message="needs sarama">m.py:3</skipped></testcase>'
        code, lines = self.run_on({"dev.xml": self.suite(PASSED), "dev/a.xml": self.own(OWN_PASSED, skipped)})
        self.assertEqual((0, "skipped: 1: needs sarama (dev: a: m.t)"), (code, lines[0]))

    def test_counts_the_tests_that_unittest_says_it_ran(self):
        told = PASSED.replace("<system-out></system-out>", "<system-out>....\nRan 4 tests in 0.1s\n\nOK\n</system-out>")
        code, lines = self.run_on({"dev.xml": self.suite(told)})
        self.assertEqual((0, "4 passed, 0 failed, 0 skipped"), (code, lines[-1]))

    def test_names_what_was_not_run_before_the_sum(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED), "not-run": "tsan: scripts/test --full tsan\n"})
        self.assertEqual((0, ["not run: tsan: scripts/test --full tsan", "1 passed, 0 failed, 0 skipped"]), (code, lines))

    def test_a_missing_test_program_is_a_failure(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED, NO_PROGRAM)})
        self.assertEqual((1, "1 passed, 1 failed, 0 skipped"), (code, lines[-1]))

    def test_a_build_without_result_is_a_failure(self):
        code, lines = self.run_on({"dev.xml": self.suite(PASSED), "asan.broken": ""})
        self.assertEqual((1, ["failed: asan: no result", "1 passed, 1 failed, 0 skipped"]), (code, lines))

    def test_a_torn_result_file_is_a_failure(self):
        code, lines = self.run_on({"dev.xml": "<testsuite><testca"})
        self.assertEqual((1, "0 passed, 1 failed, 0 skipped"), (code, lines[-1]))

    def test_nothing_run_is_no_success(self):
        code, lines = self.run_on({"dev.xml": self.suite()})
        self.assertEqual((1, ["no test was run", "0 passed, 0 failed, 0 skipped"]), (code, lines))

    def test_bad_usage_ends_with_2(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT], capture_output=True, text=True)
        self.assertEqual(2, done.returncode)
        self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()
