"""librdkafka's own tests of idempotence, transactions, groups of KIP-848 and administration, as the crate rdkafka-sys carries them, against
the broker; clients/librdkafka/reasons.txt says which do not pass, and why. A topic of theirs has one replica, not three (clients/librdkafka/one_broker.c)."""

import json
import os
import re
import subprocess

import pytest

import clients
import harness
import own_suites

BROKER_PROPERTIES = {"num.partitions": 4}
DEADLINE_S = 540
LONG_DEADLINE_S = 1500
SUITE = harness.TOOLS / "librdkafka"
REASONS = harness.HERE / "clients" / "librdkafka" / "reasons.txt"
#: The scripts of Kafka that some of them call.
SCRIPTS = {"kafka-topics.sh": "org.apache.kafka.tools.TopicCommand ", "kafka-run-class.sh": ""}

#: Those of transactions and idempotence.
TRANSACTIONAL = ("0090", "0094", "0098", "0103")
#: Those that have members of groups.
GROUPS = ("0018", "0033", "0050", "0051", "0056", "0089", "0091", "0093", "0099", "0102", "0118", "0122", "0130", "0132",
          "0137", "0140", "0153")
#: The parts of 0113_cooperative_rebalance that do not skip themselves, as one about eager assignors and one beside Java's client do.
REBALANCES = ("a_assign", "b_subscribe", "c_subscribe", "d_change", "e_change", "f_assign", "h_delete", "i_delete", "j_delete", "k_add",
              "l_unsubscribe", "m_unsubscribe", "n_wildcard", "s_subscribe", "u_multiple", "v_commit", "x_incremental")
ALONE = ("0049", "0068", "0075", "0076", "0086", "0088")
#: The parts of 0081_admin that need no ACLs.
ADMIN = ("do_test_unclean_destroy", "do_test_CreateTopics", "do_test_DeleteTopics", "do_test_CreatePartitions", "do_test_AlterConfigs",
         "do_test_IncrementalAlterConfigs", "do_test_DescribeConfigs", "do_test_DeleteRecords", "do_test_List", "do_test_DescribeTopics",
         "do_test_DescribeCluster", "do_test_DeleteGroups", "do_test_DeleteConsumerGroupOffsets",
         "do_test_AlterConsumerGroupOffsets", "do_test_UserScramCredentials")

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
STARTED = re.compile(r"=+ Running test (\S+) =+")
OUTCOMES = {"PASSED": "PASS", "FAILED": "FAIL", "SKIPPED": "SKIP"}


def complaints(output, report, reasons):
    """What is not as the reasons say in what the tests printed, and reported as JSON."""
    outcomes = {test: OUTCOMES.get(told["state"], "not ended") for test, told in report["tests"].items()}
    return own_suites.complaints(STARTED.findall(output), outcomes, [reason for reason in reasons if reason.outcome != "LEFT OUT"], output)


def reasons_of(run):
    """Those of a run, and of all."""
    return [reason for reason in own_suites.read_reasons(REASONS.read_text()) if reason.run in (run, "*")]


@pytest.fixture
def directory(tmp_path):
    """Where the tests run: they find Kafka's scripts, and what they call in Java, which is built."""
    where = tmp_path / "tests"
    (where / "bin").mkdir(parents=True)
    (tmp_path / "src").symlink_to(SUITE / "src")
    (where / "java").symlink_to(SUITE / "tests" / "java")
    (where / "Makefile").write_text("java:\n")
    for name, program in SCRIPTS.items():
        script = where / "bin" / name
        script.write_text(f'#!/bin/sh\nexec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -cp "{harness.TOOLS}/libs/*:$CLASSPATH" '
                          f'{program}"$@"\n')
        script.chmod(0o755)
    return where


def run_suite(broker, directory, run, options, tests, deadline_s=LONG_DEADLINE_S, patience=1, **environment):
    """Runs these of the tests that need a broker, and judges them. `patience` multiplies the times that they wait."""
    clients.require("librdkafka's tests")
    reasons = reasons_of(run)
    (directory / "test.conf").write_text(f"bootstrap.servers={broker.bootstrap}\ntest.topic.random=true\n"
                                         f"test.timeout.multiplier={patience}\n")
    left_out = {reason.test.split("_")[0] for reason in reasons if reason.outcome == "LEFT OUT"} - set(tests)
    environment = {**os.environ, "BROKERS": broker.bootstrap, "KAFKA_PATH": str(directory), "TEST_KAFKA_VERSION": "4.3.1",
                   "LD_LIBRARY_PATH": f"{SUITE / 'src'}:{SUITE / 'src-cpp'}", "TESTS": ",".join(tests),
                   "TESTS_SKIP": ",".join(sorted(left_out)), "TEST_REPORT": str(directory / "report.json"), **environment}
    with open(directory / "output", "wb") as printed:
        ran = subprocess.run([SUITE / "tests" / "test-runner", "-L", "-K", *options], cwd=directory, env=environment,
                             stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT, timeout=deadline_s)
    output = COLOUR.sub("", (directory / "output").read_text(errors="replace"))
    report = (directory / "report.json")
    assert report.exists(), output[-4000:]
    told = json.loads(report.read_text())
    wrong = list(complaints(output, told, reasons))
    assert wrong == [], f"{wrong}\n{failures(output)}"
    failed = any(test["state"] == "FAILED" for test in told["tests"].values())
    assert (ran.returncode != 0) == failed, output[-4000:]
    return output


