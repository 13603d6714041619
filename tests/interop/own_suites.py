"""Judges the tests that a client's package carries, by a file of reasons: RUN | TEST | HERE | ON KAFKA | WHY, where HERE and ON KAFKA
say how the test ends here and on a single Kafka 4.3.1. A * in TEST stands for anything; lines with # are text. Whatever the reasons do
not name must pass. MAY FAIL: TEXT is for a race of the test's own: it passes, or fails where a line of what was printed has its name and
the text."""

import collections
import re

import harness

MAY_FAIL = "MAY FAIL: "

Reason = collections.namedtuple("Reason", "run test outcome")


def read_reasons(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    parts = [[part.strip() for part in line.split("|", 4)] for line in lines]
    return [Reason(run, test, on_kafka if harness.TARGET == "kafka" else here) for run, test, here, on_kafka, why in parts if why]


def fits(reason, test):
    """Whether a test is one of those that the reason is about."""
    return re.fullmatch(".*".join(map(re.escape, reason.test.split("*"))), test) is not None


def may_fail(expected, test, output):
    """Whether it is expected to fail at times, and as it did this time."""
    text = expected.removeprefix(MAY_FAIL)
    return text != expected and any(test in line and text in line for line in output.splitlines())


def complaints(started, outcomes, reasons, output=""):
    """What is not as the reasons say of the tests that were started, whose outcomes are PASS, FAIL or SKIP by their names."""
    for test in started:
        outcome = outcomes.get(test, "not ended")
        expected = next((reason.outcome for reason in reasons if fits(reason, test)), "PASS")
        is_expected = outcome == ("PASS" if expected.startswith(MAY_FAIL) else expected)
        if not is_expected and not (outcome == "FAIL" and may_fail(expected, test, output)):
            yield f"{test}: {outcome} instead of {expected}"
    for reason in reasons:
        if not any(fits(reason, test) for test in started):
            yield f"reasons.txt names no test that was run: {reason.test}"
    if not started:
        yield "no test was run"
