"""franz-go's own tests, unmodified, against the broker: of the release that Debian's Go builds, whose transactions are those of before
KIP-890, and of the newest one, which knows KIP-890 and KIP-848. clients/franz-go/reasons.txt says which tests do not pass, and why."""

import os
import re
import subprocess

import pytest

import harness
import own_suites

CLIENTS = harness.HERE / "clients"
REASONS = CLIENTS / "franz-go" / "reasons.txt"
DEADLINE_S = 480
LONG_DEADLINE_S = 2400
#: How many records each chain of transactional and other groups passes on; the suite's own size is 500,000.
RECORDS = 2000

OUTCOME = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \(\d")
STARTED = re.compile(r"=== RUN\s+(\S+)")


def release_of(module):
    """The release of franz-go that a Go module names."""
    return re.search(r"github.com/twmb/franz-go (v\S+)", (CLIENTS / module / "go.mod").read_text()).group(1)


OLD, NEW = release_of("go"), release_of("franz-go")


def complaints(output, reasons):
    """What is not as the reasons say in what a program of Go tests printed with -test.v."""
    return own_suites.complaints(STARTED.findall(output), {test: outcome for outcome, test in OUTCOME.findall(output)}, reasons)


def run_suite(broker, release, arguments, records, deadline_s, reasons, **more):
    """Runs the tests of a release, with more environment for it, and judges them."""
    directory = harness.TOOLS / "franz-go" / release
    environment = {**os.environ, "KGO_SEEDS": broker.bootstrap, "KGO_TEST_RF": "1", "KGO_TEST_STABLE_FETCH": "true",
                   "KGO_TEST_RECORDS": str(records), "KGO_LOG_LEVEL": "none", **more}
    ran = subprocess.run([directory / "kgo.test", "-test.v", f"-test.timeout={deadline_s}s", *arguments], cwd=directory, env=environment,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=deadline_s + 60)
    output = ran.stdout.decode(errors="replace")
    wrong = list(complaints(output, [reason for reason in reasons if reason.run == release]))
    assert wrong == [], f"{wrong}\n{failures(output)}"
    failed = any(reason.outcome == "FAIL" for reason in reasons if reason.run == release)
    assert ran.returncode == int(failed), output[-4000:]


def failures(output):
    """What is worth reading of a long output: what failed, with the lines around it, and the end."""
    lines = output.splitlines()
    near = {near for number, line in enumerate(lines) if "--- FAIL" in line or "panic:" in line or "Err group=" in line
            for near in range(number - 5, number + 25)}
    return "\n".join([line for number, line in enumerate(lines) if number in near][:400] + ["...", *lines[-20:]])


@pytest.mark.parametrize("printed, complaint", [
    ("=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\n", None),
    ("=== RUN   TestA\n--- FAIL: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\n", "TestA: FAIL instead of PASS"),
    ("=== RUN   TestA\nand so on\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\n", "TestA: not ended instead of PASS"),
    ("=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\n", "TestB: PASS instead of SKIP"),
    ("=== RUN   TestA\n    --- PASS: TestA (0.00s)\n", "reasons.txt names no test that was run: Test*B"),
], ids=["as expected", "failed", "not ended", "passed in spite of a reason", "not run"])
def test_what_is_not_as_the_reasons_say_is_told(printed, complaint):
    assert list(complaints(printed, own_suites.read_reasons("# text\n\nv1 | Test*B | SKIP | SKIP | a | b\n"))) == ([complaint] if complaint else [])


def test_a_program_without_tests_proves_nothing():
    assert list(complaints("PASS\n", [])) == ["no test was run"]


def test_the_newest_release_passes_its_own_tests(broker):
    run_suite(broker, NEW, [], RECORDS, DEADLINE_S, own_suites.read_reasons(REASONS.read_text()))


def test_chains_of_transactions_of_before_kip_890_pass(broker):
    run_suite(broker, OLD, ["-test.run", "^(TestTxnEtl|TestGroupETL)$/^cooperative-sticky$"], RECORDS, DEADLINE_S, [])


@pytest.mark.long
@pytest.mark.parametrize("release", [OLD, NEW])
def test_all_tests_pass_at_full_size(broker, release):
    run_suite(broker, release, [], 500_000, LONG_DEADLINE_S, own_suites.read_reasons(REASONS.read_text()))


@pytest.mark.long
def test_chains_of_groups_pass_while_connections_die(broker):
    """None lives longer than 1.5 s, so requests are sent again whose answer was lost."""
    run_suite(broker, NEW, ["-test.run", "^TestGroupETL$"], 50_000, LONG_DEADLINE_S, [], KGO_TEST_CHAOS="1")