def failures(output):
    """What is worth reading of a long output: what failed, with the lines around it, and the end."""
    lines = output.splitlines()
    near = {near for number, line in enumerate(lines) if "TEST FAILURE" in line for near in range(number - 25, number + 5)}
    return "\n".join([line for number, line in enumerate(lines) if number in near][:400] + ["...", *lines[-20:]])


@pytest.mark.parametrize("states, complaint", [
    ({"0001_a": "PASSED", "0002_b": "SKIPPED"}, None),
    ({"0001_a": "FAILED", "0002_b": "SKIPPED"}, "0001_a: FAIL instead of PASS"),
    ({"0001_a": "RUNNING", "0002_b": "SKIPPED"}, "0001_a: not ended instead of PASS"),
    ({"0002_b": "PASSED"}, "0002_b: PASS instead of SKIP"),
    ({"0001_a": "PASSED"}, "reasons.txt names no test that was run: 0002_*"),
], ids=["as expected", "failed", "not ended", "passed in spite of a reason", "not run"])
def test_what_is_not_as_the_reasons_say_is_told(states, complaint):
    reasons = own_suites.read_reasons("all | 0002_* | SKIP | SKIP | a | b\nall | 0003_* | LEFT OUT | LEFT OUT | c\n")
    printed = "".join(f"[{test} / 0.000s] ===== Running test {test} =====\n" for test in states)
    report = {"tests": {test: {"state": state} for test, state in {**states, "0004_local": "SKIPPED"}.items()}}
    assert list(complaints(printed, report, reasons)) == ([complaint] if complaint else [])


@pytest.mark.parametrize("state, printed, complaint", [
    ("PASSED", "", None),
    ("FAILED", "%0|1|FATAL|0001_a#consumer-1| [thrd:main]: a race of its own\n", None),
    ("FAILED", "%0|1|FATAL|0002_b#consumer-1| [thrd:main]: a race of its own\n", "0001_a: FAIL instead of MAY FAIL: a race of its own"),
    ("FAILED", "%0|1|FATAL|0001_a#consumer-1| [thrd:main]: another one\n", "0001_a: FAIL instead of MAY FAIL: a race of its own"),
    ("SKIPPED", "0001_a a race of its own\n", "0001_a: SKIP instead of MAY FAIL: a race of its own"),
], ids=["passed", "by its race", "race of another", "otherwise", "skipped"])
def test_what_fails_at_times_may_fail_in_no_other_way(state, printed, complaint):
    reasons = own_suites.read_reasons("all | 0001_* | MAY FAIL: a race of its own | MAY FAIL: a race of its own | a | b\n")
    output = "[0001_a / 0.000s] ===== Running test 0001_a =====\n" + printed
    assert list(complaints(output, {"tests": {"0001_a": {"state": state}}}, reasons)) == ([complaint] if complaint else [])


def test_a_program_without_tests_proves_nothing():
    assert list(complaints("nothing\n", {"tests": {}}, [])) == ["no test was run"]


def test_idempotence_and_readers_of_transactions_pass(broker, directory):
    run_suite(broker, directory, "quick", ["-p2", "-Q"], ("0090", "0098"), DEADLINE_S)


@pytest.mark.long
def test_all_of_transactions_and_idempotence_pass(broker, directory):
    run_suite(broker, directory, "transactions", ["-p4"], TRANSACTIONAL)


@pytest.mark.long
def test_groups_of_kip_848_pass(broker, directory):
    run_suite(broker, directory, "kip 848", ["-p5"], GROUPS, TEST_CONSUMER_GROUP_PROTOCOL="consumer")


def run_rebalances(broker, directory, run, part):
    """Those parts of 0113 whose name has this in it."""
    output = run_suite(broker, directory, run, ["-p1"], ["0113"], patience=4, SUBTESTS=part, TEST_CONSUMER_GROUP_PROTOCOL="consumer")
    assert re.search(rf"\[ {part}.*: PASS", output) or f"({part}" in output, f"{part} names no part that was run"
    return output


@pytest.mark.long
@pytest.mark.parametrize("part", REBALANCES)
def test_cooperative_rebalances_of_kip_848_pass(broker, directory, part):
    """Ten minutes in all, as on Kafka: they wait for heartbeats, which are five seconds apart."""
    run_rebalances(broker, directory, "rebalances", part)


@pytest.mark.long
def test_a_member_that_polls_too_late_loses_its_partitions(broker, directory):
    """By itself, since what fails at times ends the whole test."""
    output = run_rebalances(broker, directory, "late polls", "t_max_poll_interval_exceeded")
    assert "TEST FAILURE" not in output or "Expected consumer 1 lost revoke count to be 1, not: 0" in output


@pytest.mark.long
def test_what_looks_at_the_clock_or_slows_sockets_passes_alone(broker, directory):
    """Beside others in the process, those that slow the sockets of the library down have read what came for others."""
    run_suite(broker, directory, "alone", ["-p1"], ALONE)


@pytest.mark.long
def test_topics_that_nobody_creates_in_passing_pass(directory):
    with harness.start_broker({**BROKER_PROPERTIES, "auto.create.topics.enable": "false"}) as broker:
        run_suite(broker, directory, "noautocreate", ["-p3", "-s", "noautocreate"], ("0045", "0107", "0111"))


@pytest.mark.long
@pytest.mark.parametrize("part", ADMIN)
def test_administration_passes(broker, directory, part):
    output = run_suite(broker, directory, "admin", ["-p1"], ["0081"], SUBTESTS=part)
    assert re.search(rf"\[ .*{part}.*: PASS", output), output[-4000:]
