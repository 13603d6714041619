"""How `run` judges: by hand-made outcomes, without a broker."""

import importlib.machinery
import importlib.util
import pathlib
import unittest

HERE = pathlib.Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("run", str(HERE / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
loader.exec_module(run)

PASSED = {"outcome": "passed", "denied": []}
FAILED = {"outcome": "failed", "denied": ["inner: controllers()"], "error": "expected: <1> but was: <2>"}


def judged(outcomes, expected, *reasons):
    return list(run.complaints(outcomes, set(expected), [run.Reason(line) for line in reasons]))


class Judging(unittest.TestCase):
    def test_what_passes_without_a_reason_and_fails_with_one_is_as_it_should_be(self):
        self.assertEqual(judged({"a.B.c": PASSED, "a.B.d": FAILED}, ["a.B.c", "a.B.d"], "inner | a.B.d | controllers()"), [])

    def test_a_failure_without_a_reason_is_told_with_what_the_test_asked_for(self):
        (complaint,) = judged({"a.B.c": FAILED}, ["a.B.c"])
        self.assertIn("failed: a.B.c [inner: controllers()]", complaint)
        self.assertIn("but was: <2>", complaint)

    def test_a_pass_in_spite_of_a_reason_is_told(self):
        (complaint,) = judged({"a.B.c": PASSED}, ["a.B.c"], "open | a.B.c | not yet")
        self.assertIn("passes although", complaint)

    def test_what_passes_by_chance_may_do_either(self):
        for outcome in PASSED, FAILED:
            self.assertEqual(judged({"a.B.c": outcome}, ["a.B.c"], "sometimes | a.B.c | a race of its own"), [])

    def test_a_test_that_was_not_run_is_told(self):
        self.assertEqual(judged({}, ["a.B.c"]), ["not run: a.B.c"])

    def test_a_test_that_kafka_never_ran_is_told(self):
        (complaint,) = judged({"a.B.c": PASSED}, [])
        self.assertIn("not in reference.txt", complaint)

    def test_what_a_class_says_of_left_threads_is_told_unless_one_of_its_tests_failed(self):
        reason = "inner | a.B.d | controllers()"
        self.assertEqual(judged({"a.B": FAILED, "a.B.c": PASSED, "a.B.d": FAILED}, ["a.B.c", "a.B.d"], reason), [])
        (complaint,) = judged({"a.B": FAILED, "a.B.c": PASSED}, ["a.B.c"])
        self.assertIn("not in reference.txt: a.B", complaint)

    def test_a_reason_for_a_test_that_is_not_there_is_told_in_its_class_only(self):
        (complaint,) = judged({"a.B.c": PASSED}, ["a.B.c"], "open | a.B.gone | x", "open | a.Other.d | x")
        self.assertEqual(complaint, "reasons.txt names no test: a.B.gone")

    def test_a_star_stands_for_anything_and_brackets_for_themselves(self):
        reason = run.Reason("open | a.B.c(groupProtocol=*)[1] | x")
        self.assertTrue(reason.holds_for("a.B.c(groupProtocol=classic)[1]"))
        self.assertFalse(reason.holds_for("a.B.c(groupProtocol=classic)1"))

    def test_a_reason_has_a_known_kind_and_a_text(self):
        for line in "whim | a.B.c | x", "open | a.B.c |", "open | a.B.c":
            self.assertRaises(SystemExit, run.Reason, line)

    def test_the_class_of_a_test_is_found_behind_its_variant(self):
        self.assertEqual(run.class_of("a.b.C.d(x.y=z.w)#2"), "a.b.C")
        self.assertEqual(run.class_of("a.b.C.d#2"), "a.b.C")

    def test_a_method_stands_for_its_variants_and_for_no_longer_name(self):
        tests = {name: "passed" for name in ("a.B.c", "a.B.c(x)", "a.B.c#2", "a.B.cd", "a.BB.c")}
        self.assertEqual(run.expected_of(["a.B#c"], tests), {"a.B.c", "a.B.c(x)", "a.B.c#2"})
        self.assertEqual(run.expected_of(["a.B"], tests), set(tests) - {"a.BB.c"})

    def test_the_table_counts_chance_as_passing_and_every_other_reason_not(self):
        reference = {"a.B.c": "passed", "a.B.d": "passed", "a.B.e": "failed", "a.B.f": "passed"}
        reasons = [run.Reason(line) for line in ("sometimes | a.B.c | x", "inner | a.B.d | x", "kafka | a.B.e | x")]
        ((suite, name, tests, here, there, kinds),) = run.table({"s": ["a.B"]}, reference, reasons)
        self.assertEqual((suite, name, tests, here, there), ("s", "a.B", 4, 2, 3))
        self.assertEqual(dict(kinds), {"sometimes": 1, "inner": 1, "kafka": 1})


class Files(unittest.TestCase):
    def test_every_reason_names_a_test_of_the_reference(self):
        reference = run.read_reference()
        self.assertEqual([reason.test for reason in run.read_reasons() if not any(map(reason.holds_for, reference))], [])

    def test_every_test_of_the_reference_belongs_to_a_suite(self):
        suites = run.tomllib.loads((HERE / "suites.toml").read_text())
        classes = {name for suite in suites.values() for name in suite.get("classes", [])}
        self.assertEqual({run.class_of(test) for test in run.read_reference()} - classes, set())


if __name__ == "__main__":
    unittest.main()
